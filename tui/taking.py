"""What is taken after a digit, where several categories may hold."""

from __future__ import annotations

from collections.abc import Iterable

from store.label_records import SchemaRecord
from store.records import Category


def take(schema: SchemaRecord, taken: Iterable[str], choice: Category) -> tuple[str, ...]:
    """Take a category on or off; one that excludes the others, and unsure, stand alone.

    Returns the names in the schema's order.
    """
    before = set(taken)
    alone = {c.name for c in schema.categories if _stands_alone(c)}
    if choice.name in before:
        after = before - {choice.name}
    elif choice.name in alone:
        after = {choice.name}
    else:
        after = (before - alone) | {choice.name}
    return tuple(c.name for c in schema.categories if c.name in after)


def _stands_alone(category: Category) -> bool:
    return category.excludes_others or category.state != "labelled" or category.name == "none"
