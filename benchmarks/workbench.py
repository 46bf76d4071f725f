"""What the workbench makes a person wait for, on a project of 100,000 items.

    python benchmarks/workbench.py [--cases 16700] [--labels 20000] [--runs 7] [--db FILE]

Two parts, each in processes of its own with bytecode compiled, as after an installation:
- opening: from the start of the process to the first painted overview with its figures;
- keys: from a key to the painted screen that shows what it asked for.

Wall-clock time is what a person waits; it grows on a busy machine. CPU time stands beside it: that
of the whole process, and, for keys, that of the thread which draws. `held` is the longest time in
which that thread answered nothing: while a query runs elsewhere, other keys work, and what was on
the screen stays. So a key is `over` its limit by the drawing thread's own time; where the answer
takes longer because of work `elsewhere`, or of a busy machine, that is said. The limits are the
project's own; `loop` says how fast this machine runs plain Python.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
STYLES = str(ROOT / "tui" / "styles" / "medoid.tcss")
OPEN_LIMIT = 1.0
"""Seconds from process start to the painted overview."""
KEY_LIMIT = 0.05
"""Seconds in which a key is answered, and for which the drawing thread may be held."""
HEAVY = ("alembic", "mako", "sklearn", "networkx", "scipy", "numpy", "openai", "torch")
PATIENCE = 60.0
BEAT = 0.01
"""Seconds between two looks whether the drawing thread answers; so exact `held` is."""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one key."""

    wall: float
    ui: float
    process: float
    held: float


# --- opening: runs in a process of its own ---------------------------------------------------


def open_once(db: str, size: tuple[int, int]) -> None:
    """Open the workbench as the command does, print the moments as JSON, leave."""
    import tui.cli  # noqa: F401 - what `medoid` imports before it knows the command

    moments = {"command": _now()}
    from store.first_look import look_ahead
    from tui.commands.common import need_database
    from tui.commands.workbench import app_class

    need_database(db)
    look = look_ahead(db, "ana")
    app_type = app_class()
    from tui.opening import LaterStore
    from tui.screens.overview import OverviewScreen

    moments["imports"] = _now()

    class Watched(app_type):  # type: ignore[misc, valid-type]
        CSS_PATH = STYLES

        def _display(self, screen: Any, renderable: Any) -> None:
            super()._display(screen, renderable)
            if isinstance(screen, OverviewScreen) and screen.overview is not None:
                moments.setdefault("painted", _now())
                painted.set()

    painted = asyncio.Event()

    async def run() -> None:
        app = Watched(db, rater="ana", look=look)
        async with app.run_test(size=size):
            await asyncio.wait_for(painted.wait(), PATIENCE)
            await _wait_for(lambda: not isinstance(app.session.store, LaterStore))
            moments["ready"] = _now()

    asyncio.run(run())
    loaded = [m for m in HEAVY if m in sys.modules]
    print(json.dumps({"moments": moments, "loaded": loaded}))


def _now() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


def measure_opening(db: Path, size: tuple[int, int], runs: int) -> None:
    """Open the workbench in fresh processes and print medians."""
    found: list[dict[str, tuple[float, float]]] = []
    loaded: list[str] = []
    for run in range(runs + 1):
        start = time.monotonic()
        done = _child("open", db, size, 1)
        if run:  # the first one compiles bytecode and warms the file cache
            loaded = done["loaded"]
            found.append({k: (w - start, c) for k, (w, c) in done["moments"].items()})
    print(f"opening, {runs} runs, medians from the start of the process:")
    for name, what in (
        ("command", "command line read"),
        ("imports", "workbench imported"),
        ("painted", "overview painted"),
        ("ready", "store open"),
    ):
        wall = median(f[name][0] for f in found)
        cpu = median(f[name][1] for f in found)
        limit = f"   limit {OPEN_LIMIT:g} s" if name == "painted" else ""
        print(f"  {what:22}{wall:7.2f} s wall{cpu:7.2f} s CPU{limit}")
    print(f"  heavy modules loaded: {', '.join(loaded) or 'none'}")


# --- keys: runs in a process of its own ------------------------------------------------------


class Desk:
    """A running workbench that tells when a key's answer was painted."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self._wanted: Callable[[], bool] | None = None
        self._painted: asyncio.Future[None] | None = None
        self._beat = time.perf_counter()
        self._held = 0.0

    def displayed(self) -> None:
        """Note a painted frame; called by the app."""
        done, wanted = self._painted, self._wanted
        if done is not None and wanted is not None and not done.done() and wanted():
            done.set_result(None)

    async def beat(self) -> None:
        """Notice how long the loop answers nothing."""
        while True:
            now = time.perf_counter()
            self._held = max(self._held, now - self._beat)
            self._beat = now
            await asyncio.sleep(BEAT)

    async def until(self, act: Callable[[], object], wanted: Callable[[], bool]) -> Took:
        """Do something and wait for the frame in which `wanted` holds."""
        await self.rest()
        self._wanted, self._painted = wanted, asyncio.get_running_loop().create_future()
        self._held, self._beat = 0.0, time.perf_counter()
        wall, ui, process = time.perf_counter(), time.thread_time(), time.process_time()
        act()
        await asyncio.wait_for(self._painted, PATIENCE)
        now = time.perf_counter()
        return Took(
            now - wall,
            time.thread_time() - ui,
            time.process_time() - process,
            max(self._held, now - self._beat),
        )

    async def key(self, key: str, wanted: Callable[[], bool]) -> Took:
        """Press a key and wait for its answer."""
        from textual import events

        character = key if len(key) == 1 else None
        return await self.until(lambda: self.app.post_message(events.Key(key, character)), wanted)

    async def rest(self) -> None:
        """Wait until nothing is going on any more."""
        await asyncio.sleep(0.05)
        while any(not w.is_finished for w in self.app.workers):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)


def keys(db: str, size: tuple[int, int], runs: int) -> None:
    """Press keys, print what each took as JSON."""
    from tui.app import MedoidApp

    class Watched(MedoidApp):
        CSS_PATH = STYLES

        def _display(self, screen: Any, renderable: Any) -> None:
            super()._display(screen, renderable)
            desk.displayed()

    app = Watched(db, rater="ana")
    desk = Desk(app)
    took: dict[str, list[Took]] = {}

    async def run() -> None:
        async with app.run_test(size=size):
            beat = asyncio.create_task(desk.beat())
            await _wait_for(lambda: getattr(app.screen, "overview", None) is not None)
            for _ in range(runs):
                await _round(app, desk, took)
            beat.cancel()

    asyncio.run(run())
    print(json.dumps({k: [asdict(t) for t in v] for k, v in took.items()}))


async def _wait_for(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


async def _round(app: Any, desk: Desk, took: dict[str, list[Took]]) -> None:
    """Walk once from the overview through the list into cases and back."""

    async def note(name: str, key: str, wanted: Callable[[], bool]) -> None:
        took.setdefault(name, []).append(await desk.key(key, wanted))

    overview = app.screen
    before = overview.overview
    await note("overview: reload", "g", lambda: overview.overview is not before)
    await note("overview: all cases", "c", lambda: _rows(app) > 0)
    await _list(app, desk, note)
    await note("list: back", "escape", lambda: app.screen is overview)
    await note("overview: start", "enter", lambda: _case(app) is not None)
    await _cases(app, note)
    await desk.key("escape", lambda: _rows(app) > 0)
    await desk.key("escape", lambda: app.screen is overview)


Note = Callable[[str, str, Callable[[], bool]], Awaitable[None]]


def _rows(app: Any) -> int:
    return len(app.screen.cases.rows) if app.screen.NAME == "queue" else 0


def _case(app: Any) -> Any:
    return app.screen.case if app.screen.NAME == "case" else None


async def _list(app: Any, desk: Desk, note: Note) -> None:
    screen = app.screen
    cases = screen.cases
    await note("list: down", "j", lambda: screen.lines().cursor == 1)
    await note("list: page down", "pagedown", lambda: screen.lines().cursor > 1)
    await note("list: last line", "end", lambda: screen.lines().cursor == len(cases.rows) - 1)
    await note("list: next 200", "j", lambda: cases.snapshot.number == 1)
    for show in ("done", "flagged", "unlabelled", "all"):
        await note(f"list: filter {show}", "f", lambda s=show: cases.snapshot.query.show == s)
    for sort in ("question", "random"):
        await note(f"list: sort {sort}", "o", lambda s=sort: cases.snapshot.query.sort == s)
    for text in ("apples trains", "no such text", ""):
        await desk.key("slash", lambda: screen.query_one("#search").display)
        screen.query_one("#search").value = text
        name = f"list: search {text!r}" if text else "list: end of search"
        await note(name, "enter", lambda t=text: cases.snapshot.query.search == t)
    first = cases.row
    await note("list: open a case", "enter", lambda: _case(app) is not None)
    await desk.key("escape", lambda: app.screen is screen and cases.row == first)


async def _cases(app: Any, note: Note) -> None:
    screen = app.screen
    await note("case: next step", "j", lambda: screen.lines().cursor == 1)
    await note("case: other side", "tab", lambda: screen.place.side == 1)
    await note("case: other side", "tab", lambda: screen.place.side == 0)
    left = screen.case.n_left
    await note("case: label", "1", lambda: screen.case.n_left == left - 1)
    await note("case: undo", "u", lambda: screen.case.n_left == left)
    await note("case: redo", "ctrl+r", lambda: screen.case.n_left == left - 1)
    await note("case: undo", "u", lambda: screen.case.n_left == left)
    await note("case: steps", "s", lambda: screen.stepping)
    await note("case: back to the path", "s", lambda: not screen.stepping)
    here = screen.case_id
    await note("case: next case", "n", lambda: screen.case_id != here)
    await note("case: previous case", "p", lambda: screen.case_id == here)


def measure_keys(db: Path, size: tuple[int, int], runs: int) -> None:
    """Press keys in a fresh process and print medians."""
    found = _child("keys", db, size, runs)
    print(
        f"keys, {runs} rounds, ms: median (first, worst) to the painted answer; medians of the rest"
    )
    print(f"  {'':24}{'wall':>8}{'first':>8}{'worst':>8}{'UI CPU':>9}{'all CPU':>9}{'held':>7}")
    for name, rows in found.items():
        took = [Took(**r) for r in rows]
        walls = [t.wall for t in took]
        mid = [median(getattr(t, f) for t in took) for f in ("wall", "ui", "process", "held")]
        wall, ui, process, held = (1e3 * x for x in mid)
        over = "  over" if mid[1] > KEY_LIMIT else "  elsewhere" if mid[0] > KEY_LIMIT else ""
        print(
            f"  {name:24}{wall:8.1f}{1e3 * walls[0]:8.1f}{1e3 * max(walls):8.1f}"
            f"{ui:9.1f}{process:9.1f}{held:7.1f}{over}"
        )


def _child(what: str, db: Path, size: tuple[int, int], runs: int) -> Any:
    """Run a part in a process of its own, with bytecode kept between runs."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(db.parent / "bytecode")}
    command = [sys.executable, __file__, "--part", what, "--db", str(db), "--runs", str(runs)]
    command += ["--width", str(size[0]), "--height", str(size[1])]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Build, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=16_700)
    parser.add_argument("--labels", type=int, default=20_000, help="labels that ana holds")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--width", type=int, default=80)
    parser.add_argument("--height", type=int, default=24)
    parser.add_argument(
        "--db", type=Path, help="keep the project here, and use it when it is there"
    )
    parser.add_argument("--part", choices=["open", "keys"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    size = (args.width, args.height)
    if args.part == "open":
        open_once(str(args.db), size)
    elif args.part == "keys":
        keys(str(args.db), size, args.runs)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(args.db or Path(folder) / "bench.db", args, size)


def measure(db: Path, args: argparse.Namespace, size: tuple[int, int]) -> None:
    """Build the project where it is not there, and measure both parts."""
    if not db.exists():
        from workbench_data import Size, build

        start = time.perf_counter()
        build(db, Size(args.cases, args.labels))
        took = time.perf_counter() - start
        print(f"built {args.cases} cases, {db.stat().st_size / 1e6:.0f} MB in {took:.0f} s")
    start = time.process_time()
    for _ in range(10_000_000):
        pass
    print(f"loop: {time.process_time() - start:.2f} s CPU for 10 million turns")
    measure_opening(db, size, args.runs)
    measure_keys(db, size, args.runs)


if __name__ == "__main__":
    main()
