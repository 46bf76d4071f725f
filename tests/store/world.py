"""Small projects for the store's tests, built through the store's public calls only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from scoring.types import NormalForm, Step, Trace
from store import NewCase, Store
from store.keys import path_key
from store.records import (
    NewLabel,
    NewQuestion,
    NewTrace,
    PoolScore,
    TraceRecord,
    TraceScoreRecord,
)

POOL = "gen@plain"


def number(value: int) -> NormalForm:
    return ("number", Fraction(value))


def new_question(
    external_id: str = "q1",
    *,
    dataset: str = "own",
    text: str | None = None,
    gold: int | None = 1,
    **rest: Any,
) -> NewQuestion:
    return NewQuestion(
        dataset,
        external_id,
        f"How many in {external_id}?" if text is None else text,
        None if gold is None else str(gold),
        None if gold is None else number(gold),
        "number",
        **rest,
    )


def new_trace(
    question: NewQuestion,
    sample: str = "0",
    *,
    pool: str = POOL,
    answer: int | None = 1,
    steps: Sequence[str] = ("two and two", "so the sum"),
    source: Any = None,
    **rest: Any,
) -> NewTrace:
    parsed = Trace(
        tuple(Step(i, s, (i - 1,) if i else ()) for i, s in enumerate(steps)),
        None if answer is None else str(answer),
        None if answer is None else number(answer),
    )
    form = {"source": "\n".join([*steps, str(answer)]) if source is None else source, **rest}
    return NewTrace(
        question=question,
        pool=pool,
        model="gen",
        variant="plain",
        sample=sample,
        form="text",
        trace=form.pop("trace", parsed),
        strict=True,
        parser="by-hand/1",
        **form,
    )


def new_label(item: str, rater: str, category: str | None = "faithful", **rest: Any) -> NewLabel:
    fields: dict[str, Any] = {
        "rater_kind": "judge",
        "state": "unparsed" if category is None else "labelled",
        **rest,
    }
    return NewLabel(item=item, schema="path", rater=rater, category=category, **fields)


def key_of(external_id: str, sample: str, *, pool: str = POOL, dataset: str = "own") -> str:
    return path_key(dataset, external_id, pool, sample)


def add_traces(store: Store, traces: Iterable[NewTrace]) -> None:
    with store.importing() as batch:
        for trace in traces:
            batch.add_trace(trace)


def add_labels(store: Store, labels: Iterable[NewLabel]) -> list[str]:
    with store.importing() as batch:
        return [batch.add_label(label) for label in labels]


@dataclass(frozen=True)
class Sealed:
    """What the seal hides of one pool, to be planted: everything but questions and traces."""

    medoid: str = "2"
    scores: tuple[float, ...] = (0.9, 0.8, 0.7, 0.6)
    support: float = 0.5
    stratum: str = "disagreement"
    probability: float = 1.0


def pool_score(
    pool_id: int, records: Sequence[TraceRecord], gold: NormalForm | None, sealed: Sealed
) -> PoolScore:
    """Score a pool: the majority's answer, and the planted medoid first in rank."""
    answers = [r.trace.answer for r in records if r.trace.answer is not None]
    counts = Counter(answers)
    sc = max(counts, key=lambda a: counts[a]) if counts else None
    ordered = sorted(records, key=lambda r: (r.sample != sealed.medoid, int(r.sample)))
    medoid = ordered[0]
    return PoolScore(
        pool_id=pool_id,
        input_hash=f"by-hand-{sealed}",
        n_traces=len(records),
        n_used=len(answers),
        excluded={},
        sc_answer=sc,
        sc_counts=tuple(counts.items()),
        sc_tied=False,
        gsc_answer=medoid.trace.answer,
        medoid_trace_id=medoid.id,
        disagree=medoid.trace.answer != sc,
        sc_correct=None if gold is None else sc == gold,
        gsc_correct=None if gold is None else medoid.trace.answer == gold,
        grcs=sealed.support,
        divergence=1 - sealed.support,
        dispersion=0.1,
        entropy=0.0,
        flags=(),
        traces=tuple(
            TraceScoreRecord(
                r.id,
                rank,
                sealed.scores[(rank - 1) % len(sealed.scores)],
                1.5,
                1.0,
                sealed.support,
                (sealed.support,) * len(r.trace.steps),
            )
            for rank, r in enumerate(ordered, start=1)
        ),
    )


def score_and_make_cases(
    store: Store,
    sealed: Mapping[str, Sealed] | None = None,
    *,
    paths: Sequence[str] | None = None,
    seed: int = 0,
) -> int:
    """Score every pool and make a case of each; return the scoring's id.

    `sealed` by question id. A case's items are listed medoid first, as the pipeline lists them;
    `paths` keeps the traces of these samples.
    """
    embedder = store.embedder("by-hand", "1", 3)
    scoring = store.scoring(embedder, {"beta": 0.4}, "test")
    scores, cases = [], []
    for pool in store.pools():
        plan = (sealed or {}).get(pool.question_id, Sealed())
        records = store.pool_traces(pool.id)
        scores.append(pool_score(pool.id, records, pool.gold, plan))
        chosen = [r for r in records if paths is None or r.sample in paths]
        chosen.sort(key=lambda r: (r.sample != plan.medoid, -int(r.sample)))
        cases.append(
            NewCase(
                pool.id,
                plan.stratum,
                plan.probability,
                tuple((r.key, plan.probability) for r in chosen),
            )
        )
    store.save_pool_scores(scoring.id, scores)
    cases.sort(key=lambda c: c.stratum)
    store.make_cases(scoring.id, {"k": 2, "seed": seed}, cases)
    return scoring.id


def small_project(
    store: Store, n: int = 3, *, answers: Sequence[int | None] = (1, 1, 2, 1), pool: str = POOL
) -> list[int]:
    """Make n questions of four traces and a case of each; return the case ids in queue order."""
    questions = [new_question(f"q{i}") for i in range(n)]
    add_traces(
        store,
        (
            new_trace(q, str(s), answer=a, pool=pool, steps=(f"{q.external_id} {s}", "so"))
            for q in questions
            for s, a in enumerate(answers)
        ),
    )
    score_and_make_cases(store)
    return case_ids(store, 0)


def case_ids(store: Store, rater_id: int) -> list[int]:
    """Return every case id in queue order."""
    ids: list[int] = []
    cursor = None
    while True:
        page = store.cases(rater_id, after=cursor)
        ids.extend(r.case_id for r in page.rows)
        cursor = page.cursor
        if cursor is None:
            return ids


def item_ids(store: Store, case_id: int, rater_id: int) -> list[int]:
    """Return a case's item ids in labelling order."""
    return [p.item_id for p in store.case(case_id, rater_id, store.schema()).paths]


def decide(store: Store, case_id: int, rater_id: int, category: str = "faithful") -> None:
    """Label every path of a case alike."""
    for item in item_ids(store, case_id, rater_id):
        store.commit_label(rater_id, item, store.schema(), category=category)


def with_gold(question: NewQuestion, gold: int | None) -> NewQuestion:
    return replace(
        question,
        gold_text=None if gold is None else str(gold),
        gold=None if gold is None else number(gold),
    )
