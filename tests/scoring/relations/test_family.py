"""Families: the paper's eleven people, made-up families, contradictions among answers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.relations import (
    WORDS,
    Family,
    derive_family,
    kinship_contradictions,
    kinship_error,
    make_family,
)

# Paper B, appendix A.3.2: the ten facts told.
FACTS = [
    ("Z", "son", "Y"),
    ("C", "son", "E"),
    ("A", "daughter", "F"),
    ("D", "father", "B"),
    ("X", "daughter", "A"),
    ("C", "father", "Z"),
    ("E", "husband", "F"),
    ("B", "son", "A"),
    ("W", "daughter", "D"),
    ("G", "daughter", "X"),
]

# Row a, column b: a is the … of b. "-" = the same person, "." = no word exists.
TRUTH = """
  A B C D E F G W X Y Z
A - mother sister wife daughter daughter grandma mother mother sister-in-law aunt
B son - nephew son grandson grandson uncle brother brother nephew-in-law cousin
C brother uncle - brother-in-law son son . uncle uncle husband father
D husband father brother-in-law - son-in-law son-in-law grandpa father father . uncle-in-law
E father grandpa father father-in-law - husband great-grandpa grandpa grandpa father-in-law grandpa
F mother grandma mother mother-in-law wife - great-grandma grandma grandma mother-in-law grandma
G granddaughter niece . granddaughter great-granddaughter great-granddaughter - niece daughter . .
W daughter sister niece daughter granddaughter granddaughter aunt - sister niece-in-law cousin
X daughter sister niece daughter granddaughter granddaughter mother sister - niece-in-law cousin
Y sister-in-law aunt-in-law wife . daughter-in-law daughter-in-law . aunt-in-law aunt-in-law - mother
Z nephew cousin son nephew-in-law grandson grandson . cousin cousin son -
"""


def truth() -> dict[tuple[str, str], str | None]:
    head, *rows = (line.split() for line in TRUTH.strip().splitlines())
    return {
        (row[0], b): None if word == "." else word
        for row in rows
        for b, word in zip(head, row[1:], strict=True)
        if word != "-"
    }


@pytest.fixture(scope="module")
def family() -> Family:
    return derive_family(FACTS, "ABCDEFGWXYZ")


def test_ten_facts_settle_the_102_pairs(family: Family) -> None:
    assert family.relations == truth()
    assert (len(family.relations), family.determined) == (110, 102)
    men = {p for p, g in family.genders.items() if g == "male"}
    assert men == set("BCDEZ")
    assert None not in family.genders.values()


def test_relations_by_marriage_have_a_looser_word(family: Family) -> None:
    assert family.also_accept == {
        ("B", "Y"): "nephew",
        ("D", "Z"): "uncle",
        ("W", "Y"): "niece",
        ("X", "Y"): "niece",
        ("Y", "B"): "aunt",
        ("Y", "W"): "aunt",
        ("Y", "X"): "aunt",
        ("Z", "D"): "nephew",
    }


def test_nine_facts_settle_less(family: Family) -> None:
    for k in range(10):
        less = derive_family(FACTS[:k] + FACTS[k + 1 :], family.people)
        assert less.determined < 102
        assert all(family.relations[p] == w for p, w in less.relations.items() if w)


def test_unsettled_genders_leave_words_open() -> None:
    found = derive_family([("A", "cousin", "B"), ("C", "mother", "A")])
    assert found.relations["B", "A"] == "cousin"
    assert found.genders == {"A": None, "B": None, "C": "female"}
    assert found.relations["A", "C"] is None
    # The mother is B's aunt or, when the kinship runs through the father, her husband's niece.
    assert found.relations["C", "B"] is None


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ([("A", "friend", "B")], "fact 1 says 'friend'"),
        ([("A", "son", "A")], "fact 1 relates 'A' to themself"),
        ([("A", "father", "B"), ("B", "father", "A")], "contradict"),
        ([("A", "father", "B"), ("C", "father", "B")], "contradict"),
        ([("A", "husband", "B"), ("B", "brother", "C")], "contradict"),
        ([("A", "son", "B"), ("A", "husband", "C"), ("C", "daughter", "B")], "contradict"),
    ],
)
def test_impossible_facts_are_refused(facts: list[tuple[str, str, str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        derive_family(facts)


def test_strangers_are_named() -> None:
    with pytest.raises(ValueError, match=r"\['B'\], who are not among"):
        derive_family([("A", "son", "B")], ["A"])


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 9))
def test_made_up_families_are_settled_by_one_fact_fewer_than_people(
    seed: int, generations: int, more: int
) -> None:
    people = 2 * generations - 1 + more
    made = make_family(people, generations=generations, seed=seed)
    assert len(made.people) == people
    assert len(made.facts) == people - 1
    assert all(made.relations[a, b] == word for a, word, b in made.facts)
    assert None not in made.genders.values()
    levels = [WORDS[w].generation for w in made.relations.values() if w]
    # Great-grandparents are as far as the vocabulary reaches.
    assert max(levels) == -min(levels) == min(generations - 1, 3)
    assert make_family(people, generations=generations, seed=seed) == made


def test_true_answers_do_not_contradict_each_other(family: Family) -> None:
    found = kinship_contradictions(family.relations)
    assert (found.triples, found.pairs, found.genders, found.blame) == ((), (), (), {})
    assert (found.pairs_checked, found.people_checked, found.unusable) == (51, 11, 8)
    assert (found.triples_checked, found.triple_rate, found.pair_rate) == (798, 0.0, 0.0)


def test_larger_families_do_not_contradict_themselves() -> None:
    found = kinship_contradictions(make_family(16, generations=4, seed=7).relations)
    assert (found.triples, found.pairs, found.genders) == ((), (), ())


def test_too_few_people_for_the_generations() -> None:
    with pytest.raises(ValueError, match="7 people for 4"):
        make_family(6)
    with pytest.raises(ValueError, match="at least 2 generations"):
        make_family(6, generations=1)


def test_one_wrong_answer_is_the_suspect(family: Family) -> None:
    answers = {**family.relations, ("X", "G"): "grandma"}
    found = kinship_contradictions(answers)
    assert [(p.a, p.b, p.first, p.second) for p in found.pairs] == [
        ("G", "X", "daughter", "grandma")
    ]
    assert found.pairs[0].suspect == ("X", "G")
    assert {t.suspect for t in found.triples} == {("X", "G")}
    assert found.blame["X", "G"] == len(found.triples) + 1 == found.triples[0].breaks
    first = next(t for t in found.triples if (t.a, t.b, t.c) == ("X", "A", "G"))
    assert (first.first, first.second, first.stated) == ("daughter", "grandma", "grandma")
    assert first.allowed == {"mother", "aunt"}
    assert found.genders == ()


def test_genders_follow_from_spouses_too() -> None:
    found = kinship_contradictions(
        {("A", "B"): "husband", ("B", "C"): "father", ("A", "C"): "cousin", ("D", "A"): None}
    )
    (b,) = found.genders
    assert (b.person, b.male, b.female) == ("B", (("B", "C"),), (("A", "B"),))
    # husband of a father is impossible: no third word is allowed.
    (t,) = found.triples
    assert (t.a, t.b, t.c, t.allowed) == ("A", "B", "C", frozenset())
    assert (found.unusable, found.pairs_checked, found.pair_rate) == (1, 0, None)


def test_kinship_error(family: Family) -> None:
    always_uncle = dict.fromkeys(family.relations, "uncle")
    # Uncle is right of B-G, C-B, C-W and C-X; D-Z is an uncle by marriage.
    r = kinship_error(always_uncle, family.relations)
    assert (r.wrong, r.answered, r.determined) == (98, 102, 102)
    assert r.value == r.answered_rate == r.strict == pytest.approx(98 / 102)
    assert kinship_error(always_uncle, family.relations, lenient=True).wrong == 97
    assert kinship_error(family.relations, family.relations).value == 0.0


def test_kinship_error_with_missing_answers(family: Family) -> None:
    r = kinship_error({("A", "B"): "mother", ("B", "A"): "dad"}, family.relations)
    assert (r.wrong, r.answered) == (1, 2)
    assert r.value == pytest.approx(1 / 102)
    assert r.answered_rate == 0.5
    assert r.strict == pytest.approx(101 / 102)
    none = kinship_error({}, family.relations)
    assert (none.value, none.why_undefined) == (None, "no determined pair was answered")
    empty = kinship_error({}, {})
    assert (empty.value, empty.strict, empty.why_undefined) == (None, None, "no pair is determined")
