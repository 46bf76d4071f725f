"""Items as JSONL and CSV: keys that other tools join on, and how they were chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from store.exchange.lines import LineError, maybe_name, need_name, shown
from store.keys import is_name
from store.records import ExportedItem, NewItem

ITEM_FIELDS = (
    "item",
    "kind",
    "dataset",
    "question_id",
    "pool",
    "sample",
    "step",
    "decomposition",
    "criterion",
    "editing",
)
DESIGN_FIELDS = ("case", "stratum", "case_inclusion_probability", "inclusion_probability")


def is_item_line(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like an item."""
    return "item" in row and "kind" in row and "rater" not in row


def item_row(item: ExportedItem, *, design: bool) -> dict[str, Any]:
    """Return an item as a file carries it; how it was chosen only with `design`."""
    fields = (*ITEM_FIELDS, "case", *(DESIGN_FIELDS[1:] if design else ()))
    row = {name: getattr(item, name) for name in fields}
    if item.edges is not None:
        row["edges"] = [list(edge) for edge in item.edges]
    return row


def item(row: dict[str, Any]) -> NewItem:
    """Read one line of item JSONL, or the cells of a CSV.

    Raises
    ------
    LineError
        Naming the field, what was found, and what would be right.
    """
    key, kind = need_name(row, "item"), need_name(row, "kind")
    if key.partition(":")[0] != kind:
        raise LineError(f"kind is {shown(kind)}, the item is {shown(key)}; one kind is right")
    return NewItem(
        item=key,
        stratum=maybe_name(row, "stratum"),
        case_inclusion_probability=_share(row, "case_inclusion_probability"),
        inclusion_probability=_share(row, "inclusion_probability"),
        edges=_edges(row),
    )


def _edges(row: dict[str, Any]) -> tuple[tuple[str, str], ...] | None:
    value = row.get("edges")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = row["edges"]
    if value is None:
        return None
    wrong = f"edges is {shown(value)}; a list of pairs of names is right"
    if not isinstance(value, list):
        raise LineError(wrong)
    for pair in value:
        named = isinstance(pair, list) and len(pair) == 2
        if not named or not all(isinstance(n, str) and is_name(n) for n in pair):
            raise LineError(wrong)
    return tuple((a, b) for a, b in value)


def _share(row: dict[str, Any], field: str) -> float | None:
    value = row.get(field)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = row[field]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise LineError(f"{field} is {shown(value)}; a share from 0 to 1 is right")
    return float(value)
