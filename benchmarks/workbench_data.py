"""A large project for `workbench.py`: rows in bulk, straight through the store's tables.

Cases of six paths in pools of ten traces, over several datasets and pools; a judge with a verdict
on every path; ana, who has labelled many paths in queue order; bob, who has labelled some.
Everything is drawn from one seed.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from store import open_store
from store import tables as t
from store.columns import folded
from store.keys import path_key

DATASETS = (("aqua", 0.8), ("date", 0.12), ("gsm8k", 0.05), ("own", 0.03))
"""Datasets and their shares: the first is large, so that its list is, too."""
POOLS = ("llama-3.2-1b@cot", "qwen2.5-0.5b@cot")
PATHS = 6
TRACES = 10
CHUNK = 5_000
START = datetime(2025, 1, 1, tzinfo=UTC)
WORDS = (
    "the a of and in to each per number total first then so because price apples trains hours "
    "minutes cost sold bought left half twice remaining sum difference product students weeks "
    "days divided multiplied add subtract equals gives therefore we know that there are"
)
PARAMETERS = {"beta": 0.4, "gamma": 5.0, "alpha": 0.8, "tau": 0.9}


@dataclass(frozen=True, slots=True)
class Size:
    """How many cases of `PATHS` paths, and how many of ana's and bob's labels."""

    cases: int = 16_700
    ana: int = 20_000
    bob: int = 3_000


Rows = Iterator[dict[str, Any]]


def build(db: Path, size: Size) -> None:
    """Make the database."""
    with open_store(db) as store:
        judge = store.rater("judge", "judge").id
        ana, bob = store.rater("ana").id, store.rater("bob").id
        scoring = store.scoring(store.embedder("minilm", "sha256:bench", 384), PARAMETERS, "bench")
        store.make_cases(scoring.id, {"seed": 0}, [])  # makes the design that the cases belong to
        session = store.start_session(ana, None).id
        tables: list[tuple[Any, Rows]] = [
            (t.Question, _questions(size)),
            (t.QuestionSearch, _search(size)),
            (t.Pool, ({"id": i, "question_id": i, "name": _pool(i)} for i in _cases(size))),
            (t.Trace, _traces(size)),
            (t.QuestionScore, _scores(size, scoring.id)),
            (t.Item, _items(size)),
            (t.AuditCase, _audit_cases(size)),
            (t.CaseItem, _case_items(size)),
            (t.Label, _labels(size, judge, ana, bob, session)),
            (t.VerdictDetail, _verdicts(size)),
        ]
        for table, rows in tables:
            _write(store, table, rows)


def _write(store: Any, table: Any, rows: Rows) -> None:
    chunk: list[dict[str, Any]] = []
    with store._write() as s:
        for row in rows:
            chunk.append(row)
            if len(chunk) == CHUNK:
                s.execute(insert(table), chunk)
                chunk = []
        if chunk:
            s.execute(insert(table), chunk)


def _cases(size: Size) -> range:
    """Number cases, pools and questions alike, from 1."""
    return range(1, size.cases + 1)


def _sentences(words: int, n: int = 4_001) -> list[str]:
    draw = random.Random(words)
    return [" ".join(draw.choices(WORDS.split(), k=words)).capitalize() + "." for _ in range(n)]


STEPS, QUESTIONS, RATIONALES = _sentences(16), _sentences(38), _sentences(25)


def _pick(texts: list[str], *at: int) -> str:
    return texts[hash(at) % len(texts)]


def _dataset(case: int) -> str:
    at, total = (case * 7919 % 10_007) / 10_007, 0.0
    for name, share in DATASETS:
        total += share
        if at < total:
            return name
    return DATASETS[-1][0]


def _pool(case: int) -> str:
    return POOLS[case % 20 == 0]


def _question(case: int) -> str:
    return f"{_pick(QUESTIONS, case)} How many are left after {case} days?"


def _questions(size: Size) -> Rows:
    for i in _cases(size):
        yield {
            "id": i,
            "dataset": _dataset(i),
            "external_id": f"q{i:06}",
            "text": _question(i),
            "gold_text": str(i % 90),
            "gold": ["number", str(i % 90)],
            "answer_kind": "number",
        }


def _search(size: Size) -> Rows:
    for i in _cases(size):
        yield {"question_id": i, "folded": folded(_dataset(i), f"q{i:06}", _question(i))}


def _trace_id(case: int, sample: int) -> int:
    return (case - 1) * TRACES + sample + 1


def _item_id(case: int, path: int) -> int:
    return (case - 1) * PATHS + path + 1


def _n_steps(trace: int) -> int:
    return 4 + trace * 31 % 6


def _traces(size: Size) -> Rows:
    for case in _cases(size):
        for sample in range(TRACES):
            yield _trace(case, sample)


def _trace(case: int, sample: int) -> dict[str, Any]:
    ident = _trace_id(case, sample)
    steps = [
        {"text": _pick(STEPS, ident, k), "depends_on": [k - 1] if k else []}
        for k in range(_n_steps(ident))
    ]
    answer = case % 90 + sample % 2
    text = "\n".join(
        f"{k}. {s['text']} [depends_on: {k - 1 if k else 'none'}]" for k, s in enumerate(steps)
    )
    return {
        "id": ident,
        "pool_id": case,
        "sample": str(sample),
        "form": "text",
        "source": f"{text}\nThe final answer is: {answer}",
        "source_hash": hashlib.sha256(text.encode()).hexdigest(),
        "steps": steps,
        "answer_text": str(answer),
        "answer": ["number", str(answer)],
        "issues": [],
        "n_steps": len(steps),
        "n_unannotated": 0,
        "parsed": True,
        "strict": ident % 9 != 0,
        "parser": "bench",
    }


def _scores(size: Size, scoring: int) -> Rows:
    for i in _cases(size):
        answers = [["number", str(i % 90)], ["number", str(i % 90 + 1)]]
        yield {
            "scoring_id": scoring,
            "pool_id": i,
            "input_hash": "sha256:bench",
            "n_traces": TRACES,
            "n_used": TRACES,
            "excluded": {},
            "sc_answer": answers[0],
            "sc_counts": [[answers[0], TRACES // 2], [answers[1], TRACES // 2]],
            "sc_tied": False,
            "gsc_answer": answers[i % 2],
            "medoid_trace_id": _trace_id(i, i % 2),
            "disagree": bool(i % 2),
            "sc_correct": i % 3 != 0,
            "gsc_correct": i % 4 != 0,
            "grcs": 0.7,
            "divergence": 0.4,
            "dispersion": 0.1,
            "entropy": 0.5,
            "flags": [],
        }


def _items(size: Size) -> Rows:
    for case in _cases(size):
        for path in range(PATHS):
            yield {
                "id": _item_id(case, path),
                "key": path_key(_dataset(case), f"q{case:06}", _pool(case), str(path)),
                "kind": "path",
                "question_id": case,
                "trace_id": _trace_id(case, path),
            }


def _random_key(case: int) -> str:
    return hashlib.sha256(str(case).encode()).hexdigest()[:16]


def _audit_cases(size: Size) -> Rows:
    for i in _cases(size):
        yield {
            "id": i,
            "pool_id": i,
            "design_id": 1,
            "stratum": "disagreement" if i % 2 else "agreement",
            "inclusion_probability": 1.0,
            "random_key": _random_key(i),
        }


def _case_items(size: Size) -> Rows:
    for case in _cases(size):
        for path in range(PATHS):
            yield {
                "case_id": case,
                "item_id": _item_id(case, path),
                "position": path,
                "inclusion_probability": 1.0,
            }


def _labels(size: Size, judge: int, ana: int, bob: int, session: int) -> Rows:
    """Yield a verdict on every path, ids as the items have them; then the people's labels.

    Ana works in queue order and leaves one case in 40 half done; bob's labels come from a file.
    """
    for item in range(1, size.cases * PATHS + 1):
        yield _label(judge, item, item % 3 != 0, "open", None, None)
    queue = sorted(_cases(size), key=_random_key)
    for rater, wanted, its in ((ana, size.ana, session), (bob, size.bob, None)):
        items = (
            _item_id(case, path)
            for n, case in enumerate(queue)
            for path in range(PATHS if n % 40 else PATHS // 2)
        )
        for n, item in zip(range(wanted), items, strict=False):
            row = _label(rater, item, n % 4 != 0, "full", True, its)
            row["created_at"] = (START + timedelta(seconds=7 * n)).isoformat()
            row["active_seconds"] = 3.0 + n % 11
            row["flagged"] = n % 150 == 0
            yield row


def _label(
    rater: int, item: int, sound: bool, seal: str, before: bool | None, session: int | None
) -> dict[str, Any]:
    return {
        "item_id": item,
        "schema_name": "path",
        "schema_version": 1,
        "rater_id": rater,
        "act": "import" if session is None else "label",
        "state": "labelled",
        "category": "faithful" if sound else "spurious",
        "first_wrong_step": None if sound else 1,
        "flagged": False,
        "active_seconds": None,
        "seal": seal,
        "before_reveal": before,
        "session_id": session,
        "created_at": START.isoformat(),
    }


def _verdicts(size: Size) -> Rows:
    for item in range(1, size.cases * PATHS + 1):
        yield {"label_id": item, "rationale": _pick(RATIONALES, item), "flags": []}
