"""Label JSONL: labels of people and verdicts of judges (DESIGN, Contract)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from store.exchange.lines import LineError, maybe_name, maybe_text, need_name, shown
from store.records import LabelState, NewLabel, RaterKind, SealLevel

RATER_KINDS: tuple[str, ...] = get_args(RaterKind)
STATES: tuple[str, ...] = get_args(LabelState)
SEALS: tuple[str, ...] = get_args(SealLevel)
STATE_WORDS: dict[str, LabelState] = {"unsure": "unsure", "skip": "skipped", "skipped": "skipped"}
_FIELDS = frozenset(
    [
        "item",
        "schema",
        "rater",
        "rater_kind",
        "category",
        "state",
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
    ]
)


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
    )


def _choice(row: dict[str, Any], kind: str) -> tuple[LabelState, str | None]:
    category = maybe_name(row, "category")
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
