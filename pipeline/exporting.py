"""The export stage: labels and items as the lines of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from store import Store
from store.exchange.cells import csv_lines
from store.exchange.items import DESIGN_FIELDS, ITEM_FIELDS, item_row
from store.exchange.labels import CSV_FIELDS, label_cells, label_row, plain_text

FileFormat = Literal["jsonl", "csv"]


def label_lines(
    store: Store,
    file_format: FileFormat = "jsonl",
    *,
    schema: str | None = None,
    rater: str | None = None,
    history: bool = False,
) -> Iterator[str]:
    """Yield the lines of a label file; importing it where it came from changes nothing.

    Raises
    ------
    ValueError
        When there is no such schema.
    """
    labels = store.export_labels(schema=schema, rater=rater, history=history)
    if file_format == "csv":
        return csv_lines(CSV_FIELDS, (label_cells(x) for x in labels))
    return (_json_line(label_row(x)) for x in labels)


def item_lines(
    store: Store, file_format: FileFormat = "jsonl", *, design: bool = False
) -> Iterator[str]:
    """Yield the lines of an item file; how items were chosen only with `design`.

    Edited steps come with `design` alone: they are those of medoids, unless asked for otherwise.
    """
    items = (x for x in store.export_items() if design or x.kind != "counterfactual")
    rows = (item_row(x, design=design) for x in items)
    if file_format == "csv":
        fields = (*ITEM_FIELDS, "case", *(DESIGN_FIELDS[1:] if design else ()), "edges")
        return csv_lines(fields, ([_item_cell(r.get(f)) for f in fields] for r in rows))
    return (_json_line(row) for row in rows)


def _item_cell(value: Any) -> str | None:
    return json.dumps(value) if isinstance(value, list) else plain_text(value)


SCORE_FIELDS = (
    "dataset",
    "question_id",
    "pool",
    "n_traces",
    "n_used",
    "sc_answer",
    "sc_tied",
    "gsc_answer",
    "medoid_sample",
    "sc_correct",
    "gsc_correct",
    "flags",
)


def score_lines(
    store: Store, file_format: FileFormat = "jsonl", *, scoring: int | None = None
) -> Iterator[str]:
    """Yield the lines of a score file: a row a question and pool, all metrics with provenance.

    In a CSV an undefined value is an empty cell, and every row repeats the provenance as JSON.

    Raises
    ------
    ValueError
        When nothing is scored, or there is no such scoring.
    """
    from pipeline.score_report import NAMES, chosen_scoring, score_rows

    chosen = chosen_scoring(store, scoring)
    rows = score_rows(store, chosen.id)
    if file_format == "jsonl":
        return (_json_line(row) for row in rows)
    fields = (*SCORE_FIELDS, *NAMES, "excluded", "provenance")
    return csv_lines(fields, ([_score_cell(row.get(f)) for f in fields] for row in rows))


def _score_cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _json_line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n"
