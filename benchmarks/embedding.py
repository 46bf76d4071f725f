"""Embedding throughput: the embed stage against a bare SentenceTransformer.encode.

    python -m benchmarks.embedding FILE.jsonl [--texts 600]

The distinct step texts of a trace file are embedded twice, in turn: by a bare `encode` (batches of
32, the library's own sorting by length), and by `medoid embed` into a fresh database, which adds
reading, hashing and saving. Then the stage runs again: it must embed nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from judges.embedders import MiniLM, open_embedder
from pipeline.embedding import EmbedSummary, distinct_fact_texts, embed
from pipeline.importing import import_files
from store import open_store


def stage(file: Path, lines: int, model: MiniLM) -> tuple[float, EmbedSummary, EmbedSummary]:
    """Import, embed and embed again; return the seconds of the first embedding."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "e.db") as store:
        part = Path(folder) / file.name
        part.write_text("".join(file.read_text().splitlines(keepends=True)[:lines]))
        import_files(store, [part])
        start = time.perf_counter()
        first = embed(store, "minilm", open_=lambda _name: model)
        seconds = time.perf_counter() - start
        return seconds, first, embed(store, "minilm", open_=open_embedder)


def texts_of(file: Path, lines: int) -> list[str]:
    """Return the distinct step texts of a trace file, as the stage finds them."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "e.db") as store:
        part = Path(folder) / file.name
        part.write_text("".join(file.read_text().splitlines(keepends=True)[:lines]))
        import_files(store, [part])
        return list(distinct_fact_texts(store)[0].values())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=8, help="lines of the file to use")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    model = MiniLM()
    bare = model._model
    texts = texts_of(args.file, args.lines)
    bare.encode(texts[:64], batch_size=32, show_progress_bar=False)  # warm
    best = {"bare": float("inf"), "stage": float("inf")}
    for _ in range(args.rounds):
        start = time.perf_counter()
        bare.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        best["bare"] = min(best["bare"], time.perf_counter() - start)
        seconds, first, second = stage(args.file, args.lines, model)
        best["stage"] = min(best["stage"], seconds)
    n = len(texts)
    print(
        f"{first.n_facts:,} facts are {n:,} distinct texts "
        f"({100 * (1 - n / first.n_facts):.1f} % duplicates)"
    )
    print(
        f"bare encode {n / best['bare']:7.1f} texts/s; embed stage {n / best['stage']:7.1f} "
        f"texts/s: {best['stage'] / best['bare']:.3f} x the bare time"
    )
    print(f"second run embeds {second.n_embedded} texts and knows {second.n_known:,}")


if __name__ == "__main__":
    main()
