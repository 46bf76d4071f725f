"""A small project built through the store's own API, and helpers to drive the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from scoring.types import NormalForm, ParseIssue, Step, Trace
from store import NewCase, Store, open_store
from store.records import (
    LabelRecord,
    NewLabel,
    NewQuestion,
    NewTrace,
    PoolScore,
    TraceScoreRecord,
)
from tui.app import MedoidApp
from tui.caselist import CaseList, Query
from tui.screens.case import CaseScreen

YES: NormalForm = ("boolean", True)
NO: NormalForm = ("boolean", False)
HOSTILE = "[/x] [CLAIM] [$accent] [ \x1b[31mred \x1b]0;t\x07 \u202eback\u200b \ud800 end"
HOSTILE_SHOWN = (
    r"[/x] [CLAIM] [$accent] [ \x1b[31mred \x1b]0;t\x07 <U+202E>back<U+200B> <U+D800> end"
)
RATIONALE = "PLANTED-RATIONALE"
GOLD = "plantedgold"
JUDGE = "judge-zed"
PLANTED = (RATIONALE, GOLD, JUDGE, "PLANTED-STRATUM", "SC", "GSC", "gold", "vote", "◀", "137", "◕")


def trace(
    steps: Sequence[str], answer: NormalForm | None, issues: Sequence[ParseIssue] = ()
) -> Trace:
    """Make a trace in which each step but the first uses the one before."""
    built = tuple(
        Step(i, text, (i - 1,) if i else (), annotated=i != 2) for i, text in enumerate(steps)
    )
    told = None if answer is None else ("yes" if answer[1] is True else "no")
    return Trace(built, told, answer, tuple(issues))


@dataclass(frozen=True)
class Spec:
    """A pool of one question: its traces, which become a case, and which is the medoid."""

    question: str
    text: str
    pool: str
    traces: tuple[Trace, ...]
    chosen: tuple[int, ...]
    medoid: int


def specs() -> list[Spec]:
    """Return the project's pools."""
    plain = [
        trace([f"Fact {i} of the mascot.", "It is a dog.", "Dogs eat."], YES if i % 2 else NO)
        for i in range(6)
    ]
    long = "A step that goes on and on about nothing in particular " * 14
    issue = ParseIssue("reference_self", "step 1 refers to itself; dropped", 1)
    agreement = [trace([f"Twelve is {i} more.", "So yes."], YES) for i in range(3)]
    return [
        Spec("q1", "Would the mascot eat kibble?", "p1", tuple(plain), tuple(range(6)), 1),
        Spec(
            "q2",
            f"Is this {HOSTILE} shown?",
            "p1",
            (trace([HOSTILE, "plain"], NO, [issue]), trace(["calm", "clear"], YES)),
            (0, 1),
            1,
        ),
        Spec("q3", "Do they agree?", "p1", tuple(agreement), (0, 1), 0),
        Spec(
            "q4",
            "A very long question about many things, " * 12,
            "p1",
            (trace([long, long, "end"], NO), trace(["short"], YES)),
            (0, 1),
            1,
        ),
        Spec("q1", "Would the mascot eat kibble?", "p2", tuple(plain[:2]), (0, 1), 1),
    ]


def build(path: Path, what: Sequence[Spec] | None = None) -> None:
    """Fill a database."""
    all_specs = specs() if what is None else what
    with open_store(path) as store:
        with store.importing() as batch:
            for spec in all_specs:
                question = NewQuestion(
                    "own", spec.question, spec.text, GOLD, ("text", GOLD), "boolean"
                )
                for i, made in enumerate(spec.traces):
                    source = {"steps": [s.text for s in made.steps], "answer": made.answer_text}
                    batch.add_trace(
                        NewTrace(
                            question, spec.pool, "m", None, str(i), "steps", source, made, True, "t"
                        )
                    )
        embedder = store.embedder("minilm", "sha256:0123456789", 3)
        parameters = {"beta": 0.4, "gamma": 5.0, "alpha": 0.8, "tau": 0.9}
        scoring = store.scoring(embedder, parameters, "0.1.0")
        cases = []
        for pool in store.pools():
            spec = next(
                s for s in all_specs if (s.question, s.pool) == (pool.question_id, pool.pool)
            )
            records = store.pool_traces(pool.id)
            store.save_pool_scores(scoring.id, [_score(pool.id, spec, records)])
            items = tuple((records[i].key, 1.0) for i in spec.chosen)
            cases.append(NewCase(pool.id, "PLANTED-STRATUM", 1.0, items))
        store.make_cases(scoring.id, {"seed": 1}, cases)
        with store.importing() as batch:
            for case in cases:
                for n, (key, _) in enumerate(case.items):
                    batch.add_label(
                        NewLabel(
                            key,
                            "path",
                            JUDGE,
                            "judge",
                            "labelled",
                            "faithful",
                            first_wrong_step=0 if n == 0 else None,
                            rationale=f"{RATIONALE} {HOSTILE}",
                            prompt_version="path-1",
                        )
                    )


def _score(pool_id: int, spec: Spec, records: Sequence[Any]) -> PoolScore:
    ids = [r.id for r in records]
    order = [spec.medoid, *(i for i in range(len(ids)) if i != spec.medoid)]
    ranked = tuple(
        TraceScoreRecord(
            ids[i],
            rank,
            0.9 - 0.1 * rank,
            1.0,
            1.0 - 0.05 * rank,
            0.5,
            tuple(0.5 for _ in spec.traces[i].steps),
        )
        for rank, i in enumerate(order, start=1)
    )
    answers = {t.answer for t in spec.traces}
    sc: NormalForm = NO if len(answers) > 1 else YES
    return PoolScore(
        pool_id=pool_id,
        input_hash="sha256:0",
        n_traces=len(ids),
        n_used=len(ids),
        excluded={},
        sc_answer=sc,
        sc_counts=((NO, 137), (YES, 63)) if len(answers) > 1 else ((YES, 3),),
        sc_tied=False,
        gsc_answer=YES,
        medoid_trace_id=ids[spec.medoid],
        disagree=len(answers) > 1,
        sc_correct=False,
        gsc_correct=True,
        grcs=0.7,
        divergence=0.43,
        dispersion=0.1,
        entropy=0.5,
        flags=(),
        traces=ranked,
    )


@pytest.fixture(scope="session", autouse=True)
def _short_naps() -> Iterator[None]:
    """Look every 2 ms, not every 20, whether the app is idle; what is waited for is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual._wait.SLEEP_GRANULARITY", 0.002)
        patch.setattr("textual._wait.SLEEP_IDLE", 0.0005)
        patch.setattr("tui.screens.sitting.GRACE", 0.0)
        patch.setattr("tui.screens.casesaves.GRACE", 0.0)
        yield


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a built database, never to be written."""
    path = tmp_path_factory.mktemp("tui") / "template.db"
    build(path)
    return path


@pytest.fixture
def db(template: Path, tmp_path: Path) -> Path:
    """Return a fresh copy of the built database."""
    path = tmp_path / "audit.db"
    path.write_bytes(template.read_bytes())
    return path


@pytest.fixture
def store(db: Path) -> Iterator[Store]:
    """Open the database beside the app, to look at its rows."""
    with open_store(db) as opened:
        yield opened


@pytest.fixture
def long_db(tmp_path: Path) -> Path:
    """Return a project of one case, whose two paths have fourteen steps."""
    path = tmp_path / "long.db"
    steps = [f"Step number {i}." for i in range(14)]
    made = tuple(trace([*steps[:-1], f"End {i}."], (NO, YES)[i]) for i in range(2))
    build(path, [Spec("long", "Is it long?", "p1", made, (0, 1), 1)])
    return path


@pytest.fixture
def store_of(long_db: Path) -> Iterator[Store]:
    """Open the long project beside the app."""
    with open_store(long_db) as opened:
        yield opened


@pytest.fixture(params=["80x24", "120x40", "NO_COLOR"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Run a test at both sizes, and without colour."""
    if request.param == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
        return 80, 24
    width, height = request.param.split("x")
    return int(width), int(height)


@dataclass
class Desk:
    """A running workbench with what tests ask of it."""

    app: MedoidApp
    pilot: Pilot[None]

    async def settle(self) -> None:
        """Wait until everything that was started has been drawn, however slow the machine.

        A pause ends with a layout, and only the next one waits for what that layout set off; so
        it takes two pauses in a row after which nothing is left.
        """
        quiet = 0
        while quiet < 2:
            await self.pilot.pause()
            if any(not worker.is_finished for worker in self.app.workers):
                quiet = 0
                with suppress(WorkerCancelled):  # another one was started in its place
                    await self.app.workers.wait_for_complete()
            else:
                quiet = 0 if self._pending() else quiet + 1

    def _pending(self) -> bool:
        """Whether a message waits, or something that is to be called once the screen is drawn."""
        screens = self.app.screen_stack
        pumps = [self.app, *screens, *self.app.screen.walk_children()]
        return any(s._callbacks for s in screens) or any(p.message_queue_size for p in pumps)

    async def press(self, *keys: str) -> None:
        """Press keys one by one."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    @property
    def text(self) -> str:
        """Everything on the screen, a line a row."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def flat(self) -> str:
        """The screen's text with line ends and runs of blanks as one blank."""
        return " ".join(self.text.split())

    @property
    def case(self) -> CaseScreen:
        """The case screen on the stack."""
        return next(s for s in reversed(self.app.screen_stack) if isinstance(s, CaseScreen))

    def case_id(self, question: str, pool: str = "p1") -> int:
        """Return the id of a case by question and pool."""
        session = self.app.session
        page = session.store.cases(session.rater.id)
        return next(r.case_id for r in page.rows if (r.question_id, r.pool) == (question, pool))

    async def open(self, question: str, pool: str = "p1") -> CaseScreen:
        """Open a case in the list of all cases."""
        session = self.app.session
        cases = CaseList(session.store, session.rater.id, Query(show="all"))
        cases.take(cases.read())
        await self.app.push_screen(CaseScreen(session, cases, self.case_id(question, pool)))
        await self.settle()
        return self.case


def label_of(store: Store, rater: str, item_id: int) -> LabelRecord | None:
    """Return how an item stands."""
    return store.label(store.rater(rater).id, item_id, store.schema())


Opener = Callable[..., Any]
