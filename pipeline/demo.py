"""The bundled project: our own questions, a small model's traces, its verdicts, our labels."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from pipeline.importing import import_files
from pipeline.progress import OnProgress, silent
from pipeline.sampling import Design, make_items
from pipeline.scoring import score
from store import Store, open_store

BUNDLED = Path(__file__).parent / "bundled"
EMBEDDINGS = BUNDLED / "embeddings.npz"
DESIGN = Design(k=4, agreements=1.0, seed=0)
"""Every disagreement and every agreement: of 20 questions a sample would only add noise."""


def demo_path() -> Path:
    """Return where the user's copy of the bundled project lives."""
    from platformdirs import user_data_path

    return user_data_path("medoid", ensure_exists=True) / "demo.db"


def demo_database(*, fresh: bool = False, on_progress: OnProgress = silent) -> Path:
    """Return the user's copy of the bundled project, making it on first use.

    With `fresh`, a copy that exists is set aside under a dated name, never deleted: it may hold
    labels.
    """
    path = demo_path()
    if fresh and path.exists():
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        for suffix in ("", "-wal", "-shm"):
            old = path.with_name(path.name + suffix)
            if old.exists():
                old.rename(path.with_name(f"demo-{stamp}.db{suffix}"))
    if not path.exists():
        partial = path.with_name(f"demo-{os.getpid()}.partial")
        try:
            build_demo(partial, on_progress=on_progress)
            # Another process may have made it meanwhile: the first copy stays.
            if not path.exists():
                partial.replace(path)
        finally:
            for suffix in ("", "-wal", "-shm"):
                partial.with_name(partial.name + suffix).unlink(missing_ok=True)
    return path


def build_demo(path: Path, *, on_progress: OnProgress = silent) -> None:
    """Build the bundled project's database from its files."""
    with open_store(path) as store:
        import_files(
            store,
            [BUNDLED / "traces.jsonl", BUNDLED / "judge.jsonl", BUNDLED / "reference.jsonl"],
            on_progress=on_progress,
        )
        load_embeddings(store, EMBEDDINGS)
        score(store, on_progress=on_progress)
        make_items(store, DESIGN)


def load_embeddings(store: Store, path: Path) -> int:
    """Store the vectors of an ``.npz`` written by `save_embeddings`; return how many."""
    with np.load(path, allow_pickle=False) as data:
        hashes = [h.hex() for h in data["sha256"].astype("V32").tolist()]
        vectors = data["vectors"].astype(np.float32)
        embedder_id = store.embedder(str(data["embedder"]), str(data["revision"]), vectors.shape[1])
    store.add_embeddings(embedder_id, dict(zip(hashes, vectors, strict=True)))
    return len(hashes)


def save_embeddings(store: Store, path: Path, hashes: list[str], embedder: str) -> None:
    """Write stored vectors with their text hashes, embedder id and weights hash."""
    embedder_id, name, revision, _ = next(e for e in store.embedders() if e[1] == embedder)
    found = store.embeddings(embedder_id, hashes)
    ordered = sorted(found)
    np.savez_compressed(
        path,
        sha256=np.array([bytes.fromhex(h) for h in ordered], dtype="V32"),
        vectors=np.stack([found[h] for h in ordered]),
        embedder=np.array(name),
        revision=np.array(revision),
    )
