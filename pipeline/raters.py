"""Which rater a judge is (one model asked with one prompt version), and what others labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.sealing import known_rater
from store import Store

if TYPE_CHECKING:
    from judges.endpoint import Endpoint


def judge_name(
    store: Store, endpoint: Endpoint, given: str | None, prompt_version: str, schema: str
) -> str:
    """Return the name of the judge's rater, so that no rater mixes two prompt versions.

    It is the `given` one, else the endpoint's name. Where that rater has votes or standing labels
    under this schema that another prompt version brought (or nobody knows which), it is
    ``NAME · PROMPT``, as in ``qwen · path_judge-schema/2``. The rule looks at nothing else, so the
    same call finds the same rater again.

    Raises
    ------
    ValueError
        When the `given` rater, or the one named so, judged with another prompt version.
    """
    name = endpoint.name if given is None else given
    others = _other_prompts(store, name, prompt_version, schema)
    if others and given is None:
        name = f"{name} · {prompt_version}"
        others = _other_prompts(store, name, prompt_version, schema)
    if others:
        raise ValueError(
            f"judge {name!r} has labels that {', '.join(others)} brought, and would now be asked "
            f"with {prompt_version}: name this one with another --rater NAME"
        )
    return name


def _other_prompts(store: Store, name: str, prompt_version: str, schema: str) -> list[str]:
    """Return by which other prompt versions a judge of this name voted or was labelled."""
    ident = judge_id(store, name)
    if ident is None:
        return []
    found = {
        *store.prompt_versions(ident, schema=schema),
        *store.label_prompts(ident, schema=schema),
    }
    return sorted(version or "an unknown prompt" for version in found - {prompt_version})


def judge_id(store: Store, name: str) -> int | None:
    """Return the id of a judge, None when there is no such rater yet.

    Raises
    ------
    ValueError
        When the name is that of a rater of another kind.
    """
    rater = next((r for r in store.raters() if r.name == name), None)
    if rater is None:
        return None
    if rater.kind != "judge":
        raise ValueError(
            f"rater {name!r} is a {rater.kind}, not a judge: name the judge with --rater NAME"
        )
    return rater.id


def check_labelled(items: str, labelled_by: str | None) -> None:
    """Refuse a rater without ``labelled``, and that without a rater."""
    if (items == "labelled") != (labelled_by is not None):
        raise ValueError("judging what a rater labelled needs that rater's name, and only that")


def labelled_items(store: Store, labelled_by: str, schema: str) -> frozenset[str]:
    """Return the keys of the items that a rater has put a category on.

    Raises
    ------
    ValueError
        When there is no such rater.
    """
    name = known_rater(store, labelled_by).name
    pairs = store.label_pairs(schema, name, name)
    return frozenset(p.item for p in pairs if p.a is not None)
