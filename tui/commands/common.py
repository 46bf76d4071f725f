"""What the commands share: options, opening the database, errors, progress, JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from tui.rates import rate_text

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
INTERRUPTED = "interrupted; what was saved is kept, the same command goes on from there"


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

    end_progress()
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
    end_progress()
    typer.echo(json.dumps(value, ensure_ascii=True, indent=2, allow_nan=False))


@contextmanager
def database(db: str, *, create: bool = False) -> Iterator[Store]:
    """Open the database; its errors end the command with 2.

    Only a command that brings data makes a file that is not there: a mistyped name is told.
    """
    from store import StoreError, open_store

    try:
        store = open_store(db, create=create)
    except StoreError as error:
        fail(str(error))
    with store:
        yield store


def need_database(db: str) -> None:
    """End with 2 where a database's file is not there; one that is there is not looked into."""
    if "://" not in db and Path(db).expanduser().is_file():
        return
    from store import StoreError, check_database

    try:
        check_database(db)
    except StoreError as error:
        fail(str(error))


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
    except KeyboardInterrupt as error:
        fail(str(error) or INTERRUPTED, STOPPED)


def progress_printer() -> Callable[[Progress], None]:
    """Return a progress drawer: one updated line on a terminal, a log line now and then else."""
    terminal = sys.stderr.isatty()
    begin = time.monotonic()
    last_time, last_stage = 0.0, ""
    ended: tuple[str, int] | None = None

    def show(event: Progress) -> None:
        nonlocal last_time, last_stage, ended
        now = time.monotonic()
        finished = event.total is not None and event.done >= event.total
        pause = 0.1 if terminal else 10.0
        if event.stage == last_stage and now - last_time < pause and not finished:
            return
        if finished and ended == (event.stage, event.done):
            return
        ended = (event.stage, event.done) if finished else None
        last_time, last_stage = now, event.stage
        text = progress_line(event, now - begin)
        if terminal:
            columns = shutil.get_terminal_size().columns
            sys.stderr.write("\r\x1b[2K" + text[: columns - 1])
            sys.stderr.flush()
            _open_lines.append(sys.stderr)
            if finished:
                end_progress()
        elif finished or event.total is None or now - begin > pause:
            sys.stderr.write(text + "\n")

    return show


_open_lines: list[TextIO] = []
"""Streams on which a progress line was drawn and not ended."""


def end_progress() -> None:
    """End the progress line, so that what follows stands in a line of its own."""
    if _open_lines:
        _open_lines[-1].write("\n")
        _open_lines[-1].flush()
        _open_lines.clear()


def progress_line(event: Progress, seconds: float) -> str:
    """Return how far a stage is: share, units, and rate, time left, tokens, errors where known."""
    total = "" if event.total is None else f"/{event.total}"
    share = "" if not event.total else f" {100 * event.done // event.total:3d} %"
    parts = [f"{event.stage:8}{share}", f"{event.done}{total} {event.unit}"]
    if event.rate is not None:
        parts.append(rate_text(event.rate))
    left = event.seconds_left
    parts.append(f"{seconds:.0f} s" if not left else f"{clock(left)} left")
    if event.tokens is not None:
        parts.append(f"{event.tokens:,} tokens")
    if event.errors:
        parts.append(f"{event.errors} error{'s' * (event.errors != 1)}")
    return "  ".join(parts)


def clock(seconds: float) -> str:
    """Return a time span: minutes and seconds, hours before them where there are any.

    >>> clock(62), clock(3600)
    ('1:02', '1:00:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def print_rows(
    lines: Sequence[Sequence[str]], names: int, notes: Sequence[str] | None = None
) -> None:
    """Print a table: so many columns of names, the rest numbers, each with its note.

    On a terminal a note that does not fit stands in a line of its own.
    """
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line, note in zip(lines, notes or [""] * len(lines), strict=True):
        cells = [
            f"{c:<{w}}" if i < names else f"{c:>{w}}"
            for i, (c, w) in enumerate(zip(line, widths, strict=True))
        ]
        text = "  ".join(cells).rstrip()
        if note and room is not None and len(text) + len(note) + 2 > room:
            say(text)
            say(f"    {note.strip()}")
        else:
            say(f"{text}  {note}" if note else text)


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
