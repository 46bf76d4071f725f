"""What the commands share: options, opening the database, errors, progress, JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from pipeline.progress import Progress
    from store import Store

DbOption = Annotated[
    str,
    typer.Option("--db", envvar="MEDOID_DB", help="Database: a path or an SQLAlchemy URL."),
]
RaterOption = Annotated[
    str | None,
    typer.Option(
        "--rater", envvar="MEDOID_RATER", help="Who labels; your login name if not given."
    ),
]
UnsealOption = Annotated[
    bool,
    typer.Option(
        "--unseal", help="Show what is sealed all the same; that you looked is logged for good."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]

OK, PARTLY, UNUSABLE, STOPPED = 0, 1, 2, 130


def chosen_db(context: typer.Context, db: str | None) -> str:
    """Return the command's own --db, else the one given before the command."""
    return db if db is not None else str(context.find_root().obj or "medoid.db")


SubDbOption = Annotated[
    str | None,
    typer.Option("--db", help="Database: a path or an SQLAlchemy URL.  [default: medoid.db]"),
]


def fail(message: str, code: int = UNUSABLE) -> NoReturn:
    """Print one error and end with a code."""
    say(f"medoid: {message}", err=True)
    raise typer.Exit(code)


def say(text: str = "", *, err: bool = False) -> None:
    """Print one line; control characters of foreign text, line breaks too, are made visible."""
    from tui.visible import visible

    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    line = visible(text)
    typer.echo(line.encode(encoding, "backslashreplace").decode(encoding), err=err)


def hand_out(line: str) -> None:
    """Write a line of a file to standard output as it is; to a terminal, made visible."""
    if sys.stdout.isatty():
        say(line.removesuffix("\n"))
    else:
        typer.echo(line.encode("utf-8"), nl=False)


def print_json(value: Any) -> None:
    """Print a JSON document; undefined numbers are null."""
    typer.echo(json.dumps(value, ensure_ascii=True, indent=2, allow_nan=False))


@contextmanager
def database(db: str, *, must_exist: bool = False) -> Iterator[Store]:
    """Open the database; its errors end the command with 2."""
    from pathlib import Path

    from store import StoreError, open_store

    if must_exist and "://" not in db and not Path(db).expanduser().exists():
        fail(f"{db} does not exist: import traces first (medoid import FILE…), or give --db")
    try:
        store = open_store(db)
    except StoreError as error:
        fail(str(error))
    with store:
        yield store


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn the errors of bad input into one line and exit code 2."""
    from judges.embedders import EmbedderError
    from store import StoreError

    try:
        yield
    except (ValueError, EmbedderError, StoreError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
    except KeyboardInterrupt:
        fail("interrupted; what was saved is kept, the same command goes on from there", STOPPED)


def progress_printer() -> Callable[[Progress], None]:
    """Return a progress drawer: one updated line on a terminal, a log line now and then else."""
    terminal = sys.stderr.isatty()
    begin = time.monotonic()
    last_time, last_stage = 0.0, ""

    def show(event: Progress) -> None:
        nonlocal last_time, last_stage
        now = time.monotonic()
        finished = event.total is not None and event.done >= event.total
        pause = 0.1 if terminal else 10.0
        if event.stage == last_stage and now - last_time < pause and not finished:
            return
        last_time, last_stage = now, event.stage
        total = "" if event.total is None else f"/{event.total}"
        share = "" if not event.total else f" {100 * event.done // event.total:3d} %"
        text = f"{event.stage:8}{share}  {event.done}{total} {event.unit}  {now - begin:.0f} s"
        if terminal:
            sys.stderr.write("\r\x1b[2K" + text + ("\n" if finished else ""))
            sys.stderr.flush()
        elif finished or event.total is None or now - begin > pause:
            sys.stderr.write(text + "\n")

    return show


def whoever_asks() -> str | None:
    """Return who asks, where they have said so for all commands."""
    return os.environ.get("MEDOID_RATER", "").strip() or None


def percent(part: int, whole: int) -> str:
    """Return a share for a reader; a dash for a share of nothing.

    A share is never rounded to 0 % or 100 % unless it is.
    """
    if not whole:
        return "–"
    if 0 < part < whole:
        return f"{min(max(100 * part / whole, 0.1), 99.9):.1f} %"
    return f"{100 * part // whole} %"
