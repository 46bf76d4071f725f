"""Medoid distance: closed cases, the textbook table, bounds."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.faithfulness import lcs_length, medoid_distance


def by_table(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        above = row
        row = [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[-1]))
    return row[-1]


@pytest.mark.parametrize(
    ("a", "b", "length"),
    [
        ("", "", 0),
        ("", "abc", 0),
        ("abc", "abc", 3),
        ("abc", "xyz", 0),
        ("abcbdab", "bdcaba", 4),
        ("stone", "longest", 3),
        ("aaaa", "aa", 2),
        ("xaby", "xbay", 3),
        ("héllo", "hello", 4),
        ("\N{GRINNING FACE}a", "a\N{GRINNING FACE}", 1),
    ],
)
def test_longest_common_subsequence(a: str, b: str, length: int) -> None:
    assert lcs_length(a, b) == lcs_length(b, a) == length


@settings(deadline=None)
@given(st.text("abcd ", max_size=80), st.text("abcd ", max_size=80))
def test_bits_equal_the_table(a: str, b: str) -> None:
    assert lcs_length(a, b) == by_table(a, b)


def test_long_texts_equal_the_table() -> None:
    """Longer than any machine word, and periodic, so that carries run far."""
    a, b = "so x is 4 " * 30, "x is 5, so " * 25
    assert lcs_length(a, b) == by_table(a, b)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 4000])
def test_closed_forms_at_word_borders_and_full_length(n: int) -> None:
    assert lcs_length("a" * n, "b" + "a" * n) == n
    assert lcs_length("ab" * n, "ba" * n) == 2 * n - 1
    assert lcs_length("a" * n, "b" * n) == 0


@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        ("Same", "sAME", 0.0),
        ("abc", "xyz", 1.0),
        ("abcd", "", 1.0),
        ("abcbdab", "BDCABA", 1 - 8 / 13),
        ("", "", None),
    ],
)
def test_distance(a: str, b: str, want: float | None) -> None:
    got = medoid_distance(a, b)
    assert got is None if want is None else got == pytest.approx(want, abs=1e-15)
    assert medoid_distance(b, a) == got


def test_difflib_ignores_what_is_frequent_in_long_texts() -> None:
    a = "the cat sat on the mat and ate the rat. " * 8
    b = "a dog lay by a log, then hid in the fog. " * 8
    want = 1 - difflib.SequenceMatcher(None, a, b).ratio()
    assert medoid_distance(a.upper(), b, method="difflib") == want
    assert want > 0.95
    lcs = medoid_distance(a, b)
    assert lcs is not None
    assert lcs < 0.6
    assert medoid_distance("", "", method="difflib") is None


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_bounds_and_order_of_the_methods(a: str, b: str) -> None:
    lcs = medoid_distance(a, b)
    if lcs is None:
        assert (a, b) == ("", "")
        return
    assert 0 <= lcs <= 1
    assert (lcs == 0) == (a.lower() == b.lower())
    greedy = medoid_distance(a, b, method="difflib")
    assert greedy is not None
    assert lcs <= greedy + 1e-15


def test_other_methods_are_refused() -> None:
    with pytest.raises(ValueError, match="method must be 'lcs' or 'difflib', not 'cosine'"):
        medoid_distance("a", "b", method="cosine")  # type: ignore[arg-type]
