"""Where a model's kinship answers contradict each other or the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from scoring.relations.kin_words import ALSO_ACCEPT, SELF, WORDS, Gender
from scoring.relations.kinship import compose

Answers = Mapping[tuple[str, str], str | None]
"""(a, b) to the word for "a is the … of b"; None = no usable answer."""

Statement = tuple[str, str]
"""The pair (a, b) that an answer is about."""


@dataclass(frozen=True, slots=True)
class ExcludedTriple:
    """Three answers that cannot all be true.

    Attributes
    ----------
    a, b, c
        a is the `first` of b, b is the `second` of c, yet a is said to be the `stated` of c.
    allowed
        What a can be of c given the first two; empty when these two exclude each other.
    breaks
        Contradictions that the most blamed of the three answers takes part in.
    suspect
        That answer's pair.
    """

    a: str
    b: str
    c: str
    first: str
    second: str
    stated: str
    allowed: frozenset[str]
    breaks: int
    suspect: Statement


@dataclass(frozen=True, slots=True)
class NotInverse:
    """A pair whose two answers exclude each other: a is the `first` of b, b the `second` of a."""

    a: str
    b: str
    first: str
    second: str
    breaks: int
    suspect: Statement


@dataclass(frozen=True, slots=True)
class TwoGenders:
    """A person called male by some answers and female by others.

    Attributes
    ----------
    person
        The name.
    male, female
        Pairs of the answers that make the person male, and female.
    """

    person: str
    male: tuple[Statement, ...]
    female: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class KinshipContradictions:
    """All contradictions among kinship answers, those whose mend breaks most first.

    Attributes
    ----------
    triples, pairs, genders
        What was found.
    triples_checked, pairs_checked, people_checked
        How many of each had the answers (and the composition) needed.
    blame
        Contradictions (triples and pairs) each answer takes part in; answers in none left out.
    unusable
        Answers that are None or no word of the vocabulary; left out.
    """

    triples: tuple[ExcludedTriple, ...]
    pairs: tuple[NotInverse, ...]
    genders: tuple[TwoGenders, ...]
    triples_checked: int
    pairs_checked: int
    people_checked: int
    blame: dict[Statement, int]
    unusable: int

    @property
    def triple_rate(self) -> float | None:
        """Excluded triples / triples checked; None when none could be."""
        return len(self.triples) / self.triples_checked if self.triples_checked else None

    @property
    def pair_rate(self) -> float | None:
        """Pairs not inverse / pairs checked; None when none could be."""
        return len(self.pairs) / self.pairs_checked if self.pairs_checked else None


def kinship_contradictions(answers: Answers) -> KinshipContradictions:
    """Find the triples, pairs and persons on which kinship answers contradict each other.

    Parameters
    ----------
    answers : mapping of (a, b) to word or None
        Words of the vocabulary; anything else is left out and counted.

    Returns
    -------
    KinshipContradictions

    Notes
    -----
    For each ordered triple with all three answers, the third must be in `compose` of the first two
    (unless that is unknown). The two answers of a pair are inverse when `compose` allows "self". A
    person's gender follows from each answer about them and from each about their spouse.

    Examples
    --------
    >>> found = kinship_contradictions({("E", "F"): "husband", ("F", "E"): "husband"})
    >>> len(found.pairs), [g.person for g in found.genders]
    (1, ['E', 'F'])
    """
    said = {(a, b): w for (a, b), w in answers.items() if w in WORDS and a != b}
    people = list(dict.fromkeys(x for pair in said for x in pair))
    triples, checked = _triples(said, people)
    pairs, both = _pairs(said)
    blame: Counter[Statement] = Counter()
    for a, b, c, _ in triples:
        blame.update(((a, b), (b, c), (a, c)))
    for a, b in pairs:
        blame.update(((a, b), (b, a)))
    genders, known = _genders(said)

    def worst(*statements: Statement) -> Statement:
        return max(statements, key=lambda s: blame[s])

    found = []
    for a, b, c, allowed in triples:
        suspect = worst((a, b), (b, c), (a, c))
        words = said[a, b], said[b, c], said[a, c]
        found.append(ExcludedTriple(a, b, c, *words, allowed, blame[suspect], suspect))
    mixed = []
    for a, b in pairs:
        suspect = worst((a, b), (b, a))
        mixed.append(NotInverse(a, b, said[a, b], said[b, a], blame[suspect], suspect))
    return KinshipContradictions(
        triples=tuple(sorted(found, key=lambda t: -t.breaks)),
        pairs=tuple(sorted(mixed, key=lambda p: -p.breaks)),
        genders=genders,
        triples_checked=checked,
        pairs_checked=both,
        people_checked=known,
        blame=dict(blame),
        unusable=len(answers) - len(said),
    )


def _triples(
    said: dict[Statement, str], people: list[str]
) -> tuple[list[tuple[str, str, str, frozenset[str]]], int]:
    found = []
    checked = 0
    for (a, b), first in said.items():
        for c in people:
            second, stated = said.get((b, c)), said.get((a, c))
            if second is None or stated is None or a == c:
                continue
            allowed = compose(first, second)
            if allowed is not None:
                checked += 1
                if stated not in allowed:
                    found.append((a, b, c, allowed))
    return found, checked


def _pairs(said: dict[Statement, str]) -> tuple[list[Statement], int]:
    found = []
    checked = 0
    for (a, b), word in said.items():
        back = said.get((b, a))
        if back is None or (b, a) < (a, b):
            continue
        checked += 1
        allowed = compose(word, back)
        if allowed is not None and SELF not in allowed:
            found.append((a, b))
    return found, checked


def _genders(said: dict[Statement, str]) -> tuple[tuple[TwoGenders, ...], int]:
    """Return the persons given two genders and how many were given any."""
    seen: dict[str, dict[Gender, list[Statement]]] = {}

    def note(person: str, gender: Gender, statement: Statement) -> None:
        seen.setdefault(person, {"male": [], "female": []})[gender].append(statement)

    for (a, b), word in said.items():
        gender = WORDS[word].gender
        if gender is not None:
            note(a, gender, (a, b))
            if word in ("husband", "wife"):
                note(b, "female" if gender == "male" else "male", (a, b))
    found = [
        TwoGenders(person, tuple(by["male"]), tuple(by["female"]))
        for person, by in seen.items()
        if by["male"] and by["female"]
    ]
    # The one whose minority gender rests on most answers is the furthest from a slip.
    found.sort(key=lambda g: -min(len(g.male), len(g.female)))
    return tuple(found), len(seen)


@dataclass(frozen=True, slots=True)
class KinshipError:
    """Kinship answers against the truth.

    Attributes
    ----------
    value
        wrong / determined, the paper's; None when no determined pair was answered.
    wrong
        Answers to determined pairs that are not the true word.
    answered
        Determined pairs with an answer.
    determined
        Pairs that have a true word.
    why_undefined
        The reason when `value` is None, else None.
    """

    value: float | None
    wrong: int
    answered: int
    determined: int
    why_undefined: str | None

    @property
    def answered_rate(self) -> float | None:
        """Wrong / answered; None when nothing was answered."""
        return self.wrong / self.answered if self.answered else None

    @property
    def strict(self) -> float | None:
        """(wrong + missing) / determined; None when nothing is determined."""
        if not self.determined:
            return None
        return (self.wrong + self.determined - self.answered) / self.determined


def kinship_error(answers: Answers, truth: Answers, *, lenient: bool = False) -> KinshipError:
    """Score kinship answers against the true words.

    Parameters
    ----------
    answers : mapping of (a, b) to word or None
        None = no usable answer; a word outside the vocabulary is wrong.
    truth : mapping of (a, b) to word or None
        None = no word exists; such pairs are not scored.
    lenient : bool
        Accept uncle, aunt, nephew and niece for the same by marriage.

    Returns
    -------
    KinshipError
        In [0, 1]; lower is better.

    References
    ----------
    Paper B, section 4.4 (102 determined pairs of 110).

    Examples
    --------
    >>> kinship_error({("A", "B"): "aunt", ("B", "A"): None}, {("A", "B"): "aunt-in-law",
    ...               ("B", "A"): "nephew-in-law"}, lenient=True).value
    0.0
    """
    wrong = answered = determined = 0
    for pair, word in truth.items():
        if word is None:
            continue
        determined += 1
        said = answers.get(pair)
        if said is not None:
            answered += 1
            wrong += said != word and not (lenient and said == ALSO_ACCEPT.get(word))
    if not answered:
        why = "no determined pair was answered" if determined else "no pair is determined"
        return KinshipError(None, wrong, answered, determined, why)
    return KinshipError(wrong / determined, wrong, answered, determined, None)
