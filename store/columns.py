"""Column types and small helpers shared by the tables."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


def utc_now() -> str:
    """Return the present moment as ISO 8601 text in UTC, with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def dumps(value: Any) -> str:
    """Serialise to JSON text that any database accepts.

    Characters stay readable unless the text holds what UTF-8 or PostgreSQL cannot store (lone
    surrogates, NUL): then everything outside ASCII is escaped, so nothing is lost.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text


def canonical(value: Any) -> str:
    """Serialise with sorted keys: equal values give equal text."""
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def content_hash(value: Any) -> str:
    """Return an algorithm-tagged hash of any JSON value."""
    return "sha256:" + hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def text_hash(text: str) -> str:
    """Return the sha256 of a text, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_UNSEARCHABLE = re.compile("[\x00\x1f\ud800-\udfff]")


def folded(*texts: str) -> str:
    """Return texts as they are searched: without case, joined by a separator.

    The separator and what no database holds as text (NUL, lone surrogates) become U+FFFD.
    """
    return "\x1f".join(_UNSEARCHABLE.sub("\ufffd", t).casefold() for t in texts)


class ModelText(TypeDecorator[str]):
    """Text we did not write, kept to the last code unit.

    Stored as a JSON string, because SQLite cannot hold lone surrogates and PostgreSQL no NUL.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        text: str = json.loads(value)
        return text


class JsonText(TypeDecorator[Any]):
    """A JSON document in a text column; None is SQL NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


__all__ = [
    "JsonText",
    "ModelText",
    "canonical",
    "content_hash",
    "dumps",
    "folded",
    "text_hash",
    "utc_now",
]
