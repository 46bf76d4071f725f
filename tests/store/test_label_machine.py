"""The label store against a model of dicts and stacks, over random sequences of acts.

Three schemas: paths, the errors of the same paths (several may hold), and steps.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from store import SealedError, Store, open_store
from store.records import Category, LabelRecord, LabelState, SchemaSpec
from tests.store.world import add_labels, item_ids, new_label, small_project

RATERS = ("ana", "bob")
ERRORS = SchemaSpec(
    "errors",
    "path",
    "Which errors?",
    "Several may hold.",
    (
        Category("1", "sum"),
        Category("2", "logic"),
        Category("3", "none", excludes_others=True),
        Category("4", "unsure", "unsure"),
    ),
    multi=True,
)


@dataclass(frozen=True)
class Choice:
    """What is said, and how it is kept: state, category, categories, step."""

    state: LabelState
    category: str | None = None
    step: int | None = None
    categories: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        said = {"categories": self.asked} if self.asked else {"category": self.category}
        return {"state": self.state, "first_wrong_step": self.step, **said}


COMMON = [Choice("unsure"), Choice("skipped")]
CHOICES: dict[str, list[Choice]] = {
    "path": [
        Choice("labelled", "faithful"),
        Choice("labelled", "spurious"),
        Choice("labelled", "spurious", 1),
        *COMMON,
    ],
    "errors": [
        Choice("labelled", "sum", None, ("sum",), ("sum",)),
        Choice("labelled", "sum+logic", None, ("sum", "logic"), ("logic", "sum")),
        Choice("labelled", "none", None, ("none",), ("none",)),
        *COMMON,
    ],
    "step": [Choice("labelled", "valid"), Choice("labelled", "arithmetic"), *COMMON],
}
N_CASES, N_PATHS, N_STEPS = 2, 4, 2
N_PATH_ITEMS = N_CASES * N_PATHS
PLACES = [
    *[("path", i // N_PATHS) for i in range(N_PATH_ITEMS)],
    *[("errors", i // N_PATHS) for i in range(N_PATH_ITEMS)],
    *[("step", case) for case in range(N_CASES) for _ in range(N_STEPS)],
]
"""Schema and case of every place: paths, the same paths again, the steps of each first path."""

raters = st.sampled_from(RATERS)
places = st.integers(0, len(PLACES) - 1)


@dataclass(frozen=True)
class Content:
    state: str = "open"
    category: str | None = None
    step: int | None = None
    flagged: bool = False
    note: str | None = None
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, label: LabelRecord) -> Content:
        return cls(
            label.state,
            label.category,
            label.first_wrong_step,
            label.flagged,
            label.note,
            label.categories,
        )


@dataclass
class Act:
    place: int
    before: Content
    after: Content
    session: int | None


@dataclass
class Sitting:
    """What a session left on each place, and how many undos of its acts stand."""

    last: dict[int, Content] = field(default_factory=dict)
    acts: Counter[str] = field(default_factory=Counter)


@dataclass
class Model:
    """One rater: what stands, what was saved per place, what can be undone and redone."""

    stands: dict[int, Content] = field(default_factory=dict)
    saved: dict[int, list[Content]] = field(default_factory=dict)
    before_reveal: dict[int, list[bool | None]] = field(default_factory=dict)
    counted: dict[int, Content] = field(default_factory=dict)
    done: list[Act] = field(default_factory=list)
    undone: list[Act] = field(default_factory=list)
    revealed: set[int] = field(default_factory=set)
    session: int | None = None
    sittings: dict[int, Sitting] = field(default_factory=dict)

    def put(self, place: int, content: Content, *, imported: bool = False) -> None:
        before_reveal = None if imported else PLACES[place][1] not in self.revealed
        self.stands[place] = content
        self.saved.setdefault(place, []).append(content)
        self.before_reveal.setdefault(place, []).append(before_reveal)
        if before_reveal is not False:
            self.counted[place] = content

    def act(self, place: int, content: Content) -> None:
        before = self.stands.get(place)
        if content != before:
            self.done.append(Act(place, before or Content(), content, self.session))
            self.undone.clear()
            self.put(place, content)
            self.note(self.session, "label", place, content)

    def note(self, session: int | None, act: str, place: int, content: Content) -> None:
        if session is not None:
            self.sittings[session].last[place] = content
            self.sittings[session].acts[act] += 1


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("machine") / "project.db"
    with open_store(path) as store:
        small_project(store, N_CASES)
        store.add_schema(ERRORS)
    return path


class BrokenOffError(Exception):
    """Stands for whatever ends a write midway."""


def _break_off(*_args: Any) -> None:
    raise BrokenOffError


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
        path = self.schemas["path"]
        views = [self.store.case(c, self.ids["ana"], path) for c in self.cases]
        paths = [(p.item_id, p.item) for view in views for p in view.paths]
        steps = [
            (ref.item_id, ref.key)
            for c in self.cases
            for ref in self.store.step_items(item_ids(self.store, c, self.ids["ana"])[0])
        ]
        self.items, self.keys = zip(*[*paths, *paths, *steps], strict=True)
        self.models = {name: Model() for name in RATERS}
        self.touched: set[tuple[str, int]] = set()
        self.n_imports = 0

    def open(self) -> None:
        self.store, self.other = open_store(self.db), open_store(self.db)
        self.schemas = {name: self.store.schema(name) for name in CHOICES}

    def check_saved(self, name: str, record: LabelRecord, expected: Content, place: int) -> None:
        self.touched.add((name, place))
        found = (record.item_id, record.schema, Content.of(record))
        assert found == (self.items[place], PLACES[place][0], expected)

    @rule(name=raters, place=places, n=st.integers(0, 9), note=st.sampled_from([None, "", "why"]))
    def label(self, name: str, place: int, n: int, note: str | None) -> None:
        model, schema = self.models[name], PLACES[place][0]
        choice = CHOICES[schema][n % len(CHOICES[schema])]
        stood = model.stands.get(place, Content())
        expected = replace(
            stood,
            state=choice.state,
            category=choice.category,
            categories=choice.categories,
            step=choice.step,
            note=stood.note if note is None else note or None,
        )
        record = self.store.commit_label(
            self.ids[name],
            self.items[place],
            self.schemas[schema],
            note=note,
            session_id=model.session,
            **choice.arguments(),
        )
        model.act(place, expected)
        self.check_saved(name, record, expected, place)

    @rule(name=raters, place=places, flagged=st.booleans())
    def flag(self, name: str, place: int, flagged: bool) -> None:
        expected = replace(self.models[name].stands.get(place, Content()), flagged=flagged)
        self.annotate(name, place, expected, flagged=flagged)

    @rule(name=raters, place=places, note=st.text(max_size=3))
    def write_note(self, name: str, place: int, note: str) -> None:
        expected = replace(self.models[name].stands.get(place, Content()), note=note or None)
        self.annotate(name, place, expected, note=note)

    def annotate(self, name: str, place: int, expected: Content, **change: Any) -> None:
        schema = self.schemas[PLACES[place][0]]
        session = self.models[name].session
        record = self.store.annotate(
            self.ids[name], self.items[place], schema, session_id=session, **change
        )
        self.models[name].act(place, expected)
        self.check_saved(name, record, expected, place)

    @rule(name=raters)
    def undo(self, name: str) -> None:
        self.reverse(name, "undo")

    @rule(name=raters)
    def redo(self, name: str) -> None:
        self.reverse(name, "redo")

    def reverse(self, name: str, what: str) -> None:
        model = self.models[name]
        source, target = (model.done, model.undone)
        if what == "redo":
            source, target = target, source
        result = getattr(self.store, what)(self.ids[name])
        if not source:
            assert result is None
            return
        act = source.pop()
        target.append(act)
        content = act.before if what == "undo" else act.after
        model.put(act.place, content)
        model.note(act.session, what, act.place, content)
        schema, case = PLACES[act.place]
        step = (act.place - 2 * N_PATH_ITEMS) % N_STEPS if schema == "step" else None
        assert (result.schema, result.case_id, result.step) == (schema, self.cases[case], step)
        self.check_saved(name, result.label, content, act.place)

    @rule(name=raters, place=places, n=st.integers(0, 2))
    def import_label(self, name: str, place: int, n: int) -> None:
        self.n_imports += 1
        model, schema = self.models[name], PLACES[place][0]
        labelled = [c for c in CHOICES[schema] if c.state == "labelled"]
        choice = labelled[n % len(labelled)]
        line = new_label(
            self.keys[place],
            name,
            choice.category,
            rater_kind="human",
            created_at=f"2026-01-01T00:00:00.{self.n_imports:06}+00:00",
            first_wrong_step=choice.step,
        )
        outcome = add_labels(self.store, [replace(line, schema=schema)])
        assert outcome == ["changed" if place in model.stands else "added"]
        self.touched.add((name, place))
        content = Content("labelled", choice.category, choice.step, categories=choice.categories)
        model.put(place, content, imported=True)
        model.done = [a for a in model.done if a.place != place]
        model.undone = [a for a in model.undone if a.place != place]

    @rule(name=raters, case=st.integers(0, N_CASES - 1))
    def reveal(self, name: str, case: int) -> None:
        model, path = self.models[name], self.schemas["path"]
        paths = range(case * N_PATHS, (case + 1) * N_PATHS)
        if all(model.stands.get(i, Content()).state != "open" for i in paths):
            self.store.reveal(self.cases[case], self.ids[name], path)
            model.revealed.add(case)
        else:
            with pytest.raises(SealedError):
                self.store.reveal(self.cases[case], self.ids[name], path)

    @rule(name=raters)
    def sit_down(self, name: str) -> None:
        model = self.models[name]
        if model.session is not None:
            self.store.end_session(model.session)
        model.session = self.store.start_session(self.ids[name], None).id
        model.sittings[model.session] = Sitting()

    @precondition(lambda self: any(m.saved for m in self.models.values()))
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.other.close()
        self.open()
        self.check_everything()

    @rule()
    def go_to_the_other_window(self) -> None:
        """Go on in another connection to the same file, as in a second window or process."""
        self.store, self.other = self.other, self.store

    @rule(name=raters, place=places)
    def fail_before_the_commit(self, name: str, place: int) -> None:
        """Break off once the row is written but not committed: it was never shown as saved."""
        schema = PLACES[place][0]
        choice = CHOICES[schema][0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("store.repository.labels._seen", _break_off)
            with pytest.raises(BrokenOffError):
                self.store.commit_label(
                    self.ids[name],
                    self.items[place],
                    self.schemas[schema],
                    note="never saved",
                    **choice.arguments(),
                )
        self.touched.add((name, place))

    @invariant()
    def what_was_saved_is_there_in_order_once(self) -> None:
        for name, place in self.touched:
            self.check_history(name, place)
        self.touched.clear()

    def check_history(self, name: str, place: int) -> None:
        model, schema = self.models[name], self.schemas[PLACES[place][0]]
        history = self.store.label_history(self.ids[name], self.items[place], schema)
        assert [Content.of(r) for r in history] == model.saved.get(place, [])
        assert [r.before_reveal for r in history] == model.before_reveal.get(place, [])
        label = self.store.label(self.ids[name], self.items[place], schema)
        assert label == (history[-1] if history else None)
        assert place not in model.stands or (label and Content.of(label) == model.stands[place])

    def check_everything(self) -> None:
        """Check every place of both raters, agreement, progress and sessions."""
        for name in RATERS:
            for place in range(len(PLACES)):
                self.check_history(name, place)
            for session, sitting in self.models[name].sittings.items():
                self.check_session(session, sitting)
        for schema in CHOICES:
            self.check_pairs(schema)
            for name in RATERS:
                self.check_progress(name, schema)

    def check_pairs(self, schema: str) -> None:
        found = {p.item: (p.a, p.b) for p in self.store.label_pairs(schema, *RATERS)}
        expected = {}
        for place, key in enumerate(self.keys):
            pair = [self.models[n].counted.get(place, Content()) for n in RATERS]
            if PLACES[place][0] == schema and any(c.state != "open" for c in pair):
                expected[key] = (pair[0].category, pair[1].category)
        assert found == expected

    def check_progress(self, name: str, schema: str) -> None:
        decided = [
            place
            for place, content in self.models[name].stands.items()
            if PLACES[place][0] == schema and content.state != "open"
        ]
        found = self.store.progress(self.ids[name], schema)
        n_items = N_PATH_ITEMS * (N_STEPS if schema == "step" else 1)
        assert (found.n_items, found.n_decided, found.n_cases) == (n_items, len(decided), N_CASES)
        done = Counter(PLACES[place][1] for place in decided)
        whole = n_items // N_CASES
        assert found.n_cases_done == sum(n == whole for n in done.values())

    def check_session(self, session: int, sitting: Sitting) -> None:
        found = self.store.session_summary(session)
        mine = [c for p, c in sitting.last.items() if PLACES[p][0] == "path"]
        decided = [c for c in mine if c.state != "open"]
        assert (found.n_items, found.n_decided) == (len(mine), len(decided))
        assert found.n_flagged == sum(c.flagged for c in mine)
        assert found.n_undone == max(sitting.acts["undo"] - sitting.acts["redo"], 0)
        assert found.per_category == Counter(c.category for c in decided if c.category)
        others = Counter(
            PLACES[p][0]
            for p, c in sitting.last.items()
            if PLACES[p][0] != "path" and c.state != "open"
        )
        assert found.others == others

    def teardown(self) -> None:
        self.check_everything()
        self.store.close()
        self.other.close()
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
