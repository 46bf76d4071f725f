"""Making audit cases and their items from a sampling design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, select

from store import tables as t
from store.columns import content_hash
from store.engine import Base
from store.repository.cases import digest
from store.repository.imports import make_path_item


@dataclass(frozen=True, slots=True)
class NewCase:
    """A case to make: its pool, stratum, and (item key, inclusion probability) of its paths."""

    pool_id: int
    stratum: str
    inclusion_probability: float
    items: tuple[tuple[str, float], ...]


class Designs(Base):
    """Sampling designs: which paths were chosen, with which probabilities."""

    def make_cases(
        self, scoring_id: int, parameters: Mapping[str, Any], cases: Iterable[NewCase]
    ) -> tuple[int, int]:
        """Create cases and their path items; return how many cases and items are new.

        A case or item that exists stays as it is, so labels never lose their place.
        """
        key = content_hash({"scoring": scoring_id, **parameters})
        n_cases = n_items = 0
        with self._write() as s:
            design = s.exec(select(t.Design).where(t.Design.key == key)).one_or_none()
            if design is None:
                design = t.Design(key=key, scoring_id=scoring_id, parameters=dict(parameters))
                s.add(design)
                s.flush()
            for new in cases:
                case = s.exec(
                    select(t.AuditCase).where(t.AuditCase.pool_id == new.pool_id)
                ).one_or_none()
                if case is None:
                    case = t.AuditCase(
                        pool_id=new.pool_id,
                        design_id=design.id or 0,
                        stratum=new.stratum,
                        inclusion_probability=new.inclusion_probability,
                        random_key=digest(
                            str(parameters.get("seed", 0)), new.items[0][0].rsplit("/", 1)[0]
                        )[:16],
                    )
                    s.add(case)
                    s.flush()
                    n_cases += 1
                n_items += _add_items(s, case, new)
        return n_cases, n_items


def _add_items(s: Session, case: t.AuditCase, new: NewCase) -> int:
    added = 0
    for key, probability in new.items:
        item = s.exec(select(t.Item).where(t.Item.key == key)).one_or_none()
        item = item or make_path_item(s, key)
        if s.get(t.CaseItem, (case.id, item.id)) is None:
            s.add(
                t.CaseItem(
                    case_id=case.id or 0, item_id=item.id or 0, inclusion_probability=probability
                )
            )
            added += 1
    s.flush()
    return added
