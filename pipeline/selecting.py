"""Which questions, pools and traces a stage works on."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from judges.questions import QuestionText
from store import Store
from store.records import PoolRecord, QuestionRecord


def question_text(record: QuestionRecord) -> QuestionText:
    """Return what a model is told of a stored question: never its gold answer."""
    return QuestionText(record.text, record.answer_kind, record.options, record.percent)


def question_texts(store: Store, datasets: Sequence[str]) -> Mapping[tuple[str, str], QuestionText]:
    """Return the questions of some datasets by (dataset, question id)."""
    return {
        (q.dataset, q.external_id): question_text(q)
        for name in datasets
        for q in store.questions(name)
    }


def known_datasets(store: Store, wanted: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the datasets that are meant, all when none is named.

    Raises
    ------
    ValueError
        Naming those that there are.
    """
    known = tuple(store.question_counts())
    if not known:
        raise ValueError("no questions in the database: medoid import FILE --mapping NAME first")
    if wanted is None:
        return known
    names = (wanted,) if isinstance(wanted, str) else tuple(dict.fromkeys(wanted))
    for name in names:
        if name not in known:
            raise ValueError(f"no dataset {name!r} in the database; there are: {', '.join(known)}")
    return names


def chosen_questions(
    store: Store, datasets: Sequence[str], *, limit: int | None = None, seed: int | None = None
) -> list[QuestionRecord]:
    """Return the questions of each dataset, at most `limit` of each.

    Without a seed those are the first in the order in which they were imported. With one they are
    drawn, so that a higher limit keeps those of a lower one.

    Raises
    ------
    ValueError
        For a limit below 1.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"the limit is {limit}; at least 1 question is right")
    chosen = []
    for name in datasets:
        found = list(store.questions(name))
        if limit is not None and seed is not None:
            ranks = sorted(
                found,
                key=lambda q: random.Random(f"{seed}\x1f{q.dataset}\x1f{q.external_id}").random(),
            )
            kept = {q.id for q in ranks[:limit]}
            found = [q for q in found if q.id in kept]
        chosen += found[:limit]
    return chosen


def chosen_pools(
    store: Store,
    datasets: Sequence[str],
    pool: str | None = None,
    *,
    limit: int | None = None,
    seed: int | None = None,
    ablated: bool = False,
) -> tuple[PoolRecord, ...]:
    """Return the pools of the chosen questions, those of one name where it is given.

    Ablated pools are left out unless one is named, or `ablated`: what was sampled with reasoning
    forbidden is nobody's answer.

    Raises
    ------
    ValueError
        When there is none, saying which there are.
    """
    among = [p for p in store.pools() if p.dataset in set(datasets)]
    if not among:
        raise ValueError("no traces: medoid generate, or medoid import FILE… first")
    if pool is None:
        links = {} if ablated else store.ablations()
        found = [p for p in among if p.id not in links]
    else:
        found = [p for p in among if p.pool == pool]
    if not found:
        there = ", ".join(sorted({p.pool for p in among}))
        raise ValueError(f"no pool {pool!r} in the database; there are: {there}")
    if limit is None:
        return tuple(found)
    questions = chosen_questions(store, datasets, limit=limit, seed=seed)
    chosen = {(q.dataset, q.external_id) for q in questions}
    return tuple(p for p in found if (p.dataset, p.question_id) in chosen)
