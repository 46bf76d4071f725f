"""Faithful and spurious wins of SC and GSC where they disagree (paper A, section 5.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scoring.agreement import McNemar, Proportion, Wilcoxon, mcnemar, wilcoxon_signed_rank, wilson


class AuditCase(NamedTuple):
    """One question under one pool, as far as it was labelled.

    Attributes
    ----------
    cell
        Dataset and model, or whatever cases are grouped by.
    disagree
        Whether SC's and GSC's answers differ.
    sc_correct, gsc_correct
        Whether each is right; None without gold.
    sc_faithful, gsc_faithful
        Whether each prediction is faithful; None where the labels do not decide it.
    sc_sound, sc_labelled
        Labelled paths with SC's answer, and how many of them are faithful.
    gsc_sound, gsc_labelled
        The same of paths with GSC's answer.
    """

    cell: Hashable
    disagree: bool
    sc_correct: bool | None
    gsc_correct: bool | None
    sc_faithful: bool | None
    gsc_faithful: bool | None
    sc_sound: int = 0
    sc_labelled: int = 0
    gsc_sound: int = 0
    gsc_labelled: int = 0


@dataclass(frozen=True, slots=True)
class Wins:
    """The questions that one way of answering alone gets right.

    Attributes
    ----------
    n
        Such questions.
    questions
        Faithful ones among those the labels decide, with Wilson's interval.
    n_undecided
        Those the labels do not decide.
    paths
        Faithful paths among the labelled ones with the winning answer; several of one question
        depend on each other, so the interval is too narrow.
    """

    n: int
    questions: Proportion
    n_undecided: int
    paths: Proportion


@dataclass(frozen=True, slots=True)
class AuditCell:
    """One cell of the audit.

    Attributes
    ----------
    cell
        What the cases are grouped by.
    n, n_disagree, n_no_gold, n_neither
        Cases; those where SC and GSC differ; of these, those without gold and those where neither
        is right.
    sc, gsc
        SC-only and GSC-only wins.
    difference
        GSC's share of faithful wins less SC's; None unless both have a decided win.
    path_difference
        The same over paths.
    fisher_p
        Two-sided exact p of Fisher's test that faithful wins are as frequent on both sides (the
        wins are different questions); None unless both sides have a decided win.
    accuracy
        McNemar's test on SC-only against GSC-only wins: which is right more often.
    """

    cell: Hashable
    n: int
    n_disagree: int
    n_no_gold: int
    n_neither: int
    sc: Wins
    gsc: Wins
    difference: float | None
    path_difference: float | None
    fisher_p: float | None
    accuracy: McNemar


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """All cells, and the tests over them.

    Attributes
    ----------
    cells
        In the order given.
    total
        All cases as one cell.
    higher, tied, lower
        Of the cells with decided wins on both sides, those where GSC's faithful share is higher,
        equal, lower.
    wilcoxon
        Signed-rank test of these differences; None with fewer than two such cells.
    path_higher, path_tied, path_lower, path_wilcoxon
        The same over paths.
    """

    cells: tuple[AuditCell, ...]
    total: AuditCell
    higher: int
    tied: int
    lower: int
    wilcoxon: Wilcoxon | None
    path_higher: int
    path_tied: int
    path_lower: int
    path_wilcoxon: Wilcoxon | None


def audit_summary(cases: Iterable[AuditCase]) -> AuditSummary:
    """Compare the wins of SC alone with those of GSC alone: how many rest on sound reasoning.

    Parameters
    ----------
    cases : iterable of AuditCase
        One per question and pool.

    Returns
    -------
    AuditSummary

    Notes
    -----
    A win is a question that exactly one of the two answers rightly. Within a cell the wins of the
    two sides are different questions, hence Fisher's exact test; whether one side is right more
    often on the same questions is McNemar's. Over cells, the differences of the shares are tested
    by Wilcoxon's signed ranks. With few labels none of them can reject: p is no measure of how
    alike the two are.

    Examples
    --------
    >>> cases = [AuditCase("a", True, True, False, i < 2, None) for i in range(8)]
    >>> cases += [AuditCase("a", True, False, True, None, i < 5) for i in range(6)]
    >>> cell = audit_summary(cases).cells[0]
    >>> (cell.sc.questions.k, cell.sc.n), (cell.gsc.questions.k, cell.gsc.n)
    ((2, 8), (5, 6))
    >>> round(cell.difference, 3), round(cell.fisher_p, 4)
    (0.583, 0.1026)
    """
    rows = list(cases)
    groups: dict[Hashable, list[AuditCase]] = {}
    for row in rows:
        groups.setdefault(row.cell, []).append(row)
    cells = tuple(_cell(name, group) for name, group in groups.items())
    by_question = [c.difference for c in cells if c.difference is not None]
    by_path = [c.path_difference for c in cells if c.path_difference is not None]
    return AuditSummary(
        cells,
        _cell("all", rows),
        *_signs(by_question),
        _signed_ranks(by_question),
        *_signs(by_path),
        _signed_ranks(by_path),
    )


def _signs(differences: list[float]) -> tuple[int, int, int]:
    return (
        sum(d > 0 for d in differences),
        sum(d == 0 for d in differences),
        sum(d < 0 for d in differences),
    )


def _signed_ranks(differences: list[float]) -> Wilcoxon | None:
    return wilcoxon_signed_rank(differences) if len(differences) > 1 else None


def _cell(name: Hashable, rows: list[AuditCase]) -> AuditCell:
    apart = [r for r in rows if r.disagree]
    known = [r for r in apart if r.sc_correct is not None and r.gsc_correct is not None]
    sc_rows = [r for r in known if r.sc_correct and not r.gsc_correct]
    gsc_rows = [r for r in known if r.gsc_correct and not r.sc_correct]
    sc = _wins(
        [r.sc_faithful for r in sc_rows],
        sum(r.sc_sound for r in sc_rows),
        sum(r.sc_labelled for r in sc_rows),
    )
    gsc = _wins(
        [r.gsc_faithful for r in gsc_rows],
        sum(r.gsc_sound for r in gsc_rows),
        sum(r.gsc_labelled for r in gsc_rows),
    )
    return AuditCell(
        cell=name,
        n=len(rows),
        n_disagree=len(apart),
        n_no_gold=len(apart) - len(known),
        n_neither=len(known) - len(sc_rows) - len(gsc_rows),
        sc=sc,
        gsc=gsc,
        difference=_less(gsc.questions, sc.questions),
        path_difference=_less(gsc.paths, sc.paths),
        fisher_p=_fisher(sc.questions, gsc.questions),
        accuracy=mcnemar(len(sc_rows), len(gsc_rows)),
    )


def _wins(faithful: list[bool | None], sound: int, labelled: int) -> Wins:
    decided = [f for f in faithful if f is not None]
    return Wins(
        n=len(faithful),
        questions=wilson(sum(decided), len(decided)),
        n_undecided=len(faithful) - len(decided),
        paths=wilson(sound, labelled),
    )


def _less(first: Proportion, second: Proportion) -> float | None:
    if first.value is None or second.value is None:
        return None
    return first.value - second.value


def _fisher(first: Proportion, second: Proportion) -> float | None:
    if not first.n or not second.n:
        return None
    from scipy.stats import fisher_exact

    table = np.array([[first.k, first.n - first.k], [second.k, second.n - second.k]])
    return float(fisher_exact(table).pvalue)
