"""Schemas: what ships, what a file may say, and what a new version does to old labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import Store, open_store
from store.exchange.schemas import (
    check_schema,
    parse_schema,
    read_schema,
    schema_text,
    spec_of,
)
from store.records import Category, SchemaRecord, SchemaSpec
from store.schemas import SHIPPED, shipped_text
from tests.store.test_label_machine import ERRORS
from tests.store.world import add_labels, decide, item_ids, key_of, new_label, small_project


def names(schema: SchemaRecord | SchemaSpec, state: str = "labelled") -> list[str]:
    return [c.name for c in schema.categories if c.state == state]


def path_of(store: Store, **changes: Any) -> SchemaSpec:
    return replace(spec_of(store.schema()), **changes)


# --- what ships ----------------------------------------------------------------------------

EXPECTED = {
    "path": ("path", "faithful, spurious"),
    "step": ("step", "valid, unsupported, contradicts, arithmetic, irrelevant"),
    "counterfactual": ("counterfactual", "distinct, implausible, same"),
    "decomposition": ("criterion", "yes, no"),
    "pair": ("pair", "right, wrong"),
    "cycle": ("cycle", ", ".join([*(f"edge{i}" for i in range(1, 10)), "none"])),
    "cycle-cause": (
        "cycle",
        "wrong fact, answer preference, swapped objects, arithmetic of negatives, other",
    ),
    "deduction": ("deduction", "calculation, logical, understanding, none"),
}


def test_a_new_database_has_the_shipped_schemas(store: Store) -> None:
    found = {s.name: (s.item_kind, ", ".join(s.names)) for s in store.schemas()}
    assert found == EXPECTED
    assert list(found) == list(SHIPPED)
    assert {(s.version, s.seal) for s in store.schemas()} == {(1, "full")}
    assert [s.name for s in store.schemas() if s.multi] == ["deduction"]
    assert all(names(s, "unsure") == ["unsure"] for s in store.schemas())


def test_the_path_schema_is_as_it_was(store: Store) -> None:
    path = store.schema()
    assert path.categories == (
        Category("1", "faithful"),
        Category("2", "spurious", takes_first_wrong_step=True),
        Category("3", "unsure", "unsure", takes_first_wrong_step=True),
    )
    assert (path.id, path.version, path.question) == (1, 1, "Is the reasoning sound?")
    assert path.guideline.startswith("**Is the reasoning sound?** Judge the steps")
    assert path.guideline.endswith("happens to be right.\n")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_guideline_explains_every_category_and_has_examples(name: str) -> None:
    spec = parse_schema(shipped_text(name))
    assert spec.name == name
    for category in names(spec):
        told = category if category not in [f"edge{i}" for i in range(2, 9)] else "edge1"
        assert f"**{told}**" in spec.guideline
    n_examples = spec.guideline.count("*Example")
    assert n_examples >= (1 if name == "path" else min(len(names(spec)), 2))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_is_written_back_as_it_is(name: str) -> None:
    assert schema_text(parse_schema(shipped_text(name))) == shipped_text(name)


def test_a_database_that_lacks_a_shipped_schema_gets_it_and_keeps_its_own(db: Path) -> None:
    with open_store(db) as store:
        mine = store.version_schema(path_of(store, seal="judge"))
    with open_store(db) as store:
        assert store.schema() == mine
        assert len(store.schemas()) == len(SHIPPED) + 1


# --- files ---------------------------------------------------------------------------------

plain = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from('"\\\n\t'),
    min_size=1,
    max_size=30,
).filter(str.strip)
words = st.from_regex("[a-zé+\\-\"']{1,8}( [a-z]{1,4})?", fullmatch=True)


@given(
    question=plain,
    guideline=plain,
    named=st.lists(words.filter(lambda w: "+" not in w), min_size=2, max_size=5, unique=True),
    multi=st.booleans(),
    step=st.booleans(),
)
def test_a_schema_comes_back_from_its_file(
    question: str, guideline: str, named: list[str], multi: bool, step: bool
) -> None:
    spec = SchemaSpec(
        "s",
        "path",
        question,
        guideline,
        tuple(
            Category(str(i), f"c {name}", "labelled", step, multi and i == 1)
            for i, name in enumerate(named)
        ),
        "judge",
        multi,
    )
    assert parse_schema(schema_text(spec)) == spec


BAD: list[tuple[str, str, str]] = [
    ("no TOML", 'name = "path"', "name = path"),
    ("no field 'colour'", 'seal = "full"', 'seal = "full"\ncolour = "red"'),
    ("no field 'hue'", 'key = "1"', 'key = "1"\nhue = 1'),
    ("name is missing", 'name = "path"\n', ""),
    ("name is", 'name = "path"', 'name = "a/b"'),
    ("item_kind is", 'item_kind = "path"', 'item_kind = "trace"'),
    ("seal is", 'seal = "full"', 'seal = "shut"'),
    ("multi is", "multi = false", "multi = 1"),
    ("question is", 'question = "Is the reasoning sound?"', 'question = " "'),
    ("question holds", "Is the reasoning sound?", "Is it \\u001b[31m?"),
    ("one digit or letter", 'key = "1"', 'key = "F1"'),
    ('have the key "2"', 'key = "1"', 'key = "2"'),
    ('have the name "spurious"', 'name = "faithful"', 'name = "spurious"'),
    ("name of a state", 'name = "faithful"', 'name = "Skipped"'),
    ("holds a +", 'name = "faithful"', 'name = "a+b"'),
    ("single spaces", 'name = "faithful"', 'name = "a  b"'),
    ("labelled or unsure", 'state = "unsure"', 'state = "skipped"'),
    ("two choices have the state", 'state = "labelled"', 'state = "unsure"'),
    ("excludes others", 'key = "1"', 'key = "1"\nexcludes_others = true'),
    ("which only a path has", 'item_kind = "path"', 'item_kind = "step"'),
    ("date", "multi = false", "multi = 2026-01-01"),
]


@pytest.mark.parametrize(("message", "right", "wrong"), BAD, ids=[b[0] for b in BAD])
def test_a_bad_file_is_refused_with_what_would_be_right(
    message: str, right: str, wrong: str, tmp_path: Path
) -> None:
    text = shipped_text("path")
    assert right in text
    file = tmp_path / "s.toml"
    file.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    expected = {"no TOML": "not TOML", "date": "multi is"}.get(message, message)
    with pytest.raises(ValueError, match=r"s\.toml: ") as caught:
        read_schema(file)
    assert expected in str(caught.value)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_bytes(b'name = "caf\xe9"')
    with pytest.raises(ValueError, match="byte 12 is not UTF-8"):
        read_schema(file)


def test_fewer_than_two_categories_are_none(store: Store) -> None:
    spec = path_of(store)
    with pytest.raises(ValueError, match="1 categories besides unsure"):
        check_schema(replace(spec, categories=spec.categories[1:]))


# --- adding and changing -------------------------------------------------------------------


def test_a_schema_is_added_once(store: Store) -> None:
    made = store.add_schema(ERRORS)
    assert (made.version, spec_of(made)) == (1, ERRORS)
    assert store.add_schema(ERRORS) == made
    with pytest.raises(ValueError, match="errors is there with other content"):
        store.add_schema(replace(ERRORS, question="Which?"))
    assert store.schemas()[-1] == made


def test_a_change_makes_a_version_and_the_same_content_none(store: Store) -> None:
    first = store.schema()
    second = store.version_schema(path_of(store, seal="judge"))
    assert (second.version, second.seal) == (2, "judge")
    assert store.version_schema(path_of(store)) == second
    assert (store.schema(), store.schema("path", 1)) == (second, first)
    third = store.version_schema(spec_of(first))
    assert (third.version, spec_of(third)) == (3, spec_of(first))
    assert [s.version for s in store.schemas() if s.name == "path"] == [1, 2, 3]


def test_what_is_not_there_is_said(store: Store) -> None:
    with pytest.raises(ValueError, match=r"no schema 'odd'; there are: .*path"):
        store.schema("odd")
    with pytest.raises(ValueError, match="path has no version 4; the newest is 1"):
        store.schema("path", 4)
    with pytest.raises(ValueError, match="no schema 'errors'"):
        store.version_schema(ERRORS)
    with pytest.raises(ValueError, match="path is for path items, not step"):
        store.version_schema(replace(ERRORS, name="path", item_kind="step"))


# --- labels and versions -------------------------------------------------------------------


def rename(spec: SchemaSpec, old: str, new: str) -> SchemaSpec:
    return replace(
        spec,
        categories=tuple(replace(c, name=new) if c.name == old else c for c in spec.categories),
    )


@pytest.fixture
def ana(store: Store) -> int:
    return store.rater("ana").id


def test_labels_keep_their_version_and_done_is_by_the_newest(store: Store, ana: int) -> None:
    first, second = small_project(store, 2)
    old = store.schema()
    decide(store, first, ana, "faithful")
    items = item_ids(store, second, ana)
    for item, category in zip(items, ["spurious", "faithful", None, "spurious"], strict=True):
        state: Any = "labelled" if category else "unsure"
        store.commit_label(ana, item, old, state=state, category=category)
    before = store.progress(ana)
    new = store.version_schema(rename(path_of(store), "spurious", "unsound"))
    assert (before.n_decided, before.n_cases_done) == (8, 2)
    after = store.progress(ana)
    assert (after.n_items, after.n_decided, after.n_cases, after.n_cases_done) == (8, 6, 2, 1)
    rows = {r.case_id: (r.n_mine, r.n_items) for r in store.cases(ana).rows}
    assert rows == {first: (4, 4), second: (2, 4)}
    assert [r.case_id for r in store.cases(ana, show="unlabelled").rows] == [second]
    assert [r.case_id for r in store.cases(ana, show="done").rows] == [first]
    assert store.neighbour_case(ana, None, show="unlabelled") == second
    (row,) = store.overview(ana)
    assert (row.n_items_done, row.n_cases_done) == (6, 1)
    view = store.case(second, ana, new)
    assert view.n_left == 2
    marks = {p.item_id: (p.label.schema_version, p.label.outdated) for p in view.paths if p.label}
    assert marks == {i: (1, n in (0, 3)) for n, i in enumerate(items)}
    assert store.reveal_check(second, ana, new).n_left == 2
    label = store.commit_label(ana, items[0], new, category="unsound")
    assert (label.schema_version, label.outdated, label.decided) == (2, False, True)
    history = store.label_history(ana, items[0])
    assert [(r.schema_version, r.category) for r in history] == [(1, "spurious"), (2, "unsound")]
    assert store.progress(ana).n_decided == 7


def test_the_same_category_under_a_new_version_is_another_row(store: Store, ana: int) -> None:
    (case,) = small_project(store, 1)
    item = item_ids(store, case, ana)[0]
    store.commit_label(ana, item, store.schema(), category="faithful")
    new = store.version_schema(path_of(store, question="Sound?"))
    noted = store.annotate(ana, item, new, note="hm")
    assert noted.schema_version == 1
    again = store.commit_label(ana, item, new, category="faithful")
    assert (again.schema_version, again.note) == (2, "hm")
    undone = store.undo(ana)
    assert undone is not None
    assert undone.label is not None
    assert (undone.label.schema_version, undone.label.category) == (1, "faithful")


def test_agreement_names_versions_and_leaves_out_what_is_outdated(store: Store, ana: int) -> None:
    (case,) = small_project(store, 1)
    items = item_ids(store, case, ana)
    keys = [p.item for p in store.case(case, ana, store.schema()).paths]
    store.commit_label(ana, items[0], store.schema(), category="faithful")
    store.commit_label(ana, items[1], store.schema(), category="spurious")
    new = store.version_schema(rename(path_of(store), "spurious", "unsound"))
    store.commit_label(ana, items[2], new, category="unsound")
    add_labels(store, [new_label(keys[0], "judge", schema_version=1), new_label(keys[2], "judge")])
    found = {p.item: p for p in store.label_pairs("path", "ana", "judge")}
    assert {k: (p.a, p.a_state, p.a_version, p.b, p.b_version) for k, p in found.items()} == {
        keys[0]: ("faithful", "labelled", 1, "faithful", 1),
        keys[1]: (None, "outdated", 1, None, None),
        keys[2]: ("unsound", "labelled", 2, "faithful", 2),
    }


def test_sets_are_compared_in_the_newest_order(store: Store, ana: int) -> None:
    (case,) = small_project(store, 1)
    items = item_ids(store, case, ana)[:3]
    old = store.add_schema(ERRORS)
    for item, said in zip(items, (["sum", "logic"], ["none"], ["sum"]), strict=True):
        store.commit_label(ana, item, old, categories=said)
    a, b, c, d = ERRORS.categories
    other = replace(c, name="no error")
    new = store.version_schema(replace(ERRORS, categories=(b, a, other, d)))
    bob = store.rater("bob").id
    for item, said in zip(items, (["sum", "logic"], ["no error"], ["sum"]), strict=True):
        store.commit_label(bob, item, new, categories=said)
    found = [(p.a, p.b) for p in store.label_pairs("errors", "ana", "bob")]
    assert sorted(found, key=str) == [
        ("logic+sum", "logic+sum"),
        ("sum", "sum"),
        (None, "no error"),
    ]
    assert store.progress(ana, "errors").n_decided == 2


def test_an_import_may_name_a_version(store: Store) -> None:
    small_project(store, 1)
    key = key_of("q0", "0")
    store.version_schema(rename(path_of(store), "spurious", "unsound"))
    old = new_label(key, "judge", "spurious", schema_version=1)
    assert add_labels(store, [old, old]) == ["added", "known"]
    for bad, message in (
        (replace(old, schema_version=2), "'spurious' is not in schema path version 2"),
        (replace(old, schema_version=3), "path has no version 3; the newest is 2"),
    ):
        with pytest.raises(ValueError, match=message):
            add_labels(store, [bad])
