"""Agreement laid out in lines: the matrix, one pair, disagreements, the audit."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from pipeline.agreement import Matrix, PairReport
from pipeline.audit import AuditReport
from pipeline.disagreements import Disagreement
from pipeline.figures import MoreLabels
from scoring.agreement import (
    DesignEstimate,
    FlipRates,
    JudgeVerdict,
    McNemar,
    Proportion,
    TimeSummary,
    Wilcoxon,
)
from scoring.faithfulness.audit import AuditCell, Wins
from store.records import RaterRecord, Verdict
from tui import wording
from tui.charts import interval_bar
from tui.text import cut, cut_middle, fit, hang, safe
from tui.widgets.lines import Row

NAME = 10
SCALE = 24
"""Cells of a drawn interval."""
ANSWERS = {True: "yes", False: "no", None: "not shown"}


def _ci(ci: tuple[float, float] | None) -> str:
    if ci is None:
        return wording.NONE
    dash = " to " if ci[0] < 0 else "–"  # a dash before a minus would read as two
    return f"{wording.share(ci[0])}{dash}{wording.share(ci[1])}"


def _p(p: float | None) -> str:
    if p is None:
        return wording.NONE
    return "p < .001" if p < 0.001 else f"p {f'{p:.3f}'.replace('0.', '.', 1)}"


def pairs_of(matrix: Matrix) -> list[tuple[int, int]]:
    """Return the pairs in the order of their list: people with judges first."""
    kinds = [r.kind == "judge" for r in matrix.raters]
    return sorted(matrix.kappas, key=lambda p: (kinds[p[0]] == kinds[p[1]], p))


# -- the matrix


def pair_heads(width: int) -> list[Row]:
    """Return the line above the pairs."""
    right = Content("      n     κ   95 %        ") + Content("0".ljust(SCALE - 1) + "1 ")
    return [Row(fit(Content("  raters"), max(width - len(right.plain), 8)) + right)]


def pair_rows(matrix: Matrix, width: int) -> list[Row]:
    """Lay out a line per pair, its interval drawn."""
    tail = 6 + 7 + 14 + SCALE + 1
    room = max(width - tail, 8)
    out = []
    for at, (i, j) in enumerate(pairs_of(matrix)):
        k = matrix.kappas[i, j]
        name = Content("  ") + _rater(matrix.raters[i]) + Content(" · ") + _rater(matrix.raters[j])
        drawn = interval_bar(k.value, k.ci, SCALE, low=0.0, high=1.0)
        figures = f"{k.n:>6}{wording.share(k.value):>7}  {_ci(k.ci):<12}{drawn} "
        out.append(Row(fit(cut_middle(name, room - 1), room) + Content(figures), at, True))
    return out


def _rater(rater: RaterRecord) -> Content:
    return safe(rater.name) + Content(
        {"human": "", "judge": " (judge)", "reference": " (reference)"}[rater.kind]
    )


def matrix_lines(matrix: Matrix, at: int | None, width: int) -> list[Row]:
    """Lay out κ and n of all raters; the pair under the cursor stands in brackets."""
    pairs = pairs_of(matrix)
    chosen = pairs[at] if at is not None and at < len(pairs) else None
    names = matrix.raters
    columns = max((width - NAME - 4) // 12, 1)
    out = [Content("")]
    if len(names) > 2:
        heads = "".join(f"{n + 1:>12}" for n in range(min(len(names), columns)))
        out.append(Content(" " * (NAME + 4) + heads))
        for i, rater in enumerate(names):
            cells = [_cell(matrix, i, j, chosen) for j in range(min(len(names), columns))]
            out.append(
                fit(Content(f" {i + 1:>2} ") + safe(rater.name), NAME + 4)
                + Content("".join(c.rjust(12) for c in cells))
            )
        if len(names) > columns:
            n = len(names) - columns
            out.append(Content(f" {wording.count(n, 'rater')} more on a wider terminal"))
    s = matrix.several
    if s is not None:
        told = (
            f"α {wording.share(s.alpha.value)} [{_ci(s.alpha.ci)}], Fleiss' κ "
            f"{wording.share(s.fleiss.value)}, AC1 {wording.share(s.ac1.value)}; "
            f"{wording.count(s.n_rated, 'item')} with two labels"
        )
        out += hang(Content(" all raters: "), Content(told), width)
    for name, n in matrix.held.items():
        text = Content(f"{wording.count(n, 'label')} of ") + safe(name)
        text += Content(" left out: sealed until their question is revealed, or all are labelled")
        out += hang(Content(" "), text, width)
    if len(names) > 2:
        out.append(Content(" κ (n); the pair under the cursor in brackets"))
    return [Row(line) for line in out]


def _cell(matrix: Matrix, i: int, j: int, chosen: tuple[int, int] | None) -> str:
    if i == j:
        return "·"
    key = (min(i, j), max(i, j))
    k = matrix.kappas[key]
    text = f"{wording.share(k.value)} ({k.n})"
    return f"[{text}]" if key == chosen else text


# -- one pair


def pair_lines(report: PairReport, verdict: JudgeVerdict | None, width: int) -> list[Row]:
    """Lay out one pair: the table with its figures, then what explains them."""
    width = min(width, 100)
    out = [*_table(report, width), Content("")]
    out += _figures(report)
    if report.kappa.value is None:
        out += hang(Content(" κ is undefined: "), safe(report.kappa.why_undefined or ""), width)
    if report.paradox is not None:
        out += [Content(""), *hang(Content(" △ "), safe(report.paradox), width)]
    out.append(Content(""))
    for text in _notes(report):
        out += hang(Content(" "), text, width)
    if verdict is not None:
        out += [Content(""), *_verdict(verdict, width)]
    return [Row(line) for line in out]


def _table(report: PairReport, width: int) -> list[Content]:
    a, b = (safe(name) for name in report.raters)
    names = [safe(str(c)) for c in report.table.categories]
    wide = max(min(max((len(n.plain) for n in names), default=4), 14), 4)
    first = max(min(len(a.plain), 14), 6)
    cells = [fit(cut(n, wide), wide + 2, right=True) for n in names]
    shown = max((width - first - wide - 4) // (wide + 2), 1)
    head = fit(Content(" " * (first + wide + 3)) + cut(b, width - first - wide - 4), width)
    out = [head, Content(" " * (first + wide + 2)) + Content("").join(cells[:shown])]
    for i, (name, row) in enumerate(zip(names, report.table.table, strict=True)):
        left = fit(cut(a, first), first) if i == 0 else Content(" " * first)
        counts = Content("").join(
            fit(Content(str(int(n))), wide + 2, right=True) for n in row[:shown]
        )
        out.append(Content(" ") + left + Content(" ") + fit(cut(name, wide), wide) + counts)
    if len(names) > shown:
        out.append(Content(f" {len(names) - shown} more columns on a wider terminal"))
    return out


def _drawn(name: str, value: float | None, ci: tuple[float, float] | None, more: str) -> Content:
    bar = interval_bar(value, ci, SCALE, low=0.0, high=1.0)
    return Content(f" {name:<11}{wording.share(value):>5}  {bar}  {_ci(ci):<12} {more}".rstrip())


def _figures(report: PairReport) -> list[Content]:
    k, s = report.kappa, report.summary
    out = [Content(" " * 19 + "0".ljust(SCALE - 1) + "1  95 %")]
    out.append(_drawn("κ", k.value, k.ci, f"by item, n {k.n:,}"))
    boot = report.clustered
    if k.value is not None:
        why = f"by question, n {report.n_questions:,}" if boot.ci else (boot.why_no_interval or "")
        out.append(_drawn("", boot.value, boot.ci, why))
    d: DesignEstimate | None = report.design
    if d is not None and d.value is not None:
        out.append(_drawn("κ weighted", d.value, d.ci, f"worth {d.effective_n:.0f} labels"))
    out.append(_drawn("AC1", report.ac1.value, report.ac1.ci, ""))
    out.append(_drawn("PABAK", s.pabak, None, f"agree on {wording.share(s.observed)} of all"))
    if s.prevalence_index is not None:
        out.append(
            Content(
                f" prevalence index {wording.share(s.prevalence_index)}   bias index "
                f"{wording.share(s.bias_index)}{_bias(report)}"
            )
        )
    return out


def _bias(report: PairReport) -> str:
    test = report.marginal
    if not isinstance(test, McNemar) or test.why_undefined is not None:
        return ""
    return f" (McNemar {_p(test.exact_p)})"


def _notes(report: PairReport) -> list[Content]:
    out = []
    if report.n_held:
        n = wording.count(report.n_held, "label")
        out.append(
            Content(f"{n} left out: sealed until their question is revealed, or all are labelled")
        )
    for name, states in report.states.items():
        if states:
            said = ", ".join(f"{n:,} {state}" for state, n in states.items())
            out.append(Content("without a category, ") + safe(name) + Content(f": {said}"))
    if report.why_unweighted is not None:
        out.append(Content(f"not weighted by inclusion: {report.why_unweighted}"))
    for d in report.never:
        place = safe(f"{d.dataset} · {d.pool}")
        out.append(Content(f"never sampled: the {d.n:,} {d.name} questions of ") + place)
    for name, flips in report.flips.items():
        out += _flips(name, flips)
    for name, times in report.times.items():
        out += _times(name, times)
    if isinstance(report.plan, MoreLabels):
        out.append(_plan(report.plan))
    for judge in report.judges:
        if judge.unparsed:
            share = wording.percent(judge.unparsed, judge.n)
            out.append(safe(judge.rater) + Content(f": {judge.unparsed:,} unparsed ({share})"))
    return out


def _share(found: Proportion) -> str:
    return f"{found.k} of {found.n} [{_ci(found.ci)}]" if found.n else "none of none"


def _flips(name: str, flips: FlipRates) -> list[Content]:
    if not flips.n:
        return []
    text = f" changed after the reveal: to the judge's {_share(flips.toward)}, away from it "
    return [safe(name) + Content(text + _share(flips.away))]


def _times(name: str, times: TimeSummary) -> list[Content]:
    if times.median is None:
        return []
    low, high = times.lower_quartile or 0.0, times.upper_quartile or 0.0
    text = f": {times.median:.0f} s a label (quartiles {low:.0f} and {high:.0f}, {times.n:,} timed)"
    return [safe(name) + Content(text)]


def _plan(plan: MoreLabels) -> Content:
    if plan.more:
        wanted, now = wording.share(plan.half_width), wording.share(plan.half_width_now)
        if now == wanted and plan.half_width_now is not None:
            now = f"{plan.half_width_now:.3f}".removeprefix("0")
        return Content(
            f"for half-width {wanted} you need about {plan.more:,} more labels (now {now})"
        )
    return Content(f"labels enough for half-width {wording.share(plan.half_width)}")


def _verdict(verdict: JudgeVerdict, width: int) -> list[Content]:
    out = [Content.styled(" may this judge be trusted for …", "bold")]
    for use in verdict.uses:
        head = Content(f" {ANSWERS[use.allowed]:<11}")
        out += hang(head, Content(f"{use.use}: ") + safe(use.evidence), width)
    return out


# -- disagreements


def disagreement_heads(raters: Sequence[str], width: int) -> list[Row]:
    """Return the line above the disagreements."""
    right = Content("").join(fit(cut(safe(n), 13), 14) for n in raters) + Content("decided ")
    return [Row(fit(Content("  path"), max(width - 36, 8)) + right)]


def disagreement_row(row: Disagreement, at: int, width: int) -> Content:
    """Lay out one disagreement."""
    room = max(width - 36, 8)
    name = Content("  ") + safe(row.item.partition(":")[2])
    said = Content("").join(
        fit(wording.decision("labelled", category, step), 14)
        for category, step in zip(row.said, row.steps, strict=True)
    )
    decided = row.adjudication
    text = "" if decided is None else (decided.category or decided.state)
    return fit(cut_middle(name, room - 1), room) + said + fit(safe(text), 8)


def said_lines(row: Disagreement, said: Sequence[Verdict], width: int) -> list[Row]:
    """Lay out what everybody says of one path, with their reasons."""
    out: list[Content] = []
    for v in said:
        head = Content(" ") + fit(cut(safe(v.rater), 14), 15)
        text = wording.decision(v.state, v.category, v.first_wrong_step)
        if v.rationale:
            text = text + Content("  ") + safe(f"“{v.rationale}”")
        out += hang(head, cut(text, 3 * max(width - 16, 8)), width)
    decided = row.adjudication
    if decided is not None and decided.adjudicator:
        out += hang(Content(" "), Content("decided by ") + safe(decided.adjudicator), width)
    return [Row(line) for line in out]


# -- the audit


def audit_lines(report: AuditReport, width: int) -> list[Row]:
    """Lay out the wins of SC alone and GSC alone, cell by cell, with the tests."""
    width = min(width, 100)
    s = report.summary
    out = [Content("")]
    heads = f"{'right alone':>13}{'faithful wins':>21}{'':<{12}}{'faithful paths':>20}"
    out.append(Content(" " * 6 + heads))
    for cell in s.cells:
        name = cell.cell if isinstance(cell.cell, tuple) else (str(cell.cell),)
        out += _cell_lines(Content(" ") + safe(" · ".join(map(str, name))), cell, width)
    if len(s.cells) > 1:
        out += _cell_lines(Content(" all together"), s.total, width)
    tests = (
        ("questions", (s.higher, s.tied, s.lower), s.wilcoxon),
        ("paths", (s.path_higher, s.path_tied, s.path_lower), s.path_wilcoxon),
    )
    for what, (up, same, down), test in tests:
        if up + same + down:
            text = f"over {up + same + down} cells with both, by {what}: GSC more faithful in {up},"
            told = Content(f"{text} alike in {same}, less in {down}{_wilcoxon(test)}")
            out += hang(Content(" "), told, width)
    if not s.cells:
        out.append(Content(" no question is open to you with these labels yet"))
    return [Row(line) for line in out]


def _wilcoxon(test: Wilcoxon | None) -> str:
    if test is None:
        return ""
    return f"; Wilcoxon {_p(test.p)}" if test.p is not None else f" ({test.why_undefined})"


def _cell_lines(name: Content, cell: AuditCell, width: int) -> list[Content]:
    tail = f"{wording.count(cell.n_disagree, 'disagreement')} in {cell.n:,}"
    out = [Content(""), cut(name + Content(f"   {tail}"), width)]
    out += [_wins("SC", cell.sc), _wins("GSC", cell.gsc)]
    tests = [f"neither right on {cell.n_neither}"]
    if cell.n_no_gold:
        tests.append(f"{cell.n_no_gold} without gold")
    if cell.fisher_p is not None:
        tests.append(f"equally faithful? Fisher {_p(cell.fisher_p)}")
    if cell.accuracy.why_undefined is None:
        tests.append(f"equally often right? McNemar {_p(cell.accuracy.exact_p)}")
    return [*out, *hang(Content("   "), Content(" · ".join(tests)), width)]


def _wins(name: str, wins: Wins) -> Content:
    open_ = f" {wins.n_undecided} open" if wins.n_undecided else ""
    return Content(
        f"   {name:<4}{wins.n:>8}    {_bar(wins.questions)} {_of(wins.questions):<9}{open_:<8}"
        f"{_bar(wins.paths)} {_of(wins.paths)}"
    )


def _bar(found: Proportion, width: int = 12) -> str:
    """Draw faithful as full cells, spurious as open ones."""
    if found.value is None:
        return " " * width
    full = round(found.value * width)
    return "█" * full + "░" * (width - full)


def _of(found: Proportion) -> str:
    return f"{found.k}/{found.n}" if found.n else wording.NONE
