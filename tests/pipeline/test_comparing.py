from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.comparing import compare_decompositions
from pipeline.decomposing import decompose
from pipeline.importing import import_files
from pipeline.scoring import score
from store import Store
from tests.judges.faults import Answer, Seen, ok
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.scripted import endpoint, only_role, serving


def pools(store: Store, folder: Path) -> None:
    """Three questions: their traces alike, in part alike, and all different."""
    rows = []
    for question, last in (("a", "Same."), ("b", None), ("c", None)):
        for sample in range(3):
            first = "Same." if question != "c" else f"Other {sample}."
            end = last or f"End {question}{sample}."
            rows.append(line(question, sample, "yes", first, (end, [0]), gold="yes"))
    import_files(store, [write_lines(folder / "t.jsonl", rows)])


def merging(seen: Seen) -> Answer:
    """Give the first step two facts, the second none, and invent one."""
    steps = seen.body["response_format"]["json_schema"]["schema"]["properties"]
    text = seen.prompt.partition("[0] ")[2].partition("\n")[0]
    facts: dict[str, list[str]] = {name: [] for name in steps}
    facts["step_0"] = [f"{text} first", f"{text} second"]
    return ok(json.dumps(facts))


@pytest.fixture(autouse=True)
def _pools(store: Store, tmp_path: Path) -> None:
    pools(store, tmp_path)


def test_figures_and_correlations(store: Store, hash_embedder: HashEmbedder) -> None:
    with serving() as server:
        decompose(store, endpoint(server), name="twofold")
    with serving(only_role("decomposer", merging)) as server:
        decompose(store, endpoint(server), name="merging")
    score(store, embedder="hash")
    score(store, embedder="hash", decomposition="twofold")
    score(store, embedder="hash", decomposition="merging")
    found = compare_decompositions(store)
    none, twofold, merged = found.figures
    assert (none.name, none.model, none.facts_per_trace, none.edges_per_fact) == (
        "none",
        None,
        2.0,
        0.5,
    )
    # Two facts a step: the anchor draws one edge to each of the second step's facts.
    assert (twofold.facts_per_trace, twofold.edges_per_fact) == (4.0, 0.5)
    assert (twofold.model, twofold.prompt_version) == ("m", "decomposer-schema/1")
    assert (merged.facts_per_trace, merged.edges_per_fact) == (2.0, 0.0)
    assert (merged.n_dropped, merged.n_steps, merged.n_invented) == (9, 18, 0)
    assert [f.n_scored for f in found.figures] == [3, 3, 3]
    first, second, third = found.correlations
    assert (first.a, first.b, first.n) == ("none", "twofold", 3)
    assert first.spearman == 1.0
    assert first.pearson == pytest.approx(1.0, abs=0.05)
    # What only the first step says: questions a and b are both wholly coherent, c is not.
    assert second.spearman == pytest.approx(0.866, abs=0.001)
    assert (third.a, third.b) == ("twofold", "merging")


def test_what_is_not_scored_has_no_correlation(store: Store, hash_embedder: HashEmbedder) -> None:
    alone = compare_decompositions(store)
    assert [f.name for f in alone.figures] == ["none"]
    assert (alone.scoring, alone.correlations) == (None, ())
    with serving() as server:
        decompose(store, endpoint(server))
    score(store, embedder="hash")
    (pair,) = compare_decompositions(store).correlations
    assert (pair.pearson, pair.spearman, pair.n) == (None, None, 0)
    assert pair.why_undefined is not None
    assert pair.why_undefined.startswith("small is not scored")


def test_a_constant_side_is_undefined_and_named(store: Store, hash_embedder: HashEmbedder) -> None:
    with serving(only_role("decomposer", lambda _: ok('{"step_0": ["x"], "step_1": ["y"]}'))) as s:
        decompose(store, endpoint(s))
    score(store, embedder="hash")
    score(store, embedder="hash", decomposition="small")
    (pair,) = compare_decompositions(store).correlations
    assert (pair.pearson, pair.n) == (None, 3)
    assert pair.why_undefined == "the GRCS of small is the same for every question"


def test_one_dataset_or_pool(store: Store) -> None:
    assert compare_decompositions(store, dataset="toy", pool="m@1").figures[0].n_traces == 9
    with pytest.raises(ValueError, match="no pool 'x'"):
        compare_decompositions(store, pool="x")
