"""Labels of several categories: taken on and off by digits, saved when the path is left."""

from __future__ import annotations

from textual.content import Content

from store.records import CaseView, Category, PathView
from tui.pathlines import place_name
from tui.screens.casesaves import CaseSaves
from tui.taking import take
from tui.text import safe


class CaseSeveral(CaseSaves):
    """A case in which several categories may hold, where the schema says so."""

    def clear(self) -> None:
        super().clear()
        self.toggled: tuple[str, ...] | None = None

    @property
    def unsaved(self) -> bool:
        return self.toggled is not None or super().unsaved

    def chosen(self) -> tuple[str, ...]:
        return super().chosen() if self.toggled is None else self.toggled

    def standing(self, path: PathView) -> Content:
        here = self.path
        if self.toggled is None or here is None or path.item_id != here.item_id:
            return super().standing(path)
        return Content("○ not saved: ") + safe(" + ".join(self.toggled) or "nothing")

    def _taken(self) -> tuple[str, ...]:
        """Return what is taken on the path in hand, unsure as one of the choices."""
        label = None if self.path is None else self.path.label
        if self.toggled is None and label is not None and label.state == "unsure":
            return tuple(c.name for c in self.session.schema.categories if c.state == "unsure")
        return self.chosen()

    def mark(self, path: PathView, step: int | None) -> None:
        """Mark a step; where several categories may hold, leaving saves it with those taken."""
        if self.session.schema.multi and self.toggled is None and not self.stepping:
            self.toggled = self._taken() or None
        super().mark(path, step)

    def _take_up_mark(self) -> None:
        """Let a mark that was set among the steps be saved when the path is left."""
        path = self.path
        if self.session.schema.multi and path is not None and path.item_id in self.marks:
            self.toggled = self.toggled or self._taken() or None

    def leave_steps(self) -> None:
        self._end_steps()
        self._take_up_mark()
        super().leave_steps()

    def toggle(self, choice: Category) -> None:
        """Take a category on or off; one that excludes the others, and unsure, stand alone."""
        self.toggled = take(self.session.schema, self._taken(), choice)
        self.draw()
        self.say_state()

    def state(self, case: CaseView, path: PathView) -> Content:
        step = self.marks.get(path.item_id)
        several = self.session.schema.multi and not self.stepping
        if not several or (self.toggled is None and step is None):
            return super().state(case, path)
        if step is None:
            return Content(
                "not saved yet: enter saves it, and so does leaving the path; u drops it"
            )
        if not self.toggled:
            return Content(f"{place_name(path, step)} is marked first wrong: now the digits")
        told = self._step_unfit(path)
        lead = Content(f"{place_name(path, step)} is first wrong, ")
        return told or lead + "not saved yet: enter or leaving saves both; u drops them"

    def _step_unfit(self, path: PathView) -> Content | None:
        """Return why the mark cannot be saved beside what is taken; one that takes it is enough."""
        step, taken = self.marks.get(path.item_id), self.toggled or ()
        chosen = [c for c in self.session.schema.categories if c.name in taken]
        if step is None or any(c.takes_first_wrong_step for c in chosen):
            return None
        names = safe(" + ".join(c.name for c in chosen))
        return names + Content(
            f" takes no first wrong step: add one that does, or press w at {place_name(path, step)}"
        )

    async def settle(self) -> bool:
        if self.stepping and self.session.schema.multi:
            self._take_up_mark()
            if self.toggled is not None:
                self._end_steps()
        return self.toggled is None or await self._save_toggled(advance=False)

    async def action_go_on(self) -> None:
        if self.typed is not None:
            self.end_typing()
        elif self.toggled:
            await self._save_toggled(advance=True)
        else:
            self.toggled = None
            await super().action_go_on()

    async def _save_toggled(self, *, advance: bool) -> bool:
        path, target = self.path, self.target
        if path is None or target is None or self.toggled is None:
            return True
        if not self.toggled:
            self.toggled = None
            self.draw()
            return True
        told = self._step_unfit(path)
        if told is not None:
            self.refuse(told)
            return False
        chosen = [c for c in self.session.schema.categories if c.name in self.toggled]
        unsure = chosen[0].state == "unsure"
        taking = next((c for c in chosen if c.takes_first_wrong_step), chosen[0])
        record = await self.save(
            target,
            "unsure" if unsure else "labelled",
            categories=None if unsure else self.toggled,
            step=self.step_for(path, taking),
        )
        if record is None:
            return False
        self.toggled = None
        await self.took_path(record, advance=advance)
        return True

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        self.toggled = None
        return await super().open(case_id, item_id=item_id)
