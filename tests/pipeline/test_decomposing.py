from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.requests import Sampling
from pipeline.decomposing import decompose
from pipeline.embedding import embed
from pipeline.facts import fact_source
from pipeline.generating import generate
from pipeline.scoring import score
from scoring.types import Fact
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder
from tests.pipeline.scripted import add_questions, endpoint, only_role, roles, serving


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _traces(store: Store, tmp_path: Path, server: FaultServer) -> None:
    add_questions(store, tmp_path)
    generate(store, endpoint(server), n=2)
    server.seen.clear()


@pytest.mark.parametrize("form", ["schema", "text"])
def test_every_trace_gets_its_facts(store: Store, server: FaultServer, form: str) -> None:
    done = decompose(store, endpoint(server, structured=form))
    # Two samples of one question are the same text here, so one request answers for both.
    assert roles(server) == ["decomposer"] * 2
    assert (done.name, done.n_traces, done.n_stepless, done.n_decomposed) == ("small", 4, 0, 4)
    assert (done.n_facts, done.n_steps, done.n_dropped, done.n_invented) == (24, 12, 0, 0)
    source = fact_source(store, "small")
    pool = store.pools()[0]
    (first, *_) = store.pool_traces(pool.id)
    facts = source.of_pool(pool.id, [first]).facts[first.id]
    text = first.trace.steps[0].text
    assert facts[:2] == (Fact(f"{text} (a)", 0), Fact(f"{text} (b)", 0))
    assert [f.step for f in facts] == [0, 0, 1, 1, 2, 2]


def test_a_second_run_asks_and_writes_nothing(store: Store, server: FaultServer) -> None:
    decompose(store, endpoint(server))
    n, runs = len(server.seen), len(store.runs())
    again = decompose(store, endpoint(server))
    assert (len(server.seen), len(store.runs())) == (n, runs)
    assert (again.asking.n_requests, again.asking.n_known, again.n_decomposed) == (0, 4, 0)


def test_new_traces_are_decomposed_alone(store: Store, server: FaultServer) -> None:
    decompose(store, endpoint(server))
    generate(store, endpoint(server), n=3)
    again = decompose(store, endpoint(server))
    assert (again.asking.n_requests, again.asking.n_known) == (2, 4)


def test_traces_without_steps_are_counted_and_not_asked(store: Store, tmp_path: Path) -> None:
    with serving(lambda _: ok("", usage=None)) as empty:
        generate(store, endpoint(empty), n=1, variant="empty")
    with serving() as server:
        done = decompose(store, endpoint(server), pool="small@empty")
        assert server.seen == []
    assert (done.n_traces, done.n_stepless, done.asking.n_requests) == (2, 2, 0)


def test_a_decomposition_belongs_to_one_way_of_asking(store: Store, server: FaultServer) -> None:
    decompose(store, endpoint(server))
    with pytest.raises(ValueError, match="--name"):
        decompose(store, endpoint(server), sampling=Sampling(temperature=0.5))
    with pytest.raises(ValueError, match=r"made by m .*--name"):
        decompose(store, endpoint(server, model="other"))
    with pytest.raises(ValueError, match="'none'"):
        decompose(store, endpoint(server), name="none")
    decompose(store, endpoint(server), name="warm", sampling=Sampling(temperature=0.5))
    assert [d.name for d in store.decompositions()] == ["small", "warm"]


def test_a_dry_run_makes_no_decomposition(store: Store, server: FaultServer) -> None:
    done = decompose(store, endpoint(server), dry_run=True)
    e = done.asking.estimate
    assert e is not None
    assert (e.n_requests, e.n_cached, e.n_to_ask) == (4, 2, 2)
    assert (store.decompositions(), server.seen) == ((), [])


def test_refusals_are_stored_and_failures_asked_again(store: Store) -> None:
    refused = ok(None, refusal="no")
    answers: list[Answer] = [refused, error(400, "no")]

    def script(seen: Seen) -> Answer | None:
        return answers.pop(0) if answers else None

    with serving(only_role("decomposer", script)) as server:
        first = decompose(store, endpoint(server, concurrency=1))
        # Each of the two replies stands for two equal traces.
        assert first.asking.outcomes == {"refused": 2, "failed": 2}
        again = decompose(store, endpoint(server))
        assert (again.asking.n_requests, again.n_decomposed, again.asking.n_left) == (2, 2, 0)
    counts = store.decomposition_counts(store.decompositions()[0].id)
    assert counts.by_outcome == {"ok": 2, "refused": 2}


def test_scores_of_a_decomposition(
    store: Store, hash_embedder: HashEmbedder, tmp_path: Path
) -> None:
    def drops_the_middle(_: Seen) -> Answer:
        facts = {"step_0": ["A fact."], "step_1": [], "step_2": ["So.", "And so."]}
        return ok(json.dumps(facts))

    with serving(only_role("decomposer", drops_the_middle)) as server:
        done = decompose(store, endpoint(server))
    assert (done.n_facts, done.n_dropped) == (12, 4)
    plain = score(store, embedder="hash")
    assert embed(store, "hash", decomposition="small").n_distinct == 3
    under = score(store, embedder="hash", decomposition="small")
    assert (under.scoring.decomposition, under.n_used, under.embedding.n_facts) == ("small", 4, 12)
    assert (plain.scoring.is_primary, under.scoring.is_primary) == (True, False)
    pool = store.pools()[0]
    trace = store.pool_score(under.scoring.id, pool.id)
    assert trace is not None
    assert [len(t.node_support) for t in trace.traces] == [3, 3]
    assert score(store, embedder="hash", decomposition="small").n_scored == 0


def test_scores_follow_the_facts_and_leave_out_what_has_none(
    store: Store, hash_embedder: HashEmbedder, server: FaultServer
) -> None:
    decompose(store, endpoint(server), limit=1)
    first = score(store, embedder="hash", decomposition="small")
    assert (first.n_used, first.excluded) == (2, {"not decomposed": 2})
    decompose(store, endpoint(server))
    again = score(store, embedder="hash", decomposition="small")
    assert (again.n_scored, again.n_known, again.n_used, again.excluded) == (1, 1, 4, {})


def test_a_decomposition_that_is_not_there_is_told(
    store: Store, hash_embedder: HashEmbedder
) -> None:
    with pytest.raises(ValueError, match="no decomposition 'x' in the database; there are: none"):
        score(store, embedder="hash", decomposition="x")
    with pytest.raises(ValueError, match="no decomposition 'x'"):
        embed(store, "hash", decomposition="x")
