"""What may stand in a plan: its tables, the stages, and the keys of each with what is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from scoring.deduction.styles import STYLES
from store.exchange.questions import MAPPINGS
from store.keys import is_name

Check = tuple[Callable[[Any], bool], str]
"""Whether a value is right, and what would be."""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def whole(least: int) -> Check:
    """Check for a whole number."""
    return (
        lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= least,
        f"a whole number from {least}",
    )


def between(low: float, high: float) -> Check:
    """Check for a number in a range."""
    bounds = f"from {low:g} to {high:g}" if math.isfinite(high) else f"from {low:g}"
    return (lambda v: _is_number(v) and low <= v <= high, f"a number {bounds}")


def one_of(*words: str) -> Check:
    """Check for one of some words."""
    return (lambda v: v in words, " or ".join(words))


TRUTH: Check = (lambda v: isinstance(v, bool), "true or false")
NAME: Check = (lambda v: isinstance(v, str) and is_name(v), "a name without control characters")

STYLE_LIST: Check = (
    lambda v: isinstance(v, list) and v != [] and all(s in STYLES for s in v),
    f"a list of some of {', '.join(STYLES)}",
)

SAMPLING: dict[str, Check] = {
    "form": one_of("auto", "schema", "text"),
    "temperature": between(0, 10),
    "top_p": between(0, 1),
    "max_tokens": whole(1),
    "sampling_seed": whole(0),
}
"""How a model is sampled, the same for every stage that asks one."""

STAGES: dict[str, dict[str, Check]] = {
    "generate": {
        "n": whole(1),
        "length": one_of("short", "long"),
        "variant": NAME,
        **SAMPLING,
    },
    "decompose": {"name": NAME, "pool": NAME, **SAMPLING},
    "embed": {"decomposition": NAME, "embedder": NAME},
    "score": {
        "decomposition": NAME,
        "embedder": NAME,
        "beta": between(0, 1),
        "gamma": between(0, math.inf),
        "alpha": between(0, 1),
        "tau": between(-1, 1),
        "terminal_weight": between(0, math.inf),
        "edge_embedding": one_of("concat", "mean"),
        "fact_edges": one_of("anchor", "all"),
        "terminals": one_of("step", "fact"),
        "missing": one_of("chain", "premise", "exclude"),
        "electorate": one_of("both", "any"),
        "bins": one_of("fd", "sturges"),
        "metrics": NAME,
        "entailment": NAME,
        "workers": whole(1),
        "primary": TRUTH,
        "items": TRUTH,
        "k": whole(1),
        "agreements": between(0, 1),
        "seed": whole(0),
    },
    "early-answer": {
        "decomposition": NAME,
        "pool": NAME,
        "traces": one_of("all", "medoids"),
        "empty": TRUTH,
        **SAMPLING,
    },
    "counterfactual": {
        "name": NAME,
        "editor": NAME,
        "pool": NAME,
        "traces": one_of("medoids", "all"),
        "repeats": whole(1),
        **SAMPLING,
    },
    "ablate": {
        "protocol": one_of("broad", "targeted"),
        "n": whole(1),
        "length": one_of("short", "long"),
        "variant": NAME,
        "pool": NAME,
        "early": TRUTH,
        "decomposition": NAME,
        **SAMPLING,
    },
    "deduce": {
        "problems": NAME,
        "templates": one_of("auto", "own", "shared"),
        "maker": NAME,
        "mutations": whole(0),
        "seed": whole(0),
        "name": NAME,
        "k_max": whole(0),
        "styles": STYLE_LIST,
        "paraphraser": NAME,
        "extractor": NAME,
        "prefix": one_of("auto", "assistant", "quoted"),
        **SAMPLING,
    },
    "judge": {
        "schema": NAME,
        "decomposition": NAME,
        "items": one_of("cases", "sample", "all", "labelled"),
        "labelled_by": NAME,
        "rater": NAME,
        "repeats": whole(1),
        "seed": whole(0),
        "pool": NAME,
        "prompt": whole(1),
        **SAMPLING,
    },
    "relations": {
        "name": NAME,
        "probe": TRUTH,
        "reasoned": TRUTH,
        "order_seed": whole(0),
        "repeats": whole(1),
        **SAMPLING,
    },
}
"""The stages with their parameters."""

ASKING = (
    "generate",
    "decompose",
    "early-answer",
    "counterfactual",
    "ablate",
    "deduce",
    "judge",
    "relations",
)
"""The stages that ask a model."""

OTHER_MODELS = ("editor", "maker", "paraphraser", "extractor")
"""Keys that name a model beside the one a stage is about."""

DATASET_KEYS: dict[str, Check] = {
    "files": (
        lambda v: isinstance(v, str) or (isinstance(v, list) and v != [] and texts(v)),
        "a file or a list of files",
    ),
    "mapping": one_of(*MAPPINGS),
    "limit": whole(1),
    "seed": whole(0),
}
BUDGET_KEYS: dict[str, Check] = {"max_tokens": whole(1), "max_cost": between(0, math.inf)}
SET_KEYS: dict[str, Check] = {
    "file": (lambda v: isinstance(v, str) and v != "", "a file"),
    "shipped": TRUTH,
    "about": (lambda v: isinstance(v, str), "a text"),
    "source": (lambda v: isinstance(v, str), "a text"),
    "tells": one_of("nothing", "values", "center", "chain"),
}
WITHOUT_DATASETS = ("relations", "deduce", "judge")
"""Stages that may do without a dataset; a judge's by the kind of items its schema is for."""

TABLES = ("models", "datasets", "sets", "stages", "budget")
"""The tables of a plan."""


def texts(values: Sequence[object]) -> bool:
    """Tell whether all values are texts that say something."""
    return all(isinstance(v, str) and v for v in values)
