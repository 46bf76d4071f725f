"""A path of steps laid out in lines: the text under judgement."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content

from scoring.types import ParseIssue
from store.records import CaseView, PathView
from tui import wording
from tui.charts import support_glyph
from tui.text import hang, safe, wrap
from tui.widgets.lines import Row

WRONG = "✗"
UNSAVED = "○"
"""Stands for the mark while it is not saved."""
UNSAID = "⟵?"
"""Marks a step that does not say what it depends on."""
NOTED = "△"
"""Marks what the parser had to decide or leave out about a step's references."""
REFERENCES = ("reference_", "references_", "annotation_malformed", "step_empty", "step_malformed")
"""How the codes of issues begin after which a step's references are not all that it named."""
HARMLESS = ("reference_duplicate",)
TRACE_NOTES = {
    "numbering_from_one": "numbered from 1 by the model",
    "numbering_start": "numbering starts late",
    "numbering_gap": "a number is missing",
    "numbering_restart": "numbers repeat",
    "annotation_orphan": "a reference belongs to no step",
    "unstructured": "steps are not numbered",
}
"""Codes that bear on what a reference means in a whole trace, in a few words."""


LEAST_QUESTION, QUESTION_SHARE = 3, 6
"""Lines that a question may take at least, and of how many lines of a screen it may take one."""


def question_lines(height: int) -> int:
    """Return how many lines a question may take on a screen of so many lines.

    >>> [question_lines(height) for height in (24, 40, 60)]
    [4, 6, 10]
    """
    return max(LEAST_QUESTION, height // QUESTION_SHARE)


def question_text(case: CaseView, *, whole: bool = False) -> Content:
    """Return a question with its options; its line breaks hold, but for those of empty lines.

    With `whole`, every option has a line of its own.
    """
    lines = case.question.replace("\r\n", "\n").split("\n")
    text = safe("\n".join(line for line in lines if line.strip(" \t")), newlines=True)
    if case.options and whole:
        return text + Content("\n") + safe("\n".join(_option_list(case.options)), newlines=True)
    if case.options:
        return text + Content(" ") + safe(f"(options: {_options(case.options)})", newlines=True)
    return text


def _options(options: object) -> str:
    return "; ".join(_option_list(options))


def _option_list(options: object) -> list[str]:
    if isinstance(options, dict):
        return [f"{k}) {v}" for k, v in options.items()]
    return [str(o) for o in options] if isinstance(options, list) else [str(options)]


def dependency_mark(path: PathView, step: int) -> Content | None:
    """Return what a step says it depends on; None for a premise.

    A sign tells where the parser could not use a reference: nobody may take it for none.
    """
    here = path.steps[step]
    noted = Content(NOTED) if any(_on_references(i, step) for i in path.issues) else Content("")
    if not here.annotated:
        return Content(UNSAID) + noted
    if not here.depends_on:
        return Content("⟵") + noted if noted else None
    return Content("⟵" + ",".join(map(str, here.depends_on))) + noted


def _on_references(issue: ParseIssue, step: int) -> bool:
    return issue.step == step and issue.code.startswith(REFERENCES) and issue.code not in HARMLESS


def trace_notes(path: PathView) -> Content | None:
    """Return in a line what the parser noted about a whole trace's references; None for nothing.

    It stands on the trace's own text alone, so it tells nothing of votes or scores.
    """
    codes = dict.fromkeys(issue.code for issue in path.issues)
    said = [TRACE_NOTES[code] for code in codes if code in TRACE_NOTES]
    unsaid = sum(not step.annotated for step in path.steps)
    if unsaid and unsaid == len(path.steps):
        said.append("no step says what it uses: each is taken to use the one before")
    return Content.styled(f"{NOTED} {'; '.join(said)}", "dim") if said else None


def answer_place(path: PathView) -> int | None:
    """Return the number under which the final answer can be marked as the first wrong thing.

    It is the number of steps: every step holds, and yet the answer does not follow. None where
    there is no answer, or no step before it.
    """
    return len(path.steps) if path.steps and path.answer_text is not None else None


def last_place(path: PathView) -> int:
    """Return the last number that can be marked first wrong."""
    return len(path.steps) - (answer_place(path) is None)


def place_name(path: PathView, place: int | None) -> str:
    """Return what a number that can be marked first wrong is called."""
    if place is not None and place == answer_place(path):
        return f"the answer ({place})"
    return f"step {place}"


def path_rows(
    path: PathView,
    width: int,
    *,
    wrong: int | None = None,
    support: Sequence[float | None] | None = None,
    marks: Mapping[int, Content] | None = None,
    pending: bool = False,
) -> list[Row]:
    """Lay out a path's steps and its answer; item i is step i, the one after them the answer.

    `wrong` is the step marked first wrong, `pending` whether that is not saved yet. `marks` puts one cell after a step's number; that cell
    is kept free where there is none, so that a label moves no text. `support` adds a glyph a step,
    only after the reveal.
    """
    rows: list[Row] = []
    digits = len(str(max(len(path.steps) - 1, 0)))
    for step in path.steps:
        mark = (UNSAVED if pending else WRONG) if step.index == wrong else " "
        glyph = "" if support is None else support_glyph(support[step.index]) + " "
        number = (f"{step.index:>{digits}}", "bold")
        cell = Content(" ") if marks is None else marks.get(step.index, Content(" "))
        head = Content.assemble(" ", (mark, "bold"), number, cell, " ", glyph)
        mark_right = dependency_mark(path, step.index)
        lines = hang(head, safe(step.text, newlines=True), width, tail=mark_right)
        if step.code is not None:
            pad = Content(" " * (digits + 4))
            lines += hang(pad, safe(step.code, "italic", newlines=True), width)
        rows += [Row(line, step.index, i == 0) for i, line in enumerate(lines)]
    if not path.steps:
        rows += [
            Row(line) for line in wrap(Content(" no step could be read: r shows the text"), width)
        ]
    rows += _answer_rows(path, width, digits, UNSAVED if pending else WRONG, wrong)
    note = trace_notes(path)
    if note is not None:
        rows += [Row(line) for line in hang(Content(" "), note, width)]
    return rows


def _answer_rows(
    path: PathView, width: int, digits: int, mark: str, wrong: int | None
) -> list[Row]:
    """Lay out the answer under its number, which is the first after the steps'."""
    given, place = path.answer_text, answer_place(path)
    text = Content("no final answer") if given is None else safe(given, newlines=True)
    number = "" if place is None else str(place)
    head = Content.assemble(
        " ",
        (mark if place is not None and wrong == place else " ", "bold"),
        (f"{number:>{digits}}", "dim"),
        ("∴ ", "bold"),
    )
    return [Row(line, place, i == 0) for i, line in enumerate(hang(head, text, width))]


def source_text(source: Any) -> str:
    """Return a trace as the file held it, or as indented JSON; where a text has lines, as lines."""
    if isinstance(source, str):
        return source
    plain = json.dumps(source, indent=2, ensure_ascii=False)
    return "\n".join(_unfolded(source, "")) if _has_lines(source) else plain


def _has_lines(value: Any) -> bool:
    """Return whether a text somewhere in JSON has line breaks."""
    if isinstance(value, (dict, list)):
        return any(map(_has_lines, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and "\n" in value


def _unfolded(value: Any, pad: str) -> list[str]:
    """Lay JSON out by names and indentation; the lines of a text stay lines."""
    if isinstance(value, dict) and value:
        return [x for k, v in value.items() for x in _named(f"{pad}{k}:", v, pad)]
    if isinstance(value, list) and value:
        return [x for v in value for x in _named(f"{pad}-", v, pad)]
    if isinstance(value, str):
        return [pad + line for line in value.split("\n")]
    return [pad + json.dumps(value, ensure_ascii=False)]


def _named(head: str, value: Any, pad: str) -> list[str]:
    if _has_lines(value) or (isinstance(value, (dict, list)) and value):
        return [head, *_unfolded(value, pad + "  ")]
    return [f"{head} {_unfolded(value, '')[0]}"]


def answer_title(path: PathView) -> Content:
    """Return how a pane names its path's answer."""
    if path.answer is None:
        return Content("no answer could be read")
    return Content("answers ") + wording.answer(path.answer, "bold")
