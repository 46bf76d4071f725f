"""Decompositions: facts beside their steps, a fair sample to label, own labels and progress."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.exporting import item_lines, label_lines
from pipeline.importing import import_files
from scoring.types import Fact
from store import ConflictError, Store, open_store
from store.engine import make_engine, upgrade
from store.model_records import DecomposedRecord, DecomposedRow, DecompositionCounts, SampleMade
from store.repository.drawing import Candidate, draw
from tests.store.models_world import decomposed, facts_of, keep, pools_of, trace_ids
from tests.store.test_migrations import FIRST_ROWS
from tests.store.world import add_labels, new_label

HARD = "a\x00b\ud800c\x1b[31md"


def split(store: Store, name: str = "split", **rest: Any) -> int:
    said: dict[str, Any] = {"model": "m", "prompt_version": "decomposer/1", "parameters": {}}
    return store.decomposition(name, **{**said, **rest}).id


def label_all(
    store: Store, split_id: int, trace_id: int, rater: int, category: str = "yes"
) -> None:
    for ref in store.criterion_items(split_id, trace_id):
        store.commit_label(rater, ref.item_id, store.schema("decomposition"), category=category)


# --- decompositions and facts ----------------------------------------------------------------


def test_a_decomposition_is_a_model_a_prompt_and_parameters(store: Store) -> None:
    made = store.decomposition("qwen/1", "qwen", "decomposer/1", {"temperature": 0, "form": "x"})
    assert (made.name, made.model, made.prompt_version) == ("qwen/1", "qwen", "decomposer/1")
    again = store.decomposition("qwen/1", "qwen", "decomposer/1", {"form": "x", "temperature": 0})
    assert again == made
    other = store.decomposition("other", "qwen", "decomposer/1", {})
    assert store.decompositions() == (made, other)
    assert store.decomposition_named("qwen/1") == made
    with pytest.raises(ValueError, match=r"no decomposition 'x' .* there are: qwen/1, other"):
        store.decomposition_named("x")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"model": "other"}, "model"),
        ({"prompt_version": "decomposer/2"}, "prompt_version"),
        ({"parameters": {"temperature": 1}}, "parameters"),
    ],
)
def test_a_name_stands_for_one_decomposition(store: Store, change: Any, what: str) -> None:
    split(store)
    with pytest.raises(ValueError, match=rf"'split' is in the database with another {what}: give"):
        split(store, **change)


@pytest.mark.parametrize("name", ["none", "", " ", "a\nb", "\ud800"])
def test_a_name_that_cannot_stand_in_a_key_is_refused(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="a name without control characters, other than 'none'"):
        split(store, name)


def test_facts_are_kept_as_they_were_read(store: Store) -> None:
    ((one, two, three),) = pools_of(store, [3])
    made = split(store)
    key = keep(store, "reply")
    rows = [
        facts_of(one, [(0, HARD), (0, "b"), (1, "c")], reply_key=key),
        facts_of(two, [(1, "c")], dropped=(0,), invented=(HARD,)),
        DecomposedRecord(three, "truncated", reason=HARD),
    ]
    assert store.save_decomposed(made, rows) == 3
    found = store.decomposed(made, store.pools()[0].id)
    hashes = {r.id: r.source_hash for r in store.pool_traces(store.pools()[0].id)}
    assert list(found) == [one, two, three]
    for row in rows:
        assert found[row.trace_id] == replace(row, source_hash=hashes[row.trace_id])
        assert store.decomposed_trace(made, row.trace_id) == found[row.trace_id]
    assert found[one].facts == (Fact(HARD, 0), Fact("b", 0), Fact("c", 1))
    assert store.decomposed_ids(made) == {one, two, three}
    assert store.decomposed(split(store, "other"), store.pools()[0].id) == {}
    assert store.decomposed_trace(made, 99) is None


def test_the_same_facts_again_are_known_and_others_are_refused(store: Store) -> None:
    ((one, two),) = pools_of(store, [2])
    made = split(store)
    row = facts_of(one, [(0, "a"), (1, "b")])
    assert store.save_decomposed(made, [row]) == 1
    assert store.save_decomposed(made, [row, facts_of(two, [(0, "a")])]) == 1
    before = store.decomposed(made, store.pools()[0].id)
    with pytest.raises(ConflictError, match=r"has other facts under decomposition 'split' already"):
        store.save_decomposed(made, [facts_of(one, [(0, "other")])])
    assert store.decomposed(made, store.pools()[0].id) == before
    assert store.save_decomposed(split(store, "second"), [facts_of(one, [(0, "other")])]) == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (DecomposedRecord(0, "failed"), "ended as 'failed', which is no reply"),  # type: ignore[arg-type]
        (facts_of(0, [(2, "a")]), "has no step 2; it has 2, numbered from 0"),
        (facts_of(0, [(-1, "a")]), "has no step -1"),
        (facts_of(0, [(0, "a")], dropped=(2,)), "has no step 2"),
        (facts_of(0, [(0, "a")], dropped=(0,)), "a step with facts is not dropped"),
        (facts_of(0, [(1, "a"), (0, "b")]), "in the order of their steps"),
        (facts_of(0, [(0, " ")]), "facts are texts"),
        (facts_of(0, [(0, "a")], source_hash="sha256:0"), "has another text in the database"),
    ],
)
def test_facts_of_another_trace_are_refused(
    store: Store, row: DecomposedRecord, message: str
) -> None:
    ((one, two),) = pools_of(store, [2])
    made = split(store)
    with pytest.raises(ValueError, match=message):
        store.save_decomposed(made, [facts_of(two, [(0, "fine")]), replace(row, trace_id=one)])
    assert store.decomposed_ids(made) == frozenset()
    with pytest.raises(ValueError, match="trace 99 is not in the database"):
        store.save_decomposed(made, [facts_of(99, [])])


@pytest.mark.parametrize("table", ["decomposed_trace", "decomposition"])
def test_the_database_itself_refuses_to_change_facts(store: Store, db: Path, table: str) -> None:
    pools_of(store, [1])
    decomposed(store)
    with closing(sqlite3.connect(db)) as connection:
        for change in (
            f"UPDATE {table} SET created_at = ''",
            f"DELETE FROM {table}",
            f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
        ):
            with pytest.raises(sqlite3.IntegrityError, match=f"{table} rows are append-only"):
                connection.execute(change)


def test_counts_are_of_traces_with_facts(store: Store) -> None:
    ((one, two, three, _),) = pools_of(store, [4])
    made = split(store)
    assert store.decomposition_counts(made) == DecompositionCounts(4, 0, 0, {}, 0, 0, 0, 0)
    assert store.decomposition_counts(made).facts_per_trace is None
    store.save_decomposed(
        made,
        [
            facts_of(one, [(0, "a"), (0, "b"), (1, "c")]),
            facts_of(two, [(1, "c")], dropped=(0,), invented=("x", "y")),
            DecomposedRecord(three, "invalid", dropped=(0, 1), invented=("z",)),
        ],
    )
    counts = store.decomposition_counts(made)
    assert counts == DecompositionCounts(4, 3, 2, {"ok": 2, "invalid": 1}, 4, 4, 1, 3)
    assert counts.facts_per_trace == 2.0


# --- the view --------------------------------------------------------------------------------


def test_the_view_shows_steps_beside_their_facts_and_own_labels(store: Store) -> None:
    ((one,),) = pools_of(store, [1])
    made = split(store)
    store.save_decomposed(
        made, [facts_of(one, [(1, HARD), (1, "c")], dropped=(0,), invented=("odd",))]
    )
    ana, bob = store.rater("ana").id, store.rater("bob").id
    schema = store.schema("decomposition")
    view = store.decomposition_view(made, one, ana)
    assert (view.trace, view.question, view.sample) == (
        "path:own/q00/gen@plain/0",
        "How many in q00?",
        "0",
    )
    assert [(s.step.text, s.facts, s.dropped) for s in view.steps] == [
        ("two and two", (), True),
        ("so the sum", (HARD, "c"), False),
    ]
    assert (view.invented, view.n_facts, view.outcome) == (("odd",), 2, "ok")
    assert [(c.criterion, c.label) for c in view.criteria] == [
        ("atomic", None),
        ("nothing_invented", None),
        ("dependencies_kept", None),
    ]
    assert view.n_left == 3
    said = store.commit_label(ana, view.criteria[1].item_id, schema, category="no")
    store.commit_label(ana, view.criteria[2].item_id, schema, state="unsure")
    store.commit_label(bob, view.criteria[0].item_id, schema, category="yes")
    seen = store.decomposition_view(made, one, ana)
    assert [c.label.state if c.label else None for c in seen.criteria] == [
        None,
        "labelled",
        "unsure",
    ]
    assert (seen.criteria[1].label, seen.n_left) == (said, 1)
    undone = store.undo(ana)
    assert undone is not None
    assert (undone.trace_id, undone.decomposition_id) == (one, made)
    assert store.decomposition_view(made, one, ana).n_left == 2


def test_a_trace_that_was_not_split_has_no_view(store: Store) -> None:
    ((one, two),) = pools_of(store, [2])
    made = decomposed(store, ids=[one])
    with pytest.raises(ConflictError, match="no decomposition 'split' of this trace"):
        store.decomposition_view(made, two, store.rater("ana").id)


def test_two_decompositions_of_a_trace_are_labelled_apart(store: Store) -> None:
    ((one,),) = pools_of(store, [1])
    first, second = decomposed(store, "first"), decomposed(store, "second")
    ana = store.rater("ana").id
    label_all(store, first, one, ana)
    assert store.decomposition_view(first, one, ana).n_left == 0
    assert store.decomposition_view(second, one, ana).n_left == 3


# --- the sample ------------------------------------------------------------------------------


def sampled(store: Store, made: int, rater: int = 0, **query: Any) -> list[DecomposedRow]:
    rows: list[DecomposedRow] = []
    cursor = None
    while True:
        page = store.decomposition_rows(made, rater, after=cursor, **query)
        rows += page.rows
        if page.cursor is None:
            assert page.total == len(rows)
            assert [r.position for r in rows] == list(range(1, len(rows) + 1))
            return rows
        cursor = page.cursor


def probabilities(db: Path, made: int = 1) -> dict[int, float]:
    query = (
        "SELECT trace_id, inclusion_probability FROM decomposition_sample "
        "WHERE decomposition_id = ?"
    )
    with closing(sqlite3.connect(db)) as connection:
        return dict(connection.execute(query, (made,)))


def test_a_sample_is_seeded_and_spread_over_the_pools(store: Store, db: Path) -> None:
    pools = pools_of(store, [6, 6, 6, 6])
    made = decomposed(store)
    summary = store.make_decomposition_sample(made, 8, seed=3)
    assert summary == SampleMade(24, 0, 8, 0, 0, 0, 8 / 24)
    drawn = probabilities(db)
    assert set(drawn.values()) == {8 / 24}
    assert [sum(i in drawn for i in pool) for pool in pools] == [2, 2, 2, 2]
    again = store.make_decomposition_sample(made, 8, seed=3)
    assert again == SampleMade(24, 0, 0, 8, 0, 0, 8 / 24)
    assert probabilities(db) == drawn
    second = decomposed(store, "second")
    store.make_decomposition_sample(second, 8, seed=3)
    assert probabilities(db, second) == drawn
    other = store.make_decomposition_sample(made, 8, seed=4)
    now = set(probabilities(db))
    assert (other.n_new, other.n_withdrawn) == (8, len(set(drawn) - now))
    assert len(now) == 8 > len(now & set(drawn))


@settings(max_examples=80, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    n=st.integers(1, 30),
    seed=st.integers(0, 10**6),
)
def test_a_draw_has_its_size_and_no_pool_more_than_its_share(
    sizes: list[int], n: int, seed: int
) -> None:
    population = [
        Candidate(100 * p + k, ("d", f"q{p}", "m"), str(k))
        for p, size in enumerate(sizes)
        for k in range(size)
    ]
    drawn = draw(population, n, seed, "decomposition sample")
    total = sum(sizes)
    assert len(drawn) == min(n, total)
    assert {d.probability for d in drawn.values()} <= {len(drawn) / max(total, 1)}
    for p, size in enumerate(sizes):
        share = size * len(drawn) / max(total, 1)
        assert abs(sum(i // 100 == p for i in drawn) - share) < 1


def test_every_trace_is_drawn_as_often_as_its_probability_says() -> None:
    sizes, n, rounds = [1, 2, 7, 10], 6, 3000
    population = [
        Candidate(100 * p + k, ("d", f"q{p}", "m"), str(k))
        for p, size in enumerate(sizes)
        for k in range(size)
    ]
    times = Counter(i for seed in range(rounds) for i in draw(population, n, seed, "x"))
    expected = rounds * n / len(population)
    # Five standard deviations of a count with this probability.
    slack = 5 * (expected * (1 - n / len(population))) ** 0.5
    assert len(times) == 20
    assert all(abs(count - expected) < slack for count in times.values())


def test_what_has_no_facts_is_not_drawn_but_counted(store: Store) -> None:
    ((one, two, three),) = pools_of(store, [3])
    made = decomposed(store, ids=[one, two])
    store.save_decomposed(made, [DecomposedRecord(three, "refused")])
    assert store.make_decomposition_sample(made, 9) == SampleMade(2, 1, 2, 0, 0, 0, 1.0)
    assert {r.trace_id for r in sampled(store, made)} == {one, two}
    nothing = store.make_decomposition_sample(split(store, "empty"), 5)
    assert nothing == SampleMade(0, 0, 0, 0, 0, 0, None)
    with pytest.raises(ValueError, match="a sample of 0 traces; at least 1"):
        store.make_decomposition_sample(made, 0)


def test_a_trace_that_a_person_labelled_stays_in_the_sample(store: Store, db: Path) -> None:
    pools_of(store, [5, 5])
    made = decomposed(store)
    store.make_decomposition_sample(made, 4, seed=0)
    first = probabilities(db)
    mine, judged = list(first)[:2]
    label_all(store, made, mine, store.rater("ana").id)
    key = store.criterion_items(made, judged)[0].key
    add_labels(store, [replace(new_label(key, "judge", "no"), schema="decomposition")])
    wider = store.make_decomposition_sample(made, 10, seed=1)
    assert (wider.n_kept, wider.n_new, wider.n_sampled) == (1, 9, 10)
    second = probabilities(db)
    assert second[mine] == first[mine] == 0.4
    assert {p for i, p in second.items() if i != mine} == {1.0}
    narrow = store.make_decomposition_sample(made, 1, seed=2)
    left = set(probabilities(db))
    assert mine in left
    assert len(left) == narrow.n_sampled <= 2
    assert narrow.n_withdrawn == 10 - len(left)


def test_drawn_traces_have_their_items(store: Store, db: Path) -> None:
    pools_of(store, [3])
    made = decomposed(store)
    store.make_decomposition_sample(made, 2)
    with closing(sqlite3.connect(db)) as connection:
        (n,) = connection.execute("SELECT count(*) FROM item WHERE kind = 'criterion'").fetchone()
    assert n == 6
    before = db.stat().st_mtime_ns
    for row in sampled(store, made):
        store.decomposition_view(made, row.trace_id, 0)
    assert db.stat().st_mtime_ns == before


# --- the queue -------------------------------------------------------------------------------


def test_the_queue_is_paged_in_one_order_with_own_progress(store: Store) -> None:
    pools_of(store, [4, 4])
    made = decomposed(store)
    store.make_decomposition_sample(made, 7, seed=5)
    ana, bob = store.rater("ana").id, store.rater("bob").id
    schema = store.schema("decomposition")
    order = [r.trace_id for r in sampled(store, made, ana)]
    assert len(set(order)) == 7
    assert [r.trace_id for r in sampled(store, made, ana, limit=3)] == order
    label_all(store, made, order[2], ana)
    atomic = store.criterion_items(made, order[4])[0].item_id
    store.commit_label(ana, atomic, schema, category="no")
    store.annotate(ana, store.criterion_items(made, order[5])[1].item_id, schema, flagged=True)
    label_all(store, made, order[0], bob)
    rows = sampled(store, made, ana)
    assert [r.n_mine for r in rows] == [0, 0, 3, 0, 1, 0, 0]
    assert [r.flagged for r in rows] == [False] * 5 + [True, False]
    assert {(r.n_items, r.n_steps, r.n_facts, r.n_dropped) for r in rows} == {(3, 2, 3, 0)}
    shown = {
        show: [r.trace_id for r in sampled(store, made, ana, show=show, limit=2)]
        for show in ("done", "unlabelled", "flagged")
    }
    assert shown == {
        "done": [order[2]],
        "unlabelled": [i for i in order if i != order[2]],
        "flagged": [order[5]],
    }
    progress = store.decomposition_progress(made, ana)
    assert (progress.n_items, progress.n_decided) == (21, 4)
    assert (progress.n_cases, progress.n_cases_done) == (7, 1)
    assert store.progress(ana, "decomposition") == progress


def test_neighbours_follow_the_queue(store: Store) -> None:
    pools_of(store, [6])
    made = decomposed(store)
    store.make_decomposition_sample(made, 5)
    ana = store.rater("ana").id
    order = [r.trace_id for r in sampled(store, made, ana)]

    def walk(direction: Any, **rest: Any) -> list[int]:
        found: list[int] = []
        here = None
        while True:
            here = store.neighbour_decomposed(made, ana, here, direction=direction, **rest)
            if here is None:
                return found
            found.append(here)

    assert walk("next") == order
    assert walk("previous") == order[::-1]
    label_all(store, made, order[1], ana)
    assert walk("next", show="unlabelled") == [order[0], *order[2:]]
    assert store.neighbour_decomposed(made, ana, order[1], show="unlabelled") == order[2]
    (outside,) = set(trace_ids(store)) - set(order)
    assert store.neighbour_decomposed(made, ana, outside) is None


def test_progress_is_over_the_samples_of_all_decompositions(store: Store) -> None:
    ((one, two),) = pools_of(store, [2])
    first, second = decomposed(store, "first"), decomposed(store, "second")
    store.make_decomposition_sample(first, 2)
    store.make_decomposition_sample(second, 1)
    ana = store.rater("ana").id
    label_all(store, first, one, ana)
    label_all(store, second, one, ana)
    label_all(store, second, two, ana)
    in_second = {r.trace_id for r in sampled(store, second)}
    assert len(in_second) == 1
    everything = store.progress(ana, "decomposition")
    assert (everything.n_items, everything.n_decided) == (9, 6)  # one trace was not drawn
    assert store.decomposition_progress(second, ana).n_decided == 3
    assert store.decomposition_progress(first, ana).n_cases_done == 1


# --- agreement, exports ------------------------------------------------------------------------


def test_pairs_of_labels_carry_the_samples_probability(store: Store) -> None:
    pools_of(store, [4])
    made = decomposed(store)
    store.make_decomposition_sample(made, 2)
    one = sampled(store, made)[0].trace_id
    ana = store.rater("ana").id
    label_all(store, made, one, ana, "no")
    refs = store.criterion_items(made, one)
    (outside, *_) = set(trace_ids(store)) - {r.trace_id for r in sampled(store, made)}
    beyond = store.criterion_items(made, outside)[0].key
    add_labels(
        store,
        [
            replace(new_label(key, "judge", "yes"), schema="decomposition")
            for key in (refs[0].key, beyond)
        ],
    )
    pairs = {p.item: p for p in store.label_pairs("decomposition", "ana", "judge")}
    assert {k: (p.a, p.b, p.inclusion_probability) for k, p in pairs.items()} == {
        refs[0].key: ("no", "yes", 0.5),
        refs[1].key: ("no", None, 0.5),
        refs[2].key: ("no", None, 0.5),
        beyond: (None, "yes", None),
    }


def test_items_and_labels_of_criteria_come_back_from_files(store: Store, tmp_path: Path) -> None:
    pools_of(store, [2])
    made = decomposed(store, "m/1 %")
    store.make_decomposition_sample(made, 1)
    one = sampled(store, made)[0].trace_id
    label_all(store, made, one, store.rater("ana").id)
    lines = list(item_lines(store, "csv", design=True))
    sample = store.decomposition_view(made, one, 0).sample
    assert lines[1] == (
        f"criterion:own/q00/gen@plain/{sample}/m%2F1 %25/atomic,criterion,own,q00,gen@plain,"
        f"{sample},,m/1 %,atomic,,,,,0.5,\n"
    )
    items, labels = tmp_path / "items.csv", tmp_path / "labels.jsonl"
    items.write_text("".join(lines), encoding="utf-8")
    labels.write_text("".join(label_lines(store)), encoding="utf-8")
    summary = import_files(store, [items, labels])
    assert (summary.items, summary.labels, summary.rejected) == ({"known": 3}, {"known": 3}, [])
    items.write_text("".join(lines).replace(",0.5,\n", ",0.25,\n"), encoding="utf-8")
    assert import_files(store, [labels, items]).rejected[0].message.startswith("criterion:own/q00")


# --- keys of before --------------------------------------------------------------------------


def test_criteria_of_before_are_kept_under_an_unnamed_decomposition(tmp_path: Path) -> None:
    db = tmp_path / "old.db"
    engine = make_engine(db)
    upgrade(engine, "0001")
    with closing(sqlite3.connect(db)) as connection:
        connection.executescript(FIRST_ROWS)
        connection.commit()
    upgrade(engine, "0002")
    engine.dispose()
    with closing(sqlite3.connect(db)) as connection:
        connection.executescript(
            """
            INSERT INTO item (id, key, kind, question_id, trace_id)
            VALUES (5, 'criterion:d/q1/m/0/atomic', 'criterion', 1, 1);
            INSERT INTO label_schema (id, name, version, item_kind, categories, seal, multi,
              question, guideline) VALUES (9, 'decomposition', 1, 'criterion',
              '[{"key":"1","name":"yes","state":"labelled","takes_first_wrong_step":false}]',
              'full', 0, '?', '');
            INSERT INTO label (id, item_id, schema_name, schema_version, rater_id, act, state,
              category, flagged, seal, created_at)
            VALUES (20, 5, 'decomposition', 1, 1, 'label', 'labelled', 'yes', 0, 'full', 't');
            INSERT INTO run (id, stage, parameters, tool_version, started_at, finished_at)
            VALUES (1, 'score', '{}', '0.1', 't1', 't2');
            """
        )
        connection.commit()
    key = "criterion:d/q1/m/0/unnamed/atomic"
    with open_store(db) as store:
        assert [d.name for d in store.decompositions()] == ["unnamed"]
        assert store.make_items([key]) == {key: 5}
        told = [x.label.item for x in store.export_labels(schema="decomposition")]
        assert told == [key]
        assert [i.decomposition for i in store.export_items() if i.criterion] == ["unnamed"]
        (run,) = store.runs()
        assert (run.stage, run.state, run.finished_at, run.stale) == ("score", "done", "t2", False)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.text(min_size=1, max_size=12).filter(lambda x: x.strip() != "none"))
def test_any_name_makes_a_key_that_is_read_back(name: str, store: Store) -> None:
    from store.keys import TraceItemKey, is_name

    key = TraceItemKey("criterion", ("d", "q", "m", "0"), decomposition=name, criterion="atomic")
    if is_name(name):
        assert TraceItemKey.parse(str(key)) == key
    else:
        with pytest.raises(ValueError, match="a name without control characters"):
            split(store, name)
