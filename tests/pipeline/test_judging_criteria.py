"""The judge stage for decompositions: the sample judged by three criteria, human against judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges import criteria_judge
from pipeline.agreement import pair_report
from pipeline.decomposing import decompose
from pipeline.importing import import_files
from pipeline.judging import judge
from store import Store
from store.keys import CRITERIA
from tests.judges.asked import unmarked
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import line, write_lines
from tests.pipeline.scripted import endpoint, only_role, roles, serving

N = 6
SCHEMA = "decomposition"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _decomposed(store: Store, tmp_path: Path) -> None:
    """Six traces of three questions, split; two of them were sampled. One more has no steps."""
    rows = [
        line(f"q{i // 2}", i % 2, "PLANTED-ANSWER", f"Step {i} one.", (f"Step {i} two.", [0]))
        for i in range(N)
    ]
    rows.append({**line("q9", 0, "yes"), "text": "The final answer is: yes"})
    del rows[-1]["steps"], rows[-1]["answer"]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    with serving() as splitter:
        decompose(store, endpoint(splitter), name="split")
    made = store.decomposition_named("split")
    assert store.make_decomposition_sample(made.id, 2, seed=1).n_sampled == 2


def verdicts(**words: str) -> Answer:
    return ok(
        json.dumps({n: {"rationale": f"On {n}.", "verdict": words.get(n, "yes")} for n in CRITERIA})
    )


def labels(store: Store, rater: str = "small") -> dict[str, str | None]:
    return {
        x.label.item: x.label.category if x.label.state == "labelled" else x.label.state
        for x in store.export_labels(rater=rater)
    }


def sampled(store: Store) -> frozenset[int]:
    return store.sampled_ids(store.decomposition_named("split").id)


def label_sample(store: Store, *words: str) -> None:
    """Let ana decide on the sampled traces, criterion by criterion."""
    made, ana = store.decomposition_named("split"), store.rater("ana")
    chosen = iter(words)
    for trace_id in sorted(sampled(store)):
        for ref in store.criterion_items(made.id, trace_id):
            store.commit_label(ana.id, ref.item_id, store.schema(SCHEMA), category=next(chosen))


def test_the_criteria_are_those_of_the_store() -> None:
    assert criteria_judge.CRITERIA == CRITERIA


def test_the_sample_is_judged_with_one_request_a_trace(store: Store, server: FaultServer) -> None:
    done = judge(store, endpoint(server), schema=SCHEMA, decomposition="split")
    assert roles(server) == ["criteria_judge"] * 2
    assert (done.n_items, done.n_complete, done.decomposition) == (2, 2, "split")
    assert done.verdicts == {"yes": 6}
    assert done.criteria == {name: {"yes": 2} for name in CRITERIA}
    assert (done.rater, done.prompt_version) == ("small", "criteria_judge-schema/2")
    assert done.settled is not None
    assert (done.settled.n_items, done.settled.n_added) == (6, 6)
    found = labels(store)
    assert len(found) == 6
    assert set(found.values()) == {"yes"}
    traces = {key.rpartition("/")[0] for key in found}
    assert len(traces) == 2
    assert {key.rpartition("/")[2] for key in found} == set(CRITERIA)
    assert all(key.startswith("criterion:toy/q") and "/split/" in key for key in found)


def test_the_judge_sees_what_a_person_is_shown(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), schema=SCHEMA, decomposition="split", items="all")
    prompts = sorted(unmarked(seen.prompt) for seen in server.seen)
    assert len(prompts) == N
    assert prompts[0] == (
        'Question:\n"""\nQuestion q0?\n"""\nSteps, each with its facts under it:\n"""\n'
        "0. Step 0 one. [depends_on: none]\n   - Step 0 one. (a)\n   - Step 0 one. (b)\n"
        '1. Step 0 two. [depends_on: 0]\n   - Step 0 two. (a)\n   - Step 0 two. (b)\n"""'
    )
    assert "PLANTED" not in json.dumps([seen.body for seen in server.seen])


def test_all_traces_with_facts_and_those_that_a_rater_labelled(
    store: Store, server: FaultServer
) -> None:
    label_sample(store, *["yes"] * 6)
    some = judge(store, endpoint(server), schema=SCHEMA, items="labelled", labelled_by="ana")
    assert (some.n_items, len(server.seen)) == (2, 2)
    rest = judge(store, endpoint(server), schema=SCHEMA, items="all")
    assert (rest.n_items, rest.asking.n_requests, rest.asking.n_known) == (N, N - 2, 2)
    assert len(labels(store)) == 3 * N


def test_a_trace_without_facts_is_left_out_and_counted(store: Store, server: FaultServer) -> None:
    with serving(
        only_role("decomposer", lambda s: ok("none") if "3 one" in s.prompt else None)
    ) as s:
        decompose(store, endpoint(s), name="other")
    done = judge(store, endpoint(server), schema=SCHEMA, decomposition="other", items="all")
    assert (done.n_items, done.n_factless, len(server.seen)) == (N - 1, 1, N - 1)


def test_human_against_judge(store: Store) -> None:
    label_sample(store, "yes", "no", "yes", "yes", "yes", "no")
    with serving(only_role("criteria_judge", lambda _: verdicts(nothing_invented="no"))) as server:
        judge(store, endpoint(server), schema=SCHEMA, decomposition="split")
    report = pair_report(store, "ana", "small", SCHEMA)
    # yes/yes 3, yes/no 1, no/no 1, no/yes 1: agreement 4/6, expected (4*4 + 2*2)/36.
    assert report.kappa.n == 6
    assert report.kappa.value == pytest.approx((4 / 6 - 20 / 36) / (1 - 20 / 36))
    assert report.n_questions == len({key.split("/")[1] for key in labels(store)})
    assert report.n_held == 0


def test_the_majority_is_by_criterion(store: Store) -> None:
    said = [
        verdicts(atomic="no"),
        verdicts(atomic="no", nothing_invented="no"),
        verdicts(nothing_invented="yes"),
    ]
    calls: dict[str, int] = {}

    def script(seen: Seen) -> Answer:
        n = calls[seen.prompt] = calls.get(seen.prompt, -1) + 1
        return said[n]

    with serving(only_role("criteria_judge", script)) as server:
        at = endpoint(server, concurrency=1)
        done = judge(store, at, schema=SCHEMA, decomposition="split", repeats=3)
    found = labels(store)
    by_criterion = {name: {v for k, v in found.items() if k.endswith(name)} for name in CRITERIA}
    assert by_criterion == {
        "atomic": {"no"},
        "nothing_invented": {"yes"},
        "dependencies_kept": {"yes"},
    }
    assert done.criteria["atomic"] == {"no": 4, "yes": 2}
    assert done.verdicts == {"no": 6, "yes": 12}
    agreement = done.agreement
    assert agreement is not None
    assert (agreement.n_items, agreement.n_pairs) == (6, 18)
    assert agreement.pairwise == pytest.approx((2 * (1 + 1 + 3)) / 18)


def test_both_orders_are_offered_and_recorded(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), schema=SCHEMA, decomposition="split", repeats=2)
    rater = next(r for r in store.raters() if r.name == "small")
    votes = store.votes(rater.id, "criteria_judge-schema/2", schema=SCHEMA)
    assert len(votes) == 6
    for said in votes.values():
        assert {v.option_order for v in said} == {("yes", "no"), ("no", "yes")}
    enums = [
        tuple(
            s.body["response_format"]["json_schema"]["schema"]["properties"]["atomic"][
                "properties"
            ]["verdict"]["enum"]
        )
        for s in server.seen
    ]
    assert sorted(enums) == [("no", "yes")] * 2 + [("yes", "no")] * 2


def test_a_second_run_asks_and_writes_nothing(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), schema=SCHEMA, repeats=2)
    n = len(server.seen)
    store.close()
    assert store.file is not None
    content = store.file.read_bytes()
    again = judge(store, endpoint(server), schema=SCHEMA, repeats=2)
    store.close()
    assert store.file.read_bytes() == content
    assert len(server.seen) == n
    assert (again.asking.n_known, again.n_complete, again.verdicts) == (4, 2, {"yes": 12})
    more = judge(store, endpoint(server), schema=SCHEMA, repeats=3)
    assert (more.asking.n_requests, more.asking.n_known) == (2, 4)


def test_what_is_not_said_is_no_label_and_no_guess(store: Store) -> None:
    text = "atomic: yes\nnothing_invented: perhaps"
    with serving(only_role("criteria_judge", lambda _: ok(text))) as server:
        done = judge(store, endpoint(server, structured="text"), schema=SCHEMA)
    assert done.prompt_version == "criteria_judge-text/2"
    assert done.criteria == {
        "atomic": {"yes": 2},
        "nothing_invented": {"unparsed": 2},
        "dependencies_kept": {"unparsed": 2},
    }
    assert done.flags == {"partly_unparsed": 2}
    assert sorted(map(str, labels(store).values())) == ["unparsed"] * 4 + ["yes"] * 2


def test_a_refusal_is_three_votes_without_a_category(store: Store) -> None:
    with serving(only_role("criteria_judge", lambda _: ok(None, refusal="no"))) as server:
        done = judge(store, endpoint(server), schema=SCHEMA)
    assert (done.asking.outcomes, done.verdicts) == ({"refused": 2}, {"unparsed": 6})
    assert set(labels(store).values()) == {"unparsed"}


def test_a_label_waits_for_all_its_repeats(store: Store) -> None:
    failures = [error(400, "no")]

    def script(_: Seen) -> Answer | None:
        return failures.pop() if failures else None

    with serving(only_role("criteria_judge", script)) as server:
        first = judge(store, endpoint(server, concurrency=1), schema=SCHEMA, repeats=2)
        assert (first.asking.n_left, first.n_complete, len(labels(store))) == (1, 1, 3)
        again = judge(store, endpoint(server), schema=SCHEMA, repeats=2)
        assert (again.asking.n_requests, again.n_complete, len(labels(store))) == (1, 2, 6)


def test_a_judge_is_asked_in_one_way(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), schema=SCHEMA)
    with pytest.raises(ValueError, match="another model, seed or parameters"):
        judge(store, endpoint(server, model="other"), schema=SCHEMA)
    with pytest.raises(ValueError, match="another model, seed or parameters"):
        judge(store, endpoint(server), schema=SCHEMA, seed=8)


def test_a_dry_run_writes_nothing(store: Store, server: FaultServer) -> None:
    done = judge(store, endpoint(server), schema=SCHEMA, repeats=2, dry_run=True)
    assert done.asking.estimate is not None
    assert (done.asking.estimate.n_requests, done.n_items) == (4, 2)
    assert (store.raters(), server.seen) == ((), [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decomposition": "none"}, "no decomposition 'none' in the database; there are: split"),
        ({"items": "cases"}, "items is 'cases'; sample, all, labelled can be judged"),
        ({"items": "labelled"}, "needs that rater's name"),
        ({"items": "labelled", "labelled_by": "eve"}, "no rater 'eve'"),
        ({"pool": "x"}, "no pool 'x'"),
        ({"schema": "path", "decomposition": "split"}, "decomposition goes with schema decomp"),
        ({"schema": "path", "items": "sample"}, "no sample is drawn of path items"),
    ],
)
def test_mistakes_are_told(
    store: Store, server: FaultServer, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        judge(store, endpoint(server), **{"schema": SCHEMA, **options})  # type: ignore[arg-type]
    assert server.seen == []


def test_without_a_sample_it_is_said_how_to_draw_one(store: Store, server: FaultServer) -> None:
    with serving() as splitter:
        decompose(store, endpoint(splitter), name="other")
    with pytest.raises(ValueError, match="medoid decompose --name other --sample 50 draws some"):
        judge(store, endpoint(server), schema=SCHEMA, decomposition="other")
    with pytest.raises(ValueError, match=r"--decomposition NAME\); there are: split, other"):
        judge(store, endpoint(server), schema=SCHEMA)
