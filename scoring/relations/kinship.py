"""Composition of kinship words as sets, and the contradictions it shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from scoring.relations.kin_ties import Ties
from scoring.relations.kin_words import MIRROR, NONE, SELF, WORDS, Gender, Word

GENERATIONS = 5
"""Families of at most this many generations, the youngest unmarried, are considered."""


def compose(r: str, s: str) -> frozenset[str] | None:
    """Return what a can be of c when a is the r of b and b is the s of c.

    Parameters
    ----------
    r, s : str
        Words of the vocabulary (`WORDS`).

    Returns
    -------
    frozenset of str, or None
        Words of the vocabulary, "self" (a is c) and "none" (no word fits). Empty when both cannot
        be true; None when only a family of more than five generations could hold both, which
        constrains nothing.

    Raises
    ------
    ValueError
        When r or s is no word of the vocabulary.

    Notes
    -----
    Derived, not tabulated: each word is a few ties between persons (`Word.paths`), and both words
    together, with or without a third one for a and c, either can be true of some family or not.
    Families are couples with their children: one spouse each, of the other gender and the same
    generation, never of common descent; siblings share both parents. A family in which one of the
    three pairs has two words is left out (a father's brother married to a mother's sister is an
    uncle in both ways, so what his wife is to the child would hang on a preference).

    References
    ----------
    Paper B, table 1 and appendix A.3.1 (the vocabulary).

    Examples
    --------
    >>> sorted(compose("father", "son")), sorted(compose("father", "father"))
    (['husband', 'self'], ['grandpa'])
    >>> compose("husband", "husband"), compose("uncle", "great-grandma")
    (frozenset(), None)
    """
    for word in (r, s):
        if word not in WORDS:
            raise ValueError(f"{word!r} is no kinship word: use one of {', '.join(WORDS)}")
    if WORDS[r].gender != "female":
        return _composed(r, s)
    mirrored = _composed(MIRROR[r], MIRROR[s])
    return None if mirrored is None else frozenset(MIRROR[w] for w in mirrored)


@cache
def _composed(r: str, s: str) -> frozenset[str] | None:
    rise = WORDS[r].generation + WORDS[s].generation
    found: set[str] = set()
    too_many = False
    for ties, a, c in _families(WORDS[r], WORDS[s]):
        if not ties.possible():
            continue
        if ties.generations() > GENERATIONS:
            too_many = True
            continue
        if ties.who(a) == ties.who(c):
            found.add(SELF)
        elif len(words := ties.words(a, c)) < 2:
            found.add(words[0] if words else NONE)
    if not found:
        return None if too_many else frozenset()
    targets = [w for w in WORDS.values() if w.generation == rise and w.name not in found]
    found |= {w.name for w in targets if _third(WORDS[r], WORDS[s], w)}
    if rise == 0 and SELF not in found and _third(WORDS[r], WORDS[s], None):
        found.add(SELF)
    return frozenset(found)


def _families(r: Word, s: Word, third: Word | None = None) -> Iterator[tuple[Ties, int, int]]:
    """Yield the families of least ties in which r, s (and the third, of a and c) hold."""
    thirds = third.paths if third else ("",)
    genders: tuple[Gender, ...] = (r.gender,) if r.gender else ("male", "female")
    for gender, first, second, last in product(genders, r.paths, s.paths, thirds):
        ties = Ties()
        a, b, c = ties.person(gender), ties.person(s.gender), ties.person()
        ties.apart |= {(a, b), (b, c)}
        if third and not ties.set_gender(a, third.gender):
            continue
        ties.tie(first, a, b)
        ties.tie(second, b, c)
        if last:
            ties.apart.add((a, c))
            ties.tie(last, a, c)
        for one in ties.settled():
            if one.words(a, b) == (r.name,) and one.words(b, c) == (s.name,):
                yield one, a, c


def _third(r: Word, s: Word, third: Word | None) -> bool:
    """Whether r and s can hold with the third word of a and c, or with a and c one person."""
    if third:
        return any(
            t.possible() and t.generations() <= GENERATIONS and t.words(a, c) == (third.name,)
            for t, a, c in _families(r, s, third)
        )
    for first, second in product(r.paths, s.paths):
        ties = Ties()
        a, b = ties.person(r.gender), ties.person(s.gender)
        ties.apart.add((a, b))
        ties.tie(first, a, b)
        ties.tie(second, b, a)
        for one in ties.settled():
            holds = one.words(a, b) == (r.name,) and one.words(b, a) == (s.name,)
            if holds and one.possible() and one.generations() <= GENERATIONS:
                return True
    return False
