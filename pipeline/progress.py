"""Progress events: stages report, front ends draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: `done` of `total` units; total None while unknown.

    Stages that ask a model also say how many units a second they get done, the tokens used so
    far, and how many replies were no proper one (`errors`); elsewhere these are None.
    """

    stage: str
    done: int
    total: int | None
    unit: str
    rate: float | None = None
    tokens: int | None = None
    errors: int | None = None

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate; None where that cannot be told."""
        if self.total is None or not self.rate:
            return None
        return max(self.total - self.done, 0) / self.rate


OnProgress = Callable[[Progress], None]


def silent(_event: Progress) -> None:
    """Ignore progress."""
