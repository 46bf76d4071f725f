"""Whether what a rater says is one of the schema's choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from store.label_records import JOINT
from store.records import LabelState, SchemaRecord


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice that the schema has; `categories` is None unless several may hold."""

    state: LabelState
    category: str | None
    categories: list[str] | None
    first_wrong_step: int | None


def checked_choice(
    schema: SchemaRecord,
    state: LabelState,
    category: str | None,
    categories: Sequence[str] | None,
    step: int | None,
) -> Choice:
    """Return a choice in the schema's own order.

    Raises
    ------
    ValueError
        Saying what the schema has.
    """
    several: list[str] | None = None
    if schema.multi and state == "labelled":
        several = in_order(schema, categories if categories else _parts(category))
        category = JOINT.join(several)
    elif categories:
        raise ValueError(
            f"schema {schema.name} takes one category, not {', '.join(map(str, categories))}"
        )
    if state == "skipped":
        if category is not None or step is not None:
            raise ValueError("a skip has neither a category nor a first wrong step")
    else:
        _check(schema, state, several or [category], step)
    return Choice(state, category, several, step)


def _parts(category: str | None) -> list[str]:
    return [] if category is None else category.split(JOINT)


def in_order(schema: SchemaRecord, categories: Sequence[str | None]) -> list[str]:
    """Return the categories of one label in the schema's order, each once.

    Raises
    ------
    ValueError
        When there are none, one is not the schema's, or one stands only alone.
    """
    names = schema.names
    wrong = [c for c in categories if c not in names]
    if wrong or not categories:
        found = ", ".join(map(repr, wrong)) or "no category"
        raise ValueError(
            f"{found} is not in schema {schema.name} version {schema.version}: {', '.join(names)}"
        )
    ordered = [n for n in names if n in categories]
    alone = [c.name for c in schema.categories if c.excludes_others and c.name in ordered]
    if alone and len(ordered) > 1:
        raise ValueError(f"{alone[0]} excludes other categories, here {', '.join(ordered)}")
    return ordered


def _check(
    schema: SchemaRecord, state: LabelState, names: Sequence[str | None], step: int | None
) -> None:
    """Refuse what the schema does not have, and a first wrong step beside nothing that takes one.

    Where several categories hold, one that takes a first wrong step is enough: the step is the
    first at which the path goes wrong in any of the ways that have a place in it.
    """
    chosen = []
    for wanted in names:
        for choice in schema.categories:
            name = choice.name if choice.state == "labelled" else None
            if choice.state == state and name == wanted:
                chosen.append(choice)
                break
        else:
            known = ", ".join(c.name for c in schema.categories)
            raise ValueError(f"{wanted or state!r} is not in schema {schema.name}: {known}")
    if step is not None and not any(c.takes_first_wrong_step for c in chosen):
        said = " and ".join(c.name for c in chosen)
        raise ValueError(f"{said} cannot have a first wrong step ({step})")
