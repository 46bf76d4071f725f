"""Metrics as the score stage stores them, in one process and in several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.importing import import_files
from pipeline.sampling import make_items
from pipeline.score_report import score_report, score_rows
from pipeline.scoring import ScoreParameters, chosen_metrics, score
from scoring.graphs.metrics import ALL, CHEAP
from store import Store
from store.records import PoolScore
from tests.pipeline.conftest import HashEmbedder, line, write_lines

NAMES = tuple(n for n in ALL if n != "cota_model")


def pools(n: int, *, gold: str = "yes") -> list[dict[str, Any]]:
    """Return pools of four traces; in every second one the alike pair is outvoted."""
    rows = []
    for q in range(n):
        for i in range(2):
            rows.append(line(f"q{q}", i, "yes", "Same.", (f"And so {q}.", [0]), gold=gold))
        for i in range(2, 4 + q % 2):
            rows.append(line(f"q{q}", i, "no", f"Odd {q} {i}.", gold=gold))
    return rows


def scored(store: Store, scoring_id: int) -> list[PoolScore]:
    found = [store.pool_score(scoring_id, p.id) for p in store.pools()]
    return [s for s in found if s is not None]


def test_cheap_metrics_come_with_every_score(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(1))])
    summary = score(store, embedder="hash")
    (row,) = scored(store, summary.scoring.id)
    assert tuple(row.metrics) == CHEAP
    entropy = row.metrics["semantic_entropy"]
    assert entropy.value == pytest.approx(0.6931471805599453, abs=1e-12)
    assert (entropy.n, entropy.tool) == (4, summary.scoring.tool_version or entropy.tool)
    assert entropy.by == {"meanings": "normalised answers"}
    anchor = row.metrics["topo_uq_unit_anchor"]
    assert anchor.by == {"cost": "unit", "pairs": "from the medoid"}
    assert anchor.n_pairs == 3
    traces = {str(t.id) for t in store.pool_traces(row.pool_id)}
    assert set(row.metrics["redundancy"].detail["by_trace"]) == traces


def test_a_dear_metric_is_added_and_then_known(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(2))])
    first = score(store, embedder="hash")
    before = scored(store, first.scoring.id)
    added = score(store, embedder="hash", metrics=("topo_uq",))
    assert (added.n_scored, added.scoring) == (2, first.scoring)
    after = scored(store, first.scoring.id)
    assert [set(s.metrics) for s in after] == [{*CHEAP, "topo_uq"}] * 2
    for old, new in zip(before, after, strict=True):
        assert {k: new.metrics[k] for k in CHEAP} == dict(old.metrics)
        assert (new.grcs, new.traces, new.flags) == (old.grcs, old.traces, old.flags)
    again = score(store, embedder="hash", metrics=("topo_uq", *CHEAP))
    assert (again.n_scored, again.n_known) == (0, 2)
    assert score(store, embedder="hash", metrics=()).n_scored == 0


def test_a_changed_pool_loses_metrics_of_what_it_was(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(1))])
    first = score(store, embedder="hash", metrics=NAMES)
    import_files(store, [write_lines(tmp_path / "u.jsonl", [line("q0", 9, "no", "B.")])])
    score(store, embedder="hash")
    (row,) = scored(store, first.scoring.id)
    assert set(row.metrics) == set(CHEAP)
    assert row.metrics["cota"].n == 5


def test_a_pool_without_a_voter_is_known_all_the_same(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", [line("q", 0, "", "A.")])])
    first = score(store, embedder="hash")
    (row,) = scored(store, first.scoring.id)
    assert row.metrics["cota"].why_undefined == "no trace has a vote"
    assert score(store, embedder="hash").n_scored == 0


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("cheap", CHEAP),
        ("all", NAMES),
        ("none", ()),
        ("topo_uq,cota", ("topo_uq", "cota")),
    ],
)
def test_words_for_metrics(said: str, names: tuple[str, ...]) -> None:
    assert chosen_metrics(said) == names


def test_a_model_and_its_metric_go_together() -> None:
    assert chosen_metrics("none", "some/model") == ("cota_model",)
    with pytest.raises(ValueError, match="--entailment"):
        chosen_metrics("cota_model")
    with pytest.raises(ValueError, match="no metric 'odd'"):
        chosen_metrics("cota,odd")


def unannotated(question: str, sample: int, answer: str, *texts: str) -> dict[str, Any]:
    row = line(question, sample, answer, gold="yes")
    row["steps"] = [{"text": t} for t in texts]
    return row


def test_readings_of_missing_annotations(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    rows = [
        unannotated("q", 0, "yes", "A.", "B."),
        line("q", 1, "yes", "A.", ("B.", [0]), gold="yes"),
        line("q", 2, "yes", "A.", "B.", gold="yes"),
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    distances = {}
    for missing in ("chain", "premise", "exclude"):
        done = score(store, embedder="hash", parameters=ScoreParameters(missing=missing))
        (row,) = scored(store, done.scoring.id)
        distances[missing] = (row.n_used, row.metrics["topo_uq_unit"].detail["mean_distance"])
        assert done.scoring.parameters.get("missing") == (None if missing == "chain" else missing)
    # Unit costs: the one edge is there or not. chain: 0 and 1 alike; premise: 0 and 2 alike.
    assert distances == {"chain": (3, 2 / 3), "premise": (3, 2 / 3), "exclude": (2, 1.0)}
    (row,) = scored(store, done.scoring.id)
    assert row.excluded == {"unannotated": 1}


def test_any_answer_may_vote(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    rows = [line("q", 0, "yes", "A.", gold="no"), *(line("q", i, "no") for i in (1, 2))]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    both = score(store, embedder="hash")
    (row,) = scored(store, both.scoring.id)
    assert (row.sc_answer, row.sc_correct) == (("boolean", True), False)
    every = score(
        store, embedder="hash", parameters=ScoreParameters(electorate="any"), primary=True
    )
    (row,) = scored(store, every.scoring.id)
    assert row.sc_counts == ((("boolean", True), 1), (("boolean", False), 2))
    assert (row.sc_answer, row.sc_correct, row.disagree) == (("boolean", False), True, True)
    assert (row.gsc_answer, row.n_used) == (("boolean", True), 1)
    made = make_items(store)  # none of SC's voters has a path that could be judged
    assert (made.n_disagreements, made.n_without_paths, made.cases.n_new) == (1, 1, 0)


@pytest.mark.parametrize("name", ["fact_edges", "terminals", "missing", "electorate", "bins"])
def test_unknown_words_are_refused(name: str) -> None:
    words: dict[str, Any] = {name: "odd"}
    with pytest.raises(ValueError, match=f"{name} is 'odd'"):
        ScoreParameters(**words)


def test_several_processes_give_the_same_bits(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(9))])
    alone = score(store, embedder="hash", metrics=NAMES)
    want = scored(store, alone.scoring.id)
    other = ScoreParameters(tau=0.9, terminal_weight=2.0, beta=0.4 + 1e-17)  # the same number
    assert score(store, embedder="hash", parameters=other, metrics=NAMES).n_scored == 0
    _forget(store)
    both = score(store, embedder="hash", metrics=NAMES, workers=2)
    assert both.n_scored == 9
    assert scored(store, both.scoring.id) == want
    with pytest.raises(ValueError, match="workers must be at least 1"):
        score(store, embedder="hash", metrics=NAMES, workers=0, parameters=ScoreParameters(beta=0))


def _forget(store: Store) -> None:
    """Make every pool's score stale, so that the next run computes it again."""
    import sqlite3
    from contextlib import closing

    assert store.file is not None
    with closing(sqlite3.connect(store.file)) as connection, connection:
        connection.execute("UPDATE question_score SET input_hash = 'stale'")


def test_a_dask_cluster_gives_the_same_bits(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    distributed = pytest.importorskip("distributed")
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(9))])
    alone = score(store, embedder="hash", metrics=NAMES)
    want = scored(store, alone.scoring.id)
    _forget(store)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        host="127.0.0.1",
        local_directory=str(tmp_path / "dask"),
    ) as cluster:
        both = score(store, embedder="hash", metrics=NAMES, dask=cluster.scheduler_address)
    assert both.n_scored == 9
    assert scored(store, both.scoring.id) == want


def test_a_cluster_that_is_not_there_is_named(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")

    def nobody(*_a: object, **_k: object) -> None:
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", nobody)
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(1))])
    with pytest.raises(ValueError, match=r"no Dask cluster answers at tcp://127\.0\.0\.1:9"):
        score(store, embedder="hash", dask="tcp://127.0.0.1:9")


def test_the_report_over_questions(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(6))])
    score(store, embedder="hash", metrics=NAMES)
    report = score_report(store)
    (group,) = report.groups
    assert (group.n_questions, group.n_traces, group.n_used) == (6, 27, 27)
    by_name = {m.name: m for m in group.metrics}
    assert list(by_name)[:4] == ["grcs", "divergence", "dispersion", "entropy"]
    assert set(NAMES) <= set(by_name)
    entropy = by_name["semantic_entropy"]
    # Three pools split 2:2, three 2:3.
    assert entropy.n == 6
    assert entropy.mean == pytest.approx((0.6931471805599453 + 0.6730116670092565) / 2, abs=1e-12)
    assert entropy.kind == "uncertainty"
    assert entropy.high == pytest.approx(0.6931471805599453, abs=1e-12)
    assert group.regimes is not None
    assert sum(group.regimes.values()) == 6
    # Six questions with gold: shares right would tell of single ones.
    assert group.accuracy is None
    assert score_report(store, unsealed=True).groups[0].accuracy is not None
    rows = list(score_rows(store))
    assert len(rows) == 6
    assert rows[0]["provenance"]["metrics"]["topo_uq"]["by"] == {"cost": "semantic", "pairs": "all"}
    assert set(rows[0]["provenance"]["metrics"]["redundancy"]["detail"]["by_trace"]) == set("0123")


def test_few_questions_are_withheld(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", pools(4))])
    score(store, embedder="hash")
    report = score_report(store)
    assert report.withheld
    assert report.origin is None
    (group,) = report.groups
    assert {m.mean for m in group.metrics} == {None}
    shown = score_report(store, unsealed=True)
    assert not shown.withheld
    assert shown.groups[0].metrics[0].n == 4
    with pytest.raises(ValueError, match="no pool 'odd'"):
        score_report(store, reference="odd")
    with pytest.raises(ValueError, match="no scoring 7"):
        score_report(store, scoring=7)
