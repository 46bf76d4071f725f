"""A project with edited steps, answers with them, and ablated pools."""

from __future__ import annotations

from pathlib import Path

from scoring.types import NormalForm
from store import Store, open_store
from store.intervention_records import UNEDITED, CounterfactualRecord, EditPlace, EditRecord
from store.model_records import EarlyRecord
from store.records import NewQuestion, NewTrace
from tests.tui.conftest import GOLD, HOSTILE, NO, YES, Desk, Spec, build, trace
from tui.screens.ablations import AblationScreen, AblationsScreen
from tui.screens.edits import EditsScreen

STEPS = ["The mascot is the Bulldog.", "Bulldogs are dogs.", "Dogs eat kibble.", "So it would."]
LONG = "an edit that goes on and on " * 60


def specs() -> list[Spec]:
    """e0 is edited in every path of its case, e1 (hostile) too, e2 in the medoid alone."""
    return [
        Spec("e0", "Would the mascot eat kibble?", "p1", (trace(STEPS, YES),), (0,), 0),
        Spec("e1", f"Is {HOSTILE} shown?", "p1", (trace([HOSTILE, "So no."], NO),), (0,), 0),
        Spec(
            "e2",
            "Is the third one sealed?",
            "p1",
            (trace(["Other.", "No."], NO), trace(["Sealed words.", "Yes."], YES)),
            (0, 1),
            1,
        ),
    ]


EDITS: dict[tuple[str, str, int], str] = {
    ("e0", "0", 0): "The mascot is the Panther.",
    ("e0", "0", 1): "Bulldogs are a breed of goats.",
    ("e0", "0", 2): LONG,
    ("e1", "0", 0): f"{HOSTILE} and more",
    ("e2", "1", 0): "PLANTED words.",
}
AFTER: dict[tuple[str, str, int], NormalForm | None] = {
    ("e0", "0", 0): YES,
    ("e0", "0", 1): NO,
    ("e0", "0", 2): None,
    ("e1", "0", 0): NO,
    ("e2", "1", 0): YES,
}


def build_edited(path: Path, *, sample: bool = True) -> None:
    """Fill a database: five edits, three of them of e0."""
    build(path, specs())
    with open_store(path) as store:
        made = store.editing("default", "ed", "counterfactual_editor-schema/1", {"form": "schema"})
        run = store.counterfactual_run(made.id, "m", "counterfactual_answerer-schema/1", {})
        edits, answers = [], []
        for pool in store.pools():
            for record in store.pool_traces(pool.id):
                mine = {
                    k[2]: t for k, t in EDITS.items() if k[:2] == (pool.question_id, record.sample)
                }
                for step, text in mine.items():
                    edits.append(EditRecord(record.id, step, "ok", text, source_hash="x"))
                    answer = AFTER[pool.question_id, record.sample, step]
                    answers.append(_answer(record.id, step, answer))
                if mine:
                    answers.append(_answer(record.id, UNEDITED, record.trace.answer))
        store.save_edits(made.id, edits)
        store.save_counterfactual(run.id, answers)
        if sample:
            store.make_counterfactual_sample(made.id, 50, 0)


def _answer(trace_id: int, step: int, answer: NormalForm | None) -> CounterfactualRecord:
    reason = None if answer is not None else "no final answer"
    return CounterfactualRecord(trace_id, step, 0, "x", "ok", answer, reason)


def build_ablated(path: Path) -> None:
    """Fill a database: e0 and e2 with two alternatives each, early answers of all of them."""
    build(path, specs())
    with open_store(path) as store:
        run = store.early_run("early-m", "early_answerer-schema/1", {})
        alternatives = [trace(["Cats purr loudly.", "Dogs eat kibble.", HOSTILE], YES)]
        alternatives.append(trace(["Nothing is known.", "So no."], NO))
        sources = [p for p in store.pools() if p.question_id in ("e0", "e2")]
        for pool in sources:
            medoid = store.pool_traces(pool.id)[-1]
            with store.importing() as batch:
                for i, made in enumerate(alternatives):
                    question = NewQuestion(
                        "own", pool.question_id, pool.question, GOLD, ("text", GOLD), "boolean"
                    )
                    source = {"steps": [s.text for s in made.steps], "answer": made.answer_text}
                    new = NewTrace(
                        question, "m@ablate", "m", "ablate", str(i), "steps", source, made, True,
                        "t", parameters={"form": "schema"},
                    )  # fmt: skip
                    batch.add_trace(new)
                    from pipeline.ablating import forbidden_hash

                    batch.link_ablation(new, medoid.id, forbidden_hash(medoid.trace), "key")
        _early(store, run.id)


def _early(store: Store, run_id: int) -> None:
    from pipeline.early import early_hash
    from pipeline.facts import undecomposed
    from pipeline.selecting import question_text

    texts = {q.external_id: question_text(q) for q in store.questions("own")}
    for pool in store.pools():
        for record in store.pool_traces(pool.id):
            facts = undecomposed(record.trace)
            digest = early_hash(texts[pool.question_id], facts)
            rows = [
                EarlyRecord(record.id, i, len(facts), digest, "ok", record.trace.answer)
                for i in range(1, len(facts) + 1)
            ]
            store.save_early(run_id, rows)


def edits_of(desk: Desk) -> EditsScreen:
    """Return the labelling screen, which is on top."""
    assert isinstance(desk.app.screen, EditsScreen)
    return desk.app.screen


def ablations_of(desk: Desk) -> AblationsScreen:
    """Return the list, which is on top."""
    assert isinstance(desk.app.screen, AblationsScreen)
    return desk.app.screen


def ablation_of(desk: Desk) -> AblationScreen:
    """Return the diff, which is on top."""
    assert isinstance(desk.app.screen, AblationScreen)
    return desk.app.screen


def place_of(store: Store, question: str, step: int) -> EditPlace:
    """Return which edit is meant."""
    pool = next(p for p in store.pools() if p.question_id == question)
    return store.pool_traces(pool.id)[-1].id, step


def reveal(store: Store, question: str, rater: str = "ana") -> None:
    """Label every path of a question's case, and look behind the seal."""
    ana, schema = store.rater(rater).id, store.schema()
    for row in store.cases(ana).rows:
        if row.question_id == question:
            for path in store.case(row.case_id, ana, schema).paths:
                store.commit_label(ana, path.item_id, schema, category="faithful")
            store.reveal(row.case_id, ana, schema)
