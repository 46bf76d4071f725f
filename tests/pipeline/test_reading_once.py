"""Scoring reads the traces of a pool that did not change once, and only those."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pipeline.importing import import_files
from pipeline.scoring import score
from store import Store
from store.records import TraceRecord
from tests.pipeline.conftest import HashEmbedder, line, write_lines


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Count how often each pool's traces are read."""
    counts: Counter[int] = Counter()
    real = Store.pool_traces

    def counted(self: Store, pool_id: int) -> tuple[TraceRecord, ...]:
        counts[pool_id] += 1
        return real(self, pool_id)

    monkeypatch.setattr(Store, "pool_traces", counted)
    return counts


def rows(question: str, samples: range) -> list[dict[str, object]]:
    return [line(question, s, str(s % 2), f"{question} begins {s}", ("so", [0])) for s in samples]


def test_what_is_scored_already_is_read_once(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder, reads: Counter[int]
) -> None:
    lines = [x for q in ("q1", "q2", "q3") for x in rows(q, range(4))]
    import_files(store, [write_lines(tmp_path / "t.jsonl", lines)])
    first = score(store, embedder="hash")
    assert (first.n_scored, first.n_known) == (3, 0)
    assert sorted(reads.values()) == [2, 2, 2]
    reads.clear()
    again = score(store, embedder="hash")
    assert (again.n_scored, again.n_known) == (0, 3)
    assert sorted(reads.values()) == [1, 1, 1]
    reads.clear()
    import_files(store, [write_lines(tmp_path / "u.jsonl", rows("q2", range(4, 6)))])
    more = score(store, embedder="hash")
    assert (more.n_scored, more.n_known, more.n_traces) == (1, 2, 14)
    (changed,) = [p.id for p in store.pools() if p.question_id == "q2"]
    assert reads == {p.id: 1 + (p.id == changed) for p in store.pools()}
    assert hash_embedder.asked.count("so") == 1
