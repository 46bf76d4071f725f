"""The audit of wins: counted by hand, with scipy's tests, undefined where nothing is decided."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import fisher_exact, wilcoxon

from scoring.faithfulness.audit import AuditCase, audit_summary


def wins(cell: str, side: str, faithful: int, spurious: int, open_: int = 0) -> list[AuditCase]:
    """Return questions that one side alone gets right."""
    sc = side == "sc"
    labels = [True] * faithful + [False] * spurious + [None] * open_
    return [
        AuditCase(
            cell,
            True,
            sc,
            not sc,
            label if sc else None,
            None if sc else label,
            sc_sound=int(label is True) if sc else 0,
            sc_labelled=int(label is not None) if sc else 0,
            gsc_sound=0 if sc else int(label is True),
            gsc_labelled=0 if sc else int(label is not None),
        )
        for label in labels
    ]


def test_wins_are_counted_by_who_alone_is_right() -> None:
    rest = [
        AuditCase("a", True, True, True, True, True),
        AuditCase("a", True, False, False, None, None),
        AuditCase("a", True, None, True, None, True),
        AuditCase("a", False, True, True, True, True),
    ]
    summary = audit_summary([*wins("a", "sc", 2, 5, 1), *wins("a", "gsc", 6, 1), *rest])
    (cell,) = summary.cells
    assert (cell.n, cell.n_disagree, cell.n_no_gold, cell.n_neither) == (19, 18, 1, 2)
    assert (cell.sc.n, cell.sc.questions.k, cell.sc.questions.n, cell.sc.n_undecided) == (
        8,
        2,
        7,
        1,
    )
    assert (cell.gsc.n, cell.gsc.questions.k, cell.gsc.questions.n) == (7, 6, 7)
    assert cell.difference == pytest.approx(6 / 7 - 2 / 7)
    assert cell.fisher_p == pytest.approx(fisher_exact(np.array([[2, 5], [6, 1]])).pvalue)
    # 8 against 7 questions: P(min ≤ 7 of 15) doubled is 1.
    assert cell.accuracy.exact_p == 1.0
    assert cell.sc.questions.ci == pytest.approx((0.0822, 0.6411), abs=5e-5)


def test_cells_are_compared_by_signed_ranks() -> None:
    shares = [(1, 4, 3, 2), (2, 3, 2, 3), (0, 5, 4, 1), (4, 1, 3, 2), (1, 4, 5, 0)]
    rows = []
    for n, (a, b, c, d) in enumerate(shares):
        rows += [*wins(str(n), "sc", a, b), *wins(str(n), "gsc", c, d)]
    summary = audit_summary([*rows, *wins("one-sided", "sc", 1, 1)])
    assert (summary.higher, summary.tied, summary.lower) == (3, 1, 1)
    assert summary.wilcoxon is not None
    expected = wilcoxon([0.4, 0.8, -0.2, 0.8], method="exact")
    assert summary.wilcoxon.statistic == pytest.approx(expected.statistic)
    assert (summary.path_higher, summary.path_tied, summary.path_lower) == (3, 1, 1)
    assert summary.total.sc.n == 27
    assert summary.cells[-1].difference is None
    assert summary.cells[-1].fisher_p is None


def test_nothing_decided_is_undefined() -> None:
    summary = audit_summary(wins("a", "sc", 0, 0, 3))
    (cell,) = summary.cells
    assert (cell.sc.n, cell.sc.questions.value, cell.difference) == (3, None, None)
    assert summary.wilcoxon is None
    empty = audit_summary([])
    assert (empty.cells, empty.total.n, empty.total.accuracy.why_undefined is not None) == (
        (),
        0,
        True,
    )
