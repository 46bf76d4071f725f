"""Agreement of two raters criterion by criterion: of decompositions, or of several categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pipeline.laying import Laid, Readings, lay
from scoring.agreement import (
    ConfusionTable,
    Kappa,
    KappaBootstrap,
    cohen_kappa,
    confusion_table,
    kappa_bootstrap,
)
from store.keys import CRITERIA, TraceItemKey
from store.label_records import JOINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from store import Store

CRITERION = "criterion"
"""The kind of item whose labels are told apart by criterion."""

YES_NO = ("yes", "no")
"""Whether one of several categories holds."""


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """Two raters on one criterion.

    `kappa.n` items were labelled by both, `kappa.dropped` by one only or without a category;
    `states` counts the latter, per rater, by why. `clustered` is drawn over questions.
    """

    criterion: str
    table: ConfusionTable
    kappa: Kappa
    clustered: KappaBootstrap
    n_questions: int
    states: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class CriteriaReport:
    """Two raters on every criterion, in the order of `store.keys.CRITERIA`.

    The criteria of one trace are asked together and a trace that is badly decomposed fails several,
    so that their items are no independent ones: κ over all of them pools three questions.
    `decompositions` are those whose criteria are counted.
    """

    raters: tuple[str, str]
    criteria: tuple[CriterionAgreement, ...]
    decompositions: tuple[str, ...]


def criteria_report(
    store: Store,
    a: str,
    b: str,
    schema: str = "decomposition",
    *,
    unsealed: bool = False,
    weights: Any = None,
    readings: Readings | None = None,
) -> CriteriaReport | None:
    """Compare two raters criterion by criterion; None under a schema without any.

    Where several categories may hold, each is a criterion: it holds (yes) or not (no).

    What counts is what counts in `agreement.pair_report`, whose table is the sum of these.

    Raises
    ------
    ValueError
        When there is no such rater or schema.
    """
    found = store.schema(schema)
    if found.item_kind != CRITERION and not found.multi:
        return None
    laid = lay(store, schema, [a, b], unsealed=unsealed, readings=readings)
    if found.item_kind != CRITERION:
        each = tuple(_of_category(laid, name) for name in found.names)
        return CriteriaReport((a, b), each, ())
    keys = [TraceItemKey.parse(place.item) for place in laid.places]
    return CriteriaReport(
        (a, b),
        tuple(
            _of_criterion(_part(laid, [key.criterion == name for key in keys]), name, weights)
            for name in CRITERIA
        ),
        tuple(sorted({key.decomposition for key in keys if key.decomposition is not None})),
    )


def _of_category(laid: Laid, name: str) -> CriterionAgreement:
    """Compare two raters on whether one of several categories holds."""
    a, b = (r.name for r in laid.raters)
    first, second = (
        [None if said is None else _holds(said, name) for said in laid.categories(rater)]
        for rater in (a, b)
    )
    both = {
        question
        for question, x, y in zip(laid.questions, first, second, strict=True)
        if x is not None and y is not None
    }
    return CriterionAgreement(
        name,
        confusion_table(first, second, categories=YES_NO),
        cohen_kappa(first, second, categories=YES_NO),
        kappa_bootstrap(first, second, laid.questions, categories=YES_NO),
        len(both),
        {rater: laid.states(rater) for rater in (a, b)},
    )


def _holds(said: str, name: str) -> str:
    return YES_NO[0] if name in said.split(JOINT) else YES_NO[1]


def _part(laid: Laid, kept: list[bool]) -> Laid:
    """Return what is laid of some of the items."""
    places = tuple(p for p, here in zip(laid.places, kept, strict=True) if here)
    labels = {
        name: tuple(x for x, here in zip(said, kept, strict=True) if here)
        for name, said in laid.labels.items()
    }
    return replace(laid, places=places, labels=labels)


def _of_criterion(laid: Laid, criterion: str, weights: Any) -> CriterionAgreement:
    a, b = (r.name for r in laid.raters)
    first, second = laid.categories(a), laid.categories(b)
    both = [
        question
        for question, x, y in zip(laid.questions, first, second, strict=True)
        if x is not None and y is not None
    ]
    return CriterionAgreement(
        criterion,
        confusion_table(first, second, categories=laid.names),
        cohen_kappa(first, second, categories=laid.names, weights=weights),
        kappa_bootstrap(first, second, laid.questions, categories=laid.names, weights=weights),
        len(set(both)),
        {name: laid.states(name) for name in (a, b)},
    )
