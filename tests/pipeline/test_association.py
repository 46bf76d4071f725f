from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.association import association
from pipeline.counterfactual import counterfactual
from pipeline.early import early_answer
from pipeline.importing import import_files
from pipeline.scoring import score
from scoring.faithfulness import trace_bootstrap
from scoring.faithfulness.association import distance_metric
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, ok
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.scripted import endpoint, model, role_of, serving

N = 6


def questions(folder: Path) -> Path:
    """Question k has k traces like the medoid and N − k of their own: coherence grows with k."""
    rows = []
    for k in range(1, N + 1):
        for i in range(N):
            own = f" {k} {i}" if i >= k else ""
            steps = (f"Ice{own}.", (f"Cold{own}.", [0]), (f"So{own}.", [1]))
            rows.append(line(f"q{k}", i, "yes", *steps, gold="yes", answer_kind="boolean"))
    return write_lines(folder / "t.jsonl", rows)


def answering() -> FaultServer:
    """The more alike a question's traces are, the fewer prefixes and edits change the answer."""

    def script(seen: Seen) -> Answer:
        k = next(i for i in range(1, N + 1) if f"Question q{i}?" in seen.prompt)
        role = role_of(seen.body)
        if role == "early_answerer":
            n = seen.prompt.count("\n- ")
            return ok('{"answer": "yes"}' if 2 * n >= 8 - k else '{"answer": "no"}')
        if role == "counterfactual_answerer":
            changed = ("Not Ice" in seen.prompt and k < 5) or ("Not Cold" in seen.prompt and k < 3)
            return ok('{"answer": "no"}' if changed else '{"answer": "yes"}')
        return model(seen)

    return serving(script)


@pytest.fixture(autouse=True)
def _scored(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    import_files(store, [questions(tmp_path)])
    score(store, embedder="hash")


def test_without_a_faithfulness_it_says_what_to_ask(store: Store) -> None:
    with pytest.raises(ValueError, match="medoid early-answer --traces medoids, medoid counter"):
        association(store)
    with pytest.raises(ValueError, match="metric 'odd' is unknown; there are: grcs, divergence"):
        association(store, metrics=["odd"])  # type: ignore[list-item]


def test_each_metric_against_each_measure(store: Store) -> None:
    with answering() as server:
        early_answer(store, endpoint(server), traces="medoids")
        counterfactual(store, endpoint(server))
    report = association(store, replicates=50, questions=5, traces=4)
    (group,) = report.groups
    assert (group.dataset, group.pool, group.n_questions, group.n_metric) == ("toy", "m@1", 6, 6)
    assert [c.metric for c in group.cells[::4]] == ["grcs", "divergence", "dispersion", "entropy"]
    assert [c.faithfulness for c in group.cells[:4]] == [
        "EA gold", "EA own", "CF re-asked", "CF stated",
    ]  # fmt: skip
    grcs = group.cells[0].result
    assert (grcs.questions, grcs.replicates, grcs.draws, grcs.traces) == (6, 50, 5, 4)
    assert grcs.point.spearman is not None
    assert grcs.point.spearman < -0.8
    assert grcs.pearson.used + grcs.pearson.dropped == 50
    divergence = group.cells[4].result
    assert divergence.point.spearman == pytest.approx(-grcs.point.spearman)
    # The numbers are those of the bootstrap on the very distances.
    assert group.early_run is not None
    assert group.counterfactual_run is not None


def test_ea_and_cf_side_by_side_see_the_same_draws(store: Store) -> None:
    with answering() as server:
        early_answer(store, endpoint(server), traces="medoids")
        counterfactual(store, endpoint(server), limit=5)
    (group,) = association(store, metrics=["grcs"], replicates=40, questions=5, traces=4).groups
    assert [(p.ea_name, p.cf_name) for p in group.side_by_side] == [
        ("EA gold", "CF re-asked"),
        ("EA gold", "CF stated"),
        ("EA own", "CF re-asked"),
        ("EA own", "CF stated"),
    ]
    pair = group.side_by_side[0]
    assert (pair.n, group.cells[0].result.questions) == (5, 6)
    changes = [
        c - e
        for e, c in zip(pair.ea.pearson.values, pair.cf.pearson.values, strict=True)
        if e is not None and c is not None
    ]
    assert (pair.used, pair.used + pair.dropped) == (len(changes), 40)
    assert pair.delta == pytest.approx(sum(changes) / len(changes))
    assert pair.delta_low is not None
    assert pair.delta_high is not None
    assert min(changes) <= pair.delta_low <= pair.delta_high <= max(changes)
    again = association(store, metrics=["grcs"], replicates=40, questions=5, traces=4).groups[0]
    assert again == group


def test_a_pool_of_one_trace_has_no_metric_and_is_left_out(store: Store, tmp_path: Path) -> None:
    single = [line("q9", 0, "yes", "Ice.", ("Cold.", [0]), gold="yes", answer_kind="boolean")]
    import_files(store, [write_lines(tmp_path / "one.jsonl", single)])
    score(store, embedder="hash")

    def script(seen: Seen) -> Answer:
        return ok('{"answer": "yes"}' if "Cold" in seen.prompt else '{"answer": "no"}')

    with serving(script) as server:
        early_answer(store, endpoint(server), traces="medoids")
    (group,) = association(store, metrics=["grcs"], replicates=9, questions=5, traces=4).groups
    assert (group.n_questions, group.n_metric) == (7, 6)
    assert (group.cells[0].result.questions, group.cells[0].result.left_out) == (6, 1)
    assert group.side_by_side == ()
    # Every medoid's F is the same but for nothing: constant replicates are dropped, not called 0.
    flat = group.cells[0].result.pearson
    assert (flat.mean, flat.used, flat.dropped) == (None, 0, 9)


def test_the_bootstrap_is_the_one_of_the_definitions() -> None:
    near, mid, far = ([[0.0, d], [d, 0.0]] for d in (0.1, 0.5, 0.9))
    metric = distance_metric([near, mid, far])
    found = trace_bootstrap(metric, [0.2, 0.5, 0.8], [2, 2, 2], replicates=20, questions=3)
    assert found.spearman.high == pytest.approx(-1.0)
