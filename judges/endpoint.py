"""Where a model is asked, as settings name it. Keys are named here, never held."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from judges.requests import Sampling

Structured = Literal["auto", "schema", "text"]
"""How structured replies are had: by the server's JSON schema, from plain text, or found out."""

SchemaKeywords = Literal["all", "plain"]
"""Which keywords of JSON schema a server takes: all, or none that bounds a text, list or number."""

OURS = ("model", "messages", "stream", "n", "response_format")
"""Fields of a body that extras may not set: they decide what a reply is."""

KEYS = (
    "base_url",
    "model",
    "key_env",
    "timeout",
    "concurrency",
    "structured",
    "price_in",
    "price_out",
    "batch_price_in",
    "batch_price_out",
    "currency",
    "extra",
)
"""What a ``[models.NAME]`` table may hold."""

_SAME = ("key_env", "timeout", "concurrency", "structured", "extra")
_LIKE_A_KEY = ("key", "token", "secret", "password", "authorization")

_ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost."""

    input_per_million: float
    output_per_million: float
    currency: str = "USD"

    def __post_init__(self) -> None:
        for name in ("input_per_million", "output_per_million"):
            value = getattr(self, name)
            if not _is_price(value):
                raise ValueError(f"{name} is {value!r}; a price is a number, 0 or more")
        if not isinstance(self.currency, str) or not self.currency.strip():
            raise ValueError(f"currency is {self.currency!r}; give its code, such as 'USD'")

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what that many tokens cost, in `currency`."""
        return (
            prompt_tokens * self.input_per_million + completion_tokens * self.output_per_million
        ) / 1e6


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind one or more OpenAI-compatible servers.

    `key_env` is the *name* of the environment variable that holds the key, which is read when
    the first request is sent. Every request's body carries `extra`; callers put it into the cache
    key too, by `keyed`. `schema_keywords` is no setting but what was found out about the servers:
    with ``plain`` schemas are sent without those keywords (replies are held against all of them);
    None while nobody looked. `batch_price` is that of the Batch API; the `price` where it is not
    known. `concurrency` is for each of the servers.
    """

    name: str
    model: str
    base_urls: tuple[str, ...]
    key_env: str | None = None
    timeout: float = 120.0
    concurrency: int = 16
    structured: Structured = "auto"
    price: Price | None = None
    batch_price: Price | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    schema_keywords: SchemaKeywords | None = None

    def __post_init__(self) -> None:
        for name in ("name", "model"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ValueError(f"{name} is {value!r}; it must be a name that is not blank")
        if not isinstance(self.base_urls, tuple) or not self.base_urls:
            raise ValueError(f"base_url is {self.base_urls!r}; give one URL or a list of them")
        cleaned = tuple(_checked_url(url) for url in self.base_urls)
        if len(set(cleaned)) < len(cleaned):
            raise ValueError("base_url names one URL twice; name each server once")
        object.__setattr__(self, "base_urls", cleaned)
        _check_key_env(self.key_env)
        if not _is_number(self.timeout) or not 0 < self.timeout < math.inf:
            raise ValueError(f"timeout is {self.timeout!r}; it must be seconds, more than 0")
        if not _is_whole(self.concurrency) or not 1 <= self.concurrency <= 1024:
            raise ValueError(f"concurrency is {self.concurrency!r}; it must be from 1 to 1024")
        if self.structured not in get_args(Structured):
            raise ValueError(f"structured is {self.structured!r}; it must be auto, schema or text")
        _check_extra(self.extra)
        object.__setattr__(self, "extra", dict(self.extra))

    @property
    def slots(self) -> int:
        """How many requests may be in flight at most, all servers together."""
        return self.concurrency * len(self.base_urls)

    def keyed(self, sampling: Sampling) -> Sampling:
        """Return the sampling with `extra` below its own, so that it enters the cache key."""
        if not self.extra:
            return sampling
        return replace(sampling, extra={**self.extra, **sampling.extra})


def read_models(path: Path | str) -> dict[str, Endpoint]:
    """Read the ``[models.NAME]`` tables of a TOML file.

    Of the keys in `KEYS` only ``base_url`` (one URL or a list) is needed; ``model`` is the table's
    name where it is missing, ``price_in`` and ``price_out`` are per million tokens. Other tables
    of the file are left to others. ValueError names file, table, key, what was found and what is
    right; OSError when the file cannot be read.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    tables = content.get("models")
    if not isinstance(tables, dict) or not tables:
        raise ValueError(f"{path}: no model in it; add a table [models.NAME] with a base_url")
    models = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ValueError(f"{path}: models.{name} is {table!r}; it must be a table")
        try:
            models[name] = _endpoint(name, table)
        except ValueError as error:
            raise ValueError(f"{path}: [models.{name}]: {error}") from None
    return models


def _endpoint(name: str, table: Mapping[str, Any]) -> Endpoint:
    _check_keys(name, table)
    if "base_url" not in table:
        raise ValueError('base_url is missing; add one such as "http://127.0.0.1:8080/v1"')
    urls = table["base_url"]
    return Endpoint(
        name=name,
        model=table.get("model", name),
        base_urls=tuple(urls) if isinstance(urls, list) else (urls,),
        price=_price(table),
        batch_price=_price(table, "batch_"),
        **{key: table[key] for key in _SAME if key in table},
    )


def _check_keys(name: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if key in KEYS:
            continue
        if isinstance(value, dict):
            raise ValueError(
                f'unknown table {key}; a name with a dot is quoted: [models."{name}.{key}"]'
            )
        if key.lower().endswith(_LIKE_A_KEY):
            # What it holds may be a key, so it is not repeated.
            raise ValueError(
                f"unknown key {key}; keys are not kept in files: put it into an environment "
                "variable and that variable's name into key_env"
            )
        raise ValueError(f"unknown key {key}; known are {', '.join(KEYS)}")


def _price(table: Mapping[str, Any], of: str = "") -> Price | None:
    keys = (f"{of}price_in", f"{of}price_out")
    given = [key for key in keys if key in table]
    if not given:
        if "currency" in table and not of:
            raise ValueError("currency is set without a price; add price_in and price_out")
        return None
    if of and "price_in" not in table:
        raise ValueError(f"{given[0]} is set without price_in; give both kinds of price")
    for key in keys:
        if key not in table:
            raise ValueError(f"{given[0]} is set without {key}; give both, per million tokens")
        if not _is_price(table[key]):
            raise ValueError(f"{key} is {table[key]!r}; a price is a number, 0 or more")
    currency = {"currency": table["currency"]} if "currency" in table else {}
    return Price(table[keys[0]], table[keys[1]], **currency)


def _is_price(value: object) -> bool:
    return _is_number(value) and 0 <= value < math.inf  # type: ignore[operator]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_key_env(name: object) -> None:
    if name is None:
        return
    # The value is not quoted: whoever puts the key itself here must not see it spread.
    if not isinstance(name, str) or not _ENV_NAME.fullmatch(name):
        raise ValueError(
            "key_env is not the name of an environment variable (capital letters, digits and _); "
            "put the key into a variable and its name here"
        )


def _check_extra(extra: object) -> None:
    if not isinstance(extra, Mapping):
        raise ValueError(f"extra is {extra!r}; it must be a table")
    for name in OURS:
        if name in extra:
            raise ValueError(f"extra sets {name}, which every request decides; leave it out")
    try:
        json.dumps(dict(extra), allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError(f"extra is {extra!r}; it must hold only what JSON can hold") from None


def _checked_url(url: object) -> str:
    """Return the URL without a trailing slash; refuse what would leak or cannot be asked."""
    if not isinstance(url, str):
        raise ValueError(f"base_url is {url!r}; it must be text such as http://127.0.0.1:8080/v1")
    try:
        parts = urlsplit(url)
        userinfo, host, _ = parts.username or parts.password, parts.hostname, parts.port
    except ValueError:
        raise ValueError("base_url cannot be read as a URL") from None
    if userinfo is not None or "@" in url:
        raise ValueError("base_url holds a user or password; name the key's variable in key_env")
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError(f"base_url is {url!r}; it must start with http:// or https:// and a host")
    if parts.query or parts.fragment:
        raise ValueError("base_url has a query or fragment; give the path only, such as …/v1")
    if any(ord(c) <= 32 or ord(c) == 127 for c in url):
        raise ValueError(f"base_url is {url!r}; it must hold no blanks or control characters")
    return url.rstrip("/")
