"""The fewest kinship answers to drop, against trying all."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.relations import WORDS, derive_family, kinship_contradictions, kinship_repair

FACTS = [("C", "father", "Z"), ("Z", "son", "Y"), ("C", "husband", "Y")]


def consistent(answers: dict[tuple[str, str], str | None]) -> bool:
    found = kinship_contradictions(answers)
    return not (found.triples or found.pairs or found.genders)


def fewest(answers: dict[tuple[str, str], str | None]) -> int:
    """Try to drop none, one, two, …."""
    for k in range(len(answers) + 1):
        for gone in combinations(answers, k):
            if consistent({p: w for p, w in answers.items() if p not in gone}):
                return k
    raise AssertionError("dropping everything leaves nothing to contradict")


def test_a_true_family_needs_no_repair() -> None:
    family = derive_family(FACTS)
    fixed = kinship_repair(family.relations)
    assert (fixed.dropped, fixed.cost, fixed.lower_bound, fixed.optimal) == ((), 0, 0, True)
    assert fixed.kept == {p: w for p, w in family.relations.items() if w}


def test_one_wrong_word_is_the_one_that_goes() -> None:
    answers = {**derive_family(FACTS).relations, ("C", "Z"): "mother"}
    fixed = kinship_repair(answers)
    assert (fixed.dropped, fixed.cost, fixed.optimal) == ((("C", "Z"),), 1, True)


def test_unusable_answers_are_left_out() -> None:
    fixed = kinship_repair({("A", "B"): None, ("B", "A"): "friend", ("A", "A"): "son"})
    assert (fixed.cost, fixed.kept) == (0, {})


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([(a, b) for a in "ABC" for b in "ABC" if a != b]),
        st.sampled_from(sorted(WORDS)),
        min_size=1,
    )
)
def test_it_is_the_least_and_leaves_nothing(answers: dict[tuple[str, str], str | None]) -> None:
    fixed = kinship_repair(answers)
    assert fixed.optimal
    assert fixed.cost == len(fixed.dropped) == fewest(answers)
    assert len(fixed.disjoint) <= fixed.lower_bound <= fixed.cost
    assert consistent(dict(fixed.kept))
    assert len(fixed.kept) + fixed.cost == len(answers)
    used = [s for one in fixed.disjoint for s in one]
    assert len(used) == len(set(used))


def test_the_time_limit_must_be_positive() -> None:
    with pytest.raises(ValueError, match="time_limit is 0"):
        kinship_repair({}, time_limit=0)
