"""Finding a case's page again, and the case after another, in a narrowed queue."""

from __future__ import annotations

from typing import Any

import pytest

from store import Store, open_store
from store.records import CaseFilter
from tests.store.test_paging import fill, plans

N = 600
SIZE = 20


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Any:
    db = tmp_path_factory.mktemp("stopping") / "queue.db"
    fill(db, N)
    with open_store(db) as store:
        yield store


NARROWED: list[dict[str, Any]] = [{}, {"pool": "pool1"}, {"dataset": "d1", "pool": "pool1"}]
"""Of all cases and of those in pool1 some are done; of dataset d1, each has an open path."""


@pytest.mark.parametrize(
    ("show", "where"),
    [(show, where) for show in ("all", "unlabelled") for where in NARROWED]
    + [("done", where) for where in NARROWED[:2]],
)
def test_the_cursors_lead_to_the_page_of_a_case(
    show: CaseFilter, where: dict[str, Any], queue: Store
) -> None:
    ana = queue.rater("ana").id
    cursor, cursors = None, list[str]()
    while True:
        page = queue.cases(ana, show=show, after=cursor, limit=SIZE, **where)
        for row in (page.rows[0], page.rows[-1]):
            found = queue.cursors_to(ana, row.case_id, show=show, limit=SIZE, **where)
            assert found == tuple(cursors)
        cursor = page.cursor
        if cursor is None:
            break
        cursors.append(cursor)
    assert len(cursors) >= 1


@pytest.mark.parametrize("where", NARROWED)
def test_the_next_case_is_the_narrowed_lists(where: dict[str, Any], queue: Store) -> None:
    ana = queue.rater("ana").id
    order = [r.case_id for r in queue.cases(ana, limit=N, **where).rows]
    waiting = [r.case_id for r in queue.cases(ana, show="unlabelled", limit=N, **where).rows]
    assert len(waiting) >= 100
    at = {case: i for i, case in enumerate(order)}
    for case in (None, order[0], order[len(order) // 2], waiting[-2], waiting[-1]):
        later = [w for w in waiting if case is None or at[w] > at[case]]
        found = queue.neighbour_case(ana, case, show="unlabelled", **where)
        assert found == (later[0] if later else None)


@pytest.mark.parametrize("where", [{}, {"dataset": "d0"}, {"dataset": "d0", "pool": "none"}])
def test_the_last_act_is_looked_for_from_the_newest_act_back(
    where: dict[str, Any], queue: Store
) -> None:
    ana = queue.rater("ana").id
    (plan,) = plans(queue, lambda: queue.last_act(ana, **where))
    assert plan[0] == "SEARCH label USING INDEX ix_label_acts (rater_id=?)"
    assert [step for step in plan if "SCAN" in step or "ORDER BY" in step] == []
    assert [step for step in plan if "dataset=" in step] == []
