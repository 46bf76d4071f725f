"""Metrics against the faithfulness of medoids, from stored scores and early answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.correlating import correlation_report
from pipeline.early import early_hash
from pipeline.importing import import_files
from pipeline.score_report import LEAST_GOLD
from pipeline.scoring import score
from pipeline.selecting import question_texts
from pipeline.sensitivity import sensitivity_report
from scoring.faithfulness import correlations
from scoring.types import Fact
from store import Store
from store.model_records import EarlyRecord
from tests.pipeline.conftest import HashEmbedder, line, write_lines

QUESTIONS = 6


@pytest.fixture
def answered(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> Store:
    """Six questions: in question q, q of four traces are alike, and F of every trace is q/6."""
    rows = []
    for q in range(1, QUESTIONS + 1):
        for i in range(6):
            first = "Same." if i < q else f"Odd {q} {i}."
            steps = [(f"Step {k} of {first}", [k - 1]) for k in range(1, 6)]
            rows.append(line(f"q{q}", i, "yes", first, *steps, gold="yes"))
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    run = store.early_run("m", "early/1", {})
    texts = question_texts(store, ("toy",))
    for pool in store.pools():
        n_wrong = int(pool.question_id[1:])
        saved = []
        for record in store.pool_traces(pool.id):
            facts = [Fact(s.text, s.index) for s in record.trace.steps]
            digest = early_hash(texts["toy", pool.question_id], facts)
            for prefix in range(1, 7):
                answer = ("boolean", prefix > n_wrong)
                saved.append(EarlyRecord(record.id, prefix, 6, digest, "ok", answer))
        store.save_early(run.id, saved)
    return store


def test_every_metric_with_its_interval(answered: Store) -> None:
    report = correlation_report(answered, replicates=40, questions=6, unsealed=True)
    assert report.faithfulness == "early answers by m against gold"
    (group,) = report.groups
    assert group.n_questions == QUESTIONS
    by_name = {m.name: m for m in group.metrics}
    (scoring,) = answered.scorings()
    scores = answered.pool_scores(scoring.id)
    faithful = [k / 6 for k in range(1, 7)]
    for name, values in (
        ("grcs", [s.grcs for s in scores]),
        ("divergence", [s.divergence for s in scores]),
        ("topo_uq_unit", [s.metrics["topo_uq_unit"].value for s in scores]),
        ("cota", [s.metrics["cota"].value for s in scores]),
    ):
        found = by_name[name].bootstrap
        assert found is not None
        want = correlations(values, faithful)
        assert found.point.pearson == pytest.approx(want.pearson, abs=1e-9)
        assert found.point.spearman == pytest.approx(want.spearman, abs=1e-9)
        assert found.pearson.used + found.pearson.dropped == 40
    # More traces alike, more faithful as this world is made.
    assert by_name["grcs"].bootstrap.point.spearman == pytest.approx(1.0, abs=0.05)  # type: ignore[union-attr]
    assert by_name["divergence"].bootstrap.point.spearman == pytest.approx(-1.0, abs=0.05)  # type: ignore[union-attr]
    assert by_name["grcs"].resampled == "questions and traces"
    assert by_name["cota"].resampled == "questions"
    entropy = by_name["semantic_entropy"].bootstrap
    assert entropy is not None
    assert (entropy.pearson.mean, entropy.pearson.dropped) == (None, 40)  # one answer everywhere


def test_few_questions_with_gold_are_withheld(answered: Store) -> None:
    assert QUESTIONS < LEAST_GOLD
    (group,) = correlation_report(answered, replicates=5).groups
    assert {(m.withheld, m.bootstrap) for m in group.metrics} == {(True, None)}
    (own,) = correlation_report(answered, replicates=5, target="own").groups
    assert {m.withheld for m in own.metrics} == {False}


def test_sensitivity_uses_the_same_faithfulness(answered: Store) -> None:
    (group,) = sensitivity_report(answered, unsealed=True).groups
    (scoring,) = answered.scorings()
    grcs = [s.grcs for s in answered.pool_scores(scoring.id)]
    want = correlations(grcs, [k / 6 for k in range(1, 7)])
    assert group.rows[0]["pearson"] == pytest.approx(want.pearson, abs=1e-12)
    assert group.rows[0]["n_correlation"] == QUESTIONS


def test_without_early_answers_it_says_what_to_do(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", [line("q", 0, "yes", "A.")])])
    score(store, embedder="hash")
    with pytest.raises(ValueError, match="medoid early-answer"):
        correlation_report(store)
