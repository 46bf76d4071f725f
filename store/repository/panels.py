"""What several votes on one item come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.model_records import VoteRecord
from store.records import LabelState


@dataclass(frozen=True, slots=True)
class Panel:
    """The majority of votes on one item.

    `category` is the one with most votes, None on a tie and where no vote could be read.
    `agreement` is the share of the parsed votes that have the most frequent category; None with
    fewer than two: one vote agrees with nothing. `first_wrong_step` is the step that most votes
    of the majority name (none counts as one), None on a tie. `chosen` is the vote that speaks for
    the panel: the first of the majority that names this step, or the first vote where there is no
    majority.
    """

    category: str | None
    tied: bool
    n: int
    n_parsed: int
    counts: Mapping[str, int]
    agreement: float | None
    first_wrong_step: int | None
    chosen: VoteRecord

    @property
    def state(self) -> LabelState:
        """The state of the label: a tie is unsure, not unparsed.

        Every vote of a tie was read, so calling it unparsed would count it as a failed reply; and
        to pick one of the categories would invent what the judge did not say. The judge, asked
        several times, cannot tell: that is what unsure means, and like it a tie is left out of
        kappa pairwise and counted. A flag tells it from an unsure that was said.
        """
        if self.category is not None:
            return "labelled"
        return "unsure" if self.tied else "unparsed"


def panel_of(votes: Sequence[VoteRecord]) -> Panel:
    """Return the majority of the votes, in order of repeats."""
    ordered = sorted(votes, key=lambda v: v.repeat)
    parsed = [v for v in ordered if v.category is not None]
    counts = Counter(v.category for v in parsed if v.category is not None)
    category, most = _mode([v.category for v in parsed])
    majority = [v for v in parsed if v.category == category]
    step = _mode([v.first_wrong_step for v in majority])[0] if category is not None else None
    speakers = [v for v in majority if v.first_wrong_step == step] or majority or ordered
    return Panel(
        category=category,
        tied=bool(parsed) and category is None,
        n=len(ordered),
        n_parsed=len(parsed),
        counts=dict(sorted(counts.items())),
        agreement=most / len(parsed) if len(parsed) > 1 else None,
        first_wrong_step=step,
        chosen=speakers[0],
    )


def _mode(values: Sequence[Any]) -> tuple[Any, int]:
    """Return the most frequent value and its count; None for a value when two are."""
    ranked = Counter(values).most_common(2)
    if not ranked:
        return None, 0
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None, ranked[0][1]
    return ranked[0]
