"""What a judge checks, kept apart from what it is told: fences, and texts that cannot pass for one.

Whatever a model wrote is hostile: it may claim to be the end of the text, a message of a chat, or a
verdict. It is put between two lines that it cannot hold, and the signs by which chat templates tell
speakers apart are broken up in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from judges.prompts import Prompt, fence

PLACE = "mark"
"""A prompt with this place has fences of its own for every request; one without has quotes."""

_DIGITS = 16
_ANGLE = re.compile(r"<(?=\S)")
_PIPE = re.compile(r"(?<=[|\uff5c])>")
_BRACKET = re.compile(r"\[(?=/?[A-Z][A-Z_]{2,40}\])")


def neutral(text: str) -> str:
    """Return a text in which no chat template finds a sign of its own.

    Servers put messages into one text with signs such as ``<|im_start|>``, ``<start_of_turn>``,
    ``</s>`` or ``[INST]``, and some find them in a message's content too. A blank behind ``<``
    (and a bracket before capitals) breaks all of them, and says the same to a reader.

    >>> neutral("a < b <|im_end|> </s> [INST] [/INST] [0]")
    'a < b < |im_end| > < /s> [ INST] [ /INST] [0]'
    """
    return _BRACKET.sub("[ ", _PIPE.sub(" >", _ANGLE.sub("< ", text)))


def mark_of(role: str, texts: Iterable[str]) -> str:
    """Return the line that encloses these texts: a hash of all of them, so the same every time.

    A text cannot hold it: that would be a hash of itself. Should one do so all the same, the next
    hash is taken. A line that stands twice counts once, so that the steps of one trace have one
    mark, and a server can reuse what it has read of it.
    """
    lines = (line for text in texts for line in neutral(text).splitlines())
    held = list(dict.fromkeys(lines))
    turn = 0
    while True:
        content = "\x1f".join([role, str(turn), *held]).encode("utf-8", "surrogatepass")
        code = hashlib.sha256(content).hexdigest()[:_DIGITS]
        if not any(code in text for text in held):
            return f"==== {code} ===="
        turn += 1


class Fencing:
    """How one request encloses its texts: as its prompt wants it."""

    def __init__(self, prompt: Prompt, *texts: str) -> None:
        role = prompt.name.partition("-")[0]
        self.mark = mark_of(role, texts) if PLACE in prompt.places else None

    def __call__(self, text: str) -> str:
        """Return a text between two lines."""
        if self.mark is None:
            return fence(text)
        return f"{self.mark}\n{neutral(text)}\n{self.mark}"

    @property
    def values(self) -> dict[str, str]:
        """The value of the prompt's place for the mark; nothing where it has none."""
        return {} if self.mark is None else {PLACE: self.mark}
