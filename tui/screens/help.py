"""The guideline, and every key from the registry."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content

from tui.actions import bindings_of, help_rows
from tui.pathlines import UNSAID, WRONG
from tui.screens.base import Sheet
from tui.text import fit, wrap
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row
from tui.widgets.stock import Guide, Pane

KEY_CELLS = 18

SIGNS = (
    ("⟵0,2", "the step says that it uses steps 0 and 2; no arrow: a premise"),
    (UNSAID, "the step does not say what it uses; the step before it is assumed"),
    (WRONG, "marked as the first wrong step"),
    (
        "4∴",
        "the final answer as the model wrote it; its number, one more than the last step's, is "
        "for w and f: every step holds, and the answer does not follow",
    ),
    ("⟵△", "the step names a step that cannot be used (r says why); ⟵1△: another one beside 1"),
    ("≠", "a label or verdict that contradicts itself: faithful, yet with a first wrong step"),
    ("²", "after the reveal: a second row, which κ does not use"),
    ("△2", "the parser noted two things about the format: r shows them"),
    ("!", "flagged"),
    ("v u c a i", "after a step's number: its label by its first letter; ? unsure, · skipped"),
    ("○", "not saved yet: the digit saves it, or leaving the path"),
    ("△ …", "a path's label and those of its steps do not go together"),
    ("∅ DROPPED", "a step that the decomposer made no fact of"),
    ("– +", "a step as it was, and as it was edited; changed words stand in bold brackets"),
    ("∴ left out", "the conclusion: a step that no other uses; no model was shown it here"),
    ("⊕ INVENTED", "a statement that names a step which is not there"),
)
NAMES = {
    "overview": "Overview",
    "queue": "Cases",
    "case": "Case",
    "steps": "Steps of a path",
    "revealed": "After the reveal",
    "samples": "Decomposed traces",
    "facts": "Facts of a trace",
    "edits": "Edited steps",
    "relations": "Relation sets",
    "review": "Contradictions of a set",
    "ablations": "Medoid ablation",
    "ablation": "Medoid and alternative",
    "runs": "Runs",
    "topology": "Topology map",
    "sensitivity": "Sensitivity",
    "deduction": "Deduction",
    "charts": "Charts of deduction",
    "replies": "Replies beside the expected values",
    "errors": "Errors in replies",
    "agreement": "Agreement",
    "pair": "Two raters",
    "disagreements": "Where two differ",
    "audit": "Wins of SC and GSC",
    "summary": "End of a session",
    "raw": "Raw text and help",
    "graph": "Graph",
    "support": "Graph after the reveal",
    "distances": "Distances",
    "matrix": "Answers of a relation set",
    "order": "Order of a relation set",
    "map": "Map of a relation set",
    "family": "Family",
}


class HelpScreen(Sheet):
    """The guideline where labels are set, then the keys, this screen's own first."""

    NAME = "help"
    BINDINGS = bindings_of("help")

    def __init__(self, guideline: str | None, screen: str) -> None:
        super().__init__()
        self._guideline = guideline
        self._screen = screen

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        with Pane(id="help"):
            if self._guideline is not None:
                yield Guide(self._guideline, id="guide")
            yield Lines(id="lines")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self.query_one("#top", Line).show(
            Content.styled(" Keys and guideline", "bold"), "j/k, pgdn: more "
        )
        self.lines().show(lambda width: [Row(line) for line in help_lines(self._screen, width)])

    @property
    def _pane(self) -> Pane:
        return self.query_one("#help", Pane)

    def action_move(self, by: int) -> None:
        self._pane.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self._pane.scroll_relative(y=by * max(1, self._pane.size.height - 1), animate=False)

    def action_top(self) -> None:
        self._pane.scroll_home(animate=False)

    def action_bottom(self) -> None:
        self._pane.scroll_end(animate=False)


def help_lines(screen: str, width: int) -> list[Content]:
    """Return keys and sentences of a screen, the signs, then the keys of the other screens."""
    out: list[Content] = []
    seen: set[tuple[str, str]] = set()
    for name in (screen, *(name for name in NAMES if name != screen)):
        out.append(Content.styled(f" {NAMES[name]}", "bold"))
        for row in help_rows([name]):
            if row not in seen:
                out += _row(*row, width)
        seen.update(help_rows([name]))
        out.append(Content(""))
        if name == "case":
            out.append(Content.styled(" Signs", "bold"))
            for sign, sentence in SIGNS:
                out += _row(sign, sentence, width)
            out.append(Content(""))
    return out


def _row(keys: str, sentence: str, width: int) -> list[Content]:
    lines = wrap(Content(sentence), max(width - KEY_CELLS - 2, 10))
    head = fit(Content.styled(keys, "bold"), KEY_CELLS)
    return [
        Content("  ") + (head if i == 0 else Content(" " * KEY_CELLS)) + line
        for i, line in enumerate(lines)
    ]
