"""The sensitivity report over stored pools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.importing import import_files
from pipeline.pool_view import read_pool
from pipeline.sampling import Design, make_items
from pipeline.scoring import ScoreParameters, score
from pipeline.sensitivity import reading_name, readings, sensitivity_report
from scoring.faithfulness.sensitivity import ALPHAS, BETAS, GAMMAS
from store import Store
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.test_metrics import pools, unannotated


@pytest.fixture
def scored(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> Store:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(6))])
    score(store, embedder="hash")
    return store


def row_of(rows: Any, **setting: Any) -> Any:
    return next(r for r in rows if all(r[k] == v for k, v in setting.items()))


def test_the_base_is_the_stored_scoring(scored: Store) -> None:
    report = sensitivity_report(scored, unsealed=True)
    (group,) = report.groups
    (primary,) = scored.scorings()
    scores = scored.pool_scores(primary.id)
    base = group.rows[0]
    assert {k: base[k] for k in ("reading", "beta", "gamma", "alpha")} == {
        "reading": "anchor/step/chain/concat",
        "beta": 0.4,
        "gamma": 5.0,
        "alpha": 0.8,
    }
    assert base["accuracy"] == sum(s.gsc_correct is True for s in scores) / 6
    assert group.sc_accuracy == sum(s.sc_correct is True for s in scores) / 6
    assert (base["same_answer"], base["same_medoid"], base["n"]) == (1.0, 1.0, 6)
    assert report.faithfulness is None
    assert {r["pearson"] for r in group.rows} == {None}


def test_one_matching_serves_readings_with_the_same_edges(scored: Store) -> None:
    (group,) = sensitivity_report(scored).groups
    tried = readings(ScoreParameters())
    assert [reading_name(p) for p in tried] == [
        "anchor/step/chain/concat",
        "all/step/chain/concat",
        "anchor/fact/chain/concat",
        "anchor/step/premise/concat",
        "anchor/step/exclude/concat",
        "anchor/step/chain/mean",
    ]
    # Every step says what it uses and is one fact: only the edge embedding makes other matchings.
    assert group.matchings == 2 * 6
    per_reading = len({*BETAS, 0.4}) + len({*GAMMAS, 5.0}) + len({*ALPHAS, 0.8}) - 2
    assert len(group.rows) == len(tried) * per_reading
    assert len(readings(ScoreParameters(), full=True)) == 2 * 2 * 3 * 2


def test_a_reading_that_leaves_nothing_is_named(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    rows = [unannotated(f"q{q}", i, "yes", "A.", f"B {i}.") for q in range(2) for i in range(3)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    (group,) = sensitivity_report(store, unsealed=True).groups
    assert group.empty_readings == ("anchor/step/exclude/concat",)
    premise = row_of(
        group.rows, reading="anchor/step/premise/concat", beta=0.4, gamma=5.0, alpha=0.8
    )
    assert (premise["n"], premise["same_answer"]) == (2, 1.0)


def test_another_choice_is_counted(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    """By structure the two alike are central; by conclusions alone the three that end alike."""
    rows = [line("q", i, "yes", "A.", ("B.", [0]), ("E.", [1]), gold="yes") for i in range(2)]
    rows += [line("q", i, "no", *(f"X{i}{k}." for k in range(i)), ("Z.", [0])) for i in (2, 3, 4)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    (group,) = sensitivity_report(store, unsealed=True).groups
    base, ends = group.rows[0], row_of(group.rows, beta=1.0, reading="anchor/step/chain/concat")
    assert (base["accuracy"], base["same_answer"]) == (1.0, 1.0)
    assert (ends["accuracy"], ends["same_answer"], ends["same_medoid"]) == (0.0, 0.0, 0.0)


def test_what_would_tell_gold_is_held_back(scored: Store) -> None:
    (group,) = sensitivity_report(scored).groups
    assert group.withheld
    assert group.sc_accuracy is None
    assert {r["accuracy"] for r in group.rows} == {None}
    assert {r["same_answer"] for r in group.rows} != {None}
    assert sensitivity_report(scored, unsealed=True).sealed().groups == (group,)


def test_nothing_scored_says_what_to_do(store: Store) -> None:
    with pytest.raises(ValueError, match="medoid score"):
        sensitivity_report(store)


def test_a_revealed_pool_is_the_scored_one(scored: Store) -> None:
    make_items(scored, Design(k=1, agreements=1.0))
    rater = scored.rater("ana").id
    schema = scored.schema()
    row = scored.cases(rater).rows[0]
    for path in scored.case(row.case_id, rater, schema).paths:
        scored.commit_label(rater, path.item_id, schema, category="faithful")
    scored.reveal(row.case_id, rater, schema)
    revealed = scored.revealed_case(row.case_id, rater, schema)
    view = read_pool(scored, revealed)
    by_id = {r.trace_id: r for r in revealed.ranking}
    assert [t.trace_id for t in view.traces] == sorted(by_id)
    for trace in view.traces:
        assert tuple(n.support for n in trace.nodes) == by_id[trace.trace_id].node_support
    assert view.medoid is not None
    assert view.traces[view.medoid].trace_id == revealed.score.medoid_trace_id
    n = len(view.traces)
    mean = sum(view.distances[i][j] for i in range(n) for j in range(i)) / (n * (n - 1) / 2)
    assert mean == pytest.approx(revealed.score.divergence, abs=1e-12)
    found = view.evidence(view.traces[0].trace_id, 0)
    assert found is not None
    assert found.support == view.traces[0].nodes[0].support
    assert view.evidence(view.traces[0].trace_id, 99) is None
    assert view.evidence(-1, 0) is None
