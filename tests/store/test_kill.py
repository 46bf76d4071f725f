"""What was shown as saved survives kill -9; processes that label at once lose nothing."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from store import StoreError, open_store
from tests.store.world import item_ids, small_project

LABEL_FOR_EVER = """
import sys
from store import open_store
with open_store(sys.argv[1]) as store:
    rater, path = store.rater("ana").id, store.schema()
    items = [int(i) for i in sys.argv[2].split(",")]
    n = 0
    while True:
        category = ("faithful", "spurious")[n // len(items) % 2]
        label = store.commit_label(rater, items[n % len(items)], path, category=category)
        print(label.id, label.item_id, label.category, flush=True)
        n += 1
"""

LABEL_AT_ONCE = """
import sys, time
from pathlib import Path
from store import open_store
db, go, name, seed, items = sys.argv[1:]
with open_store(db) as store:
    rater, path = store.rater(name).id, store.schema()
    print("ready", flush=True)
    while not Path(go).exists():
        time.sleep(0.001)
    for n in range(40):
        item = int(items.split(",")[n % 4])
        category = ("faithful", "spurious")[(n // 4 + int(seed)) % 2]
        label = store.commit_label(rater, item, path, category=category)
        print(label.id, label.item_id, label.category, flush=True)
"""


def project(db: Path) -> str:
    with open_store(db) as store:
        (case,) = small_project(store, 1)
        return ",".join(map(str, item_ids(store, case, store.rater("ana").id)))


def saved_rows(db: Path) -> dict[str, tuple[str, str, int | None]]:
    """Return what is in the database: id → item, category, supersedes."""
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = connection.execute("SELECT id, item_id, category, supersedes FROM label").fetchall()
    return {str(i): (str(item), category, earlier) for i, item, category, earlier in rows}


def test_every_label_that_was_printed_survives_kill_9(db: Path) -> None:
    items = project(db)
    rng = random.Random(20)
    printed: list[str] = []
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", LABEL_FOR_EVER, str(db), items],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        printed.append(process.stdout.readline())
        time.sleep(rng.uniform(0.05, 0.4))
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        # The last line may have been cut off while it was written.
        printed += [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    saved = saved_rows(db)
    assert len(printed) > 3
    for line in printed:
        label, item, category = line.split()
        assert saved[label][:2] == (item, category)
    assert set(saved_rows(db)) >= {line.split()[0] for line in printed}
    # A commit may have reached the disk just before its line was printed: one for each kill.
    assert len(saved) - len({line.split()[0] for line in printed}) <= 3


def label_at_once(db: Path, *names: str) -> list[list[list[str]]]:
    """Run a process for each name on the same items; return the lines each printed."""
    items = project(db)
    go = db.with_name("go")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LABEL_AT_ONCE, str(db), str(go), name, str(n), items],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n, name in enumerate(names)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    go.touch()
    printed = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        printed.append([line.split() for line in out.splitlines()])
    return printed


def test_two_raters_at_once_lose_nothing_and_wait_for_nobody(db: Path) -> None:
    ana, bob = label_at_once(db, "ana", "bob")
    saved = saved_rows(db)
    assert len(ana) == len(bob) == 40
    assert len(saved) == 80
    assert {i: saved[i][:2] for i, _, _ in [*ana, *bob]} == {
        i: (item, category) for i, item, category in [*ana, *bob]
    }
    with open_store(db) as store:
        for name, lines in (("ana", ana), ("bob", bob)):
            rater = store.rater(name).id
            for item in {int(i) for _, i, _ in lines}:
                mine = [(x, c) for x, i, c in lines if int(i) == item]
                history = store.label_history(rater, item)
                assert [(str(r.id), r.category) for r in history] == mine


def test_one_rater_in_two_windows_loses_nothing(db: Path) -> None:
    one, two = label_at_once(db, "ana", "ana")
    saved = saved_rows(db)
    for label, item, category in [*one, *two]:
        assert saved[label][:2] == (item, category)
    assert set(saved) == {label for label, _, _ in [*one, *two]}
    # Each item's rows are one chain: every row but the newest is superseded exactly once.
    for item in {i for _, i, _ in one}:
        ids = sorted(int(x) for x, row in saved.items() if row[0] == item)
        assert [saved[str(x)][2] for x in ids] == [None, *ids[:-1]]


IMPORT_FOR_EVER = """
import sys
from store import open_store
from tests.store.world import new_question, new_trace
with open_store(sys.argv[1]) as store:
    n = 0
    while True:
        with store.importing() as batch:
            for _ in range(20):
                n += 1
                batch.add_trace(new_trace(new_question(f"z{n}")))
        print(n, flush=True)
"""


def test_a_label_gets_in_between_the_parts_of_a_long_import(db: Path) -> None:
    items = [int(i) for i in project(db).split(",")]
    process = subprocess.Popen(
        [sys.executable, "-c", IMPORT_FOR_EVER, str(db)], stdout=subprocess.PIPE, text=True
    )
    passed = []
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "20\n"
        with open_store(db) as store, closing(sqlite3.connect(db)) as connection:
            ana, path = store.rater("ana").id, store.schema()

            def n_imported() -> int:
                found: tuple[int] = connection.execute("SELECT count(*) FROM pool").fetchone()
                return found[0]

            for n in range(12):
                before = n_imported()
                category = ("faithful", "spurious")[n // 4 % 2]
                store.commit_label(ana, items[n % 4], path, category=category)
                passed.append((n_imported() - before) / 20)
            assert process.poll() is None
    finally:
        process.kill()
        process.communicate(timeout=60)
    # A label waits for the part that is being written, seldom for another.
    assert sum(passed) <= 2 * len(passed)


def test_a_label_that_cannot_be_saved_says_so_and_can_be_tried_again(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = int(project(db).split(",")[0])
    monkeypatch.setattr("store.engine.BUSY_TIMEOUT_MS", 30)
    with (
        open_store(db) as store,
        closing(sqlite3.connect(db, isolation_level=None)) as connection,
    ):
        ana, path = store.rater("ana").id, store.schema()
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="nothing was saved, try again"):
            store.commit_label(ana, item, path, category="faithful")
        assert store.label(ana, item, path) is None
        connection.execute("ROLLBACK")
        saved = store.commit_label(ana, item, path, category="faithful")
        assert store.label_history(ana, item) == (saved,)
