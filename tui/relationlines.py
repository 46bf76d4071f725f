"""Relation sets in lines: how far each model contradicts itself, beside a coin that knows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from pipeline.relation_review import ReviewSummary
from pipeline.relation_sealed import Headline
from scoring.relations import CoinFlip, Inconsistency
from store.relation_records import AnswerCounts, AskingRecord
from tui import wording
from tui.setlines import axis_title
from tui.text import cut, cut_middle, fit, hang, safe
from tui.widgets.lines import Row

COLUMNS = (
    ("objects", 8),
    ("read", 6),
    ("inconsistent", 14),
    ("coin", 6),
    ("review", 7),
    ("mine", 6),
)
READING = "…"
"""Stands for a figure that is being worked out."""
MEANS = "2 × answers against the best order / answers: 0 = consistent, 1 = worst"


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set and a model's way of being asked about it, with one's own progress in its findings.

    `n_review` findings wait for a reviewer's eye, `n_mine` of them are decided by this rater;
    None where no queue was made yet.
    """

    asking: AskingRecord
    n_objects: int
    counts: AnswerCounts
    n_review: int | None = None
    n_mine: int | None = None

    @property
    def n_pairs(self) -> int:
        """Ordered pairs of different objects."""
        return self.n_objects * (self.n_objects - 1)


def name_room(width: int) -> int:
    """Return the cells that are left for a row's name."""
    return max(width - sum(w for _, w in COLUMNS), 8)


def heads(width: int) -> Content:
    """Return the line of column heads."""
    right = "".join(name.rjust(w) for name, w in COLUMNS)
    return fit(Content("  set · model"), name_room(width)) + Content(right)


def set_name(asking: AskingRecord) -> Content:
    """Return set and model."""
    return safe(asking.set) + Content(" · ") + safe(asking.name)


def set_line(row: SetRow, found: Headline | None, width: int) -> Content:
    """Return a row's line; figures that are not worked out yet as three dots."""
    room = name_room(width)
    name = fit(Content("  ") + cut_middle(set_name(row.asking), room - 3), room)
    values = (
        f"{row.n_objects:,}",
        wording.percent(row.counts.n_pairs_read, row.n_pairs),
        READING if found is None else _score(found),
        READING if found is None else _coin(found),
        wording.NONE if row.n_review is None else f"{row.n_review:,}",
        wording.NONE if row.n_mine is None else f"{row.n_mine:,}",
    )
    right = "".join(v.rjust(w) for v, (_, w) in zip(values, COLUMNS, strict=True))
    return name + Content(right)


def _score(found: Headline) -> str:
    if found.kin is not None:
        return f"threes {wording.share(found.kin.triple_rate)}"
    shares = {name: wording.share(x.score) for name, x in found.exact.items()}
    if len(shares) == 1:
        return next(iter(shares.values()))
    return " ".join(f"{name} {share}" for name, share in shares.items())


def _coin(found: Headline) -> str:
    if found.kin is not None:
        return wording.share(None if found.kin_coin is None else found.kin_coin[0])
    coins = [c.mean for c in found.coin.values()]
    return wording.share(coins[0] if coins else None)


def detail(row: SetRow | None, found: Headline | None, width: int) -> list[Row]:
    """Say what a row's figures rest on."""
    if row is None:
        return []
    asking, counts = row.asking, row.counts
    lines: list[Content] = []
    if found is None:
        lines.append(Content(" the order with the fewest answers against it is being looked for …"))
    elif found.kin is not None:
        lines += hang(Content(" "), Content(_kin_said(found)), width)
    else:
        for name, exact in found.exact.items():
            lines += hang(
                Content(" "), Content(axis_said(name, exact, found.coin.get(name))), width
            )
        lines.append(cut(Content(f" {MEANS}"), width))
    by = Content(f" {counts.n:,} answers, {counts.n_unusable:,} not read · ") + safe(asking.model)
    if asking.prompt_version:
        by += Content(" · prompt ") + safe(asking.prompt_version)
    lines.append(cut(by, width))
    return [Row(line) for line in lines]


def axis_said(name: str, exact: Inconsistency, coin: CoinFlip | None) -> str:
    """Return an axis's exact score in words, with its bounds and the coin's."""
    if exact.score is None:
        return f"{axis_title(name)}: no answer gives an order"
    told = f"{axis_title(name)}: {wording.share(exact.score)}"
    told += f", {exact.reverse:,} of {exact.edges:,} answers against"
    if exact.proved is False and exact.lower_bound is not None:
        told += f" (at least {exact.lower_bound:,} is proved)"
    if coin is None or coin.mean is None or coin.low is None or coin.high is None:
        return told
    told += f"; a coin {wording.share(coin.mean)} [{wording.share(coin.low)}–"
    how = "" if coin.method == "exact" else " by local search"
    told += f"{wording.share(coin.high)}], {coin.draws} draws{how}"
    return told + (": better than a coin" if exact.score < coin.low else ": no better than a coin")


def _kin_said(found: Headline) -> str:
    kin = found.kin
    if kin is None:
        return ""
    told = f"threes that cannot all hold {len(kin.triples):,} of {kin.triples_checked:,}"
    told += f" ({wording.share(kin.triple_rate)}; 0 = consistent)"
    if found.kin_coin is not None:
        mean, low, high = (wording.share(v) for v in found.kin_coin)
        told += f"; words drawn at random {mean} [{low}–{high}]"
    told += f" · pairs not inverse {len(kin.pairs):,} of {kin.pairs_checked:,}"
    return told + f" · given two genders {len(kin.genders):,} of {kin.people_checked:,}"


def state(rows: Sequence[SetRow]) -> str:
    """Return what one may do here."""
    if not rows:
        return "no answers about relations yet: run  medoid relations ask  (or import)"
    return "enter: review what contradicts itself   f: find it first   b: reveal a set"


def found_said(made: ReviewSummary) -> str:
    """Return what looking for contradictions found."""
    told = f"{made.n_found:,} found, {made.made.n:,} to review ({made.made.n_new:,} new)"
    if made.n_beyond:
        told += f", {made.n_beyond:,} beyond the limit"
    if made.n_too_long:
        told += f", {made.n_too_long:,} too long"
    return told + (": enter reviews them" if made.made.n else "")
