"""The registry of everything a key can do. Bindings, footer, help and palette derive from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType

FOOTER_MAX = 5
"""Keys a footer shows at 80 columns; the rest is in the help and the palette."""

_WORDS = {
    "escape": "esc",
    "question_mark": "?",
    "exclamation_mark": "!",
    "slash": "/",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "number_sign": "#",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a key does on some screens.

    Attributes
    ----------
    name
        Name of the screen's ``action_…`` method.
    keys
        Keys, the first one shown in the footer.
    label
        A word or two for the footer and the palette.
    help
        A sentence for the help.
    screens
        Names of the screens on which it exists; "steps" is the case screen while digits go to the
        steps of a path.
    footer
        Names of the screens whose footer shows it.
    digit
        Whether the method takes the key as its argument.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    screens: tuple[str, ...]
    footer: tuple[str, ...] = ()
    digit: bool = False

    @property
    def key_text(self) -> str:
        """All keys as the help shows them."""
        return "0-9" if self.digit else "  ".join(key_text(k) for k in self.keys)


def key_text(key: str) -> str:
    """Return a key's name for a reader.

    >>> key_text("question_mark"), key_text("ctrl+r")
    ('?', 'ctrl+r')
    """
    return _WORDS.get(key, key)


_LISTS = ("overview", "queue")
_CASE = ("case",)
_HERE = ("case", "steps")
_BOTH = ("case", "revealed")
_MINE = ("case", "steps", "revealed")
_SET_VIEWS = ("matrix", "order", "map", "family")
_SHEETS = ("raw", "graph", "support", "distances", *_SET_VIEWS, "help")
_READ = (*_SHEETS, "summary")
_WIDER = ("distances", "matrix")
_FACTS = ("facts",)
_EDITS = ("edits",)
_REVIEW = ("review",)
_ERRORS = ("errors",)
_TO_LABEL = ("case", "steps", "facts", "edits", "review", "errors")
_NOTED = (_TO_LABEL, ("steps", "facts", "edits"))
_LABELLED = (_TO_LABEL, ("case", "steps", "facts", "edits"))
_DOING = (
    *(*_MINE, *_LISTS, "samples", "facts", "edits", "relations", "review"),
    *("deduction", "errors"),
)
_DEDUCED = ("deduction", "charts", "replies")
_ABLATED = ("ablations", "ablation")
_AGREE = ("agreement", "pair", "disagreements", "audit")
_ALL = (
    *("overview", "queue", "case", "steps", "revealed", "samples", "facts", "edits"),
    *_ABLATED,
    *("runs", "topology", "sensitivity", "relations", "review"),
    *_DEDUCED,
    *_ERRORS,
    *_AGREE,
)


def _twice(*screens: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return screens as where an action exists and where the footer shows it."""
    return screens, screens


ACTIONS: tuple[Action, ...] = (
    Action(
        "start",
        ("enter",),
        "start",
        "Go on at the path or step of your last act in this row; where that is done or there is "
        "none, at the next that waits for you.",
        ("overview",),
        ("overview",),
    ),
    Action(
        "session",
        ("s",),
        "session",
        "Begin a session of a chosen size here; while one is under way, see how it stands.",
        ("overview",),
        ("overview",),
    ),
    Action(
        "cases", ("c",), "cases", "Show this row's cases as a list.", ("overview",), ("overview",)
    ),
    Action("reload", ("g",), "reload", "Read the figures again.", ("overview",)),
    Action(
        "decompositions",
        ("d",),
        "decompositions",
        "Label how well steps were split into facts, from where you stopped.",
        ("overview",),
    ),
    Action(
        "runs", ("r",), "runs", "Show what is running, how far it is, and what ran.", ("overview",)
    ),
    Action(
        "topology",
        ("t",),
        "topology",
        "Show where the revealed cases of this row lie between agreement and disorder.",
        ("overview",),
    ),
    Action(
        "sensitivity",
        ("y",),
        "sensitivity",
        "Show how far GSC hangs on β, γ, α and our readings, as medoid sensitivity found last.",
        ("overview",),
    ),
    Action(
        "open", ("enter",), "go to case", "Go to the case under the cursor.", *_twice("topology")
    ),
    Action(
        "edits",
        ("e",),
        "edited steps",
        "Label whether edited steps are plausible and another fact, from where you stopped.",
        ("overview",),
    ),
    Action(
        "ablations",
        ("m",),
        "ablation",
        "Show what is left of accuracy and faithfulness without the medoid, question by question.",
        ("overview",),
    ),
    Action(
        "relations",
        ("o",),
        "relations",
        "Show where models contradict themselves about orders, places and families.",
        ("overview",),
    ),
    Action(
        "open",
        ("enter",),
        "review",
        "Review where this model contradicts itself, from where you stopped.",
        *_twice("relations"),
    ),
    Action(
        "find",
        ("f",),
        "find",
        "Find what this model contradicts itself in, and put it in the queue to be reviewed.",
        *_twice("relations"),
    ),
    Action(
        "reveal",
        ("b",),
        "reveal",
        "Look behind the seal of a whole set: true order, map and family. Possible once every "
        "finding of this set and model is decided.",
        ("relations",),
    ),
    *(
        Action(f"view('{what}')", (key,), label, sentence, ("relations", "review"), footer)
        for what, key, label, sentence, footer in (
            (
                "matrix",
                "m",
                "matrix",
                "Show what was answered about every ordered pair of the set.",
                ("relations",),
            ),
            (
                "order",
                "o",
                "order",
                "Show the order that the answers imply, as a list.",
                ("relations",),
            ),
            ("map", "v", "map", "Show the map that the answers make of places.", ()),
            ("family", "t", "family", "Show the family as a tree, once it may be seen.", ()),
        )
    ),
    Action(
        "deduction",
        ("p",),
        "deduction",
        "Show how far models keep to what follows, problem by problem, and label their errors.",
        ("overview",),
    ),
    Action(
        "open",
        ("enter",),
        "replies",
        "Show this model's replies beside the expected values, step by step.",
        *_twice("deduction"),
    ),
    Action(
        "label",
        ("l",),
        "label errors",
        "Label the errors in replies that were drawn for it, from where you stopped.",
        *_twice("deduction"),
    ),
    Action(
        "charts",
        ("v",),
        "charts",
        "Show cells by prefix and hop, lines over hops, and base against decay.",
        *_twice("deduction"),
    ),
    Action(
        "agreement",
        ("a",),
        "agreement",
        "Show how far raters agree on errors, category by category.",
        ("deduction",),
    ),
    Action(
        "survivors",
        ("r",),
        "problems",
        "Show which problems survive for every model, and what other templates failed on.",
        ("deduction",),
    ),
    Action(
        "view(1)", ("tab", "right", "l"), "next chart", "Show the next chart.", *_twice("charts")
    ),
    Action(
        "view(-1)", ("shift+tab", "left", "h"), "chart before", "Show the one before.", ("charts",)
    ),
    Action("counts", ("n",), "n below", "Show n below every cell, or hide it.", *_twice("charts")),
    Action(
        "shades",
        ("number_sign",),
        "shades",
        "Show cells as shades alone, or with their numbers.",
        *_twice("charts"),
    ),
    Action("next_case", ("n",), "next reply", "Go to the next reply.", *_twice("replies")),
    Action("previous_case", ("p",), "previous reply", "Go to the one before.", ("replies",)),
    Action(
        "wrong",
        ("w",),
        "next wrong",
        "Go to the next reply in which a value is wrong or missing.",
        *_twice("replies"),
    ),
    Action(
        "other",
        ("tab",),
        "other side",
        "Scroll the other side.",
        ("replies", "errors"),
        ("replies",),
    ),
    Action(
        "choose",
        tuple("1234567890"),
        "label",
        "Take an error on or off; several may hold. It is saved when the reply is left.",
        _ERRORS,
        digit=True,
    ),
    Action(
        "go_on",
        ("enter", "space"),
        "save, go on",
        "Save what is taken and go to the next reply without a label.",
        _ERRORS,
        _ERRORS,
    ),
    Action("next_case", ("n",), "next reply", "Go to the next reply of the list.", _ERRORS),
    Action("previous_case", ("p",), "previous reply", "Go to the one before.", _ERRORS),
    Action(
        "undo",
        ("u",),
        "undo",
        "Drop what is not saved; else take back your last act and go to the reply it was on.",
        _ERRORS,
        _ERRORS,
    ),
    Action(
        "reveal",
        ("b",),
        "reveal",
        "Look behind the seal: expected values, where the reply goes wrong, what the judge says. "
        "Possible once every reply to the same numbers that was drawn is labelled.",
        _ERRORS,
        _ERRORS,
    ),
    Action(
        "change",
        ("e",),
        "change label",
        "Change your label after the reveal; it is kept as a second row.",
        _ERRORS,
    ),
    Action(
        "filter",
        ("f",),
        "filter",
        "Show unlabelled, all, done or flagged replies in turn.",
        _ERRORS,
    ),
    Action(
        "draw_sample",
        ("m",),
        "draw a sample",
        "Draw 50 replies to label, where none were drawn yet.",
        _ERRORS,
    ),
    Action(
        "raw",
        ("r",),
        "in full",
        "Show question, given steps and reply in full.",
        ("replies", "errors"),
    ),
    Action(
        "choose",
        tuple("1234567890"),
        "label",
        "Say which statement is wrong (0: none is), then why; both are saved at once.",
        _REVIEW,
        digit=True,
    ),
    Action(
        "unsure", ("s",), "cannot tell", "Say that you cannot tell without looking it up.", _REVIEW
    ),
    Action(
        "other",
        ("tab",),
        "which or why",
        "Ask again which statement is wrong, or why, to change an answer.",
        _REVIEW,
    ),
    Action("next_case", ("n",), "next", "Go to the next finding of the list.", _REVIEW, _REVIEW),
    Action("previous_case", ("p",), "previous", "Go to the finding before.", _REVIEW),
    Action("go_on", ("enter", "space"), "go on", "Go to the next that waits.", _REVIEW),
    Action(
        "undo", ("u",), "undo", "Take back your last act and go to the finding.", _REVIEW, _REVIEW
    ),
    Action(
        "reveal",
        ("b",),
        "reveal",
        "Look behind the seal of this finding: truth, repair and what judges said. Possible once "
        "you have decided it.",
        _REVIEW,
        _REVIEW,
    ),
    Action(
        "filter", ("f",), "filter", "Show unlabelled, all, done or flagged ones in turn.", _REVIEW
    ),
    Action(
        "single",
        ("d",),
        "single statements",
        "Go from contradictions to the single statements that were drawn, and back.",
        _REVIEW,
    ),
    Action(
        "raw",
        ("r",),
        "in full",
        "Show every statement with the model's whole replies, and what it was told.",
        _REVIEW,
        _REVIEW,
    ),
    Action(
        "choose",
        tuple("1234567890"),
        "label",
        "Label this edit, save it, and go to the next one that waits.",
        _EDITS,
        digit=True,
    ),
    Action("next_case", ("n",), "next edit", "Go to the next edit of the list.", _EDITS, _EDITS),
    Action("previous_case", ("p",), "previous edit", "Go to the previous edit.", _EDITS),
    Action("go_on", ("enter", "space"), "go on", "Go to the next edit without a label.", _EDITS),
    Action(
        "undo",
        ("u",),
        "undo",
        "Take back your last act and go to the edit it was on.",
        _EDITS,
        _EDITS,
    ),
    Action(
        "filter",
        ("f",),
        "filter",
        "Show unlabelled, all, done or flagged edits in turn.",
        _EDITS,
    ),
    Action("other", ("d",), "other editing", "Go to the next editing.", _EDITS),
    Action(
        "draw_sample",
        ("m",),
        "draw a sample",
        "Draw 50 edits of this editing to label, where none were drawn yet.",
        _EDITS,
    ),
    Action(
        "raw",
        ("r",),
        "in full",
        "Show the question and every answer in full, and how the edit was made.",
        _EDITS,
    ),
    Action(
        "open",
        ("enter",),
        "open",
        "Show the medoid of the question under the cursor beside its alternatives.",
        *_twice("ablations"),
    ),
    Action(
        "target",
        ("t",),
        "gold or own",
        "Measure faithfulness against the gold answer, or against each trace's own.",
        *_twice("ablations"),
    ),
    Action(
        "protocol",
        ("f",),
        "protocol",
        "Show all questions (broad), or those that GSC alone has right (targeted).",
        *_twice("ablations"),
    ),
    Action(
        "turn(1)",
        ("right", "l", "tab"),
        "next alternative",
        "Put the next alternative beside the medoid.",
        *_twice("ablation"),
    ),
    Action(
        "turn(-1)",
        ("left", "h", "shift+tab"),
        "previous alternative",
        "Put the previous alternative beside the medoid.",
        ("ablation",),
    ),
    Action("next_case", ("n",), "next question", "Go to the next question.", *_twice("ablation")),
    Action("previous_case", ("p",), "previous question", "Go to the one before.", ("ablation",)),
    Action(
        "agreement",
        ("a",),
        "agreement",
        "Show how far raters agree, and how faithful the wins of SC and GSC are.",
        ("overview",),
    ),
    Action("open", ("enter",), "open", "Show the table of these two.", *_twice("agreement")),
    Action(
        "audit",
        ("w",),
        "wins",
        "Show how many of the questions that SC or GSC alone gets right rest on sound paths.",
        *_twice("agreement"),
    ),
    Action(
        "next_schema",
        ("s",),
        "schema",
        "Go to the next label schema that has labels.",
        *_twice("agreement"),
    ),
    Action("open", ("enter",), "disagreements", "List where these two differ.", *_twice("pair")),
    Action("open", ("enter",), "open", "Open the case of this path.", *_twice("disagreements")),
    Action(
        "adjudicate",
        ("a",),
        "adjudicate",
        "Decide with a third label and a reason; what the raters said stays as it is.",
        *_twice("disagreements"),
    ),
    Action("rater", ("s",), "whose labels", "Take the next rater's labels.", *_twice("audit")),
    Action("open", ("enter",), "open", "Open the trace under the cursor.", *_twice("samples")),
    Action(
        "filter",
        ("f",),
        "filter",
        "Show unlabelled, all, done or flagged traces in turn.",
        *_twice("samples"),
    ),
    Action(
        "other", ("d",), "other decomposition", "Go to the next decomposition.", *_twice("samples")
    ),
    Action(
        "draw_sample",
        ("m",),
        "draw a sample",
        "Draw 50 traces of this decomposition to label, where none were drawn yet.",
        ("samples",),
    ),
    Action(
        "choose",
        tuple("1234567890"),
        "label",
        "Label this criterion, save it, and go to the next one; after the last, to the next trace.",
        _FACTS,
        digit=True,
    ),
    Action(
        "criterion(1)",
        ("tab", "right", "l"),
        "criterion",
        "Go to the next criterion.",
        _FACTS,
        _FACTS,
    ),
    Action(
        "criterion(-1)",
        ("shift+tab", "left", "h"),
        "criterion before",
        "Go to the criterion before.",
        _FACTS,
    ),
    Action(
        "undo",
        ("u",),
        "undo",
        "Take back your last act and go to the decomposed trace it was on.",
        _FACTS,
        _FACTS,
    ),
    Action(
        "go_on",
        ("enter", "space"),
        "go on",
        "Go to the next criterion without a label; when none is left here, to the next trace.",
        _FACTS,
    ),
    Action("next_case", ("n",), "next trace", "Go to the next trace of the list.", _FACTS),
    Action(
        "previous_case", ("p",), "previous trace", "Go to the previous trace of the list.", _FACTS
    ),
    Action(
        "raw", ("r",), "in full", "Show the question in full, and how the facts were made.", _FACTS
    ),
    Action("open", ("enter",), "open", "Open the case under the cursor.", ("queue",), ("queue",)),
    Action(
        "filter",
        ("f", "ctrl+f"),
        "filter",
        "Show unlabelled, all, done or flagged cases in turn.",
        ("queue",),
        ("queue",),
    ),
    Action(
        "search", ("slash",), "search", "Search question, id and dataset.", ("queue",), ("queue",)
    ),
    Action(
        "sort",
        ("o", "ctrl+o"),
        "sort",
        "Sort by the audit's random order or by question.",
        ("queue",),
    ),
    Action(
        "choose",
        tuple("1234567890"),
        "label",
        "Label this path with the category of that key, save it, and go to the next path. Where "
        "a schema lets several hold: take it on or off, saved when the path is left.",
        _CASE,
        digit=True,
    ),
    Action(
        "choose",
        tuple("1234567890"),
        "label",
        "Label the step under the cursor, save it, and go to the next step.",
        ("steps",),
        digit=True,
    ),
    Action(
        "wrong",
        ("w",),
        "first wrong step",
        "Mark the step under the cursor as the first wrong one; the path's digit then saves both "
        "(where several categories may hold: leaving the path does). Again to take the mark off.",
        _HERE,
        _CASE,
    ),
    Action(
        "number",
        ("f",),
        "first wrong by number",
        "Followed by a step's number: mark that step as the first wrong one.",
        _HERE,
    ),
    Action(
        "steps",
        ("s",),
        "steps",
        "Label the steps of this path: digits go to the step under the cursor.",
        _CASE,
        _CASE,
    ),
    Action(
        "steps",
        ("s",),
        "back to the path",
        "Let digits go to the path again.",
        ("steps",),
        ("steps",),
    ),
    Action(
        "sticky",
        ("S",),
        "steps on every path",
        "Enter every path by its steps from now on; again to stop.",
        _HERE,
    ),
    Action(
        "auto",
        ("A",),
        "next case by itself",
        "Go to the next case by itself once every path is labelled; again to stop.",
        _HERE,
    ),
    Action(
        "take",
        ("y",),
        "take suggestion",
        "Label the path as its steps suggest.",
        _HERE,
    ),
    Action(
        "undo",
        ("u",),
        "undo",
        "Take back your last act, on whichever path or step it was, and go there.",
        _MINE,
        _HERE,
    ),
    Action(
        "undo",
        ("u",),
        "undo",
        "Take back your last act, in whichever case it was, and say here what it was.",
        (*_LISTS, "samples", "relations", "deduction"),
    ),
    Action("redo", ("ctrl+r",), "redo", "Do again what undo took back.", _DOING),
    Action("skip", ("x",), "skip", "Decide not to label this; it counts as done.", *_LABELLED),
    Action("reason", ("X",), "skip, saying why", "Give a reason, then skip.", _LABELLED[0]),
    Action("flag", ("exclamation_mark",), "flag", "Flag this, or take the flag off.", _LABELLED[0]),
    Action("comment", ("c",), "comment", "Write a comment on this.", *_NOTED),
    Action(
        "go_on",
        ("enter", "space"),
        "go on",
        "Go to the next path without a label; when none is left here, to the next case.",
        _BOTH,
        ("revealed",),
    ),
    Action(
        "go_on",
        ("enter", "space"),
        "go on",
        "Go to the next step without a label; when none is left, back to the path.",
        ("steps",),
    ),
    Action("go_on", ("enter", "space"), "go on", "Go on labelling.", ("summary",), ("summary",)),
    Action(
        "stop",
        ("q", "escape"),
        "stop",
        "End the session. Every label is saved already.",
        ("summary",),
        ("summary",),
    ),
    Action(
        "reveal",
        ("b",),
        "reveal",
        "Look behind the seal: judge, votes, scores and gold. Possible once every path of the "
        "case is labelled, unsure or skipped.",
        _CASE,
    ),
    Action(
        "context",
        ("i",),
        "all that is shown",
        "Show in full what the schema's seal level shows beside the case.",
        _CASE,
    ),
    Action(
        "change",
        ("e",),
        "change label",
        "Change your label after the reveal; it is kept as a second row.",
        _BOTH,
        ("revealed",),
    ),
    Action("other", ("tab",), "other side", "Go to the other side.", _HERE),
    Action(
        "wide",
        ("z",),
        "one side wide",
        "Give the side in hand the whole width; again for both.",
        _HERE,
    ),
    Action(
        "unfold",
        ("o",),
        "whole question",
        "Unfold a long question and its options in place; again to fold it.",
        _HERE,
    ),
    Action(
        "other",
        ("tab",),
        "other column",
        "On a wide terminal: scroll the other column.",
        ("revealed",),
    ),
    Action("turn(1)", ("right", "l"), "next paths", "Turn both sides to the next paths.", _HERE),
    Action(
        "turn(-1)", ("left", "h"), "previous paths", "Turn both sides to the previous paths.", _HERE
    ),
    Action(
        "raw",
        ("r",),
        "raw text",
        "Show question and path in full, as typed, with what the parser noticed.",
        _HERE,
    ),
    Action("graph", ("v",), "graph", "Show which step depends on which.", _MINE, ("revealed",)),
    Action(
        "distances",
        ("m",),
        "distances",
        "Show how far apart the pool's traces lie, grouped by answer.",
        ("revealed",),
    ),
    Action(
        "evidence",
        ("enter",),
        "all evidence",
        "Show the nearest fact of every other trace to the one under the cursor; again for less.",
        *_twice("support"),
    ),
    Action(
        "parent",
        ("left", "h"),
        "used by it",
        "Go to a node that this one uses.",
        *_twice("graph", "support"),
    ),
    Action(
        "child",
        ("right", "l"),
        "using it",
        "Go to a node that uses this one.",
        *_twice("graph", "support"),
    ),
    Action(
        "scroll(1)",
        ("right", "l"),
        "columns",
        "Scroll the columns of a matrix wider than the screen.",
        *_twice(*_WIDER),
    ),
    Action("scroll(-1)", ("left", "h"), "columns back", "Scroll the columns back.", _WIDER),
    Action(
        "axis",
        ("tab",),
        "other axis",
        "Of places: go from west to east to south to north, and back.",
        *_twice("matrix", "order"),
    ),
    Action("next_case", ("n",), "next case", "Go to the next case of the list.", _MINE),
    Action("previous_case", ("p",), "previous case", "Go to the previous case of the list.", _MINE),
    Action("move(1)", ("j", "down"), "down", "Go down a line or step.", (*_ALL, *_READ)),
    Action("move(-1)", ("k", "up"), "up", "Go up a line or step.", (*_ALL, *_READ)),
    Action("page(1)", ("pagedown",), "page down", "Go down a screenful.", (*_ALL, *_READ)),
    Action("page(-1)", ("pageup",), "page up", "Go up a screenful.", (*_ALL, *_READ)),
    Action("top", ("home",), "top", "Go to the first line.", (*_ALL, *_READ)),
    Action("bottom", ("end",), "bottom", "Go to the last line.", (*_ALL, *_READ)),
    Action(
        "back",
        ("escape",),
        "back",
        "Go back.",
        (
            *("queue", "case", "samples", "facts", "edits", "review", *_ABLATED),
            *("runs", "topology", "sensitivity", "relations", *_SHEETS, *_AGREE),
            *(*_DEDUCED, "errors"),
        ),
        (
            *("queue", "samples", *_ABLATED, *_DEDUCED),
            *("runs", "topology", "sensitivity", *_SHEETS, *_AGREE),
        ),
    ),
    Action("back", ("escape",), "back to the path", "Let digits go to the path again.", ("steps",)),
    Action(
        "back",
        ("escape", "b"),
        "paths",
        "Go back to the paths.",
        ("revealed",),
        ("revealed",),
    ),
    Action("help", ("question_mark",), "keys", "Show the keys and the guideline.", _ALL, _ALL),
    Action(
        "app.quit",
        ("q",),
        "quit",
        "Leave. Every label is saved already.",
        ("overview",),
        ("overview",),
    ),
)

EVERYWHERE: tuple[tuple[str, str], ...] = (
    ("ctrl+p", "Everything that can be done here, by name."),
    ("ctrl+q", "Leave from anywhere; a session shows its summary first."),
)


def actions_of(screen: str) -> tuple[Action, ...]:
    """Return what exists on a screen, in the order of the help."""
    return tuple(a for a in ACTIONS if screen in a.screens)


def bindings_of(screen: str) -> list[BindingType]:
    """Return a screen's Textual bindings."""
    return [
        Binding(key, f"{action.name}('{key}')" if action.digit else action.name, show=False)
        for action in actions_of(screen)
        for key in action.keys
    ]


def footer_of(screen: str, hints: tuple[str, ...] = ()) -> tuple[tuple[str, str], ...]:
    """Return key and label of what a screen's footer shows; `hints` name actions due just now."""
    chosen = tuple(
        (key_text(a.keys[0]), a.label)
        for a in actions_of(screen)
        if screen in a.footer or a.name in hints
    )
    if len(chosen) > FOOTER_MAX + len(hints):
        raise ValueError(f"{len(chosen)} keys in the footer of {screen}: at most {FOOTER_MAX} fit")
    return chosen


def help_rows(screens: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return keys and sentence of everything on the screens, each once."""
    wanted = tuple(screens)
    rows = [(a.key_text, a.help) for a in ACTIONS if any(s in a.screens for s in wanted)]
    return (*dict.fromkeys(rows), *EVERYWHERE)
