from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.client import Budget
from judges.endpoint import Price
from judges.requests import Sampling
from pipeline.asking import Interrupted
from pipeline.generating import generate
from pipeline.progress import Progress
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.scripted import (
    add_questions,
    endpoint,
    model,
    only_role,
    roles,
    said,
    serving,
)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _questions(store: Store, tmp_path: Path) -> None:
    add_questions(store, tmp_path)


def samples(store: Store, pool: str = "small") -> dict[str, list[str]]:
    return {
        p.question_id: [r.sample for r in store.pool_traces(p.id)]
        for p in store.pools()
        if p.pool == pool
    }


@pytest.mark.parametrize("form", ["schema", "text"])
def test_n_samples_of_every_question_are_stored(
    store: Store, server: FaultServer, form: str
) -> None:
    done = generate(store, endpoint(server, structured=form), n=3)
    assert samples(store) == {"q1": ["0", "1", "2"], "q2": ["0", "1", "2"]}
    assert roles(server) == ["generator"] * 6
    assert (done.n_traces, done.n_strict, done.n_voting) == (6, 6, 6)
    assert (done.asking.outcomes, done.asking.n_left) == ({"ok": 6}, 0)
    assert (done.asking.prompt_tokens, done.asking.completion_tokens) == (66, 42)
    pool = store.pools()[0]
    (first, *_) = store.pool_traces(pool.id)
    assert [s.depends_on for s in first.trace.steps] == [(), (), (0, 1)]
    assert first.form == {"schema": "steps", "text": "text"}[form]
    assert first.trace.answer == pool.gold
    assert (pool.model, pool.variant) == ("m", None)
    assert pool.parameters == {
        "model": "m",
        "prompt_version": f"generator-{form}-short/1",
        "form": form,
        "length": "short",
        "sampling": {"temperature": 0.7},
    }


def test_a_second_run_asks_nothing_and_writes_nothing(
    store: Store, server: FaultServer, tmp_path: Path
) -> None:
    generate(store, endpoint(server), n=2)
    before = [len(server.seen), store.n_replies(), len(store.runs())]
    assert store.file is not None
    store.close()
    content = store.file.read_bytes()
    again = generate(store, endpoint(server), n=2)
    store.close()
    assert [len(server.seen), store.n_replies(), len(store.runs())] == before
    assert (again.asking.n_requests, again.asking.n_known, again.n_traces) == (0, 4, 0)
    assert store.file.read_bytes() == content


def test_a_higher_n_asks_only_for_the_rest(store: Store, server: FaultServer) -> None:
    generate(store, endpoint(server), n=2)
    more = generate(store, endpoint(server), n=5)
    assert len(server.seen) == 10
    assert (more.asking.n_requests, more.asking.n_known, more.n_traces) == (6, 4, 6)
    assert samples(store)["q1"] == ["0", "1", "2", "3", "4"]


def test_kept_replies_are_used_where_the_rows_are_missing(
    store: Store, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between a reply and its trace costs nothing: the reply is kept."""
    from pipeline import generating

    with monkeypatch.context() as patched:
        patched.setattr(generating.TraceSaver, "save", lambda *_: None)
        generate(store, endpoint(server), n=2)
    assert (samples(store), store.n_replies()) == ({}, 4)
    done = generate(store, endpoint(server), n=2)
    assert len(server.seen) == 4
    assert (done.asking.n_cached, done.asking.n_asked, done.n_traces) == (4, 0, 4)


def test_every_outcome_is_a_trace_but_a_failure(store: Store) -> None:
    """N asked, N stored: what is no answer is a trace that says so; a failure is asked again."""
    bad: dict[int, Answer] = {
        0: ok(None, refusal="I will not."),
        1: ok(""),
        2: ok('{"steps": [{"text": "Cut', finish="length"),
        3: ok("no JSON at all"),
        4: ok('{"steps": [], "answer": 3}'),
        5: error(400, "bad request"),
    }
    lock = threading.Lock()
    left = list(bad)

    def script(seen: Seen) -> Answer:
        with lock:
            return bad[left.pop(0)] if left else model(seen)

    with serving(script) as server:
        done = generate(store, endpoint(server, concurrency=1), n=8, limit=1)
        assert done.asking.outcomes == {
            "refused": 1,
            "empty": 1,
            "truncated": 1,
            "invalid": 2,
            "failed": 1,
            "ok": 2,
        }
        assert (done.n_traces, done.n_voting, done.asking.n_left) == (7, 2, 1)
        assert list(done.asking.reasons.values()) == [1]
        assert done.issues == {
            "reply_invalid": 2,
            "reply_refused": 1,
            "reply_empty": 1,
            "reply_truncated": 1,
        }
        (pool,) = store.pools()
        stored = store.pool_traces(pool.id)
        unusable = [r for r in stored if not r.trace.usable]
        assert len(unusable) == 5
        assert all(r.trace.answer is None and r.trace.issues for r in unusable)
        again = generate(store, endpoint(server, concurrency=1), n=8, limit=1)
        assert (again.asking.n_requests, again.n_traces, again.asking.n_left) == (1, 1, 0)
    assert samples(store)["q1"] == [str(i) for i in range(8)]


def test_a_cut_text_keeps_its_steps_and_never_an_answer(store: Store) -> None:
    def cut(seen: Seen) -> Answer:
        return ok(said(seen), finish="length")

    with serving(cut) as server:
        done = generate(store, endpoint(server, structured="text"), n=1, limit=1)
    (pool,) = store.pools()
    (record,) = store.pool_traces(pool.id)
    assert (done.asking.outcomes, done.n_parsed) == ({"truncated": 1}, 0)
    assert len(record.trace.steps) == 3
    assert record.trace.answer is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sampling": Sampling(temperature=1.0)}, r"temperature 0.7, not 1.0.*--variant"),
        ({"length": "long"}, r"length short, not long"),
        ({"form": "text"}, r"form schema, not text"),
        ({"sampling": Sampling(temperature=0.7, top_p=0.9)}, "top_p the server's own, not 0.9"),
    ],
)
def test_a_pool_belongs_to_one_sampling(
    store: Store, server: FaultServer, change: dict[str, object], message: str
) -> None:
    generate(store, endpoint(server), n=1)
    with pytest.raises(ValueError, match=message):
        generate(store, endpoint(server), n=2, **change)  # type: ignore[arg-type]
    assert len(server.seen) == 2
    generate(store, endpoint(server), n=1, variant="b", **change)  # type: ignore[arg-type]
    assert samples(store, "small@b") == {"q1": ["0"], "q2": ["0"]}


def test_a_variant_of_the_same_sampling_is_another_draw(store: Store, server: FaultServer) -> None:
    generate(store, endpoint(server), n=2)
    done = generate(store, endpoint(server), n=2, variant="again")
    assert (done.asking.n_asked, done.asking.n_cached, len(server.seen)) == (4, 0, 8)


def test_another_model_under_the_same_name_is_refused(store: Store, server: FaultServer) -> None:
    generate(store, endpoint(server), n=1)
    with pytest.raises(ValueError, match="model m, not other"):
        generate(store, endpoint(server, model="other"), n=1)


def test_an_imported_pool_is_not_sampled_into(store: Store, server: FaultServer) -> None:
    from pipeline.importing import import_files
    from tests.pipeline.conftest import line, write_lines

    assert store.file is not None
    rows = [line("z", 0, "yes", "A.", pool="small")]
    import_files(store, [write_lines(store.file.parent / "t.jsonl", rows)])
    with pytest.raises(ValueError, match=r"imported, not sampled here.*--variant"):
        generate(store, endpoint(server), n=1)
    assert server.seen == []


def test_a_dry_run_asks_and_writes_nothing(store: Store, server: FaultServer) -> None:
    price = Price(1.0, 2.0)
    generate(store, endpoint(server, price=price), n=1)
    seen, kept = len(server.seen), store.n_replies()
    store.close()
    assert store.file is not None
    content = store.file.read_bytes()
    done = generate(store, endpoint(server, price=price), n=3, dry_run=True)
    store.close()
    assert store.file.read_bytes() == content
    assert (len(server.seen), store.n_replies()) == (seen, kept)
    e = done.asking.estimate
    assert e is not None
    assert (e.n_requests, e.n_cached, e.n_to_ask, done.asking.n_known) == (4, 0, 4, 2)
    assert e.bytes_per_token is not None
    assert e.prompt_tokens == pytest.approx(4 * 11, abs=4)  # as the server counted before
    assert e.max_completion_tokens is not None
    assert e.cost == pytest.approx((e.prompt_tokens + 2 * e.max_completion_tokens) / 1e6)
    assert (done.asking.n_left, done.asking.currency) == (0, "USD")


def test_a_budget_stops_cleanly_and_the_next_run_goes_on(store: Store, server: FaultServer) -> None:
    # Each reply uses 18 tokens by the server's count, but may take far more beforehand.
    small = endpoint(server, concurrency=1)
    need = generate(store, small, n=1, limit=1, dry_run=True).asking.estimate
    assert need is not None
    assert need.max_completion_tokens is not None
    most = need.prompt_tokens + need.max_completion_tokens + 3 * 18
    done = generate(store, small, n=10, limit=1, budget=Budget(max_tokens=most))
    assert done.asking.stopped is not None
    assert "budget" in done.asking.stopped
    assert done.n_traces == done.asking.n_replied == 4
    assert (done.asking.n_left, done.asking.complete) == (6, False)
    assert [r.state for r in store.runs()] == ["stopped"]
    assert generate(store, small, n=10, limit=1).n_traces == 6


def test_a_key_that_is_refused_stops_everything(store: Store) -> None:
    with serving(lambda _: error(401, "wrong key")) as server:
        done = generate(store, endpoint(server, concurrency=1), n=20)
    assert done.n_traces == 0
    assert done.asking.n_left == 40
    assert done.asking.stopped is not None
    assert "401" in done.asking.stopped
    assert len(server.seen) == 1


def test_an_interruption_keeps_what_came(store: Store, server: FaultServer) -> None:
    def stop(event: Progress) -> None:
        if event.done >= 2 and not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    pressed: list[bool] = []

    with pytest.raises(Interrupted, match=r"interrupted; [0-9]+ of 40 replies are kept") as caught:
        generate(store, endpoint(server, concurrency=1), n=20, on_progress=stop)
    kept = sum(len(s) for s in samples(store).values())
    assert kept == caught.value.summary.n_replied == store.n_replies()
    assert 2 <= kept < 40
    (run,) = store.runs()
    assert (run.state, run.done, run.total) == ("interrupted", kept, 40)
    n = len(server.seen)
    done = generate(store, endpoint(server), n=20)
    assert done.n_traces == 40 - kept
    assert len(server.seen) - n == 40 - kept


def test_a_stop_event_ends_it_in_good_order(store: Store, server: FaultServer) -> None:
    stop = threading.Event()
    stop.set()
    done = generate(store, endpoint(server), n=2, stop=stop)
    assert (done.n_traces, done.asking.n_left, done.asking.stopped) == (0, 4, "interrupted")


def test_a_full_disk_stops_the_asking(
    store: Store, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline import generating
    from store import StoreError

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(generating.TraceSaver, "save", full)
    with pytest.raises(StoreError, match="the disk is full"):
        generate(store, endpoint(server, concurrency=1), n=200)
    assert len(server.seen) < 400
    assert [r.state for r in store.runs()] == ["failed"]


def test_the_run_is_recorded_with_what_it_used(store: Store, server: FaultServer) -> None:
    seen: list[Progress] = []
    generate(store, endpoint(server), n=2, on_progress=seen.append)
    (run,) = store.runs()
    assert (run.stage, run.state, run.done, run.total, run.unit) == (
        "generate",
        "done",
        4,
        4,
        "requests",
    )
    assert run.parameters["pool"] == "small"
    assert run.summary["outcomes"] == {"ok": 4}
    assert (seen[-1].done, seen[-1].total, seen[-1].tokens, seen[-1].errors) == (4, 4, 72, 0)


def test_limits_and_draws(store: Store, server: FaultServer, tmp_path: Path) -> None:
    add_questions(store, tmp_path, n=9, dataset="more")
    generate(store, endpoint(server), dataset="more", n=1, limit=3)
    assert set(samples(store)) == {"q1", "q2", "q3"}
    drawn = generate(store, endpoint(server), dataset="more", n=1, limit=3, seed=5, variant="d")
    few = set(samples(store, "small@d"))
    assert (drawn.n_questions, len(few)) == (3, 3)
    generate(store, endpoint(server), dataset="more", n=1, limit=6, seed=5, variant="d")
    assert few < set(samples(store, "small@d"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"limit": 0}, "limit is 0"),
        ({"dataset": "none"}, "no dataset 'none' in the database; there are: toy"),
        ({"variant": "a\nb"}, "name without control characters"),
    ],
)
def test_mistakes_are_told(
    store: Store, server: FaultServer, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        generate(store, endpoint(server), **options)  # type: ignore[arg-type]


def test_gold_is_never_sent(store: Store, server: FaultServer) -> None:
    generate(store, endpoint(server), n=1, limit=1)
    last = server.seen[0].body["messages"][-1]["content"]
    assert "12" not in last
    assert only_role("generator", lambda _: None)(server.seen[0]) == model(server.seen[0])
