"""Cohen's kappa: published figures, closed forms, other libraries, undefined cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from scoring.agreement import Kappa, cohen_kappa, confusion_table, kappa_from_table, weight_matrix

SAS = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
DIAGNOSES = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
DIAGNOSIS_WEIGHTS = [[1, 0, 0.4444], [0, 1, 0.6667], [0.4444, 0.6667, 1]]


def close(kappa: Kappa, value: float, se: float, se0: float, tol: float) -> bool:
    assert kappa.value is not None
    assert kappa.se is not None
    assert kappa.se0 is not None
    got = (kappa.value, kappa.se, kappa.se0)
    return all(abs(g - w) <= tol for g, w in zip(got, (value, se, se0), strict=True))


def test_sas_example_unweighted() -> None:
    """SAS output recorded in statsmodels' test_inter_rater.py."""
    k = kappa_from_table(SAS)
    assert close(k, 0.4842, 0.1380, 0.1484, 5e-5)
    assert k.ci == pytest.approx((0.2137, 0.7547), abs=5e-5)
    assert k.z == pytest.approx(3.2626, abs=5e-5)
    assert (k.n, k.dropped, k.why_undefined) == (19, 0, None)
    assert k.observed == pytest.approx(13 / 19)
    assert k.expected == pytest.approx((5 * 0 + 8 * 13 + 6 * 6) / 19**2)


def test_sas_example_linear() -> None:
    """SAS output recorded in statsmodels' test_inter_rater.py."""
    k = kappa_from_table(SAS, "linear")
    assert close(k, 0.4701, 0.1457, 0.1426, 5e-5)
    assert k.ci == pytest.approx((0.1845, 0.7558), abs=5e-5)
    assert k.z == pytest.approx(3.2971, abs=5e-5)


def test_fleiss_cohen_everitt_diagnoses() -> None:
    """Data of Fleiss, Cohen and Everitt (1969) as given in the documentation of R's psych."""
    assert close(kappa_from_table(DIAGNOSES), 0.42857, 0.05371, 0.05551, 5e-6)
    weighted = kappa_from_table(DIAGNOSES, DIAGNOSIS_WEIGHTS)
    assert close(weighted, 0.50707, 0.05699, 0.06534, 5e-6)


def test_irrcac_abstractors() -> None:
    """The cont3x3abstractors table and figures of irrCAC's README."""
    k = kappa_from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    assert k.value == pytest.approx(0.7964094, abs=5e-8)
    assert k.se == pytest.approx(0.05891072, abs=5e-9)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[30, 10], [2, 78]], 0.763),  # llm-judge-agreement's example
        ([[40, 9], [6, 45]], 0.6995),  # Feinstein and Cicchetti (1990)
        ([[80, 10], [5, 5]], 0.3182),
    ],
)
def test_two_by_two(table: list[list[int]], value: float) -> None:
    assert kappa_from_table(table).value == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        # a faithfulness classifier against an LLM judge: both faithful, only the classifier,
        # only the judge, neither; kappa as published, to four decimals
        ([[1095, 883], [2, 54]], 0.0599),
        ([[179, 267], [52, 152]], 0.1139),
        ([[773, 151], [297, 310]], 0.3622),
    ],
)
def test_published_faithfulness_counts(table: list[list[int]], value: float) -> None:
    assert kappa_from_table(table).value == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        # PandaLM's humans 1-2, 1-3 and 2-3 on 999 items: tie, first better, second better
        ([[89, 0, 8], [16, 388, 23], [11, 29, 435]], 0.852),
        ([[89, 2, 6], [15, 391, 21], [9, 18, 448]], 0.879),
        ([[97, 13, 6], [10, 379, 28], [6, 19, 441]], 0.862),
    ],
)
def test_pandalm_humans(table: list[list[int]], value: float) -> None:
    assert kappa_from_table(table).value == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("table", [SAS, DIAGNOSES, [[3, 1, 2], [0, 0, 4], [5, 0, 1]]])
def test_equals_statsmodels(table: list[list[int]], weights: str | None) -> None:
    ours = kappa_from_table(table, weights)
    # statsmodels takes disagreements by distance of the categories
    by_distance = {"linear": [0, 1, 2], "quadratic": [0, 1, 4]}
    theirs = (
        cohens_kappa(table, wt="toeplitz", weights=np.array(by_distance[weights]))
        if weights
        else cohens_kappa(table)
    )
    assert close(ours, theirs.kappa, theirs.std_kappa, theirs.std_kappa0, 1e-10)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_equals_scikit_learn_on_labels(weights: str | None) -> None:
    a = [1, 2, 3, 3, 1, 2, 5, 5, 1, 3, 2, 1]
    b = [1, 3, 3, 2, 1, 2, 5, 3, 2, 3, 1, 1]
    scale = [1, 2, 3, 4, 5]
    ours = cohen_kappa(a, b, categories=scale, weights=weights).value
    assert ours == pytest.approx(cohen_kappa_score(a, b, labels=scale, weights=weights), abs=1e-12)


def test_unused_declared_categories_count_for_weights() -> None:
    a, b = [1, 1, 2, 3], [1, 2, 2, 3]
    # one disagreement by one rank; Σ n_i· n_·j |i - j| with margins (2, 1, 1) and (1, 2, 1) is
    # 2·2·1 + 2·1·2 + 1·1·1 + 1·1·1 + 1·1·2 + 1·2·1 = 14
    dense = cohen_kappa(a, b, categories=[1, 2, 3], weights="linear").value
    assert dense == pytest.approx(1 - 4 / 14)
    # a category nobody used between 2 and 3 doubles that step: 4 + 2·3 + 1 + 2 + 3 + 2·2 = 20
    gap = cohen_kappa(a, b, categories=[1, 2, 2.5, 3], weights="linear").value
    assert gap == pytest.approx(1 - 4 / 20)


def test_weight_matrices() -> None:
    assert weight_matrix(None, 2).tolist() == [[1, 0], [0, 1]]
    assert weight_matrix("linear", 3).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    assert weight_matrix("quadratic", 1).tolist() == [[1]]


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_one_category_by_both_raters_is_undefined(weights: str | None) -> None:
    k = kappa_from_table([[10, 0], [0, 0]], weights)
    assert (k.value, k.se, k.se0, k.ci, k.z) == (None, None, None, None, None)
    assert (k.observed, k.expected, k.n) == (1.0, 1.0, 10)
    assert k.why_undefined == (
        "both raters used one category only, so chance alone gives full agreement"
    )


def test_one_category_by_one_rater_is_zero_not_an_error() -> None:
    k = kappa_from_table([[9, 1], [0, 0]])
    assert (k.value, k.se, k.se0, k.why_undefined) == (0.0, 0.0, 0.0, None)
    assert (k.ci, k.z) == (None, None)


def test_no_pair_is_undefined() -> None:
    k = cohen_kappa(["x", None], [None, "y"])
    assert (k.value, k.n, k.dropped) == (None, 0, 2)
    assert (k.observed, k.expected) == (None, None)
    assert k.why_undefined == "no item has a label from both raters"


def test_weights_that_see_no_disagreement_are_undefined() -> None:
    k = kappa_from_table([[3, 2], [1, 4]], [[1, 1], [1, 1]])
    assert k.value is None
    assert k.why_undefined == "the weights count every pair of used categories as full agreement"


def test_full_agreement_has_no_interval() -> None:
    k = kappa_from_table([[5, 0], [0, 5]])
    assert (k.value, k.se, k.ci) == (1.0, 0.0, None)
    assert k.z == pytest.approx(10**0.5)


def test_interval_is_cut_to_the_range_and_follows_the_level() -> None:
    table = [[9, 0], [1, 2]]
    k = kappa_from_table(table)
    assert k.value is not None
    assert k.se is not None
    assert k.value + 1.96 * k.se > 1
    assert k.ci == pytest.approx((k.value - 1.959964 * k.se, 1.0), abs=1e-6)
    half = kappa_from_table(table, level=0.5)
    assert half.ci is not None
    assert half.ci[0] == pytest.approx(k.value - 0.6744898 * k.se, abs=1e-6)
    assert half.level == 0.5


def test_labels_and_table_agree_and_dropped_is_carried() -> None:
    a = ["y", "y", "n", None, "n", "y"]
    b = ["y", "n", "n", "y", "n", "y"]
    from_labels = cohen_kappa(a, b)
    assert from_labels == kappa_from_table(confusion_table(a, b))
    assert (from_labels.n, from_labels.dropped) == (5, 1)
    # n, y: [[2, 0], [1, 2]]; po = 4/5, pe = (2·3 + 3·2)/25
    assert from_labels.value == pytest.approx(8 / 13)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_ordered_weights_need_declared_categories(weights: str) -> None:
    with pytest.raises(ValueError, match=f"'{weights}' weights need categories"):
        cohen_kappa([1, 2], [1, 2], weights=weights)


def test_matrix_follows_numbers_but_needs_categories_for_text() -> None:
    w = [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    a, b = [1, 2, 10, 10], [1, 10, 10, 2]
    by_rank = cohen_kappa(a, b, categories=[1, 2, 10], weights="linear")
    assert cohen_kappa(a, b, weights=w) == by_rank
    with pytest.raises(ValueError, match="matrix needs categories"):
        cohen_kappa(["lo", "mid", "hi"], ["lo", "hi", "hi"], weights=w)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cubic", "'cubic' are not known"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], r"shape \(3, 3\) for 2 categories"),
        ([[1, 0], [0, 0.9]], r"weights\[1\]\[1\] is 0.9, on the diagonal"),
        ([[1, 0.5], [0.4, 1]], r"weights\[0\]\[1\] is 0.5, but its mirror image differs"),
        ([[1, 2], [2, 1]], r"weights\[0\]\[1\] is 2.0, outside 0..1"),
        ([[1, float("nan")], [float("nan"), 1]], "is nan, outside 0..1"),
    ],
)
def test_weights_are_checked(weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kappa_from_table([[3, 1], [1, 3]], weights)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], r"shape \(2, 3\)"),
        ([1, 2], "must be a matrix of counts"),
        ([[1, -1], [0, 2]], r"table\[0\]\[1\] is -1"),
        ([[1, 0.5], [0, 2]], r"table\[0\]\[1\] is 0.5"),
        ([[1, float("nan")], [0, 2]], r"table\[0\]\[1\] is nan"),
        ([["a", "b"], ["c", "d"]], "must be a matrix of counts"),
    ],
)
def test_tables_are_checked(table: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kappa_from_table(table)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [0, 1, 95, -0.5])
def test_level_is_checked(level: float) -> None:
    with pytest.raises(ValueError, match="a confidence level lies between 0 and 1"):
        kappa_from_table([[3, 1], [1, 3]], level=level)
