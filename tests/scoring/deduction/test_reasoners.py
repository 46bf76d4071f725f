"""Whole path with made-up reasoners: ask, answer in words, read, judge, score."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.deduction import (
    Cell,
    Template,
    cells_of,
    coverage,
    ded_cons,
    judge_values,
    memorisation_gap,
    mutate,
    propagation,
    propagation_share,
    read_named_values,
    read_stated_values,
    score_synthetic,
    synthesize,
)
from scoring.deduction.template import fill
from tests.scoring.deduction.problems import james, shop


def answered(template: Template, values: dict[str, Fraction], k: int) -> dict[str, Fraction]:
    """What the number reader makes of a response that states these values."""
    text = "\n".join(fill(step, values) for step in template.steps[k:])
    found = read_stated_values(text, template.steps, given=k, inputs=template.inputs)
    return dict(found.values)


@given(st.integers(0, 1000))
@settings(max_examples=8, deadline=None)
def test_an_ideal_reasoner_has_base_1_and_decay_0(seed: int) -> None:
    cells: list[Cell] = []
    sets = []
    for t in (james(), shop()):
        for m in mutate(t, seed=seed, n=3).items:
            for k in range(len(t.steps)):
                read = answered(t, dict(m.values), k)
                verdicts = judge_values(m.values, read, t.stated_in, k)
                cells += cells_of(verdicts, k, problem=t.problem, mutation=m.index, answer=t.answer)
                sets.append(({v.variable for v in verdicts}, set(read)))
    result = ded_cons(cells)
    assert (result.base, result.decay, result.missing) == (1.0, 0.0, 0)
    assert [h.mean for h in result.hops] == [1.0] * len(result.hops)
    assert coverage([e for e, _ in sets], [s for _, s in sets]).value == 1.0


REMEMBERED: dict[str, dict[str, int | str]] = {
    "letters": {"num_weeks_in_a_year": 52, "pages_per_week": 12, "total_pages": 624},
    "shop": {"income": 10, "gift": "2.5", "left": "7.5"},
}


def test_a_reasoner_that_remembers_fails_on_mutations_only() -> None:
    original: list[Cell] = []
    mutated: list[Cell] = []
    statuses: list[str] = []
    for t in (james(), shop()):
        remembered = REMEMBERED[t.problem]
        for k in range(len(t.steps)):
            v = judge_values(remembered, remembered, t.stated_in, k)
            original += cells_of(v, k, problem=t.problem, answer=t.answer)
            for m in mutate(t, seed=3, n=3).items:
                v = judge_values(m.values, remembered, t.stated_in, k, original=remembered)
                statuses += [x.status for x in v if x.variable != "num_weeks_in_a_year"]
                mutated += cells_of(v, k, problem=t.problem, mutation=m.index, answer=t.answer)
    gap = memorisation_gap(original, mutated)
    assert (gap.original.base, gap.final_original.value, gap.final_mutated.value) == (1.0, 1.0, 0.0)
    assert gap.final_gap == 1.0
    assert set(statuses) == {"copied"}


@pytest.mark.parametrize("error", [0.1, 0.3])
def test_a_known_error_per_hop_is_recovered(error: float) -> None:
    """Each step goes wrong with one chance and errors propagate: mean at hop h is (1-e)^h."""
    rng = np.random.default_rng(11)
    questions = synthesize(2, prefixes=range(1, 7), lengths=[5], per_cell=40, reuse=0.0)
    stated, rows = [], []
    for q in questions:
        values = dict(q.values)
        text, wrong = [], False
        for name, line in zip(q.names, q.code.split("\n"), strict=True):
            _, _, a, op, b = line.split()
            x, y = values[a], values[b]
            values[name] = {"+": x + y, "-": x - y, "*": x * y}[op]
            if name in q.hops:
                wrong = rng.random() < error
                values[name] += 1000 * wrong
                text.append(f"{name} = {a} {op} {b} = {values[name]}.")
        read = read_named_values(" ".join(text), q.hops).values
        stated.append(read)
        steps = {name: i for i, name in enumerate(q.names, start=1)}
        verdicts = judge_values(q.values, read, steps, q.k)
        rows.append(propagation(q.code, q.constants, verdicts))
    result = ded_cons(score_synthetic(questions, stated).exact)
    for hop in result.hops:
        expected = (1 - error) ** hop.hop
        sd = (expected * (1 - expected) / hop.n) ** 0.5
        assert abs((hop.mean or 0.0) - expected) < 4 * sd, hop
    assert result.base == pytest.approx(1 - error, abs=0.05)
    per_hop = ded_cons(score_synthetic(questions, stated).exact, norm="per_hop").decay
    line = np.polyfit(range(1, 6), [(1 - error) ** h for h in range(1, 6)], 1)[0]
    assert per_hop == pytest.approx(-line, abs=0.02)
    # an error is fresh where it is the first, or where a step went wrong once more
    wrongs = sum(1 - (1 - error) ** h for h in range(1, 6))
    followed = sum((1 - (1 - error) ** (h - 1)) * (1 - error) for h in range(1, 6))
    assert propagation_share(rows) == pytest.approx(followed / wrongs, abs=0.05)


@given(st.integers(1, 6), st.integers(2, 6), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_an_exact_share_per_hop_is_recovered_exactly(k: int, hops: int, halves: int) -> None:
    """At hop h exactly one in 2^h is right, in every prefix."""
    n = 2**hops * halves
    cells = [
        Cell(prefix, h, i < n // 2**h)
        for prefix in range(1, k + 1)
        for h in range(1, hops + 1)
        for i in range(n)
    ]
    result = ded_cons(cells)
    assert [h.mean for h in result.hops] == [2.0**-h for h in range(1, hops + 1)]
    assert (result.base, result.kept) == (0.5, hops)
    assert all(h.se == (0.0 if k > 1 else None) for h in result.hops)
