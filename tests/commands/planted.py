"""A project in which everything the seal hides is a word of its own, and a sealed person."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.deducing.mutating import mutate_problems
from pipeline.deducing.reading import READER_VERSION
from scoring.deduction import fill, template_from_dict
from scoring.types import NormalForm, Step, Trace
from store import NewCase, Store, open_store
from store.columns import text_hash
from store.deduction_records import NUMBERS, CompletionRecord, ReadingRecord
from store.records import (
    Category,
    NewLabel,
    NewQuestion,
    NewTrace,
    PoolScore,
    SchemaSpec,
    TraceScoreRecord,
)
from store.relation_records import NewObject, NewSet, RelationAnswerRecord, ValueRecord

DB = Path("medoid.db")
ANSWERS = ("amber", "amber", "birch", "amber")
"""What the paths answer: a sealed person sees these, and may not learn which is SC's."""

SECRETS = {
    "gold": "GOLDWORD",
    "solution": "SOLUTIONWORD",
    "category": "VERDICTWORD",
    "rationale": "RATIONALEWORD",
    "raw": "RAWWORD",
    "judge's note": "JUDGENOTEWORD",
    "another's note": "OTHERNOTEWORD",
    "another's category": "OTHERCATEGORYWORD",
    "unknown field": "EXTRAWORD",
    "stratum": "STRATUMWORD",
    "vote": "VOTEWORD",
    "score": "0.123454321",
    "support": "0.765432123",
    "probability": "0.314159265",
    "expected value": "11000033",
    "gold of a problem": "7000021",
    "true date": "TRUEDATEWORD",
    "true year": "1066.0625",
    "true order": "Ann before Cid",
    "mended answer": "Cid – Ann: before → after",
    "stated fact": "1901.25",
}
"""Each sealed fact and the string that stands for it nowhere else."""

SCHEMA = SchemaSpec(
    "path",
    "path",
    "Is the reasoning sound?",
    "Judge the steps.",
    (
        Category("1", "faithful"),
        Category("2", "spurious", takes_first_wrong_step=True),
        Category("3", SECRETS["category"]),
        Category("4", SECRETS["another's category"]),
        Category("5", "unsure", "unsure"),
    ),
)


@dataclass(frozen=True)
class Place:
    """Where things are in the planted project."""

    db: Path
    items: tuple[str, ...]
    question: str


def text(word: str) -> NormalForm:
    return ("text", word)


def plant(db: Path = DB) -> Place:
    """Put the project here: two questions, ana sealed on both and half done, others done.

    It is made once; every test gets a copy of the file.
    """
    if not _made:
        place = _plant(db)
        _made.append((db.read_bytes(), place))
    content, place = _made[0]
    db.write_bytes(content)
    return replace(place, db=db)


_made: list[tuple[bytes, Place]] = []


def _plant(db: Path) -> Place:
    with open_store(db) as store:
        store.version_schema(SCHEMA)
        questions = [
            NewQuestion(
                "d",
                f"q{i}",
                f"What is {i}?",
                SECRETS["gold"],
                text(SECRETS["gold"]),
                "text",
                extra={"solution": SECRETS["solution"]},
            )
            for i in range(2)
        ]
        with store.importing() as batch:
            for question in questions:
                for sample, answer in enumerate(ANSWERS):
                    batch.add_trace(trace(question, sample, answer))
        _score(store)
        case = store.cases(0).rows[0].case_id
        ana = store.rater("ana").id
        items = tuple(r.key for p in store.pools() for r in store.pool_traces(p.id))
        with store.importing() as batch:
            for key in items:
                batch.add_label(verdict(key))
                batch.add_label(bobs(key))
        _relations(store)
        first, second, *_ = store.case(case, ana, store.schema()).paths
        store.commit_label(ana, first.item_id, store.schema(), category="faithful")
        store.annotate(ana, second.item_id, store.schema(), note="mine")
        _deduce(store)
    return Place(db, items, "d/q0")


def _deduce(store: Store) -> None:
    """Add a problem with one mutation, a solver's reply to each, drawn to be labelled, judged."""
    template = template_from_dict(
        {
            "problem": "lamps",
            "question": "{lamps} lamps cost {price} each. What do they cost?",
            "steps": ["They cost {lamps} * {price} = {lamp_cost}."],
            "code": "lamp_cost = lamps * price",
            "factual": {"lamps": 7, "price": 1000003},
            "gold": SECRETS["gold of a problem"],
            "ranges": {"lamps": [11, 11], "price": [1000003, 1000003]},
        }
    )
    question = fill(template.question, template.factual)
    store.add_problem("lamps", question, template.gold)
    store.add_template("lamps", template)
    mutate_problems(store, n=1)
    solver = store.solver("planted", "a model", "solver-text/1", {})
    (mutations,) = store.mutations([t.id for t in store.templates()]).values()
    store.save_completions(
        solver.id,
        [CompletionRecord(m.id, 0, "original", "none", "", "ok", "It is 5.") for m in mutations],
    )
    five = {"lamp_cost": Fraction(5)}
    store.save_readings(
        ReadingRecord(c.id, NUMBERS, READER_VERSION, five, {"lamp_cost": "named"})
        for c in store.completions(solver.id)
    )
    store.make_deduction_sample(2, 0)
    with store.importing() as batch:
        for row in store.deduction_queue(0).rows:
            said = replace(verdict(row.text.item), schema="deduction", category="logical")
            batch.add_label(said)


def _relations(store: Store) -> None:
    """Three people whose births a model puts in a circle, and what it says of each."""
    year, word = float(SECRETS["true year"]), SECRETS["true date"]
    people = tuple(NewObject(n, year + k, word) for k, n in enumerate(("Ann", "Bea", "Cid")))
    store.save_relation_set(NewSet("births", "temporal", people, source="by hand"))
    of = store.relation_set_named("births")
    how: dict[str, Any] = {"model": "m", "form": "schema", "prompt_version": "", "parameters": {}}
    pairs = store.relation_asking(of.id, "by-hand", **how)
    said = [(0, 1), (1, 2), (2, 0)]
    store.save_relation_answers(
        pairs.id, [RelationAnswerRecord(a, b, "before", text="before") for a, b in said]
    )
    probed = store.relation_asking(of.id, "by-hand", asks="objects", **how)
    stated = float(SECRETS["stated fact"])
    store.save_relation_values(probed.id, [ValueRecord(k, stated + k) for k in range(3)])


def trace(question: NewQuestion, sample: int, answer: str) -> NewTrace:
    steps = (Step(0, f"{question.external_id} begins {sample}", ()), Step(1, "so it is", (0,)))
    return NewTrace(
        question=question,
        pool="m",
        model="m",
        variant=None,
        sample=str(sample),
        form="steps",
        source={"steps": [s.text for s in steps], "answer": answer},
        trace=Trace(steps, answer, text(answer)),
        strict=True,
        parser="by-hand/1",
        extra={"field": SECRETS["unknown field"]},
    )


def verdict(key: str) -> NewLabel:
    return NewLabel(
        item=key,
        schema="path",
        rater="judge",
        rater_kind="judge",
        state="labelled",
        category=SECRETS["category"],
        note=SECRETS["judge's note"],
        rationale=SECRETS["rationale"],
        raw=SECRETS["raw"],
        extra={"field": SECRETS["unknown field"]},
    )


def bobs(key: str) -> NewLabel:
    return replace(
        verdict(key),
        rater="bob",
        rater_kind="human",
        category=SECRETS["another's category"],
        note=SECRETS["another's note"],
        rationale=None,
        raw=None,
    )


def _score(store: Store) -> None:
    probability, support = float(SECRETS["probability"]), float(SECRETS["support"])
    embedder = store.embedder("by-hand", "revision-of-the-embedder", 3)
    texts = {s.text for p in store.pools() for r in store.pool_traces(p.id) for s in r.trace.steps}
    vectors = np.random.default_rng(0).normal(size=(len(texts), 3)).astype(np.float32)
    store.add_embeddings(
        embedder, {text_hash(x): v for x, v in zip(sorted(texts), vectors, strict=True)}
    )
    parameters: dict[str, Any] = {"beta": 0.4, "gamma": 5.0, "alpha": 0.8, "tau": 0.9}
    scoring = store.scoring(embedder, parameters, "test")
    cases = []
    for pool in store.pools():
        records = store.pool_traces(pool.id)
        medoid = records[2]
        scores = tuple(
            TraceScoreRecord(
                r.id, n, float(SECRETS["score"]), 1.0, 1.0, support, (support, support)
            )
            for n, r in enumerate([medoid, *(r for r in records if r is not medoid)], start=1)
        )
        store.save_pool_scores(
            scoring.id,
            [
                PoolScore(
                    pool_id=pool.id,
                    input_hash="x",
                    n_traces=4,
                    n_used=4,
                    excluded={},
                    sc_answer=text("amber"),
                    sc_counts=((text("amber"), 3), (text(SECRETS["vote"]), 1)),
                    sc_tied=False,
                    gsc_answer=text("birch"),
                    medoid_trace_id=medoid.id,
                    disagree=True,
                    sc_correct=False,
                    gsc_correct=False,
                    grcs=support,
                    divergence=support,
                    dispersion=support,
                    entropy=support,
                    flags=(),
                    traces=scores,
                )
            ],
        )
        items = tuple((r.key, probability) for r in records)
        cases.append(NewCase(pool.id, SECRETS["stratum"], probability, items))
    store.make_cases(scoring.id, {"k": 2, "seed": 0}, cases)


def lines_of(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path
