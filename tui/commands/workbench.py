"""`medoid` and `medoid demo`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tui.commands.common import (
    JsonOption,
    RaterOption,
    database,
    fail,
    print_json,
    progress_printer,
    usage_errors,
)


def open_workbench(db: str, rater: str | None) -> None:
    """Open the workbench on a database."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        fail("the workbench needs a terminal; medoid --help lists what works without one")
    from store import StoreError
    from tui.app import MedoidApp

    try:
        app = MedoidApp(db, rater=rater)
    except (StoreError, ValueError) as error:
        fail(str(error))
    app.run()
    if app.return_code:
        raise typer.Exit(app.return_code)


def demo(
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over; the old copy is set aside, not deleted.")
    ] = False,
    rater: RaterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the workbench on the bundled project; without a terminal, print its report."""
    from pipeline.demo import demo_database

    with usage_errors():
        path = demo_database(fresh=fresh, on_progress=progress_printer())
    if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
        open_workbench(str(path), rater)
        return
    from pipeline.report import project_report
    from tui.commands.printing import print_report, report_json

    with database(str(path)) as store:
        report = project_report(store)
    if as_json:
        print_json(report_json(report))
    else:
        print_report(report)
