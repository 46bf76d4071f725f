"""The prompts: versioned TOML files of this package, and how their places are filled."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from judges.requests import Message

__all__ = [
    "Prompt",
    "PromptChoice",
    "chosen_prompt",
    "fence",
    "load_prompt",
    "own_prompt",
    "prompt_names",
    "prompt_versions",
    "read_prompt",
]

PromptChoice = int | Path | None
"""Which prompt of a role: a version that ships, a file of one's own, or the newest."""

_DIRECTORY = Path(__file__).parent
_FILE = re.compile(r"([a-z][a-z_-]*)-([1-9][0-9]*)\.toml")
_PLACE = re.compile(r"\{([a-z][a-z_]*)\}")
_HASH_DIGITS = 12
_QUOTES = re.compile(r'"{3,}')
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class Prompt:
    """One version of a prompt.

    `system` and `user` have places, a lower-case name in braces; every other brace is text.
    `examples` are whole messages, sent as they are. `parts` are pieces that a role puts into a
    place where they apply. `own` is the hash of a file that does not ship; its version is 0.
    """

    name: str
    version: int
    system: str
    user: str
    examples: tuple[Message, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    own: str | None = None

    @property
    def label(self) -> str:
        """What is stored as a request's prompt version: ``name/version``, or ``name@hash``."""
        return f"{self.name}/{self.version}" if self.own is None else f"{self.name}@{self.own}"

    @property
    def places(self) -> frozenset[str]:
        """The places of `system` and `user`."""
        return frozenset(_PLACE.findall(self.system + self.user))

    def fill(self, **values: str) -> tuple[Message, ...]:
        """Return the messages: system, worked examples, user.

        Every place is filled once; what looks like a place inside a value stays as it is. A lone
        surrogate, which no request can carry, is sent as U+FFFD.

        Raises ValueError when the values are not those of the places.
        """
        if set(values) != self.places:
            raise ValueError(
                f"prompt {self.label} was given {_listed(values)}; it has {_listed(self.places)}"
            )
        system, user = _filled(self.system, values), _filled(self.user, values)
        return (Message("system", system), *self.examples, Message("user", user))

    def part(self, name: str, **values: str) -> str:
        """Return one piece, its places filled. ValueError when there is none of that name."""
        if name not in self.parts:
            raise ValueError(f"prompt {self.label} has no part {name!r}: {_listed(self.parts)}")
        if set(values) != set(_PLACE.findall(self.parts[name])):
            raise ValueError(f"part {name!r} of prompt {self.label} was given {_listed(values)}")
        return _filled(self.parts[name], values)


def load_prompt(name: str, version: int | None = None) -> Prompt:
    """Return a prompt that ships; without a version, its newest.

    Raises ValueError when there is none, naming those there are.
    """
    versions = prompt_versions(name)
    if not versions:
        raise ValueError(f"no prompt is named {name!r}: {', '.join(prompt_names())}")
    wanted = versions[-1] if version is None else version
    if wanted not in versions:
        raise ValueError(f"prompt {name!r} has no version {wanted}: {_listed(map(str, versions))}")
    return _loaded(name, wanted)


def chosen_prompt(name: str, choice: PromptChoice = None) -> Prompt:
    """Return the prompt that is meant. ValueError and OSError as `load_prompt` and `own_prompt`."""
    return own_prompt(choice, name) if isinstance(choice, Path) else load_prompt(name, choice)


def own_prompt(path: Path, name: str) -> Prompt:
    """Read a prompt of one's own in place of one that ships.

    Its version is the hash of its bytes. It needs the places and parts of the newest that ships,
    for these are what the role fills.

    Raises
    ------
    ValueError
        Naming the file, and what is missing or unknown.
    OSError
        When it cannot be read.
    """
    content = path.read_bytes()
    newest = load_prompt(name)
    try:
        prompt = read_prompt(content.decode("utf-8-sig"), name, 0)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    for what, needed, found in (
        ("places", newest.places, prompt.places),
        ("parts", set(newest.parts), set(prompt.parts)),
    ):
        if found != needed:
            raise ValueError(
                f"{path}: a prompt in place of {newest.label} needs the {what} {_listed(needed)}; "
                f"it has {_listed(found)}"
            )
    if prompt.examples and len(prompt.examples) != len(newest.examples):
        raise ValueError(
            f"{path}: {len(prompt.examples) // 2} worked examples; {newest.label} has "
            f"{len(newest.examples) // 2}, in a fixed order: give as many, or none"
        )
    return replace(prompt, own=hashlib.sha256(content).hexdigest()[:_HASH_DIGITS])


def prompt_names() -> tuple[str, ...]:
    """Return the names of the prompts that ship."""
    return tuple(sorted({name for name, _ in _files()}))


def prompt_versions(name: str) -> tuple[int, ...]:
    """Return a prompt's versions, oldest first; none when no prompt has that name."""
    return tuple(sorted(version for found, version in _files() if found == name))


def fence(text: str) -> str:
    """Return a text between two lines of quotation marks: three, or one more than it has itself."""
    longest = max(map(len, _QUOTES.findall(text)), default=2)
    mark = '"' * (longest + 1)
    return f"{mark}\n{text}\n{mark}"


@cache
def _loaded(name: str, version: int) -> Prompt:
    return read_prompt((_DIRECTORY / f"{name}-{version}.toml").read_text("utf-8"), name, version)


@cache
def _files() -> tuple[tuple[str, int], ...]:
    found = (_FILE.fullmatch(path.name) for path in _DIRECTORY.iterdir())
    return tuple((match[1], int(match[2])) for match in found if match)


def read_prompt(text: str, name: str, version: int) -> Prompt:
    """Read a prompt file: `about`, `system`, `user`, and where wanted `examples` and `parts`.

    Raises ValueError naming the prompt and the key.
    """
    where = f"prompt {name}/{version}"
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{where}: {error}") from error
    unknown = set(table) - {"about", "system", "user", "examples", "parts"}
    if unknown:
        raise ValueError(f"{where} has {_listed(unknown)}; about, system, user, examples, parts")
    for key in ("about", "system", "user"):
        _need_text(table.get(key), where, key)
    parts = table.get("parts", {})
    if not isinstance(parts, dict):
        raise ValueError(f"{where}: parts is {type(parts).__name__}; a table of texts is right")
    for key, value in parts.items():
        _need_text(value, where, f"parts.{key}")
    return Prompt(
        name,
        version,
        table["system"].strip(),
        table["user"].strip(),
        tuple(_examples(table.get("examples", []), where)),
        {key: value.strip() for key, value in parts.items()},
    )


def _examples(value: Any, where: str) -> Iterator[Message]:
    if not isinstance(value, list):
        raise ValueError(
            f"{where}: examples is {type(value).__name__}; an array of tables is right"
        )
    for at, row in enumerate(value):
        if not isinstance(row, dict) or set(row) != {"user", "assistant"}:
            raise ValueError(f"{where}: examples[{at}] must have user and assistant, nothing else")
        yield Message("user", _need_text(row["user"], where, f"examples[{at}].user").strip())
        reply = _need_text(row["assistant"], where, f"examples[{at}].assistant")
        yield Message("assistant", reply.strip())


def _need_text(value: Any, where: str, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: {key} is {value!r}; a text is right")
    return value


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: _SURROGATE.sub("\ufffd", values[place[1]]), template)


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"
