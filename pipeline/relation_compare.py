"""Models compared over the sets that both were asked about, and methods over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pipeline.relation_scores import SetScore
from scoring.relations import (
    Detection,
    ModelComparison,
    ScoreCorrelation,
    compare_models,
    detection_rates,
    score_correlation,
)


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two askings by name, and the mean difference of their exact scores over common axes of sets.

    `n_sets` is how many sets those axes are of; negative = the first contradicts itself less.
    """

    first: str
    second: str
    n_sets: int
    found: ModelComparison


@dataclass(frozen=True, slots=True)
class DetectionRow:
    """How often one asking said INCONSISTENT where that is right, and on consistent controls."""

    name: str
    sets: tuple[str, ...]
    controls: tuple[str, ...]
    found: Detection


def compare_scores(
    scores: Sequence[SetScore], *, replicates: int = 10_000, seed: int = 0
) -> tuple[ModelPair, ...]:
    """Compare every two names that were asked about a common set.

    The two axes of a set are drawn together: they come from the same answers. A set's score is the
    mean over its axes; a family's the share of excluded triples.
    """
    by_name: dict[str, dict[str, float | None]] = {}
    for s in scores:
        by_name.setdefault(s.asked.asking.name, {})[s.asked.set.name] = set_value(s)
    found = []
    for first, second in combinations(by_name, 2):
        common = [name for name in by_name[first] if name in by_name[second]]
        if common:
            made = compare_models(
                [by_name[first][name] for name in common],
                [by_name[second][name] for name in common],
                replicates=replicates,
                seed=seed,
            )
            found.append(ModelPair(first, second, len(common), made))
    return tuple(found)


def set_value(score: SetScore) -> float | None:
    """Return one figure for a set: the mean exact score of its axes, or the share of a family's
    triples that are excluded; None where any is undefined."""
    if score.kinship is not None:
        return score.kinship.found.triple_rate
    values = [axis.exact.score for axis in score.axes]
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def correlate_methods(scores: Sequence[SetScore]) -> dict[str, ScoreCorrelation]:
    """Correlate each graph method's scores with the energy method's over axes, sets and names.

    Empty without energy scores.
    """
    axes = [a for s in scores for a in s.axes if "energy" in a.scores]
    if not axes:
        return {}
    energy = [a.scores["energy"].score for a in axes]
    return {
        method: score_correlation([a.scores[method].score for a in axes], energy)
        for method in axes[0].scores
        if method != "energy" and all(method in a.scores for a in axes)
    }


def detections(scores: Sequence[SetScore]) -> tuple[DetectionRow, ...]:
    """Return a row for each name that was asked about a set whose statements may contradict."""
    found = []
    rows = [s for s in scores if s.inconsistent is not None]
    for name in dict.fromkeys(s.asked.asking.name for s in rows):
        own = [s for s in rows if s.asked.asking.name == name]
        bad = [s for s in own if s.asked.consistent is False]
        good = [s for s in own if s.asked.consistent]
        found.append(
            DetectionRow(
                name,
                tuple(s.asked.set.name for s in bad),
                tuple(s.asked.set.name for s in good),
                detection_rates(_said(bad), _said(good)),
            )
        )
    return tuple(found)


def _said(scores: Sequence[SetScore]) -> list[bool | None]:
    from judges.relation_asker import INCONSISTENT

    return [
        None if a.relation is None else a.relation == INCONSISTENT
        for s in scores
        for a in s.asked.answers
    ]
