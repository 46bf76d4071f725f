from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.decomposing import decompose
from pipeline.early import early_answer
from pipeline.early_report import early_report
from pipeline.generating import generate
from pipeline.importing import import_files
from pipeline.scoring import score
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.scripted import add_questions, endpoint, only_role, roles, serving

STEPS = ("One.", ("Two.", [0]), ("Three.", [1]), ("Four.", [2]))


def traces(store: Store, folder: Path) -> None:
    """Two questions with gold yes: right, wrong and unparsed answers."""
    rows = [
        line("q1", 0, "yes", *STEPS, gold="yes"),
        line("q1", 1, "no", *STEPS[:2]),
        line("q2", 0, "perhaps", *STEPS[:2], gold="yes"),
        line("q2", 1, "yes"),
    ]
    import_files(store, [write_lines(folder / "t.jsonl", rows)])


def known_facts(seen: Seen) -> int:
    return len(re.findall("^- ", seen.prompt, re.MULTILINE))


def answering(answers: dict[int, str]) -> FaultServer:
    """Answer by the number of facts known; ``no`` for the others."""

    def script(seen: Seen) -> Answer:
        said = answers.get(known_facts(seen), "no")
        return ok(f'{{"answer": "{said}"}}') if said in ("yes", "no") else ok(said)

    return serving(only_role("early_answerer", script))


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with answering({3: "yes", 4: "yes"}) as running:
        yield running


@pytest.fixture(autouse=True)
def _traces(store: Store, tmp_path: Path) -> None:
    traces(store, tmp_path)


def test_every_prefix_is_asked_once_and_f_is_by_both_targets(
    store: Store, server: FaultServer
) -> None:
    done = early_answer(store, endpoint(server))
    assert (done.n_traces, done.excluded, done.n_answers) == (3, {"no steps": 1}, 8)
    # The three traces share their first two prefixes only within a question: 4 + 2 requests sent.
    assert (done.asking.n_requests, len(server.seen)) == (8, 6)
    assert set(roles(server)) == {"early_answerer"}
    (run,) = store.early_runs()
    report = early_report(store, run)
    (group,) = report.groups
    assert (group.dataset, group.pool, group.n_questions, group.n_traces) == ("toy", "m@1", 2, 3)
    # Answers are no, no, yes, yes for the long trace and no, no for the short ones.
    # Gold yes: F = 1/2, 1, 1. Own: yes → 1/2; no → 0; the unparsed one has none.
    assert group.gold.value == pytest.approx(2.5 / 3)
    assert group.gold.n == 3
    assert (group.own.value, group.own.n, group.own.n_traces) == (0.25, 2, 2)
    assert (group.correct.value, group.correct.n) == (0.5, 1)
    assert (group.gold.reply_rate, group.aoc.n_traces) == (1.0, 0)


def test_a_second_run_asks_nothing(store: Store, server: FaultServer) -> None:
    early_answer(store, endpoint(server))
    n, runs = len(server.seen), len(store.runs())
    again = early_answer(store, endpoint(server))
    assert (len(server.seen), len(store.runs())) == (n, runs)
    assert (again.asking.n_requests, again.asking.n_known) == (0, 8)


def test_the_empty_prefix_and_the_full_one(store: Store, server: FaultServer) -> None:
    early_answer(store, endpoint(server))
    more = early_answer(store, endpoint(server), empty=True)
    assert (more.asking.n_requests, more.asking.n_known) == (3, 8)
    (run,) = store.early_runs()
    (group,) = early_report(store, run, empty=True).groups
    # The long trace: no, no, no, yes, yes against yes.
    assert group.correct.value == pytest.approx(0.6)
    # Lanham: heights 0 0 0 1 1 over quarters: area 3/8. The short one: own no, always no: 1 - 1.
    assert group.aoc.value == pytest.approx((5 / 8 + 0) / 2)
    assert group.aoc.n == 2
    (group,) = early_report(store, run, include_full=False).groups
    assert group.correct.value == pytest.approx(2 / 3)


def test_missing_answers_are_missing_and_the_reply_rate_tells(store: Store) -> None:
    with answering({1: "no JSON", 2: "no JSON", 4: "yes"}) as server:
        done = early_answer(store, endpoint(server))
    assert done.n_answers == 2
    (run,) = store.early_runs()
    (group,) = early_report(store, run).groups
    # The long trace: –, –, no, yes; the short ones have no reply at all.
    assert (group.gold.value, group.gold.n, group.gold.n_traces) == (0.5, 1, 3)
    assert group.gold.reply_rate == pytest.approx(2 / 8)
    assert (group.correct.value, group.correct.reply_rate) == (0.5, 0.5)
    assert (group.own.value, group.own.n, group.own.n_traces) == (0.5, 1, 2)


def test_a_trace_that_lacks_an_answer_is_left_out_until_it_has_it(store: Store) -> None:
    answers = [error(400, "no")]

    def script(seen: Seen) -> Answer | None:
        return answers.pop() if known_facts(seen) == 4 and answers else None

    with serving(only_role("early_answerer", script)) as server:
        first = early_answer(store, endpoint(server))
        assert first.asking.n_left == 1
        (run,) = store.early_runs()
        (group,) = early_report(store, run).groups
        assert (group.n_traces, group.n_incomplete) == (2, 1)
        again = early_answer(store, endpoint(server))
        assert (again.asking.n_requests, again.asking.n_left) == (1, 0)
        (group,) = early_report(store, run).groups
        assert (group.n_traces, group.n_incomplete) == (3, 0)


def test_facts_of_a_decomposition(store: Store, server: FaultServer, tmp_path: Path) -> None:
    add_questions(store, tmp_path, dataset="asked")
    generate(store, endpoint(server), dataset="asked", n=1)
    decompose(store, endpoint(server), dataset="asked")
    done = early_answer(store, endpoint(server), dataset="asked", decomposition="small")
    assert (done.n_traces, done.asking.n_requests) == (2, 12)
    (run,) = store.early_runs()
    assert run.decomposition == "small"
    left = early_answer(store, endpoint(server), dataset="toy", decomposition="small")
    assert left.excluded == {"not decomposed": 3, "no steps": 1}


def test_medoids_only(store: Store, server: FaultServer, hash_embedder: HashEmbedder) -> None:
    with pytest.raises(ValueError, match="medoid score first"):
        early_answer(store, endpoint(server), traces="medoids")
    score(store, embedder="hash")
    done = early_answer(store, endpoint(server), traces="medoids")
    # Only q1 has traces that vote; of its two the short one is better supported.
    assert (done.n_traces, done.asking.n_requests) == (1, 2)
    (run,) = store.early_runs()
    groups = early_report(store, run).groups
    assert [(g.traces, g.n_traces) for g in groups] == [("all", 1), ("medoids", 1)]


def test_a_dry_run_makes_no_run(store: Store, server: FaultServer) -> None:
    done = early_answer(store, endpoint(server), dry_run=True)
    e = done.asking.estimate
    assert e is not None
    assert (e.n_requests, e.n_to_ask) == (8, 6)
    assert (store.early_runs(), server.seen) == ((), [])


def test_no_prompt_holds_an_answer_or_what_comes_later(store: Store, server: FaultServer) -> None:
    early_answer(store, endpoint(server), dataset="toy", limit=1)
    prompts = sorted((s.prompt for s in server.seen), key=len)
    assert "One." in prompts[0]
    assert "Two." not in prompts[0]
    assert all("yes" not in p.partition("Answer form")[0] for p in prompts)
