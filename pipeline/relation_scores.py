"""How far one model's answers about one set contradict each other, and how they stand to the truth.

Everything is computed from what is stored, on reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from judges.relation_asker import INCONSISTENT
from pipeline.relation_view import AskedSet, Axis, word_kind
from scoring.relations import (
    METHODS,
    WORDS,
    Blame,
    CoinFlip,
    ErrorRate,
    Inconsistency,
    KinshipContradictions,
    KinshipError,
    Method,
    Preference,
    Rate,
    answer_preference,
    blame,
    coin_flip_baseline,
    detection_rates,
    error_rate,
    inconsistency,
    kendall_tau,
    kinship_contradictions,
    kinship_error,
    order_from_values,
)

EXACT_AT_MOST = 24
"""Up to so many objects the coin is scored by the exact method too; beyond, a draw takes longer than
anyone waits, and the coin is scored by local search."""
EXACT_DRAWS, DRAWS = 30, 100


@dataclass(frozen=True, slots=True)
class HowScored:
    """What a score depends on besides the answers.

    `trusted_share` of the true pairs, drawn by `seed`, are given to the order (partial truth);
    `draws` sets of coin answers make the baseline, None for as many as the method bears, 0 for none.
    """

    methods: tuple[Method, ...] = METHODS
    time_limit: float = 10.0
    trusted_share: float = 0.0
    seed: int = 0
    draws: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.trusted_share <= 1:
            raise ValueError(
                f"a trusted share of {self.trusted_share}; a number from 0 to 1 is right"
            )
        if "exact" not in self.methods:
            raise ValueError("the exact score is the headline: it cannot be left out")


AS_USUAL = HowScored()


@dataclass(frozen=True, slots=True)
class AxisScore:
    """One axis of one set.

    `scores` are by method, the exact one the headline. `coin` is what a fair coin scores by the
    method `coin.method`, `leaning` a coin that prefers the first answer as often as the model does
    (both None where no baseline was wanted). `error` and `tau` (of the exact order) are None
    without a truth, `blame` is held against the exact order.
    """

    axis: str
    n_objects: int
    scores: Mapping[Method, Inconsistency]
    preference: Preference
    coin: CoinFlip | None
    leaning: CoinFlip | None
    blame: tuple[Blame, ...]
    n_trusted: int
    error: ErrorRate | None
    tau: float | None
    why_no_truth: str | None

    @property
    def exact(self) -> Inconsistency:
        """The headline."""
        return self.scores["exact"]

    @property
    def against_coin(self) -> Inconsistency:
        """The score that may be held against the coin: by the same method."""
        return self.scores[self.coin.method] if self.coin is not None else self.exact

    @property
    def beats_coin(self) -> bool | None:
        """Whether the score lies below 97.5 % of the coin's; None without a baseline or score."""
        if self.coin is None or self.coin.low is None or self.against_coin.score is None:
            return None
        return self.against_coin.score < self.coin.low


@dataclass(frozen=True, slots=True)
class KinshipScore:
    """A family: contradictions, errors (None without a truth), and what random words come to.

    `coin` is the share of excluded triples over sets of words drawn evenly from the vocabulary, and
    `shuffled` the same with the model's own words dealt out anew: mean, 2.5 and 97.5 percentile.
    """

    found: KinshipContradictions
    error: KinshipError | None
    lenient: KinshipError | None
    coin: tuple[float, float, float] | None
    shuffled: tuple[float, float, float] | None
    draws: int


@dataclass(frozen=True, slots=True)
class SetScore:
    """One asking of one set.

    Of `n_pairs` ordered pairs `n_asked` have a reply, `n_read` one that gives a relation;
    `left_out` counts the others by reason. `words` is how often each word was said. `inconsistent`
    is the share of replies INCONSISTENT where that was offered, None elsewhere.
    """

    asked: AskedSet
    how: HowScored
    n_pairs: int
    n_asked: int
    n_read: int
    n_turned: int
    left_out: Mapping[str, int]
    words: Mapping[str, int]
    axes: tuple[AxisScore, ...] = ()
    kinship: KinshipScore | None = None
    inconsistent: Rate | None = None

    @property
    def coverage(self) -> float | None:
        """Replies that give a relation over ordered pairs; None without a pair."""
        return self.n_read / self.n_pairs if self.n_pairs else None


Note = Callable[[str], None]


def score_set(asked: AskedSet, how: HowScored = AS_USUAL, note: Note | None = None) -> SetScore:
    """Score one asking of one set. `note` is told what is being computed."""
    say = note or _silent
    left_out = Counter(a.why or "not read" for a in asked.answers if a.relation is None)
    words = Counter(a.relation for a in asked.answers if a.relation is not None)
    whole = SetScore(
        asked,
        how,
        n_pairs=asked.n_pairs,
        n_asked=len(asked.answers),
        n_read=words.total(),
        n_turned=sum(a.turned for a in asked.answers),
        left_out=dict(left_out.most_common()),
        words=dict(words.most_common()),
    )
    if asked.kind == "kinship":
        return replace(whole, kinship=_kinship(asked, how, say))
    inconsistent = None
    if asked.kind == "contradiction":
        said = [None if a.relation is None else a.relation == INCONSISTENT for a in asked.answers]
        inconsistent = detection_rates(said, ()).success
    axes = tuple(_axis(asked, axis, how, say) for axis in asked.axes)
    return replace(whole, axes=axes, inconsistent=inconsistent)


def _silent(_text: str) -> None:
    """Say nothing."""


def _axis(asked: AskedSet, axis: Axis, how: HowScored, say: Note) -> AxisScore:
    n = len(asked.objects)
    order = None if axis.values is None else order_from_values(axis.values)
    trusted = trusted_pairs(axis, how)
    scores: dict[Method, Inconsistency] = {}
    for method in how.methods:
        say(f"{asked.name} {axis.name}: {method}")
        scores[method] = inconsistency(
            axis.edges,
            n,
            method=method,
            trusted=trusted,
            time_limit=how.time_limit,
            seed=how.seed,
        )
    found = scores["exact"]
    preference = _preference(asked, axis.name)
    coin = leaning = None
    if how.draws != 0 and n > 1 and found.edges:
        by: Method = "exact" if n <= EXACT_AT_MOST else "local"
        if by not in scores:
            scores[by] = inconsistency(axis.edges, n, method=by, trusted=trusted)
        draws = how.draws or (EXACT_DRAWS if by == "exact" else DRAWS)
        say(f"{asked.name} {axis.name}: {draws} coins")
        coin = _coin(n, by, draws, how.seed, 0.5)
        share = preference.share
        leaning = None if share is None else _coin(n, by, draws, how.seed, round(share, 3))
    return AxisScore(
        axis.name,
        n,
        scores,
        preference,
        coin,
        leaning,
        blame(axis.edges, n, found.order),
        len(trusted),
        None if order is None else error_rate(axis.edges, order, n),
        None if axis.values is None else kendall_tau(found.order, axis.values),
        axis.why_no_truth,
    )


@cache
def _coin(n: int, method: Method, draws: int, seed: int, first: float) -> CoinFlip:
    return coin_flip_baseline(n, method=method, draws=draws, seed=seed, first=first, time_limit=5.0)


def trusted_pairs(axis: Axis, how: HowScored) -> tuple[tuple[int, int], ...]:
    """Return a share of the true pairs "u before v" of an axis, drawn by the seed.

    Raises
    ------
    ValueError
        When a share is wanted and there is no truth.
    """
    if not how.trusted_share:
        return ()
    if axis.values is None:
        raise ValueError(f"no truth to trust on axis {axis.name}: {axis.why_no_truth}")
    values = axis.values
    n = len(values)
    true = [(u, v) for u in range(n) for v in range(n) if values[u] < values[v]]
    rng = np.random.default_rng(how.seed)
    chosen = rng.choice(len(true), round(how.trusted_share * len(true)), replace=False)
    return tuple(true[int(k)] for k in sorted(chosen))


def _preference(asked: AskedSet, axis: str) -> Preference:
    said = [(a.a, a.b, a.relation) for a in asked.answers if a.relation != INCONSISTENT]
    return next(p for p in answer_preference(said, word_kind(asked.kind)).axes if p.axis == axis)


def _kinship(asked: AskedSet, how: HowScored, say: Note) -> KinshipScore:
    names = asked.objects
    answers = {(names[a.a], names[a.b]): a.relation for a in asked.answers if a.repeat == 0}
    truth = {(names[a], names[b]): w for (a, b), w in asked.truth.items()}
    say(f"{asked.name}: contradictions")
    found = kinship_contradictions(answers)
    coin = shuffled = None
    draws = DRAWS if how.draws is None else how.draws
    if draws:
        say(f"{asked.name}: {draws} families of random words")
        said = {p: w for p, w in answers.items() if w is not None}
        words = list(WORDS)
        rng = np.random.default_rng(how.seed)
        coin = _spread(
            [
                _triple_rate(
                    {
                        p: words[int(k)]
                        for p, k in zip(said, rng.integers(len(words), size=len(said)), strict=True)
                    }
                )
                for _ in range(draws)
            ]
        )
        own = list(said.values())
        shuffled = _spread(
            [
                _triple_rate(
                    dict(zip(said, (own[int(k)] for k in rng.permutation(len(own))), strict=True))
                )
                for _ in range(draws)
            ]
        )
    return KinshipScore(
        found,
        kinship_error(answers, truth) if truth else None,
        kinship_error(answers, truth, lenient=True) if truth else None,
        coin,
        shuffled,
        draws,
    )


def _triple_rate(answers: Mapping[tuple[str, str], str | None]) -> float | None:
    return kinship_contradictions(answers).triple_rate


def _spread(rates: Sequence[float | None]) -> tuple[float, float, float] | None:
    known = [r for r in rates if r is not None]
    if not known:
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(np.mean(known)), float(low), float(high)
