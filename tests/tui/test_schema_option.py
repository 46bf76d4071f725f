"""`medoid --schema NAME`: another schema of paths is labelled by; any other is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store, open_store
from store.records import Category, SchemaSpec
from tests.definitions.running import DB, medoid
from tests.tui.running import workbench

OTHER = SchemaSpec(
    "other", "path", "Does it hold?", "Look twice.", (Category("1", "yes"), Category("2", "no"))
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(DB) as store:
        store.add_schema(OTHER)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("step", "schema step is for step items; the workbench labels paths: a schema of kind path "
         "is right, here path, other"),
        ("nope", "no schema 'nope'; there are: "),
    ],
)  # fmt: skip
def test_what_labels_no_paths_is_one_error_and_2(name: str, told: str) -> None:
    ran = medoid("--schema", name)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith(f"medoid: {told}")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["path", "other"])
def test_a_schema_of_paths_gets_as_far_as_the_terminal(name: str) -> None:
    ran = medoid("--schema", name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "medoid: the workbench needs a terminal; medoid --help lists what works without one\n"
    )


def test_before_a_command_it_is_refused() -> None:
    ran = medoid("--schema", "other", "schema", "list")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "medoid: --schema is the workbench's here; a command takes its own, after its name\n"
    )


async def test_the_app_labels_under_it(db: Path, store: Store, size: tuple[int, int]) -> None:
    store.add_schema(OTHER)
    async with workbench(db, size, schema="other") as desk:
        assert "schema: other" in desk.text.splitlines()[0]
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        assert "A: Does it hold?   1 yes   2 no" in desk.text
        await desk.press("2")
        assert "1 of 14" in desk.text
    ana = store.rater("ana").id
    found = store.label(ana, path.item_id, store.schema("other"))
    assert found is not None
    assert (found.category, found.seal) == ("no", "full")
    assert store.label(ana, path.item_id, store.schema()) is None


@pytest.mark.parametrize("seal", ["open", "judge", "full"])
async def test_steps_are_sealed_as_the_schema_in_use(db: Path, store: Store, seal: str) -> None:
    store.add_schema(
        SchemaSpec("other", "path", "Sound?", "Look.", OTHER.categories, seal)  # type: ignore[arg-type]
    )
    async with workbench(db, schema="other") as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("s", "1", "exclamation_mark", "k", "c", *"odd", "enter")
    rows = [
        row
        for part in store.step_items(path.item_id)
        for row in store.label_history(store.rater("ana").id, part.item_id)
    ]
    assert [(r.seal, r.before_reveal) for r in rows] == [(seal, seal != "open")] * 3
