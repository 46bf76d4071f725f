"""The line that asks: what is judged, the question, and a key for every category."""

from __future__ import annotations

from collections.abc import Collection

from textual.content import Content
from textual.widget import Widget

from store.records import Category, SchemaRecord
from tui.text import cells, cut, safe

CHOSEN = "✓"


def keyed(schema: SchemaRecord, *, letters: bool = False) -> dict[str, Category]:
    """Return a schema's categories by the digit that chooses them.

    The schema's own keys where they are all digits, or with `letters` single characters, else their
    places from 1.
    """
    keys = [c.key for c in schema.categories]
    single = len(set(keys)) == len(keys) and all(len(k) == 1 for k in keys)
    own = single and (letters or all(k in "0123456789" for k in keys))
    places = [str(i) for i in range(1, len(keys) + 1)]
    return dict(zip(keys if own else places, schema.categories, strict=True))


def choices(
    schema: SchemaRecord, chosen: Collection[str], gap: int, *, letters: bool = False
) -> Content:
    """Return every key with its category; chosen ones carry a mark in the blank between."""
    parts = []
    for key, category in keyed(schema, letters=letters).items():
        taken = category.name in chosen
        between = CHOSEN if taken else " "
        name = safe(category.name, "bold reverse" if taken else "")
        parts.append(Content.styled(key, "bold") + Content.styled(between, "bold") + name)
    return Content(" " * gap).join(parts)


def asked(
    schema: SchemaRecord,
    head: str,
    chosen: Collection[str] = (),
    width: int = 80,
    *,
    letters: bool = False,
) -> Content:
    """Return the line: whole where it fits, else without the question, else closer together.

    Where that is not enough, the last word of `head` stands for it, after the sign of the cursor.
    """
    lead = Content.styled(f" {head}: ", "bold")
    words = head.split()
    bare = Content.styled(f" {words[-1]}: ", "bold")
    short = Content.styled(f" ▸{words[-1]}: ", "bold") if len(words) > 1 else bare
    question = safe(schema.question) + Content("   ")
    one, two, three = (choices(schema, chosen, gap, letters=letters) for gap in (1, 2, 3))
    forms = [
        lead + question + three,
        lead + three,
        lead + two,
        short + two,
        bare + two,
        short + one,
    ]
    return cut(next((f for f in forms if cells(f) <= width), forms[-1]), width)


class LabelBar(Widget):
    """The last line above the keys."""

    _schema: SchemaRecord | None = None
    _head = ""
    _chosen: tuple[str, ...] = ()
    _letters = False
    _said = Content("")

    def ask(
        self,
        schema: SchemaRecord,
        head: str,
        chosen: Collection[str] = (),
        *,
        letters: bool = False,
    ) -> None:
        """Ask a schema's question about what `head` names; `letters` as in `keyed`."""
        self._schema, self._head, self._chosen = schema, head, tuple(chosen)
        self._letters = letters
        self.refresh()

    def show(self, said: Content) -> None:
        """Say something in place of a question."""
        self._schema, self._said = None, said
        self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        if self._schema is None:
            return cut(self._said, width)
        return asked(self._schema, self._head, self._chosen, width, letters=self._letters)
