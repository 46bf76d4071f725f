"""`medoid` and `medoid demo`."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.common import (
    JsonOption,
    RaterOption,
    database,
    fail,
    need_database,
    print_json,
    progress_printer,
    usage_errors,
)

if TYPE_CHECKING:
    from tui.app import MedoidApp

PATHS = "path"
"""The schema that paths are labelled by where none is named."""
SchemaOption = Annotated[
    str | None,
    typer.Option("--schema", help="The schema that paths are labelled by.  [default: path]"),
]


def open_workbench(db: str, rater: str | None, schema: str | None = None) -> None:
    """Open the workbench on a database; with a schema that labels no paths, say so and end."""
    need_database(db)
    if schema is not None:
        _check_schema(db, schema)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        fail("the workbench needs a terminal; medoid --help lists what works without one")
    from store import StoreError
    from store.first_look import look_ahead
    from tui.rater import default_rater

    try:
        named = (rater or default_rater()).strip()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        fail("your account has no name: say who labels with --rater NAME")
    look = look_ahead(db, named, schema or PATHS)
    try:
        app = app_class()(db, rater=named, schema=schema or PATHS, look=look)
    except (StoreError, ValueError) as error:
        fail(str(error))
    app.run()
    if app.return_code:
        raise typer.Exit(app.return_code)


def app_class() -> type[MedoidApp]:
    """Import the workbench.

    What is imported stays; looking through it for garbage, now and in every collection to come,
    would only hold up the screen.
    """
    gc.disable()
    try:
        from tui.app import MedoidApp
    finally:
        gc.freeze()
        gc.enable()
    return MedoidApp


def _check_schema(db: str, schema: str) -> None:
    """End with 2 where paths cannot be labelled under a schema of the database."""
    from store import StoreError
    from tui.session import path_schema

    with database(db) as store:
        try:
            path_schema(store, schema)
        except (StoreError, ValueError) as error:
            fail(str(error))


def demo(
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over; the old copy is set aside, not deleted.")
    ] = False,
    rater: RaterOption = None,
    schema: SchemaOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the workbench on the bundled project; without a terminal, print its report."""
    from pipeline.demo import demo_database

    with usage_errors():
        path = demo_database(fresh=fresh, on_progress=progress_printer())
    if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
        open_workbench(str(path), rater, schema)
        return
    from pipeline.report import project_report
    from tui.commands.printing import print_report, report_json

    with database(str(path)) as store:
        report = project_report(store)
    if as_json:
        print_json(report_json(report))
    else:
        print_report(report)
