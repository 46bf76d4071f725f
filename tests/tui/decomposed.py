"""A project whose traces are split into facts, with a judge's labels on their criteria."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scoring.types import Fact
from store import Store, open_store
from store.keys import CRITERIA
from store.model_records import DecomposedRecord
from store.records import NewLabel
from tests.tui.conftest import HOSTILE, NO, YES, Desk, Spec, build, trace
from tui.screens.facts import FactsScreen
from tui.screens.samples import SamplesScreen

LONG = "a fact that goes on and on " * 120
SPLIT = "split/a"
RATIONALE = "CRITERION-RATIONALE"
JUDGE = "criterion-judge"


def specs() -> list[Spec]:
    """Four traces: a plain one, one with hostile and long facts, one of 30 steps, another."""
    plain = trace(["There are 7 rows of 6 jars.", "It rains.", "So 42 jars."], YES)
    hostile = trace([HOSTILE, "calm"], NO)
    many = trace([f"Step number {i}." for i in range(30)], YES)
    other = trace(["One thing.", "Another."], NO)
    return [
        Spec(f"s{i}", f"Question {i}?", "p1", (made, trace([f"no facts {i}"], NO)), (0, 1), 0)
        for i, made in enumerate((plain, hostile, many, other))
    ]


FACTS: dict[str, tuple[list[Fact], tuple[int, ...], tuple[str, ...]]] = {
    "s0": (
        [Fact("There are 7 rows.", 0), Fact("A row has 6 jars.", 0), Fact("42 jars.", 2)],
        (1,),
        ("cats purr",),
    ),
    "s1": ([Fact(HOSTILE, 0), Fact(LONG, 1), Fact("the last", 1)], (), (HOSTILE,)),
    "s2": ([Fact(f"fact {i}", i) for i in range(30) for _ in range(i % 3)], (), ()),
    "s3": ([Fact("One thing.", 0), Fact("Another.", 1)], (), ()),
}


def split(store: Store, name: str = SPLIT, only: Sequence[str] = tuple(FACTS)) -> int:
    """Decompose the first trace of each question; the second got no facts."""
    made = store.decomposition(name, "m", "decomposer-schema/1", {"form": "schema"})
    rows = []
    for pool in store.pools():
        if pool.question_id not in only:
            continue
        first, second = store.pool_traces(pool.id)
        facts, dropped, invented = FACTS[pool.question_id]
        kept = {f.step for f in facts}
        dropped = dropped or tuple(s.index for s in first.trace.steps if s.index not in kept)
        unique = tuple(dict.fromkeys(facts))
        rows.append(DecomposedRecord(first.id, "ok", unique, dropped, invented))
        rows.append(DecomposedRecord(second.id, "refused", reason=f"it said {HOSTILE}"))
    store.save_decomposed(made.id, rows)
    return made.id


def build_split(path: Path) -> int:
    """Fill a database; return the decomposition's id. No sample is drawn."""
    build(path, specs())
    with open_store(path) as store:
        return split(store)


def judge_all(store: Store, name: str = SPLIT, no: Sequence[str] = ()) -> None:
    """Let a judge label every criterion yes, but for those of the questions in `no`."""
    with store.importing() as batch:
        for q in FACTS:
            for criterion in CRITERIA:
                batch.add_label(
                    NewLabel(
                        f"criterion:own/{q}/p1/0/{name.replace('/', '%2F')}/{criterion}",
                        "decomposition",
                        JUDGE,
                        "judge",
                        "labelled",
                        "no" if q in no else "yes",
                        rationale=RATIONALE,
                        prompt_version="criteria/1",
                    )
                )


def facts_of(desk: Desk) -> FactsScreen:
    """Return the labelling screen, which is on top."""
    assert isinstance(desk.app.screen, FactsScreen)
    return desk.app.screen


def samples_of(desk: Desk) -> SamplesScreen:
    """Return the list, which is on top."""
    assert isinstance(desk.app.screen, SamplesScreen)
    return desk.app.screen


def shown(desk: Desk) -> str:
    """Return the id of the question whose trace is on the screen."""
    view = facts_of(desk).view
    assert view is not None
    return view.question_id


def stands(store: Store, decomposition_id: int, trace_id: int, rater: str = "ana") -> list[str]:
    """Return how the three criteria of a trace stand for a rater, as the store has them."""
    view = store.decomposition_view(decomposition_id, trace_id, store.rater(rater).id)
    return [
        "-" if c.label is None else str(c.label.category or c.label.state) for c in view.criteria
    ]
