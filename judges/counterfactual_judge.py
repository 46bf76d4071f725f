"""What the judge of a counterfactual edit is shown: the steps, the edit, the answers before and
after it."""

from __future__ import annotations

from collections.abc import Sequence

from judges.item_judge import Block, ItemContent
from judges.plain import annotation, one_line, step_line
from judges.questions import QuestionText
from scoring.types import Step

ROLE = "counterfactual_judge"


def counterfactual_content(
    q: QuestionText,
    steps: Sequence[Step],
    edited: int,
    text: str,
    *,
    before: str | None = None,
    after: str | None = None,
) -> ItemContent:
    """Return what is judged of one edit: step `edited` was rewritten as `text`.

    `before` and `after` are the answers to the steps as they were and as edited; where one is not
    known nothing is said of it. Only the edit is judged, so the gold answer is not among them.

    Raises
    ------
    ValueError
        When there is no such step, or the edit is blank.
    """
    old = next((step for step in steps if step.index == edited), None)
    if old is None:
        raise ValueError(f"step {edited} was edited; there are {len(steps)} steps")
    if not text.strip():
        raise ValueError(f"the edit of step {edited} is blank")
    lines = [f"{step_line(step, f'{step.index}.')}{annotation(step)}" for step in steps]
    *passage, question = q.texts
    blocks = [
        *(Block("passage", shown) for shown in passage),
        Block("question", question),
        Block("steps", "\n".join(lines)),
        Block("original", step_line(old, f"{edited}.")),
        Block("edit", f"{edited}. {one_line(text)}", 0),
    ]
    for name, answer in (("before", before), ("after", after)):
        if answer is not None:
            blocks.append(Block(name, one_line(answer) or "(blank)"))
    return ItemContent(ROLE, tuple(blocks))
