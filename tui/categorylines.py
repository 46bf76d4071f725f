"""Agreement on each category by itself, where several may hold, in lines."""

from __future__ import annotations

from textual.content import Content

from pipeline.criteria_agreement import CriteriaReport, CriterionAgreement
from tui import wording
from tui.charts import interval_bar
from tui.text import cut, fit, hang, safe
from tui.widgets.lines import Row

NAME = 15
SCALE = 24
"""Cells of a drawn interval."""
CELLS = 5
"""Cells of a count."""


def category_rows(report: CriteriaReport, width: int) -> list[Row]:
    """Return κ of every category with its interval drawn, and its table in one line."""
    a, b = (safe(name) for name in report.raters)
    lead = Content(" each category by itself: does it hold?  (κ, 95 % by question; both · only ")
    told = lead + cut(a, 12) + Content(" · only ") + cut(b, 12) + Content(" · neither)")
    out = [Content(""), *hang(Content(""), told, width)]
    out += [_line(one) for one in report.criteria]
    for one in report.criteria:
        if one.kappa.value is None:
            text = safe(one.criterion) + Content(": κ is undefined: ")
            out += hang(Content(" "), text + safe(one.kappa.why_undefined or ""), width)
    return [Row(line) for line in out]


def _line(one: CriterionAgreement) -> Content:
    k, boot = one.kappa, one.clustered
    ci = boot.ci or k.ci
    drawn = interval_bar(k.value, ci, SCALE, low=0.0, high=1.0)
    said = wording.NONE if ci is None else f"{wording.share(ci[0])}–{wording.share(ci[1])}"
    (both, first), (second, neither) = one.table.table
    counts = "".join(f"{int(n):>{CELLS}}" for n in (both, first, second, neither))
    name = fit(Content(" ") + safe(one.criterion), NAME)
    return name + Content(f"{wording.share(k.value):>5}  {drawn}  {said:<9}{counts}")
