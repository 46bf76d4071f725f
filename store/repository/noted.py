"""Flags of a pool's scores and its further metrics: one JSON column holds both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from store.records import MetricRecord


def noted(flags: Iterable[str], metrics: Mapping[str, MetricRecord]) -> Any:
    """Return what the column of flags holds: the flags alone, or with metrics beside them."""
    listed = list(flags)
    if not metrics:
        return listed
    return {"flags": listed, "metrics": {name: asdict(m) for name, m in metrics.items()}}


def flags_of(said: Any) -> tuple[str, ...]:
    """Return the flags of what `noted` made."""
    return tuple(said["flags"] if isinstance(said, dict) else said)


def metrics_of(said: Any) -> dict[str, MetricRecord]:
    """Return the metrics of what `noted` made."""
    held = said["metrics"] if isinstance(said, dict) else {}
    return {
        name: MetricRecord(**{**row, "flags": tuple(row["flags"])}) for name, row in held.items()
    }
