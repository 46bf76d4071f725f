"""The screens of the list and of a case: made once, kept, and filled anew each time.

To make one takes longer than to fill and show one that is there, and a key must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.caselist import CaseList, Query
from tui.resume import Stop
from tui.screens.case import CaseScreen
from tui.screens.queue import QueueScreen
from tui.session import Session

if TYPE_CHECKING:
    from tui.app import MedoidApp

CASE, LIST = "case", "list"


async def show_case(
    app: MedoidApp,
    session: Session,
    cases: CaseList,
    case_id: int,
    stop: Stop | None = None,
    *,
    over_list: bool = True,
) -> CaseScreen:
    """Show a case of a list, where the rater goes on if that is known.

    Unless `over_list`, the list itself is shown only once the case is left.
    """
    screen = _left(app, CASE)
    if not isinstance(screen, CaseScreen) or not await screen.reopen(cases, case_id, stop):
        screen = CaseScreen(session, cases, case_id, stop)
        _keep(app, screen, CASE)
    screen.over_list = over_list
    await app.push_screen(screen)
    return screen


async def show_list(
    app: MedoidApp, session: Session, cases: CaseList, *, instead: bool = False
) -> QueueScreen:
    """Show a list of cases, in place of the present screen or over it."""
    screen = _left(app, LIST)
    if isinstance(screen, QueueScreen):
        screen.reopen(cases)
    else:
        screen = QueueScreen(session, cases)
        _keep(app, screen, LIST)
    await (app.switch_screen(screen) if instead else app.push_screen(screen))
    return screen


async def make_ready(app: MedoidApp, session: Session) -> None:
    """Make both screens ahead of the first key that asks for one."""
    cases = CaseList(session.store, session.rater.id, Query(schema=session.schema.name))
    for screen, name in (
        (QueueScreen(session, cases), LIST),
        (CaseScreen(session, cases, None), CASE),
    ):
        if not app.is_screen_installed(name):
            _keep(app, screen, name)
            # Textual makes a screen when it is pushed; this is the part of it that shows nothing.
            await app._get_screen(screen)[1]


def _left(app: MedoidApp, name: str) -> object:
    """Return the kept screen, unless it is in use."""
    kept = app.get_screen(name) if app.is_screen_installed(name) else None
    return None if kept in app.screen_stack else kept


def _keep(app: MedoidApp, screen: CaseScreen | QueueScreen, name: str) -> None:
    """Keep a screen from being taken apart when it is left, in place of one kept before."""
    if app.is_screen_installed(name):
        app.uninstall_screen(name)
    app.install_screen(screen, name)
