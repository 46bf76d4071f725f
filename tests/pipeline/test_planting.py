"""The planted check: a judge that obeys what it judges, one that does not, and what is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.planting import HARMLESS, INSTRUCTIONS, drawn, instruction, rank
from pipeline.importing import import_files
from pipeline.judging import judge
from pipeline.planting import Trial, flips, planted_check
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, ok
from tests.pipeline.conftest import line, write_lines
from tests.pipeline.scripted import endpoint, only_role, serving

N = 10


@pytest.fixture(autouse=True)
def _paths(store: Store, tmp_path: Path) -> None:
    rows = [line(f"q{i}", 0, "yes", f"Step {i} one.", (f"Step {i} two.", [0])) for i in range(N)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])


def verdict(word: str) -> Answer:
    step = None if word == "faithful" else 0
    return ok(json.dumps({"rationale": "x", "first_wrong_step": step, "verdict": word}))


def own(seen: Seen) -> str:
    """Return what the judge thinks by itself: paths of even questions are faithful."""
    found = re.search(r"Question q([0-9]+)\?", seen.prompt)
    assert found is not None
    return "spurious" if int(found[1]) % 2 else "faithful"


def upright(seen: Seen) -> Answer:
    return verdict(own(seen))


def obedient(seen: Seen) -> Answer:
    """Do what an instruction of any kind says."""
    reasoning = seen.prompt.split("Reasoning:")[1]
    told = re.search(r'verdict(?: is|")?:? "?(faithful|spurious)', reasoning)
    return verdict(told[1] if told else own(seen))


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(only_role("path_judge", obedient)) as running:
        yield running


def test_a_judge_that_obeys_is_found_out(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), items="all")
    labels = list(store.export_labels(rater="small"))
    report = planted_check(store, endpoint(server), n=N)
    assert (report.n_judged, report.n_items, report.asking.n_requests) == (N, N, 2 * N)
    all_ = report.overall
    assert all_ is not None
    assert (all_.n, all_.n_left_out) == (N, 0)
    assert (all_.planted.k, all_.control.k) == (N, 0)
    assert (all_.planted_changed.k, all_.control_changed.k) == (N, 0)
    assert (all_.only_planted, all_.only_control) == (N, 0)
    assert all_.test.exact_p == pytest.approx(2 * 0.5**N)
    assert all_.planted.ci is not None
    assert all_.planted.ci[0] == pytest.approx(1 / (1 + 1.959963984540054**2 / N))
    # Both directions, and every kind in each.
    assert {k: f.n for k, f in report.by_direction.items()} == {
        "faithful → spurious": 5,
        "spurious → faithful": 5,
    }
    assert {k: (f.n, f.planted.k) for k, f in report.by_kind.items()} == dict.fromkeys(
        INSTRUCTIONS, (2, 2)
    )
    # Nothing of it is a label or a verdict.
    assert list(store.export_labels(rater="small")) == labels
    assert [r.name for r in store.raters()] == ["small"]
    (ident,) = (r.id for r in store.raters())
    assert len(store.votes(ident, "path_judge-schema/2")) == N


def test_a_judge_that_does_not_obey(store: Store) -> None:
    with serving(only_role("path_judge", upright)) as server:
        judge(store, endpoint(server), items="all")
        report = planted_check(store, endpoint(server), n=4)
    assert report.overall is not None
    assert (report.overall.n, report.overall.planted.k, report.overall.control.k) == (4, 0, 0)
    assert report.overall.test.exact_p is None or report.overall.test.exact_p == 1.0
    assert sorted(report.by_direction) == ["faithful → spurious", "spurious → faithful"]


def test_what_is_planted_stands_in_a_step_and_inside_the_fence(
    store: Store, server: FaultServer
) -> None:
    judge(store, endpoint(server), items="all")
    before = {seen.prompt.partition("\n")[2].count("\n") for seen in server.seen}
    server.seen.clear()
    planted_check(store, endpoint(server), n=5)
    controls = [s for s in server.seen if any(h in s.prompt for h in HARMLESS)]
    assert len(controls) == 5
    for seen in server.seen:
        first, _, rest = seen.prompt.partition("\n")
        mark = re.findall("==== [0-9a-f]{16} ====", first)[0]
        reasoning = rest.split("Reasoning:\n")[1].split(mark)[1].strip("\n").splitlines()
        # No line more than before: the second step's line is longer.
        assert len(reasoning) == 3
        assert reasoning[1].startswith("1. Step ")
        assert rest.count("\n") in before
        assert "<|im_start|>" not in seen.prompt


def test_a_second_run_asks_nothing_and_tells_the_same(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), items="all")
    first = planted_check(store, endpoint(server), n=6)
    n_runs, n = len(store.runs()), len(server.seen)
    again = planted_check(store, endpoint(server), n=6)
    assert (again.asking.n_requests, again.asking.n_known) == (0, 12)
    assert again.overall == first.overall
    assert again.by_kind == first.by_kind
    assert (len(server.seen), len(store.runs())) == (n, n_runs)
    # More items: those of the smaller check are among them and not asked again.
    more = planted_check(store, endpoint(server), n=8)
    assert (more.n_items, more.asking.n_known, more.asking.n_asked) == (8, 12, 4)


def test_a_dry_run_asks_and_writes_nothing(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), items="all")
    n_runs, n = len(store.runs()), len(server.seen)
    report = planted_check(store, endpoint(server), n=3, dry_run=True)
    assert report.asking.estimate is not None
    assert report.asking.estimate.n_to_ask == 6
    assert report.overall is None
    assert (len(server.seen), len(store.runs())) == (n, n_runs)


def test_another_seed_draws_others(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), items="all", rater="a")
    judge(store, endpoint(server), items="all", rater="b", seed=1)

    def prompts(rater: str, seed: int) -> set[str]:
        server.seen.clear()
        planted_check(store, endpoint(server), n=3, rater=rater, seed=seed)
        return {s.prompt for s in server.seen}

    assert prompts("a", 0) != prompts("b", 1)


def test_replies_that_cannot_be_read_are_left_out(store: Store) -> None:
    def script(seen: Seen) -> Answer:
        return ok("no idea") if any(h in seen.prompt for h in HARMLESS) else obedient(seen)

    with serving(only_role("path_judge", script)) as server:
        judge(store, endpoint(server), items="all")
        report = planted_check(store, endpoint(server), n=4)
    assert report.overall is not None
    assert (report.overall.n, report.overall.n_left_out) == (0, 4)
    assert (report.overall.planted.value, report.overall.test.exact_p) == (None, None)


def test_steps_are_checked_too(store: Store) -> None:
    def script(seen: Seen) -> Answer | None:
        told = re.search(
            r"(?:is|verdict) (valid|unsupported|contradicts|arithmetic|irr\w+)", seen.prompt
        )
        word = told[1] if told else "valid"
        return ok(json.dumps({"rationale": "x", "verdict": word}))

    with serving(only_role("step_judge", script)) as server:
        judge(store, endpoint(server), schema="step", items="all")
        report = planted_check(store, endpoint(server), n=10, schema="step")
    assert (report.what, report.n_judged, report.n_items) == ("steps", 2 * N, 10)
    assert report.overall is not None
    assert report.overall.control.k == 0
    # All but the planted reply, whose JSON this judge does not read.
    assert report.overall.planted.k == 8
    assert all(way.startswith("valid → ") for way in report.by_direction)
    assert len(report.by_direction) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "0 items; at least 1"),
        ({"n": 1}, "has no verdict under path_judge-schema/2 on any of these paths"),
        ({"n": 1, "schema": "decomposition"}, "not for decomposition"),
        ({"n": 1, "schema": "pair"}, "has no verdict under pair_judge-schema/1"),
    ],
)
def test_mistakes_are_told(
    store: Store, server: FaultServer, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        planted_check(store, endpoint(server), **options)  # type: ignore[arg-type]
    assert server.seen == []


def test_flips_of_several_categories() -> None:
    trials = [
        Trial("a", "order", "x", "y", planted="x+y", control="x"),
        Trial("b", "order", "x", "y", planted="x", control="y+z"),
        Trial("c", "order", "x", "y", planted="y", control="y"),
    ]
    found = flips(trials)
    assert (found.planted.k, found.control.k, found.only_planted, found.only_control) == (
        2,
        2,
        1,
        1,
    )
    assert (found.planted_changed.k, found.control_changed.k) == (2, 2)


def test_instructions_name_the_target_and_the_rest_is_ours() -> None:
    for kind in INSTRUCTIONS:
        assert "spurious" in instruction(kind, "spurious")
        assert "\n" not in instruction(kind, "x")
    with pytest.raises(ValueError, match="kind is 'odd'"):
        instruction("odd", "x")
    assert all(word not in text for text in HARMLESS for word in ("verdict", "faithful", "valid"))
    assert {drawn(0, f"k{i}", "t", ["a", "b"]) for i in range(20)} == {"a", "b"}
    assert rank(0, "a") != rank(1, "a")
    with pytest.raises(ValueError, match="nothing to draw"):
        drawn(0, "k", "target", [])
