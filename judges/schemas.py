"""The JSON schemas of replies: what all have in common, and how long a reply they allow.

Only keywords that both OpenAI's strict mode and llama.cpp's grammars know (`KEYWORDS`). Every
string, array and number is bounded: a small model that never stops would otherwise run into the
token limit, and JSON that is cut off is no JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judges.requests import Form, Sampling

Schema = dict[str, Any]

KEYWORDS = frozenset(
    [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "maxLength",
        "pattern",
        "enum",
    ]
)
"""Every keyword the schemas use."""

BOUNDING = frozenset(
    ["maxLength", "minLength", "pattern", "minItems", "maxItems", "minimum", "maximum"]
)
"""Keywords that the strict mode of some servers refuses. None decides what a reply is made of."""

NUMBER = r"^-?[0-9]{1,12}([.][0-9]{1,6}|/[0-9]{1,6})?%?$"
"""A number as an answer: whole, decimal or p/q, a per cent sign where wanted."""
LETTER = r"^[A-Z]$"
"""An option's letter where the options are not known."""
_LENGTH_OF_PATTERN = {NUMBER: 21, LETTER: 1}

_SURE_TOKENS = 2048
_SPARE_TOKENS = 64
_LEAST_TEXT_TOKENS = 256


def closed_object(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object with all of these properties, in this order, and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def without_bounds(schema: Mapping[str, Any]) -> Schema:
    """Return a schema without the keywords in `BOUNDING`, at every depth.

    A property that is called like a keyword stays.
    """
    kept: Schema = {}
    for keyword, value in schema.items():
        if keyword in BOUNDING:
            continue
        if keyword in _NAMED and isinstance(value, Mapping):
            value = {name: _unbound(inner) for name, inner in value.items()}
        elif keyword in _LISTED and isinstance(value, list | tuple):
            value = [_unbound(inner) for inner in value]
        elif keyword in _NESTED:
            value = _unbound(value)
        kept[keyword] = value
    return kept


_NAMED = ("properties", "$defs", "definitions")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_NESTED = ("items", "additionalProperties")


def _unbound(value: Any) -> Any:
    return without_bounds(value) if isinstance(value, Mapping) else value


def longest(schema: Schema) -> int:
    """Return the most characters a reply can have, written with one blank after , and :.

    Characters of strings are counted as they are, not as escapes. ValueError when there is no
    bound.
    """
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        return max(longest({**schema, "type": one}) for one in kind)
    if kind == "object":
        fields: list[int] = [len(key) + 4 + longest(s) for key, s in schema["properties"].items()]
        return 2 + sum(fields) + 2 * max(len(fields) - 1, 0)
    if kind == "array" and "maxItems" in schema:
        n: int = schema["maxItems"]
        return 2 + n * longest(schema["items"]) + 2 * max(n - 1, 0)
    if kind == "string":
        return 2 + _longest_string(schema)
    if kind == "integer" and {"minimum", "maximum"} <= set(schema):
        return max(len(str(schema["minimum"])), len(str(schema["maximum"])))
    if kind == "null":
        return 4
    raise ValueError(f"nothing bounds {schema!r}")


def _longest_string(schema: Schema) -> int:
    if "enum" in schema:
        return max(map(len, schema["enum"]))
    if "pattern" in schema:
        return _LENGTH_OF_PATTERN[schema["pattern"]]
    if "maxLength" in schema:
        return int(schema["maxLength"])
    raise ValueError(f"nothing bounds {schema!r}")


def max_tokens(schema: Schema) -> int:
    """Return a token limit that the longest reply fits in.

    One token for each character, which holds for any ASCII text, up to 2,048 tokens; for longer
    replies one for two characters (English has about four), since no reply fills all its bounds
    with digits and servers refuse a limit beyond their context. 64 are spare.
    """
    characters = longest(schema)
    return _SPARE_TOKENS + max(min(characters, _SURE_TOKENS), math.ceil(characters / 2))


def bounded(sampling: Sampling, schema: Schema, form: Form) -> Sampling:
    """Return the sampling with a token limit: its own, else what the schema needs.

    Nothing bounds a text reply, so its limit is what ends a model that does not stop: one token for
    two characters of the same content, at least 256. A model that thinks in its reply needs more:
    give `max_tokens`.
    """
    if sampling.max_tokens is not None:
        return sampling
    if form == "schema":
        return replace(sampling, max_tokens=max_tokens(schema))
    return replace(sampling, max_tokens=max(math.ceil(longest(schema) / 2), _LEAST_TEXT_TOKENS))
