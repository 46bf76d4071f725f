"""SQL lives here: tables, migrations, and the repository. Callers see dataclasses.

What needs SQLAlchemy is loaded when it is first asked for: the workbench shows its first screen
before (see `first_look`), and records alone need none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.errors import SealedError, StoreError

if TYPE_CHECKING:
    from store.opening import (
        CasesMade,
        ConflictError,
        ImportBatch,
        NewCase,
        RevealCheck,
        Store,
        check_database,
        open_store,
    )
else:

    def __getattr__(name: str) -> object:
        """Load the store itself on first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from store import opening

        return getattr(opening, name)


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
