"""Labels of people and verdicts of judges, as JSONL and as CSV (DESIGN, Contract)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from store.columns import dumps
from store.exchange.lines import (
    LineError,
    maybe_name,
    maybe_text,
    need_name,
    parse_object,
    shown,
)
from store.label_records import JOINT
from store.records import ExportedLabel, LabelState, NewLabel, RaterKind, SealLevel

RATER_KINDS: tuple[str, ...] = get_args(RaterKind)
STATES: tuple[str, ...] = get_args(LabelState)
SEALS: tuple[str, ...] = get_args(SealLevel)
STATE_WORDS: dict[str, LabelState] = {"unsure": "unsure", "skip": "skipped", "skipped": "skipped"}
LABEL_FIELDS = (
    "item",
    "schema",
    "schema_version",
    "rater",
    "rater_kind",
    "state",
    "category",
    "first_wrong_step",
    "flagged",
    "note",
    "rationale",
    "raw",
    "prompt_version",
    "created_at",
    "before_reveal",
    "seal",
    "active_seconds",
)
CSV_FIELDS = (*LABEL_FIELDS, "extra")
"""The columns of a label CSV; `extra` holds all unknown fields as one JSON object."""

_FIELDS = frozenset([*LABEL_FIELDS, "categories"])


def is_label_line(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a label."""
    return "item" in row and "rater" in row


def label(row: dict[str, Any]) -> NewLabel:
    """Read one line of label JSONL.

    Raises
    ------
    LineError
        Naming the field, what was found, and what would be right.
    """
    kind = row.get("rater_kind", "human")
    if kind not in RATER_KINDS:
        raise LineError(f"rater_kind is {shown(kind)}; one of {', '.join(RATER_KINDS)} is right")
    state, category = _choice(row, kind)
    return NewLabel(
        item=need_name(row, "item"),
        schema=need_name(row, "schema") if "schema" in row else "path",
        rater=need_name(row, "rater"),
        rater_kind=kind,
        state=state,
        category=category,
        first_wrong_step=_step(row),
        flagged=_maybe_bool(row, "flagged") or False,
        note=maybe_text(row, "note"),
        rationale=maybe_text(row, "rationale"),
        raw=maybe_text(row, "raw"),
        prompt_version=maybe_name(row, "prompt_version"),
        created_at=_moment(row),
        before_reveal=_maybe_bool(row, "before_reveal"),
        seal=_seal(row),
        active_seconds=_seconds(row),
        extra={k: v for k, v in row.items() if k not in _FIELDS} or None,
        schema_version=_version(row),
    )


def label_row(exported: ExportedLabel) -> dict[str, Any]:
    """Return a label as a line of JSONL carries it: every field, then what was unknown to us."""
    row = {name: getattr(exported.label, name) for name in LABEL_FIELDS}
    if exported.categories:
        row["categories"] = list(exported.categories)
    extra = exported.label.extra or {}
    return {**row, **{k: v for k, v in extra.items() if k not in row}}


def label_cells(exported: ExportedLabel) -> list[str | None]:
    """Return a label as the cells of a CSV, in the order of `CSV_FIELDS`."""
    values = [getattr(exported.label, name) for name in LABEL_FIELDS]
    extra = exported.label.extra
    return [*map(plain_text, values), None if not extra else dumps(dict(extra))]


def plain_text(value: Any) -> str | None:
    """Return a value as the text of a cell."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else repr(value)


_TRUTH = {"true": True, "false": False}


def row_of_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells of a label CSV as the object that a line of JSONL would be.

    Raises
    ------
    LineError
        When `extra` is no JSON object.
    """
    row: dict[str, Any] = dict(cells)
    for field in ("first_wrong_step", "schema_version"):
        if re.fullmatch("[0-9]{1,15}", cells.get(field, "")):
            row[field] = int(cells[field])
    for field in ("flagged", "before_reveal"):
        row[field] = _TRUTH.get(cells.get(field, "").lower(), cells.get(field))
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?", cells.get("active_seconds", "")):
        row["active_seconds"] = float(cells["active_seconds"])
    if "extra" in row:
        row.update(_extra(row.pop("extra")))
    return row


def _extra(text: str) -> dict[str, Any]:
    try:
        extra = parse_object(text.encode("utf-8", "surrogatepass"))
    except LineError as error:
        raise LineError(f"extra is {shown(text)}: {error}") from error
    return {k: v for k, v in extra.items() if k not in _FIELDS}


def _version(row: dict[str, Any]) -> int | None:
    version = row.get("schema_version")
    if version is None:
        return None
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version < 2**31:
        raise LineError(f"schema_version is {shown(version)}; a number from 1, or null")
    return version


def _choice(row: dict[str, Any], kind: str) -> tuple[LabelState, str | None]:
    category = _category(row)
    state = row.get("state")
    if state is not None and state not in STATES:
        raise LineError(f"state is {shown(state)}; one of {', '.join(STATES)} is right")
    if category in STATE_WORDS:
        return STATE_WORDS[category], None
    if category is not None:
        if state not in (None, "labelled"):
            raise LineError(f"state {state} goes without a category, here {shown(category)}")
        return "labelled", category
    if state is None and kind == "judge":
        return "unparsed", None
    if state is None or state == "labelled":
        raise LineError("category is missing; a category, or a state such as unsure, is right")
    return state, None


def _category(row: dict[str, Any]) -> str | None:
    """Return the category; several are joined."""
    category = maybe_name(row, "category")
    several = row.get("categories")
    if several is None or several == []:
        return category
    if not isinstance(several, list) or not all(isinstance(c, str) and c for c in several):
        raise LineError(f"categories is {shown(several)}; a list of names is right")
    if category is not None and sorted(category.split(JOINT)) != sorted(several):
        raise LineError(f"category is {shown(category)}, categories {shown(several)}; one is right")
    return JOINT.join(several)


def _step(row: dict[str, Any]) -> int | None:
    step = row.get("first_wrong_step")
    if step is None:
        return None
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step < 2**31:
        raise LineError(f"first_wrong_step is {shown(step)}; a step number from 0, or null")
    return step


def _maybe_bool(row: dict[str, Any], field: str) -> bool | None:
    value = row.get(field)
    if value is not None and not isinstance(value, bool):
        raise LineError(f"{field} is {shown(value)}; true, false or null is right")
    return value


def _moment(row: dict[str, Any]) -> str | None:
    value = row.get("created_at")
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise LineError(
            f"created_at is {shown(value)}; ISO 8601 such as 2026-01-31T14:02:31Z is right"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _seal(row: dict[str, Any]) -> SealLevel:
    seal: Any = row.get("seal", "open")
    if seal not in SEALS:
        raise LineError(f"seal is {shown(seal)}; one of {', '.join(SEALS)} is right")
    level: SealLevel = seal
    return level


def _seconds(row: dict[str, Any]) -> float | None:
    value = row.get("active_seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise LineError(f"active_seconds is {shown(value)}; a number of seconds is right")
    return float(value)
