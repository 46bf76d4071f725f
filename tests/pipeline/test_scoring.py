from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.importing import import_files
from pipeline.progress import Progress
from pipeline.sampling import Design, make_items
from pipeline.scoring import ScoreParameters, score
from store import Store
from tests.pipeline.conftest import HashEmbedder, line, write_lines

BULL = ("The mascot is the Bulldog.", ("Bulldogs are dogs.", [0]), ("So it eats kibble.", [1]))


def disagreeing_pool() -> list[dict[str, object]]:
    """Three scattered traces say no, two identical ones say yes: SC no, medoid yes."""
    scattered = [
        line("q1", i, "no", f"Odd fact {i}.", (f"Odder fact {i}.", [0]), gold="yes")
        for i in range(3)
    ]
    alike = [line("q1", i, "yes", *BULL, gold="yes") for i in (3, 4)]
    return scattered + alike


def test_score_a_disagreement_by_hand(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", disagreeing_pool())])
    summary = score(store, embedder="hash")
    (row,) = store.pool_scores(summary.scoring.id)
    assert (row.sc_answer, row.sc_counts) == (
        ("boolean", False),
        ((("boolean", False), 3), (("boolean", True), 2)),
    )
    assert row.gsc_answer == ("boolean", True)
    assert (row.disagree, row.sc_correct, row.gsc_correct) == (True, False, True)
    full = store.pool_score(summary.scoring.id, row.pool_id)
    assert full is not None
    keys = {t.id: t.sample for t in store.pool_traces(row.pool_id)}
    # Equal traces tie to the bit, and the lower sample is the medoid.
    assert [keys[t.trace_id] for t in full.traces[:2]] == ["3", "4"]
    assert full.traces[0].score == full.traces[1].score
    assert row.flags == ("tied_medoid",)
    # Each of the two has one twin among four others, so every node's support is 1/4.
    assert full.traces[0].node_support == (0.25, 0.25, 0.25)
    assert full.traces[0].consensus == pytest.approx(0.25, abs=1e-15)
    assert full.traces[0].centrality_share == 1.0
    assert full.traces[0].score == pytest.approx(0.8 + 0.2 * 0.25, abs=1e-15)
    assert [t.rank for t in full.traces] == [1, 2, 3, 4, 5]


def test_second_run_does_nothing_and_loads_nothing(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", disagreeing_pool())])
    first = score(store, embedder="hash")
    assert first.embedding.n_facts == 12
    assert first.embedding.n_distinct == first.embedding.n_embedded == 9
    assert sorted(hash_embedder.asked) == sorted(set(hash_embedder.asked))
    hash_embedder.asked.clear()
    second = score(store, embedder="hash")
    assert (second.n_scored, second.n_known) == (0, 1)
    assert hash_embedder.asked == []
    assert second.scoring == first.scoring


def test_a_new_trace_rescores_its_pool_only(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    rows = [*disagreeing_pool(), line("q2", 0, "yes", "A."), line("q2", 1, "yes", "A.")]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    import_files(store, [write_lines(tmp_path / "u.jsonl", [line("q2", 2, "no", "B.")])])
    again = score(store, embedder="hash")
    assert (again.n_scored, again.n_known) == (1, 1)


def test_other_parameters_are_another_scoring_and_not_primary(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", disagreeing_pool())])
    first = score(store, embedder="hash")
    other = score(store, embedder="hash", parameters=ScoreParameters(beta=1.0))
    assert first.scoring.is_primary
    assert not other.scoring.is_primary
    assert store.primary_scoring() == first.scoring
    moved = score(store, embedder="hash", parameters=ScoreParameters(beta=1.0), primary=True)
    assert store.primary_scoring() == moved.scoring


def test_electorate_is_traces_with_steps_and_answer(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    rows = [
        line("q1", 0, "yes", "A.", gold="yes"),
        line("q1", 1, "yes", "A."),
        line("q1", 2, "perhaps", "A."),
        line("q1", 3, "yes"),
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    summary = score(store, embedder="hash")
    (row,) = store.pool_scores(summary.scoring.id)
    assert (row.n_traces, row.n_used) == (4, 2)
    assert row.excluded == {"no answer": 1, "no steps": 1}
    assert row.sc_counts == ((("boolean", True), 2),)


def test_a_pool_without_a_voter_is_counted_and_never_scored(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    rows = [line("q1", 0, "", "A.", gold="yes"), *disagreeing_pool()[:0]]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    summary = score(store, embedder="hash")
    assert summary.n_unusable == 1
    (row,) = store.pool_scores(summary.scoring.id)
    assert row.grcs is None
    assert row.sc_answer is None
    assert row.sc_correct is None
    assert make_items(store).cases.n_new == 0


def test_single_trace_has_no_coherence_and_no_support(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", [line("q1", 0, "yes", "A.", "B.")])])
    summary = score(store, embedder="hash")
    (row,) = store.pool_scores(summary.scoring.id)
    assert row.grcs is None
    assert "single_trace" in row.flags
    full = store.pool_score(summary.scoring.id, row.pool_id)
    assert full is not None
    assert full.traces[0].node_support == (None, None)
    assert full.traces[0].score is None


def test_progress_reaches_the_total(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", disagreeing_pool())])
    seen: list[Progress] = []
    score(store, embedder="hash", on_progress=seen.append)
    assert [(p.stage, p.done, p.total) for p in seen] == [("embed", 9, 9), ("score", 1, 1)]


@pytest.mark.parametrize(
    ("field", "value"), [("beta", 1.5), ("alpha", -0.1), ("gamma", float("nan")), ("tau", 2.0)]
)
def test_parameters_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        replace(ScoreParameters(), **{field: value})  # type: ignore[arg-type]


def test_nothing_to_score_says_what_to_do(store: Store) -> None:
    with pytest.raises(ValueError, match="medoid import"):
        score(store, embedder="minilm")
    with pytest.raises(ValueError, match="medoid score"):
        make_items(store)


def test_items_of_a_disagreement(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", disagreeing_pool())])
    score(store, embedder="hash")
    made = make_items(store, Design(k=3, seed=1))
    assert (made.n_disagreements, made.n_agreements) == (1, 0)
    # GSC's answer has two supporters, so both sides give two paths.
    assert made.cases.n_new_items == 4
    rater = store.rater("ana")
    case_id = store.cases(rater.id).rows[0].case_id
    view = store.case(case_id, rater.id, store.schema())
    answers = [[p.answer for p in side] for side in view.sides]
    assert sorted(answers, key=repr) == [[("boolean", False)] * 2, [("boolean", True)] * 2]
    keys = {p.item for p in view.paths}
    assert "path:toy/q1/m@1/3" in keys
    assert make_items(store, Design(k=3, seed=1)).cases.n_same == 1


def test_inclusion_probabilities(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    rows = disagreeing_pool()
    for q in ("a1", "a2", "a3", "a4"):
        rows += [line(q, i, "yes", "Same.", f"Else {q}{i}.") for i in range(5)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    made = make_items(store, Design(k=1, agreements=0.5, seed=3))
    assert (made.n_agreements, made.n_agreements_drawn) == (4, 2)
    items = store.label_pairs("path", "nobody", "nobody")
    assert items == ()
    with store.importing() as batch:
        from store.records import NewLabel

        for key in ("path:toy/q1/m@1/3", "path:toy/q1/m@1/0"):
            batch.add_label(NewLabel(key, "path", "ana", "human", "labelled", "faithful"))
    chosen = {p.item: p.inclusion_probability for p in store.label_pairs("path", "ana", "nobody")}
    # The medoid is always in; one of the three supporters of "no" is drawn.
    assert chosen["path:toy/q1/m@1/3"] == 1.0
    assert chosen["path:toy/q1/m@1/0"] in (None, pytest.approx(1 / 3))


def test_an_unsampled_stratum_is_named(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    rows = [line("a", i, "yes", f"Step {i}.") for i in range(3)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    assert make_items(store, Design(agreements=0.0)).strata_never_sampled == ("agreement",)


def test_without_any_text_the_embedder_keeps_its_own_dimension(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", [line("q1", 0, "yes")])])
    assert score(store, embedder="hash").n_unusable == 1
    assert [e[1:] for e in store.embedders()] == [("hash", "test:1", 64)]
    import_files(store, [write_lines(tmp_path / "u.jsonl", [line("q1", 1, "yes", "A.")])])
    assert score(store, embedder="hash").n_used == 1
