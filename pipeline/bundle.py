"""Compute the bundled embeddings anew: ``python -m pipeline.bundle`` (needs the embed extra)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pipeline.demo import BUNDLED, EMBEDDINGS, save_embeddings
from pipeline.embedding import distinct_fact_texts, embed
from pipeline.importing import import_files
from store import open_store


def main() -> None:
    """Write ``embeddings.npz`` beside the bundled traces."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "b.db") as store:
        import_files(store, [BUNDLED / "traces.jsonl"])
        embed(store, "minilm")
        texts, _ = distinct_fact_texts(store)
        save_embeddings(store, EMBEDDINGS, list(texts), "minilm")


if __name__ == "__main__":
    main()
