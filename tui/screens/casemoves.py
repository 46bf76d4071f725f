"""How one moves through a case: steps, sides, paths, and on to the next case."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from tui import wording
from tui.caselist import CaseList, Snapshot
from tui.pathlines import place_name
from tui.screens.casereading import CaseReading
from tui.walk import Place, name_of, next_open, path_at, place_of, places
from tui.widgets.lines import Lines


class CaseMoves(CaseReading):
    """Two sides of a case, with the keys that move."""

    def clear(self) -> None:
        super().clear()
        self.came_from: int | None = None
        """The case that an undo in another case led away from."""
        self._passed: list[tuple[Snapshot, int]] = []
        """Lists that were gone through, and the place in each."""

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        opened = await super().open(case_id, item_id=item_id)
        if opened and case_id == self.came_from:
            self.came_from = None
        return opened

    async def settle(self) -> bool:
        """Save what is saved when the path is left; False when that failed."""
        return True

    def moved(self) -> None:
        cursor, path = self.lines().cursor, self.path
        if cursor is not None and path is not None:
            self._cursors[path.item_id] = cursor

    def go(self, place: Place) -> None:
        self.stop_clock()
        self.place = place
        self.finished = False
        self.start_clock()
        self.draw()
        self.say_state()

    async def action_other(self) -> None:
        if self.case is None or not await self.settle():
            return
        case, side = self.case, 1 - self.place.side
        if case.sides[side]:
            self.go(Place(self._shown_turn(case, side), side))

    async def action_turn(self, by: int) -> None:
        if self.case is None or not await self.settle():
            return
        case = self.case
        turns = max(len(side) for side in case.sides)
        turn = self.place.turn + by
        if not 0 <= turn < turns:
            self.refuse("these are the last paths" if by > 0 else "these are the first paths")
            return
        order = [p for p in places(case) if p.turn == turn]
        same = [p for p in order if p.side == self.place.side]
        self.go((same or order)[0])

    async def on_lines_picked(self, message: Lines.Picked) -> None:
        case = self.case
        side = {"side-0": 0, "side-1": 1}.get(message.lines.id or "")
        if case is None or side is None or not case.sides[side]:
            return
        if side != self.place.side:
            if not await self.settle():
                return
            self.go(Place(self._shown_turn(case, side), side))
        if message.item is not None:
            self.lines().select(message.item)
            self.moved()

    async def action_next_case(self) -> None:
        await self.step(1)

    async def action_previous_case(self) -> None:
        await self.step(-1)

    async def step(self, by: int) -> None:
        """Open the next or previous case of the list."""
        if not await self.settle():
            return
        if by > 0 and self.outside and await self._go_back():
            return
        self.came_from = None
        try:
            row = await self.session.read(lambda: self.cases.step(by))
        except Exception as problem:
            self.fail(problem)
            return
        if row is None and by < 0 and self._passed:
            snapshot, index = self._passed.pop()
            self.cases.take(snapshot, index=index)
            row = self.cases.row
        if row is None:
            self.refuse("this is the last case of the list" if by > 0 else "this is the first case")
            return
        await self.open(row.case_id)

    async def action_go_on(self) -> None:
        """Go to what needs a label next, on this case, else on the next one."""
        if self.case is None or not await self.settle():
            return
        left = next_open(self.case, self.place)
        if left is None:
            await self.next_waiting()
        elif left == self.place:
            self.refuse("this path has no label yet: n leaves the case as it is")
        else:
            self.go(left)
        await self.arrive()

    async def action_back(self) -> None:
        if self.ask_before_losing(self.leave):
            return
        await self.leave()

    async def leave(self) -> None:
        """Go to the list, or to where one came from."""
        if self.over_list:
            await super().action_back()
            return
        from tui.screens.keeping import show_list

        await show_list(self.medoid, self.session, self.cases, instead=True)

    def pending(self) -> list[str]:
        """Return, in words, the marks of this case and others that no label was saved with."""
        case = self.case
        out = []
        for item, step in self.marks.items():
            place = None if case is None else place_of(case, item)
            path = None if case is None or place is None else path_at(case, place)
            name = "a path of another case" if place is None else name_of(place)
            said = f"step {wording.NONE}" if path is None else place_name(path, step)
            out.append(f"{name}: {said}" if step is not None else f"{name}: the mark taken off")
        return out

    def ask_before_losing(self, go_on: Callable[[], Awaitable[None]]) -> bool:
        """Ask whether marks that were not saved may go; False where there are none."""
        pending = self.pending()
        if not pending:
            return False
        from tui.screens.modals import ConfirmScreen

        async def answered(yes: bool | None) -> None:
            if yes:
                self.marks.clear()
                await go_on()

        text = "Marked as first wrong, but not saved: " + "; ".join(pending)
        text += ". A digit on the path saves its mark."
        if not isinstance(self.app.screen, ConfirmScreen):
            self.app.push_screen(
                ConfirmScreen(text, "y: leave without saving   n or esc: stay"), answered
            )
        return True

    async def arrive(self) -> None:
        """Do what is to be done on every path one comes to in the course of labelling."""

    async def nothing_left(self) -> None:
        """Do what is due when no case of the list waits any more."""

    async def _go_back(self) -> bool:
        """Go back to the case that an undo led away from; False where there is none."""
        came_from, self.came_from = self.came_from, None
        if came_from is None or came_from == self.case_id or not await self.open(came_from):
            return False
        self.say("back in the case that the undo led away from")
        return True

    async def next_waiting(self) -> None:
        """Open the next case of the list; at its end, one that was left out before."""
        if await self._go_back():
            return
        row = await self.attempt(lambda: self.cases.step(1))
        if row is not None:
            await self.open(row.case_id)
            return
        store, rater = self.session.store, self.session.rater.id
        query = replace(self.cases.query, show="unlabelled", search="")
        rest = CaseList(store, rater, query)
        snapshot = await self.attempt(rest.read)
        if snapshot is None:
            return
        if not snapshot.page.rows:
            self.say("that was the last case: every case of this row is labelled. esc goes back")
            await self.nothing_left()
            return
        self._passed.append((self.cases.snapshot, self.cases.index))
        self.cases.take(snapshot)
        await self.open(snapshot.page.rows[0].case_id)
        self.say(f"end of the list; {wording.count(snapshot.page.total, 'case')} left out before")
