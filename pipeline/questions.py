"""The import of question files by a mapping: other people's benchmarks, one's own questions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.importing import COMMIT_EVERY, NothingUsableError
from pipeline.progress import OnProgress, Progress, silent
from store import ConflictError, ImportBatch, Store
from store.exchange.lines import LineError, Rejected
from store.exchange.questions import Naming, RawQuestion, mapping_of, read_questions


@dataclass
class QuestionSummary:
    """What an import of questions did. No figure tells a gold answer.

    `questions` counts them as added, known, or completed (known, and given the gold or the further
    fields they lacked); `kinds` and `n_without_gold` are over the added ones.
    """

    mapping: str
    questions: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    n_without_gold: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def n_good(self) -> int:
        """Rows that were used or known already."""
        return sum(self.questions.values())

    def as_json(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "mapping": self.mapping,
            "questions": dict(self.questions),
            "kinds": dict(self.kinds.most_common()),
            "without_gold": self.n_without_gold,
            "rejected": [
                {"file": r.file, "line": r.line, "message": r.message} for r in self.rejected
            ],
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class _Entry:
    file: str
    line: int
    value: RawQuestion | LineError


def import_questions(
    store: Store,
    files: Iterable[Path],
    mapping: str,
    *,
    dataset: str | None = None,
    seed: int = 0,
    strict: bool = False,
    on_progress: OnProgress = silent,
) -> QuestionSummary:
    """Import the questions of files, read by one mapping (see `store.exchange.questions`).

    Parameters
    ----------
    mapping
        ``native``, ``gsm8k``, ``strategyqa``, ``boolq``, ``medqa``, ``gpqa`` or ``aime``.
    dataset
        The dataset of rows that name none; the file's stem if not given.
    seed
        Decides the order of the options that ``gpqa`` shuffles, and nothing else.
    strict
        All or nothing: with any rejected row, nothing is kept.

    Raises
    ------
    ValueError
        When there is no such mapping.
    NothingUsableError
        When a file cannot be read, or no row of any file could be used.
    """
    mapping_of(mapping)
    start = time.perf_counter()
    entries = list(_entries(files, mapping, dataset, seed))
    if not entries:
        raise NothingUsableError("the files hold no lines")
    summary = QuestionSummary(mapping)
    chunk = len(entries) if strict else COMMIT_EVERY
    n_good = 0
    try:
        for first in range(0, len(entries), chunk):
            part = entries[first : first + chunk]
            with store.importing() as batch:
                raw = (e.value for e in part if isinstance(e.value, RawQuestion))
                batch.look_up(r.question for r in raw)
                for entry in part:
                    _import_one(batch, entry, summary)
                n_good = summary.n_good
                if strict and summary.rejected:
                    raise _RollBackError
            done = min(first + chunk, len(entries))
            on_progress(Progress("import", done, len(entries), "questions"))
    except _RollBackError:
        summary = QuestionSummary(mapping, rejected=summary.rejected)
    summary.rejected.sort(key=lambda r: (r.file, r.line))
    summary.seconds = time.perf_counter() - start
    if not n_good:
        raise NothingUsableError(f"none of {len(entries)} lines could be used", summary.rejected)
    return summary


class _RollBackError(Exception):
    pass


def _entries(
    files: Iterable[Path], mapping: str, dataset: str | None, seed: int
) -> Iterator[_Entry]:
    for path in files:
        naming = Naming(dataset, path.stem, seed)
        try:
            for number, value in read_questions(path, mapping, naming):
                yield _Entry(str(path), number, value)
        except OSError as error:
            raise NothingUsableError(f"{path}: {error.strerror or error}") from error


def _import_one(batch: ImportBatch, entry: _Entry, summary: QuestionSummary) -> None:
    try:
        if isinstance(entry.value, LineError):
            raise entry.value
        new = entry.value.question
        outcome = batch.add_question(new, kind_stated=entry.value.kind_stated)
        summary.questions[outcome] += 1
        if outcome == "added":
            summary.kinds[new.answer_kind] += 1
            summary.n_without_gold += new.gold is None
    except (LineError, ConflictError) as error:
        summary.rejected.append(Rejected(entry.file, entry.line, str(error)))


__all__ = ["QuestionSummary", "import_questions"]
