"""The Batch API behind the same cache: submit, collect, kills at every point, no double submission."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judges.batches import chunked, read_lines
from judges.client import Budget
from judges.endpoint import Endpoint, Price
from judges.servers import Connections
from pipeline.batching import STAGE, BatchWay, open_batches
from pipeline.importing import import_files
from pipeline.judging import JudgeRunSummary, judge
from store import Store
from tests.judges.faults import Answer, Seen, error, ok
from tests.pipeline.batch_server import BatchServer
from tests.pipeline.conftest import line, write_lines
from tests.pipeline.scripted import endpoint as online
from tests.pipeline.scripted import model, serving

N = 6


@pytest.fixture(autouse=True)
def _paths(store: Store, tmp_path: Path) -> None:
    rows = [line(f"q{i}", 0, "yes", f"Step {i} one.", (f"Step {i} two.", [0])) for i in range(N)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


def at(server: BatchServer, **more: Any) -> Endpoint:
    return Endpoint("small", "m", (server.url,), structured="schema", **more)


def judged(
    store: Store, server: BatchServer, way: BatchWay | None = None, **more: Any
) -> JudgeRunSummary:
    endpoint = more.pop("endpoint", None) or at(server)
    return judge(store, endpoint, items="all", batch=way or BatchWay(), **more)


def labels(store: Store) -> list[tuple[str, str | None]]:
    return [(x.label.item, x.label.category) for x in store.export_labels(rater="small")]


def test_submit_then_collect(store: Store, server: BatchServer) -> None:
    first = judged(store, server)
    assert first.asking.outcomes == {"unasked": N}
    assert first.asking.stopped is not None
    assert f"{N} requests wait in batches at {server.url}" in first.asking.stopped
    assert labels(store) == []
    (run,) = store.open_runs(STAGE)
    assert (run.total, run.detail["batch"], run.stale) == (N, "batch_0", False)
    again = judged(store, server)
    assert again.asking.outcomes == {"unasked": N}
    assert len(server.batches) == 1
    server.finish()
    done = judged(store, server)
    assert (done.asking.outcomes, done.asking.complete) == ({"ok": N}, True)
    assert (done.asking.n_asked, done.asking.prompt_tokens) == (N, 11 * N)
    assert done.n_complete == N
    assert store.open_runs(STAGE) == ()
    assert store.run(run.id).state == "done"
    calls = sum(server.calls.values())
    assert judged(store, server).asking.n_requests == 0
    assert sum(server.calls.values()) == calls


def test_the_outcome_is_that_of_asking_online(store: Store, server: BatchServer) -> None:
    judged(store, server)
    server.finish()
    judged(store, server)
    by_batch = labels(store)
    with serving() as other:
        judge(store, online(other), items="all", rater="online")
    by_line = [(x.label.item, x.label.category) for x in store.export_labels(rater="online")]
    assert by_batch == by_line
    assert len(by_batch) == N


def test_a_line_is_the_body_that_is_asked_online(store: Store, server: BatchServer) -> None:
    judged(store, server)
    lines = {row["custom_id"]: row for row in server.input_of("batch_0")}
    with serving() as other:
        judge(store, online(other), items="all", rater="small2")
        bodies = [seen.body for seen in other.seen]
    assert all(row["body"] in bodies for row in lines.values())
    assert {row["url"] for row in lines.values()} == {"/v1/chat/completions"}
    assert server.batches["batch_0"]["completion_window"] == "24h"


def test_waiting_for_the_batches(store: Store, server: BatchServer) -> None:
    def fault(method: str, path: str) -> int | None:
        if method == "GET" and path == "/batches/batch_0" and server.calls["GET " + path] == 2:
            server.finish()
        return None

    server.fault = fault
    done = judged(store, server, BatchWay(wait=True, poll=0.005))
    assert (done.asking.outcomes, done.asking.stopped) == ({"ok": N}, None)
    assert store.open_runs(STAGE) == ()


def test_batches_are_cut_by_count_and_by_size(store: Store, server: BatchServer) -> None:
    judged(store, server, BatchWay(most_requests=4))
    assert [len(server.input_of(b)) for b in server.batches] == [4, 2]
    server.finish()
    assert judged(store, server).asking.outcomes == {"ok": N}
    rows = [(n, b"x" * size) for n, size in enumerate([4, 4, 4, 20, 1])]
    assert [[n for n, _ in c] for c in chunked(rows, 10, 9)] == [[0, 1], [2], [3], [4]]


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_what_a_batch_left_over_fails_and_is_submitted_again(
    store: Store, server: BatchServer, status: str
) -> None:
    judged(store, server)
    server.finish(status, lines=2)
    part = judged(store, server)
    assert part.asking.outcomes == {"ok": 2, "failed": 4}
    assert [f"the batch is {status}" in reason for reason in part.asking.reasons] == [True]
    assert store.open_runs(STAGE) == ()
    judged(store, server)
    assert [len(server.input_of(b)) for b in server.batches] == [N, 4]
    server.finish()
    assert judged(store, server).n_complete == N


def test_a_batch_that_fails_as_a_whole_says_why(store: Store, server: BatchServer) -> None:
    judged(store, server)
    server.batches["batch_0"] |= {
        "status": "failed",
        "errors": {"data": [{"message": "line 1 is wrong"}]},
    }
    done = judged(store, server)
    assert done.asking.outcomes == {"failed": N}
    (reason,) = done.asking.reasons
    assert reason == "the batch ended as failed without this request: line 1 is wrong"


def test_single_requests_may_fail_or_be_refused(store: Store) -> None:
    def script(seen: Seen) -> Answer:
        if "Step 0" in seen.prompt:
            return error(500, "broken")
        return ok(None, refusal="no") if "Step 1" in seen.prompt else model(seen)

    with BatchServer(script) as server:
        judged(store, server)
        server.finish()
        done = judged(store, server)
    assert done.asking.outcomes == {"failed": 1, "refused": 1, "ok": N - 2}


class Killed(BaseException):
    """Stands for kill -9."""


@pytest.mark.parametrize("place", ["POST /files", "POST /batches"])
@pytest.mark.parametrize("done", [True, False])
def test_a_kill_before_or_after_the_server_got_it(
    store: Store,
    server: BatchServer,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    done: bool,
) -> None:
    """Wherever the process dies, each request is in one batch in the end."""
    name = "upload" if place == "POST /files" else "post"
    real = getattr(Connections, name)

    async def dying(self: Connections, *args: Any) -> bytes:
        if done:
            await real(self, *args)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Connections, name, dying)
        with pytest.raises(Killed):
            judged(store, server)
    # While the row's process lives, nobody submits its requests.
    assert judged(store, server).asking.outcomes == {"unasked": N}
    assert len(server.batches) == (place == "POST /batches" and done)
    monkeypatch.setattr("store.repository.runs._is_dead", lambda row: True)
    assert judged(store, server).asking.outcomes == {"unasked": N}
    assert len(server.batches) == 1
    server.finish()
    assert judged(store, server).asking.outcomes == {"ok": N}
    assert len(server.batches) == 1


def test_a_lost_answer_creates_no_second_batch(store: Store, server: BatchServer) -> None:
    lost = iter([-1, 503])
    server.page = 1
    server.fault = lambda m, p: next(lost, None) if (m, p) == ("POST", "/batches") else None
    judged(store, server)
    assert len(server.batches) == 1
    assert len(server.keys) == 1
    (batch,) = open_batches(store)
    assert (batch.id, server.batches["batch_0"]["metadata"]) == ("batch_0", {"medoid": batch.token})
    assert server.keys == [batch.token]


def test_a_kill_after_the_download_loses_nothing(
    store: Store, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(store, server)
    server.finish()

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("pipeline.replies.StoreCache.keep_replies", die)
        with pytest.raises(Killed):
            judged(store, server)
    assert judged(store, server).asking.outcomes == {"ok": N}
    assert len(server.batches) == 1


def test_a_smaller_command_leaves_the_rest_for_the_larger(
    store: Store, server: BatchServer, tmp_path: Path
) -> None:
    more = [{**line("x", 0, "yes", "Step x."), "dataset": "other"}]
    import_files(store, [write_lines(tmp_path / "more.jsonl", more)])
    judged(store, server)
    assert len(server.input_of("batch_0")) == N + 1
    server.finish()
    assert judged(store, server, dataset="other").asking.outcomes == {"ok": 1}
    assert len(store.open_runs(STAGE)) == 1
    assert judged(store, server).asking.outcomes == {"ok": N}
    assert store.open_runs(STAGE) == ()
    assert len(server.batches) == 1


def test_cost_is_by_the_batch_price_and_the_budget_holds(store: Store, server: BatchServer) -> None:
    priced = at(server, price=Price(100, 100), batch_price=Price(50, 10))
    small = judged(store, server, endpoint=priced, budget=Budget(max_tokens=1))
    assert server.batches == {}
    assert small.asking.outcomes == {"unasked": N}
    assert "the budget is used up" in str(small.asking.stopped)
    judged(store, server, endpoint=priced)
    server.finish()
    done = judged(store, server, endpoint=priced)
    assert done.asking.cost == pytest.approx(N * (11 * 50 + 7 * 10) / 1e6)


def test_a_server_without_batches_is_told(store: Store, server: BatchServer) -> None:
    server.fault = lambda method, path: 404
    done = judged(store, server)
    assert done.asking.outcomes == {"unasked": N}
    assert "404" in str(done.asking.stopped)
    assert store.open_runs(STAGE) == ()
    server.fault = lambda method, path: None
    assert judged(store, server).asking.outcomes == {"unasked": N}
    assert len(server.batches) == 1


def test_lines_are_read_whatever_else_is_there() -> None:
    content = b'{"custom_id": "a", "response": {"status_code": 200, "body": {}}}\n[1]\nx\n\n'
    content += b'{"custom_id": 3}\n{"custom_id": "b", "response": null, "error": {"code": "c"}}'
    found = read_lines(content)
    assert {k: v.status for k, v in found.items()} == {"a": 200, "b": None}
    assert found["b"].error == {"code": "c"}
