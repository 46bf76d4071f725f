"""Export and import: golden lines, and import(export(x)) == x."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.exporting import item_lines, label_lines
from pipeline.importing import ImportSummary, NothingUsableError, import_files
from store import ConflictError, Store, open_store
from store.exchange.cells import cell, csv_lines, csv_rows, text_of
from store.exchange.lines import LineError
from store.records import NewLabel
from tests.store.test_label_machine import ERRORS
from tests.store.world import (
    add_labels,
    add_traces,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    score_and_make_cases,
    small_project,
)

KEY = key_of("q0", "0")
MOMENT = "2026-01-31T14:02:31.000000+00:00"
HARD_NOTE = "=1+1\n\u202e\x00\ud800,\"'"
FORMATS = ("jsonl", "csv")


def full_label(**changes: Any) -> NewLabel:
    return replace(
        new_label(
            KEY,
            "judge",
            "spurious",
            first_wrong_step=1,
            flagged=True,
            note="=SUM(A1)",
            rationale="because",
            raw='{"verdict": "spurious"}',
            prompt_version="path-1",
            created_at=MOMENT,
            before_reveal=True,
            seal="judge",
            active_seconds=2.5,
            extra={"finish_reason": "stop", "tokens": [1, 2]},
        ),
        **changes,
    )


@pytest.fixture
def project(store: Store) -> Store:
    small_project(store, 2)
    return store


def export(store: Store, file_format: Any = "jsonl", **options: Any) -> str:
    return "".join(label_lines(store, file_format, **options))


def save(folder: Path, text: str, file_format: str) -> Path:
    path = folder / f"out.{file_format}"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def twin(project: Store, folder: Path) -> Store:
    """Return another database with the same traces, cases and schemas, without labels."""
    other = open_store(folder / "twin.db")
    small_project(other, 2)
    return other


# --- golden --------------------------------------------------------------------------------

GOLDEN_JSONL = (
    '{"item": "path:own/q0/gen@plain/0", "schema": "path", "schema_version": 1, "rater": "judge", '
    '"rater_kind": "judge", "state": "labelled", "category": "spurious", "first_wrong_step": 1, '
    '"flagged": true, "note": "=SUM(A1)", "rationale": "because", '
    '"raw": "{\\"verdict\\": \\"spurious\\"}", "prompt_version": "path-1", '
    '"created_at": "2026-01-31T14:02:31.000000+00:00", "before_reveal": true, "seal": "judge", '
    '"active_seconds": 2.5, "finish_reason": "stop", "tokens": [1, 2]}\n'
)
GOLDEN_CSV = (
    "item,schema,schema_version,rater,rater_kind,state,category,first_wrong_step,flagged,note,"
    "rationale,raw,prompt_version,created_at,before_reveal,seal,active_seconds,extra\n"
    "path:own/q0/gen@plain/0,path,1,judge,judge,labelled,spurious,1,true,'=SUM(A1),because,"
    '"{""verdict"": ""spurious""}",path-1,2026-01-31T14:02:31.000000+00:00,true,judge,2.5,'
    '"{""finish_reason"":""stop"",""tokens"":[1,2]}"\n'
)


def test_a_label_as_it_stands_in_a_file(project: Store) -> None:
    add_labels(project, [full_label()])
    assert export(project) == GOLDEN_JSONL
    assert export(project, "csv") == GOLDEN_CSV


def test_a_state_and_a_set_as_they_stand_in_a_file(project: Store) -> None:
    project.add_schema(ERRORS)
    several = replace(new_label(KEY, "ana", "logic+sum", rater_kind="human"), schema="errors")
    unsure = new_label(KEY, "ana", None, rater_kind="human", state="unsure")
    add_labels(project, [replace(x, created_at=MOMENT) for x in (several, unsure)])
    one, two = map(json.loads, export(project).splitlines())
    assert (one["category"], one["categories"], one["schema"]) == (
        "sum+logic",
        ["sum", "logic"],
        "errors",
    )
    assert (two["state"], two["category"], "categories" in two) == ("unsure", None, False)
    rows = export(project, "csv").splitlines()[1:]
    assert rows == [
        f"{KEY},errors,1,ana,human,labelled,sum+logic,,false,,,,,{MOMENT},,open,,",
        f"{KEY},path,1,ana,human,unsure,,,false,,,,,{MOMENT},,open,,",
    ]


GOLDEN_ITEMS = """\
item,kind,dataset,question_id,pool,sample,step,decomposition,criterion,editing,case,edges
path:a%2Fb/q%25/p/0,path,a/b,q%,p,0,,,,,a%2Fb/q%25/p,
path:a%2Fb/q%25/p/1,path,a/b,q%,p,1,,,,,,
step:a%2Fb/q%25/p/0/0,step,a/b,q%,p,0,0,,,,,
step:a%2Fb/q%25/p/0/1,step,a/b,q%,p,0,1,,,,,
"""


def test_items_as_they_stand_in_a_file(store: Store) -> None:
    question = new_question("q%", dataset="a/b")
    add_traces(store, [new_trace(question, str(k), pool="p") for k in range(2)])
    score_and_make_cases(store, paths=("0",))
    path_item = item_ids(store, case_ids(store, 0)[0], store.rater("ana").id)[0]
    store.step_items(path_item)
    add_labels(store, [new_label("path:a%2Fb/q%25/p/1", "judge")])
    assert "".join(item_lines(store, "csv")) == GOLDEN_ITEMS
    first = next(iter(item_lines(store, "csv", design=True)))
    assert first.endswith(",case,stratum,case_inclusion_probability,inclusion_probability,edges\n")
    lines = [json.loads(x) for x in item_lines(store, design=True)]
    assert [(x["stratum"], x["inclusion_probability"]) for x in lines] == [
        ("disagreement", 1.0),
        (None, None),
        (None, None),
        (None, None),
    ]


# --- there and back ------------------------------------------------------------------------


def busy(store: Store) -> None:
    """Label, change, undo, flag, reveal and change again, in three schemas; and a judge."""
    ana, bob, path = store.rater("ana").id, store.rater("bob").id, store.schema()
    errors = store.add_schema(ERRORS)
    case, other = case_ids(store, 0)
    items = item_ids(store, case, ana)
    store.commit_label(ana, items[0], path, category="faithful", active_seconds=1 / 3)
    store.commit_label(ana, items[0], path, category="spurious", first_wrong_step=1, note="hm")
    store.commit_label(ana, items[1], errors, categories=["logic", "sum"])
    decide(store, case, ana)
    store.reveal(case, ana, path)
    store.commit_label(ana, items[2], path, category="spurious")
    store.commit_label(ana, items[3], path, state="skipped", note=HARD_NOTE)
    store.undo(ana)
    store.undo(ana)
    part = store.step_items(items[0])[1].item_id
    store.commit_label(ana, part, store.schema("step"), category="arithmetic")
    store.commit_label(bob, items[0], path, category="faithful")
    store.undo(bob)
    flagged = item_ids(store, other, bob)[0]
    store.annotate(bob, flagged, path, flagged=True)
    add_labels(store, [full_label(created_at=None, note=HARD_NOTE), new_label(KEY, "judge 2")])


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("file_format", FORMATS)
def test_importing_an_export_changes_nothing(
    file_format: str, history: bool, project: Store, tmp_path: Path
) -> None:
    busy(project)
    text = export(project, file_format, history=history)
    everything = export(project, history=True)
    rows = [x.label for x in project.export_labels(history=history)]
    standing = len({(x.rater, x.item, x.schema) for x in rows})
    path = save(tmp_path, text, file_format)
    summary = import_files(project, [path])
    expected = {"known": standing, "superseded": len(rows) - standing}
    assert (summary.labels, summary.rejected) == (expected, [])
    assert expected["superseded"] > 0
    assert export(project, history=True) == everything


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("file_format", FORMATS)
def test_an_export_says_in_another_database_what_it_said_here(
    file_format: str, history: bool, project: Store, tmp_path: Path
) -> None:
    busy(project)
    text = export(project, file_format, history=history)
    with twin(project, tmp_path) as other:
        other.add_schema(ERRORS)
        summary = import_files(other, [save(tmp_path, text, file_format)])
        assert summary.rejected == []
        assert export(other, file_format, history=history) == text
        assert export(other) == export(project)
        for schema in ("path", "errors", "step"):
            for pair in (("ana", "judge"), ("ana", "bob")):
                here, there = (
                    {p.item: (p.a, p.b, p.a_state) for p in s.label_pairs(schema, *pair)}
                    for s in (project, other)
                )
                assert here == there
            counts = [s.label_origin_counts(schema, "ana") for s in (project, other)]
            assert counts[0] == counts[1]


def test_what_stands_comes_with_the_label_from_before_the_reveal(project: Store) -> None:
    busy(project)
    rows = [json.loads(x) for x in export(project, rater="ana", schema="path").splitlines()]
    told: dict[str, list[tuple[str, bool]]] = {}
    for row in rows:
        told.setdefault(row["item"], []).append((row["category"], row["before_reveal"]))
    # decide() called every path faithful; afterwards two were changed, and the changes undone.
    changed = [("faithful", True), ("faithful", False)]
    assert sorted(told.values(), key=len) == [[("faithful", True)]] * 2 + [changed] * 2
    bobs = [json.loads(x) for x in export(project, rater="bob").splitlines()]
    assert [(r["state"], r["flagged"]) for r in bobs] == [("open", True)]
    assert len(export(project, rater="bob", history=True).splitlines()) == 3


texts = st.text(st.characters(exclude_categories=()) | st.sampled_from("'=+-@\t\r\n\x00\ud800,;\""))


@given(texts)
def test_a_cell_comes_back_and_no_spreadsheet_runs_it(text: str) -> None:
    written = cell(text)
    assert text_of(written) == text
    assert written[:1] not in ("=", "+", "-", "@", "\t", "\r")
    written.encode()


def test_cells_by_hand() -> None:
    pairs = {
        "=1": "'=1",
        "'=1": "''=1",
        "'": "'",
        "'tis": "'tis",
        "-": "'-",
        "json:x": "'json:x",
        "": 'json:""',
        "\x00": 'json:"\\u0000"',
    }
    assert {t: cell(t) for t in pairs} == pairs
    assert cell(None) == ""
    assert text_of("") is None
    with pytest.raises(LineError, match="a JSON string"):
        text_of("json:1")


@given(rows=st.lists(st.lists(st.none() | texts, min_size=2, max_size=2), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_rows_come_back_from_a_csv_file(rows: list[list[str | None]], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(csv_lines(("a", "b"), rows)), encoding="utf-8", newline="")
    found = [row for _, row in csv_rows(path, ("a", "b"), ",")]
    assert found == [
        {k: v for k, v in zip("ab", row, strict=True) if v is not None}
        for row in rows
        if any(v is not None for v in row)
    ]


@given(
    notes=st.lists(texts.filter(bool), min_size=3, max_size=3), file_format=st.sampled_from(FORMATS)
)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_of_a_label_comes_back(
    notes: Sequence[str], file_format: str, store: Store, tmp_path: Path
) -> None:
    if not store.pools():
        small_project(store, 1)
    note, raw, value = notes
    line = full_label(note=note, raw=raw, extra={"field": value})
    add_labels(store, [line])
    path = save(tmp_path, export(store, file_format), file_format)
    found = import_files(store, [path]).labels
    assert set(found) == {"known"}
    (last,) = list(store.export_labels(rater="judge"))
    assert last.label == replace(line, schema_version=1)


# --- what counts as the same ---------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"seal": "full"},
        {"active_seconds": 2.75},
        {"active_seconds": None},
        {"extra": {"finish_reason": "length", "tokens": [1, 2]}},
        {"extra": None},
        {"before_reveal": None},
        {"flagged": False},
        {"note": None},
        {"raw": None},
        {"created_at": "2026-01-31T14:02:32.000000+00:00"},
    ],
    ids=str,
)
def test_a_label_that_differs_in_one_field_is_another_row(
    change: dict[str, Any], project: Store
) -> None:
    other = full_label(**change)
    assert add_labels(project, [full_label(), other, other]) == ["added", "changed", "known"]
    labels = [x.label for x in project.export_labels(history=True)]
    assert [replace(x, schema_version=None) for x in labels] == [full_label(), other]


def test_a_line_without_moment_or_version_is_known_by_what_it_says(project: Store) -> None:
    assert add_labels(project, [full_label(), full_label(created_at=None)]) == ["added", "known"]
    assert add_labels(project, [full_label(schema_version=1)]) == ["known"]
    assert add_labels(project, [full_label(created_at=None, note="x")]) == ["changed"]


# --- files with mistakes -------------------------------------------------------------------


def import_text(
    store: Store, folder: Path, text: str | bytes, name: str = "l.csv"
) -> ImportSummary:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_files(store, [path])


def test_a_csv_by_hand_is_read(project: Store, tmp_path: Path) -> None:
    text = (
        "\ufeffitem;rater;category;first_wrong_step;note;mood\r\n"
        f'{KEY};ana;spurious;1;"two\nlines";good\r\n'
        "\r\n"
        f"{key_of('q0', '1')};ana;skip;;;\r\n"
    )
    summary = import_text(project, tmp_path, text)
    assert (summary.labels, summary.rejected) == ({"added": 2}, [])
    one, two = (x.label for x in project.export_labels())
    assert (one.category, one.first_wrong_step, one.note) == ("spurious", 1, "two\nlines")
    assert (one.rater_kind, one.extra, two.state) == ("human", {"mood": "good"}, "skipped")


CSV_MISTAKES: list[tuple[str, int, str]] = [
    (f"{KEY},ana,good,1,true,", 3, "'good' is not in schema path"),
    (f"{KEY},ana,faithful,x,true,", 3, "first_wrong_step is"),
    (f"{KEY},ana,faithful,,maybe,", 3, "flagged is"),
    (f"{KEY},ana,faithful,,,fast", 3, "active_seconds is"),
    (f"{KEY},ana,faithful", 3, "3 cells; the header has 6 columns"),
    (f"{KEY},ana,faithful,,,json:1", 3, "after json: a JSON string is right"),
    (f'{KEY},ana,"faithful', 3, "not CSV"),
    (f"{KEY},caf\xe9,faithful,,,", 3, "not UTF-8"),
    ("nothing,ana,faithful,,,", 3, "is not path:DATASET"),
]


@pytest.mark.parametrize(("row", "line", "message"), CSV_MISTAKES)
def test_a_bad_row_is_named_with_its_line_and_the_others_stay(
    row: str, line: int, message: str, project: Store, tmp_path: Path
) -> None:
    good = f'{KEY},bob,faithful,,,"2"'
    text = "\n".join(["item,rater,category,first_wrong_step,flagged,active_seconds", good, row])
    summary = import_text(project, tmp_path, text.encode("latin-1"))
    assert summary.labels == {"added": 1}
    (rejected,) = summary.rejected
    assert (rejected.line, message in rejected.message) == (line, True), rejected.message


def test_the_line_of_a_bad_row_counts_the_lines_of_its_neighbours(
    project: Store, tmp_path: Path
) -> None:
    text = f'item,rater,category,note\n{KEY},ana,faithful,"a\nb\nc"\n\n{KEY},ana,odd,"d\ne"\n'
    summary = import_text(project, tmp_path, text)
    assert [(r.line, r.file[-5:]) for r in summary.rejected] == [(6, "l.csv")]


@pytest.mark.parametrize("header", ["a,b,c", "rater,category", "ana,bob"])
def test_another_csv_is_no_label_file(header: str, project: Store, tmp_path: Path) -> None:
    with pytest.raises(NothingUsableError, match="none of 1 lines") as refused:
        import_text(project, tmp_path, f"{header}\n1,2,3\n")
    (rejected,) = refused.value.rejected
    assert "labels (item, rater, category)" in rejected.message


def test_extra_must_be_an_object(project: Store, tmp_path: Path) -> None:
    out = io.StringIO()
    rows = [[KEY, "ana", "faithful", x] for x in ("[1]", "{", '{"item": "x", "y": 1}')]
    csv.writer(out).writerows([["item", "rater", "category", "extra"], *rows])
    summary = import_text(project, tmp_path, out.getvalue())
    assert [(r.line, "extra is" in r.message) for r in summary.rejected] == [(2, True), (3, True)]
    assert [x.label.extra for x in project.export_labels()] == [{"y": 1}]


def test_categories_must_agree_with_the_category(project: Store, tmp_path: Path) -> None:
    project.add_schema(ERRORS)
    base = {"item": KEY, "rater": "ana", "schema": "errors"}
    lines = [
        {**base, "categories": ["logic", "sum"]},
        {**base, "category": "sum", "categories": ["logic"]},
        {**base, "categories": "sum"},
        {**base, "categories": ["none", "sum"]},
    ]
    text = "\n".join(map(json.dumps, lines))
    summary = import_text(project, tmp_path, text, "l.jsonl")
    assert [r.line for r in summary.rejected] == [2, 3, 4]
    assert [x.label.category for x in project.export_labels()] == ["sum+logic"]


# --- items there and back ------------------------------------------------------------------


@pytest.mark.parametrize("design", [False, True])
@pytest.mark.parametrize("file_format", FORMATS)
def test_importing_items_where_they_came_from_changes_nothing(
    file_format: Any, design: bool, project: Store, tmp_path: Path
) -> None:
    project.step_items(1)
    text = "".join(item_lines(project, file_format, design=design))
    summary = import_files(project, [save(tmp_path, text, file_format)])
    assert (summary.items, summary.rejected) == ({"known": 10}, [])
    assert "".join(item_lines(project, file_format, design=design)) == text


def test_items_are_made_where_their_traces_are(project: Store, tmp_path: Path) -> None:
    step = KEY.replace("path:", "step:")
    lines = [
        {"item": f"{step}/1", "kind": "step"},
        {"item": f"{step}/7", "kind": "step"},
        {"item": f"{step}/0", "kind": "path"},
    ]
    text = "\n".join(map(json.dumps, lines))
    summary = import_text(project, tmp_path, text, "i.jsonl")
    assert summary.items == {"added": 1}
    assert [(r.line, r.message.split(";")[0][-20:]) for r in summary.rejected] == [
        (2, "names no step: the trace has 2, numbered from 0"[-20:]),
        (3, f'the item is "{step}/0"'[-20:]),
    ]


def test_an_item_chosen_otherwise_is_refused_without_telling_how(project: Store) -> None:
    from store.records import NewItem

    with project.importing() as batch:
        assert batch.add_item(NewItem(KEY, "disagreement", 1.0, 1.0)) == "known"
        for wrong in (NewItem(KEY, "agreement"), NewItem(KEY, None, 0.5)):
            with pytest.raises(ConflictError, match="not chosen like that") as caught:
                batch.add_item(wrong)
            assert "disagreement" not in str(caught.value)


def test_the_design_is_sealed_until_everybody_has_seen_every_question(project: Store) -> None:
    assert project.design_is_sealed()
    ana, path = project.rater("ana").id, project.schema()
    for case in case_ids(project, ana):
        assert project.design_is_sealed()
        decide(project, case, ana)
        project.reveal(case, ana, path)
    assert not project.design_is_sealed()
    project.rater("machine", "judge")
    assert not project.design_is_sealed()
    project.rater("bob")
    assert project.design_is_sealed()
