"""`medoid judge --schema decomposition`, from the sample to the table of agreement."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store import open_store
from store.records import NewLabel
from tests.commands.test_models_commands import settings
from tests.definitions.running import DB, medoid
from tests.judges.faults import FaultServer, refusing_keywords
from tests.pipeline.scripted import add_questions, model, serving

COMMAND = ("judge", "--schema", "decomposition", "--decomposition", "split")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(DB) as store:
        add_questions(store, tmp_path)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        settings(running)
        medoid("generate", "-n", "2")
        medoid("decompose", "--name", "split")
        yield running


def test_the_sample_is_judged_and_compared_with_people(server: FaultServer) -> None:
    refused = medoid(*COMMAND)
    assert refused.code == 2
    assert "medoid decompose --name split --sample 50 draws some" in refused.err
    medoid("decompose", "--name", "split", "--sample", "3")
    ran = medoid(*COMMAND, "-k", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "judge    6 requests: 6 ok"
    assert lines[2].startswith("         judge small: 3 traces of decomposition split × 2; prompt ")
    assert lines[3:8] == [
        "verdicts 18 on 3 traces of decomposition split: 18 yes (100 %)",
        "         atomic: 6 yes",
        "         nothing invented: 6 yes",
        "         dependencies kept: 6 yes",
        "labels   9 added, 0 changed, 0 as before; 0 tied (unsure), 0 without a readable verdict",
    ]
    assert lines[8].endswith("n 9 criteria")
    assert "criterion:" not in ran.out + ran.err
    with open_store(DB) as store:
        keys = [x.label.item for x in store.export_labels(rater="small")]
        with store.importing() as batch:
            for i, key in enumerate(keys):
                word = "no" if i < 3 else "yes"
                batch.add_label(NewLabel(key, "decomposition", "ana", "human", "labelled", word))
    table = medoid("agreement", "--schema", "decomposition", "--json").json["pairs"][0]
    assert table["raters"] == ["ana", "small"]
    assert table["confusion"]["n"] == 9
    assert sorted(map(sum, table["confusion"]["table"])) == [3, 6]
    every = medoid(*COMMAND, "--all", "--json").json
    assert (every["items"], every["asking"]["n_requests"], every["decomposition"]) == (
        4,
        1,
        "split",
    )
    assert every["criteria"]["atomic"] == {"yes": 7}


def test_a_plan_may_judge_a_decomposition(server: FaultServer) -> None:
    toml = Path("medoid.toml").read_text("utf-8")
    plan = toml + (
        '[datasets.toy]\nfiles = "toy.jsonl"\n'
        '[[stages]]\nstage = "judge"\nschema = "decomposition"\ndecomposition = "split"\n'
        'items = "all"\n'
    )
    Path("plan.toml").write_text(plan, "utf-8")
    ran = medoid("run", "plan.toml")
    assert ran.code == 0, ran.err
    assert "4 of 4 decomposed traces judged" in ran.out
    Path("plan.toml").write_text(plan.replace('schema = "decomposition"\n', ""), "utf-8")
    wrong = medoid("run", "plan.toml")
    assert wrong.code == 2
    assert 'go with schema = "decomposition"' in wrong.err


def test_doctor_tells_of_a_server_that_refuses_keywords() -> None:
    with serving(refusing_keywords(model, "maxLength")) as server:
        settings(server, structured="auto")
        ran = medoid("doctor")
        assert "structured replies yes (schemas without bounds: the server refuses" in ran.out
        assert "keywords of schemas: 400 Bad Request: Invalid schema" in ran.out
        told = medoid("doctor", "--json").json["servers"][0]["probe"]
        assert (told["structured"], told["schema_keywords"]) == (True, "plain")
        assert medoid("generate", "-n", "1").code == 0
