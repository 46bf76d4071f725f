"""Starts the workbench under Pilot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.tui.conftest import Desk
from tui.app import MedoidApp


@asynccontextmanager
async def workbench(
    db: Path, size: tuple[int, int] = (80, 24), rater: str = "ana", schema: str = "path"
) -> AsyncIterator[Desk]:
    """Run the app on a database and wait until the overview stands."""
    app = MedoidApp(db, rater=rater, schema=schema)
    async with app.run_test(size=size) as pilot:
        desk = Desk(app, pilot)
        await desk.settle()
        yield desk
