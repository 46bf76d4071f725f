"""`medoid export` and the import of what it wrote, as a user sees them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.commands.planted import DB, plant
from tests.definitions.running import medoid


@pytest.fixture(autouse=True)
def _planted() -> None:
    plant()


@pytest.mark.parametrize("history", [[], ["--history"]])
@pytest.mark.parametrize("name", ["labels.jsonl", "labels.csv"])
def test_what_was_exported_is_known(name: str, history: list[str]) -> None:
    made = medoid("export", "labels", "--unseal", "-o", name, *history, "--json")
    assert made.json == {"labels": 20, "file": name}
    again = medoid("import", name, "--json")
    assert (again.code, again.json["labels"]) == (0, {"known": 20})
    printed = medoid("export", "labels", "--unseal", "--format", name.rpartition(".")[2], *history)
    assert printed.out == Path(name).read_text(encoding="utf-8")


def test_the_format_follows_the_name_and_the_option_wins() -> None:
    medoid("export", "items", "-o", "i.csv")
    medoid("export", "items", "-o", "j.csv", "--format", "jsonl")
    assert Path("i.csv").read_text().startswith("item,kind,dataset,question_id,pool,sample,")
    kinds = Counter(json.loads(x)["kind"] for x in Path("j.csv").read_text().splitlines())
    assert (kinds["path"] + kinds["step"] + kinds["criterion"], kinds["deduction"] > 0) == (8, True)
    n = kinds.total()
    assert medoid("import", "i.csv", "j.csv", "--json").json["items"] == {"known": 2 * n}
    assert medoid("import", "i.csv").out == f"items    {n} known\n"


def test_sealed_columns_are_left_out_and_named() -> None:
    ran = medoid("export", "items")
    assert set(json.loads(ran.out.splitlines()[0])) == {
        "item",
        "kind",
        "dataset",
        "question_id",
        "pool",
        "sample",
        "step",
        "decomposition",
        "criterion",
        "editing",
        "case",
    }
    assert ran.err == "strata, inclusion probabilities and edited steps are sealed and left out\n"
    whole = medoid("export", "items", "--unseal")
    rows = [json.loads(x) for x in whole.out.splitlines()]
    assert next(r for r in rows if r["kind"] == "path")["stratum"] == "STRATUMWORD"
    assert whole.err == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["labels", "--format", "xml", "--rater", "ana"], "jsonl or csv is right"),
        (["labels", "--json", "--rater", "ana"], "--json goes with -o FILE"),
        (["labels", "-o", str(DB), "--rater", "ana"], "is the database"),
        (["labels", "-o", "no/where.csv", "--rater", "ana"], "No such file"),
        (["labels", "--rater", "eve"], "no rater 'eve'"),
        (["labels", "--rater", "ana", "--schema", "odd"], "no schema 'odd'"),
        (["labels", "--rater", "judge"], "exporting labels of judge judge would tell"),
        (["items", "--db", "none.db"], "does not exist"),
    ],
)
def test_mistakes_end_with_2_and_one_line(call: list[str], message: str) -> None:
    before = DB.read_bytes()
    ran = medoid("export", *call)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
    assert DB.read_bytes() == before


def test_faithfulness_is_printed_with_its_coverage() -> None:
    ran = medoid("items", "faithfulness", "--rater", "judge")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "faithfulness of SC and GSC by the path labels of judge, schema path"
    assert lines[2:4] == [
        "  SC  faithful 0 of 2 decided (0 %, weighted 0.0 %), 0 tied, 0 without a label",
        "      paths: 0 of 6 labelled are faithful (0 %), of 6 with the answer",
    ]
    assert "rows" not in medoid("items", "faithfulness", "--rater", "judge", "--json").json
    missing = medoid("items", "faithfulness")
    assert (missing.code, "--rater is missing" in missing.err) == (2, True)
