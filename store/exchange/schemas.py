"""Label schemas as TOML: reading with every mistake named, and writing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from store.exchange.lines import shown
from store.records import DECIDED, ITEM_KINDS, SEALS, Category, SchemaRecord, SchemaSpec

_FIELDS = ("name", "item_kind", "question", "seal", "multi", "guideline", "categories")
_CATEGORY_FIELDS = ("name", "key", "state", "takes_first_wrong_step", "excludes_others")
_STATES = ("labelled", "unsure")
_NO_NAMES = frozenset([*DECIDED, "skip", "unparsed", "open"])
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def spec_of(schema: SchemaRecord) -> SchemaSpec:
    """Return what a stored version states, without its number."""
    return SchemaSpec(
        name=schema.name,
        item_kind=schema.item_kind,
        question=schema.question,
        guideline=schema.guideline,
        categories=schema.categories,
        seal=schema.seal,
        multi=schema.multi,
    )


def read_schema(path: Path) -> SchemaSpec:
    """Read a schema file.

    Raises
    ------
    ValueError
        Naming the file, the field, what was found and what would be right.
    OSError
        When the file cannot be read.
    """
    try:
        return parse_schema(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start + 1} is not UTF-8") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def parse_schema(text: str) -> SchemaSpec:
    """Read a schema from the text of a TOML file.

    Raises
    ------
    ValueError
        Naming the field, what was found and what would be right.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"not TOML: {error}") from error
    _only(table, _FIELDS, "a schema")
    rows = table.get("categories")
    if not isinstance(rows, list) or not all(isinstance(r, dict) for r in rows):
        raise ValueError("[[categories]] is missing; one such table for each choice is right")
    spec = SchemaSpec(
        name=_text(table, "name"),
        item_kind=_text(table, "item_kind"),
        question=_text(table, "question"),
        guideline=_text(table, "guideline"),
        categories=tuple(_category(row) for row in rows),
        seal=_text(table, "seal", "full"),  # type: ignore[arg-type]  # checked below
        multi=_bool(table, "multi"),
    )
    check_schema(spec)
    return spec


def _category(row: Mapping[str, Any]) -> Category:
    _only(row, _CATEGORY_FIELDS, "a category")
    return Category(
        key=_text(row, "key"),
        name=_text(row, "name"),
        state=_text(row, "state", "labelled"),  # type: ignore[arg-type]  # checked below
        takes_first_wrong_step=_bool(row, "takes_first_wrong_step"),
        excludes_others=_bool(row, "excludes_others"),
    )


def _only(table: Mapping[str, Any], fields: tuple[str, ...], what: str) -> None:
    for name in table:
        if name not in fields:
            raise ValueError(f"{what} has no field {name!r}; it has {', '.join(fields)}")


def _text(table: Mapping[str, Any], field: str, default: str | None = None) -> str:
    value = table.get(field, default)
    if not isinstance(value, str) or not value.strip():
        found = "is missing" if field not in table else f"is {_shown(value)}"
        raise ValueError(f"{field} {found}; a text is right")
    return value


def _bool(table: Mapping[str, Any], field: str) -> bool:
    value = table.get(field, False)
    if not isinstance(value, bool):
        raise ValueError(f"{field} is {_shown(value)}; true or false is right")
    return value


def _shown(value: Any) -> str:
    """Return a value for a message; TOML also has dates and infinities."""
    return shown(value if isinstance(value, str | int | bool | list | dict) else str(value))


def check_schema(spec: SchemaSpec) -> None:
    """Raise ValueError when a schema cannot be used, saying what would be right."""
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", spec.name):
        raise ValueError(f"name is {shown(spec.name)}; letters, digits, - and _ are right")
    for field, value, allowed in (
        ("item_kind", spec.item_kind, ITEM_KINDS),
        ("seal", spec.seal, SEALS),
    ):
        if value not in allowed:
            raise ValueError(f"{field} is {shown(value)}; one of {', '.join(allowed)} is right")
    for field, value in (("question", spec.question), ("guideline", spec.guideline)):
        if _UNSAFE.search(value):
            raise ValueError(f"{field} holds control characters; plain text is right")
    for category in spec.categories:
        _check_category(spec, category)
    named = [c for c in spec.categories if c.state == "labelled"]
    if len(spec.categories) - len(named) > 1:
        raise ValueError("two choices have the state unsure; one at most is right")
    if len(named) < 2:
        raise ValueError(f"{len(named)} categories besides unsure; two or more are right")
    for field in ("name", "key"):
        values = [getattr(c, field) for c in spec.categories]
        twice = next((v for v in values if values.count(v) > 1), None)
        if twice is not None:
            raise ValueError(f"two categories have the {field} {shown(twice)}; one is right")


def _check_category(spec: SchemaSpec, category: Category) -> None:
    name = shown(category.name)
    if category.state not in _STATES:
        raise ValueError(f"state of {name} is {shown(category.state)}; labelled or unsure is right")
    if _UNSAFE.search(category.name) or category.name != " ".join(category.name.split()):
        raise ValueError(f"category {name}; a name of words with single spaces is right")
    if "+" in category.name:
        raise ValueError(f"category {name} holds a +, which joins several; another name is right")
    if category.state == "labelled" and category.name.casefold() in _NO_NAMES:
        raise ValueError(f"category {name} is the name of a state; another name is right")
    if not re.fullmatch("[a-z0-9]", category.key):
        raise ValueError(f"key of {name} is {shown(category.key)}; one digit or letter is right")
    if category.takes_first_wrong_step and spec.item_kind != "path":
        raise ValueError(f"{name} takes a first wrong step, which only a path has")
    if category.excludes_others and not (spec.multi and category.state == "labelled"):
        raise ValueError(f"{name} excludes others, which only a category of a multi schema does")


def schema_text(spec: SchemaSpec) -> str:
    """Return a schema as TOML; reading it gives the same schema."""
    lines = [
        f"name = {_quoted(spec.name)}",
        f"item_kind = {_quoted(spec.item_kind)}",
        f"question = {_quoted(spec.question)}",
        f"seal = {_quoted(spec.seal)}",
        f"multi = {str(spec.multi).lower()}",
        f"guideline = {_quoted(spec.guideline)}",
    ]
    for category in spec.categories:
        lines += [
            "",
            "[[categories]]",
            f"name = {_quoted(category.name)}",
            f"key = {_quoted(category.key)}",
            f"state = {_quoted(category.state)}",
            f"takes_first_wrong_step = {str(category.takes_first_wrong_step).lower()}",
        ]
        if category.excludes_others:
            lines.append("excludes_others = true")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a TOML basic string; texts of several lines keep their lines.

    Characters that are drawn as nothing, or would steer a terminal, are escaped.
    """
    several = "\n" in text
    out = []
    for char in text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"' if several else '"""'):
        if char == '"' and not several:
            out.append('\\"')
        elif char != "\n" and not char.isprintable():
            code = ord(char)
            out.append(f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}")
        else:
            out.append(char)
    body = "".join(out)
    if not several:
        return f'"{body}"'
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    return f'"""\n{body}"""'
