"""The store as callers hold it, and the way to it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from store.engine import (
    check_database,
    current_revision,
    explained,
    file_of,
    make_engine,
    migrate,
)
from store.errors import SealedError, StoreError
from store.repository.ablations import Ablations
from store.repository.cases import Cases, RevealCheck
from store.repository.comparisons import Comparisons
from store.repository.counterfactual_queue import CounterfactualQueue
from store.repository.counterfactuals import Counterfactuals
from store.repository.decomposition_queue import DecompositionQueue
from store.repository.decompositions import Decompositions
from store.repository.deduction_problems import DeductionProblems
from store.repository.deduction_queue import DeductionQueue
from store.repository.deduction_revealed import DeductionRevealed
from store.repository.deductions import Deductions
from store.repository.designs import CasesMade, Designs, NewCase
from store.repository.early import Early
from store.repository.exports import Exports
from store.repository.imports import ImportBatch, Imports
from store.repository.items import ConflictError, Items
from store.repository.labels import Labels
from store.repository.questions import Questions
from store.repository.queue import Queue
from store.repository.relation_cases import RelationCases
from store.repository.relation_items import RelationItems
from store.repository.relations import Relations
from store.repository.replies import Replies
from store.repository.reports import Reports
from store.repository.revealed import Revealed
from store.repository.runs import Runs
from store.repository.schemas import Schemas
from store.repository.scores import Scores
from store.repository.sessions import Sessions
from store.repository.topology import Topology
from store.repository.votes import Votes


class Store(
    Schemas,
    Imports,
    Questions,
    Exports,
    Scores,
    Replies,
    Decompositions,
    DecompositionQueue,
    Early,
    Counterfactuals,
    CounterfactualQueue,
    Ablations,
    DeductionProblems,
    Deductions,
    DeductionQueue,
    DeductionRevealed,
    Votes,
    Relations,
    RelationItems,
    RelationCases,
    Runs,
    Designs,
    Queue,
    Cases,
    Revealed,
    Topology,
    Items,
    Labels,
    Sessions,
    Reports,
    Comparisons,
):
    """An open database. A context manager; get one from `open_store`."""

    @property
    def url(self) -> str:
        """The database URL without its password."""
        return self._engine.url.render_as_string()

    @property
    def place(self) -> str:
        """Where another process finds the database: its URL with the password, its file whole."""
        file = self.file
        if file is not None:
            return str(file.resolve())
        return self._engine.url.render_as_string(hide_password=False)

    @property
    def revision(self) -> str | None:
        """The schema revision of the database."""
        return current_revision(self._engine)

    @property
    def file(self) -> Path | None:
        """The file of a SQLite database, None for any other."""
        return file_of(self._engine.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back every connection."""
        self._engine.dispose()


def open_store(url: str | Path, *, create: bool = True) -> Store:
    """Open a database by path or SQLAlchemy URL, creating or migrating it where needed.

    Raises
    ------
    StoreError
        When there is no such folder, the file is no medoid database or read-only, or a newer
        medoid wrote it; unless `create`, when there is no such file.
    """
    engine = make_engine(url, create=create)
    try:
        with explained(engine):
            migrate(engine)
            store = Store(engine)
            store.ensure_shipped_schemas()
    except BaseException:
        engine.dispose()
        raise
    return store


__all__ = [
    "CasesMade",
    "ConflictError",
    "ImportBatch",
    "NewCase",
    "RevealCheck",
    "SealedError",
    "Store",
    "StoreError",
    "check_database",
    "open_store",
]
