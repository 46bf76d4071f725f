"""An edited step laid out in lines: the trace with the old and the new wording, the answers."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from judges.counterfactual_editor import intermediate_steps, stated
from scoring.graphs import self_consistency
from scoring.types import Step, Trace
from store.intervention_records import AnswersWith, EditView
from tui import wording
from tui.text import cut_middle, hang, safe, wrap
from tui.widgets.lines import Row
from tui.worddiff import marked, word_runs

OLD, NEW, LEFT_OUT = "–", "+", "∴"
UNASKED = "not asked yet"
ANSWER_CELLS = 14
"""Cells of an answer in the line that says what became of it; r shows it in full."""
QUESTION = "plausible, another fact?"
"""What is asked, in the words that fit one line."""


def answer_line(view: EditView) -> Content:
    """Return in one line which step was changed, and what became of the answer."""
    lead = Content(f" step {view.step} was changed; the answer   ")
    before, after = _vote(view.before), _vote(view.after)
    if view.before is None or view.after is None:
        return lead + Content(UNASKED)
    said = _said(view.before) + Content(" → ") + _said(view.after) + Content("   ")
    if before is None or after is None:
        return lead + said + Content.styled("NOT COMPARABLE", "bold")
    if before == after:
        return lead + said + Content.styled("UNCHANGED (not relied on)", "bold")
    return lead + said + Content.styled("CHANGED (relied on)", "bold")


def _vote(asked: AnswersWith | None) -> object:
    return None if asked is None else self_consistency(list(asked.answers)).answer


def _said(asked: AnswersWith) -> Content:
    """Return the answer that was given most often, and how often where it was asked often."""
    vote = self_consistency(list(asked.answers))
    if vote.answer is None:
        return Content("none read")
    n = len(asked.answers)
    often = "" if n == 1 else f" ({vote.counts[vote.answer]} of {n})"
    return cut_middle(wording.answer(vote.answer), ANSWER_CELLS) + Content(often)


def edit_rows(view: EditView, width: int) -> list[Row]:
    """Lay out the trace; item i is step i, the edited one in both wordings."""
    digits = len(str(max(len(view.steps) - 1, 0)))
    asked = {s.index for s in intermediate_steps(Trace(view.steps, None, None))}
    old, new = word_runs([_text(view.steps, view.step)], [view.text])
    rows: list[Row] = []
    for step in view.steps:
        number = f"{step.index:>{digits}}"
        if step.index == view.step:
            rows += _lines(step.index, f"{OLD} {number}", marked(old[0]), width)
            rows += [
                Row(line, step.index)
                for line in hang(
                    Content("  ") + Content.styled(f"{NEW} {number} ", "bold"),
                    marked(new[0]),
                    width,
                )
            ]
        elif step.index in asked:
            rows += _lines(step.index, f"  {number}", safe(stated(step)), width)
        else:
            tail = Content(f"{LEFT_OUT} left out")
            rows += _lines(step.index, f"  {number}", safe(stated(step)), width, tail)
    return rows


def _text(steps: Sequence[Step], index: int) -> str:
    return next((stated(s) for s in steps if s.index == index), "")


def _lines(
    item: int, head: str, text: Content, width: int, tail: Content | None = None
) -> list[Row]:
    lines = hang(Content("  ") + Content.styled(f"{head} ", "bold"), text, width, tail=tail)
    return [Row(line, item, i == 0) for i, line in enumerate(lines)]


def in_full(view: EditView, width: int) -> list[Content]:
    """Return the question in full, what was answered, and how the edit was made."""
    out = [Content.styled("Question", "bold")]
    out += wrap(safe(view.question, newlines=True), width - 1)
    for name, asked in (("without the edit", view.before), ("with the edit", view.after)):
        out += [Content(""), Content.styled(f"Answers {name}", "bold")]
        if asked is None:
            out.append(Content(UNASKED))
            continue
        for answer, reason in zip(asked.answers, asked.reasons, strict=True):
            text = wording.answer(answer)
            if answer is None:
                text = Content("none: ") + safe(reason or "no reason")
            out += wrap(text, width - 1)
    made = view.editing
    out += [Content(""), Content.styled("How it was made", "bold")]
    out += wrap(
        Content("editing ")
        + safe(made.name)
        + Content(" by ")
        + safe(made.model)
        + Content(f", prompt {made.prompt_version}"),
        width - 1,
    )
    if view.run is not None:
        out += wrap(
            Content("asked again of ")
            + safe(view.run.model)
            + Content(f", prompt {view.run.prompt_version}"),
            width - 1,
        )
    return [*out, safe(view.item)]
