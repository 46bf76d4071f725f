"""Replies to deduction problems as items to judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from judges.deduction_judge import deduction_content
from judges.item_judge import ItemContent
from pipeline.judged import Chosen, ItemGroup, Which, register
from store import Store
from store.deduction_records import DeductionText

AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class ReplySource:
    """The replies of every solver, or those that were drawn to be labelled.

    A judge is shown what a sealed person is: the problem, the given steps and the reply, no worked
    solution and no expected value. A reply without a text cannot be judged.
    """

    what: str = "replies"
    of_traces: bool = False

    def groups(self, store: Store, chosen: Chosen) -> Iterator[ItemGroup[ItemContent]]:
        """Yield the replies by solver; drawn ones in the order of their keys."""
        for texts in _texts(store, chosen):
            there = {t.item: t for t in texts if chosen.keys is None or t.item in chosen.keys}
            keys = tuple(k for k, t in sorted(there.items()) if t.reply.strip())
            yield ItemGroup(keys, partial(_load, there, keys), len(there) - len(keys))

    def nothing(self, items: Which) -> str:
        """Return what to do where there is none."""
        return {
            "all": "no reply to judge: medoid deduce ask asks for some",
            "labelled": "no reply to judge: the rater has labelled none of these",
        }.get(
            items,
            "no drawn reply to judge: medoid deduce sample draws some, --all judges every reply",
        )


def _texts(store: Store, chosen: Chosen) -> Iterator[list[DeductionText]]:
    if chosen.items in ("cases", "sample"):
        yield [row.text for row in store.deduction_queue(0).rows]
        return
    for solver in store.solvers():
        ids = [c.id for c in store.completions(solver.id)]
        for start in range(0, len(ids), AT_ONCE):
            part = ids[start : start + AT_ONCE]
            if chosen.items == "all":
                store.deduction_items(part)
            yield list(store.deduction_texts(part).values())


def _load(texts: Mapping[str, DeductionText], keys: Sequence[str]) -> Mapping[str, ItemContent]:
    return {
        key: deduction_content(texts[key].question, texts[key].reply, prefix=texts[key].prefix)
        for key in keys
    }


register("deduction_judge", ReplySource())
