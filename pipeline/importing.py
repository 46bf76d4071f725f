"""The import stage: files of traces, labels and questions into the database, line by line."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.importing_relations import Kinds, add_relation, guessed_kinds, set_rows
from pipeline.progress import OnProgress, Progress, silent
from store import ConflictError, ImportBatch, Store
from store.exchange.cells import csv_header, csv_rows
from store.exchange.items import is_item_line, item
from store.exchange.labels import is_label_line, label, row_of_cells
from store.exchange.lines import LineError, Rejected, read_lines, shown
from store.exchange.questions import Naming, RawQuestion, is_question_line, native_question
from store.exchange.relations import (
    RawAnswer,
    RawFacts,
    RawObject,
    is_answer_line,
    relation_answer,
    shape_of,
)
from store.exchange.traces import (
    RawTrace,
    faithful_cot,
    is_faithful_cot_line,
    is_trace_line,
    native_trace,
)
from store.records import NewItem, NewLabel, NewTrace

COMMIT_EVERY = 100
"""Records to a transaction: a label made meanwhile waits for at most one of them."""


class NothingUsableError(ValueError):
    """No line of any file could be used, or a file could not be read.

    `rejected` lists the lines, none where a file could not be read or holds none.
    """

    def __init__(self, message: str, rejected: Sequence[Rejected] = ()) -> None:
        super().__init__(message)
        self.rejected = tuple(rejected)


@dataclass
class ImportSummary:
    """What an import did. Rates are over the traces that were added.

    `n_strict` traces follow the requested format to the letter, `n_usable` have steps, `n_parsed`
    an answer that could be read, `n_voting` both; `issues` counts traces by what the parser noted.
    `relations` counts objects, facts and answers about relations; `n_unread` of the added answers
    have no relation.
    """

    traces: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    relations: dict[str, Counter[str]] = field(default_factory=dict)
    n_unread: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    n_strict: int = 0
    n_usable: int = 0
    n_parsed: int = 0
    n_voting: int = 0
    n_steps: int = 0
    n_unannotated_steps: int = 0
    issues: Counter[str] = field(default_factory=Counter)
    parse_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def n_good(self) -> int:
        """Lines that were used or known already."""
        kinds = (
            self.traces,
            self.labels,
            self.items,
            self.questions,
            *self.relations.values(),
        )
        return sum(sum(n.values()) for n in kinds)

    def note_trace(self, new: NewTrace) -> None:
        """Count what the parser made of an added trace."""
        trace = new.trace
        parsed = trace.answer is not None
        self.n_strict += new.strict
        self.n_usable += trace.usable
        self.n_parsed += parsed
        self.n_voting += trace.usable and parsed
        self.n_steps += len(trace.steps)
        self.n_unannotated_steps += trace.unannotated
        self.issues.update({i.code for i in trace.issues})

    def as_json(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "traces": dict(self.traces),
            "labels": dict(self.labels),
            "items": dict(self.items),
            "questions": dict(self.questions),
            "relations": {what: dict(n) for what, n in self.relations.items()},
            "unread_answers": self.n_unread,
            "rejected": [
                {"file": r.file, "line": r.line, "message": r.message} for r in self.rejected
            ],
            "strict": self.n_strict,
            "usable": self.n_usable,
            "parsed": self.n_parsed,
            "voting": self.n_voting,
            "steps": self.n_steps,
            "unannotated_steps": self.n_unannotated_steps,
            "issues": dict(self.issues.most_common()),
            "parse_seconds": self.parse_seconds,
            "seconds": self.seconds,
        }


Relation = RawAnswer | RawObject | RawFacts
Value = RawTrace | RawQuestion | NewLabel | NewItem | Relation | LineError


@dataclass(frozen=True, slots=True)
class _Entry:
    file: str
    line: int
    value: Value


def import_files(
    store: Store,
    files: Iterable[Path],
    *,
    dataset: str | None = None,
    pool: str | None = None,
    strict: bool = False,
    on_progress: OnProgress = silent,
) -> ImportSummary:
    """Import files; questions and sets of objects first, then traces and answers, then labels.

    The order of the files does not matter.

    Parameters
    ----------
    dataset, pool
        Names for files that do not say (Faithful-COT, questions, sets of objects); the file's stem
        otherwise.
    strict
        All or nothing: with any rejected line, nothing is kept.

    Raises
    ------
    NothingUsableError
        When a file cannot be read, or no line of any file could be used.
    """
    start = time.perf_counter()
    summary = ImportSummary()
    entries = list(_entries(files, dataset, pool))
    ordered = sorted(entries, key=_turn)
    kinds = guessed_kinds(e.value for e in entries if isinstance(e.value, RawAnswer))
    chunk = len(ordered) or 1 if strict else COMMIT_EVERY
    try:
        for first in range(0, len(ordered), chunk):
            with store.importing() as batch:
                for entry in ordered[first : first + chunk]:
                    _import_one(batch, entry, summary, kinds)
                if strict and summary.rejected:
                    raise _RollBackError
            on_progress(
                Progress("import", min(first + chunk, len(ordered)), len(ordered), "records")
            )
        n_good = summary.n_good
    except _RollBackError:
        n_good = summary.n_good
        summary = ImportSummary(rejected=summary.rejected, parse_seconds=summary.parse_seconds)
    summary.rejected.sort(key=lambda r: (r.file, r.line))
    summary.seconds = time.perf_counter() - start
    if not entries:
        raise NothingUsableError("the files hold no lines")
    if not n_good:
        raise NothingUsableError(f"none of {len(entries)} lines could be used", summary.rejected)
    return summary


class _RollBackError(Exception):
    pass


def _turn(entry: _Entry) -> int:
    """Return which entries come before others: those they need."""
    if isinstance(entry.value, RawQuestion | RawObject | RawFacts):
        return 0
    return 2 if isinstance(entry.value, NewLabel | NewItem) else 1


def _entries(files: Iterable[Path], dataset: str | None, pool: str | None) -> Iterator[_Entry]:
    for path in files:
        try:
            for number, row in _rows(path, dataset):
                if isinstance(row, RawObject | RawFacts):
                    yield _Entry(str(path), number, row)
                    continue
                for value in _values(row, path.stem, dataset, pool):
                    yield _Entry(str(path), number, value)
        except OSError as error:
            raise NothingUsableError(f"{path}: {error.strerror or error}") from error


def _rows(
    path: Path, dataset: str | None
) -> Iterator[tuple[int, dict[str, Any] | RawObject | RawFacts | LineError]]:
    """Yield the lines of a file as objects: JSON Lines, or a CSV of labels, items or a set."""
    header = csv_header(path)
    if header is None:
        yield from read_lines(path)
        return
    fields, separator = header
    if "item" not in fields or not {"rater", "kind"} & set(fields):
        shape = shape_of(fields)
        if shape is not None:
            yield from set_rows(path, fields, separator, shape, dataset or path.stem)
            return
        if path.suffix.lower() != ".csv":
            yield from read_lines(path)
            return
        yield (
            1,
            LineError(
                f"a header with the columns {shown(fields, 100)}; labels (item, rater, category), "
                "items (item, kind), objects (name with a year, a date, x and y, or lon and lat) "
                "or pairs (a, b, relation, or dx and dy) are right; for a file of questions name "
                "its --mapping"
            ),
        )
        return
    for number, cells in csv_rows(path, fields, separator):
        try:
            yield number, cells if isinstance(cells, LineError) else row_of_cells(cells)
        except LineError as error:
            yield number, error


def _values(
    row: dict[str, Any] | LineError, stem: str, dataset: str | None, pool: str | None
) -> Iterator[Value]:
    try:
        if isinstance(row, LineError):
            yield row
        elif is_label_line(row):
            yield label(row)
        elif is_item_line(row):
            yield item(row)
        elif is_answer_line(row):
            yield relation_answer(row)
        elif is_faithful_cot_line(row):
            yield from faithful_cot(row, dataset or stem, pool or stem)
        elif is_trace_line(row):
            yield native_trace(row, pool or stem)
        elif is_question_line(row):
            yield native_question(row, Naming(dataset, stem))
        else:
            yield LineError(_unknown(row))
    except LineError as error:
        yield error


def _unknown(row: Mapping[str, Any]) -> str:
    return (
        f"an object with the fields {shown(sorted(row), 80)}; a trace (dataset, question_id, "
        "question, sample, text or steps), question (question, gold), label (item, rater, "
        "category), item (item, kind), answer (set, a, b) or Faithful-COT row is "
        "right; or --mapping"
    )


def _import_one(batch: ImportBatch, entry: _Entry, summary: ImportSummary, kinds: Kinds) -> None:
    try:
        if isinstance(entry.value, LineError):
            raise entry.value
        if isinstance(entry.value, NewLabel):
            summary.labels[batch.add_label(entry.value)] += 1
            return
        if isinstance(entry.value, NewItem):
            summary.items[batch.add_item(entry.value)] += 1
            return
        if isinstance(entry.value, RawQuestion):
            stated = entry.value.kind_stated
            outcome = batch.add_question(entry.value.question, kind_stated=stated)
            summary.questions[outcome] += 1
            return
        if isinstance(entry.value, RawAnswer | RawObject | RawFacts):
            noted = add_relation(batch.relations, entry.value, kinds)
            summary.relations.setdefault(noted.what, Counter())[noted.outcome] += 1
            summary.n_unread += noted.unread
            return
        begin = time.perf_counter()
        raw = entry.value
        new = raw.parsed(batch.settled_question(raw.question, kind_stated=raw.kind_stated))
        summary.parse_seconds += time.perf_counter() - begin
        added = batch.add_trace(new)
        summary.traces[added] += 1
        if added == "added":
            summary.note_trace(new)
    except (LineError, ConflictError) as error:
        summary.rejected.append(Rejected(entry.file, entry.line, str(error)))


__all__ = ["ImportSummary", "NothingUsableError", "import_files"]
