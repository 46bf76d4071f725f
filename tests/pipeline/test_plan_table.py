"""The table of a plan's run: what each dataset and model came to."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.plan import read_plan, run_plan
from pipeline.plan_table import FEW
from store import Store
from tests.pipeline.conftest import HashEmbedder, write_lines
from tests.pipeline.scripted import QUESTIONS, serving
from tui import overviewlines

PLAN = """
[models.one]
base_url = "URL"
structured = "schema"
[models.two]
base_url = "URL"
structured = "schema"
[datasets.toy]
files = "q.jsonl"
[[stages]]
stage = "generate"
models = "one"
n = 3
[[stages]]
stage = "embed"
embedder = "hash"
[[stages]]
stage = "score"
embedder = "hash"
[[stages]]
stage = "judge"
models = "two"
items = "all"
[[stages]]
stage = "judge"
models = "two"
schema = "step"
items = "all"
"""


@pytest.mark.usefixtures("hash_embedder")
def test_a_row_for_each_dataset_and_model(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    write_lines(tmp_path / "q.jsonl", QUESTIONS)
    with serving() as server:
        path = tmp_path / "plan.toml"
        path.write_text(PLAN.replace("URL", server.url))
        plan = read_plan(path)
        one, two = run_plan(store, plan).figures
        again, _ = run_plan(store, plan).figures
        dry = run_plan(store, plan, dry_run=True)
    assert (one.dataset, one.model, two.model) == ("toy", "one", "two")
    assert (one.n_traces, one.n_parsed, one.n_scored, one.n_disagree) == (6, 6, 2, 0)
    assert (two.n_traces, two.n_scored, two.n_disagree, two.grcs) == (0, 0, None, None)
    assert one.grcs is not None
    assert 0 < one.grcs <= 1
    # Two questions are too few to tell how many are right.
    assert (one.n_gold, one.sc_correct, one.gsc_correct) == (2, None, None)
    assert (one.n_judged, two.n_judged) == (0, 6 + 18)
    assert (one.tokens, one.cost, one.errors, one.early) == (6 * 18, None, 0, None)
    assert two.tokens > 0
    # What stands is told again; what was used is of the run alone.
    assert (again.n_traces, again.grcs, again.tokens) == (6, one.grcs, 0)
    assert dry.figures == ()


def test_the_rule_is_the_overviews() -> None:
    assert FEW == overviewlines.FEW
