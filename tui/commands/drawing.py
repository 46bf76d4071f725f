"""`medoid decompose --sample`, `counterfactual --sample`, `deduce sample`: what people label."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tui.commands.common import database, print_json, say, usage_errors

if TYPE_CHECKING:
    from store.model_records import SampleMade


def draw_sample(db: str, name: str | None, n: int, seed: int, *, as_json: bool) -> None:
    """Draw a sample of the decomposition of this name, or of the only one there is.

    The command fails where the name is unknown, or not given and not clear.
    """
    with usage_errors(), database(db) as store:
        if name is None:
            known = [d.name for d in store.decompositions()]
            if len(known) != 1:
                names = ", ".join(known) or "none yet"
                raise ValueError(f"say which decomposition with --name; there are: {names}")
            name = known[0]
        made = store.decomposition_named(name)
        drawn = store.make_decomposition_sample(made.id, n, seed)
    if as_json:
        print_json(
            {"decomposition": name, "seed": seed, "n_sampled": drawn.n_sampled, **asdict(drawn)}
        )
        return
    what = f"decomposition {name}: {drawn.n_sampled:,} of {drawn.n_population:,} traces with facts"
    _print_drawn(drawn, what, "as they have no facts", seed)
    if drawn.n_sampled:
        say("         label them in the workbench: medoid, then d")


def draw_edits(
    db: str,
    name: str,
    n: int,
    seed: int,
    dataset: list[str] | None,
    pool: str | None,
    *,
    as_json: bool,
) -> None:
    """Draw a sample of an editing's edits, of some datasets and pools where they are given."""
    from pipeline.selecting import chosen_pools, known_datasets

    with usage_errors(), database(db) as store:
        made = store.editing_named(name)
        chosen = None
        if dataset or pool is not None:
            datasets = known_datasets(store, dataset or None)
            chosen = [p.id for p in chosen_pools(store, datasets, pool, ablated=True)]
        drawn = store.make_counterfactual_sample(made.id, n, seed, chosen)
    if as_json:
        print_json({"editing": name, "seed": seed, "n_sampled": drawn.n_sampled, **asdict(drawn)})
        return
    what = f"editing {name}: {drawn.n_sampled:,} of {drawn.n_population:,} edits"
    _print_drawn(drawn, what, "as they have a fault", seed)
    if drawn.n_sampled:
        say("         label them in the workbench: medoid, then e")


def draw_replies(db: str, solver: str | None, n: int, seed: int, *, as_json: bool) -> None:
    """Draw a sample of replies to deduction problems, of one solver where it is given."""
    from pipeline.deducing.report import chosen_solvers

    with usage_errors(), database(db) as store:
        chosen_solvers(store, None if solver is None else [solver])
        drawn = store.make_deduction_sample(n, seed, solver=solver)
    if as_json:
        print_json({"solver": solver, "seed": seed, "n_sampled": drawn.n_sampled, **asdict(drawn)})
        return
    whose = "replies" if solver is None else f"replies of {solver}"
    what = f"{drawn.n_sampled:,} of {drawn.n_population:,} {whose}"
    _print_drawn(drawn, what, "as they have no text", seed)


def _print_drawn(drawn: SampleMade, what: str, why_left: str, seed: int) -> None:
    probability = "–" if drawn.probability is None else f"{drawn.probability:.4g}"
    say(f"sample   {what} to label, each with probability {probability} (seed {seed})")
    told = [
        (drawn.n_new, "new"),
        (drawn.n_same, "there already"),
        (drawn.n_kept, "of another draw kept, as somebody labelled them"),
        (drawn.n_withdrawn, "of another draw withdrawn"),
        (drawn.n_left_out, f"left out, {why_left}"),
    ]
    if any(count for count, _ in told):
        say("         " + ", ".join(f"{count:,} {what}" for count, what in told if count))
