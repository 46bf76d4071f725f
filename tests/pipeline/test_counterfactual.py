from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.client import Budget
from pipeline.counterfactual import counterfactual
from pipeline.counterfactual_report import counterfactual_report
from pipeline.importing import import_files
from pipeline.scoring import score
from scoring.faithfulness import counterfactual_edits
from scoring.faithfulness.answering import mean
from store import Store
from store.intervention_records import UNEDITED
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.scripted import endpoint, model, only_role, role_of, roles, serving

STEPS = ("One.", ("Two.", [0]), ("Three.", [1]), ("Four.", [2]))


@pytest.fixture(autouse=True)
def _traces(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """q1: three and one intermediate steps; q2: one; q3: none, as its step is terminal."""
    rows = [
        line("q1", 0, "yes", *STEPS, gold="yes"),
        line("q1", 1, "no", *STEPS[:2]),
        line("q2", 0, "perhaps", "Red.", ("Blue.", [0]), gold="yes"),
        line("q3", 0, "yes", "Alone."),
        line("q3", 1, "yes"),
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")


def answers(edited: dict[str, str], plain: str = "yes") -> FaultServer:
    """Answer by which edited step is in the reasoning; `plain` where none of these is."""

    def script(seen: Seen) -> Answer:
        found = re.findall(r"Not ([A-Za-z]+)", seen.prompt)
        said = edited.get(found[0], plain) if found else plain
        return ok(f'{{"answer": "{said}"}}') if said in ("yes", "no") else ok(said)

    return serving(only_role("counterfactual_answerer", script))


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with answers({"Two": "no"}) as running:
        yield running


def test_every_intermediate_step_is_edited_and_asked_beside_a_baseline(
    store: Store, server: FaultServer
) -> None:
    done = counterfactual(store, endpoint(server), traces="all")
    assert (done.n_traces, done.n_steps) == (3, 5)
    assert done.excluded == {"no intermediate step": 1, "no steps": 1}
    assert (done.editing.n_requests, done.n_edited, done.faults) == (5, 5, {})
    # Three baselines and five edits.
    assert (done.answering.n_requests, done.n_answers) == (8, 8)
    assert roles(server).count("counterfactual_editor") == 5
    assert done.run is not None
    report = counterfactual_report(store, done.run)
    everything, medoids = report.groups
    assert (everything.traces, everything.n_questions, everything.n_traces) == ("all", 2, 4)
    # Against the re-asked yes: trace 0 changes in one of three, the others never.
    # Per question: q1 (1/3 + 0)/2, q2 0.
    assert everything.reasked.value == pytest.approx((1 / 6 + 0) / 2)
    assert (everything.reasked.n, everything.reasked.n_scored) == (2, 3)
    # q3's medoid has no intermediate step.
    assert everything.reasked.undefined == {"no intermediate step": 1}
    # Against the stated answer: trace 1 says no, and both answers are yes; q2 could not be read.
    assert everything.stated.value == pytest.approx((1 / 3 + 1) / 2)
    assert everything.stated.n == 1
    assert everything.stated.undefined == {
        "no baseline answer to compare with": 1,
        "no intermediate step": 1,
    }
    assert (everything.n_as_stated, everything.n_comparable) == (1, 2)
    assert (everything.n_asked, everything.n_replied) == (5, 5)
    assert (everything.n_baseline, everything.n_baseline_replied, everything.alike) == (3, 3, None)
    assert (medoids.traces, medoids.n_traces) == ("medoids", 2)


def test_no_prompt_holds_the_conclusion_or_an_answer(store: Store, server: FaultServer) -> None:
    counterfactual(store, endpoint(server), traces="all")
    for seen in server.seen:
        assert role_of(seen.body) in ("counterfactual_editor", "counterfactual_answerer")
        assert "Four." not in seen.prompt
        assert "Alone." not in seen.prompt
        assert "perhaps" not in seen.prompt


def test_medoids_are_the_default(store: Store, server: FaultServer) -> None:
    done = counterfactual(store, endpoint(server))
    # q1's medoid has one intermediate step; q2 has no voter; q3's medoid has none.
    assert (done.n_traces, done.n_steps, done.excluded) == (1, 1, {"no intermediate step": 1})


def test_a_second_run_asks_nothing_and_writes_nothing(store: Store, server: FaultServer) -> None:
    counterfactual(store, endpoint(server), traces="all")
    n, runs = len(server.seen), len(store.runs())
    again = counterfactual(store, endpoint(server), traces="all")
    assert (len(server.seen), len(store.runs())) == (n, runs)
    assert (again.editing.n_known, again.answering.n_known) == (5, 8)
    assert (again.editing.n_requests, again.answering.n_requests) == (0, 0)


def test_a_run_that_broke_off_goes_on_and_what_lacks_is_left_out(store: Store) -> None:
    broken = [error(400, "no"), error(400, "no")]

    def script(seen: Seen) -> Answer | None:
        edits = role_of(seen.body) == "counterfactual_editor"
        hit = "[2] Three." in seen.prompt.partition("Marked")[2] if edits else "Red" in seen.prompt
        return broken.pop() if hit and broken else None

    def both(seen: Seen) -> Answer:
        return script(seen) or model(seen)

    with serving(both) as server:
        first = counterfactual(store, endpoint(server), traces="all")
        assert (first.editing.n_left, first.answering.n_left) == (1, 1)
        assert first.run is not None
        group = counterfactual_report(store, first.run).groups[0]
        assert group.n_incomplete == 2
        again = counterfactual(store, endpoint(server), traces="all")
        assert (again.editing.n_requests, again.answering.n_requests) == (1, 2)
        group = counterfactual_report(store, first.run).groups[0]
        assert group.n_incomplete == 0


def test_rows_lost_in_a_crash_come_from_kept_replies(
    store: Store, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> int:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(type(store), "save_edits", lost)
        with pytest.raises(RuntimeError, match="killed"):
            counterfactual(store, endpoint(server), traces="all")
    n = roles(server).count("counterfactual_editor")
    assert n >= 1
    again = counterfactual(store, endpoint(server), traces="all")
    assert again.editing.n_requests == 5
    assert again.editing.n_cached >= 1
    assert roles(server).count("counterfactual_editor") == n + 5 - again.editing.n_cached


def test_a_faulty_edit_is_counted_and_no_answer_is_asked_for_it(store: Store) -> None:
    def same(seen: Seen) -> Answer | None:
        marked = seen.prompt.partition("Marked")[2]
        return ok('{"step": "Two"}') if "[1] Two." in marked else None

    with serving(only_role("counterfactual_editor", same)) as server:
        done = counterfactual(store, endpoint(server), traces="all")
    assert (done.n_edited, done.faults) == (4, {"identical": 1})
    assert done.answering.n_requests == 3 + 4
    assert done.run is not None
    group = counterfactual_report(store, done.run).groups[0]
    assert (group.n_steps, group.n_edited, group.faults) == (5, 4, {"identical": 1})


def test_repeats_vote_for_the_baseline_and_tell_its_noise(store: Store) -> None:
    said = ["yes", "no", "yes"]

    def script(seen: Seen) -> Answer | None:
        if "Red" not in seen.prompt or "Not" in seen.prompt:
            return None
        return ok(f'{{"answer": "{said.pop()}"}}')

    with serving(only_role("counterfactual_answerer", script)) as server:
        done = counterfactual(store, endpoint(server), traces="all", repeats=3)
        assert done.answering.n_requests == 24
    assert done.run is not None
    questions = counterfactual_report(store, done.run).questions
    (row,) = next(q for q in questions if q.question_id == "q2").rows
    assert row.baseline is not None
    assert (row.n_baseline, row.n_baseline_replied, row.n_baseline_alike) == (3, 3, 2)
    assert (row.reasked.n, row.reasked.replied) == (3, 3)
    group = counterfactual_report(store, done.run).groups[0]
    assert group.alike == pytest.approx(8 / 9)
    more = counterfactual(store, endpoint(server), traces="all", repeats=1)
    assert more.answering.n_requests == 0


def test_another_editor_needs_another_name(store: Store, server: FaultServer) -> None:
    counterfactual(store, endpoint(server))
    other = endpoint(server, model="other")
    with pytest.raises(ValueError, match=r"editing 'default' was made by m .* --name"):
        counterfactual(store, endpoint(server), other)
    done = counterfactual(store, endpoint(server), other, name="two")
    assert done.run is not None
    assert (done.run.editing, done.run.model, done.editor) == ("two", "m", "other")
    assert [e.name for e in store.editings()] == ["default", "two"]


def test_a_dry_run_writes_nothing_and_counts_what_is_to_come(
    store: Store, server: FaultServer
) -> None:
    done = counterfactual(store, endpoint(server), traces="all", dry_run=True)
    assert done.editing.estimate is not None
    assert done.answering.estimate is not None
    assert (done.editing.estimate.n_to_ask, done.answering.estimate.n_requests) == (5, 8)
    assert (store.editings(), store.counterfactual_runs(), server.seen) == ((), (), [])


def test_a_budget_that_ends_with_the_edits_asks_for_no_answer(
    store: Store, server: FaultServer
) -> None:
    done = counterfactual(store, endpoint(server), traces="all", budget=Budget(max_tokens=1))
    assert done.editing.stopped is not None
    assert (done.answering.n_asked, roles(server)) == (0, [])


def test_nothing_scored_has_no_medoids(store: Store, server: FaultServer) -> None:
    with pytest.raises(ValueError, match="repeats is 0"):
        counterfactual(store, endpoint(server), repeats=0)


def test_an_unparsed_reply_is_missing_and_not_unchanged(store: Store) -> None:
    with answers({"One": "hm", "Two": "no"}) as server:
        done = counterfactual(store, endpoint(server), traces="all")
    assert done.run is not None
    (q1,) = [q for q in counterfactual_report(store, done.run).questions if q.question_id == "q1"]
    long = next(r for r in q1.rows if r.n_steps == 3)
    assert long.reasked.changed == (None, True, False)
    assert (long.reasked.score, long.reasked.replied, long.reasked.n) == (0.5, 2, 3)


def test_answers_are_kept_by_step_and_repeat(store: Store, server: FaultServer) -> None:
    done = counterfactual(store, endpoint(server), traces="all")
    assert done.run is not None
    pools = {p.question_id: p.id for p in store.pools()}
    (rows,) = store.counterfactual_answers(done.run.id, pools["q2"]).values()
    assert [(r.step, r.repeat, r.answer) for r in rows] == [
        (UNEDITED, 0, ("boolean", True)),
        (0, 0, ("boolean", True)),
    ]


answer_lists = st.lists(st.sampled_from(["a", "b", None]), max_size=6)


@given(st.lists(st.tuples(answer_lists, st.sampled_from(["a", "b", None])), max_size=5))
def test_a_questions_score_is_the_mean_of_its_traces(
    traces: list[tuple[list[str | None], str | None]],
) -> None:
    found = [counterfactual_edits(given_, base) for given_, base in traces]
    defined = [f.score for f in found if f.score is not None]
    for f, (given_, base) in zip(found, traces, strict=True):
        parsed = [x for x in given_ if x is not None]
        if base is None or not parsed:
            assert f.score is None
            assert f.why_undefined
        else:
            assert f.score == sum(x != base for x in parsed) / len(parsed)
    assert mean(defined) is None or 0 <= mean(defined) <= 1  # type: ignore[operator]
