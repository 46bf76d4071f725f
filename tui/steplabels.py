"""What labels on steps look like, and what they say about the label of their path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.content import Content

from store.records import Category, LabelRecord, SchemaRecord
from tui.walk import decided

VALID = "valid"
HARMLESS = (VALID, "irrelevant")
"""Step categories that make no path unsound; every other category does."""

_STATE_MARKS = {"unsure": ("?", "bold $text-warning"), "skipped": ("·", "bold")}

StepLabels = Mapping[int, LabelRecord]


@dataclass(frozen=True, slots=True)
class Implied:
    """A path's label as its steps imply it."""

    category: Category
    first_wrong_step: int | None


def letters(names: tuple[str, ...]) -> dict[str, str]:
    """Give each category the first of its letters that no earlier one has.

    >>> letters(("valid", "unsupported", "contradicts", "arithmetic", "irrelevant"))
    {'valid': 'v', 'unsupported': 'u', 'contradicts': 'c', 'arithmetic': 'a', 'irrelevant': 'i'}
    >>> letters(("same", "sound"))
    {'same': 's', 'sound': 'o'}
    """
    taken: dict[str, str] = {}
    for name in names:
        free = (c for c in name.lower() if c.isalnum() and c not in taken.values())
        taken[name] = next(free, "x")
    return taken


def step_mark(record: LabelRecord | None, schema: SchemaRecord) -> Content:
    """Return the one cell that shows a step's label: a letter, in a colour that adds nothing."""
    if record is None or record.state == "open":
        return Content.styled("!", "bold") if record and record.flagged else Content(" ")
    if record.state != "labelled" or record.category is None:
        return Content.styled(*_STATE_MARKS.get(record.state, (" ", "")))
    letter = letters(schema.names).get(record.category, "*")
    if record.category == VALID:
        return Content.styled(letter, "$text-success")
    colour = "$text-warning" if record.category in HARMLESS else "$text-error"
    return Content.styled(letter, f"bold {colour}")


def open_step(n_steps: int, labels: StepLabels, after: int = -1) -> int | None:
    """Return the next step without a decision, from the start again at the end."""
    left = [i for i in range(n_steps) if not decided(labels.get(i))]
    return next(iter([i for i in left if i > after] or left), None)


def next_step(n_steps: int, labels: StepLabels, step: int) -> int | None:
    """Return where the cursor goes once a step is labelled: the step after it, labelled or not.

    After the last step, the first without a decision; None when there is none.
    """
    return step + 1 if step + 1 < n_steps else open_step(n_steps, labels, step)


def wrong_steps(labels: StepLabels) -> list[int]:
    """Return the steps whose label makes the path unsound."""
    return sorted(
        step
        for step, record in labels.items()
        if record.state == "labelled" and record.category not in (None, *HARMLESS)
    )


def sound_and_unsound(schema: SchemaRecord) -> tuple[Category | None, Category | None]:
    """Return the categories of a path schema that say sound and unsound.

    Unsound is the first that takes a first wrong step, sound the first that does not.
    """
    named = [c for c in schema.categories if c.state == "labelled"]
    sound = next((c for c in named if not c.takes_first_wrong_step), None)
    unsound = next((c for c in named if c.takes_first_wrong_step), None)
    return sound, unsound


def implied(schema: SchemaRecord, n_steps: int, labels: StepLabels) -> Implied | None:
    """Return what the step labels imply for the path; None while they leave it open.

    One wrong step implies unsound; it is also the first wrong one when every step before it was
    judged. Sound needs every step judged, and none wrong. That the answer follows from the last
    step is on no step, so this is a suggestion and never a label.
    """
    sound, unsound = sound_and_unsound(schema)
    if schema.multi or sound is None or unsound is None or n_steps == 0:
        return None
    judged = {s for s, r in labels.items() if r.state == "labelled"}
    wrong = wrong_steps(labels)
    if wrong:
        first = wrong[0] if all(s in judged for s in range(wrong[0])) else None
        return Implied(unsound, first)
    return Implied(sound, None) if all(s in judged for s in range(n_steps)) else None


def mismatch(
    schema: SchemaRecord, n_steps: int, labels: StepLabels, path: LabelRecord | None
) -> str | None:
    """Return in words where the path's label and its steps' labels do not go together."""
    if path is None or path.state != "labelled":
        return None
    sound, unsound = sound_and_unsound(schema)
    suggested = implied(schema, n_steps, labels)
    if suggested is None or sound is None or unsound is None:
        return None
    wrong = wrong_steps(labels)
    if path.category == sound.name and wrong:
        return f"the path is {sound.name}, yet step {wrong[0]} is {labels[wrong[0]].category}"
    if path.category == unsound.name and path.first_wrong_step == n_steps and not wrong:
        return None  # every step holds, and the answer does not follow from them
    if path.category == unsound.name and not wrong:
        return f"the path is {unsound.name}, yet no step is labelled wrong"
    step, first = path.first_wrong_step, suggested.first_wrong_step
    if path.category == unsound.name and None not in (step, first) and step != first:
        return f"the first wrong step is {step}, yet step {first} is {labels[first or 0].category}"
    return None
