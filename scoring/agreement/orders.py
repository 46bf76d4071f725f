"""Whether a judge's verdict follows the order in which its words are offered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from scoring.agreement._coding import Category, plain_list

Said = tuple[Sequence[Category], Category | None]
"""A verdict: the words in the order in which they were offered, and the one that was given."""


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """How far repeats of a judge agree in one order of the words, and in different ones.

    Attributes
    ----------
    same_pairs, same_equal
        Pairs of verdicts on one item in the same order, and those of them that agree.
    other_pairs, other_equal
        Pairs in different orders, and those of them that agree.
    n_items
        Items with a pair.
    n_verdicts, first_chosen
        Verdicts of one of the offered words, and those that took the word offered first.
    first_expected
        How many would take it if each item's verdicts stood in every place equally often: the sum
        of 1 / words offered.

    Notes
    -----
    same = same_equal / same_pairs and other = other_equal / other_pairs are shares in [0, 1];
    effect = same - other in [-1, 1]: 0 = the order does not matter, above 0 = it turns verdicts.
    Verdicts at temperature 0 agree in the same order by construction; `other` alone is telling then.
    """

    same_pairs: int
    same_equal: int
    other_pairs: int
    other_equal: int
    n_items: int
    n_verdicts: int
    first_chosen: int
    first_expected: float

    @property
    def same(self) -> float | None:
        """Share of the pairs in one order that agree; None without a pair."""
        return self.same_equal / self.same_pairs if self.same_pairs else None

    @property
    def other(self) -> float | None:
        """Share of the pairs in different orders that agree; None without a pair."""
        return self.other_equal / self.other_pairs if self.other_pairs else None

    @property
    def effect(self) -> float | None:
        """Return `same` less `other`; None where either is undefined."""
        if self.same is None or self.other is None:
            return None
        return self.same - self.other

    @property
    def why_undefined(self) -> str | None:
        """Return why there is no effect, None where there is one."""
        if not self.same_pairs and not self.other_pairs:
            return "no item has two verdicts"
        if not self.same_pairs:
            return "no item has two verdicts in the same order"
        return None if self.other_pairs else "no item has two verdicts in different orders"


def order_effect(items: Iterable[Iterable[Said]]) -> OrderEffect:
    """Compare repeats in the same order of words with repeats in different ones.

    Parameters
    ----------
    items : iterable of iterable of (order, verdict)
        Per item its verdicts, each with the words as they were offered; None (no verdict) and a
        verdict without an order are left out.

    Returns
    -------
    OrderEffect

    Notes
    -----
    Every pair of verdicts on one item counts once. A verdict that is none of the offered words
    (several at once) is compared, but took no word first.

    Examples
    --------
    >>> ab, ba = ("a", "b"), ("b", "a")
    >>> e = order_effect([[(ab, "a"), (ba, "b"), (ab, "a"), (ba, "b")], [(ab, "a"), (ba, "a")]])
    >>> e.same_equal, e.same_pairs, e.other_equal, e.other_pairs, e.effect
    (2, 2, 1, 5, 0.8)
    >>> e.first_chosen, e.first_expected
    (5, 3.0)
    """
    pairs: Counter[tuple[bool, bool]] = Counter()
    n_items = n_verdicts = first = 0
    expected = 0.0
    for item in items:
        said = [(tuple(order), verdict) for order, verdict in plain_list(item) if order]
        known = [(order, verdict) for order, verdict in said if verdict is not None]
        n_items += len(known) >= 2
        for (order, verdict), (other_order, other) in combinations(known, 2):
            pairs[order == other_order, verdict == other] += 1
        for order, verdict in known:
            if verdict in order:
                n_verdicts += 1
                first += verdict == order[0]
                expected += 1 / len(order)
    return OrderEffect(
        same_pairs=pairs[True, True] + pairs[True, False],
        same_equal=pairs[True, True],
        other_pairs=pairs[False, True] + pairs[False, False],
        other_equal=pairs[False, True],
        n_items=n_items,
        n_verdicts=n_verdicts,
        first_chosen=first,
        first_expected=expected,
    )
