"""A migrated blank database, copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import Store, open_store


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "blank.db"
    open_store(path).close()
    return path


@pytest.fixture
def db(blank: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(blank, tmp_path / "a.db"))


@pytest.fixture
def store(db: Path) -> Iterator[Store]:
    with open_store(db) as opened:
        yield opened
