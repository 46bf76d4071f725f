"""The seal of pairs and cycles against a model of sets, over random sequences of acts.

Two models were asked about one set and one about a copy of it; two people label in any order.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pipeline.laying import lay
from store import SealedError, open_store
from store.relation_records import Contradiction
from tests.store.relation_world import FILMS, SECRET, answer, ask, judged

RATERS = ("ana", "bob")
CATEGORIES = ("edge1", "edge2", "none")
CYCLES = (((0, 1), (1, 0)), ((1, 2), (2, 1)), ((2, 3), (3, 2)), ((0, 1), (1, 2), (2, 0)))
SETS = (("m", FILMS), ("n", FILMS), ("m", replace(FILMS, name="copy")))
N = len(SETS) * len(CYCLES)

raters = st.sampled_from(RATERS)
items = st.integers(0, N - 1)


def objects_of(item: int) -> set[int]:
    return {o for edge in CYCLES[item % len(CYCLES)] for o in edge}


def told_by(item: int, shown: set[int]) -> bool:
    return any({a, b} <= shown for a, b in CYCLES[item % len(CYCLES)])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relations") / "project.db"
    with open_store(path) as store:
        for name, of in SETS:
            asking = ask(store, of, name)
            answer(store, asking, {(a, b): "before" for a in range(4) for b in range(4) if a != b})
            store.save_relation_review(
                asking, [Contradiction("time", c, 1, 0, (1,) * len(c)) for c in CYCLES]
            )
        for row in store.relation_queue(store.rater("nobody", "reference").id):
            judged(store, row.item, "edge2")
            judged(store, row.item, "edge1", "truth")
    return path


class RelationMachine(RuleBasedStateMachine):
    project: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = open_store(shutil.copy(self.project, self.folder / "a.db"))
        self.schema = self.store.schema("cycle")
        self.ids = {name: self.store.rater(name).id for name in RATERS}
        self.items = [r.item_id for r in self.store.relation_queue(self.ids["ana"])]
        assert len(self.items) == N
        self.revealed: dict[str, set[int]] = {name: set() for name in RATERS}
        self.said: dict[str, dict[int, str]] = {name: {} for name in RATERS}

    def shown(self, rater: str) -> set[int]:
        return {o for item in self.revealed[rater] for o in objects_of(item)}

    @rule(rater=raters, item=items, category=st.sampled_from(CATEGORIES))
    def label(self, rater: str, item: int, category: str) -> None:
        made = self.store.commit_label(
            self.ids[rater], self.items[item], self.schema, category=category
        )
        if self.said[rater].get(item) != category:
            before = item not in self.revealed[rater] and not told_by(item, self.shown(rater))
            assert made.before_reveal is before
        assert made.category == category
        self.said[rater][item] = category

    @rule(rater=raters, some=st.lists(items, min_size=1, max_size=3, unique=True))
    def reveal(self, rater: str, some: list[int]) -> None:
        ids = [self.items[i] for i in some]
        check = self.store.relation_reveal_check(ids, self.ids[rater], self.schema)
        after = self.shown(rater) | {o for i in some for o in objects_of(i)}
        left = [i for i in range(N) if i not in self.said[rater] and i not in some]
        newly = [i for i in left if told_by(i, after) and not told_by(i, self.shown(rater))]
        assert check.n_left == len(newly)
        assert check.ok is all(i in self.said[rater] for i in some)
        if not check.ok:
            with pytest.raises(SealedError):
                self.store.reveal_relations(ids, self.ids[rater], self.schema)
            return
        n = self.store.reveal_relations(ids, self.ids[rater], self.schema)
        assert n == len(set(some) - self.revealed[rater])
        self.revealed[rater] |= set(some)

    @rule(rater=raters, item=items)
    def look(self, rater: str, item: int) -> None:
        ident = self.items[item]
        case = self.store.relation_case(ident, self.ids[rater])
        assert (case.revealed, case.seen) == (
            item in self.revealed[rater],
            told_by(item, self.shown(rater)),
        )
        assert SECRET not in repr(case)
        assert not [o for o in FILMS.objects if str(o.truth) in repr(case)]
        if item not in self.revealed[rater]:
            with pytest.raises(SealedError):
                self.store.relation_truth(ident, self.ids[rater], self.schema)
            with pytest.raises(SealedError):
                self.store.said_on(ident, self.ids[rater], self.schema)
            return
        truth = self.store.relation_truth(ident, self.ids[rater], self.schema)
        others = {v.rater: v.category for v in truth.verdicts["cycle"]}
        assert (others["judge"], others["truth"]) == ("edge2", "edge1")

    @rule(rater=raters)
    def undo(self, rater: str) -> None:
        done = self.store.undo(self.ids[rater])
        if done is None or done.label is None:
            return
        item = self.items.index(done.item_id)
        before = item not in self.revealed[rater] and not told_by(item, self.shown(rater))
        assert done.label.before_reveal is before
        if done.label.category is None:
            self.said[rater].pop(item, None)
        else:
            self.said[rater][item] = done.label.category

    @invariant()
    def a_comparison_tells_of_what_is_revealed_alone(self) -> None:
        for rater in RATERS:
            laid = lay(self.store, "cycle", [rater, "judge"])
            said = dict(zip((p.item_id for p in laid.places), laid.categories(rater), strict=True))
            finished = len(self.said[rater]) == N
            for item, ident in enumerate(self.items):
                if not finished and item not in self.revealed[rater]:
                    assert said.get(ident) is None

    @invariant()
    def progress_is_ones_own(self) -> None:
        for rater in RATERS:
            progress = self.store.progress(self.ids[rater], "cycle")
            assert (progress.n_items, progress.n_decided) == (N, len(self.said[rater]))

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)


def test_the_seal_holds_whatever_is_done_in_which_order(project: Path) -> None:
    RelationMachine.project = project
    machine: Any = RelationMachine.TestCase
    machine.settings = settings(
        max_examples=12,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    machine("runTest").runTest()
