"""Nothing that the seal hides is on any screen before the reveal."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import SealedError, Store
from tests.tui.conftest import GOLD, HOSTILE_SHOWN, JUDGE, PLANTED, RATIONALE
from tests.tui.running import workbench
from tui.screens.revealed import RevealedScreen, read_revealed

Size = tuple[int, int]
QUESTIONS = (("q1", "p1"), ("q2", "p1"), ("q3", "p1"), ("q4", "p1"), ("q1", "p2"))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_no_sealed_screen_shows_what_is_sealed(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("c")
        seen = [desk.text]
        await desk.press("f", "o", "escape")
        for question, pool in QUESTIONS:
            case = await desk.open(question, pool)
            assert case.case is not None
            for _ in range(len(case.case.paths)):
                seen.append(desk.text)
                for sheet in ("r", "v"):
                    await desk.press(sheet)
                    seen.append(desk.text)
                    await desk.press("end")
                    seen.append(desk.text)
                    await desk.press("escape")
                await desk.press("b")
                assert not isinstance(desk.app.screen, RevealedScreen)
                seen.append(desk.text)
                await desk.press("2")
            assert case.case.n_left == 0
            seen.append(desk.text)
        for text in seen:
            for planted in PLANTED:
                assert planted not in text


async def test_reveal_is_refused_until_every_path_is_decided(db: Path, store: Store) -> None:
    rater = store.rater("ana")
    async with workbench(db) as desk:
        case = await desk.open("q2")
        await desk.press("b")
        assert "2 paths to label before the reveal" in desk.text
        with pytest.raises(SealedError):
            read_revealed(desk.app.session, case.case_id)
        await desk.press("1", "x")
        with pytest.raises(SealedError):
            store.revealed_case(case.case_id, rater.id, store.schema())
        await desk.press("b")
        assert isinstance(desk.app.screen, RevealedScreen)
        assert store.revealed_case(case.case_id, rater.id, store.schema()).gold_text == GOLD


async def test_the_same_question_elsewhere_is_asked_about_first(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1", "p2")
        await desk.press("1", "1", "b")
        assert "6 paths of this question in other pools are not labelled" in desk.flat
        await desk.press("n")
        with pytest.raises(SealedError):
            store.revealed_case(case.case_id, store.rater("ana").id, store.schema())
        await desk.press("b", "y")
        assert isinstance(desk.app.screen, RevealedScreen)
        await desk.press("escape", "escape")
        other = await desk.open("q1", "p1")
        assert "seen already" in desk.text
        assert RATIONALE not in desk.text
        path = other.path
        assert path is not None
        await desk.press("2")
        stands = store.label(store.rater("ana").id, path.item_id, store.schema())
        assert stands is not None
        assert stands.before_reveal is False


async def test_hostile_text_comes_out_as_typed(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q2")
        assert case.case is not None
        wanted = "".join(HOSTILE_SHOWN.split())
        if not any(s.text.startswith("[/x]") for s in case.path.steps):  # type: ignore[union-attr]
            await desk.press("tab")
        await desk.press("v")
        assert wanted in "".join(c for c in desk.text if c not in " \n│─╮╯┤┴┬┼◂")
        await desk.press("escape", "r")
        assert f"Is this {HOSTILE_SHOWN} shown?" in desk.flat
        await desk.press("escape", "1", "1", "b")
        shown = []
        for _ in range(6):
            shown.append(desk.flat)
            await desk.press("pagedown")
        assert any(f"{RATIONALE} [/x] [CLAIM] [$accent] [" in text for text in shown)
        for text in (desk.text, *shown):
            assert not any(ord(c) < 32 and c != "\n" for c in text)
            assert "\u202e" not in text


async def test_what_the_reveal_shows(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.open("q1")
        await desk.press("2", "2", "2", "1", "1", "1", "b", "y")
        first = desk.flat
        assert f"gold {GOLD}" in first
        assert "SC, the vote no ✗ wrong 137 of 200" in first
        assert "GSC, medoid yes ✓ right 63 of 200, score .80" in first
        assert "1st ◀ medoid" in first
        assert JUDGE in first
        assert "faithful ✗0 ≠" in first
        seen = [first]
        for _ in range(5):
            await desk.press("pagedown")
            seen.append(desk.flat)
        whole = " ".join(seen)
        assert "judge-zed says faithful and yet names a first wrong step" in whole
        assert f"{JUDGE} path-1: “{RATIONALE}" in whole
        assert "1 ███████████▎ .80 .95 .50 yes ◀ medoid" in whole
        assert "● ≥¾ ◕ ≥½ ◔ ≥¼ ○ <¼ ◌ none" in whole
        assert "0 ◕ Fact" in whole
        assert "α=0.8" in whole
        assert "τ=0.9" in whole
        assert "GRCS .70 (a coherence: 1 = all traces alike)" in whole


async def test_derived_faithfulness_is_the_stores(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        await desk.press("2", "1", "2", "1", "2", "1", "b", "y")
        screen = desk.app.screen
        assert isinstance(screen, RevealedScreen)
        sc, gsc = screen.view.sc_faithful(), screen.view.gsc_faithful()
        row = next(r for r in store.faithfulness("ana") if (r.question_id, r.pool) == ("q1", "p1"))
        assert (sc.faithful, sc.labelled) == (row.sc_faithful, row.sc_labelled)
        assert gsc.faithful == row.gsc_faithful
        assert sc.labelled == 3
        assert case.case is not None


async def test_a_change_after_the_reveal_is_a_second_row(db: Path, store: Store) -> None:
    rater = store.rater("ana")
    async with workbench(db) as desk:
        case = await desk.open("q2")
        await desk.press("1", "1")
        path = case.path
        assert path is not None
        await desk.press("b", "escape", "2")
        assert "e changes your label" in desk.text
        assert len(store.label_history(rater.id, path.item_id)) == 1
        await desk.press("b", "e", "2")
        assert "kept as a second row" in desk.text
        rows = store.label_history(rater.id, path.item_id)
        assert [(r.category, r.before_reveal) for r in rows] == [
            ("faithful", True),
            ("spurious", False),
        ]
        await desk.press("b")
        assert "spurious ²" in desk.text
        assert "set after the reveal; before it, and for κ: faithful" in desk.flat
        await desk.press("u")
        assert case.path is not None
        assert case.path.label is not None
        assert case.path.label.category == "faithful"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_steps_and_sessions_show_nothing_sealed(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("s", "enter")
        seen = []
        for keys in ("s", "1", "4", "question_mark", "end", "escape", "s", "f", "0", "X", "escape"):
            await desk.press(keys)
            seen.append(desk.text)
        await desk.press("i")
        assert not isinstance(desk.app.screen, RevealedScreen)
        seen.append(desk.text)
        await desk.press("2", "u", "ctrl+r", "ctrl+q")
        seen.append(desk.text)
        for text in seen[:3] + seen[6:]:
            for planted in PLANTED:
                assert planted not in text
        for text in seen:
            for planted in (RATIONALE, GOLD, JUDGE, "PLANTED-STRATUM", "137"):
                assert planted not in text
