"""A plain table of items x raters, as text, turned into ratings; agreement of every pair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from scoring.agreement._coding import Category, declared_categories
from scoring.agreement.kappa import Kappa, Weights, kappa_from_table
from scoring.agreement.multirater import MultiRater, gwet_ac1
from scoring.agreement.table import (
    AgreementSummary,
    ConfusionTable,
    agreement_summary,
    confusion_table,
)

MISSING_WORDS = frozenset({"", "na", "n/a", "<na>", "nan", "null", "none", ".", "-", "?"})
"""Cells that mean "no label", compared without case and surrounding blanks."""

STATE_WORDS = frozenset({"unsure", "skip", "skipped", "flag", "flagged", "unparsable"})
"""States of labelling. They are not categories, so their cells hold no label either."""

ITEM_HEADERS = frozenset(
    {"", "#", "id", "idx", "index", "item", "item_id", "key", "question_id", "row", "unit"}
)
"""Names of a first column that names the item and is no rater, compared without case."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class RatingTable:
    """Ratings read from a plain table.

    Attributes
    ----------
    raters
        Names of the raters.
    ratings
        Shape (n_raters, n_items); None = no label.
    categories
        All categories in order: as declared; else numbers ascending when every label is a number;
        else alphabetically.
    declared
        Whether the categories, and so their order, were declared.
    missing
        What was read as "no label", as typed, with its number of cells, most frequent first.
    """

    raters: tuple[str, ...]
    ratings: tuple[tuple[Category | None, ...], ...]
    categories: tuple[Category, ...]
    declared: bool
    missing: tuple[tuple[str, int], ...]

    @property
    def n_items(self) -> int:
        """Number of items (rows)."""
        return len(self.ratings[0])


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement of two raters.

    Attributes
    ----------
    raters
        Names of the first and the second rater.
    table
        Their confusion table: over the declared categories, else over those either of the two
        used. A third rater's categories never enter.
    kappa, ac1, summary
        Cohen's kappa, Gwet's AC1 over the same items, and what explains the two.
    """

    raters: tuple[str, str]
    table: ConfusionTable
    kappa: Kappa
    ac1: MultiRater
    summary: AgreementSummary


def rating_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    raters: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    missing: Collection[str] = MISSING_WORDS | STATE_WORDS,
) -> RatingTable:
    """Turn a table of text, one row per item and one column per rater, into ratings.

    Parameters
    ----------
    header : sequence of str
        Column names.
    rows : iterable of sequence of str
        The cells, one row per item.
    raters : sequence of str, optional
        Columns to use, in this order. None = all, except a first column whose name is one of
        `ITEM_HEADERS`.
    categories : sequence of str, optional
        All categories in order. A declared category is never read as missing. None = those in use.
    missing : collection of str
        Words that mean "no label", compared without case.

    Returns
    -------
    RatingTable

    Raises
    ------
    ValueError
        For fewer than two raters, unknown or repeated column names, rows of another length, no
        rows, or a label outside the declared categories (rows counted from 1, header excluded).

    Notes
    -----
    Surrounding blanks are cut; apart from that text stays as typed ("Yes" and "yes" differ). When
    every label (and declared category) is a number they are compared as numbers: 1 and 1.0 are
    one category, as they must be when a program wrote a column with gaps as decimals.

    Examples
    --------
    >>> t = rating_table(["item", "ann", "bob"], [["q1", "1", "1.0"], ["q2", "10", "NA"]])
    >>> t.raters, t.ratings, t.categories
    (('ann', 'bob'), ((1, 10), (1, None)), (1, 10))
    """
    names = [h.strip() for h in header]
    columns = _rater_columns(names, raters)
    declared = None if categories is None else [c.strip() for c in categories]
    words = {m.strip().casefold() for m in missing}
    cells: list[list[str | None]] = [[] for _ in columns]
    dropped: Counter[str] = Counter()
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(
                f"row {number} has {len(row)} cells, but the header names {len(names)} columns"
            )
        for out, column in zip(cells, columns, strict=True):
            text = row[column].strip()
            absent = text.casefold() in words and not (declared and text in declared)
            dropped[text] += absent
            out.append(None if absent else text)
    if not cells[0]:
        raise ValueError("the table has no rows below its header: give one row per item")
    used = {c for column in cells for c in column if c is not None}
    numeric = bool(used) and all(_NUMBER.fullmatch(c) for c in used | set(declared or ()))
    ratings = tuple(tuple(_value(c, numeric) for c in column) for column in cells)
    chosen = _categories(ratings, declared, numeric, [names[c] for c in columns])
    return RatingTable(
        raters=tuple(names[c] for c in columns),
        ratings=ratings,
        categories=chosen,
        declared=declared is not None,
        missing=tuple((word, n) for word, n in dropped.most_common() if n),
    )


def pairwise_agreement(
    table: RatingTable, *, weights: Weights = None, level: float = 0.95
) -> tuple[PairAgreement, ...]:
    """Agreement of every pair of raters, in the order of the columns.

    Parameters
    ----------
    table : RatingTable
        The ratings.
    weights
        As in `cohen_kappa`.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    tuple of PairAgreement
        One per pair of raters. AC1 is over the items both labelled, as kappa is.

    Raises
    ------
    ValueError
        For weights without declared categories.

    Notes
    -----
    The number of categories k enters AC1 and PABAK, though not kappa. It is that of the declared
    categories; without a declaration, of those in use in the two columns compared (also on items
    only one of them labelled). So a pair's figures do not depend on which other columns the table
    has. Declare the categories when some may be unused: fewer categories mean more agreement by
    chance, hence lower coefficients.

    Examples
    --------
    >>> t = rating_table(["a", "b"], [["y", "y"], ["n", "y"], ["n", "n"], ["y", "y"]])
    >>> [(p.raters, p.kappa.value) for p in pairwise_agreement(t)]
    [(('a', 'b'), 0.5)]
    """
    if weights is not None and not table.declared:
        raise ValueError(
            "weights need categories: declare the full list of categories, in order, not only "
            f"those in use ({', '.join(str(c) for c in table.categories)})"
        )
    out = []
    for i, j in combinations(range(len(table.raters)), 2):
        declared = table.categories if table.declared else None
        both = confusion_table(table.ratings[i], table.ratings[j], declared)
        shared = [
            (x, y)
            for x, y in zip(table.ratings[i], table.ratings[j], strict=True)
            if x is not None and y is not None
        ]
        out.append(
            PairAgreement(
                raters=(table.raters[i], table.raters[j]),
                table=both,
                kappa=kappa_from_table(both, weights, level=level),
                ac1=gwet_ac1(
                    ([x for x, _ in shared], [y for _, y in shared]),
                    categories=both.categories or None,
                    level=level,
                ),
                summary=agreement_summary(both),
            )
        )
    return tuple(out)


def _rater_columns(names: list[str], raters: Sequence[str] | None) -> list[int]:
    """Find the columns that hold ratings."""
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"column {twice[0]!r} is in the header twice: names must differ")
    if raters is None:
        first = 1 if names and names[0].casefold() in ITEM_HEADERS else 0
        columns = list(range(first, len(names)))
    else:
        unknown = [r for r in raters if r not in names]
        if unknown:
            raise ValueError(f"no column {unknown[0]!r}: the header names {', '.join(names)}")
        columns = [names.index(r) for r in raters]
    if len(set(columns)) < 2:
        raise ValueError(
            f"{len(set(columns))} rater in columns {', '.join(map(repr, names))}: agreement needs "
            "at least two"
        )
    if len(set(columns)) < len(columns):
        raise ValueError(f"raters {list(raters or ())!r} name one column twice")
    return columns


def _value(text: str | None, numeric: bool) -> Category | None:
    """Read a label: a number where all are, whole numbers as int."""
    if text is None or not numeric:
        return text
    number = float(text)
    return int(number) if number.is_integer() else number


def _categories(
    ratings: Sequence[Sequence[Category | None]],
    declared: list[str] | None,
    numeric: bool,
    raters: list[str],
) -> tuple[Category, ...]:
    """Order the categories; with a declaration, check every label against it."""
    if declared is None:
        used = {c for column in ratings for c in column if c is not None}
        return tuple(sorted(used))  # type: ignore[type-var]
    chosen = declared_categories(_value(c, numeric) for c in declared)
    for rater, column in zip(raters, ratings, strict=True):
        for number, label in enumerate(column, start=1):
            if label is not None and label not in chosen:
                raise ValueError(
                    f"row {number}, column {rater!r}: {label!r} is not among the categories "
                    f"{', '.join(map(str, chosen))}"
                )
    return chosen
