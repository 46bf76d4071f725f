"""Two judges, or two prompt versions of one, in one report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.comparing_judges import compare_judges
from pipeline.importing import import_files
from pipeline.judging import judge
from store import Store
from tests.judges.faults import Answer, Seen, ok
from tests.pipeline.conftest import line, write_lines
from tests.pipeline.scripted import endpoint, only_role, serving

N = 6
V1, V2 = "path_judge-schema/1", "path_judge-schema/2"


@pytest.fixture(autouse=True)
def _paths(store: Store, tmp_path: Path) -> None:
    rows = [line(f"q{i}", s, "yes", f"Step {i} {s}.") for i in range(N // 2) for s in range(2)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])


def by_step(words: Callable[[int, int], str]) -> Callable[[Seen], Answer]:
    def script(seen: Seen) -> Answer:
        found = re.search(r"0\. Step ([0-9]) ([0-9])\.", seen.prompt.split("Reasoning:")[1])
        assert found is not None
        word = words(int(found[1]), int(found[2]))
        if word == "?":
            return ok("what?")
        step = None if word == "faithful" else 0
        return ok(json.dumps({"rationale": "x", "first_wrong_step": step, "verdict": word}))

    return script


def judged(store: Store, words: Callable[[int, int], str], **options: object) -> None:
    with serving(only_role("path_judge", by_step(words))) as server:
        judge(store, endpoint(server), items="all", **options)  # type: ignore[arg-type]


def test_two_prompt_versions_of_one_model(store: Store) -> None:
    judged(store, lambda q, s: "faithful", prompt=1)
    judged(store, lambda q, s: "spurious" if q == 0 else "faithful")
    found = compare_judges(store, ["small", f"small · {V2}"])
    assert (found.first.prompt_version, found.second.prompt_version) == (V1, V2)
    assert (found.n_both, found.n_questions, found.drift.table.n) == (6, 3, 6)
    assert found.drift.table.table.tolist() == [[4, 2], [0, 0]]
    assert (found.drift.changed.k, found.drift.changed.n) == (2, 6)
    assert found.moves == {("faithful", "spurious"): 2}
    assert found.first.shares == {"faithful": 6}
    assert found.second.shares == {"faithful": 4, "spurious": 2}
    # One of the two uses one category only: agreement is what chance gives.
    assert found.drift.kappa.value == pytest.approx(0.0)
    assert found.drift.mcnemar is not None
    assert found.drift.mcnemar.exact_p == pytest.approx(0.5)


def test_ties_and_unreadable_verdicts_are_dropped_and_counted(store: Store) -> None:
    turn = iter(["faithful", "spurious"] * N)
    judged(store, lambda q, s: next(turn) if q == 0 else "faithful", rater="a", repeats=2)
    judged(store, lambda q, s: "?" if (q, s) == (1, 0) else "faithful", rater="b")
    found = compare_judges(store, ["a", "b"])
    assert (found.first.n_items, found.first.n_tied, found.first.n_unread) == (6, 2, 0)
    assert (found.second.n_tied, found.second.n_unread) == (0, 1)
    assert (found.n_both, found.drift.table.n, found.drift.table.dropped) == (6, 3, 3)
    assert found.first.stability.n == 6
    assert found.first.stability.pairwise.value == pytest.approx(4 / 6)
    assert (found.second.stability.n, found.second.stability.pairwise.value) == (0, None)


def test_only_items_of_both_count(store: Store, tmp_path: Path) -> None:
    judged(store, lambda q, s: "faithful", rater="a")
    more = [line("q9", 0, "yes", "Step 9 0.")]
    import_files(store, [write_lines(tmp_path / "more.jsonl", more)])
    judged(store, lambda q, s: "faithful", rater="b")
    found = compare_judges(store, ["a", "b"])
    assert (found.first.n_items, found.second.n_items, found.n_both) == (6, 7, 6)
    assert found.drift.kappa.value is None


@pytest.mark.parametrize(
    ("names", "prompts", "message"),
    [
        (["a"], [], "two judges are compared"),
        (["a", "b", "a"], [], "two judges are compared"),
        (["a", "b"], ["1", "2", "3"], "two judges are compared"),
        (["a", "a"], [], "both are judge 'a'"),
        (["a"], [V2, V2], "both are judge 'a'"),
        (["a"], [V1, V2], "choose with --prompt-version"),
        (["a", "eve"], [], "no rater 'eve'"),
        (["a", "none"], [], "judge 'none' has no votes"),
        (["a", "ana"], [], "'ana' is a human"),
    ],
)
def test_mistakes_are_told(
    store: Store, names: list[str], prompts: list[str], message: str
) -> None:
    judged(store, lambda q, s: "faithful", rater="a")
    judged(store, lambda q, s: "faithful", rater="b")
    store.rater("ana")
    store.rater("none", "judge")
    with pytest.raises(ValueError, match=message):
        compare_judges(store, names, prompts=prompts)


def test_judges_of_different_items_cannot_be_compared(store: Store, tmp_path: Path) -> None:
    judged(store, lambda q, s: "faithful", rater="a")
    row = {**line("q0", 0, "yes", "Step 0 0."), "dataset": "other"}
    import_files(store, [write_lines(tmp_path / "other.jsonl", [row])])
    judged(store, lambda q, s: "faithful", rater="b", dataset="other")
    with pytest.raises(ValueError, match="no item in common"):
        compare_judges(store, ["a", "b"])
