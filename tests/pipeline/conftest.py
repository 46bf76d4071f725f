from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from judges import embedders
from store import Store, open_store


class HashEmbedder:
    """Unit vectors from a hash: equal texts are equal, different ones nearly orthogonal."""

    name = "hash"
    revision = "test:1"
    dimension = 64
    asked: list[str]

    def __init__(self) -> None:
        self.asked = []

    def encode(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        self.asked.extend(texts)
        rows = []
        for text in texts:
            seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
            row = np.random.default_rng(list(seed)).normal(size=self.dimension)
            rows.append(row / np.linalg.norm(row))
        if progress is not None:
            progress(len(texts))
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    def truncated(self, texts: Sequence[str]) -> int:
        return sum(len(t) > 1000 for t in texts)


@pytest.fixture
def hash_embedder(monkeypatch: pytest.MonkeyPatch) -> HashEmbedder:
    model = HashEmbedder()
    info = embedders.EmbedderInfo(model.revision, model.dimension, lambda: model)
    monkeypatch.setitem(embedders.EMBEDDERS, "hash", info)
    return model


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "t.db") as opened:
        yield opened


def line(question: str, sample: int, answer: str, *steps: Any, **more: Any) -> dict[str, Any]:
    """Return a native trace line; a step is a text, or (text, dependencies)."""
    rows = [
        {"text": s, "depends_on": []} if isinstance(s, str) else {"text": s[0], "depends_on": s[1]}
        for s in steps
    ]
    return {
        "dataset": "toy",
        "question_id": question,
        "question": f"Question {question}?",
        "pool": "m@1",
        "sample": sample,
        "steps": rows,
        "answer": answer,
        **more,
    }


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    text = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows)
    path.write_text(text, encoding="utf-8")
    return path
