"""A question as the roles see it: never its gold answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from judges.prompts import Prompt, fence
from judges.schemas import LETTER, NUMBER, Schema
from scoring.parsing import AnswerReading, Options, read_answer
from scoring.parsing.choices import lettered
from scoring.types import AnswerKind

MAX_ANSWER = 120
"""Characters of an answer in words."""
MAX_DATE = 40

Wanted = Literal["number", "boolean", "choice", "date", "text"]


@dataclass(frozen=True)
class QuestionText:
    """What a model is told of a question, and how its answer is read.

    `options` are a list (lettered A, B, …) or letter → text. `passage` is a text that the question
    is about. ValueError for options that are none, an unknown kind or percent rule.
    """

    text: str
    answer_kind: AnswerKind = "auto"
    options: Options | None = None
    percent: str = "keep"
    passage: str | None = None

    def __post_init__(self) -> None:
        self.read("")

    @cached_property
    def letters(self) -> dict[str, str]:
        """The options as letter → text as given, without its own letter; empty where no choice is
        wanted or the options are not known."""
        if self.options is None or self.wanted != "choice":
            return {}
        given = self.options.values() if isinstance(self.options, Mapping) else self.options
        return {
            letter: re.sub(rf"^\s*\(?{letter}[).:]\s+", "", str(text), flags=re.IGNORECASE).strip()
            for letter, text in zip(lettered(self.options), given, strict=True)
        }

    @property
    def wanted(self) -> Wanted:
        """The kind of answer that is asked for; ``auto`` is a choice with options, else a text."""
        if self.answer_kind == "auto":
            return "text" if self.options is None else "choice"
        return self.answer_kind

    @property
    def shown(self) -> str:
        """The question, with the options of a choice one a line."""
        lines = (f"{letter}) {text}" for letter, text in self.letters.items())
        return "\n".join((self.text.strip(), *lines))

    @property
    def texts(self) -> tuple[str, ...]:
        """What `block` encloses: the passage where there is one, and the question."""
        if self.passage is None or not self.passage.strip():
            return (self.shown,)
        return (self.passage.strip(), self.shown)

    def block(self, prompt: Prompt, enclosed: Callable[[str], str] = fence) -> str:
        """Return passage and question, each enclosed, under the prompt's headings."""
        *passage, question = self.texts
        parts = [prompt.part("passage", passage=enclosed(text)) for text in passage]
        return "\n".join([*parts, prompt.part("question", question=enclosed(question))])

    def answer_form(self, prompt: Prompt) -> str:
        """Return the prompt's words for the kind of answer that is wanted."""
        if self.wanted != "choice":
            return prompt.part(self.wanted)
        if not self.letters:
            return prompt.part("letter")
        return prompt.part("choice", letters=", ".join(self.letters))

    def answer_schema(self) -> Schema:
        """Return the schema of an answer: a string."""
        kind = self.wanted
        if kind == "boolean":
            return {"type": "string", "enum": ["yes", "no"]}
        if kind == "choice" and self.letters:
            return {"type": "string", "enum": list(self.letters)}
        if kind == "choice":
            return {"type": "string", "pattern": LETTER}
        if kind == "number":
            return {"type": "string", "pattern": NUMBER}
        return {"type": "string", "maxLength": MAX_DATE if kind == "date" else MAX_ANSWER}

    def read(self, answer: str | None) -> AnswerReading:
        """Read an answer under the question's rules."""
        return read_answer(answer, self.answer_kind, options=self.options, percent=self.percent)
