"""Deduction as screens show it: figures a rater may see, and one reply with its values marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.deducing.report import DeductionReport, Scored, deduction_report
from scoring.deduction import Propagation, Verdict, judge_values, propagation
from store import Store
from store.deduction_records import NUMBERS, ORIGINAL, DeductionAnswer, DeductionText
from store.records import SchemaRecord

SCHEMA = "deduction"
"""The label schema of errors in replies."""


@dataclass(frozen=True, slots=True)
class Series:
    """One model in one style: its figures, how many replies were drawn to be labelled, and mine."""

    scored: Scored
    n_sampled: int
    n_mine: int

    @property
    def name(self) -> str:
        """Model and style, and SynDeduct where it is that."""
        kind = " · SynDeduct" if self.scored.kind == "syndeduct" else ""
        return f"{self.scored.solver} · {self.scored.style}{kind}"


@dataclass(frozen=True, slots=True)
class Figures:
    """All models and styles on the problems that survived for every model.

    `n_hidden` replies are counted in no figure: they are drawn to be labelled, and the rater has
    not revealed them.
    """

    report: DeductionReport
    series: tuple[Series, ...]
    n_hidden: int


@dataclass(frozen=True, slots=True)
class Marked:
    """One reply's values beside the reference's.

    `reader` is who read them, None where nobody could: then there are no verdicts. `spread` says
    where the wrong ones come from.
    """

    text: DeductionText
    answer: DeductionAnswer
    reader: str | None
    verdicts: tuple[Verdict, ...]
    spread: Propagation | None

    @property
    def by_step(self) -> Mapping[int, tuple[Verdict, ...]]:
        """Verdicts by the step that states the variable first."""
        steps = {v.step for v in self.verdicts}
        return {s: tuple(v for v in self.verdicts if v.step == s) for s in sorted(steps)}


def deduction_figures(store: Store, rater_id: int, schema: SchemaRecord) -> Figures | None:
    """Return the figures that a rater may see, None where no solver was asked anything.

    Raises
    ------
    ValueError
        When what was asked cannot be compared: no problem survived for every model.
    """
    if not store.solvers():
        return None
    hidden = store.hidden_completions(rater_id, schema)
    report = deduction_report(store, leave_out=hidden)
    counts = store.deduction_labels(rater_id, schema.name)
    series = []
    for scored in report.scores:
        n, mine = counts.get((scored.solver, scored.style), (0, 0))
        series.append(Series(scored, n, mine))
    return Figures(report, tuple(series), len(hidden))


def open_replies(
    store: Store, rater_id: int, schema: SchemaRecord, solver: str, style: str
) -> tuple[tuple[DeductionText, ...], int]:
    """Return a model's replies in one style whose values the rater may see, and how many more."""
    known = {s.name: s.id for s in store.solvers()}
    hidden = store.hidden_mutations(rater_id, schema)
    rows = store.completions(known[solver], style=style)
    kept = [r.id for r in rows if r.mutation_id not in hidden]
    texts = store.deduction_texts(kept)
    ordered = sorted(texts.values(), key=lambda t: (t.problem, _number(t.mutation), t.k))
    return tuple(ordered), len(rows) - len(kept)


def _number(mutation: str) -> int:
    return int(mutation) if mutation.isdigit() else ORIGINAL


def marked_reply(
    store: Store, text: DeductionText, rater_id: int, schema: SchemaRecord, *, shown: bool = True
) -> Marked:
    """Return a reply with its values marked; what is `shown` is recorded as a reveal.

    Raises
    ------
    SealedError
        While its values are sealed for this rater.
    """
    answer = store.deduction_answer(text.completion_id, rater_id, schema, shown=shown)
    usable = {n: r for n, r in answer.readings.items() if not r.reason}
    reader = next((n for n in usable if n != NUMBERS), NUMBERS if NUMBERS in usable else None)
    if reader is None:
        return Marked(text, answer, None, (), None)
    own = answer.mutation.number == ORIGINAL
    verdicts = judge_values(
        answer.mutation.values,
        usable[reader].values,
        answer.template.stated_in,
        answer.k,
        original=None if own else answer.original or None,
    )
    spread = propagation(answer.template.code, answer.mutation.inputs, verdicts)
    return Marked(text, answer, reader, verdicts, spread)


__all__ = [
    "SCHEMA",
    "Figures",
    "Marked",
    "Series",
    "deduction_figures",
    "marked_reply",
    "open_replies",
]
