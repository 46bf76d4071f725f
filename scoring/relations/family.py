"""Families: what follows from stated facts, and families made up for questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from string import ascii_uppercase

import numpy as np

from scoring.relations.kin_ties import Ties
from scoring.relations.kin_words import ALSO_ACCEPT, WORDS, Gender

KinFact = tuple[str, str, str]
"""(a, word, b): a is the word of b."""

_WORLDS_AT_MOST = 64


@dataclass(frozen=True, slots=True)
class Family:
    """Persons, the facts told about them and every relation that follows.

    Attributes
    ----------
    people
        Names.
    facts
        What is told.
    relations
        For every ordered pair (a, b): the word for "a is the … of b", or None when the vocabulary
        has none for it or the facts do not settle it. Two words: the one by blood.
    genders
        Per name; None when the facts do not settle it.
    """

    people: tuple[str, ...]
    facts: tuple[KinFact, ...]
    relations: dict[tuple[str, str], str | None]
    genders: dict[str, Gender | None]

    @property
    def determined(self) -> int:
        """Ordered pairs with a word."""
        return sum(w is not None for w in self.relations.values())

    @property
    def also_accept(self) -> dict[tuple[str, str], str]:
        """Looser words for relations by marriage: an uncle's wife may be called aunt."""
        return {p: ALSO_ACCEPT[w] for p, w in self.relations.items() if w in ALSO_ACCEPT}


def derive_family(facts: Iterable[KinFact], people: Sequence[str] | None = None) -> Family:
    """Return everything that follows from kinship facts.

    Parameters
    ----------
    facts : iterable of (a, word, b)
        "a is the word of b"; different names are different persons.
    people : sequence of str, optional
        Names in the wanted order; None = as they first occur.

    Returns
    -------
    Family

    Raises
    ------
    ValueError
        When a word is not in the vocabulary, a fact ties a person to themself, a name is not among
        the people, or the facts cannot all be true.

    Notes
    -----
    Rules as in `compose`: couples with their children, spouses of two genders, siblings share both
    parents. A pair has a word when it is the same in every reading of the facts.

    Examples
    --------
    >>> family = derive_family([("Z", "son", "Y"), ("C", "father", "Z")])
    >>> family.relations["Y", "Z"], family.relations["C", "Y"], family.determined
    ('mother', 'husband', 6)
    """
    told = tuple(facts)
    for k, (a, word, b) in enumerate(told, start=1):
        if word not in WORDS:
            raise ValueError(f"fact {k} says {word!r}: use one of {', '.join(WORDS)}")
        if a == b:
            raise ValueError(f"fact {k} relates {a!r} to themself")
    names = tuple(people or dict.fromkeys(x for a, _, b in told for x in (a, b)))
    strangers = {x for a, _, b in told for x in (a, b)} - set(names)
    if strangers:
        raise ValueError(f"the facts name {sorted(strangers)}, who are not among the people")
    worlds = list(islice(_worlds(told, names), _WORLDS_AT_MOST + 1))
    if not worlds:
        raise ValueError("the facts contradict each other: no family fits them all")
    if len(worlds) > _WORLDS_AT_MOST:
        raise ValueError(f"more than {_WORLDS_AT_MOST} readings of the facts: state more genders")
    readings = [_relations(w, names) for w in worlds]
    return Family(
        people=names,
        facts=told,
        relations={
            pair: word if all(r[pair] == word for r in readings) else None
            for pair, word in readings[0].items()
        },
        genders={
            x: g if all(w.genders[w.who(k)] == g for w in worlds) else None
            for k, x in enumerate(names)
            for g in [worlds[0].genders[worlds[0].who(k)]]
        },
    )


def _worlds(facts: Sequence[KinFact], names: Sequence[str]) -> Iterable[Ties]:
    """Yield the readings of the facts; person k is names[k]."""
    starts = [Ties()]
    for _ in names:
        starts[0].person()
    starts[0].apart |= set(combinations(range(len(names)), 2))
    number = {x: k for k, x in enumerate(names)}
    for a, word, b in facts:
        more = []
        for ties in starts:
            for path in WORDS[word].paths:
                one = ties.copy()
                if one.set_gender(number[a], WORDS[word].gender):
                    one.tie(path, number[a], number[b])
                    more.append(one)
        starts = more
    for ties in starts:
        yield from (w for w in ties.settled() if w.possible())


def _relations(ties: Ties, names: Sequence[str]) -> dict[tuple[str, str], str | None]:
    found: dict[tuple[str, str], str | None] = {}
    for i, a in enumerate(names):
        words = ties.words_of(i)
        for j, b in enumerate(names):
            if i != j:
                found[a, b] = words.get(ties.who(j), (None,))[0]
    return found


def make_family(people: int, *, generations: int = 4, seed: int = 0) -> Family:
    """Make up a family and the facts that settle it: one fact fewer than people.

    Parameters
    ----------
    people : int
        How many, at least 2 generations - 1.
    generations : int
        How many, at least 2.
    seed : int
        Families of one seed and size are the same.

    Returns
    -------
    Family
        Names are letters in no order; `relations` are derived from the facts alone.

    Raises
    ------
    ValueError
        When there are too few people for the generations.

    Notes
    -----
    A couple, then a line of one child per generation with its spouse, then at random further
    children and spouses. Each child is told by one parent fact, each couple by a marriage or by the
    other parent of a child, so that nothing told follows from the rest.

    References
    ----------
    Paper B, appendix A.3.1 (11 people, 4 generations, 10 facts).

    Examples
    --------
    >>> family = make_family(11, seed=1)
    >>> len(family.people), len(family.facts), sorted(set(family.genders.values()))
    (11, 10, ['female', 'male'])
    """
    if generations < 2 or people < 2 * generations - 1:
        raise ValueError(
            f"{people} people, {generations} generations: it takes at least 2 generations, and "
            f"{2 * max(generations, 2) - 1} people for {max(generations, 2)}"
        )
    rng = np.random.default_rng(seed)
    plan = _Plan(rng, generations)
    plan.grow(people)
    names = _names(people)
    rng.shuffle(names)
    facts = [(names[a], word, names[b]) for a, word, b in plan.facts()]
    rng.shuffle(facts)
    return derive_family([(str(a), str(w), str(b)) for a, w, b in facts], sorted(names, key=_place))


def _names(n: int) -> list[str]:
    """Return A … Z, then AA, AB, …."""
    letters = ascii_uppercase
    return [*letters, *(a + b for a in letters for b in letters)][:n]


def _place(name: str) -> tuple[int, str]:
    return len(name), name


class _Plan:
    """A family while it is made up: genders, generations, parents, couples by number."""

    def __init__(self, rng: np.random.Generator, generations: int) -> None:
        self.rng = rng
        self.last = generations - 1
        self.level = [0, 0]
        self.male = [True, False]
        self.couples = [(0, 1)]
        self.parents: dict[int, int] = {}
        """Couple of each child."""

    def child(self, couple: int) -> int:
        """Add a child of the couple."""
        self.level.append(self.level[self.couples[couple][0]] + 1)
        self.male.append(bool(self.rng.random() < 0.5))
        self.parents[len(self.level) - 1] = couple
        return len(self.level) - 1

    def spouse(self, p: int) -> None:
        """Add a spouse from outside."""
        self.level.append(self.level[p])
        self.male.append(not self.male[p])
        q = len(self.level) - 1
        self.couples.append((p, q) if self.male[p] else (q, p))

    def grow(self, people: int) -> None:
        """Add the line of descent, then people at random."""
        for level in range(1, self.last + 1):
            heir = self.child(len(self.couples) - 1)
            if level < self.last:
                self.spouse(heir)
        while len(self.level) < people:
            wed = {p for couple in self.couples for p in couple}
            single = [p for p in self.parents if p not in wed and self.level[p] < self.last]
            if single and self.rng.random() < 0.4:
                self.spouse(int(self.rng.choice(single)))
            else:
                self.child(int(self.rng.integers(len(self.couples))))

    def facts(self) -> list[tuple[int, str, int]]:
        """Return one fact per child and one per couple."""
        wed = {p for couple in self.couples for p in couple}
        found = []
        told: dict[int, list[tuple[int, int]]] = {}
        for c, couple in self.parents.items():
            side = int(self.rng.integers(2))
            parent = self.couples[couple][side]
            told.setdefault(couple, []).append((c, side))
            # A person who never marries gets a gender only by being the subject of a fact.
            if c in wed and self.rng.random() < 0.5:
                found.append((parent, ("father", "mother")[side], c))
            else:
                found.append((c, "son" if self.male[c] else "daughter", parent))
        for k, (man, woman) in enumerate(self.couples):
            if k in told and self.rng.random() < 0.5:
                c, side = told[k][int(self.rng.integers(len(told[k])))]
                found.append(((man, woman)[1 - side], ("father", "mother")[1 - side], c))
            elif self.rng.random() < 0.5:
                found.append((man, "husband", woman))
            else:
                found.append((woman, "wife", man))
        return found
