"""In which order a judge is offered the words it may say: drawn, recoverable, never stored apart."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def drawn_order(words: tuple[str, str], seed: int, item: str, repeat: int) -> tuple[str, str]:
    """Return two words in the order in which one request offers them.

    Which comes first in repeat 0 is drawn from seed and item; each further repeat turns it round,
    so that an even number of repeats has both orders equally often.
    """
    drawn = hashlib.sha256(f"{seed}\n{item}".encode("utf-8", "surrogatepass")).digest()[0]
    first, second = words
    return (first, second) if (drawn + repeat) % 2 == 0 else (second, first)


def drawn_rotation(words: Sequence[str], seed: int, item: str, repeat: int) -> tuple[str, ...]:
    """Return any number of words in the order in which one request offers them.

    Which comes first in repeat 0 is drawn from seed and item, and each further repeat begins one
    word later: after as many repeats as there are words, each was in every place once.
    """
    drawn = hashlib.sha256(f"{seed}\n{item}".encode("utf-8", "surrogatepass")).digest()
    start = (int.from_bytes(drawn[:4], "big") + repeat) % len(words)
    return (*words[start:], *words[:start])
