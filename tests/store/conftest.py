"""A migrated blank database, copied for each test.

With `$MEDOID_TEST_POSTGRES` (the URL of a database on a server that may be written to freely) the
`store` is on PostgreSQL, and what needs the file of an SQLite database is skipped.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from store import Store, open_store

SERVER = os.environ.get("MEDOID_TEST_POSTGRES")


def _administer(statement: str) -> None:
    engine = create_engine(SERVER or "", isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


def _url(name: str) -> str:
    url = make_url(SERVER or "").set(database=name)
    return url.render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "blank.db"
    open_store(path).close()
    return path


@pytest.fixture
def db(blank: Path, tmp_path: Path) -> Path:
    if SERVER:
        pytest.skip("needs the file of an SQLite database")
    return Path(shutil.copy(blank, tmp_path / "a.db"))


@pytest.fixture(scope="session")
def template() -> Iterator[str]:
    """The name of a migrated blank database on the server."""
    name = f"medoid_{uuid.uuid4().hex}"
    _administer(f"CREATE DATABASE {name}")
    open_store(_url(name)).close()
    yield name
    _administer(f"DROP DATABASE {name}")


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if not SERVER:
        with open_store(request.getfixturevalue("db")) as opened:
            yield opened
        return
    name = f"medoid_{uuid.uuid4().hex}"
    _administer(f"CREATE DATABASE {name} TEMPLATE {request.getfixturevalue('template')}")
    with open_store(_url(name)) as opened:
        yield opened
    _administer(f"DROP DATABASE {name}")
