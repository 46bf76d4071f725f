"""The first screen stands while the store is still being opened, and nothing heavy comes first."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from store import Store, StoreError, open_store
from tests.tui.conftest import Desk
from tests.tui.running import workbench
from tui.app import MedoidApp
from tui.opening import LaterStore, open_session
from tui.screens.case import CaseScreen
from tui.screens.overview import OverviewScreen
from tui.session import Session

FIGURES = "own · p1"


@pytest.fixture
def known(db: Path) -> Path:
    """Return the project, with ana among its raters: there is a first look for her."""
    with open_store(db) as store:
        store.rater("ana")
    return db


class Door:
    """Keeps the store from being opened until it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.ajar = threading.Event(), threading.Event()
        self.problem: Exception | None = None
        monkeypatch.setattr("tui.app.open_session", self._open)

    def _open(self, *args: Any) -> Session:
        self.asked.set()
        assert self.ajar.wait(20)
        if self.problem is not None:
            raise self.problem
        return open_session(*args)


async def first_screen(app: MedoidApp, pilot: Any) -> Desk:
    """Wait for the first screen; not for the workers, which wait for the store."""
    desk = Desk(app, pilot)
    while not isinstance(app.screen, OverviewScreen) or app.screen.overview is None:
        await pilot.pause(0.01)
    await pilot.pause(0.05)
    return desk


async def test_figures_stand_before_the_store_is_open(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Door(monkeypatch)
    app = MedoidApp(known, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        desk = await first_screen(app, pilot)
        before = desk.text
        assert FIGURES in before
        assert "rater: ana" in before
        assert door.asked.is_set()
        assert isinstance(app.session.store, LaterStore)
        door.ajar.set()
        await desk.settle()
        assert isinstance(app.session.store, Store)
        after = desk.text
        # All but the line that says where one goes on: that takes the store.
        assert before.splitlines()[:-3] == after.splitlines()[:-3]


async def test_a_key_that_needs_the_store_waits_for_it(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Door(monkeypatch)
    app = MedoidApp(known, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        desk = await first_screen(app, pilot)
        overview = app.screen
        app.simulate_key("enter")
        await pilot.pause(0.05)
        assert app.screen is overview
        door.ajar.set()
        await desk.settle()
        await desk.settle()
        assert isinstance(app.screen, CaseScreen)
        await desk.press("1")
        with open_store(known) as store:
            assert [r.n_labelled for r in store.raters() if r.name == "ana"] == [1]


async def test_a_store_that_cannot_be_opened_ends_the_app(
    known: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    door = Door(monkeypatch)
    door.problem = StoreError("a.db is read-only: make it writable, or open a copy")
    app = MedoidApp(known, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        await first_screen(app, pilot)
        door.ajar.set()
        while app.return_code is None:
            await pilot.pause(0.01)
    assert app.return_code == 2
    told = "medoid: a.db is read-only: make it writable, or open a copy\n"
    assert told in "".join(capsys.readouterr())


async def test_leaving_before_the_store_is_open_closes_it(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    monkeypatch.setattr(Store, "close", lambda self: closed.append(self.url))
    door = Door(monkeypatch)
    app = MedoidApp(known, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        await first_screen(app, pilot)
        app.exit()
        door.ajar.set()
    for _ in range(200):
        if closed:
            break
        threading.Event().wait(0.01)
    assert closed == [f"sqlite:///{known}"]


async def test_a_new_rater_is_made_by_the_store(db: Path) -> None:
    async with workbench(db, rater="new") as desk:
        assert FIGURES in desk.text
        assert isinstance(desk.app.session.store, Store)
        assert desk.app.session.rater.name == "new"


def test_a_store_that_is_never_opened_keeps_nobody_waiting(db: Path) -> None:
    later = LaterStore(db)
    later.close()
    with pytest.raises(RuntimeError, match="left before it was open"):
        later.schemas()


def test_all_who_wait_hear_why_it_cannot_be_opened(db: Path) -> None:
    later = LaterStore(db)
    heard: list[BaseException] = []

    def ask() -> None:
        try:
            later.schemas()
        except StoreError as problem:
            heard.append(problem)

    waiting = [threading.Thread(target=ask) for _ in range(3)]
    for thread in waiting:
        thread.start()
    problem = StoreError("no")

    def refuse() -> Session:
        raise problem

    with pytest.raises(StoreError, match="no"):
        later.open(refuse)
    for thread in waiting:
        thread.join()
    assert heard == [problem] * 3


# --- what is imported ------------------------------------------------------------------------

NEVER = ("alembic", "mako", "sklearn", "networkx", "scipy", "numpy", "openai", "torch", "pandas")
LATER = ("sqlalchemy", "sqlmodel", "pydantic", "scoring.parsing", "markdown_it")


def loaded(code: str, names: tuple[str, ...], **env: str) -> list[str]:
    """Run code in a process of its own; return which modules it loaded."""
    code += f"\nimport sys; print(*(m for m in {names!r} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split() if done.stdout.strip() else []


def test_the_workbench_is_imported_without_what_comes_later() -> None:
    code = "from tui.commands.workbench import app_class; app_class()"
    assert loaded(code, NEVER + LATER) == []


WORK = """
import asyncio, contextlib
from textual.worker import WorkerCancelled
from tui.app import MedoidApp
async def work():
    app = MedoidApp({db!r}, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        async def rest():
            while any(not w.is_finished for w in app.workers):
                with contextlib.suppress(WorkerCancelled):
                    await app.workers.wait_for_complete()
        await rest()
        for key in {keys!r}:
            await pilot.press(key)
            await rest()
        assert app.screen.NAME == {screen!r}, app.screen
asyncio.run(work())
"""


@pytest.mark.parametrize(("keys", "screen"), [((), "overview"), (("enter", "1", "u"), "case")])
def test_the_heavy_libraries_are_never_needed_to_label(
    keys: tuple[str, ...], screen: str, known: Path
) -> None:
    code = WORK.format(db=str(known), keys=keys, screen=screen)
    assert loaded(code, (*NEVER, "sqlalchemy")) == ["sqlalchemy"]


def test_the_garbage_collector_is_left_as_it_was() -> None:
    code = (
        "import gc; from tui.commands.workbench import app_class; app_class()\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
