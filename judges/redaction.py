"""Keys that show themselves nowhere, and foreign text made short and harmless for a reason."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

HIDDEN = "[key]"
SHORTEST_SECRET = 8
"""Placeholders such as ``none`` or ``EMPTY`` are shorter; to hide them would maim other words."""

LOGGERS = (
    "openai._base_client",
    "openai._legacy_response",
    "openai._response",
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
)
"""Where the libraries under a request log. A filter holds for the one logger it is added to."""


class Key:
    """A server's key: held for the time of asking, shown by nothing, hidden from text it is in."""

    __slots__ = ("_forms", "_value")

    def __init__(self, value: str | None) -> None:
        self._value = value
        forms = () if value is None or len(value) < SHORTEST_SECRET else _spellings(value)
        self._forms = forms

    @classmethod
    def from_environment(cls, name: str | None) -> Key:
        """Read the variable of that name; None is no key. ValueError when it cannot be used."""
        if name is None:
            return cls(None)
        value = os.environ.get(name, "").strip()
        if not value:
            raise ValueError(
                f"the environment variable {name} (key_env) is not set; put the server's key there"
            )
        if not all(33 <= ord(c) <= 126 for c in value):
            raise ValueError(
                f"the environment variable {name} (key_env) holds blanks or characters outside "
                "ASCII, which no key has"
            )
        return cls(value)

    def __repr__(self) -> str:
        return HIDDEN if self._value is not None else "[no key]"

    def __reduce__(self) -> str:
        raise TypeError("a key is not stored")

    def reveal(self) -> str | None:
        """Return the key itself, for the request's header only."""
        return self._value

    def hide(self, text: str) -> str:
        """Return the text with the key struck out wherever it stands."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text

    @contextmanager
    def hidden_in_logs(self) -> Iterator[None]:
        """Hide the key in what the HTTP libraries log meanwhile (a server's headers, for one)."""
        hiding = _Hiding(self)
        loggers = [logging.getLogger(name) for name in LOGGERS] if self._forms else []
        for logger in loggers:
            logger.addFilter(hiding)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(hiding)


class _Hiding(logging.Filter):
    def __init__(self, key: Key) -> None:
        super().__init__()
        self._key = key

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        hidden = self._key.hide(said)
        if hidden != said:
            record.msg, record.args = hidden, ()
        return True


def _spellings(value: str) -> tuple[str, ...]:
    """Return how a server may echo the value: as it is, in JSON, in a URL."""
    return tuple(dict.fromkeys((value, json.dumps(value)[1:-1], quote(value, safe=""))))


def one_line(text: str, limit: int = 300) -> str:
    """Return foreign text as one printable line of at most `limit` characters."""
    flat = " ".join(text[: 8 * limit].split())
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in flat[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
