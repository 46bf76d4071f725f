"""What the seal levels below `full` show beside a case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store import SealedError, Store
from store.records import SchemaSpec, SealLevel
from tests.tui.conftest import GOLD, JUDGE, RATIONALE
from tests.tui.running import workbench
from tui.screens.context import Context
from tui.screens.revealed import RevealedScreen

Size = tuple[int, int]


def _level(store: Store, seal: SealLevel) -> None:
    was = store.schema()
    store.version_schema(
        SchemaSpec(
            was.name, was.item_kind, was.question, was.guideline, was.categories, seal, was.multi
        )
    )


async def test_full_has_no_context_at_all(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        assert "sealed: full" in desk.text
        assert not case.query(Context)
        await desk.press("i")
        assert "sealed: full. b reveals once every path is labelled" in desk.text


async def test_judge_shows_gold_votes_and_scores_but_no_verdict(
    db: Path, store: Store, size: Size
) -> None:
    _level(store, "judge")
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        assert "sealed: judge" in desk.text
        assert f"gold {GOLD}" in desk.flat
        assert "SC no ✗ 137 of 200" in desk.flat
        assert "GSC yes ✓ 63 of 200" in desk.flat
        assert "score ." in desk.flat
        assert "0◕ 1◕ 2◕" in desk.flat
        seen = [desk.text]
        await desk.press("i")
        assert isinstance(desk.app.screen, RevealedScreen)
        assert "shown before the reveal" in desk.text
        for _ in range(4):
            seen.append(desk.text)
            await desk.press("pagedown")
        await desk.press("escape")
        for text in seen:
            assert JUDGE not in text
            assert RATIONALE not in text
        await desk.press("1")
        assert case.path is not None
        stands = store.label(store.rater("ana").id, case.case.paths[0].item_id, store.schema())  # type: ignore[union-attr]
        assert stands is not None
        assert (stands.seal, stands.before_reveal) == ("judge", True)
        await desk.press(*"11111", "b", "y")
        assert JUDGE in desk.text
        await desk.press("escape")
        assert JUDGE in desk.text or "i: all" in desk.text


async def test_open_shows_the_verdicts_and_has_nothing_to_reveal(
    db: Path, store: Store, size: Size
) -> None:
    _level(store, "open")
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        assert "open: nothing sealed" in desk.text
        assert f"gold {GOLD}" in desk.flat
        assert f"{JUDGE} faithful" in desk.flat
        await desk.press("b")
        assert "nothing is sealed here" in desk.text
        path = case.path
        assert path is not None
        await desk.press("1", "tab", "2")
        rows = store.label_history(store.rater("ana").id, path.item_id)
        assert [(r.category, r.seal) for r in rows] == [("faithful", "open"), ("spurious", "open")]
        await desk.press("i")
        assert isinstance(desk.app.screen, RevealedScreen)
        assert RATIONALE in desk.text or "By your labels" in desk.text
        assert "²" not in desk.text


async def test_context_follows_the_path(db: Path, store: Store) -> None:
    _level(store, "judge")
    async with workbench(db) as desk:
        await desk.open("q1")
        ranks = []
        for _ in range(6):
            line = next(x for x in desk.text.splitlines() if "this path" in x)
            ranks.append(line.split("this path")[1].split(",")[0].strip())
            await desk.press("1")
        assert sorted(ranks) == ["1st", "2nd", "3rd", "4th", "5th", "6th"]


async def test_a_context_that_cannot_be_read_is_said_and_labelling_goes_on(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _level(store, "judge")

    def refused(*_args: object) -> None:
        raise SealedError("refused")

    monkeypatch.setattr(Store, "case_context", refused)
    async with workbench(db) as desk:
        case = await desk.open("q1")
        assert "refused" in desk.text
        path = case.path
        assert path is not None
        await desk.press("1")
        assert store.label(store.rater("ana").id, path.item_id, store.schema()) is not None


def test_the_levels_are_refused_by_the_store_too(db: Path, store: Store) -> None:
    rater = store.rater("ana").id
    case_id = store.cases(rater).rows[0].case_id
    schema = store.schema()
    with pytest.raises(SealedError):
        store.case_context(case_id, rater, schema)
    judge = store.case_context(case_id, rater, replace(schema, seal="judge"))
    assert judge.verdicts == ()
    assert judge.gold_text == GOLD
