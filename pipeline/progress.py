"""Progress events: stages report, front ends draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: `done` of `total` units; total None while unknown."""

    stage: str
    done: int
    total: int | None
    unit: str


OnProgress = Callable[[Progress], None]


def silent(_event: Progress) -> None:
    """Ignore progress."""
