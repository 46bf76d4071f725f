"""What the judge of a deduction is shown: the problem, what was given, and the model's reply."""

from __future__ import annotations

from judges.item_judge import Block, ItemContent

ROLE = "deduction_judge"


def deduction_content(
    problem: str, reply: str, *, prefix: str = "", reference: str = ""
) -> ItemContent:
    """Return what is judged of one reply to a problem.

    `prefix` are the solution steps that the model was given as its own beginning; `reference` is a
    worked solution, which a person sees too.

    Raises
    ------
    ValueError
        When problem or reply is blank.
    """
    for name, text in (("problem", problem), ("reply", reply)):
        if not text.strip():
            raise ValueError(f"the {name} is blank: there is nothing to judge")
    blocks = [Block("problem", problem.strip())]
    if reference.strip():
        blocks.append(Block("reference", reference.strip()))
    if prefix.strip():
        blocks.append(Block("prefix", prefix.strip()))
    body = reply.strip()
    blocks.append(Block("reply", body, body.count("\n")))
    return ItemContent(ROLE, tuple(blocks))
