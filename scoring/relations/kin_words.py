"""The kinship vocabulary: what each word says about genders, generations and ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gender = Literal["male", "female"]

SELF = "self"
"""In a composed set: the two ends are one person."""
NONE = "none"
"""In a composed set: the two ends are related by no word of the vocabulary, or not at all."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word for "a is the … of b".

    Attributes
    ----------
    name
        The word.
    gender
        Of a; None for cousin.
    paths
        Ways from a to b, each a string of ties: U = is a parent of, D = is a child of,
        S = is a sibling of, M = is married to.
    generation
        How many generations a is above b (negative: below).
    """

    name: str
    gender: Gender | None
    paths: tuple[str, ...]

    @property
    def generation(self) -> int:
        """Generations of a above b; the same along every path."""
        return self.paths[0].count("U") - self.paths[0].count("D")


# Male word, female word, paths; relations by blood come before those by marriage.
_PAIRS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("husband", "wife", ("M",)),
    ("father", "mother", ("U",)),
    ("son", "daughter", ("D",)),
    ("brother", "sister", ("S",)),
    ("uncle", "aunt", ("SU",)),
    ("nephew", "niece", ("DS",)),
    ("grandpa", "grandma", ("UU",)),
    ("grandson", "granddaughter", ("DD",)),
    ("great-grandpa", "great-grandma", ("UUU",)),
    ("great-grandson", "great-granddaughter", ("DDD",)),
    ("brother-in-law", "sister-in-law", ("SM", "MS")),
    ("father-in-law", "mother-in-law", ("UM",)),
    ("son-in-law", "daughter-in-law", ("MD",)),
    ("uncle-in-law", "aunt-in-law", ("MSU",)),
    ("nephew-in-law", "niece-in-law", ("DSM",)),
)


def _vocabulary() -> dict[str, Word]:
    words: dict[str, Word] = {}
    for male, female, paths in _PAIRS:
        words[male] = Word(male, "male", paths)
        words[female] = Word(female, "female", paths)
        if male == "nephew":
            words["cousin"] = Word("cousin", None, ("DSU",))
    return words


WORDS: dict[str, Word] = _vocabulary()
"""The 31 words of paper B, appendix A.3.1, blood before marriage."""

MIRROR: dict[str, str] = {
    **{a: b for pair in _PAIRS for a, b in (pair[:2], pair[1::-1])},
    "cousin": "cousin",
    SELF: SELF,
    NONE: NONE,
}
"""The same relation with every gender swapped."""

ALSO_ACCEPT: dict[str, str] = {f"{w}-in-law": w for w in ("uncle", "aunt", "nephew", "niece")}
"""Looser words that everyday English uses for a relation by marriage."""


def normal_word(text: str) -> str | None:
    """Return the vocabulary's word for a model's, or None when there is none.

    Case, surrounding blanks and the hyphens' form do not matter, nor do "grandfather" and the like.

    Examples
    --------
    >>> normal_word(" Great grandmother "), normal_word("Brother in law"), normal_word("friend")
    ('great-grandma', 'brother-in-law', None)
    """
    plain = text.casefold().replace("‐", "-").replace("‑", "-").replace("-", " ")
    word = "-".join(plain.split())
    for found, usual in (("grand-", "grand"), ("greatgrand", "great-grand")):
        word = word.replace(found, usual)
    for found, usual in (("grandfather", "grandpa"), ("grandmother", "grandma")):
        word = word.replace(found, usual)
    return word if word in WORDS else None
