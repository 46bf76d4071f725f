"""One rater is one model asked with one prompt version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import judges.prompts
from pipeline.decomposing import decompose
from pipeline.generating import generate
from pipeline.judging import judge
from pipeline.raters import judge_name
from store import Store
from store.records import NewLabel
from tests.judges.faults import FaultServer
from tests.pipeline.scripted import add_questions, endpoint, serving

KEY = "path:toy/q1/small/0"
SECOND = "path_judge-schema/3"


@pytest.fixture
def server(store: Store, tmp_path: Path) -> Iterator[FaultServer]:
    add_questions(store, tmp_path)
    with serving() as running:
        generate(store, endpoint(running), n=1)
        yield running


@pytest.fixture
def next_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The path judge has a second version of its prompt."""
    there, here = Path(judges.prompts.__file__).parent, tmp_path / "prompts"
    here.mkdir()
    for path in there.glob("*.toml"):
        text = path.read_text("utf-8")
        (here / path.name).write_text(text, "utf-8")
        if path.name == "path_judge-schema-2.toml":
            (here / "path_judge-schema-3.toml").write_text(text + "\n", "utf-8")
    monkeypatch.setattr(judges.prompts, "_DIRECTORY", here)
    caches = (judges.prompts._files, judges.prompts._loaded)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


def prompts(store: Store) -> dict[str, set[str | None]]:
    """Return the prompt versions of every judge's labels."""
    return {
        r.name: {x.label.prompt_version for x in store.export_labels(rater=r.name)}
        for r in store.raters()
    }


def test_the_next_prompt_version_is_another_rater(
    store: Store, server: FaultServer, request: pytest.FixtureRequest
) -> None:
    assert judge(store, endpoint(server), items="all").rater == "small"
    request.getfixturevalue("next_prompt")
    second = judge(store, endpoint(server), items="all")
    assert (second.rater, second.asking.n_requests) == (f"small · {SECOND}", 2)
    again = judge(store, endpoint(server), items="all")
    assert (again.rater, again.asking.n_requests) == (f"small · {SECOND}", 0)
    assert prompts(store) == {
        "small": {"path_judge-schema/2"},
        f"small · {SECOND}": {SECOND},
    }


@pytest.mark.usefixtures("next_prompt")
def test_who_never_judged_with_another_keeps_the_name(store: Store, server: FaultServer) -> None:
    assert judge(store, endpoint(server), items="all").rater == "small"
    assert prompts(store) == {"small": {SECOND}}


def test_both_forms_are_two_prompts_and_each_finds_its_rater_again(
    store: Store, server: FaultServer
) -> None:
    bound, text = endpoint(server), endpoint(server, structured="text")
    assert judge(store, text, items="all").rater == "small"
    for _ in range(2):
        assert judge(store, bound, items="all").rater == "small · path_judge-schema/2"
        assert judge(store, text, items="all").rater == "small"


def test_another_schema_is_another_matter(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), items="all")
    decompose(store, endpoint(server), name="split")
    done = judge(store, endpoint(server), schema="decomposition", items="all")
    assert (done.rater, done.n_complete) == ("small", 2)


@pytest.mark.parametrize("told", ["path_judge-schema/7", None])
def test_imported_labels_count_as_well(store: Store, server: FaultServer, told: str | None) -> None:
    with store.importing() as batch:
        batch.add_label(
            NewLabel(KEY, "path", "small", "judge", "labelled", "spurious", prompt_version=told)
        )
    assert judge(store, endpoint(server), items="all").rater == "small · path_judge-schema/2"
    assert prompts(store)["small"] == {told}


def test_imported_labels_of_the_same_prompt_go_on(store: Store, server: FaultServer) -> None:
    version = "path_judge-schema/2"
    with store.importing() as batch:
        batch.add_label(
            NewLabel(KEY, "path", "small", "judge", "labelled", "spurious", prompt_version=version)
        )
    assert judge(store, endpoint(server), items="all").rater == "small"


def test_a_name_that_was_given_is_refused_and_not_changed(
    store: Store, server: FaultServer
) -> None:
    judge(store, endpoint(server), items="all", rater="mine")
    n = len(server.seen)
    with pytest.raises(ValueError, match="'mine' has labels that path_judge-schema/2 brought"):
        judge(store, endpoint(server, structured="text"), items="all", rater="mine")
    assert len(server.seen) == n
    assert [r.name for r in store.raters()] == ["mine"]


def test_the_longer_name_may_be_taken_as_well(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server, structured="text"), items="all")
    taken = "small · path_judge-schema/2"
    judge(store, endpoint(server, structured="text"), items="all", rater=taken)
    with pytest.raises(ValueError, match="name this one with another --rater NAME"):
        judge_name(store, endpoint(server), None, "path_judge-schema/2", "path")


def test_a_dry_run_names_the_same_rater(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server, structured="text"), items="all")
    dry = judge(store, endpoint(server), items="all", dry_run=True)
    assert dry.rater == "small · path_judge-schema/2"
    assert [r.name for r in store.raters()] == ["small"]
