"""A decomposed trace laid out in lines: every step beside its facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from textual.content import Content

from scoring.types import Step
from store.model_records import CriterionView, DecompositionView, StepFacts
from store.records import LabelRecord, SchemaRecord
from tui import wording
from tui.pathlines import UNSAID
from tui.text import cells, fit, hang, safe, wrap
from tui.widgets.lines import Row

DROPPED, INVENTED, FACT = "∅", "⊕", "•"
BETWEEN = " │ "
TWO = 56
"""Cells from which steps and facts stand side by side; below, facts stand under their step."""

QUESTIONS = {
    "atomic": "does every fact say one thing?",
    "nothing_invented": "is every fact in its step?",
    "dependencies_kept": "do facts use what their steps use?",
}
"""What is asked of each criterion, in the words that fit one line."""


def criterion_name(criterion: str) -> str:
    """Return a criterion for a reader.

    >>> criterion_name("nothing_invented")
    'nothing invented'
    """
    return criterion.replace("_", " ")


def asking(schema: SchemaRecord, criterion: str) -> SchemaRecord:
    """Return the schema with the question that its categories answer for one criterion."""
    return replace(schema, question=QUESTIONS.get(criterion, schema.question))


def fact_rows(view: DecompositionView, width: int) -> list[Row]:
    """Lay out steps and facts; item i is step i, and after them comes each invented statement."""
    rows: list[Row] = []
    if not view.n_facts:
        why = Content(f"no facts ({view.outcome} reply)")
        why += Content(": ") + safe(view.reason) if view.reason else Content("")
        rows += [Row(line) for line in hang(Content(" "), why, width)]
    digits = len(str(max(len(view.steps) - 1, 0)))
    for i, (step, facts) in enumerate(_blocks(view, digits)):
        rows += _side_by_side(step, facts, width, i)
    return rows


def heads(view: DecompositionView, width: int) -> list[Row]:
    """Return the line above the columns: what each holds, and how many were dropped or invented."""
    n_dropped = sum(s.dropped for s in view.steps)
    steps, facts = wording.count(len(view.steps), "step"), wording.count(view.n_facts, "fact")
    steps += f" · {DROPPED} {n_dropped} dropped" if n_dropped else ""
    facts += f" · {INVENTED} {len(view.invented)} invented" if view.invented else ""
    if width < TWO:
        return [Row(fit(Content(f"  {steps} · {facts}"), width))]
    left = _left(width)
    return [Row(fit(Content(f"  {steps}"), left) + fit(Content(f"{BETWEEN}{facts}"), width - left))]


def standing(criteria: tuple[CriterionView, ...], here: int, width: int) -> Content:
    """Return how each criterion stands for the rater, the one in hand marked."""
    parts = []
    for i, criterion in enumerate(criteria):
        mark, style = ("▸", "bold") if i == here else (" ", "")
        name = Content.styled(f"{mark}{criterion_name(criterion.criterion)}: ", style)
        parts.append(name + _stands(criterion.label))
    gap = next((g for g in (3, 2, 1) if _joined_cells(parts, g) <= width - 1), 1)
    return Content(" ") + Content(" " * gap).join(parts)


def _joined_cells(parts: list[Content], gap: int) -> int:
    return sum(map(cells, parts)) + gap * (len(parts) - 1)


def _stands(label: LabelRecord | None) -> Content:
    if label is None:
        return Content(wording.NONE)
    text = wording.decision(label.state, label.category, None)
    if label.outdated:
        text += Content(" (old)")
    if label.flagged:
        text += Content(" !")
    return text + Content(" ✎") if label.note else text


def _left(width: int) -> int:
    return (width - len(BETWEEN)) // 2


Block = tuple[tuple[Content, Content, Content | None], list[tuple[Content, Content]]]
"""A step as head, text and what it uses; beside it, heads and texts."""


def _blocks(view: DecompositionView, digits: int) -> Iterator[Block]:
    for one in view.steps:
        yield _step(one.step, digits), _facts(one)
    for statement in view.invented:
        none = Content(" " * (digits + 3))
        said = Content.styled("INVENTED: ", "bold") + safe(statement)
        yield (none, Content("(no such step)"), None), [(_glyph(INVENTED), said)]


def _step(step: Step, digits: int) -> tuple[Content, Content, Content | None]:
    head = Content.assemble("  ", (f"{step.index:>{digits}}", "bold"), " ")
    text = safe(step.text, newlines=True)
    if step.code is not None:
        text += Content("\n") + safe(step.code, "italic", newlines=True)
    if not step.annotated:
        return head, text, Content(UNSAID)
    uses = ",".join(map(str, step.depends_on))
    return head, text, Content(f"⟵{uses}") if uses else None


def _facts(one: StepFacts) -> list[tuple[Content, Content]]:
    if one.facts:
        return [(Content(f"{FACT} "), safe(fact)) for fact in one.facts]
    if one.dropped:
        return [(_glyph(DROPPED), Content.styled("DROPPED", "bold") + ": no fact of this step")]
    return [(Content("  "), Content(wording.NONE))]


def _glyph(sign: str) -> Content:
    return Content.styled(f"{sign} ", "bold")


def _side_by_side(
    step: tuple[Content, Content, Content | None],
    facts: list[tuple[Content, Content]],
    width: int,
    item: int,
) -> list[Row]:
    head, text, tail = step
    if width < TWO:
        lines = hang(head, text, width, tail=tail)
        indent = Content(" " * (cells(head) + 1))
        for sign, fact in facts:
            lines += hang(indent + sign, fact, width)
        return [Row(line, item, i == 0) for i, line in enumerate(lines)]
    left = _left(width)
    lefts = hang(head, text, left, tail=tail)
    room = width - left - len(BETWEEN)
    rights = [line for sign, fact in facts for line in hang(sign, fact, room)]
    blank = Content("")
    rows = []
    for i in range(max(len(lefts), len(rights))):
        one = fit(lefts[i] if i < len(lefts) else blank, left)
        other = rights[i] if i < len(rights) else blank
        rows.append(Row(one + Content(BETWEEN) + other, item, i == 0))
    return rows


def made_by(view: DecompositionView, width: int) -> list[Content]:
    """Return in full what was asked about and how the facts were made."""
    made = view.decomposition
    parameters = ", ".join(f"{k} {v}" for k, v in made.parameters.items())
    sections = (
        ("Question", safe(view.question, newlines=True)),
        ("Trace", safe(view.trace)),
        ("Decomposition", safe(made.name)),
        ("Made by", safe(f"{made.model}, prompt {made.prompt_version}")),
        ("Parameters", safe(parameters or "none")),
        ("Reply", safe(view.outcome + (f": {view.reason}" if view.reason else ""))),
    )
    out: list[Content] = []
    for title, text in sections:
        out += [Content.styled(title, "bold"), *wrap(text, width - 1), Content("")]
    return out
