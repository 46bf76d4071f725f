"""Pages join up to the whole list; the first page is found through an index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert

from store import NewCase, Store, open_store
from store import tables as t
from store.records import CaseFilter, CaseRow
from store.repository.cases import CaseSort
from tests.store.world import (
    add_traces,
    decide,
    item_ids,
    new_question,
    new_trace,
    small_project,
)

N = 2_000
STATES = ("labelled", "unsure", "skipped", "open")


def fill(db: Path, n: int) -> None:
    """Write n questions of two paths with a case each, and ana's labels on some: rows in bulk.

    Case i has decided paths when i is divisible by 3, one of two when i % 3 is 1; it is flagged
    when i is divisible by 7. Bob labelled everything.
    """
    with open_store(db) as store:
        embedder = store.embedder("by-hand", "1", 3)
        scoring = store.scoring(embedder, {}, "test").id
        store.make_cases(scoring, {}, [])
        ana, bob = store.rater("ana").id, store.rater("bob").id
        ids, both = range(1, n + 1), range(1, 2 * n + 1)
        texts = [f"How many in {i}?" for i in range(n + 1)]
        rows: list[tuple[Any, list[dict[str, Any]]]] = [
            (t.Question, [question_row(i, texts[i]) for i in ids]),
            (t.QuestionSearch, [search_row(i, texts[i]) for i in ids]),
            (t.Pool, [{"id": i, "question_id": i, "name": f"pool{i % 2}"} for i in ids]),
            (t.Trace, [trace_row(k) for k in both]),
            (t.Item, [item_row(k) for k in both]),
            (t.AuditCase, [case_row(i) for i in ids]),
            (t.CaseItem, [case_item_row(k) for k in both]),
            (t.Label, [label_row(bob, k, "labelled", False) for k in both]),
            (t.Label, list(ana_rows(ana, n))),
        ]
        with store._write() as session:
            for table, values in rows:
                session.execute(insert(table), values)


def question_row(i: int, text: str) -> dict[str, Any]:
    return {"id": i, "dataset": f"d{i % 3}", "external_id": f"q{i:05}", "text": text}


def search_row(i: int, text: str) -> dict[str, Any]:
    return {"question_id": i, "folded": f"d{i % 3}\x1fq{i:05}\x1f{text.casefold()}"}


def trace_row(k: int) -> dict[str, Any]:
    rest = {"n_steps": 0, "n_unannotated": 0, "parsed": True, "strict": True, "parser": "x"}
    texts: dict[str, Any] = {"form": "text", "source": "", "source_hash": "", "steps": []}
    return {"id": k, "pool_id": (k + 1) // 2, "sample": str(k % 2), "issues": [], **texts, **rest}


def item_row(k: int) -> dict[str, Any]:
    return {"id": k, "key": f"path:{k}", "kind": "path", "question_id": (k + 1) // 2, "trace_id": k}


def case_row(i: int) -> dict[str, Any]:
    key = f"{i * 7919 % 1000:016x}"  # some share a key, so the id must break the tie
    sampling = {"stratum": "s", "inclusion_probability": 1.0}
    return {"id": i, "pool_id": i, "design_id": 1, "random_key": key, **sampling}


def case_item_row(k: int) -> dict[str, Any]:
    return {"case_id": (k + 1) // 2, "item_id": k, "position": k % 2, "inclusion_probability": 1.0}


def label_row(rater: int, item: int, state: str, flagged: bool) -> dict[str, Any]:
    category = "faithful" if state == "labelled" else None
    what = {"state": state, "category": category, "flagged": flagged, "act": "label"}
    return {"item_id": item, "schema_name": "path", "rater_id": rater, "seal": "full", **what}


def ana_rows(ana: int, n: int) -> Any:
    for i in range(1, n + 1):
        first, second = 2 * i - 1, 2 * i
        if i % 3 == 0:
            yield label_row(ana, first, STATES[i % 4 % 3], False)
        if i % 3 in (0, 1):
            yield label_row(ana, second, "labelled", False)
        if i % 7 == 0:  # an earlier flag taken off again on the first path, a flag on the second
            state = STATES[i % 4 % 3] if i % 3 == 0 else "open"
            yield label_row(ana, first, state, True)
            yield label_row(ana, first, state, False)
            yield label_row(ana, second, "open" if i % 3 == 2 else "labelled", True)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    db = tmp_path_factory.mktemp("paging") / "many.db"
    fill(db, N)
    with open_store(db) as store:
        yield store


SHOWN: dict[str, Callable[[int], bool]] = {
    "all": lambda i: True,
    "done": lambda i: i % 3 == 0,
    "unlabelled": lambda i: i % 3 != 0,
    "flagged": lambda i: i % 7 == 0,
}
ORDER: dict[str, Callable[[int], tuple[int, int]]] = {
    "random": lambda i: (i * 7919 % 1000, i),
    "question": lambda i: (i % 3, i),
}


def expected(show: CaseFilter, sort: CaseSort, search: str) -> list[int]:
    found = [i for i in range(1, N + 1) if SHOWN[show](i) and matches(i, search)]
    return sorted(found, key=ORDER[sort])


def matches(i: int, search: str) -> bool:
    texts = (f"d{i % 3}", f"q{i:05}", f"How many in {i}?")
    return any(search.casefold() in text.casefold() for text in texts)


def read_all(store: Store, rater: int, limit: int, **query: Any) -> list[CaseRow]:
    rows: list[CaseRow] = []
    cursor = None
    while True:
        page = store.cases(rater, after=cursor, limit=limit, **query)
        rows.extend(page.rows)
        if page.cursor is None:
            assert page.total == len(rows)
            return rows
        assert len(page.rows) == limit
        cursor = page.cursor


@pytest.mark.parametrize("search", ["", "Q001", "MANY IN 13", "d2", "no such text"])
@pytest.mark.parametrize("sort", ["random", "question"])
@pytest.mark.parametrize("show", ["all", "unlabelled", "done", "flagged"])
def test_pages_join_up_to_the_whole_list(
    show: CaseFilter, sort: CaseSort, search: str, many: Store
) -> None:
    ana = many.rater("ana").id
    rows = read_all(many, ana, 190, show=show, sort=sort, search=search)
    assert [r.case_id for r in rows] == expected(show, sort, search)
    assert [r.position for r in rows] == list(range(1, len(rows) + 1))
    for r in rows:
        i = r.case_id
        assert (r.n_items, r.n_mine, r.flagged) == (2, (2, 1, 0)[i % 3], i % 7 == 0)
        assert (r.question_id, r.question) == (f"q{i:05}", f"How many in {i}?")


def test_a_page_that_ends_with_the_list_has_no_cursor(many: Store) -> None:
    page = many.cases(many.rater("ana").id, limit=N)
    assert (len(page.rows), page.total, page.cursor) == (N, N, None)


def test_a_dataset_and_a_pool_narrow_the_list(many: Store) -> None:
    ana = many.rater("ana").id
    rows = read_all(many, ana, 100, dataset="d1", pool="pool0", show="unlabelled")
    assert [r.case_id for r in rows] == [
        i for i in expected("unlabelled", "random", "") if i % 3 == 1 and i % 2 == 0
    ]


@pytest.mark.parametrize("show", ["all", "unlabelled", "done", "flagged"])
def test_neighbours_walk_the_same_list(show: CaseFilter, many: Store) -> None:
    ana = many.rater("ana").id
    whole = expected(show, "random", "")
    assert many.neighbour_case(ana, None, show=show) == whole[0]
    assert many.neighbour_case(ana, None, direction="previous", show=show) == whole[-1]
    for at in (0, 1, 100, len(whole) - 2):
        assert many.neighbour_case(ana, whole[at], show=show) == whole[at + 1]
        back = many.neighbour_case(ana, whole[at + 1], direction="previous", show=show)
        assert back == whole[at]
    assert many.neighbour_case(ana, whole[-1], show=show) is None
    assert many.neighbour_case(ana, whole[0], direction="previous", show=show) is None


def test_positions_count_the_whole_list(many: Store) -> None:
    whole = expected("all", "random", "")
    for at in (0, 1, 999, N - 1):
        assert many.case_position(whole[at]) == (at + 1, N)


def test_a_list_that_grows_shorter_while_it_is_paged_repeats_nothing(store: Store) -> None:
    cases = small_project(store, 6)
    ana = store.rater("ana").id
    page = store.cases(ana, show="unlabelled", limit=2)
    assert [r.case_id for r in page.rows] == cases[:2]
    decide(store, cases[0], ana)
    decide(store, cases[3], ana)
    rest = store.cases(ana, show="unlabelled", after=page.cursor, limit=10)
    assert [r.case_id for r in rest.rows] == [cases[2], *cases[4:]]
    assert rest.total == 4


# --- searching -----------------------------------------------------------------------------

TEXTS = {
    "percent": "is 50% of it enough",
    "underscore": "snake_case or not",
    "quotes": "she said \"no\" and 'yes'",
    "backslash": r"C:\new\table",
    "newline": "first line\nsecond line\ttab",
    "plain": "nothing of the kind",
    "umlaut": "Größe des ÄRGERS",
    "emoji": "two 🍎 and a 🍐",
    "surrogate": "half \ud83c and é",
    "slash": "and/or",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_store(tmp_path_factory.mktemp("search") / "a.db") as store:
        add_traces(store, (new_trace(new_question(k, text=v)) for k, v in TEXTS.items()))
        scoring = store.scoring(store.embedder("by-hand", "1", 3), {}, "test").id
        store.make_cases(
            scoring,
            {},
            [
                NewCase(p.id, "s", 1.0, ((f"path:own/{p.question_id}/{p.pool}/0", 1.0),))
                for p in store.pools()
            ],
        )
        yield store


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("%", ["percent"]),
        ("50%", ["percent"]),
        ("5%0", []),
        ("_", ["underscore"]),
        ("snake_case", ["underscore"]),
        ("snake.case", []),
        ('"', ["quotes"]),
        ('"no"', ["quotes"]),
        ("'", ["quotes"]),
        ("\\", ["backslash"]),
        ("\\new", ["backslash"]),
        ("new", ["backslash", "newline"]),
        ("nsecond", []),
        ("line\nsecond", ["newline"]),
        ("\ttab", ["newline"]),
        ("u00", []),
        ("NOTHING OF", ["plain"]),
        ("ärgers", ["umlaut"]),
        ("GRÖSSE", ["umlaut"]),
        ("🍎", ["emoji"]),
        ("É", ["surrogate"]),
        ("half \ud83c", ["surrogate"]),
        ("/", ["slash"]),
        ("own", list(TEXTS)),
        ("ownpercent", []),
        ("\x00", ["surrogate"]),  # both are shown as the replacement character
        ("'; DROP TABLE label; --", []),
        ("x" * 20_000, []),
    ],
)
def test_search_takes_the_text_to_the_letter(search: str, found: list[str], texts: Store) -> None:
    page = texts.cases(0, search=search, sort="question")
    assert [r.question_id for r in page.rows] == sorted(found)
    assert page.total == len(found)


# --- plans ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Any:
    db = tmp_path_factory.mktemp("plans") / "large.db"
    fill(db, 20_000)
    with open_store(db) as store:
        yield store


def plans(store: Store, call: Any) -> list[list[str]]:
    """Return the steps of the plan of every SELECT that a call runs."""
    statements: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if statement.startswith("SELECT"):
            statements.append((statement, parameters))

    engine = store._engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        call()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    with engine.connect() as connection:
        return [
            [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)]
            for sql, values in statements
        ]


@pytest.mark.parametrize("show", ["all", "unlabelled"])
def test_a_page_in_random_order_is_read_through_the_index(show: CaseFilter, large: Store) -> None:
    ana = large.rater("ana").id
    cursor = large.cases(ana, show=show).cursor
    for after in (None, cursor):
        every = plans(large, lambda after=after: large.cases(ana, show=show, after=after))
        page = next(p for p in every if any("ix_audit_case_order" in step for step in p))
        assert "audit_case USING INDEX ix_audit_case_order" in page[0]
        assert ("random_key>" in page[0]) == (after is not None)
        assert [step for step in page if "ORDER BY" in step] == []


def test_what_a_key_press_asks_for_is_looked_up_not_scanned(large: Store) -> None:
    ana, path = large.rater("ana").id, large.schema()
    case = large.cases(ana).rows[0].case_id
    item = item_ids(large, case, ana)[0]
    calls = {
        "case": lambda: large.case(case, ana, path),
        "check": lambda: large.reveal_check(case, ana, path),
        "commit": lambda: large.commit_label(ana, item, path, category="spurious"),
        "note": lambda: large.annotate(ana, item, path, note="x"),
        "undo": lambda: large.undo(ana),
        "redo": lambda: large.redo(ana),
        "label": lambda: large.label(ana, item, path),
        "next": lambda: large.neighbour_case(ana, case, show="unlabelled"),
    }
    tables = ("label", "item", "trace", "case_item", "question", "pool", "reveal")
    scanned = {
        name: [s for plan in plans(large, call) for s in plan if s.split()[:2][0] == "SCAN"]
        for name, call in calls.items()
    }
    for name, steps in scanned.items():
        assert [s for s in steps if s.split()[1] in tables] == [], name
    assert [s for s in scanned["next"] if "ix_audit_case_order" not in s] == []


def test_a_page_of_a_large_group_is_walked_to_and_one_of_a_small_group_is_sorted(
    tmp_path: Path,
) -> None:
    """Either way the list is the same; what is the cheaper one depends on the group's size."""
    fill(tmp_path / "a.db", 3_000)
    with open_store(tmp_path / "a.db") as store, store._write() as session:
        question, pool = t.Question.__table__, t.Pool.__table__  # type: ignore[attr-defined]
        session.execute(question.update().values(dataset="large"))
        session.execute(question.update().where(question.c.id % 30 == 0).values(dataset="small"))
        session.execute(pool.update().values(name="p"))
    with open_store(tmp_path / "a.db") as store:
        ana = store.rater("ana").id
        for dataset, walked in (("large", True), ("small", False)):
            wanted = {"dataset": dataset, "pool": "p", "limit": 20}
            every = plans(store, lambda w=wanted: store.cases(ana, **w))
            assert any("ix_audit_case_order" in s for plan in every for s in plan) is walked
            shown: list[CaseFilter] = ["all", "unlabelled", "done", "flagged"]
            for show in shown:
                rows = read_all(store, ana, 20, dataset=dataset, pool="p", show=show)
                ids = [i for i in range(1, 3_001) if (i % 30 == 0) is (dataset == "small")]
                kept = sorted((i for i in ids if SHOWN[show](i)), key=ORDER["random"])
                assert [r.case_id for r in rows] == kept


def test_labels_on_a_few_items_are_looked_up_by_these_items(large: Store) -> None:
    """Not by their rater alone, who may have made thousands."""
    ana = large.rater("ana").id
    case = large.cases(ana).rows[0].case_id
    items = item_ids(large, case, ana)
    last = large.cases(ana, limit=20_000).rows[-1].case_id
    decided = item_ids(large, last, ana)[0]
    large.commit_label(ana, decided, large.schema(), category="faithful", active_seconds=1.0)
    with large._write() as session:
        rows = [
            {"key": f"step:{k}", "kind": "step", "question_id": q, "trace_id": k, "step": 0}
            for k, q in ((items[0], case), (decided, last))
        ]
        session.execute(insert(t.Item), rows)
    # A pace begins with the rater's newest acts, read from their end up to a limit.
    for call, n in ((lambda: large.step_labels_of(ana, items), 0), (lambda: large.pace(ana), 1)):
        steps = [s for plan in plans(large, call) for s in plan if s.startswith("SEARCH label ")]
        assert any("item_id=?" in s for s in steps)
        assert sum(s.endswith("(rater_id=?)") for s in steps) == n


def test_the_overview_reads_no_texts(large: Store) -> None:
    steps = [s for plan in plans(large, lambda: large.overview(None)) for s in plan]
    reads = [s for s in steps if s.startswith("SCAN trace")]
    assert reads == ["SCAN trace USING COVERING INDEX ix_trace_counts"]
