"""Which announcements of an answer a text makes in earnest: seen over the whole text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.parsing.answers import Options, normalize_answer
from scoring.parsing.assemble import is_blank
from scoring.parsing.cues import find_cue
from scoring.parsing.layout import Label
from scoring.parsing.references import take_annotations
from scoring.types import AnswerKind, NormalForm

_TRIED = 400
"""Announcements of one text whose answers are read; the last ones."""


@dataclass(frozen=True, slots=True)
class Announcements:
    """What a look over all lines says about the announcements in them.

    Attributes
    ----------
    weak
        Whether "the answer is" and the like count.
    idle
        Lines whose announcement gives no answer although a later one does.
    """

    weak: bool
    idle: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Said:
    at: int
    answer: str
    strong: bool
    below: bool


def survey(
    lines: Sequence[str],
    labels: Mapping[int, Label],
    kind: AnswerKind,
    options: Options | None,
    percent: str,
) -> Announcements:
    """Look over all announcements before the text is read line by line.

    Parameters
    ----------
    lines
        Lines of the text.
    labels
        Line number → the step number it opens with.
    kind, options, percent
        As in `read_answer`.

    Returns
    -------
    Announcements
        Weak announcements count when no strong one gives an answer text, or when none of them
        gives a readable one and a readable weak one comes later.

    Notes
    -----
    A step such as "The final answer is close." announces nothing when its words have no normal
    form of the kind and a later announcement's do. Under ``auto``, words that come out as a text
    give no answer where a later one is a number, truth value, choice or date. Only lines of steps
    can be idle; an unreadable answer line stays a (conflicting) answer.

    Examples
    --------
    >>> survey(["The final answer is close.", "The final answer is: 5"], {}, "auto", None, "keep")
    Announcements(weak=False, idle=frozenset({0}))
    """
    said = _said(lines, labels)
    forms = _forms(said, kind, options, percent)
    firm = [s for s in said if _is_firm(forms.get(s.at), kind)]
    strong = [s for s in said if s.strong]
    sure = [s for s in firm if s.strong]
    weak = not strong or (not sure and bool(firm) and firm[-1].at > strong[-1].at)
    counted = firm if weak else sure
    if not counted:
        return Announcements(weak, frozenset())
    final_label = max(labels, default=len(lines))
    idle = (
        s.at
        for s in said
        if s.at < counted[-1].at
        and (s.strong or weak)
        and not s.below
        and s.at in forms
        and not _is_firm(forms[s.at], kind)
        and (s.at in labels or s.at < final_label)
    )
    return Announcements(weak, frozenset(idle))


def _is_firm(form: NormalForm | None, kind: AnswerKind) -> bool:
    """Return whether an answer is one of the kind; under `auto`, whether it is more than words."""
    return form is not None and (kind != "auto" or form[0] != "text")


def _said(lines: Sequence[str], labels: Mapping[int, Label]) -> list[_Said]:
    """Return announcements that an answer follows, on the line or on the next that says something."""
    out: list[_Said] = []
    waiting: bool | None = None
    for at, line in enumerate(lines):
        if waiting is None and "answer" not in line.lower() and "####" not in line:
            continue
        text = take_annotations(labels[at].text if at in labels else line).text
        cue = find_cue(text, weak=True)
        if cue is not None and not cue.question:
            waiting = cue.strong if is_blank(cue.answer) else None
            if waiting is None:
                out.append(_Said(at, cue.answer, cue.strong, below=False))
        elif waiting is not None and not is_blank(text):
            if cue is None and at not in labels:
                out.append(_Said(at, text.strip(), waiting, below=True))
            waiting = None
    return out


def _forms(
    said: Sequence[_Said], kind: AnswerKind, options: Options | None, percent: str
) -> dict[int, NormalForm | None]:
    seen: dict[str, NormalForm | None] = {}
    out: dict[int, NormalForm | None] = {}
    for s in said[-_TRIED:]:
        if s.answer not in seen:
            seen[s.answer] = normalize_answer(s.answer, kind, options=options, percent=percent)
        out[s.at] = seen[s.answer]
    return out
