"""Reading a revealed pool once: graph and distances share it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tui.session import Session

if TYPE_CHECKING:
    from pipeline.pool_view import PoolView
    from store.records import RevealedCase


async def read(session: Session, revealed: RevealedCase) -> PoolView:
    """Work a pool out off the UI's thread; numpy and scipy are loaded there on first use."""

    def load() -> PoolView:
        from pipeline.pool_view import read_pool

        return read_pool(session.store, revealed)

    return await session.read(functools.partial(load))
