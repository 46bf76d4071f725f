"""Cycles, matrices, orders, maps and families in cells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.content import Content

from scoring.relations import WORDS, derive_family, make_family
from tests.tui.conftest import HOSTILE
from tui.cyclelines import Link, cycle_lines, listed
from tui.familylines import family_heads, family_lines, ties_of
from tui.maplines import beside, crowded, letter, lettered, map_rows, named, places
from tui.matrixlines import (
    Matrix,
    axis_matrix,
    kin_code,
    kin_matrix,
    matrix_heads,
    matrix_lines,
)
from tui.orderlines import Figure, brackets, order_heads, order_lines
from tui.text import cells

NAMES = ["Denver", "Austin", "Tulsa", "Oklahoma City", "Fort Worth", "名古屋"]
TEXT = st.text(min_size=1, max_size=40)


def plain(lines: Sequence[Content]) -> list[str]:
    return [line.plain for line in lines]


def drawn(text: str) -> list[str]:
    """Return a golden drawing without the blank line and the margin that the test's layout adds."""
    return [line.removeprefix("        ") for line in text.splitlines()[1:-1]]


def west(n: int, wrong: int | None = None) -> list[Link]:
    return [Link("west of", wrong=i == wrong) for i in range(n)]


# --- cycles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "golden"),
    [
        (
            2,
            """
          Denver ─1 west of─▸ Austin
             ▴                  │
             └────2✗west of─────┘
        """,
        ),
        (
            3,
            """
          Denver ─1 west of─▸ Austin ─2✗west of─▸ Tulsa
             ▴                                      │
             └──────────────3 west of───────────────┘
        """,
        ),
        (
            4,
            """
          Denver ────1 west of────▸ Austin
             ▴                         │
             4 west of         2✗west of
             │                         ▾
          Oklahoma City ◂─3 west of─ Tulsa
        """,
        ),
        (
            5,
            """
          Denver ─1 west of─▸ Austin ─2✗west of─▸ Tulsa
             ▴                                      │
             5 west of                      3 west of
             │                                      ▾
          Fort Worth ◂─────4 west of───── Oklahoma City
        """,
        ),
        (
            6,
            """
          Denver ────1 west of────▸ Austin ────2✗west of────▸ Tulsa
             ▴                                                  │
             6 west of                                  3 west of
             │                                                  ▾
          名古屋 ◂─5 west of─ Fort Worth ◂─4 west of─ Oklahoma City
        """,
        ),
    ],
)
def test_a_cycle_is_a_ring_whose_arrows_carry_their_numbers(n: int, golden: str) -> None:
    assert plain(cycle_lines(NAMES[:n], west(n, wrong=1), 78)) == drawn(golden)


def test_two_ways_from_one_person_to_another_are_drawn_as_they_point() -> None:
    links = [Link("great-granddaughter of"), Link("wife of"), Link("cousin of", forward=False)]
    assert plain(cycle_lines(["A", "B", "C"], links, 78)) == drawn(
        """
          A ─1 great-granddaughter of─▸ B ─2 wife of─▸ C
          │                                            ▴
          └────────────────3 cousin of─────────────────┘
        """
    )
    four = [Link("r", forward=i % 2 == 0) for i in range(4)]
    assert plain(cycle_lines("ABCD", four, 78)) == [
        "  A ─1 r─▸ B",
        "  │        ▴",
        "  4 r    2 r",
        "  ▾        │",
        "  D ◂─3 r─ C",
    ]


def test_a_cycle_of_seven_is_a_list_and_so_is_one_that_does_not_fit() -> None:
    seven = plain(cycle_lines([*NAMES, "X"], west(7), 78))
    assert seven[0] == " Denver ─1 west of─▸ Austin"
    assert seven[6] == " X ─7 west of─▸ Denver"
    narrow = plain(cycle_lines(NAMES[:3], west(3, wrong=2), 40))
    assert narrow == [
        " Denver ─1 west of─▸ Austin",
        " Austin ─2 west of─▸ Tulsa",
        " Tulsa ─3✗west of─▸ Denver",
    ]
    assert plain(listed("AB", [Link("r"), Link("r", forward=False)], 78))[1] == " B ◂─2 r─ A"


def test_long_names_are_cut_in_the_middle_and_controls_are_shown() -> None:
    lines = plain(cycle_lines([HOSTILE, "B", "x" * 50], west(3), 78))
    assert len(lines) == 3
    assert max(map(cells, lines)) <= 78
    assert lines[0].startswith(
        "  [/x] [CLAIM…U+D800> end ─1 west of─▸ B ─2 west of─▸ xxxxxxxxxxx…xxxxxxxxxxx"
    )
    assert "\x1b" not in "".join(lines)


def test_what_is_no_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="1 objects and 1 links"):
        cycle_lines(["A"], west(1), 78)
    with pytest.raises(ValueError, match="3 objects and 2 links"):
        cycle_lines(NAMES[:3], west(2), 78)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(TEXT, TEXT, st.booleans()), min_size=2, max_size=8),
    st.integers(30, 110),
)
def test_a_drawn_cycle_fits_whatever_the_names(
    ring: list[tuple[str, str, bool]], width: int
) -> None:
    names, links = [r[0] for r in ring], [Link(w, forward=f) for _, w, f in ring]
    lines = cycle_lines(names, links, width)
    text = "".join(plain(lines))
    assert all(cells(line) <= width for line in lines)
    assert len(lines) in (3, 5, len(ring))
    assert all(str(i) in text for i in range(1, len(ring) + 1))
    if len(lines) != len(ring) or len(ring) == 3:
        first = {cells(line) for line in (lines[0], lines[-1])}
        assert len(lines) == 3 or len(first) == 1  # a ring's two rows are equally wide
    heads = sum(text.count(c) for c in "▸◂▴▾") - sum(
        (n + w).count(c) for n, w, _ in ring for c in "▸◂▴▾"
    )
    assert heads == len(ring) or any(c in n + w for n, w, _ in ring for c in "▸◂▴▾")


# --- matrices ----------------------------------------------------------------------------------

SAID = {
    (0, 1): 1, (1, 0): -1, (0, 2): 1, (2, 0): 1, (1, 2): 1, (2, 1): None, (3, 0): -1
}  # fmt: skip


def test_a_matrix_marks_both_ways_and_what_is_against_the_order() -> None:
    made = axis_matrix([0, 1, 2, 3], SAID, {(2, 0)})
    names = ["Athens", HOSTILE, "Carthage", "東京"]
    assert plain(matrix_heads(made, names, 50)) == [
        " " * 34,
        " " * 22 + "1  2  3  4  ",
    ]
    assert plain([r.content for r in matrix_lines(made, names, 50)]) == [
        " 1 Athens             ╲  <  «  ·  ",
        " 2 [/x] [CLA…800> end >  ╲  <  ·  ",
        " 3 Carthage           ◂  ?  ╲  ·  ",
        " 4 東京               >  ·  ·  ╲  ",
    ]


def test_fifty_one_objects_fit_a_cell_each_and_wider_ones_scroll() -> None:
    n = 51
    said = {(a, b): 1 if a < b else -1 for a in range(n) for b in range(n) if a != b}
    made, names = axis_matrix(range(n), said), [f"Object {k}" for k in range(n)]
    heads = plain(matrix_heads(made, names, 78))
    rows = plain([r.content for r in matrix_lines(made, names, 78)])
    assert heads[0].rstrip().endswith("444444444455")
    assert heads[1].rstrip().endswith("890123456789 01".replace(" ", ""))
    assert rows[0] == "  1 Object 0  ╲" + "<" * 50
    assert rows[50] == " 51 Object 50 " + ">" * 50 + "╲"
    kin = Matrix(made.objects, made.cells, 5)
    assert plain([matrix_lines(kin, names, 78)[0].content])[0].endswith("<    …")
    assert plain([matrix_lines(kin, names, 78, left=44)[0].content])[0].endswith("<    <    ")
    assert plain(matrix_heads(kin, names, 78, left=44))[0].split() == [
        str(k) for k in range(45, 52)
    ]


@given(st.permutations(range(6)), st.data())
def test_the_order_of_a_matrix_changes_places_only(order: list[int], data: st.DataObject) -> None:
    sign = st.sampled_from([1, -1, None])
    said = {(a, b): data.draw(sign) for a in range(6) for b in range(6) if a != b}
    plain_order, turned = axis_matrix(range(6), said), axis_matrix(order, said)
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            assert turned.cells[i][j] == plain_order.cells[a][b]


def test_every_word_of_kinship_has_a_code_of_its_own() -> None:
    codes = [kin_code(word) for word in WORDS]
    assert len(set(codes)) == 31
    assert max(map(len, codes)) == 3


def test_a_matrix_of_kinship_marks_pairs_that_are_not_inverse() -> None:
    said = {(0, 1): "father", (1, 0): "son", (1, 2): "aunt-in-law", (2, 1): "wife", (0, 2): None}
    made = kin_matrix(3, said, {(1, 2), (2, 1)}, {(0, 1)})
    rows = plain([r.content for r in matrix_lines(made, "ABC", 60)])
    assert rows == [
        " 1 A ╲    Fa!  ?    ",
        " 2 B So   ╲    Au'≠ ",
        " 3 C ·    Wi≠  ╲    ",
    ]
    assert plain(matrix_heads(made, "ABC", 60))[1] == "     A    B    C    "


# --- orders ------------------------------------------------------------------------------------


def test_places_that_the_answers_leave_open_are_bracketed() -> None:
    figures = (Figure("true", ("2", "1", "–", "10")),)
    assert order_heads(figures, ("west", "east"), 40).plain.split() == [
        *("from", "west", "to", "east", "true")
    ]
    rows = plain([r.content for r in order_lines("ABCD", [2, 0, 3, 1], [1, 3], 30, figures)])
    assert rows == [
        "    1   C                   –",
        "    2 ┌ A                   2",
        "    3 │ D                  10",
        "    4 └ B                   1",
    ]
    assert "".join(brackets([2, 1])) == "┌└ "
    with pytest.raises(ValueError, match="groups of 3 objects in an order of 4"):
        order_lines("ABCD", [2, 0, 3, 1], [1, 2], 30)


# --- maps --------------------------------------------------------------------------------------


def test_a_map_has_north_above_and_east_at_the_right() -> None:
    points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]
    assert places(points, 9, 3) == [(2, 0), (1, 4), (0, 8)]
    made = map_rows(points, ["Los Angeles", "Denver", "Boston"], 24, 5, title="from the answers")
    assert plain(made) == drawn(
        """
        ┌ from the answers ────┐
        │              Boston •│
        │          • Denver    │
        │• Los Angeles         │
        └──────────────────────┘
        """
    )


def test_where_names_touch_letters_stand_for_them() -> None:
    points = [(0.0, 0.0), (0.2, 0.0), (1.0, 1.0)]
    names = ["First place", "Second", "Third"]
    assert crowded([points], names, 14, 4)
    assert not crowded([points], "ABC", 22, 4)
    made = map_rows(points, names, 14, 4, title="true", here=1)
    assert plain(made) == drawn(
        """
        ┌ true ──────┐
        │           c│
        │a ◆         │
        └────────────┘
        """
    )
    assert [r.plain for r in lettered([(0, 0), (0, 0), (1, 0)], 3, 1)] == ["+ c"]
    assert named([(0, 0), (0, 0)], "AB", 9, 1) == []
    assert [letter(k) for k in (25, 51, 61, 62)] == ["z", "Z", "9", "•"]
    assert plain(beside(made, made))[2] == "│a ◆         │ │a ◆         │"
    with pytest.raises(ValueError, match="7 × 4 cells"):
        map_rows(points, names, 7, 4, title="")
    with pytest.raises(ValueError, match="3 points and 1 names"):
        map_rows(points, ["A"], 20, 4, title="")


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), TEXT), max_size=51),
    st.integers(8, 100),
    st.integers(4, 30),
)
def test_a_map_fills_its_frame(found: list[tuple[int, int, str]], width: int, height: int) -> None:
    points, names = [(float(x), float(y)) for x, y, _ in found], [n for *_, n in found]
    here = 0 if found else None
    made = map_rows(points, names, width, height, title="true", here=here)
    assert len(made) == height
    assert {cells(line) for line in made} == {width}
    if found:
        assert sum(line.plain.count("◆") for line in made) >= 1


# --- families ----------------------------------------------------------------------------------

FACTS = [
    ("A", "daughter", "F"), ("B", "son", "A"), ("C", "son", "E"), ("C", "father", "Z"),
    ("D", "father", "B"), ("E", "husband", "F"), ("G", "daughter", "X"), ("W", "daughter", "D"),
    ("X", "daughter", "A"), ("Z", "son", "Y"),
]  # fmt: skip


def test_the_family_of_eleven_has_four_generations() -> None:
    family = derive_family(FACTS, "ABCDEFGWXYZ")
    ties = ties_of(family.people, family.relations)
    assert family_heads(ties).plain == " 1   2   3   4   "
    assert plain([line for line, _ in family_lines(ties, family.genders, 78)]) == drawn(
        """
         E m ═ F f
         ├── A f ═ D m
         │   ├── B m
         │   ├── W f
         │   └── X f
         │       └── G f
         └── C m ═ Y f
             └── Z m
        """
    )


def test_a_couple_with_parents_on_both_sides_has_its_children_once() -> None:
    facts = [
        ("A", "father", "B"), ("C", "father", "D"), ("B", "husband", "D"), ("B", "father", "E"),
        ("E", "son", "D"), ("A", "husband", "M"), ("C", "husband", "N"),
    ]  # fmt: skip
    family = derive_family(facts, "ABCDEMN")
    ties = ties_of(family.people, family.relations)
    assert plain(
        [line for line, _ in family_lines(ties, {**family.genders, "E": None}, 78)]
    ) == drawn(
        """
         A m ═ M f
         └── B m ═ D f
             └── E ?
         C m ═ N f
         └── D f ═ B m  ↑ above
        """
    )


@settings(deadline=None, max_examples=25)
@given(st.integers(7, 60), st.integers(2, 4), st.integers(0, 1000))
def test_everybody_of_a_made_up_family_stands_in_their_generation(
    n: int, generations: int, seed: int
) -> None:
    family = make_family(n, generations=generations, seed=seed)
    ties = ties_of(family.people, family.relations)
    lines = family_lines(ties, family.genders, 78)
    names = [p for _, people in lines for p in people]
    assert sorted(names) == sorted(family.people)  # no two lines of descent marry in these
    assert max(ties.generation.values()) == generations - 1
    for line, people in lines:
        assert line.plain.index(people[0]) == 1 + 4 * ties.generation[people[0]]


def test_people_tied_by_no_word_and_names_of_others_are_drawn_all_the_same() -> None:
    people = [HOSTILE, "B", "C"]
    ties = ties_of(people, {(HOSTILE, "B"): "father", ("B", HOSTILE): None})
    lines = plain([line for line, _ in family_lines(ties, {"B": "male"}, 40)])
    assert lines[1:] == [" └── B m", " C ?"]
    assert cells(lines[0]) == 40
    assert "\x1b" not in lines[0]


def test_contradicting_parents_end() -> None:
    words = {("A", "B"): "father", ("B", "A"): "father", ("C", "C2"): "brother"}
    ties = ties_of(["A", "B", "C", "C2"], words)
    assert len(family_lines(ties, {}, 40)) == 5
