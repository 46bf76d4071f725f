"""What `medoid score --show`, `export scores` and `sensitivity` say of the planted project."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.commands.planted import SECRETS, plant
from tests.definitions.running import medoid

SUPPORT = float(SECRETS["support"])


@pytest.fixture(autouse=True)
def _place() -> None:
    plant()


def test_sums_of_few_questions_are_held_back_and_said_to_be() -> None:
    ran = medoid("score", "--show")
    assert ran.code == 0
    assert "fewer than 5 questions" in ran.out
    shown = medoid("score", "--show", "--unseal", "--json").json
    assert shown["withheld"] is False
    (group,) = shown["groups"]
    grcs = next(m for m in group["metrics"] if m["name"] == "grcs")
    assert (grcs["mean"], grcs["n"], grcs["kind"]) == (SUPPORT, 2, "coherence")
    assert (grcs["range"], grcs["sd"]) == ("(0, 1]; 1 = all alike", 0.0)


def test_scores_are_exported_with_their_provenance() -> None:
    refused = medoid("export", "scores")
    assert refused.code == 2
    assert "--unseal" in refused.err
    rows = [json.loads(x) for x in medoid("export", "scores", "--unseal").out.splitlines()]
    assert [(r["question_id"], r["n_used"], r["medoid_sample"]) for r in rows] == [
        ("q0", 4, "2"),
        ("q1", 4, "2"),
    ]
    provenance = rows[0]["provenance"]
    assert (provenance["embedder"], provenance["decomposition"]) == ("by-hand", "none")
    assert provenance["parameters"] == {"beta": 0.4, "gamma": 5.0, "alpha": 0.8, "tau": 0.9}
    text = medoid("export", "scores", "--unseal", "--format", "csv").out
    table = list(csv.DictReader(io.StringIO(text)))
    assert [row["grcs"] for row in table] == [SECRETS["support"]] * 2
    assert [row["cota"] for row in table] == ["", ""]  # not computed there
    assert json.loads(table[0]["provenance"]) == provenance


def test_sensitivity_counts_the_same_choice() -> None:
    ran = medoid("sensitivity", "--json")
    (group,) = ran.json["groups"]
    assert (group["n_questions"], group["n_gold"], group["withheld"]) == (2, 2, True)
    base = group["rows"][0]
    assert (base["same_answer"], base["same_medoid"], base["accuracy"]) == (1.0, 1.0, None)
    told = medoid("sensitivity").out
    assert "--unseal shows them" in told
    assert "no early answers about these facts" in told


def test_options_of_showing_are_refused_elsewhere() -> None:
    for call in (["--unseal"], ["--scoring", "1"], ["--reference", "m"]):
        ran = medoid("score", *call)
        assert ran.code == 2
        assert "go with --show" in ran.err
