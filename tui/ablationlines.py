"""Medoid ablation laid out in lines: questions with a scatter, a medoid beside an alternative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from scoring.faithfulness import AblatedQuestion, medoid_distance
from scoring.types import Trace
from tui import wording
from tui.charts import scatter
from tui.text import cut, fit, hang, safe
from tui.widgets.lines import Row
from tui.worddiff import Runs, marked, word_runs

if TYPE_CHECKING:
    from pipeline.ablating import Protocol
    from pipeline.ablation_report import AblationQuestion
    from store import Store
    from store.records import TraceRecord

Target = Literal["gold", "own"]
TARGETS: tuple[Target, ...] = ("gold", "own")

COLUMNS = (
    *(("AA", 6), ("OA", 6), ("ΔA", 6), ("AF", 6), ("OF", 6), ("ΔF", 6), ("MD", 6), ("alt.", 6)),
)
CHART_CELLS = 61
METHODS: tuple[Literal["lcs", "difflib"], ...] = ("lcs", "difflib")
TWO = 56
"""Cells from which medoid and alternative stand side by side; below, one above the other."""
BETWEEN = " │ "


@dataclass(frozen=True, slots=True)
class Ablations:
    """The questions that a rater may see, and how many they may not yet."""

    protocol: Protocol
    run: str | None
    questions: tuple[AblationQuestion, ...]
    n_hidden: int


def read_ablations(
    store: Store, rater_id: int, protocol: Protocol, *, sealed: bool
) -> Ablations | None:
    """Read what may be shown, None where nothing was ablated; safe on any thread."""
    from pipeline.ablation_report import ablation_report

    if not store.ablations():
        return None
    report = ablation_report(store, protocol=protocol)
    shown = store.shown_pools(rater_id, sealed=sealed)
    kept = tuple(q for q in report.questions if q.pool_id in shown)
    run = None if report.run is None else report.run.model
    return Ablations(protocol, run, kept, len(report.questions) - len(kept))


def values(q: AblationQuestion, target: Target) -> AblatedQuestion:
    """Return a question's figures with F against one target."""
    return q.gold if target == "gold" else q.own


def chart_rows(found: Ablations, target: Target, cursor: int, height: int, width: int) -> list[Row]:
    """Return the scatter of ΔA and ΔF, the question at `cursor` marked."""
    placed = [
        (i, v.delta_a, v.delta_f)
        for i, q in enumerate(found.questions)
        for v in [values(q, target)]
        if v.delta_a is not None and v.delta_f is not None
    ]
    points = [(a, f) for _, a, f in placed]
    here = next((n for n, (i, _, _) in enumerate(placed) if i == cursor), None)
    if not points:
        why = "no early answers: medoid ablate asks for them" if found.run is None else "no gold"
        return [Row(Content(f"  no question has both ΔA and ΔF ({why})"))]
    label = 9
    inner = min(width - label - 2, CHART_CELLS)
    rows = scatter(points, inner, height - 1, here=here, reach=1.0)
    middle = len(rows) // 2
    sides = {0: "ΔF  +1 ", middle: "     0 ", len(rows) - 1: "    −1 "}
    out = [Row(Content(f"{sides.get(i, ''):>{label}}{row}")) for i, row in enumerate(rows)]
    wide = inner - (inner + 1) % 2
    axis = "−1" + "0".center(wide - 4) + "+1"
    return [*out, Row(Content(" " * label + axis + "  ΔA"))]


def heads(width: int) -> list[Row]:
    """Return the line of column heads."""
    right = Content("".join(name.rjust(w) for name, w in COLUMNS))
    return [Row(fit(Content("  question"), _room(width)) + right)]


def _room(width: int) -> int:
    return max(width - sum(w for _, w in COLUMNS), 8)


def question_rows(found: Ablations, target: Target, width: int) -> list[Row]:
    """Return a line for each question; item i is question i."""
    rows = []
    for i, q in enumerate(found.questions):
        v = values(q, target)
        figures = (v.aa, v.oa, v.delta_a, v.af, v.of, v.delta_f, v.md)
        said = [wording.share(x).rjust(w) for x, (_, w) in zip(figures, COLUMNS, strict=False)]
        name = Content("  ") + safe(q.question_id) + Content(" · ") + safe(q.ablated)
        tail = Content("".join(said) + f"{q.n:,}".rjust(COLUMNS[-1][1]))
        rows.append(Row(fit(cut(name, _room(width) - 1), _room(width)) + tail, i, True))
    return rows


@dataclass(frozen=True, slots=True)
class Beside:
    """A question with its medoid and the alternatives to it."""

    question: AblationQuestion
    text: str
    medoid: TraceRecord | None
    alternatives: tuple[TraceRecord, ...]


def read_beside(store: Store, q: AblationQuestion) -> Beside:
    """Read a question's medoid and alternatives; safe on any thread."""
    medoid = next(
        (r for r in store.pool_traces(q.source_pool_id) if r.id == q.medoid_trace_id), None
    )
    text = next((p.question for p in store.pools() if p.id == q.pool_id), "")
    return Beside(q, text, medoid, store.pool_traces(q.pool_id))


def beside_heads(beside: Beside, at: int, width: int) -> list[Row]:
    """Return what stands above both sides: whose answer, which alternative."""
    medoid = beside.medoid
    left = Content.styled("medoid", "bold")
    if medoid is not None:
        left += Content(": answers ") + wording.answer(medoid.trace.answer)
    alternative = beside.alternatives[at] if at < len(beside.alternatives) else None
    right = Content.styled(f"alternative {at + 1} of {len(beside.alternatives)}", "bold")
    if alternative is not None:
        right += Content(": answers ") + wording.answer(alternative.trace.answer)
    if width < TWO:
        return [Row(Content("  ") + cut(left + Content(" · ") + right, width - 2))]
    half = _half(width)
    return [Row(fit(Content("  ") + left, half) + Content(BETWEEN) + cut(right, half))]


def beside_rows(beside: Beside, at: int, width: int) -> list[Row]:
    """Lay out medoid and alternative, the words that one has alone in bold brackets."""
    one = _texts(None if beside.medoid is None else beside.medoid.trace)
    has = at < len(beside.alternatives)
    other = _texts(beside.alternatives[at].trace if has else None)
    left, right = word_runs(one, other)
    if width < TWO:
        return [
            *(Row(line) for line in _side(left, width)),
            Row(Content("  " + "─" * (width - 4))),
            *(Row(line) for line in _side(right, width)),
        ]
    half = _half(width)
    columns = [_side(left, half), _side(right, half)]
    rows = []
    for i in range(max(map(len, columns))):
        a, b = (c[i] if i < len(c) else Content("") for c in columns)
        rows.append(Row(fit(a, half) + Content(BETWEEN) + b))
    return rows


def _half(width: int) -> int:
    return (width - len(BETWEEN)) // 2


def _texts(trace: Trace | None) -> list[str]:
    from pipeline.facts import fact_text

    return [] if trace is None else [fact_text(step) for step in trace.steps]


def _side(texts: Sequence[Runs], width: int) -> list[Content]:
    out: list[Content] = []
    for i, runs in enumerate(texts):
        out += hang(Content("  ") + Content.styled(f"{i} ", "bold"), marked(runs), width)
    return out or [Content("  no steps")]


def beside_state(beside: Beside, at: int) -> str:
    """Return the distance of the alternative from the medoid, by both methods."""
    if beside.medoid is None or at >= len(beside.alternatives):
        return ""
    pair = ["\n".join(_texts(t)) for t in (beside.medoid.trace, beside.alternatives[at].trace)]
    if not all(pair):
        return "no steps to compare"
    lcs, ratio = (wording.share(medoid_distance(pair[0], pair[1], method=m)) for m in METHODS)
    return f"MD {lcs} (difflib {ratio}); [words] that one side has alone"
