"""For which use a judge may be trusted, for which not, and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scoring.agreement._coding import Interval
from scoring.agreement.alttest import AltTest
from scoring.agreement.corrected import CorrectedBootstrap
from scoring.agreement.design import DesignErrorRates
from scoring.agreement.errors import ErrorRates
from scoring.agreement.judge import CorrectedRate, Proportion
from scoring.agreement.repeats import Stability

RANKING = "ranking items"
RATE = "estimating a rate, corrected"
REPLACING = "replacing a human"


@dataclass(frozen=True, slots=True)
class VerdictRules:
    """Thresholds of the verdict. None of them is a law of nature: state them with the verdict.

    Attributes
    ----------
    min_per_class
        Human-positive, and human-negative, labels below which nothing is said on ranking or rates:
        with 20 a Wilson interval still spans about ±.2.
    ranking_accuracy
        What the lower end of the balanced accuracy's interval must reach for ranking items (1/2 is
        chance).
    rate_informedness
        What the lower end of sensitivity + specificity - 1 must reach for a corrected rate, whose
        error grows with its inverse.
    rate_half_width
        The widest half-width of the corrected rate's interval that is still an estimate.
    max_parse_failures
        Largest share of unparsable replies: they are seldom missing at random.
    min_stability
        Smallest agreement of the judge with itself, where it was asked more than once.
    """

    min_per_class: int = 20
    ranking_accuracy: float = 0.7
    rate_informedness: float = 0.2
    rate_half_width: float = 0.1
    max_parse_failures: float = 0.05
    min_stability: float = 0.8


class UseVerdict(NamedTuple):
    """One use of a judge.

    `allowed` is True or False on the evidence named, and None where the evidence does not suffice
    to say (which is no permission).
    """

    use: str
    allowed: bool | None
    evidence: str


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What a judge may be used for.

    Attributes
    ----------
    uses
        For `RANKING`, `RATE` and `REPLACING`, in this order: (use, allowed, evidence).
    rules
        The thresholds applied.
    """

    uses: tuple[UseVerdict, ...]
    rules: VerdictRules

    def allowed(self, use: str) -> bool | None:
        """Return whether a use is allowed; None where the evidence does not suffice."""
        return next(u.allowed for u in self.uses if u.use == use)


def judge_verdict(
    *,
    errors: ErrorRates | None,
    clustered: DesignErrorRates | None = None,
    corrected: CorrectedRate | None = None,
    corrected_bootstrap: CorrectedBootstrap | None = None,
    alt_test: AltTest | None = None,
    stability: Stability | None = None,
    parse_failures: Proportion | None = None,
    rules: VerdictRules | None = None,
) -> JudgeVerdict:
    """Say for which use a judge may be trusted.

    Parameters
    ----------
    errors : ErrorRates or None
        Error rates against a human; None when no category counts as positive.
    clustered : DesignErrorRates, optional
        The same with an interval that respects questions and the sample design; the lower of the
        two lower ends counts.
    corrected, corrected_bootstrap : optional
        The corrected rate; the widest of its intervals counts.
    alt_test : AltTest, optional
        The alternative annotator test, where two or more humans labelled.
    stability : Stability, optional
        Agreement with itself, where it was asked more than once.
    parse_failures : Proportion, optional
        Replies without a verdict among all replies.
    rules : VerdictRules, optional
        Thresholds.

    Returns
    -------
    JudgeVerdict

    Notes
    -----
    Ranking items: at least `min_per_class` labels of each class, and the lower end of the balanced
    accuracy's interval at `ranking_accuracy` or above. Estimating a rate: the same labels, the
    lower end of sensitivity + specificity - 1 at `rate_informedness` or above, and a corrected
    rate whose interval is no wider than ± `rate_half_width`; the uncorrected rate is never
    allowed. Replacing a human: the alternative annotator test passed. All three: no more than
    `max_parse_failures` unparsable, and agreement with itself at `min_stability` or above, where
    known. Lower ends count, not estimates, so with few labels the answer is no or unknown.

    Examples
    --------
    >>> from scoring.agreement import confusion_table, error_rates
    >>> human, judge = ["bad"] * 40 + ["ok"] * 80, ["bad"] * 38 + ["ok"] * 82
    >>> v = judge_verdict(errors=error_rates(confusion_table(human, judge), "bad"))
    >>> [(u.use, u.allowed) for u in v.uses][0]
    ('ranking items', True)
    >>> v.uses[2].evidence
    'not tested: it takes labels of two or more humans on the same items'
    """
    rules = rules or VerdictRules()
    against = _hindrances(stability, parse_failures, rules)
    lacking = _lacking(errors, rules)
    low = _lowest(errors, clustered)
    ranking = _ranking(errors, low, lacking, rules)
    rate = _rate(corrected, corrected_bootstrap, low, lacking, rules)
    uses = (ranking, rate, _replacing(alt_test))
    return JudgeVerdict(tuple(_hindered(u, against) for u in uses), rules)


def _hindrances(
    stability: Stability | None, parse_failures: Proportion | None, rules: VerdictRules
) -> list[str]:
    """Say what speaks against every use."""
    out = []
    if parse_failures is not None and (parse_failures.value or 0) > rules.max_parse_failures:
        out.append(
            f"{parse_failures.k} of {parse_failures.n} replies have no verdict, at most "
            f"{rules.max_parse_failures:.0%} are allowed"
        )
    agreement = None if stability is None else stability.pairwise.value
    if agreement is not None and agreement < rules.min_stability:
        out.append(
            f"asked again, it agrees with itself on {agreement:.2f} of the pairs, at least "
            f"{rules.min_stability:.2f} is asked"
        )
    return out


def _hindered(use: UseVerdict, against: list[str]) -> UseVerdict:
    """Withdraw a permission, or add to a refusal; what is unknown stays unknown."""
    if not against or use.allowed is None:
        return use
    return UseVerdict(use.use, False, "; ".join([use.evidence, *against]))


def _lacking(errors: ErrorRates | None, rules: VerdictRules) -> str | None:
    """Why nothing can be said on error rates, or None."""
    if errors is None:
        return "no category is named as the positive one"
    n1, n0 = errors.sensitivity.n, errors.specificity.n
    if min(n1, n0) < rules.min_per_class:
        return (
            f"{n1} human-positive and {n0} human-negative labels, at least {rules.min_per_class} "
            "of each are needed"
        )
    return None


def _lowest(errors: ErrorRates | None, clustered: DesignErrorRates | None) -> float:
    """Return the lower of the lower ends of the balanced accuracy."""
    ends = [0.0] if errors is None or errors.balanced_ci is None else [errors.balanced_ci[0]]
    if clustered is not None and clustered.informedness.ci is not None:
        ends.append((clustered.informedness.ci[0] + 1) / 2)
    return min(ends)


def _ranking(
    errors: ErrorRates | None, low: float, lacking: str | None, rules: VerdictRules
) -> UseVerdict:
    if errors is None or lacking is not None:
        return UseVerdict(RANKING, None, lacking or "")
    evidence = (
        f"balanced accuracy {errors.balanced_accuracy or 0:.2f}, at least {low:.2f} at level "
        f"{errors.level:g} ({errors.sensitivity.n} positive, {errors.specificity.n} negative "
        f"labels); {rules.ranking_accuracy:.2f} is asked"
    )
    return UseVerdict(RANKING, low >= rules.ranking_accuracy, evidence)


def _rate(
    corrected: CorrectedRate | None,
    bootstrap: CorrectedBootstrap | None,
    low: float,
    lacking: str | None,
    rules: VerdictRules,
) -> UseVerdict:
    if lacking is not None:
        return UseVerdict(RATE, None, lacking)
    informed = 2 * low - 1
    evidence = [
        f"sensitivity + specificity - 1 is at least {informed:.2f}, "
        f"{rules.rate_informedness:.2f} is asked"
    ]
    if informed < rules.rate_informedness:
        return UseVerdict(RATE, False, evidence[0])
    if corrected is None or corrected.why_undefined is not None:
        why = "no rate was given" if corrected is None else corrected.why_undefined
        return UseVerdict(RATE, None, f"{evidence[0]}; not corrected: {why}")
    widest = _widest(corrected, bootstrap)
    if widest is None:
        why = corrected.why_no_interval or "no interval"
        return UseVerdict(RATE, None, f"{evidence[0]}; the corrected rate has no interval: {why}")
    half = (widest[1] - widest[0]) / 2
    evidence.append(
        f"it reports {corrected.rate:.3f}, corrected {corrected.value or 0:.3f} "
        f"({widest[0]:.3f} to {widest[1]:.3f}), ± {rules.rate_half_width:.2f} is asked"
    )
    if not widest[0] <= corrected.rate <= widest[1]:
        evidence.append("the rate as reported lies outside")
    return UseVerdict(RATE, half <= rules.rate_half_width, "; ".join(evidence))


def _widest(corrected: CorrectedRate, bootstrap: CorrectedBootstrap | None) -> Interval | None:
    """Return the widest interval; None when the bootstrap's has no end or there is none."""
    if bootstrap is not None and bootstrap.ci is None:
        return None
    found = [corrected.ci, corrected.adjusted_ci, bootstrap.ci if bootstrap else None]
    return max((ci for ci in found if ci is not None), key=lambda ci: ci[1] - ci[0], default=None)


def _replacing(alt: AltTest | None) -> UseVerdict:
    if alt is None:
        why = "not tested: it takes labels of two or more humans on the same items"
        return UseVerdict(REPLACING, None, why)
    if alt.omega is None or alt.rho is None:
        return UseVerdict(REPLACING, None, f"not tested: {alt.why_undefined}")
    tested = [h for h in alt.humans if h.p is not None]
    evidence = (
        f"alternative annotator test, epsilon {alt.epsilon:g}: wins against "
        f"{sum(h.rejected for h in tested)} of {len(tested)} humans (omega {alt.omega:.2f}, "
        f"0.50 is asked), advantage probability {alt.rho:.2f}"
    )
    return UseVerdict(REPLACING, alt.passed, "; ".join([evidence, *alt.warnings]))
