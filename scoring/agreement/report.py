"""One judge against one human: everything that decides whether to trust it, as data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from scoring.agreement._coding import Category, plain_list
from scoring.agreement.alttest import AltTest
from scoring.agreement.bootstrap import KappaBootstrap, kappa_bootstrap
from scoring.agreement.corrected import CorrectedBootstrap, corrected_rate_clustered
from scoring.agreement.design import DesignErrorRates, design_error_rates
from scoring.agreement.errors import CategoryScore, ErrorRates, category_scores, error_rates
from scoring.agreement.judge import CorrectedRate, Proportion, corrected_rate, wilson
from scoring.agreement.kappa import Kappa, Weights, kappa_from_table
from scoring.agreement.multirater import MultiRater, gwet_ac1
from scoring.agreement.powered import PredictionPowered, prediction_powered_rate
from scoring.agreement.repeats import Drift, Stability
from scoring.agreement.steps import FirstWrongStep
from scoring.agreement.table import (
    AgreementSummary,
    ConfusionTable,
    agreement_summary,
    confusion_table,
)
from scoring.agreement.verdict import JudgeVerdict, VerdictRules, judge_verdict


@dataclass(frozen=True, slots=True)
class JudgeRates:
    """A rate as human and judge see it, and what becomes of the judge's.

    Attributes
    ----------
    human
        The human's rate over the labelled items (unweighted).
    judge
        The judge's rate over all items it gave a verdict on.
    errors
        Sensitivity and specificity with Wilson intervals (unweighted).
    clustered
        The same weighted by the design, intervals from resampled clusters.
    corrected
        The judge's rate corrected by the (weighted) error rates, delta-method and Lang-Reiczigel
        intervals.
    bootstrap
        The same with an interval from resampled clusters, every sampling error counted.
    powered
        The prediction-powered rate.
    """

    human: Proportion
    judge: Proportion
    errors: ErrorRates
    clustered: DesignErrorRates
    corrected: CorrectedRate | None
    bootstrap: CorrectedBootstrap
    powered: PredictionPowered


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """A judge against a human.

    Attributes
    ----------
    table
        Row = human, column = judge.
    kappa, clustered, ac1, summary
        Agreement: Cohen's kappa, the same with an interval from resampled clusters, Gwet's AC1
        over the same items and categories, and what explains the two.
    categories
        Precision and recall per category.
    rates
        What concerns the positive category; None when none is named.
    parse_failures
        Replies without a verdict among all replies; None when not given.
    stability, drift, steps, alt_test
        As given; None where not measured.
    n_unlabelled
        Items with a verdict and no human label.
    verdict
        For which use the judge may be trusted.
    """

    table: ConfusionTable
    kappa: Kappa
    clustered: KappaBootstrap
    ac1: MultiRater
    summary: AgreementSummary
    categories: tuple[CategoryScore, ...]
    rates: JudgeRates | None
    parse_failures: Proportion | None
    stability: Stability | None
    drift: Drift | None
    steps: FirstWrongStep | None
    alt_test: AltTest | None
    n_unlabelled: int
    verdict: JudgeVerdict


def judge_report(
    human: Iterable[Category | None],
    judge: Iterable[Category | None],
    *,
    categories: Iterable[Category] | None = None,
    positive: Category | None = None,
    weights: Weights = None,
    clusters: Iterable[Hashable] | None = None,
    inclusion: Iterable[float | None] | None = None,
    strata: Iterable[Hashable] | None = None,
    parse_failures: tuple[int, int] | None = None,
    stability: Stability | None = None,
    drift: Drift | None = None,
    steps: FirstWrongStep | None = None,
    alt_test: AltTest | None = None,
    rules: VerdictRules | None = None,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> JudgeReport:
    """Report on a judge against a human, item by item.

    Parameters
    ----------
    human, judge : iterable of label, length n_items
        Labels item by item; None = no label, no verdict. Items with a verdict only enter the
        judge's rate, the corrected and the prediction-powered rate.
    categories : iterable of label, optional
        All categories of the schema, in order; without it those in use.
    positive : label, optional
        The category whose rate is of interest (for instance "spurious").
    weights
        Weights of kappa, as in `cohen_kappa`.
    clusters : iterable of hashable, length n_items, optional
        The question of each item; None = items are independent.
    inclusion : iterable of float, length n_items, optional
        The probability with which each labelled item was drawn for labelling.
    strata : iterable of hashable, length n_items, optional
        The stratum each labelled item was drawn from.
    parse_failures : (int, int), optional
        Replies without a verdict, and all replies.
    stability, drift, steps, alt_test : optional
        Results of the functions of these names, where measured.
    rules : VerdictRules, optional
        Thresholds of the verdict.
    replicates : int
        Bootstrap replicates.
    seed : int
        Seed of every bootstrap.
    level : float
        Confidence level of every interval.

    Returns
    -------
    JudgeReport

    Raises
    ------
    ValueError
        As the functions whose results it holds.

    Examples
    --------
    >>> human = ["bad"] * 40 + ["ok"] * 80 + [None] * 100
    >>> judge = ["bad"] * 36 + ["ok"] * 84 + ["bad"] * 30 + ["ok"] * 70
    >>> r = judge_report(human, judge, positive="bad", replicates=200)
    >>> r.rates.errors.sensitivity.value, round(r.rates.corrected.value, 3)
    (0.9, 0.333)
    >>> [(u.use, u.allowed) for u in r.verdict.uses]
    [('ranking items', True), ('estimating a rate, corrected', True), ('replacing a human', None)]
    """
    first, second = plain_list(human), plain_list(judge)
    declared = None if categories is None else tuple(categories)
    groups: list[Hashable] = list(range(len(first)) if clusters is None else clusters)
    table = confusion_table(first, second, declared)
    names = declared or table.categories or None
    both = [(h, j) for h, j in zip(first, second, strict=True) if h is not None and j is not None]
    rates = None
    if positive is not None:
        chances = None if inclusion is None else list(inclusion)
        places = None if strata is None else list(strata)
        how = {"replicates": replicates, "seed": seed, "level": level}
        rates = _rates(first, second, positive, table, groups, chances, places, how)
    failures = None if parse_failures is None else wilson(*parse_failures, level=level)
    return JudgeReport(
        table=table,
        kappa=kappa_from_table(table, weights, level=level),
        clustered=kappa_bootstrap(
            first,
            second,
            groups,
            categories=declared,
            weights=weights,
            replicates=replicates,
            seed=seed,
            level=level,
        ),
        ac1=gwet_ac1([[h for h, _ in both], [j for _, j in both]], categories=names, level=level),
        summary=agreement_summary(table),
        categories=category_scores(table, level=level),
        rates=rates,
        parse_failures=failures,
        stability=stability,
        drift=drift,
        steps=steps,
        alt_test=alt_test,
        n_unlabelled=sum(j is not None and h is None for h, j in zip(first, second, strict=True)),
        verdict=judge_verdict(
            errors=rates.errors if rates else None,
            clustered=rates.clustered if rates else None,
            corrected=rates.corrected if rates else None,
            corrected_bootstrap=rates.bootstrap if rates else None,
            alt_test=alt_test,
            stability=stability,
            parse_failures=failures,
            rules=rules,
        ),
    )


def _rates(
    human: list[Any],
    judge: list[Any],
    positive: Category,
    table: ConfusionTable,
    groups: list[Hashable],
    inclusion: list[float | None] | None,
    strata: list[Hashable] | None,
    how: dict[str, Any],
) -> JudgeRates:
    """Everything about the positive category."""
    level = how["level"]
    chances: list[float | None] = [1.0] * len(human) if inclusion is None else inclusion
    clustered = design_error_rates(
        human, judge, chances, positive=positive, clusters=groups, strata=strata, **how
    )
    bootstrap = corrected_rate_clustered(
        human, judge, positive=positive, clusters=groups, inclusion=inclusion, **how
    )
    verdicts = [j for j in judge if j is not None]
    found = wilson(sum(j == positive for j in verdicts), len(verdicts), level=level)
    labelled = [h for h, j in zip(human, judge, strict=True) if h is not None and j is not None]
    n1, n0 = bootstrap.n_positive, bootstrap.n_negative
    if inclusion is not None:
        n1, n0 = int(clustered.sensitivity.effective_n), int(clustered.specificity.effective_n)
    corrected = None
    if found.value is not None:
        corrected = corrected_rate(
            found.value,
            found.n,
            sensitivity=bootstrap.sensitivity,
            n_positive=n1,
            specificity=bootstrap.specificity,
            n_negative=n0,
            level=level,
        )
    return JudgeRates(
        human=wilson(sum(h == positive for h in labelled), len(labelled), level=level),
        judge=found,
        errors=error_rates(table, positive, level=level),
        clustered=clustered,
        corrected=corrected,
        bootstrap=bootstrap,
        powered=prediction_powered_rate(
            human,
            judge,
            positive=positive,
            clusters=None if len(set(groups)) == len(groups) else groups,
            inclusion=inclusion,
            level=level,
        ),
    )
