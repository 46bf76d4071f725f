"""Rows of replies to deduction problems, their items, and what a rater has seen of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import exists
from sqlalchemy import select as plain_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from store import tables as t
from store.deduction_records import (
    FIRST_STYLE,
    ORIGINAL,
    DeductionText,
    deduction_key,
    mutation_label,
)
from store.keys import decode_part, encode_part
from store.records import SchemaRecord
from store.repository.rows import chunks, is_decided, is_standing, need_schema, outdated_categories

_COMPLETION: Any = t.DeductionCompletion
_ITEM: Any = t.DeductionItem
_SAMPLE: Any = t.DeductionSample
_MUTATION: Any = t.DeductionMutation


def check_schema(schema: SchemaRecord) -> None:
    """Refuse a schema for items of another kind, whose seal says nothing here."""
    if schema.item_kind != "deduction":
        raise ValueError(f"schema {schema.name} is for {schema.item_kind} items, not for replies")


def make_items(s: Session, completion_ids: Iterable[int]) -> dict[int, int]:
    """Return the items of completions, making them inside an open session."""
    found: dict[int, int] = {}
    for part in chunks(sorted(set(completion_ids))):
        for r in s.execute(text_rows().where(_COMPLETION.id.in_(part))).all():
            if r.item_id is not None:
                found[r.id] = r.item_id
                continue
            key = key_of(r)
            if s.exec(select(t.Item.id).where(t.Item.key == key)).first() is not None:
                continue
            item = t.Item(key=key, kind="deduction", cluster=cluster_of(r.problem))
            s.add(item)
            s.flush()
            s.add(t.DeductionItem(item_id=item.id or 0, completion_id=r.id))
            s.flush()
            found[r.id] = item.id or 0
    return found


def find_reply(s: Session, key: str) -> tuple[int, str, bool] | None:
    """Return the item of the reply that a key names, its proper key, and whether it was made now."""
    _, _, rest = key.partition(":")
    problem, solver, label, k, *style = [decode_part(p) for p in rest.split("/")] + [""] * 4
    number = ORIGINAL if label == mutation_label(ORIGINAL) else _whole(label)
    steps = _whole(k)
    wanted = style[0] or FIRST_STYLE
    if number is None or steps is None or any(style[1:]):
        return None
    row = s.execute(
        text_rows()
        .where(
            col(t.DeductionProblem.name) == problem,
            col(t.DeductionSolver.name) == solver,
            _MUTATION.number == number,
            _COMPLETION.k == steps,
            _COMPLETION.style == wanted,
        )
        .order_by(_ITEM.item_id.is_(None), _COMPLETION.id)
        .limit(1)
    ).first()
    if row is None:
        return None
    if row.item_id is not None:
        return row.item_id, key_of(row), False
    made = make_items(s, [row.id])
    return (made[row.id], key_of(row), True) if row.id in made else None


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch("0|[1-9][0-9]{0,8}", text) else None


def cluster_of(problem: str) -> str:
    """Return what bootstraps draw together: all replies to one problem."""
    return f"deduction/{encode_part(problem)}"


def solver_of(key: str) -> str:
    """Return the solver of a reply, as its key names it."""
    return decode_part(key.partition(":")[2].split("/")[1])


def knows_values(s: Session, rater_id: int, item_id: int) -> bool:
    """Return whether a rater has seen the reference's values of a reply, by whichever reply."""
    mine, other = aliased(t.DeductionCompletion), aliased(t.DeductionCompletion)
    own, seen, reveal = aliased(t.DeductionItem), aliased(t.DeductionItem), t.ItemReveal
    query = (
        select(reveal.id)
        .join(seen, col(seen.item_id) == col(reveal.item_id))
        .join(other, col(other.id) == col(seen.completion_id))
        .join(mine, col(mine.mutation_id) == col(other.mutation_id))
        .join(own, col(own.completion_id) == col(mine.id))
        .where(reveal.rater_id == rater_id, col(own.item_id) == item_id)
    )
    return s.exec(query).first() is not None


def text_rows(*more: Any) -> Any:
    """Return a query of completions with all that a sealed rater may see, and of `more`."""
    return (
        plain_select(
            _COMPLETION.id,
            _COMPLETION.mutation_id,
            _COMPLETION.k,
            _COMPLETION.style,
            _COMPLETION.way,
            _COMPLETION.prefix,
            _COMPLETION.outcome,
            _COMPLETION.text,
            _MUTATION.number,
            _MUTATION.question,
            col(t.DeductionProblem.name).label("problem"),
            col(t.DeductionSolver.name).label("solver"),
            _ITEM.item_id,
            *more,
        )
        .select_from(_COMPLETION)
        .join(_MUTATION, _MUTATION.id == _COMPLETION.mutation_id)
        .join(t.DeductionTemplate, col(t.DeductionTemplate.id) == _MUTATION.template_id)
        .join(t.DeductionProblem, col(t.DeductionProblem.id) == col(t.DeductionTemplate.problem_id))
        .join(t.DeductionSolver, col(t.DeductionSolver.id) == _COMPLETION.solver_id)
        .outerjoin(_ITEM, _ITEM.completion_id == _COMPLETION.id)
        .outerjoin(t.Item, col(t.Item.id) == _ITEM.item_id)
    )


def key_of(r: Any) -> str:
    """Return the key of a row's item."""
    return deduction_key(r.problem, r.solver, r.number, r.k, r.style)


def text_of(r: Any) -> DeductionText:
    """Return what may be shown of a row."""
    return DeductionText(
        completion_id=r.id,
        item=key_of(r),
        item_id=r.item_id or 0,
        problem=r.problem,
        solver=r.solver,
        mutation=mutation_label(r.number),
        k=r.k,
        style=r.style,
        question=r.question,
        prefix=r.prefix,
        way=r.way,
        reply=r.text,
        outcome=r.outcome,
    )


def own_labels(s: Session, rater_id: int, schema: str) -> tuple[Any, Any]:
    """Return queries of my standing labels on an outer item: deciding ones, flagged ones."""
    need_schema(s, schema)
    base = select(t.Label.id).where(
        t.Label.item_id == t.Item.id,
        t.Label.rater_id == rater_id,
        t.Label.schema_name == schema,
        is_standing(t.Label),
    )
    base = base.correlate(t.Item)
    return base.where(is_decided(t.Label, outdated_categories(s, schema))), base.where(
        col(t.Label.flagged)
    )


def unrevealed(what: Any, rater_id: int | None) -> Any:
    """Return a query of the sampled replies that a rater has not revealed; None has none."""
    revealed = exists(col(t.ItemReveal.id)).where(
        col(t.ItemReveal.rater_id) == rater_id, col(t.ItemReveal.item_id) == _SAMPLE.item_id
    )
    return (
        plain_select(what)
        .select_from(_SAMPLE)
        .join(_ITEM, _ITEM.item_id == _SAMPLE.item_id)
        .join(_COMPLETION, _COMPLETION.id == _ITEM.completion_id)
        .where(~revealed)
    )


def hidden_values(s: Session, rater_id: int) -> set[int]:
    """Return the mutations with a sampled reply that a rater has not revealed."""
    return set(s.execute(unrevealed(_COMPLETION.mutation_id, rater_id)).scalars())
