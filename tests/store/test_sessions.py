"""Sessions, pace and progress, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from store import Store
from store.records import Category, SchemaSpec, SessionSummary
from tests.store.world import add_labels, case_ids, item_ids, key_of, new_label, small_project

START = "2026-01-01T10:00:00.000000+00:00"
END = "2026-01-01T10:05:30.000000+00:00"


@pytest.fixture
def ana(store: Store) -> int:
    return store.rater("ana").id


@pytest.fixture
def items(store: Store, ana: int) -> list[int]:
    small_project(store, 2)
    return [i for c in case_ids(store, ana) for i in item_ids(store, c, ana)]


def test_a_session_is_summed_up_by_what_it_left(
    store: Store, ana: int, items: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, step = store.schema(), store.schema("step")
    session = store.start_session(ana, 5)
    assert (session.size, session.rater_id, session.ended_at) == (5, ana, None)
    sid = session.id

    def commit(
        n: int, seconds: float | None, category: str | None, state: str = "labelled"
    ) -> None:
        store.commit_label(
            ana,
            items[n],
            path,
            state=state,  # type: ignore[arg-type]
            category=category,
            active_seconds=seconds,
            session_id=sid,
        )

    commit(0, 10.0, "faithful")
    commit(1, 4.0, "faithful")
    commit(1, 2.5, "spurious")  # changed: 6.5 s in all
    commit(2, 30.0, None, "unsure")
    commit(3, None, None, "skipped")
    commit(4, 7.0, "faithful")
    store.undo(ana)
    store.annotate(ana, items[0], path, flagged=True, session_id=sid)
    store.annotate(ana, items[5], path, note="later", session_id=sid)
    part = store.step_items(items[0])[0].item_id
    store.commit_label(ana, part, step, category="valid", active_seconds=1.5, session_id=sid)
    store.commit_label(ana, items[6], path, category="faithful", active_seconds=99.0)
    later = "2999-01-01T00:00:00.000000+00:00"
    monkeypatch.setattr("store.repository.sessions.utc_now", lambda: later)
    store.end_session(sid)
    store.end_session(sid)
    (ended,) = store.sessions(ana)
    assert ended.ended_at == later
    found = store.session_summary(sid)
    assert found == SessionSummary(
        n_decided=4,
        n_items=6,
        n_unsure=1,
        n_skipped=1,
        n_flagged=1,
        n_undone=1,
        active_seconds=10 + 4 + 2.5 + 30 + 7 + 1.5,
        median_seconds=11.5,  # of 10 with 1.5 on a step, 6.5 and 30
        wall_seconds=found.wall_seconds,
        per_category={"faithful": 1, "spurious": 1},
        others={"step": 1},
    )
    assert found.wall_seconds > 365 * 86_400
    steps = store.session_summary(sid, "step")
    assert (steps.n_decided, steps.median_seconds, steps.others) == (1, 1.5, {"path": 4})


def test_the_wall_clock_runs_from_start_to_end(
    store: Store, ana: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([START, END])
    monkeypatch.setattr("store.repository.sessions.utc_now", lambda: next(moments))
    sid = store.start_session(ana).id
    store.end_session(sid)
    found = store.session_summary(sid)
    assert (found.wall_seconds, found.n_items, found.median_seconds) == (330.0, 0, None)


def test_an_undo_in_a_later_session_counts_where_it_says(
    store: Store, ana: int, items: list[int]
) -> None:
    path = store.schema()
    first = store.start_session(ana).id
    store.commit_label(ana, items[0], path, category="faithful", session_id=first)
    store.commit_label(ana, items[1], path, category="faithful", session_id=first)
    second = store.start_session(ana).id
    store.undo(ana)
    store.undo(ana, session_id=second)
    counts = [store.session_summary(s) for s in (first, second)]
    assert [(c.n_undone, c.n_decided, c.n_items) for c in counts] == [(1, 1, 2), (1, 0, 1)]
    store.redo(ana, session_id=second)
    assert store.session_summary(second).n_undone == 0


def test_a_session_is_its_raters(store: Store, ana: int, items: list[int]) -> None:
    bob = store.rater("bob").id
    theirs = store.start_session(bob).id
    for session in (theirs, 99):
        with pytest.raises(ValueError, match=f"session {session} is none of this rater's"):
            store.commit_label(
                ana, items[0], store.schema(), category="faithful", session_id=session
            )
    assert store.label_history(ana, items[0]) == ()
    with pytest.raises(ValueError, match="at least 1"):
        store.start_session(ana, 0)


def test_pace_is_the_median_over_the_last_decided_items(
    store: Store, ana: int, items: list[int]
) -> None:
    path = store.schema()
    assert store.pace(ana) is None
    for item, seconds in zip(items, (100.0, 8.0, 2.0, 6.0, None), strict=False):
        store.commit_label(ana, item, path, category="faithful", active_seconds=seconds)
    assert store.pace(ana) == 7.0  # of 100, 8, 2 and 6
    assert store.pace(ana, last=3) == 6.0
    store.commit_label(ana, items[2], path, category="spurious", active_seconds=1.0)
    assert store.pace(ana, last=1) == 3.0  # both looks at the item that was decided last
    store.undo(ana)
    store.undo(ana)
    assert store.pace(ana, last=1) == 3.0
    store.commit_label(ana, items[5], path, category="faithful", active_seconds=50.0)
    store.undo(ana)
    part = store.step_items(items[0])[0].item_id
    store.commit_label(ana, part, store.schema("step"), category="valid", active_seconds=0.5)
    assert (store.pace(ana, last=1), store.pace(ana, schema="step")) == (3.0, 0.5)
    assert store.pace(store.rater("bob").id) is None


def test_a_paths_time_is_its_own_and_that_of_its_steps(
    store: Store, ana: int, items: list[int]
) -> None:
    path, step = store.schema(), store.schema("step")
    sid = store.start_session(ana).id

    def on_steps(item: int, *seconds: float | None, session: int | None = sid) -> None:
        refs = store.step_items(item)
        for n, spent in enumerate(seconds):
            store.commit_label(
                ana,
                refs[n % len(refs)].item_id,
                step,
                category="valid" if n < len(refs) else "arithmetic",  # again: a change of mind
                active_seconds=spent,
                session_id=session,
            )

    def on_path(item: int, seconds: float | None) -> None:
        store.commit_label(
            ana, item, path, category="faithful", active_seconds=seconds, session_id=sid
        )

    on_steps(items[0], 4.0, 6.0, 1.0)
    on_path(items[0], 2.0)
    on_steps(items[1], 3.0, session=None)
    on_path(items[1], 20.0)
    on_steps(items[2], 50.0)  # its path waits
    on_steps(items[3], 40.0)
    on_path(items[3], None)  # not timed: passed over
    assert store.pace(ana) == 18.0  # of 2 + 4 + 6 + 1 and 20 + 3
    assert store.pace(ana, last=1) == 23.0
    assert store.pace(ana, schema="step", last=2) == 45.0
    found = store.session_summary(sid)
    assert found.median_seconds == 16.5  # of 13 and 20: the 3 s were in no session
    assert found.active_seconds == 4 + 6 + 1 + 2 + 20 + 50 + 40
    assert (found.n_decided, found.others) == (3, {"step": 4})
    bob = store.rater("bob").id
    part = store.step_items(items[1])[1].item_id
    store.commit_label(bob, part, step, category="valid", active_seconds=900.0)
    assert store.pace(ana) == 18.0


# --- where one stopped ---------------------------------------------------------------------


def _found(store: Store, rater: int, **where: Any) -> tuple[int, int | None, bool] | None:
    act = store.last_act(rater, **where)
    return None if act is None else (act.path_item_id, act.step, act.on_step)


def test_the_last_act_is_found_with_its_step(store: Store, ana: int, items: list[int]) -> None:
    path, step = store.schema(), store.schema("step")
    a, b = items[0], items[5]
    assert store.last_act(ana) is None
    store.commit_label(ana, a, path, category="faithful")
    assert _found(store, ana) == (a, None, False)
    store.commit_label(ana, b, path, category="spurious", first_wrong_step=1)
    assert _found(store, ana) == (b, 1, False)
    store.undo(ana)
    assert _found(store, ana) == (b, 1, False)  # the step that was marked
    store.annotate(ana, a, path, flagged=True)
    assert _found(store, ana) == (a, None, False)
    parts = [r.item_id for r in store.step_items(b)]
    store.commit_label(ana, parts[0], step, category="valid")
    assert _found(store, ana) == (b, 0, True)
    store.commit_label(ana, parts[1], step, state="skipped")
    assert _found(store, ana) == (b, 1, True)
    store.undo(ana)
    store.undo(ana)
    assert _found(store, ana) == (b, 0, True)
    found = store.last_act(ana)
    assert found is not None
    cases = case_ids(store, ana)
    assert (found.case_id, found.dataset, found.pool) == (cases[1], "own", "gen@plain")
    assert b in item_ids(store, cases[1], ana)


def test_others_imports_and_other_path_schemas_are_no_acts(
    store: Store, ana: int, items: list[int]
) -> None:
    path = store.schema()
    store.commit_label(ana, items[0], path, category="faithful")
    store.commit_label(store.rater("bob").id, items[1], path, category="faithful")
    add_labels(store, [new_label(key_of("q1", "1"), "ana", rater_kind="human")])
    errors = store.add_schema(
        SchemaSpec("errors", "path", "Which?", "Look.", (Category("1", "a"), Category("2", "b")))
    )
    store.commit_label(ana, items[2], errors, category="a")
    assert _found(store, ana) == (items[0], None, False)
    assert _found(store, ana, schema="errors") == (items[2], None, False)
    part = store.step_items(items[3])[0].item_id
    store.commit_label(ana, part, store.schema("step"), category="valid")
    for schema in ("path", "errors"):
        assert _found(store, ana, schema=schema) == (items[3], 0, True)


def test_the_last_act_in_one_pool_or_dataset(store: Store, ana: int) -> None:
    small_project(store, 2)
    small_project(store, 2, pool="other@plain")
    by_pool = {
        pool: [r.case_id for r in store.cases(ana, pool=pool).rows]
        for pool in ("gen@plain", "other@plain")
    }
    first, second = by_pool.values()
    path = store.schema()
    one, two = item_ids(store, first[0], ana)[0], item_ids(store, second[1], ana)[0]
    store.commit_label(ana, one, path, category="faithful")
    store.commit_label(ana, two, path, category="faithful")
    assert _found(store, ana) == (two, None, False)
    assert _found(store, ana, pool="gen@plain", dataset="own") == (one, None, False)
    assert _found(store, ana, pool="other@plain") == (two, None, False)
    assert _found(store, ana, dataset="else") is None
    assert _found(store, ana, pool="gen") is None


def test_progress_is_ones_own(store: Store, ana: int, items: list[int]) -> None:
    path = store.schema()
    for item in items[:5]:
        store.commit_label(ana, item, path, category="faithful")
    store.commit_label(ana, items[5], path, state="skipped")
    store.annotate(ana, items[6], path, flagged=True)
    add_labels(store, [new_label(key_of("q0", "0"), "judge")])
    found = store.progress(ana)
    assert (found.n_items, found.n_decided, found.n_cases, found.n_cases_done) == (8, 6, 2, 1)
    nobody = store.progress(store.rater("bob").id)
    assert (nobody.n_items, nobody.n_decided, nobody.n_cases_done) == (8, 0, 0)
    other = store.progress(ana, "cycle")
    assert (other.n_items, other.n_decided, other.n_cases) == (0, 0, 0)
