"""The audit of SC-only against GSC-only wins as text."""

from __future__ import annotations

from pipeline.audit import AuditReport
from scoring.agreement import Wilcoxon
from scoring.faithfulness.audit import AuditCell, Wins
from tui.commands.agreement_lines import number, p_value, share
from tui.commands.common import say


def print_audit(report: AuditReport) -> None:
    """Print the audit."""
    summary = report.summary
    say(f"wins of SC alone and of GSC alone, by the path labels of {report.rater}")
    if report.n_held:
        say(
            f"  {report.n_held} questions left out: sealed until they are revealed, or all paths "
            "are labelled (--unseal counts them, and is logged)"
        )
    for cell in summary.cells:
        dataset, pool = cell.cell if isinstance(cell.cell, tuple) else (cell.cell, "")
        _print_cell(f"{dataset} · {pool}", cell)
    if len(summary.cells) > 1:
        _print_cell("all together", summary.total)
    for what, (up, same, down), test in (
        ("questions", (summary.higher, summary.tied, summary.lower), summary.wilcoxon),
        (
            "paths",
            (summary.path_higher, summary.path_tied, summary.path_lower),
            summary.path_wilcoxon,
        ),
    ):
        if up + same + down:
            say(
                f"over the cells with both, by {what}: GSC more faithful in {up}, alike in {same}, "
                f"less in {down}{_wilcoxon(test)}"
            )


def _wilcoxon(test: Wilcoxon | None) -> str:
    if test is None:
        return ""
    return f"; Wilcoxon {p_value(test.p)}" if test.p is not None else f" ({test.why_undefined})"


def _print_cell(name: str, cell: AuditCell) -> None:
    say(f"{name}: {cell.n} questions, {cell.n_disagree} disagreements")
    if cell.n_no_gold or cell.n_neither:
        say(f"  neither is right on {cell.n_neither}; {cell.n_no_gold} without a gold answer")
    _print_wins("SC only ", cell.sc)
    _print_wins("GSC only", cell.gsc)
    if cell.difference is not None:
        say(
            f"  faithful shares differ by {number(cell.difference)} (GSC less SC), "
            f"Fisher {p_value(cell.fisher_p)}"
        )
    if cell.accuracy.why_undefined is None:
        say(f"  right more often? McNemar exact {p_value(cell.accuracy.exact_p)}")


def _print_wins(name: str, wins: Wins) -> None:
    say(
        f"  {name} right on {wins.n}: faithful {share(wins.questions)}, "
        f"{wins.n_undecided} undecided; paths {share(wins.paths)}"
    )
