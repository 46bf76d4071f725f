"""The list of cases: a page of a keyset query, with filter, search and sort in SQL."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from store.records import CaseRow
from tui import wording
from tui.actions import bindings_of
from tui.caselist import PAGE, CaseList, Snapshot
from tui.resume import Stop
from tui.reversal import Act, Reversal
from tui.screens.base import Reversing, breadcrumb
from tui.session import Session
from tui.text import cut, fit, one_line, safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import LateRow, Lines, Row
from tui.widgets.stock import Entry

COLUMNS = (("mine", 6), ("", 2), ("flag", 5), ("seen", 6))


class QueueScreen(Reversing):
    """Cases of one dataset and pool, or of all."""

    NAME = "queue"
    BINDINGS = bindings_of("queue")

    class Loaded(Message):
        """A page was read."""

        def __init__(self, snapshot: Snapshot, case_id: int | None, index: int) -> None:
            super().__init__()
            self.snapshot = snapshot
            self.case_id = case_id
            self.index = index

    class Failed(Message):
        """A page could not be read."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session, cases: CaseList) -> None:
        super().__init__(session)
        self.cases = cases

    def reopen(self, cases: CaseList) -> None:
        """Show another list on a screen that was left."""
        self.cases, self.told = cases, None
        self._end_search()
        self._draw()

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Entry(placeholder="search question, id or dataset", id="search")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self.query_one("#search", Entry).display = False
        self._draw()

    def on_screen_resume(self) -> None:
        self.reread()

    def reread(self) -> None:
        row = self.cases.row
        self._load(
            self.cases.snapshot.number,
            case_id=None if row is None else row.case_id,
            index=self.cases.index,
        )

    def _load(self, number: int, *, case_id: int | None = None, index: int = 0) -> None:
        cases = self.cases

        def work() -> None:
            try:
                snapshot = cases.read(number)
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Loaded(snapshot, case_id, index))

        self.run_worker(work, thread=True, group="queue", exclusive=True, exit_on_error=False)

    def on_queue_screen_failed(self, message: Failed) -> None:
        if self.focused is None:
            self._end_search()
        self.fail(message.problem)

    def on_queue_screen_loaded(self, message: Loaded) -> None:
        if message.snapshot.query != self.cases.query:
            return
        self.cases.take(message.snapshot, case_id=message.case_id, index=message.index)
        if self.focused is None:
            self._end_search()
        self._draw()

    def _draw(self) -> None:
        cases = self.cases
        query, page = cases.query, cases.snapshot.page
        place = query.dataset or "all datasets"
        names = [place, query.pool] if query.pool else [place]
        right = Content(f"{query.show}: {wording.count(page.total, 'case')}  ·  {query.sort} ")
        if query.search:
            right = Content("/") + cut(safe(query.search), 20) + Content("  ·  ") + right
        self.query_one("#top", Line).show(breadcrumb(*names), right)
        self.query_one("#columns", Lines).show(_heads)
        self.lines().show(self._build, cursor=cases.index if cases.rows else None, key=self.NAME)
        n_pages = max(1, -(-page.total // PAGE))
        if cases.rows:
            said = "enter: open the case under the cursor"
        elif query.search:
            said = "no case matches the search: / and an empty line shows all"
        elif query.show == "unlabelled":
            said = "nothing is left to label here: f shows the others"
        else:
            said = "no case is " + query.show + ": f shows the others"
        if self.told is not None:
            self.say(self.told)
            return
        self.say(said, f"page {cases.snapshot.number + 1}/{n_pages} ")

    def _build(self, width: int) -> list[LateRow]:
        tail = sum(w for _, w in COLUMNS)
        room = max(width - tail, 8)
        full = self.session.schema.seal == "full"
        rows = enumerate(self.cases.rows)
        return [LateRow(partial(_line, row, room, sealed=full), i) for i, row in rows]

    def moved(self) -> None:
        self.cases.index = self.lines().cursor or 0

    def action_move(self, by: int) -> None:
        cursor = self.lines().cursor
        number = self.cases.snapshot.number
        if cursor is not None and by > 0 and cursor == len(self.cases.rows) - 1:
            if self.cases.snapshot.page.cursor is not None:
                self._load(number + 1)
        elif cursor == 0 and by < 0 and number > 0:
            self._load(number - 1, index=PAGE)
        else:
            super().action_move(by)

    def action_page(self, by: int) -> None:
        before = self.lines().cursor
        super().action_page(by)
        if before == self.lines().cursor:
            self.action_move(by)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None:
            self.lines().select(message.item)
            self.moved()

    async def action_open(self) -> None:
        await self.open_case()

    async def open_case(self, stop: Stop | None = None) -> None:
        """Open the case at the list's place, or where the rater goes on."""
        from tui.screens.keeping import show_case

        row = self.cases.row
        if row is None:
            self.refuse("there is no case to open")
            return
        await show_case(self.medoid, self.session, self.cases, row.case_id, stop)

    def tell(self, done: Reversal) -> Content:
        query = self.cases.query
        return done.told_afar(self.size.width - 1, dataset=query.dataset, pool=query.pool)

    async def _reverse(self, act: Act) -> None:
        if not self.query_one(
            "#search", Entry
        ).display:  # a key typed there is meant for the search
            await super()._reverse(act)

    def action_filter(self) -> None:
        self.cases.query = self.cases.query.next_filter()
        self._load(0)

    def action_sort(self) -> None:
        self.cases.query = self.cases.query.next_sort()
        self._load(0)

    def action_search(self) -> None:
        entry = self.query_one("#search", Entry)
        entry.value = self.cases.query.search
        entry.display = True
        entry.focus()
        self.say("enter: search   esc: leave it as it was")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.cases.query = replace(self.cases.query, search=event.value.strip())
        self.set_focus(None)  # the line itself goes when the list comes: one new layout, not two
        self._load(0)

    def _end_search(self) -> None:
        self.query_one("#search", Entry).display = False
        self.set_focus(None)

    async def action_back(self) -> None:
        if self.query_one("#search", Entry).display:
            self._end_search()
            self._draw()
            return
        await super().action_back()


def _heads(width: int) -> list[Row]:
    right = Content("".join(name.rjust(cells) for name, cells in COLUMNS))
    return [Row(fit(Content("      #  question"), max(width - len(right.plain), 8)) + right)]


def _line(row: CaseRow, room: int, *, sealed: bool) -> Content:
    """Lay out a row; how many paths a sealed case has is told only once it was begun.

    Cases on which vote and medoid agree have fewer, so the list must not let them be picked out.
    """
    place = Content(f"  {row.position:>5}  ")
    question = fit(place + one_line(row.question), room)
    begun = row.n_mine > 0 or row.revealed or not sealed
    mine = f"{row.n_mine}/{row.n_items}" if begun else "–"
    done = "✓" if row.n_mine == row.n_items else ""
    flag = "!" if row.flagged else ""
    seen = "yes" if row.revealed else ""
    return question + Content(f"{mine:>6}{done:>2}{flag:>5}{seen:>6}")
