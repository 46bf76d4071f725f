"""Deduction in lines: models and styles with their figures, a reply beside the expected values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from scoring.deduction import FAILURES, format_number
from store.deduction_records import NUMBERS, DeductionText
from store.records import Verdict as Said
from tui import wording
from tui.seriescharts import letter
from tui.text import cut_middle, fit, hang, safe, wrap
from tui.widgets.lines import Row

if TYPE_CHECKING:
    from pipeline.deduction_view import Figures, Marked, Series
    from scoring.deduction import DedCons, Verdict

COLUMNS = (("base", 6), ("decay", 7), ("hops", 5), ("probl.", 7), ("values", 8), ("missing", 8), ("mine", 8))  # fmt: skip
MARKS = {"right": "✓", "wrong": "✗", "copied": "↩", "missing": "–"}
"""What became of a value; every mark has its words beside it."""
WORDS = {"copied": "as in the original: memorised?", "missing": "not stated"}
ORIGINS = {
    "fresh": "",
    "propagated": "follows from a wrong value before it",
    "downstream": "rests on a wrong value, and does not follow from it",
}
WAYS = {
    "none": "nothing was given",
    "assistant": "given as the start of its own reply",
    "quoted": "given as a quoted start",
}
ENDS = {"truncated": "it was cut off", "refused": "it refused", "empty": "it is empty", "invalid": "it is malformed"}  # fmt: skip


def series_heads(width: int) -> list[Row]:
    """Return the line of column heads."""
    right = Content("".join(name.rjust(w) for name, w in COLUMNS))
    return [Row(fit(Content("    model · style"), _room(width)) + right)]


def _room(width: int) -> int:
    return max(width - sum(w for _, w in COLUMNS), 8)


def series_rows(figures: Figures, width: int) -> list[Row]:
    """Return a line for each model and style, by its letter in the charts."""
    room = _room(width)
    rows = []
    for i, one in enumerate(figures.series):
        d = one.scored.exact
        mine = f"{one.n_mine:,}/{one.n_sampled:,}" if one.n_sampled else wording.NONE
        said = (
            wording.share(d.base),
            wording.share(d.decay),
            str(d.kept),
            f"{one.scored.n_problems:,}",
            f"{d.n:,}",
            wording.percent(d.missing, d.n),
            mine,
        )
        tail = "".join(x.rjust(w) for x, (_, w) in zip(said, COLUMNS, strict=True))
        name = cut_middle(safe(one.name), room - 5)
        rows.append(Row(fit(Content(f"  {letter(i)} ") + name, room) + Content(tail), i, True))
    return rows


def series_detail(figures: Figures, at: int, width: int) -> list[Row]:
    """Say more of the model and style under the cursor."""
    one = figures.series[at]
    s = one.scored
    out = hang(Content(" "), _means(s.exact), width)
    cover = Content(
        f"coverage {wording.share(s.coverage.value)} of the reference's variables "
        f"({wording.share(s.coverage.printed)} of those it states); values read by "
    )
    out += hang(Content(" "), cover + _reader(s.reader) + _unread(one), width)
    out += hang(Content(" "), Content(_errors(one)), width)
    if s.memory is not None and s.memory.final_gap is not None:
        a, b = s.memory.final_original, s.memory.final_mutated
        out += hang(
            Content(" "),
            Content(
                f"final answer right: original {a.right}/{a.n}, mutated {b.right}/{b.n}, "
                f"gap {wording.share(s.memory.final_gap)}"
            ),
            width,
        )
    if s.within is not None:
        told = f"within 5 %: base {wording.share(s.within.base)}, decay "
        out += hang(Content(" "), Content(told + wording.share(s.within.decay)), width)
    if s.exact.why_undefined is not None:
        out += hang(Content(" "), Content("undefined: ") + safe(s.exact.why_undefined), width)
    return [Row(line) for line in out]


def _means(d: DedCons) -> Content:
    kept = [h for h in d.hops if h.kept]
    said = [
        f"{h.hop}: {wording.share(h.mean)}{'' if h.se is None else f' ±{wording.share(h.se)}'}"
        for h in kept
    ]
    left = len(d.hops) - len(kept)
    more = f"; {left} more with too few" if left else ""
    return Content(f"hop means ± SE (1 = ideal, over prefixes of {d.k_min} or more): ") + Content(
        "  ".join(said) + more
    )


def _reader(name: str) -> Content:
    return Content("our number reader") if name == NUMBERS else safe(name)


def _unread(one: Series) -> Content:
    n = one.scored.n_unread
    return Content("" if not n else f"; {n:,} of {one.scored.n:,} replies unread")


def _errors(one: Series) -> str:
    s = one.scored
    groups = ", ".join(f"{g}: {n}" for g, n in s.groups.items()) or wording.NONE
    statuses = {name: s.statuses.get(name, 0) for name in ("wrong", "copied", "missing")}
    said = ", ".join(f"{n:,} {name}" for name, n in statuses.items())
    return (
        f"{said}; of the wrong {wording.share(s.propagated)} follow from an earlier one; "
        f"problems by group (1 always right … 5 never): {groups}"
    )


def survivors_lines(figures: Figures, width: int) -> list[Content]:
    """Say which problems every model is compared on, and what the others failed on."""
    r = figures.report
    out = [Content.styled("Problems that survive for every model", "bold")]
    out += wrap(safe(", ".join(r.problems)), width - 1)
    if r.not_asked:
        out.append(Content(f"{r.not_asked:,} more were not asked of every model"))
    for solver in r.solvers:
        dropped = r.dropped.get(solver.name, {})
        told = ", ".join(f"{n:,} {FAILURES.get(code, code)}" for code, n in dropped.items())
        out += [Content(""), Content.styled("Templates for ", "bold") + safe(solver.name, "bold")]
        out += wrap(Content(f"{r.passed.get(solver.name, 0):,} passed every check"), width - 1)
        out += wrap(safe(told or "none failed"), width - 1)
    return out


# -- a reply


def place_of(text: DeductionText, *, solver: bool) -> Content:
    """Return which reply it is, in a few words."""
    numbers = "own numbers" if text.mutation == "original" else f"mutation {text.mutation}"
    parts = [safe(text.problem), Content(numbers), Content(f"k {text.k}"), safe(text.style)]
    return Content(" · ").join([safe(text.solver), *parts] if solver else parts)


def reply_rows(text: DeductionText, width: int) -> list[Row]:
    """Lay out what was given and what came; a sealed rater sees no more."""
    width = min(width, 100)
    out: list[Content] = []
    steps = wording.count(text.k, "step")
    if text.k:
        out += hang(Content(" "), Content.styled(f"{steps} {WAYS[text.way]}", "bold"), width)
        out += [Content(" │ ") + line for line in wrap(safe(text.prefix, newlines=True), width - 3)]
        out.append(Content(""))
    out.append(Content.styled(" The reply" if text.k else " The reply, nothing given", "bold"))
    out += [Content(" ") + line for line in wrap(safe(text.reply, newlines=True), width - 1)]
    if text.outcome in ENDS:
        out += hang(Content(" △ "), Content(ENDS[text.outcome]), width)
    return [Row(line) for line in out]


def expected_rows(marked: Marked, width: int) -> list[Row]:
    """Lay out the reference step by step, and under each what the reply says of its values."""
    width = min(width, 100)
    out = [_count(marked)]
    steps, k = marked.answer.mutation.steps, marked.answer.k
    by_step = marked.by_step
    for number, step in enumerate(steps, start=1):
        given = number <= k
        head = Content.styled(f" {number:>2} ", "" if given else "bold")
        text = Content("given: ") + safe(step) if given else safe(step)
        out += hang(head, text, width)
        for v in by_step.get(number, ()):
            out += hang(Content(f"    {MARKS[v.status]} "), _value(marked, v), width)
    if marked.reader is None:
        out += hang(Content(" "), Content("nobody has read its values: medoid deduce score"), width)
    else:
        out += hang(Content(" "), Content("values read by ") + _reader(marked.reader), width)
    return [Row(line) for line in out]


def _count(marked: Marked) -> Content:
    n = len(marked.verdicts)
    right = sum(v.right is True for v in marked.verdicts)
    first = None if marked.spread is None else marked.spread.first_wrong_step
    told = f" {right} of {wording.count(n, 'value')} right" if n else " no value to check"
    return Content.styled(
        told + ("" if first is None else f", first wrong in step {first}"), "bold"
    )


def _value(marked: Marked, v: Verdict) -> Content:
    expected = Content.styled(format_number(v.expected), "bold")
    text = safe(v.variable) + Content(" = ") + expected
    if v.status == "right":
        return text
    if v.stated is not None:
        text += Content("   said ") + Content.styled(format_number(v.stated), "bold reverse")
    why = [WORDS[v.status]] if v.status in WORDS else []
    origin = None if marked.spread is None else marked.spread.origins.get(v.variable)
    if origin is not None and ORIGINS[origin]:
        why.append(ORIGINS[origin])
    return text + Content(f"   {'; '.join(why)}" if why else "")


def said_rows(own: Content, said: Sequence[Said], width: int) -> list[Row]:
    """Lay out one's own label and what everybody else says of the reply."""
    width = min(width, 100)
    out = hang(Content.styled(" you    ", "bold"), own, width)
    for v in said:
        head = Content(" ") + fit(cut_middle(safe(v.rater), 12), 13)
        text = wording.decision(v.state, v.category, None)
        if v.rationale:
            text = text + Content("  ") + safe(f"“{v.rationale}”")
        out += hang(head, text, width)
    if not said:
        out.append(Content(" nobody else has labelled it"))
    return [Row(line) for line in [*out, Content("")]]


def reply_in_full(text: DeductionText, width: int) -> list[Content]:
    """Return question, given steps and reply in full."""
    out = [Content.styled("Question", "bold"), *wrap(safe(text.question, newlines=True), width - 1)]
    out += [Content(""), Content.styled(f"Given ({WAYS[text.way]})", "bold")]
    out += wrap(safe(text.prefix, newlines=True), width - 1) if text.k else [Content(wording.NONE)]
    out += [Content(""), Content.styled("Reply", "bold")]
    out += wrap(safe(text.reply, newlines=True), width - 1)
    return [*out, Content(""), Content(f"ended: {text.outcome}")]


__all__ = [
    "expected_rows",
    "place_of",
    "reply_in_full",
    "reply_rows",
    "said_rows",
    "series_detail",
    "series_heads",
    "series_rows",
    "survivors_lines",
]
