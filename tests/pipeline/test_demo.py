from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.demo import BUNDLED, EMBEDDINGS, build_demo, demo_database
from pipeline.report import project_report
from store import Store, open_store

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    build_demo(path)
    return path


@pytest.fixture
def demo(demo_file: Path) -> Iterator[Store]:
    with open_store(demo_file) as store:
        yield store


def test_pools_and_disagreements(demo: Store) -> None:
    (row,) = demo.overview(None)
    assert (row.n_questions, row.n_traces, row.n_usable, row.n_parsed) == (20, 400, 400, 400)
    assert row.n_steps == 1411
    assert (row.n_scored, row.n_disagree, row.n_cases) == (20, 3, 20)
    scoring = demo.primary_scoring()
    assert scoring is not None
    by_pool = {p.id: p.question_id for p in demo.pools()}
    scores = {by_pool[s.pool_id]: s for s in demo.pool_scores(scoring.id)}
    disagree = {q: (s.sc_correct, s.gsc_correct) for q, s in scores.items() if s.disagree}
    assert disagree == {"yn-12": (False, True), "yn-13": (False, True), "yn-5": (True, False)}
    wrong = {q for q, s in scores.items() if not s.sc_correct and not s.gsc_correct}
    assert wrong == {"yn-1", "yn-8", "yn-14", "ar-5"}
    assert {q for q, s in scores.items() if s.sc_tied} == {"yn-5", "yn-14"}
    assert len(scores["ar-3"].sc_counts) == 1
    grcs = [s.grcs for s in scores.values() if s.grcs is not None]
    assert (round(min(grcs), 2), round(max(grcs), 2)) == (0.59, 0.85)


def test_the_judge_contradicts_itself(demo: Store) -> None:
    summary = demo.judge_summary("qwen2.5-coder-0.5b")
    assert (summary.n, summary.unparsed) == (400, 0)
    assert summary.counts == {"faithful": 305, "spurious": 95}
    assert summary.self_contradictions == {
        "faithful_with_wrong_step": 252,
        "spurious_without_step": 14,
    }
    assert summary.step_out_of_range == 3


def test_reference_labels_cover_every_case(demo: Store) -> None:
    raters = {r.name: (r.kind, r.n_labelled) for r in demo.raters()}
    assert raters == {"qwen2.5-coder-0.5b": ("judge", 400), "authors": ("reference", 57)}
    rater = demo.rater("probe")
    labelled = {p.item for p in demo.label_pairs("path", "authors", "probe")}
    assert len(labelled) == 58
    items: set[str] = set()
    for row in demo.cases(rater.id).rows:
        view = demo.case(row.case_id, rater.id, demo.schema())
        items |= {p.item for p in view.paths}
    assert items == labelled


def test_agreement_of_authors_and_judge(demo: Store) -> None:
    (pair,) = project_report(demo).pairs
    assert pair.raters == ("authors", "qwen2.5-coder-0.5b")
    assert pair.table.table.tolist() == [[10, 0], [35, 12]]
    # po = 22/57, pe = (10·45 + 47·12)/57²
    assert pair.kappa.value == pytest.approx((22 / 57 - 1014 / 3249) / (1 - 1014 / 3249))
    assert (pair.kappa.n, pair.kappa.dropped) == (57, 343)
    assert pair.states["authors"] == {"not labelled": 342, "unsure": 1}


def test_fresh_sets_the_old_copy_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.demo.demo_path", lambda: tmp_path / "demo.db")
    path = demo_database()
    with open_store(path) as store:
        rater = store.rater("ana")
        view = store.case(store.cases(rater.id).rows[0].case_id, rater.id, store.schema())
        store.commit_label(rater.id, view.paths[0].item_id, store.schema(), category="faithful")
    assert demo_database() == path
    with open_store(path) as store:
        assert {r.name for r in store.raters()} >= {"ana"}
    demo_database(fresh=True)
    with open_store(path) as store:
        assert "ana" not in {r.name for r in store.raters()}
    (old,) = list(tmp_path.glob("demo-*.db"))
    with open_store(old) as store:
        assert {r.name: r.n_labelled for r in store.raters()}["ana"] == 1
    assert not list(tmp_path.glob("*.partial*"))


def test_demo_without_a_terminal_prints_aggregates_only(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from tui.cli import main; main()", "demo"],
        cwd=ROOT,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "they disagree on 3 of 20 questions" in done.stdout
    assert "Cohen's κ 0.107" in done.stdout
    assert "contradicts itself in 266 (66.5 %)" in done.stdout
    assert "reference authors: 57 items with a category" in done.stdout
    assert "path:own" not in done.stdout
    assert "torch" not in done.stderr


def test_bundled_embeddings_name_their_origin() -> None:
    with np.load(EMBEDDINGS, allow_pickle=False) as data:
        assert str(data["embedder"]) == "minilm"
        assert str(data["revision"]).startswith("sha256:53aa51172d14")
        assert data["vectors"].shape == (1119, 384)
        norms = np.linalg.norm(data["vectors"].astype(np.float64), axis=1)
    assert np.allclose(norms, 1.0, atol=1e-6)


@pytest.mark.embed
def test_bundled_embeddings_can_be_computed_again(demo: Store) -> None:
    pytest.importorskip("sentence_transformers", reason="the embed extra is not installed")
    from judges.embedders import open_embedder
    from pipeline.embedding import distinct_fact_texts

    texts, n_facts = distinct_fact_texts(demo)
    assert (n_facts, len(texts)) == (1411, 1119)
    hashes = sorted(texts)
    again = open_embedder("minilm").encode([texts[h] for h in hashes]).astype(np.float64)
    stored = demo.embeddings(demo.embedders()[0][0], hashes)
    cosines = [float(stored[h].astype(np.float64) @ v) for h, v in zip(hashes, again, strict=True)]
    assert min(cosines) > 0.9999


@pytest.mark.parametrize("room", ["scoring", "judges", "store", "pipeline", "tui"])
def test_rooms_are_ours(room: str) -> None:
    file = importlib.import_module(room).__file__
    assert file is not None
    assert Path(file).resolve().parent == ROOT / room


def test_bundled_files_are_all_there() -> None:
    names = {p.name for p in BUNDLED.iterdir()}
    assert names == {
        "README.md",
        "embeddings.npz",
        "judge.jsonl",
        "problems.toml",
        "prompts.md",
        "reference.jsonl",
        "relations",
        "traces.jsonl",
    }
