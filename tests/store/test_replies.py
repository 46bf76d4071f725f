"""Replies of models are kept for good, found fast, counted; nothing a model writes breaks them."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import Store, open_store
from store.model_records import REPLIED, ReplyRecord
from tests.store.models_world import keep, reply, request
from tests.store.world import item_ids, small_project

HARD = "a\x00b\ud800c\x1b[31md\x1b]0;t\x07e\U0001f600\u202e\r\n\u2028" + "x" * 5000


def dump(db: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(db)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


# --- keeping and finding -------------------------------------------------------------------


def test_a_kept_reply_is_found_as_it_came(store: Store) -> None:
    asked = request("q", 3, body={"model": "m", "messages": [["user", HARD]], "schema": None})
    came = reply(
        HARD,
        data={"verdict": HARD, "n": [1, None, 2.5]},
        finish_reason=HARD,
        served_model="m-2026\x00",
        prompt_tokens=12,
        completion_tokens=34,
        cost=0.25,
        seconds=1.5,
        attempts=2,
    )
    refused = reply("", outcome="refused", reason=HARD)
    other = request("other", role="judge")
    assert store.keep_replies([(asked, came), (other, refused)]) == 2
    assert store.find_replies([asked.key, "no such:0", other.key, asked.key]) == {
        asked.key: came,
        other.key: refused,
    }
    assert store.n_replies() == 2
    assert store.find_replies([]) == {}
    assert store.keep_replies([]) == 0


texts = st.text(st.characters(codec=None), max_size=30)  # lone surrogates and NUL included
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
replies = st.builds(
    ReplyRecord,
    outcome=st.sampled_from(REPLIED),
    text=texts,
    data=values,
    reason=texts,
    finish_reason=st.none() | texts,
    served_model=st.none() | texts,
    prompt_tokens=st.none() | st.integers(0, 2**31 - 1),
    completion_tokens=st.none() | st.integers(0, 2**31 - 1),
    cost=st.none() | st.floats(0, 1e9),
    seconds=st.none() | st.floats(0, 1e9),
    attempts=st.integers(0, 99),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_store(tmp_path_factory.mktemp("replies") / "a.db") as opened:
        yield opened


COUNT = Counter[str]()


@settings(max_examples=60, deadline=None)
@given(kept=replies)
def test_any_reply_comes_back_equal(kept: ReplyRecord, shared: Store) -> None:
    COUNT["n"] += 1
    asked = request(f"any {COUNT['n']}")
    shared.keep_replies([(asked, kept)])
    (found,) = shared.find_replies([asked.key]).values()
    assert found == kept
    assert repr(found.data) == repr(kept.data)  # 1 is no 1.0 and no True


def test_a_number_that_is_too_large_for_json_loses_no_reply(store: Store) -> None:
    asked = request()
    store.keep_replies([(asked, reply('{"n": 1e999}', data={"n": float("inf")}))])
    assert store.find_replies([asked.key])[asked.key].data == {"n": float("inf")}


@pytest.mark.parametrize("count", [-1, 2**31, 10**30])
def test_a_count_that_no_server_can_mean_is_none(store: Store, count: int) -> None:
    asked = request()
    store.keep_replies([(asked, reply(prompt_tokens=count, completion_tokens=7))])
    found = store.find_replies([asked.key])[asked.key]
    assert (found.prompt_tokens, found.completion_tokens) == (None, 7)


def test_the_first_reply_of_a_key_stays(store: Store, db: Path) -> None:
    asked = request()
    assert store.keep_replies([(asked, reply("first")), (asked, reply("second"))]) == 1
    before = (dump(db, "model_reply"), dump(db, "model_request"))
    assert store.keep_replies([(asked, reply("third"))]) == 0
    assert store.keep_replies([(replace(asked, role="judge", body={}), reply("fourth"))]) == 0
    assert (dump(db, "model_reply"), dump(db, "model_request")) == before
    assert store.find_replies([asked.key])[asked.key].text == "first"


def test_samples_share_their_request(store: Store, db: Path) -> None:
    asked = [request("q", n) for n in range(20)]
    assert store.keep_replies([(a, reply(f"trace {a.sample}")) for a in asked]) == 20
    assert store.keep_replies([(request("q", 20), reply("one more"))]) == 1
    assert len(dump(db, "model_request")) == 1
    found = store.find_replies([a.key for a in asked])
    assert [found[a.key].text for a in asked] == [f"trace {n}" for n in range(20)]


@pytest.mark.parametrize("outcome", ["failed", "unasked", "OK", ""])
def test_what_is_no_reply_is_refused_and_nothing_of_the_batch_is_kept(
    store: Store, outcome: Any
) -> None:
    good, bad = request("good"), request("bad")
    with pytest.raises(ValueError, match=rf"{bad.key} ended as '{outcome}', which is no reply"):
        store.keep_replies([(good, reply()), (bad, reply(outcome=outcome))])
    assert store.n_replies() == 0


def test_a_key_of_another_request_is_refused(store: Store) -> None:
    wrong = replace(request("q", 1), sample=2)
    with pytest.raises(ValueError, match=r"is not the key of body '[0-9a-f]{64}', sample 2"):
        store.keep_replies([(wrong, reply())])
    assert store.n_replies() == 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE model_reply SET text = '\"other\"'",
        "DELETE FROM model_reply",
        "INSERT OR REPLACE INTO model_reply SELECT * FROM model_reply",
        "UPDATE model_request SET body = '{}'",
        "DELETE FROM model_request",
        "INSERT OR REPLACE INTO model_request SELECT * FROM model_request",
    ],
)
def test_the_database_itself_refuses_a_change(store: Store, db: Path, change: str) -> None:
    keep(store, "q")
    before = (dump(db, "model_reply"), dump(db, "model_request"))
    with closing(sqlite3.connect(db)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="rows are append-only"):
            connection.execute(change)
        connection.rollback()
    assert (dump(db, "model_reply"), dump(db, "model_request")) == before


def test_ten_thousand_replies_are_found_lean(store: Store) -> None:
    asked = [request(f"q{n // 20}", n % 20) for n in range(10_000)]
    assert store.keep_replies([(a, reply("x" * 1000)) for a in asked]) == 10_000
    keys = [a.key for a in asked]
    tracemalloc.start()
    found = store.find_replies(keys)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 10_000
    assert found[keys[-1]].text == "x" * 1000
    assert peak < 30e6  # the texts are 10 MB; no rows or sessions beside them


# --- usage ---------------------------------------------------------------------------------


def test_usage_is_counted_by_role_and_model(store: Store) -> None:
    def one(role: str, model: str, n: int, **rest: Any) -> tuple[Any, ReplyRecord]:
        return request(f"{role} {n}", role=role, model=model), reply(**rest)

    priced = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.5, "seconds": 2.0}
    store.keep_replies(
        [
            one("judge", "big", 1, **priced),
            one("judge", "big", 2, **{**priced, "outcome": "invalid"}),
            one("judge", "big", 3, outcome="refused", prompt_tokens=7, cost=0.25),
            one("judge", "small", 4, prompt_tokens=1, completion_tokens=1),
            one("generator", "big", 5, outcome="empty"),
        ]
    )
    generator, big, small = store.usage_by_role()
    assert (generator.role, generator.model, generator.n) == ("generator", "big", 1)
    assert (generator.by_outcome, generator.cost) == ({"empty": 1}, None)
    assert (generator.unknown_tokens, generator.unknown_cost) == (1, 1)
    assert (big.role, big.model, big.n) == ("judge", "big", 3)
    assert dict(big.by_outcome) == {"ok": 1, "refused": 1, "invalid": 1}
    assert (big.prompt_tokens, big.completion_tokens, big.unknown_tokens) == (27, 10, 1)
    assert (big.cost, big.unknown_cost, big.seconds) == (1.25, 0, 4.0)
    assert (small.model, small.n, small.prompt_tokens, small.cost) == ("small", 1, 1, None)


def test_usage_of_nothing_is_nothing(store: Store) -> None:
    assert store.usage_by_role() == ()


# --- what servers were found to be -----------------------------------------------------------


def test_findings_are_replaced_by_newer_ones(store: Store) -> None:
    url = "http://127.0.0.1:8080/v1"
    assert store.finding(url, "m") is None
    store.keep_finding(url, "m", {"structured": True, "notes": ["a\x00b"]})
    first = store.finding(url, "m")
    assert first is not None
    assert (first.base_url, first.model) == (url, "m")
    assert first.findings == {"structured": True, "notes": ["a\x00b"]}
    store.keep_finding(url, "m", {"structured": False})
    second = store.finding(url, "m")
    assert second is not None
    assert second.findings == {"structured": False}
    assert second.found_at > first.found_at
    assert store.finding(url, "other") is None


@pytest.mark.parametrize("url", ["http://me:secret@h/v1", "http://secret@h/v1"])
def test_a_url_with_a_password_is_never_stored(store: Store, db: Path, url: str) -> None:
    with pytest.raises(ValueError, match="holds a user name or password") as caught:
        store.keep_finding(url, "m", {})
    assert "secret" not in str(caught.value)
    assert dump(db, "server_finding") == []


# --- processes -----------------------------------------------------------------------------

KEEP_FOR_EVER = """
import sys
from store import open_store
from tests.store.models_world import reply, request
with open_store(sys.argv[1]) as store:
    name, size, n = sys.argv[2], int(sys.argv[3]), 0
    while True:
        batch = [(request(f"{name} {n + i}"), reply(f"{name} {n + i} " + "x" * 500))
                 for i in range(size)]
        store.keep_replies(batch)
        n += size
        print(n, flush=True)
"""


def keeper(db: Path, name: str, size: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", KEEP_FOR_EVER, str(db), name, str(size)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"{size}\n"
    return process


def test_replies_survive_kill_9_once_they_are_kept(db: Path) -> None:
    process = keeper(db, "q", 50)
    assert process.stdout is not None
    printed = [50, *(int(process.stdout.readline()) for _ in range(4))]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    printed += [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    with open_store(db) as store:
        found = store.find_replies([request(f"q {n}").key for n in range(max(printed))])
        assert len(found) == max(printed) == printed[-1]
        assert [found[request(f"q {n}").key].text[:6] for n in (0, max(printed) - 1)] == [
            "q 0 xx",
            f"q {max(printed) - 1} xx"[:6],
        ]
        # A batch may have been committed just before its line was printed, whole or not at all.
        assert store.n_replies() in (max(printed), max(printed) + 50)
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_label_gets_in_while_two_processes_keep_replies(db: Path) -> None:
    with open_store(db) as store:
        (case,) = small_project(store, 1)
        items = item_ids(store, case, store.rater("ana").id)
    writers = [keeper(db, name, 100) for name in ("one", "two")]
    passed = []
    try:
        with open_store(db) as store:
            ana, path = store.rater("ana").id, store.schema()
            for n in range(8):
                before = store.n_replies()
                category = ("faithful", "spurious")[n // 4 % 2]
                saved = store.commit_label(ana, items[n % 4], path, category=category)
                passed.append((store.n_replies() - before) / 100)
                assert saved.category == category
            assert [w.poll() for w in writers] == [None, None]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate(timeout=60)
    # A label waits for the batch that is being written, seldom for more than the other one's.
    assert sum(passed) <= 4 * len(passed)


def test_processes_that_keep_the_same_replies_at_once_agree(db: Path) -> None:
    code = """
import sys
from store import open_store
from tests.store.models_world import reply, request
with open_store(sys.argv[1]) as store:
    print(sum(store.keep_replies([(request(f"q{n}"), reply(sys.argv[2]))]) for n in range(15)))
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(db), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("ana", "bob")
    ]
    new = {
        n: int(p.communicate(timeout=120)[0])
        for n, p in zip(("ana", "bob"), processes, strict=True)
    }
    with open_store(db) as store:
        found = store.find_replies([request(f"q{n}").key for n in range(15)])
    assert len(found) == 15
    assert Counter(r.text for r in found.values()) == {n: k for n, k in new.items() if k}
