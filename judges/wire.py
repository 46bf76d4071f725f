"""A request as the body that is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from judges.endpoint import OURS, SchemaKeywords
from judges.requests import Request
from judges.schemas import without_bounds

BOUNDS = ("max_completion_tokens", "max_tokens", "n_predict")
"""Names under which servers know the bound on a reply's tokens."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


def request_body(
    request: Request,
    *,
    extra: Mapping[str, Any] | None = None,
    bound: str = "max_tokens",
    keywords: SchemaKeywords = "all",
) -> bytes:
    """Return a request's JSON body in UTF-8.

    Sampling's extras go over `extra`, named parameters over both. `bound` is the server's name for
    the token limit. `keywords` ``plain`` sends the schema without those that not every server takes.
    Lone surrogates, which UTF-8 cannot hold, become U+FFFD (paired ones the
    character they spell). ValueError for what JSON cannot hold and for extras that set `OURS`.
    """
    sampling = request.sampling
    fields: dict[str, Any] = {**(extra or {}), **sampling.extra}
    for name in OURS:
        if name in fields:
            raise ValueError(f"extra sets {name!r}, which the request itself decides; leave it out")
    named = sampling.as_json()
    named.pop("extra", None)
    if "max_tokens" in named:
        named[bound] = named.pop("max_tokens")
    fields.update(named)
    fields["model"] = request.model
    fields["messages"] = [{"role": m.speaker, "content": m.content} for m in request.messages]
    if request.schema is not None:
        schema = request.schema if keywords == "all" else without_bounds(request.schema)
        fields["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": schema_name(request.schema),
                "schema": schema,
                "strict": True,
            },
        }
    try:
        try:
            return _dumps(fields).encode()
        except UnicodeEncodeError:
            return _dumps(_mended(fields)).encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"the request cannot be written as JSON: {error}") from None


def schema_name(schema: Mapping[str, Any]) -> str:
    """Return the name a schema is sent under: its title, in the characters servers allow."""
    title = schema.get("title")
    name = _NOT_IN_NAMES.sub("_", title).strip("_") if isinstance(title, str) else ""
    return name[:64] or "reply"


def token_bound(request: Request) -> int | None:
    """Return how many tokens a reply may have at most; None when nothing bounds it."""
    if request.sampling.max_tokens is not None:
        return request.sampling.max_tokens
    found = (request.sampling.extra.get(name) for name in BOUNDS)
    return next((v for v in found if isinstance(v, int) and v > 0), None)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {_mended(k): _mended(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(v) for v in value]
    return value
