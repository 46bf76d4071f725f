"""Matrix, order, map and family of a relation set, sealed and revealed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.relation_sealed import SetView, headline, headline_apart, set_view
from pipeline.relation_set_truth import SetTruth, set_truth
from pipeline.relation_view import AskedSet, asked_set
from store import Store, open_store
from store.relation_records import NewObject, NewSet, RelationAnswerRecord
from tests.tui.conftest import Desk
from tests.tui.related import SECRET, WRITTEN, build_related
from tests.tui.running import workbench
from tui.screens.setviews import FamilyScreen, MapScreen, MatrixScreen, OrderScreen, SetSheet
from tui.text import cells

Size = tuple[int, int]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("related") / "ready.db"
    build_related(path)
    return path


@pytest.fixture
def db(ready: Path, tmp_path: Path) -> Path:
    path = tmp_path / "audit.db"
    path.write_bytes(ready.read_bytes())
    return path


@pytest.fixture
def store(ready: Path) -> Iterator[Store]:
    with open_store(ready) as opened:
        yield opened


def asked(store: Store, name: str) -> AskedSet:
    return next(asked_set(store, a) for a in store.relation_askings() if a.set == name)


def both(store: Store, name: str) -> tuple[SetView, SetTruth]:
    found = asked(store, name)
    view = set_view(found)
    return view, set_truth(found, view)


async def lay(desk: Desk, sheet: SetSheet) -> None:
    await desk.app.push_screen(sheet)
    await desk.settle()


# --- what is worked out ------------------------------------------------------------------------


def test_a_view_holds_what_was_said_and_nothing_of_the_truth(store: Store) -> None:
    view, truth = both(store, "events")
    time = view.axis("time")
    assert (view.n, view.n_answers, view.n_unread) == (4, 12, 1)
    assert view.coverage == 11 / 12
    assert time.contradicted == 1
    assert time.said[0, 2] == time.said[2, 0] == 1
    assert time.said[3, 0] is None
    assert time.groups(time.order) == [4]  # 0 and 2 both ways, and 1, 2, 3 in a circle
    assert time.against((0, 1, 2, 3)) == {(2, 0), (1, 3), (3, 1)}
    behind = truth.axes["time"]
    # True order 0, 2, 1, 3: false are "2 before 0", "1 before 2" twice, "3 before 1" twice.
    assert behind.places == (1.0, 3.0, 2.0, 4.0)
    assert behind.wrong == {(2, 0), (1, 2), (2, 1), (1, 3), (3, 1)}
    assert behind.error is not None
    assert (behind.error.wrong, behind.error.answered) == (5, 11)
    assert behind.exact.reverse == 3
    assert behind.against == time.against(behind.exact.order)
    assert len(behind.against) == 3


def test_the_exact_score_stands_beside_a_coins(store: Store) -> None:
    found = headline(asked(store, "events"))
    exact, coin = found.exact["time"], found.coin["time"]
    assert exact.score == pytest.approx(6 / 11)
    assert (coin.n, coin.method) == (4, "exact")
    assert coin.mean is not None
    assert 0 < coin.mean < 1
    kin = headline(asked(store, "family")).kin
    assert kin is not None
    assert {(p.a, p.b) for p in kin.pairs} >= {("C", "D"), ("A", "E")} or {
        (p.a, p.b) for p in kin.pairs
    } >= {("C", "D"), ("E", "A")}
    assert headline(asked(store, "towns")).exact["y"].reverse == 1


def test_of_many_objects_it_is_worked_out_in_another_process(tmp_path: Path) -> None:
    n = 26
    with open_store(tmp_path / "many.db") as store:
        store.save_relation_set(
            NewSet("many", "temporal", tuple(NewObject(f"o{k}") for k in range(n)))
        )
        of = store.relation_set_named("many").id
        made = store.relation_asking(of, "m", model="m", form="", prompt_version="", parameters={})
        said = [
            RelationAnswerRecord(a, b, "before" if (a < b) != ((a, b) == (0, 1)) else "after")
            for a in range(n)
            for b in range(n)
            if a != b
        ]
        store.save_relation_answers(made.id, said)
        found = headline_apart(asked(store, "many"))
    assert (found.exact["time"].reverse, found.exact["time"].proved) == (1, True)
    assert found.coin["time"].method == "local"


def test_a_family_has_its_false_words_behind_the_seal(store: Store) -> None:
    view, truth = both(store, "family")
    assert view.axes == ()
    assert truth.wrong == {(4, 0)}  # E is A's husband, not her wife
    assert truth.genders["A"] == "female"
    assert "D" in truth.genders


# --- what is drawn -----------------------------------------------------------------------------


async def test_the_matrix_marks_answers_and_no_truth(db: Path, store: Store, size: Size) -> None:
    view, truth = both(store, "events")
    async with workbench(db, size) as desk:
        await lay(desk, MatrixScreen(view, None))
        assert "sealed" in desk.text.splitlines()[0]
        rows = [x.rstrip() for x in desk.text.splitlines()[6:10]]
        assert sum(x.count("«") + x.count("◂") for x in rows) >= 2
        assert sum(x.count("?") for x in rows) == 1
        assert "not true" not in desk.text
        assert "×" not in desk.text
        assert "\x1b" not in desk.text
        await desk.press("escape")
        await lay(desk, MatrixScreen(view, truth))
        assert desk.text.count("×") == 5 + 1  # the legend names it once
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())


async def test_the_matrix_of_places_turns_to_the_other_axis(db: Path, store: Store) -> None:
    view, _ = both(store, "towns")
    async with workbench(db) as desk:
        await lay(desk, MatrixScreen(view, None))
        assert "west to east" in desk.text.splitlines()[0]
        shown = "".join(desk.text.splitlines()[4:12])
        assert not set("«»◂▸") & set(shown.replace("▸1", ""))  # x is told without a slip
        await desk.press("tab")
        assert "south to north" in desk.text.splitlines()[0]
        shown = "".join(desk.text.splitlines()[4:12]).replace("▸1", "")
        assert sum(shown.count(c) for c in "«»") == sum(shown.count(c) for c in "◂▸") == 1
        await desk.press("j")
        assert "Eke: 4 answers as the first-named, 0 against the order" in desk.text
        await desk.press("right", "left")
        assert "south to north" in desk.text.splitlines()[0]


async def test_the_order_brackets_what_is_open_and_hides_true_places(
    db: Path, store: Store, size: Size
) -> None:
    view, truth = both(store, "events")
    async with workbench(db, size) as desk:
        await lay(desk, OrderScreen(view, None))
        flat = " ".join(desk.text.split())
        assert "1 group of 4 objects in brackets" in flat
        assert "sealed until every finding here is decided and revealed" in flat
        assert "true place " not in flat.replace("true places,", "")
        assert "τ" not in flat
        await desk.press("escape")
        await lay(desk, OrderScreen(view, truth))
        flat = " ".join(desk.text.split())
        assert "true place" in flat
        assert "fewest answers against it: 3 of 11 · 5 of 11 answers false" in flat
        assert f"Kendall τ to the truth {truth.axes['time'].tau:+.2f}" in flat
        assert WRITTEN not in flat


async def test_the_true_map_stands_beside_the_made_one_once_revealed(
    db: Path, store: Store, size: Size
) -> None:
    view, truth = both(store, "towns")
    async with workbench(db, size) as desk:
        await lay(desk, MapScreen(view, None))
        assert "┌ from the answers ─" in desk.text
        assert "┌ true ─" not in desk.text
        assert "the true map is sealed" in desk.text
        assert "in truth" not in desk.text
        lines = desk.text.splitlines()
        north = next(i for i, x in enumerate(lines) if "Aby" in x)
        south = next(i for i, x in enumerate(lines) if "Bro" in x)
        assert north < south
        assert lines[south].index("Bro") < size[0] // 2
        await desk.press("escape")
        await lay(desk, MapScreen(view, truth))
        assert "┌ true ─" in desk.text
        tau = truth.axes["y"].tau
        assert f"west to east +1.00, south to north {tau:+.2f} (1 = as it is)" in desk.text
        await desk.press("j")
        assert desk.text.count("◆") == 2
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())


async def test_the_family_is_drawn_only_once_it_may_be_seen(
    db: Path, store: Store, size: Size
) -> None:
    view, truth = both(store, "family")
    async with workbench(db, size) as desk:
        await lay(desk, FamilyScreen(view, None))
        assert "the family is sealed" in desk.text
        assert "═" not in desk.text
        await desk.press("escape")
        await lay(desk, MatrixScreen(view, None))
        assert SECRET not in desk.text
        assert "Gd+" not in desk.text
        assert "≠" in desk.text
        await desk.press("escape")
        await lay(desk, FamilyScreen(view, truth))
        lines = [x.rstrip() for x in desk.text.splitlines()]
        at = next(i for i, x in enumerate(lines) if "═" in x)
        assert lines[at][1:] == "A f ═ E m"
        assert [x[1:] for x in lines[at + 1 : at + 4]] == [
            "└── B m",
            "    └── C m",
            "        └── D f",
        ]


async def test_a_set_without_truth_says_so(db: Path, store: Store) -> None:
    view, _ = both(store, "family")
    async with workbench(db) as desk:
        await lay(desk, FamilyScreen(view, SetTruth()))
        assert "this set has no truth" in desk.text
