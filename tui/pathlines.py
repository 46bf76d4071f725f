"""A path of steps laid out in lines: the text under judgement."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content

from store.records import CaseView, PathView
from tui import wording
from tui.charts import arcs, arcs_between, support_glyph
from tui.text import hang, safe, wrap
from tui.widgets.lines import Row

WRONG = "✗"
UNSAVED = "○"
"""Stands for the mark while it is not saved."""
UNSAID = "⟵?"
"""Marks a step that does not say what it depends on."""


LEAST_QUESTION, QUESTION_SHARE = 3, 6
"""Lines that a question may take at least, and of how many lines of a screen it may take one."""


def question_lines(height: int) -> int:
    """Return how many lines a question may take on a screen of so many lines.

    >>> [question_lines(height) for height in (24, 40, 60)]
    [4, 6, 10]
    """
    return max(LEAST_QUESTION, height // QUESTION_SHARE)


def question_text(case: CaseView) -> Content:
    """Return a question with its options; its line breaks hold, but for those of empty lines."""
    lines = case.question.replace("\r\n", "\n").split("\n")
    text = safe("\n".join(line for line in lines if line.strip(" \t")), newlines=True)
    if case.options:
        return text + Content(" ") + safe(f"(options: {_options(case.options)})", newlines=True)
    return text


def _options(options: object) -> str:
    if isinstance(options, dict):
        return "; ".join(f"{k}) {v}" for k, v in options.items())
    if isinstance(options, list):
        return "; ".join(str(o) for o in options)
    return str(options)


def dependency_mark(path: PathView, step: int) -> Content | None:
    """Return what a step says it depends on; None for a premise."""
    here = path.steps[step]
    if not here.annotated:
        return Content(UNSAID)
    if not here.depends_on:
        return None
    return Content("⟵" + ",".join(map(str, here.depends_on)))


def path_rows(
    path: PathView,
    width: int,
    *,
    wrong: int | None = None,
    support: Sequence[float | None] | None = None,
    marks: Mapping[int, Content] | None = None,
    pending: bool = False,
) -> list[Row]:
    """Lay out a path's steps and its answer; item i is step i.

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
    given = path.answer_text
    text = Content("no final answer") if given is None else safe(given, newlines=True)
    head = Content.styled(" " * (digits + 1) + "∴  ", "bold")
    rows += [Row(line) for line in hang(head, text, width)]
    return rows


def graph_rows(
    path: PathView, width: int, *, support: Sequence[float | None] | None = None
) -> list[Row]:
    """Lay out a path as a graph: a lane for every step that is used, ending at its users."""
    drawn = arcs([s.depends_on for s in path.steps])
    digits = len(str(max(len(path.steps) - 1, 0)))
    rows: list[Row] = []
    for step in path.steps:
        glyph = "" if support is None else " " + support_glyph(support[step.index])
        number = Content.styled(f" {step.index:>{digits}}", "bold") + Content(glyph + " ")
        lane = drawn[step.index]
        unsaid = Content("" if step.annotated else "? ")
        room = max(width - len(number.plain) - len(lane) - 1, 10)
        text = wrap(unsaid + safe(step.text, newlines=True), room)
        below = " " * len(number.plain) + arcs_between(drawn, step.index) + " "
        for i, line in enumerate(text):
            lead = number + Content(lane + " ") if i == 0 else Content(below)
            rows.append(Row(lead + line, step.index, i == 0))
    return rows


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
