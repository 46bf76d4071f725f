"""Making audit cases and their items from a sampling design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import content_hash
from store.engine import Base
from store.repository.cases import digest
from store.repository.items import TraceItems


@dataclass(frozen=True, slots=True)
class NewCase:
    """A case to make: its pool, stratum, and (item key, inclusion probability) of its paths.

    `place` is its place in the queue from 0; None leaves it to a hash of seed and question.
    """

    pool_id: int
    stratum: str
    inclusion_probability: float
    items: tuple[tuple[str, float], ...]
    place: int | None = None

    @property
    def order_key(self) -> str | None:
        """What puts the case into its place."""
        return None if self.place is None else f"{self.place:016x}"


@dataclass(frozen=True, slots=True)
class CasesMade:
    """What `make_cases` did.

    `n_kept` cases of an earlier design stay because a human labelled in them; `n_same` stood
    already; `n_withdrawn` unlabelled ones left the queue.
    """

    n_new: int
    n_new_items: int
    n_same: int
    n_kept: int
    n_withdrawn: int


class Designs(Base):
    """Sampling designs: which paths were chosen, with which probabilities."""

    def make_cases(
        self, scoring_id: int, parameters: Mapping[str, Any], cases: Iterable[NewCase]
    ) -> CasesMade:
        """Make the queue hold these cases.

        A case in which anybody but a judge has labelled keeps its paths and probabilities, so a
        label never loses its place; other cases of an earlier design are replaced or withdrawn.
        Ids follow pool and item keys, not the order given: that may tell strata and medoids.

        Raises
        ------
        ValueError
            When a case has no paths, or a pool two cases.
        """
        key = content_hash({"scoring": scoring_id, **parameters})
        new_cases = _by_pool(cases)
        n_new = n_items = n_same = n_kept = n_withdrawn = 0
        with self._write() as s:
            design_id = _design(s, key, scoring_id, parameters)
            labelled = _labelled_cases(s)
            for case in s.exec(select(t.AuditCase)).all():
                new = new_cases.get(case.pool_id)
                if new is not None and _same(s, case, new):
                    n_same += 1
                elif case.id in labelled:
                    n_kept += 1
                else:
                    s.execute(delete(t.CaseItem).where(col(t.CaseItem.case_id) == case.id))
                    s.execute(delete(t.AuditCase).where(col(t.AuditCase.id) == case.id))
                    n_withdrawn += new is None
                    continue
                new_cases.pop(case.pool_id, None)
            items = TraceItems(s)
            for _, new in sorted(new_cases.items()):
                n_items += _add_case(s, items, design_id, int(parameters.get("seed", 0)), new)
                n_new += 1
        return CasesMade(n_new, n_items, n_same, n_kept, n_withdrawn)


def _by_pool(cases: Iterable[NewCase]) -> dict[int, NewCase]:
    found: dict[int, NewCase] = {}
    for case in cases:
        if not case.items:
            raise ValueError(f"the case of pool {case.pool_id} has no paths: give at least one")
        if case.pool_id in found:
            raise ValueError(f"pool {case.pool_id} has two cases: give one")
        found[case.pool_id] = case
    return found


def _design(s: Session, key: str, scoring_id: int, parameters: Mapping[str, Any]) -> int:
    design = s.exec(select(t.Design).where(t.Design.key == key)).one_or_none()
    if design is None:
        design = t.Design(key=key, scoring_id=scoring_id, parameters=dict(parameters))
        s.add(design)
        s.flush()
    return design.id or 0


def _labelled_cases(s: Session) -> set[int]:
    return set(
        s.exec(
            select(t.CaseItem.case_id)
            .join(t.Label, col(t.Label.item_id) == col(t.CaseItem.item_id))
            .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
            .where(t.Rater.kind != "judge")
            .distinct()
        )
    )


def _same(s: Session, case: t.AuditCase, new: NewCase) -> bool:
    """Return whether a case stands as it is to be made, and in its place where it has one."""
    placed = new.order_key in (None, case.random_key)
    return placed and _stored(s, case) == replace(new, place=None)


def _stored(s: Session, case: t.AuditCase) -> NewCase:
    items = s.exec(
        select(t.Item.key, t.CaseItem.inclusion_probability)
        .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id))
        .where(t.CaseItem.case_id == case.id)
        .order_by(col(t.CaseItem.position))
    ).all()
    return NewCase(
        case.pool_id, case.stratum, case.inclusion_probability, tuple((k, p) for k, p in items)
    )


def _add_case(s: Session, items: TraceItems, design_id: int, seed: int, new: NewCase) -> int:
    case = t.AuditCase(
        pool_id=new.pool_id,
        design_id=design_id,
        stratum=new.stratum,
        inclusion_probability=new.inclusion_probability,
        random_key=new.order_key or digest(str(seed), new.items[0][0].rsplit("/", 1)[0])[:16],
    )
    s.add(case)
    s.flush()
    for key in sorted(key for key, _ in new.items):
        items.find(key)
    for position, (key, probability) in enumerate(new.items):
        s.add(
            t.CaseItem(
                case_id=case.id or 0,
                item_id=items.find(key).id,
                position=position,
                inclusion_probability=probability,
            )
        )
    s.flush()
    return len(new.items)
