"""The sensitivity table in lines, from the run that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content

from tui import wording
from tui.text import cells, cut, fit, safe, wrap
from tui.widgets.lines import Row

COLUMNS = (
    ("n", "n", 6),
    ("accuracy", "accuracy", 9),
    ("same answer", "same_answer", 12),
    ("same medoid", "same_medoid", 12),
    ("r", "pearson", 6),
    ("ρ", "spearman", 6),
)
HIDDEN = ("accuracy", "pearson", "spearman")
"""Columns made of gold: shown under the rule of the overview's SC and GSC."""

_READING = ("edges", "terminals", "missing", "edge vectors")
_SIGNS = (("β", "beta"), ("γ", "gamma"), ("α", "alpha"))


def changes(row: Mapping[str, Any], base: Mapping[str, Any]) -> list[str]:
    """Return what a setting changes, one text a change.

    >>> base = {"reading": "a/b/c/d", "beta": 0.4, "gamma": 5.0, "alpha": 0.8}
    >>> changes({**base, "reading": "a/b/x/d", "alpha": 1.0}, base), changes(base, base)
    (['missing x', 'α 1'], [])
    """
    pairs = zip(row["reading"].split("/"), base["reading"].split("/"), strict=True)
    told = [f"{name} {new}" for name, (new, old) in zip(_READING, pairs, strict=True) if new != old]
    told += [f"{sign} {row[name]:g}" for sign, name in _SIGNS if row[name] != base[name]]
    return told


def setting_text(row: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """Return what a setting changes, "base" where it changes nothing."""
    return ", ".join(changes(row, base)) or "base"


def sensitivity_heads(width: int) -> list[Row]:
    """Return the heads of the table."""
    right = Content("".join(name.rjust(w) for name, _, w in COLUMNS))
    return [Row(fit(Content("  setting"), max(width - cells(right), 8)) + right)]


def sensitivity_lines(
    said: Mapping[str, Any], groups: Sequence[Mapping[str, Any]], width: int, *, gold: bool
) -> list[Row]:
    """Lay out a stored report's groups; without `gold`, what is made of it is a dash."""
    base = said["base"]
    rows: list[Row] = []
    for group in groups:
        sc = group["sc_accuracy"] if gold else None
        told = (
            f" {group['n_questions']:,} questions, {group['n_gold']:,} with gold; the vote (SC) is "
            f"right on {wording.share(sc)}"
        )
        rows.append(Row(cut(Content.styled(told, "bold"), width)))
        for row in group["rows"]:
            if said["grid"] == "axes" and len(changes(row, base)) > 1:
                continue
            rows.append(Row(_row(row, base, width, gold=gold), len(rows), True))
        for name in group.get("empty_readings", ()):
            text = setting_text({**base, "reading": name}, base)
            rows.append(Row(cut(Content(f"  {text}: no trace is left under this reading"), width)))
        rows.append(Row(Content("")))
    return rows


def _row(row: Mapping[str, Any], base: Mapping[str, Any], width: int, *, gold: bool) -> Content:
    figures = ""
    for _, name, w in COLUMNS:
        value = None if name in HIDDEN and not gold else row[name]
        figures += (f"{value:,}" if name == "n" else wording.share(value)).rjust(w)
    return fit(Content("  ") + safe(setting_text(row, base)), max(width - cells(figures), 8)) + (
        Content(figures)
    )


def sensitivity_detail(said: Mapping[str, Any], when: str, width: int, *, gold: bool) -> list[Row]:
    """Say what the columns are, and what the table was made from."""
    faith = said["faithfulness"]
    texts = [
        Content(
            "same: share of questions on which GSC chooses as under the base. r, ρ: correlation "
            "of GRCS (a coherence) with faithfulness, "
        )
        + (safe(faith) if faith else Content("of which there is none: no early answers"))
        + Content("" if gold else ". Shares right: shown when your cases here are done"),
        Content("made ")
        + safe(when)
        + Content(" by medoid sensitivity, against scoring ")
        + safe(said["scoring"])
        + Content(" (")
        + safe(said["embedder"])
        + Content(f", facts {'one per step' if said['decomposition'] == 'none' else ''}")
        + safe("" if said["decomposition"] == "none" else said["decomposition"])
        + Content(")"),
    ]
    return [Row(Content(" ") + line) for text in texts for line in wrap(text, max(width - 1, 1))]
