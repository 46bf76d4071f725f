"""Two readers of the same completions, compared variable by variable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pipeline.deducing.responses import Response
from store import Store
from store.deduction_records import NUMBERS, SolverRecord


@dataclass(frozen=True, slots=True)
class ReadersCompared:
    """Two readers of the same completions, variable by variable.

    `same` and `differ` of the variables that both have a value for; `only_a`, `only_b`, `neither`.
    """

    solver: str
    a: str
    b: str
    same: int
    differ: int
    only_a: int
    only_b: int
    neither: int

    @property
    def agreement(self) -> float | None:
        """Share of all variables on which they agree, a missing value included."""
        n = self.same + self.differ + self.only_a + self.only_b + self.neither
        return (self.same + self.neither) / n if n else None


def compared_readers(
    store: Store, solver: SolverRecord, rows: Sequence[Response]
) -> list[ReadersCompared]:
    """Compare our own reader with every model that read the same completions."""
    ours = store.readings(solver.id, NUMBERS)
    out = []
    for name in store.readers(solver.id):
        if name == NUMBERS or not ours:
            continue
        theirs = store.readings(solver.id, name)
        counts: Counter[str] = Counter()
        for r in rows:
            a, b = ours.get(r.completion.id), theirs.get(r.completion.id)
            if a is None or b is None or (b.reason and r.completion.text.strip()):
                continue
            for v in r.verdicts():
                x, y = a.values.get(v.variable), b.values.get(v.variable)
                counts[_outcome(x, y)] += 1
        fields = ("same", "differ", "only_a", "only_b", "neither")
        out.append(ReadersCompared(solver.name, NUMBERS, name, *(counts[f] for f in fields)))
    return out


def _outcome(x: Fraction | None, y: Fraction | None) -> str:
    if x is None or y is None:
        return "neither" if x is None and y is None else "only_b" if x is None else "only_a"
    return "same" if x == y else "differ"


__all__ = ["ReadersCompared", "compared_readers"]
