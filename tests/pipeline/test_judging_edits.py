"""Judging counterfactual edits: which of them, what is shown, what is planted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.counterfactual import counterfactual
from pipeline.importing import import_files
from pipeline.judging import judge
from pipeline.planting import planted_check
from pipeline.sampling import Design, make_items
from pipeline.scoring import score
from store import Store
from store.records import NewLabel
from tests.judges.faults import Answer, FaultServer, Seen, ok
from tests.pipeline.conftest import HashEmbedder, line, write_lines
from tests.pipeline.scripted import endpoint, model, role_of, roles, serving


def script(seen: Seen) -> Answer:
    """Edit all but "Red.", of which the editor makes nothing; find edits of "One." implausible."""
    role = role_of(seen.body)
    if role == "counterfactual_editor" and "[0] Red." in seen.prompt:
        return ok(json.dumps({"step": "Red."}))
    if role == "counterfactual_judge":
        word = "implausible" if "0. Not One." in seen.prompt else "distinct"
        return ok(json.dumps({"rationale": "So.", "verdict": word}))
    return model(seen)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(script) as running:
        yield running


@pytest.fixture(autouse=True)
def _edits(store: Store, tmp_path: Path, hash_embedder: HashEmbedder, server: FaultServer) -> None:
    """q1: two steps of two traces can be edited, q2: one, whose edit has a fault."""
    chain = ("One.", ("Two.", [0]), ("Three.", [1]))
    rows = [
        line("q1", 0, "yes", *chain, gold="yes"),
        line("q1", 1, "yes", *chain, gold="yes"),
        line("q2", 0, "yes", "Red.", ("Blue.", [0])),
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    score(store, embedder="hash")
    make_items(store, Design(agreements=1.0))
    done = counterfactual(store, endpoint(server), traces="all")
    assert (done.n_steps, done.n_edited) == (5, 4)


def verdicts(store: Store) -> dict[str, str | None]:
    return {x.label.item: x.label.category for x in store.export_labels(rater="small")}


def test_all_usable_edits_get_a_verdict(store: Store, server: FaultServer) -> None:
    done = judge(store, endpoint(server), schema="counterfactual", items="all", repeats=2)
    assert (done.what, done.n_items, done.n_stepless, done.n_complete) == ("edits", 4, 1, 4)
    assert done.prompt_version == "counterfactual_judge-schema/1+counterfactual/1"
    assert done.verdicts == {"distinct": 4, "implausible": 4}
    assert verdicts(store) == {
        "counterfactual:toy/q1/m@1/0/0": "implausible",
        "counterfactual:toy/q1/m@1/0/1": "distinct",
        "counterfactual:toy/q1/m@1/1/0": "implausible",
        "counterfactual:toy/q1/m@1/1/1": "distinct",
    }
    n = len(server.seen)
    again = judge(store, endpoint(server), schema="counterfactual", items="all", repeats=2)
    assert (again.asking.n_requests, again.asking.n_known, len(server.seen)) == (0, 8, n)


def test_what_is_shown_is_the_edit_and_no_answer(store: Store, server: FaultServer) -> None:
    server.seen.clear()
    judge(store, endpoint(server), schema="counterfactual", items="all")
    prompt = min(s.prompt for s in server.seen if "1. Not Two." in s.prompt)
    for part in ("The steps before the edit:", "1. Two.", "The step as edited:", "1. Not Two."):
        assert part in prompt
    assert "Answer to the steps" not in prompt
    # So that answers which are asked again later leave the judge's requests as they were.
    counterfactual(store, endpoint(server, name="other", model="o"), endpoint(server), traces="all")
    again = judge(store, endpoint(server), schema="counterfactual", items="all")
    assert again.asking.n_requests == 0


def test_the_drawn_ones_are_judged_where_nobody_says_which(
    store: Store, server: FaultServer
) -> None:
    with pytest.raises(ValueError, match=r"no drawn edit to judge: medoid counterfactual --sample"):
        judge(store, endpoint(server), schema="counterfactual")
    (editing,) = store.editings()
    store.make_counterfactual_sample(editing.id, 3, seed=1)
    assert len(store.sampled_edits(editing.id)) == 3
    done = judge(store, endpoint(server), schema="counterfactual")
    assert (done.n_items, done.n_complete) == (3, 3)
    rest = judge(store, endpoint(server), schema="counterfactual", items="all")
    assert (rest.n_items, rest.asking.n_requests) == (4, 1)


def test_edits_of_the_queues_paths_and_those_a_rater_labelled(
    store: Store, server: FaultServer
) -> None:
    queued = {k for k in store.queued_items() if k.startswith("path:toy/q1/")}
    cases = judge(store, endpoint(server), schema="counterfactual", items="cases")
    assert cases.n_items == 2 * len(queued)
    key = "counterfactual:toy/q1/m@1/1/1"
    with store.importing() as batch:
        batch.add_label(NewLabel(key, "counterfactual", "ana", "human", "labelled", "distinct"))
    done = judge(
        store, endpoint(server), schema="counterfactual", items="labelled", labelled_by="ana"
    )
    assert done.n_items == 1


def test_instructions_are_planted_into_the_edit(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), schema="counterfactual", items="all")
    server.seen.clear()
    report = planted_check(store, endpoint(server), n=4, schema="counterfactual")
    assert report.overall is not None
    assert report.overall.n == 4
    assert set(roles(server)) == {"counterfactual_judge"}
    edited = [s.prompt.split("The step as edited:\n")[1].splitlines()[1] for s in server.seen]
    assert all(text.startswith(("0. Not One. ", "1. Not Two. ")) for text in edited)
    assert report.overall.planted.k == 0


def test_a_sample_is_of_what_samples_are_drawn_of(store: Store, server: FaultServer) -> None:
    with pytest.raises(ValueError, match="no sample is drawn of step items; cases, all or labell"):
        judge(store, endpoint(server), schema="step", items="sample")
    with pytest.raises(ValueError, match="a decomposition goes with schema decomposition"):
        judge(store, endpoint(server), schema="step", decomposition="facts")
