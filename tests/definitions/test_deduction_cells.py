"""Deductive consistency against DEFINITIONS, section 3, read literally."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.deduction import coverage, decay, ded_cons, run_program, synthesize

Seen = tuple[int, int, bool | None]
CLOSE = 1e-9
seen = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 6), st.sampled_from([True, False, None])),
    max_size=80,
)


def share(cells: list[Seen], k: int, hop: int, *, skip: bool) -> float | None:
    """DedCons(k, l): share right; a missing variable is wrong, or is skipped."""
    flags = [right for a, b, right in cells if (a, b) == (k, hop)]
    if skip:
        flags = [f for f in flags if f is not None]
    return sum(f is True for f in flags) / len(flags) if flags else None


def kept(cells: list[Seen]) -> int:
    """Hops are kept while n(1, h)/n(1, 1) > 0.20."""
    n = Counter((k, hop) for k, hop, _ in cells)
    h = 0
    while n[1, 1] and 5 * n[1, h + 1] > n[1, 1]:
        h += 1
    return h


@given(seen, st.booleans(), st.integers(0, 2))
@settings(max_examples=150, deadline=None)
def test_means_errors_base_and_decay(cells: list[Seen], skip: bool, k_min: int) -> None:
    got = ded_cons(cells, k_min=k_min, missing="skip" if skip else "wrong")
    lengths = sorted({k for k, _, _ in cells if k >= k_min})
    last = max((hop for k, hop, _ in cells if k >= k_min), default=0)
    assert [h.hop for h in got.hops] == list(range(1, last + 1))
    means: list[float | None] = []
    for hop in got.hops:
        shares = [s for k in lengths if (s := share(cells, k, hop.hop, skip=skip)) is not None]
        assert hop.prefixes == len(shares)
        if not shares:
            assert (hop.mean, hop.se) == (None, None)
            means.append(None)
            continue
        # the mean over prefixes is unweighted; SE = population sd over prefix means / √prefixes
        assert hop.mean == pytest.approx(sum(shares) / len(shares), abs=CLOSE)
        means.append(hop.mean)
        if len(shares) > 1:
            assert hop.se == pytest.approx(
                float(np.std(shares)) / math.sqrt(len(shares)), abs=CLOSE
            )
    assert got.base == (means[0] if means else None)
    used = min(kept(cells), last)
    assert [h.kept for h in got.hops] == [h.hop <= used for h in got.hops]
    fitted = [(h / used, m) for h, m in enumerate(means[:used], start=1) if m is not None]
    if len(fitted) < 2:
        assert got.decay is None
    else:
        slope = float(np.polyfit([x for x, _ in fitted], [m for _, m in fitted], 1)[0])
        assert got.decay == pytest.approx(-slope, abs=1e-7)


@given(st.lists(st.fractions(0, 1, max_denominator=40), min_size=2, max_size=15))
@settings(max_examples=60, deadline=None)
def test_three_normalisations_of_one_line(means: list[Fraction]) -> None:
    hops = len(means)
    per_hop = decay(means, norm="per_hop")
    assert per_hop is not None
    slope = float(np.polyfit(range(1, hops + 1), [float(m) for m in means], 1)[0])
    assert per_hop == pytest.approx(-slope, abs=1e-7)
    assert decay(means) == pytest.approx(hops * per_hop, abs=CLOSE)
    assert decay(means, norm="equation") == pytest.approx((hops - 1) * per_hop, abs=CLOSE)


def test_four_fifths_between_table_and_equation_at_five_hops() -> None:
    means = ["0.89", "0.8274", "0.7909", "0.7669", "0.7079"]
    assert (decay(means), decay(means, norm="equation")) == (0.21235, 0.16988)


@given(st.integers(1, 8), st.integers(2, 10), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_an_ideal_reasoner_has_base_1_and_decay_0(prefixes: int, hops: int, n: int) -> None:
    got = ded_cons([(k, h, True) for k in range(1, prefixes + 1) for h in range(1, hops + 1)] * n)
    assert (got.base, got.decay, got.kept, got.missing) == (1.0, 0.0, hops, 0)


@given(st.integers(2, 8), st.integers(1, 9), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_a_known_error_per_hop_is_recovered(hops: int, wrong: int, prefixes: int) -> None:
    """Of those still right, the same share goes wrong at every hop: base 1-e, means (1-e)^h."""
    cells: list[Seen] = []
    right = [Fraction(10 - wrong, 10) ** h for h in range(1, hops + 1)]
    for k in range(1, prefixes + 1):
        for h, r in enumerate(right, start=1):
            n = 200
            cells += [(k, h, i < round(float(r) * n)) for i in range(n)]
    got = ded_cons(cells)
    assert got.base == pytest.approx(1 - wrong / 10, abs=1 / 200)
    expected = decay(right, norm="per_hop")
    assert expected is not None
    assert ded_cons(cells, norm="per_hop").decay == pytest.approx(expected, abs=1 / 100)


@given(st.lists(st.tuples(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))))
def test_coverage_both_ways(pairs: list[tuple[set[str], set[str]]]) -> None:
    got = coverage([e for e, _ in pairs], [s for _, s in pairs])
    both = sum(len(e & s) for e, s in pairs)
    expected, stated = sum(len(e) for e, _ in pairs), sum(len(s) for _, s in pairs)
    assert got.value == (both / expected if expected else None)
    assert got.printed == (both / stated if stated else None)


def test_hop_h_is_scored_on_every_question_at_least_so_long() -> None:
    made = synthesize(3, prefixes=range(1, 4), lengths=range(1, 5), per_cell=2)
    counted = Counter(h for q in made for h in q.hops.values())
    assert counted == {h: 3 * 2 * (5 - h) for h in range(1, 5)}


def test_values_are_injected_and_exact() -> None:
    code = "a = 3\nb = a / 7\nc = b * 7 + 1 / 10\n"
    got = run_program(code, {"a": Fraction(22, 3)})
    assert got.values == {"a": Fraction(22, 3), "b": Fraction(22, 21), "c": Fraction(223, 30)}
    assert got.refusal is None
    bad = run_program("a = (1).__class__", {})
    assert bad.refusal is not None
    assert not bad.values
