"""The command palette: the registry by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.actions import EVERYWHERE, Action, actions_of
from tui.visible import visible
from tui.widgets.labelbar import keyed


class RegistryCommands(Provider):
    """Offers what exists on the screen below the palette."""

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], Awaitable[Any] | None]]]:
        screen = self.screen
        name = str(getattr(screen, "mode", getattr(screen, "NAME", "")))
        for action in actions_of(name):
            if action.digit:
                continue
            yield _title(action), action.help, partial(self.screen.run_action, action.name)
        target = getattr(screen, "target", None)
        if target is not None:
            for key, category in keyed(target.schema).items():
                run = partial(screen.run_action, f"choose('{key}')")
                label = visible(category.name)
                yield f"label {label} ({key})", f"Label {target.name} {label}.", run
        yield "theme", "Change the colours.", self.app.action_change_theme
        yield "quit (ctrl+q)", EVERYWHERE[1][1], self.app.action_quit

    async def discover(self) -> Hits:
        for title, help_text, run in self._commands():
            yield DiscoveryHit(title, run, help=help_text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, help_text, run in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), run, help=help_text)


def _title(action: Action) -> str:
    return f"{action.label} ({action.key_text})"
