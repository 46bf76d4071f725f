"""Steps and criteria of a path, labels of several categories, and the seal levels."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store import SealedError, Store
from store.exchange.schemas import spec_of
from store.keys import TraceItemKey
from store.records import LabelState, PathView, SchemaRecord
from tests.store.models_world import decomposed
from tests.store.test_label_machine import ERRORS
from tests.store.world import (
    add_labels,
    decide,
    item_ids,
    key_of,
    new_label,
    small_project,
)


@pytest.fixture
def ana(store: Store) -> int:
    return store.rater("ana").id


@pytest.fixture
def case(store: Store) -> int:
    (made,) = small_project(store, 1)
    return made


@pytest.fixture
def path_item(store: Store, ana: int, case: int) -> int:
    return item_ids(store, case, ana)[0]


def paths_of(store: Store, case: int, rater: int) -> tuple[PathView, ...]:
    return store.case(case, rater, store.schema()).paths


def key_of_item(store: Store, case: int, rater: int, item: int) -> str:
    paths = store.case(case, rater, store.schema()).paths
    return next(p.item for p in paths if p.item_id == item)


# --- items ---------------------------------------------------------------------------------


def test_steps_and_criteria_are_made_once_under_stable_keys(
    store: Store, ana: int, case: int, path_item: int
) -> None:
    place = key_of_item(store, case, ana, path_item).removeprefix("path:")
    steps = store.step_items(path_item)
    assert [(s.key, s.step) for s in steps] == [(f"step:{place}/{n}", n) for n in (0, 1)]
    assert store.step_items(path_item) == steps
    split = decomposed(store, "m/split 1")
    trace_id = next(p.trace_id for p in paths_of(store, case, ana) if p.item_id == path_item)
    criteria = store.criterion_items(split, trace_id)
    names = ["atomic", "nothing_invented", "dependencies_kept"]
    assert [(c.key, c.decomposition, c.criterion) for c in criteria] == [
        (f"criterion:{place}/m%2Fsplit 1/{n}", "m/split 1", n) for n in names
    ]
    assert store.criterion_items(split, trace_id) == criteria
    assert len({r.item_id for r in (*steps, *criteria)} | {path_item}) == 6
    with pytest.raises(ValueError, match="is a step, not a path"):
        store.step_items(steps[0].item_id)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("step:a/b/c/d", "step:DATASET/QUESTION/POOL/SAMPLE/STEP"),
        ("step:a/b/c/d/01", "a step is a number from 0"),
        ("step:a/b/c/d/-1", "a step is a number from 0"),
        ("step:a/b/c/d/x", "a step is a number from 0"),
        ("criterion:a/b/c/d/x/nice", "atomic, nothing_invented, dependencies_kept"),
        ("criterion:a/b/c/d/atomic", "POOL/SAMPLE/DECOMPOSITION/CRITERION"),
        ("criterion:a/b/c/d//atomic", "POOL/SAMPLE/DECOMPOSITION/CRITERION"),
        ("path:a/b/c", "path:DATASET/QUESTION/POOL/SAMPLE"),
        ("pair:a/b/c/d", "is none of path:"),
    ],
)
def test_a_key_of_another_form_is_refused(key: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TraceItemKey.parse(key)


@pytest.mark.parametrize(
    "key", ["path:a%2Fb/50%25/c/d", "step:a/b/c/d/10", "criterion:a/b/c/d/m%2F1/atomic"]
)
def test_a_key_is_written_as_it_is_read(key: str) -> None:
    assert str(TraceItemKey.parse(key)) == key


def test_labels_of_steps_and_criteria_are_imported(store: Store, case: int) -> None:
    step = key_of("q0", "1").replace("path:", "step:") + "/1"
    criterion = key_of("q0", "1").replace("path:", "criterion:") + "/split/atomic"
    decomposed(store, "split")
    lines = [
        replace(new_label(step, "judge", "arithmetic"), schema="step"),
        replace(new_label(criterion, "judge", "no"), schema="decomposition"),
    ]
    assert add_labels(store, lines) == ["added", "added"]
    assert add_labels(store, lines) == ["known", "known"]
    for bad, message in (
        (replace(lines[0], item=step[:-1] + "2"), "names no step: the trace has 2"),
        (replace(lines[0], schema="path"), "is not path:DATASET/QUESTION/POOL/SAMPLE"),
        (replace(lines[0], category="faithful"), "'faithful' is not in schema step version 1"),
        (
            replace(lines[1], item=criterion.replace("/split/", "/other/")),
            "no decomposition 'other' of this trace",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            add_labels(store, [bad])


# --- step labels ---------------------------------------------------------------------------


def test_step_labels_stand_beside_the_path_label(
    store: Store, ana: int, case: int, path_item: int
) -> None:
    step = store.schema("step")
    zero, one = (s.item_id for s in store.step_items(path_item))
    assert store.step_labels(ana, path_item) == {}
    made = store.commit_label(ana, one, step, category="arithmetic")
    store.commit_label(ana, path_item, store.schema(), category="spurious", first_wrong_step=1)
    store.commit_label(ana, zero, step, category="valid")
    store.annotate(ana, one, step, flagged=True)
    found = store.step_labels(ana, path_item)
    assert {n: (r.category, r.flagged) for n, r in found.items()} == {
        0: ("valid", False),
        1: ("arithmetic", True),
    }
    assert (made.schema, made.item_id) == ("step", one)
    assert store.step_labels(store.rater("bob").id, path_item) == {}
    others = [i for i in item_ids(store, case, ana) if i != path_item]
    of_all = store.step_labels_of(ana, [*others, path_item])
    assert of_all == {path_item: found, **{i: {} for i in others}}
    assert store.step_labels_of(ana, []) == {}
    assert store.case(case, ana, store.schema()).n_left == 3  # steps are no paths
    assert store.progress(ana).n_decided == 1
    steps = store.progress(ana, "step")
    assert (steps.n_items, steps.n_decided, steps.n_cases, steps.n_cases_done) == (8, 2, 1, 0)
    assert store.progress(ana, "decomposition").n_items == 0  # nothing was drawn


def test_undo_says_which_step_of_which_path(
    store: Store, ana: int, case: int, path_item: int
) -> None:
    one = store.step_items(path_item)[1].item_id
    store.commit_label(ana, path_item, store.schema(), category="faithful")
    store.commit_label(ana, one, store.schema("step"), category="irrelevant")
    found = [store.undo(ana), store.undo(ana), store.redo(ana), store.redo(ana)]
    told = [
        (u.schema, u.step, u.item_id, u.path_item_id, u.case_id, u.label.state)
        for u in found
        if u is not None and u.label is not None
    ]
    assert told == [
        ("step", 1, one, path_item, case, "open"),
        ("path", None, path_item, path_item, case, "open"),
        ("path", None, path_item, path_item, case, "labelled"),
        ("step", 1, one, path_item, case, "labelled"),
    ]


def test_a_schema_is_for_its_own_kind_of_item(store: Store, ana: int, path_item: int) -> None:
    with pytest.raises(ValueError, match="is a path; schema step is for step items"):
        store.commit_label(ana, path_item, store.schema("step"), category="valid")
    with pytest.raises(ValueError, match="is a path; schema step is for step items"):
        store.annotate(ana, path_item, store.schema("step"), flagged=True)
    assert store.label_history(ana, path_item) == ()


# --- several categories --------------------------------------------------------------------


@pytest.fixture
def errors(store: Store) -> SchemaRecord:
    return store.add_schema(ERRORS)


def test_categories_are_kept_in_the_schemas_order(
    store: Store, db: Path, ana: int, path_item: int, errors: SchemaRecord
) -> None:
    made = store.commit_label(ana, path_item, errors, categories=("logic", "sum", "logic"))
    assert (made.category, made.categories) == ("sum+logic", ("sum", "logic"))
    assert store.commit_label(ana, path_item, errors, category="logic+sum") == made
    one = store.commit_label(ana, path_item, errors, category="sum")
    assert (one.category, one.categories) == ("sum", ("sum",))
    with closing(sqlite3.connect(db)) as connection:
        rows = connection.execute("SELECT category, categories FROM label").fetchall()
    assert rows == [("sum+logic", '["sum","logic"]'), ("sum", '["sum"]')]
    undone = store.undo(ana)
    assert undone is not None
    assert undone.label is not None
    assert undone.label.categories == ("sum", "logic")


@pytest.mark.parametrize(
    ("state", "categories", "message"),
    [
        ("labelled", (), "no category is not in schema errors"),
        ("labelled", ("none", "sum"), "none excludes other categories, here sum, none"),
        ("labelled", ("sum", "odd"), "'odd' is not in schema errors"),
        ("labelled", ("unsure",), "'unsure' is not in schema errors"),
        ("unsure", ("sum",), "takes one category"),
        ("skipped", ("sum",), "takes one category"),
    ],
)
def test_categories_that_do_not_go_together_are_refused(
    state: LabelState,
    categories: tuple[str, ...],
    message: str,
    store: Store,
    ana: int,
    path_item: int,
    errors: SchemaRecord,
) -> None:
    with pytest.raises(ValueError, match=message):
        store.commit_label(ana, path_item, errors, state=state, categories=categories)
    assert store.label_history(ana, path_item) == ()


def test_one_category_is_right_where_the_schema_says_so(
    store: Store, ana: int, path_item: int
) -> None:
    with pytest.raises(ValueError, match="path takes one category, not faithful, spurious"):
        store.commit_label(ana, path_item, store.schema(), categories=("faithful", "spurious"))


def test_a_skip_has_its_reason(store: Store, ana: int, path_item: int) -> None:
    made = store.commit_label(ana, path_item, store.schema(), state="skipped", note="no context")
    assert (made.state, made.note) == ("skipped", "no context")
    kept = store.commit_label(ana, path_item, store.schema(), category="faithful")
    assert kept.note == "no context"
    assert store.commit_label(ana, path_item, store.schema(), state="unsure", note="").note is None


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_seconds_are_a_number_of_seconds(
    seconds: float, store: Store, ana: int, path_item: int
) -> None:
    with pytest.raises(ValueError, match="active_seconds"):
        store.commit_label(
            ana, path_item, store.schema(), category="faithful", active_seconds=seconds
        )


# --- seal levels ---------------------------------------------------------------------------


def at_level(store: Store, level: Any) -> SchemaRecord:
    return store.version_schema(replace(spec_of(store.schema()), seal=level))


def with_verdicts(store: Store) -> None:
    add_labels(
        store,
        [
            new_label(key_of("q0", "0"), "judge", rationale="because"),
            new_label(key_of("q0", "0"), "bob", rater_kind="human"),
        ],
    )


def test_full_shows_nothing_before_the_reveal(store: Store, ana: int, case: int) -> None:
    with_verdicts(store)
    with pytest.raises(SealedError):
        store.case_context(case, ana, store.schema())
    decide(store, case, ana)
    with pytest.raises(SealedError):
        store.case_context(case, ana, store.schema())
    store.reveal(case, ana, store.schema())
    assert {v.rater for v in store.case_context(case, ana, store.schema()).verdicts} == {
        "judge",
        "bob",
    }
    assert store.case_context(case, ana, store.schema()) == store.revealed_case(
        case, ana, store.schema()
    )


def test_judge_holds_back_what_others_say(store: Store, ana: int, case: int) -> None:
    with_verdicts(store)
    schema = at_level(store, "judge")
    found = store.case_context(case, ana, schema)
    assert (found.gold_text, found.stratum, found.verdicts) == ("1", "disagreement", ())
    assert [r.is_medoid for r in found.ranking] == [True, False, False, False]
    with pytest.raises(SealedError):
        store.revealed_case(case, ana, schema)
    label = store.commit_label(ana, item_ids(store, case, ana)[0], schema, category="faithful")
    assert (label.seal, label.before_reveal) == ("judge", True)
    decide(store, case, ana)
    assert store.case_context(case, ana, schema).verdicts == ()
    store.reveal(case, ana, schema)
    assert len(store.case_context(case, ana, schema).verdicts) == 2
    bob = store.rater("bob").id
    assert store.case_context(case, bob, schema).verdicts == ()


def test_open_hides_nothing(store: Store, ana: int, case: int) -> None:
    with_verdicts(store)
    schema = at_level(store, "open")
    assert len(store.case_context(case, ana, schema).verdicts) == 2
    assert store.revealed_case(case, ana, schema) == store.case_context(case, ana, schema)


@pytest.mark.parametrize(
    ("path", "step", "recorded", "before"),
    [
        ("full", "full", "full", True),
        ("judge", "full", "judge", True),
        ("full", "judge", "judge", True),
        ("open", "full", "open", False),
    ],
)
def test_a_step_is_labelled_under_what_its_path_shows(
    path: Any, step: Any, recorded: str, before: bool, store: Store, ana: int, path_item: int
) -> None:
    at_level(store, path)
    schema = store.version_schema(replace(spec_of(store.schema("step")), seal=step))
    item = store.step_items(path_item)[0].item_id
    label = store.commit_label(ana, item, schema, category="valid")
    assert (label.seal, label.before_reveal) == (recorded, before)


# --- looks behind the seal -----------------------------------------------------------------


def test_a_look_behind_the_seal_is_logged_for_good(
    store: Store, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    one = store.record_unseal("export labels", None)
    two = store.record_unseal("items list", "ana")
    assert store.unseals() == (one, two)
    assert [(u.what, u.rater, u.who) for u in (one, two)] == [
        ("export labels", None, "login"),
        ("items list", "ana", "login"),
    ]
    store.close()
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        for statement in (
            "UPDATE unseal SET what = ''",
            "DELETE FROM unseal",
            "REPLACE INTO unseal SELECT id, '', rater, who, created_at FROM unseal",
            "UPDATE label_schema SET seal = 'open'",
            "DELETE FROM label_schema",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)


def test_an_account_without_a_name_is_unknown(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless() -> str:
        raise KeyError("uid")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert store.record_unseal("export labels").who == "unknown"
