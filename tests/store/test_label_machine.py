"""The label store against a model of dicts and stacks, over random sequences of acts."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from store import SealedError, Store, open_store
from store.records import LabelRecord, LabelState
from tests.store.world import add_labels, item_ids, new_label, small_project

RATERS = ("ana", "bob")
CHOICES: list[tuple[LabelState, str | None, int | None]] = [
    ("labelled", "faithful", None),
    ("labelled", "spurious", None),
    ("labelled", "spurious", 1),
    ("unsure", None, None),
    ("skipped", None, None),
]
N_CASES, N_PATHS = 2, 4
raters = st.sampled_from(RATERS)
places = st.integers(0, N_CASES * N_PATHS - 1)


@dataclass(frozen=True)
class Content:
    state: str = "open"
    category: str | None = None
    step: int | None = None
    flagged: bool = False
    note: str | None = None

    @classmethod
    def of(cls, label: LabelRecord) -> Content:
        return cls(label.state, label.category, label.first_wrong_step, label.flagged, label.note)


@dataclass
class Act:
    item: int
    before: Content
    after: Content


@dataclass
class Model:
    """One rater: what stands, what was saved per item, what can be undone and redone."""

    stands: dict[int, Content] = field(default_factory=dict)
    saved: dict[int, list[Content]] = field(default_factory=dict)
    before_reveal: dict[int, list[bool | None]] = field(default_factory=dict)
    counted: dict[int, Content] = field(default_factory=dict)
    done: list[Act] = field(default_factory=list)
    undone: list[Act] = field(default_factory=list)
    revealed: set[int] = field(default_factory=set)

    def put(self, item: int, content: Content, *, imported: bool = False) -> None:
        before_reveal = None if imported else item // N_PATHS not in self.revealed
        self.stands[item] = content
        self.saved.setdefault(item, []).append(content)
        self.before_reveal.setdefault(item, []).append(before_reveal)
        if before_reveal is not False:
            self.counted[item] = content

    def act(self, item: int, content: Content) -> None:
        before = self.stands.get(item)
        if content != before:
            self.done.append(Act(item, before or Content(), content))
            self.undone.clear()
            self.put(item, content)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("machine") / "project.db"
    with open_store(path) as store:
        small_project(store, N_CASES)
    return path


class LabelMachine(RuleBasedStateMachine):
    project: Path
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.db = Path(shutil.copy(self.project, self.folder / "a.db"))
        self.open()
        self.ids = {name: self.store.rater(name).id for name in RATERS}
        self.cases = [r.case_id for r in self.store.cases(0).rows]
        self.items = [i for c in self.cases for i in item_ids(self.store, c, self.ids["ana"])]
        keys = {
            p.item_id: p.item
            for c in self.cases
            for p in self.store.case(c, self.ids["ana"], self.path).paths
        }
        self.keys = [keys[i] for i in self.items]
        self.models = {name: Model() for name in RATERS}
        self.touched: set[tuple[str, int]] = set()
        self.n_imports = 0

    def open(self) -> None:
        self.store = open_store(self.db)
        self.path = self.store.schema()

    def check_saved(self, name: str, record: LabelRecord, expected: Content, item: int) -> None:
        self.touched.add((name, item))
        assert (record.item_id, Content.of(record)) == (self.items[item], expected)

    @rule(name=raters, item=places, choice=st.sampled_from(CHOICES))
    def label(
        self, name: str, item: int, choice: tuple[LabelState, str | None, int | None]
    ) -> None:
        model = self.models[name]
        state, category, step = choice
        stood = model.stands.get(item, Content())
        expected = replace(stood, state=state, category=category, step=step)
        record = self.store.commit_label(
            self.ids[name],
            self.items[item],
            self.path,
            state=state,
            category=category,
            first_wrong_step=step,
        )
        model.act(item, expected)
        self.check_saved(name, record, expected, item)

    @rule(name=raters, item=places, flagged=st.booleans())
    def flag(self, name: str, item: int, flagged: bool) -> None:
        expected = replace(self.models[name].stands.get(item, Content()), flagged=flagged)
        self.annotate(name, item, expected, flagged=flagged)

    @rule(name=raters, item=places, note=st.text(max_size=3))
    def write_note(self, name: str, item: int, note: str) -> None:
        expected = replace(self.models[name].stands.get(item, Content()), note=note or None)
        self.annotate(name, item, expected, note=note)

    def annotate(self, name: str, item: int, expected: Content, **change: Any) -> None:
        record = self.store.annotate(self.ids[name], self.items[item], self.path, **change)
        self.models[name].act(item, expected)
        self.check_saved(name, record, expected, item)

    @rule(name=raters)
    def undo(self, name: str) -> None:
        model, result = self.models[name], self.store.undo(self.ids[name])
        if not model.done:
            assert result is None
            return
        act = model.done.pop()
        model.undone.append(act)
        model.put(act.item, act.before)
        assert result is not None
        assert result.label is not None
        self.check_saved(name, result.label, act.before, act.item)

    @rule(name=raters)
    def redo(self, name: str) -> None:
        model, result = self.models[name], self.store.redo(self.ids[name])
        if not model.undone:
            assert result is None
            return
        act = model.undone.pop()
        model.done.append(act)
        model.put(act.item, act.after)
        assert result is not None
        assert result.label is not None
        self.check_saved(name, result.label, act.after, act.item)

    @rule(name=raters, item=places, category=st.sampled_from(["faithful", "spurious"]))
    def import_label(self, name: str, item: int, category: str) -> None:
        self.n_imports += 1
        model = self.models[name]
        outcome = add_labels(
            self.store,
            [
                new_label(
                    self.keys[item],
                    name,
                    category,
                    rater_kind="human",
                    created_at=f"2026-01-01T00:00:00.{self.n_imports:06}+00:00",
                )
            ],
        )
        assert outcome == ["changed" if item in model.stands else "added"]
        self.touched.add((name, item))
        model.put(item, Content("labelled", category), imported=True)
        model.done = [a for a in model.done if a.item != item]
        model.undone = [a for a in model.undone if a.item != item]

    @rule(name=raters, case=st.integers(0, N_CASES - 1))
    def reveal(self, name: str, case: int) -> None:
        model = self.models[name]
        paths = range(case * N_PATHS, (case + 1) * N_PATHS)
        if all(model.stands.get(i, Content()).state != "open" for i in paths):
            self.store.reveal(self.cases[case], self.ids[name], self.path)
            model.revealed.add(case)
        else:
            with pytest.raises(SealedError):
                self.store.reveal(self.cases[case], self.ids[name], self.path)

    @precondition(lambda self: any(m.saved for m in self.models.values()))
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.open()
        self.check_everything()

    @invariant()
    def what_was_saved_is_there_in_order_once(self) -> None:
        for name, item in self.touched:
            self.check_history(name, item)
        self.touched.clear()

    def check_history(self, name: str, item: int) -> None:
        model = self.models[name]
        history = self.store.label_history(self.ids[name], self.items[item])
        assert [Content.of(r) for r in history] == model.saved.get(item, [])
        assert [r.before_reveal for r in history] == model.before_reveal.get(item, [])
        label = self.store.label(self.ids[name], self.items[item], self.path)
        assert label == (history[-1] if history else None)
        assert item not in model.stands or (label and Content.of(label) == model.stands[item])

    def check_everything(self) -> None:
        """Check every item of both raters, and that agreement reads the last sealed label."""
        for name in RATERS:
            for item in range(len(self.items)):
                self.check_history(name, item)
        found = {p.item: (p.a, p.b) for p in self.store.label_pairs("path", *RATERS)}
        expected = {}
        for item, key in enumerate(self.keys):
            pair = [self.models[n].counted.get(item, Content()) for n in RATERS]
            if any(c.state != "open" for c in pair):
                expected[key] = (pair[0].category, pair[1].category)
        assert found == expected

    def teardown(self) -> None:
        self.check_everything()
        self.store.close()
        shutil.rmtree(self.folder)


def test_the_store_does_what_the_model_does(project: Path) -> None:
    LabelMachine.project = project
    machine: Any = LabelMachine.TestCase
    machine.settings = settings(
        max_examples=20,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    machine("runTest").runTest()
