from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ablating import ablate, ablated_variant, early_traces, in_protocol
from pipeline.ablation_report import ablation_report
from pipeline.early import early_answer
from pipeline.importing import import_files
from pipeline.sampling import make_items
from pipeline.scoring import score
from scoring.faithfulness import ablated_question, ablation_summary, medoid_distance
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.scripted import endpoint, model, only_role, role_of, roles, serving

CHAIN = "Water.\nIce.\nCold."


@pytest.fixture(autouse=True)
def _traces(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """q1: SC says no (wrong), GSC yes (right); q2: both yes; q3 has no gold; q4 no voter."""
    alike = ("Ice is frozen.", ("So it is cold.", [0]))
    rows = [
        line("q1", 0, "yes", *alike, gold="yes", answer_kind="boolean"),
        line("q1", 1, "yes", *alike),
        *(line("q1", k, "no", f"Reason {k}.", (f"So no, {k}.", [0])) for k in (2, 3, 4)),
        line("q2", 0, "yes", *alike, gold="yes", answer_kind="boolean"),
        line("q2", 1, "yes", *alike),
        line("q3", 0, "no", *alike, answer_kind="boolean"),
        line("q4", 0, "perhaps", *alike, gold="yes", answer_kind="boolean"),
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


def test_the_variant_tells_which_pool_is_ablated() -> None:
    assert ablated_variant("m", "m@1") == "ablate-1"
    assert ablated_variant("m", "m") == "ablate"
    assert ablated_variant("m", "mm") == "ablate-mm"


def test_alternatives_are_a_pool_like_any_linked_to_the_medoid(
    store: Store, server: FaultServer
) -> None:
    done = ablate(store, endpoint(server), n=2)
    assert (done.n_questions, done.excluded) == (3, {"no medoid": 1})
    (part,) = done.pools
    assert (part.pool, part.n_traces, part.n_voting) == ("small@ablate-m@1", 6, 6)
    assert done.sources == {"small@ablate-m@1": "m@1"}
    assert set(roles(server)) == {"ablator"}
    pools = {(p.question_id, p.pool): p for p in store.pools()}
    made = pools["q1", "small@ablate-m@1"]
    assert (made.model, made.variant) == ("m", "ablate-m@1")
    assert made.parameters is not None
    assert made.parameters["prompt_version"] == "ablator-schema-short/1"
    link = store.ablations()[made.id]
    assert link.medoid_pool_id == pools["q1", "m@1"].id
    medoid = next(r for r in store.pool_traces(link.medoid_pool_id) if r.id == link.medoid_trace_id)
    assert medoid.sample == "0"
    prompts = [s.prompt for s in server.seen]
    assert all("0. Ice is frozen.\n1. So it is cold." in p for p in prompts)
    assert [r.sample for r in store.pool_traces(made.id)] == ["0", "1"]
    again = score(store, embedder="hash")
    assert again.n_scored == 3


def test_targeted_takes_what_only_gsc_has_right_and_shares_the_samples(
    store: Store, server: FaultServer
) -> None:
    done = ablate(store, endpoint(server), n=2, protocol="targeted")
    assert done.n_questions == 1
    assert done.excluded == {
        "not GSC right and SC wrong": 1,
        "no gold answer": 1,
        "no medoid": 1,
    }
    broad = ablate(store, endpoint(server), n=2)
    assert (broad.askings[0].n_requests, broad.askings[0].n_known) == (4, 2)


def test_a_second_run_asks_nothing_and_more_samples_only_the_new(
    store: Store, server: FaultServer
) -> None:
    ablate(store, endpoint(server), n=2)
    n, runs = len(server.seen), len(store.runs())
    ablate(store, endpoint(server), n=2)
    assert (len(server.seen), len(store.runs())) == (n, runs)
    more = ablate(store, endpoint(server), n=3)
    assert (more.askings[0].n_requests, more.pools[0].n_traces) == (3, 3)


def test_ablated_pools_are_not_ablated_and_make_no_cases(store: Store, server: FaultServer) -> None:
    ablate(store, endpoint(server), n=2)
    score(store, embedder="hash")
    assert ablate(store, endpoint(server), n=2).n_questions == 3
    make_items(store)
    cases = {r.pool for r in store.cases(store.rater("ana").id).rows}
    assert cases == {"m@1"}


def test_failed_requests_are_asked_again(store: Store) -> None:
    broken = [error(400, "no")]

    def script(_: Seen) -> Answer | None:
        return broken.pop() if broken else None

    with serving(only_role("ablator", script)) as server:
        first = ablate(store, endpoint(server), n=2)
        assert first.askings[0].n_left == 1
        again = ablate(store, endpoint(server), n=2)
    assert (again.askings[0].n_requests, again.askings[0].n_left) == (1, 0)


def test_samples_lost_in_a_crash_come_back_with_their_link(
    store: Store, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from store import ImportBatch

    def lost(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(ImportBatch, "link_ablation", lost)
        with pytest.raises(RuntimeError, match="killed"):
            ablate(store, endpoint(server), n=2)
    assert store.ablations() == {}
    assert {p.pool for p in store.pools()} == {"m@1"}
    again = ablate(store, endpoint(server), n=2)
    assert again.askings[0].n_cached >= 1
    assert len(store.ablations()) == 3


def test_another_medoid_is_not_mixed_in(store: Store, server: FaultServer, tmp_path: Path) -> None:
    ablate(store, endpoint(server), n=2, limit=1)
    more = [line("q1", k, "yes", f"Reason {2}.", ("So it is cold.", [0])) for k in range(5, 12)]
    import_files(store, [write_lines(tmp_path / "more.jsonl", more)])
    score(store, embedder="hash")
    done = ablate(store, endpoint(server), n=2, limit=1)
    assert done.excluded == {"another medoid was forbidden before": 1}
    assert done.askings[0].n_requests == 0
    named = ablate(store, endpoint(server), n=2, limit=1, variant="new", pool="m@1")
    assert named.pools[0].pool == "small@ablate-new"
    assert named.pools[0].n_traces == 2


def test_a_pool_of_another_sampling_is_refused(store: Store, server: FaultServer) -> None:
    ablate(store, endpoint(server), n=1)
    with pytest.raises(ValueError, match="length short, not long"):
        ablate(store, endpoint(server), n=1, length="long", form="schema")
    with pytest.raises(ValueError, match="broad or targeted"):
        ablate(store, endpoint(server), protocol="wide")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n is 0"):
        ablate(store, endpoint(server), n=0)


def test_a_dry_run_asks_and_writes_nothing(store: Store, server: FaultServer) -> None:
    done = ablate(store, endpoint(server), n=2, dry_run=True)
    e = done.askings[0].estimate
    assert e is not None
    assert (e.n_to_ask, server.seen, store.ablations()) == (6, [], {})


def test_nothing_scored_has_no_medoids(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="medoid ablate samples them"):
        ablation_report(store)


def ablated() -> FaultServer:
    """The alternatives to q1 say yes, others no; early answers are yes from the second step on."""

    def script(seen: Seen) -> Answer:
        role = role_of(seen.body)
        if role == "ablator":
            answer = "yes" if "Question q1?" in seen.prompt else "no"
            steps: list[dict[str, object]] = [
                {"text": t, "depends_on": []} for t in ("Water.", "Ice.", "Cold.")
            ]
            return ok(json.dumps({"steps": steps, "answer": answer}))
        if role == "early_answerer":
            late = seen.prompt.count("\n- ") > 1
            return ok('{"answer": "yes"}' if late else '{"answer": "no"}')
        return model(seen)

    return serving(script)


def test_the_report_has_what_is_left_without_the_medoid(store: Store) -> None:
    with ablated() as server:
        small = endpoint(server)
        done = ablate(store, small, n=4)
        before = ablation_report(store)
        assert before.run is None
        assert before.groups[0].lacking == {"no F of the medoid": 2, "no gold answer": 1}
        early_answer(store, small, only=early_traces(store, done))
    report = ablation_report(store)
    assert report.run is not None
    (group,) = report.groups
    assert (group.n_questions, group.n_alternatives, group.n_parsed, group.n_early) == (
        3, 12, 12, 12,
    )  # fmt: skip
    # Gold yes: the alternatives to q1 are right, those to q2 wrong; both medoids are right.
    assert (group.gold.aa, group.gold.oa, group.gold.delta_a) == (0.5, 1.0, -0.5)
    # Early answers are no, yes to a medoid's two steps and no, yes, yes to three: F 1/2 and 1/3.
    assert group.gold.af == pytest.approx(1 / 3)
    assert group.gold.of == 0.5
    assert group.gold.delta_f == pytest.approx(-1 / 6)
    assert (group.gold.n_both, group.gold.share_f_lower) == (2, 1.0)
    assert (group.gold.share_a_same, group.gold.share_a_same_f_lower) == (0.5, 0.5)
    # Against the own answer: q1 as gold; to q2 and q3 the alternatives say no.
    assert group.own.af == pytest.approx((1 / 3 + 2 / 3 + 2 / 3) / 3)
    assert (
        group.gold.regression.why_undefined
        == "2 questions with both changes: at least 3 are needed"
    )
    assert group.gold.regression.warning is not None
    assert group.own.regression.warning is None
    assert group.lacking == {"no gold answer": 1}
    assert group.gold.md == medoid_distance("Ice is frozen.\nSo it is cold.", CHAIN)
    assert group.gold.md is not None
    assert group.md_difflib is not None
    assert group.gold.md <= group.md_difflib < 1


def test_the_targeted_report_counts_what_it_leaves_out(store: Store) -> None:
    with ablated() as server:
        done = ablate(store, endpoint(server), n=4)
        early_answer(store, endpoint(server), only=early_traces(store, done))
    (group,) = ablation_report(store, protocol="targeted").groups
    assert (group.n_questions, group.gold.oa, group.gold.aa) == (1, 1.0, 1.0)
    assert group.excluded == {"no gold answer": 1, "not GSC right and SC wrong": 1}


def test_a_pool_without_a_score_is_in_no_protocol() -> None:
    assert in_protocol(None, "broad") == "not scored"


shares = st.one_of(st.none(), st.floats(0, 1))


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(["a", "b", None]), max_size=5), shares, shares),
        max_size=6,
    )
)
def test_a_summary_is_of_the_questions_that_have_both_changes(
    rows: list[tuple[list[str | None], float | None, float | None]],
) -> None:
    questions = [
        ablated_question(
            answers,
            [f] * len(answers),
            gold="a",
            medoid_answer="a",
            medoid_faithfulness=of,
        )
        for answers, f, of in rows
    ]
    summary = ablation_summary(questions)
    both = [q for q in questions if q.delta_a is not None and q.delta_f is not None]
    assert (summary.n, summary.n_both) == (len(rows), len(both))
    if not both:
        assert summary.share_f_lower is None
        return
    lower = [q for q in both if q.delta_f is not None and q.delta_f < 0]
    same = [q for q in lower if q.delta_a == 0]
    assert summary.share_f_lower == pytest.approx(len(lower) / len(both))
    assert summary.share_a_same_f_lower == pytest.approx(len(same) / len(both))
    assert (summary.regression.slope is None) == (summary.regression.why_undefined is not None)
