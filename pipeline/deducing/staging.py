"""Deduction as one stage of a plan: problems made, a solver asked, its values read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from judges.requests import Form, Sampling
from pipeline.asking import AskSummary, How
from pipeline.budgets import rest_of
from pipeline.deducing.importing import OWN_PROBLEMS, import_problems
from pipeline.deducing.making import make_templates
from pipeline.deducing.mutating import Limits, mutate_problems
from pipeline.deducing.reading import extract
from pipeline.deducing.solving import Sending, SolveSummary, solve
from pipeline.deducing.work import Templates
from store import Store
from store.deduction_records import FIRST_STYLE

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

OWN = "own"
"""The problems that come with the tool, where a plan names no file of its own."""


@dataclass(frozen=True, slots=True)
class DeduceStage:
    """What the stage did: how all its requests ended, and what was asked of the solver."""

    askings: tuple[AskSummary, ...]
    solved: SolveSummary | None


def deduce_stage(
    store: Store,
    endpoint: Endpoint,
    *,
    problems: Path | None = None,
    templates: Templates = "auto",
    maker: Endpoint | None = None,
    mutations: int = 10,
    seed: int = 0,
    name: str | None = None,
    k_max: int | None = None,
    styles: Sequence[str] = (FIRST_STYLE,),
    paraphraser: Endpoint | None = None,
    extractor: Endpoint | None = None,
    prefix: Sending = "auto",
    form: Form | None = None,
    sampling: Sampling,
    **how: Unpack[How],
) -> DeduceStage:
    """Import problems, make templates where they are the model's own, mutate, ask, and read.

    What is there is not done again. A stage of it that is stopped ends all of it. In a dry run
    nothing is imported or mutated: it tells of what is there.

    Raises
    ------
    ValueError
        When a file holds a bad problem, or there is nothing to ask.
    Interrupted
        On Ctrl-C.
    """
    dry_run = how.get("dry_run", False)
    if not dry_run:
        done = import_problems(store, [problems or OWN_PROBLEMS])
        if done.rejected:
            raise ValueError("; ".join(map(str, done.rejected[:3])))
    askings: list[AskSummary] = []
    if templates == "own":
        made = make_templates(
            store, endpoint, maker, name=name, form=form, sampling=sampling, **how
        )
        askings += made.askings
    if _stopped(askings):
        return DeduceStage(tuple(askings), None)
    if not dry_run:
        mutate_problems(store, n=mutations, limits=Limits(seed=seed))
    solved = solve(
        store,
        endpoint,
        name=name,
        templates=templates,
        mutations=mutations,
        k_max=k_max,
        styles=styles,
        paraphraser=paraphraser,
        paraphraser_form=form,
        sending=prefix,
        sampling=sampling,
        **rest_of(how, *askings),
    )
    askings += [a for a in (solved.paraphrasing, solved.asking) if a is not None]
    solver = next((s for s in store.solvers() if s.name == solved.solver), None)
    if extractor is not None and solver is not None and not dry_run and not _stopped(askings):
        rest = rest_of(how, *askings)
        askings.append(extract(store, extractor, solver, form=form, **rest).asking)
    return DeduceStage(tuple(askings), solved)


def _stopped(askings: Sequence[AskSummary]) -> bool:
    return any(a.stopped is not None for a in askings)


__all__ = ["OWN", "DeduceStage", "deduce_stage"]
