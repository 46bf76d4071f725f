"""SynDeduct: what every question must satisfy, and the published denominators."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.deduction import (
    SynQuestion,
    ded_cons,
    read_named_values,
    run_program,
    score_synthetic,
    synthesize,
    within,
)
from scoring.deduction.verbalise import Operator, Rule, say_rule


@pytest.fixture(scope="module")
def everything() -> tuple[SynQuestion, ...]:
    return synthesize(0)


def test_published_denominators(everything: tuple[SynQuestion, ...]) -> None:
    assert len(everything) == 12 * 12 * 10
    assert Counter(h for q in everything for h in q.hops.values()) == {
        h: 1440 - 120 * (h - 1) for h in range(1, 13)
    }
    ideal = score_synthetic(everything, [q.values for q in everything])
    result = ded_cons(ideal.exact)
    assert [h.n for h in result.hops] == [120 * (13 - h) for h in range(1, 13)]
    assert [h.hop for h in result.hops if h.kept] == list(range(1, 11))
    assert (result.base, result.decay, result.missing) == (1.0, 0.0, 0)
    assert all(h.se == 0 for h in result.hops)
    assert len({q.id for q in everything}) == 1440
    assert max(max(q.values.values()) for q in everything) < 2000


def check(q: SynQuestion, operators: str, tolerance: Fraction = Fraction(1, 20)) -> None:
    program = run_program(q.code, q.constants)
    assert program.refusal is None
    assert program.values == q.values
    assert len(q.steps) == len(q.names) == q.k + q.n
    assert q.truth == {h: q.values[f"X{q.k + h}"] for h in range(1, q.n + 1)}
    # every step before the target is needed for it, and nothing among the distractors is
    assert set(q.names[:-1]) <= program.ancestors(q.target)
    assert not set(q.distractors) & program.ancestors(q.target)
    assert {line.split()[3] for line in q.code.splitlines()} <= set(operators)
    assert all(v > 1 and v.denominator == 1 for v in q.values.values())
    assert len(set(q.values.values())) == len(q.values)
    for (a, x), (b, y) in combinations(q.values.items(), 2):
        if a not in q.constants or b not in q.constants:
            assert not within(x, y, tolerance), (q.id, a, b)
            assert not within(y, x, tolerance), (q.id, a, b)
    for name in q.values:
        assert f"{name} " in q.question.replace(".", " ").replace(",", " ")
    assert q.question.endswith(f"Work out the value of {q.target}.")


def test_a_sample_of_the_whole_set(everything: tuple[SynQuestion, ...]) -> None:
    for q in everything[::48]:
        check(q, "+-*")


@given(
    st.integers(0, 10**6),
    st.integers(0, 10),
    st.integers(1, 10),
    st.sampled_from(["+", "-", "*", "/", "+-", "*/", "+-*", "+-*/"]),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from([0.0, 0.25, 0.9]),
)
@settings(max_examples=25, deadline=None)
def test_any_options_make_good_questions(
    seed: int, k: int, n: int, operators: str, distractors: int, shuffle: bool, reuse: float
) -> None:
    chosen: list[Operator] = list(operators)  # type: ignore[arg-type]
    questions = synthesize(
        seed,
        prefixes=[k],
        lengths=[n],
        per_cell=1,
        operators=chosen,
        distractors=distractors,
        shuffle=shuffle,
        reuse=reuse,
    )
    check(questions[0], operators)
    wanted = [name for name in questions[0].values if name.startswith("Y")]
    assert len(wanted) == distractors
    assert set(wanted) <= set(questions[0].distractors)


def test_long_chains_and_other_tolerances() -> None:
    check(synthesize(3, prefixes=[30], lengths=[30], per_cell=1)[0], "+-*")
    check(
        synthesize(3, prefixes=[0], lengths=[8], per_cell=1, tolerance=0.2)[0],
        "+-*",
        Fraction(1, 5),
    )


def test_a_seed_fixes_each_question() -> None:
    one = synthesize(7, prefixes=[1, 2], lengths=[3], per_cell=2)
    assert one == synthesize(7, prefixes=[1, 2], lengths=[3], per_cell=2)
    assert one[2:] == synthesize(7, prefixes=[2], lengths=[3], per_cell=2)
    assert one[0].question != synthesize(8, prefixes=[1], lengths=[3], per_cell=1)[0].question
    assert [q.id for q in one] == ["k1n3#0", "k1n3#1", "k2n3#0", "k2n3#1"]


def test_operands_come_from_constants_or_variables() -> None:
    fresh = synthesize(1, prefixes=[6], lengths=[6], per_cell=4, reuse=0.0)
    assert all(
        line.split()[4].startswith(("C", "X0")) for q in fresh for line in q.code.split("\n")
    )
    joined = synthesize(1, prefixes=[6], lengths=[6], per_cell=4, reuse=1.0)
    assert any(line.split()[4].startswith("X") for q in joined for line in q.code.split("\n"))


def test_every_wording_keeps_the_direction_of_the_operation() -> None:
    operators: tuple[Operator, ...] = ("+", "-", "*", "/")
    said = {say_rule(Rule("X2", "X1", op, "C1"), w) for op in operators for w in range(3)}
    assert len(said) == 12
    assert "Taking C1 away from X1 leaves X2." in said
    assert "X2 equals X1 divided by C1." in said
    assert "To get X2, lower X1 by C1." in said


def test_prefix_and_steps_are_read_back() -> None:
    q = synthesize(4, prefixes=[3], lengths=[4], per_cell=1)[0]
    assert q.prefix == " ".join(q.steps[:3])
    rest = read_named_values(" ".join(q.steps[3:]), q.hops)
    assert rest.values == {name: q.values[name] for name in q.hops}


def test_a_question_with_known_numbers() -> None:
    """Prefix 1, length 2: 18 + 20 = 38 is given; 46 and 53 are to be found."""
    constants = {"X0": 18, "C2": 8, "C3": 20, "C5": 7}
    values = run_program("X1 = X0 + C3\nX2 = X1 + C2\nX3 = X2 + C5", constants).values
    names = ("X1", "X2", "X3")
    fractions = {n: values[n] for n in constants}
    q = SynQuestion("k1n2#5", 1, 2, "", ("", "", ""), names, values, "", fractions, ())
    assert q.truth == {1: 46, 2: 53}
    read = read_named_values("X2 = X1 + C2 = 38 + 8 = 46. X3 = 46 + 7 = 55.", q.hops).values
    score = score_synthetic([q], [read])
    assert [c.right for c in score.exact] == [True, False]
    assert [c.right for c in score.within] == [True, True]


def test_exact_and_five_per_cent_columns() -> None:
    q = synthesize(4, prefixes=[1], lengths=[3], per_cell=1)
    a, b, _ = (q[0].values[name] for name in q[0].hops)
    stated = {"X2": a, "X3": b * Fraction(105, 100), "X4": None}
    score = score_synthetic(q, [stated])
    assert [c.right for c in score.exact] == [True, False, None]
    assert [c.right for c in score.within] == [True, True, None]
    assert [(c.k, c.l, c.final) for c in score.exact] == [
        (1, 1, False),
        (1, 2, False),
        (1, 3, True),
    ]
    with pytest.raises(ValueError, match="1 questions but 0 responses"):
        score_synthetic(q, [])


def test_bad_options_are_named() -> None:
    with pytest.raises(ValueError, match="seed=-1"):
        synthesize(-1)
    with pytest.raises(ValueError, match="lengths \\[0\\] >= 1"):
        synthesize(0, lengths=[0])
    with pytest.raises(ValueError, match="must be some of"):
        synthesize(0, operators=[])
    with pytest.raises(ValueError, match="reuse is 2"):
        synthesize(0, reuse=2)
    with pytest.raises(ValueError, match="tolerance is 1"):
        synthesize(0, tolerance=1)
    with pytest.raises(ValueError, match=r"no question with k=9, n=9, operators \+ in which"):
        synthesize(0, prefixes=[9], lengths=[9], per_cell=1, operators=["+"], tolerance=0.9)
