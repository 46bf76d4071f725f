"""`medoid batch status` and `cancel`, against a local Batch API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import open_store
from tests.definitions.running import DB, medoid
from tests.pipeline.batch_server import BatchServer
from tests.pipeline.conftest import line, write_lines

N = 3


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _submitted(server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEDOID_MODELS", raising=False)
    rows = [line(f"q{i}", 0, "yes", f"Step {i} one.", (f"Step {i} two.", [0])) for i in range(N)]
    write_lines(Path("t.jsonl"), rows)
    Path("medoid.toml").write_text(
        f'[models.small]\nbase_url = "{server.url}"\nmodel = "m"\nstructured = "schema"\n'
    )
    assert medoid("import", "t.jsonl").code == 0
    assert medoid("judge", "--all", "--batch").code == 1


def test_status_tells_how_open_batches_stand(server: BatchServer) -> None:
    ran = medoid("batch", "status")
    assert ran.code == 0
    head, row = ran.out.splitlines()
    assert head.split() == ["batch", "stage", "model", "state", "done", "failed", "of", "age"]
    assert row.split()[:7] == ["batch_0", "judge", "m", "in_progress", "0", "0", "3"]
    assert max(map(len, (head, row))) <= 80
    server.finish(lines=2)
    (found,) = medoid("batch", "status", "--json").json
    assert (found["status"], found["completed"], found["failed"]) == ("completed", 2, 1)
    assert (found["id"], found["is_open"], found["problem"]) == ("batch_0", True, None)
    assert found["age"] >= 0
    # Looking collects nothing.
    with open_store(DB) as store:
        assert (store.n_replies(), len(store.open_runs("batch"))) == (0, 1)


def test_what_is_collected_is_shown_where_asked_for(server: BatchServer) -> None:
    server.finish()
    assert medoid("judge", "--all", "--batch").code == 0
    ran = medoid("batch", "status")
    assert (ran.code, ran.out) == (
        0,
        "no open batches: --batch submits some, --ended N shows those that ended\n",
    )
    ended = medoid("batch", "status", "--ended", "5")
    assert ended.out.splitlines()[1].split()[:8] == [
        *("batch_0", "judge", "m", "completed", "*", "3", "0", "3"),
    ]
    assert server.calls["GET /batches/batch_0"] == 1


def test_a_cancelled_batch_is_collected_and_the_rest_asked(server: BatchServer) -> None:
    ran = medoid("batch", "cancel", "batch_0")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "batch batch_0: cancelled, 0 of 3 requests were answered",
        "medoid judge, called as before, collects those; without --batch it asks the rest",
    ]
    assert server.calls["POST /batches/batch_0/cancel"] == 1
    (found,) = medoid("batch", "status", "--json").json
    assert (found["status"], found["is_open"]) == ("cancelled", True)
    failed = medoid("judge", "--all", "--batch", "--json").json["asking"]
    assert failed["outcomes"] == {"failed": 3}
    assert medoid("batch", "status", "--json").json == []
    assert medoid("judge", "--all", "--batch", "--json").json["asking"]["outcomes"] == {
        "unasked": 3
    }
    assert sorted(server.batches) == ["batch_0", "batch_1"]


def test_what_cannot_be_cancelled_is_told(server: BatchServer) -> None:
    ran = medoid("batch", "cancel", "odd")
    assert (ran.code, ran.err) == (2, "medoid: no open batch 'odd'; there are: batch_0\n")
    server.fault = lambda method, path: 400 if path.endswith("/cancel") else None
    ran = medoid("batch", "cancel", "batch_0")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"medoid: {server.url}: " in ran.err


def test_a_server_that_no_model_describes_is_not_asked(server: BatchServer) -> None:
    text = Path("medoid.toml").read_text()
    Path("medoid.toml").write_text(text.replace(server.url, "http://127.0.0.1:9/v1"))
    calls = sum(server.calls.values())
    ran = medoid("batch", "status")
    assert ran.code == 1
    assert ran.out.splitlines()[1].split()[:4] == ["batch_0", "judge", "m", "in_progress"]
    assert f"batch_0: no model of the settings is m at {server.url}: give its file" in ran.err
    assert medoid("batch", "cancel", "batch_0").code == 2
    assert sum(server.calls.values()) == calls
    found = medoid("batch", "status", "--model", "m", "--base-url", server.url, "--json")
    assert (found.code, json.loads(found.out)[0]["status"]) == (0, "in_progress")


def test_a_batch_that_was_never_submitted_is_told(server: BatchServer) -> None:
    with open_store(DB) as store:
        (row,) = store.open_runs("batch")
        parameters = {k: v for k, v in row.parameters.items() if k != "keys"}
        store.start_run("batch", {**parameters, "token": "t"}, "0", 7, unit="requests")
    first, second = medoid("batch", "status", "--json").json
    assert (first["id"], second["id"], second["status"], second["total"]) == (
        "batch_0",
        None,
        "not submitted",
        7,
    )
