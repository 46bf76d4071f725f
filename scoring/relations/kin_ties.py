"""Families as ties between persons: what follows from them, and whether they can be true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from scoring.relations.kin_words import WORDS, Gender


@dataclass
class Ties:
    """Persons and the two families each belongs to: the one born in and the one founded.

    A family is a couple with its children, so "father of" says: his own family is the other's birth
    family. Two persons with the same own family are one person or the two spouses. Everything else
    follows from making families (and then persons) equal.
    """

    genders: list[Gender | None] = field(default_factory=list)
    births: list[int] = field(default_factory=list)
    owns: list[int] = field(default_factory=list)
    same: list[int] = field(default_factory=list)
    """Representative of each person, itself when not merged into another."""
    families: list[int] = field(default_factory=list)
    """Parent of each family in the union-find forest."""
    apart: set[tuple[int, int]] = field(default_factory=set)
    """Pairs known to be two persons."""
    wed: set[int] = field(default_factory=set)
    """Persons said to be married."""

    def copy(self) -> Ties:
        """Return an independent copy."""
        return Ties(
            self.genders[:],
            self.births[:],
            self.owns[:],
            self.same[:],
            self.families[:],
            set(self.apart),
            set(self.wed),
        )

    def person(self, gender: Gender | None = None) -> int:
        """Add a person of whom nothing else is known; return the number."""
        k = len(self.genders)
        self.genders.append(gender)
        self.same.append(k)
        for place in (self.births, self.owns):
            place.append(len(self.families))
            self.families.append(len(self.families))
        return k

    def who(self, p: int) -> int:
        """Return the person that p has been found to be."""
        while self.same[p] != p:
            p = self.same[p]
        return p

    def family(self, f: int) -> int:
        """Return the representative of a family."""
        while self.families[f] != f:
            f = self.families[f]
        return f

    def birth(self, p: int) -> int:
        """Return the family p was born in."""
        return self.family(self.births[self.who(p)])

    def own(self, p: int) -> int:
        """Return the family p founded or could found."""
        return self.family(self.owns[self.who(p)])

    def people(self) -> list[int]:
        """Return the representatives."""
        return [p for p in range(len(self.same)) if self.same[p] == p]

    def join(self, f: int, g: int) -> None:
        """Make two families one."""
        f, g = self.family(f), self.family(g)
        self.families[max(f, g)] = min(f, g)

    def set_gender(self, p: int, gender: Gender | None) -> bool:
        """Record a gender; False when the person has the other one."""
        p = self.who(p)
        if gender is not None:
            if self.genders[p] not in (None, gender):
                return False
            self.genders[p] = gender
        return True

    def tie(self, path: str, a: int, b: int) -> None:
        """State that a is related to b along the path, with new persons in between."""
        chain = [a, *(self.person() for _ in path[1:]), b]
        for step, (p, q) in zip(path, pairwise(chain), strict=True):
            if step == "U":
                self.join(self.owns[self.who(p)], self.births[self.who(q)])
            elif step == "D":
                self.join(self.births[self.who(p)], self.owns[self.who(q)])
            else:
                self.apart.add((p, q))
                place = self.births if step == "S" else self.owns
                self.join(place[self.who(p)], place[self.who(q)])
                if step == "M":
                    self.wed |= {p, q}

    def are_apart(self, p: int, q: int) -> bool:
        """Whether two representatives are known to be different persons."""
        return any({self.who(a), self.who(b)} == {p, q} for a, b in self.apart)

    def merge(self, p: int, q: int) -> bool:
        """Make two persons one; False when they cannot be."""
        p, q = self.who(p), self.who(q)
        if p == q:
            return True
        if self.are_apart(p, q) or not self.set_gender(p, self.genders[q]):
            return False
        self.join(self.births[p], self.births[q])
        self.join(self.owns[p], self.owns[q])
        self.same[q] = p
        return True

    def settled(self) -> Iterator[Ties]:
        """Yield every way to tell who is who among persons sharing an own family.

        In each, an own family has at most one man and one woman. Nobody is made equal without need.
        """
        pair = self._undecided()
        if pair is None:
            yield self
            return
        p, q = pair
        if self.genders[p] is None or self.genders[p] == self.genders[q] or not self.genders[q]:
            one = self.copy()
            if one.merge(p, q):
                yield from one.settled()
        couples: tuple[tuple[Gender, Gender], ...] = (("male", "female"), ("female", "male"))
        for first, second in couples:
            two = self.copy()
            if two.set_gender(p, first) and two.set_gender(q, second):
                yield from two.settled()

    def _undecided(self) -> tuple[int, int] | None:
        """Return two persons of one own family not yet known to be a man and a woman."""
        seen: dict[int, list[int]] = {}
        for p in self.people():
            f = self.own(p)
            for q in seen.get(f, ()):
                known = {self.genders[p], self.genders[q]}
                if known != {"male", "female"}:
                    return q, p
            seen.setdefault(f, []).append(p)
        return None

    def spouses(self) -> list[tuple[int, int]]:
        """Return the couples of which both are known."""
        people = self.people()
        return [
            (p, q) for k, p in enumerate(people) for q in people[:k] if self.own(p) == self.own(q)
        ]

    def levels(self) -> dict[int, int] | None:
        """Return each family's generation, founders above; None when they cannot be told apart.

        An own family is one below the birth family; a person is of the generation of the own one.
        """
        beside: dict[int, list[tuple[int, int]]] = {}
        for p in self.people():
            f, g = self.birth(p), self.own(p)
            beside.setdefault(f, []).append((g, -1))
            beside.setdefault(g, []).append((f, 1))
        found: dict[int, int] = {}
        for start in beside:
            if start in found:
                continue
            found[start] = 0
            queue = [start]
            while queue:
                f = queue.pop()
                for g, step in beside[f]:
                    if g not in found:
                        found[g] = found[f] + step
                        queue.append(g)
                    elif found[g] != found[f] + step:
                        return None
        return found

    def ancestors(self, f: int) -> set[int]:
        """Return the family and the birth families of its couple, upwards; needs `levels`."""
        found = {f}
        for p in self.people():
            if self.own(p) == f:
                found |= self.ancestors(self.birth(p))
        return found

    def possible(self) -> bool:
        """Whether generations fit and no couple has a common ancestor."""
        if self.levels() is None:
            return False
        return not any(
            self.ancestors(self.birth(p)) & self.ancestors(self.birth(q)) for p, q in self.spouses()
        )

    def generations(self) -> int:
        """Return how many generations must exist, parents of siblings and a child per couple in.

        Needs `levels` to exist; 0 without persons.
        """
        level = self.levels() or {}
        people = self.people()
        found = {level[self.own(p)] for p in people}
        children: dict[int, int] = {}
        for p in people:
            f = self.birth(p)
            children[f] = children.get(f, 0) + 1
        found |= {level[f] for f, k in children.items() if k > 1}
        found |= {level[self.own(p)] - 1 for p in self.wed}
        return max(found) - min(found) + 1 if found else 0

    def reached(self, path: str, start: int) -> set[int]:
        """Return the persons to whom `start` is related along the path."""
        here = {self.who(start)}
        people = self.people()
        for step in path:
            found = set()
            for p in here:
                for q in people:
                    f, g = (
                        self.own(p) if step in "UM" else self.birth(p),
                        self.own(q) if step in "DM" else self.birth(q),
                    )
                    if f == g and p != q:
                        found.add(q)
            here = found
        return here

    def words(self, a: int, b: int) -> tuple[str, ...]:
        """Return the vocabulary's words for "a is the … of b", in its order; a and b differ."""
        return self.words_of(a).get(self.who(b), ())

    def words_of(self, a: int) -> dict[int, tuple[str, ...]]:
        """Return, for every representative related to a by a word, the words for a."""
        a = self.who(a)
        found: dict[int, tuple[str, ...]] = {}
        reached: dict[str, set[int]] = {}
        for word in WORDS.values():
            if word.gender not in (None, self.genders[a]):
                continue
            ends: set[int] = set()
            for path in word.paths:
                if path not in reached:
                    reached[path] = self.reached(path, a)
                ends |= reached[path]
            for b in ends - {a}:
                found[b] = (*found.get(b, ()), word.name)
        return found
