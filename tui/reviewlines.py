"""A finding in lines: statements that cannot all hold, the model's own words, what the seal hid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.content import Content

from pipeline.relation_review import ReviewCase, StatedEdge
from pipeline.relation_sealed import AXIS_WORDS
from pipeline.relation_truth import EdgeTruth, ReviewTruth
from store.records import Category, LabelRecord, SchemaRecord, Verdict
from store.relation_records import CaseEdge, RelationCase, RelationTruth, SaidAnswer
from tui import wording
from tui.cyclelines import MOST_DRAWN, WRONG, Link, cycle_lines
from tui.setlines import axis_title
from tui.text import cells, cut, cut_middle, fit, hang, one_line, safe, wrap
from tui.widgets.lines import Row

KIN_TITLES = {
    "triple": "three at odds",
    "inverse": "two not inverse",
    "gender": "two genders",
}
BOTH_WAYS = {
    "agree": "both ways: agree",
    "contradict": "both ways: contradict",
    "one way": "asked one way",
    "unread": "one way not read",
}
SHORT_CAUSES = {
    "wrong fact": "fact",
    "answer preference": "preference",
    "swapped objects": "swapped",
    "arithmetic of negatives": "negatives",
}
"""Causes in a word, where the line that asks is short of cells."""
TRUE, FALSE, UNKNOWN = "✓", WRONG, "–"
THIS_WAY, OTHER_WAY = "this way", "other way"
"""A pair as its statement names it first, and the same pair named the other way round."""
SAID_CELLS = 16
"""Cells of a relation's word as the model gave it."""


def case_title(case: RelationCase) -> str:
    """Return along which axis, or how, a finding is at odds."""
    if case.axis is None:
        return "one statement"
    return axis_title(case.axis) if case.axis in AXIS_WORDS else KIN_TITLES[case.axis]


def edge_word(case: RelationCase, edge: StatedEdge) -> str:
    """Return how a statement reads from its a to its b."""
    plain = case.axis in AXIS_WORDS or case.set.kind == "temporal"
    return edge.words if plain else f"{edge.words} of"


def ring(edges: Sequence[CaseEdge]) -> tuple[list[str], list[bool]] | None:
    """Return the objects that statements lead through, and which of these point onward.

    None where they do not close a ring.
    """
    for start in (edges[0].a, edges[0].b):
        nodes: list[str] = []
        onward: list[bool] = []
        here = start
        for edge in edges:
            if here not in (edge.a, edge.b):
                break
            nodes.append(here)
            onward.append(edge.a == here)
            here = edge.b if edge.a == here else edge.a
        if len(nodes) == len(edges) and here == start:
            return nodes, onward
    return None


def drawing(shown: ReviewCase, chosen: str | None, here: int | None, width: int) -> list[Content]:
    """Draw a finding; the edge called wrong is marked, the one under the cursor stands out.

    Empty for what is no ring, or too long to be drawn: the list of the statements says it all.
    """
    edges = shown.case.edges
    found = ring(edges) if 1 < len(edges) <= MOST_DRAWN else None
    if found is None:
        return []
    nodes, onward = found
    links = [
        Link(
            edge_word(shown.case, stated),
            forward,
            "bold" if here == stated.edge.number - 1 else "",
            wrong=stated.edge.category == chosen,
        )
        for stated, forward in zip(shown.edges, onward, strict=True)
    ]
    lines = cycle_lines(nodes, links, min(width, 100))
    return lines if any("▴" in line.plain for line in lines) else []


def edge_rows(shown: ReviewCase, truth: ReviewTruth | None, width: int) -> list[Row]:
    """Lay out the statements, each with both askings; item i is the i-th statement."""
    rows: list[Row] = []
    for item, stated in enumerate(shown.edges):
        right = BOTH_WAYS[stated.both_ways]
        if truth is not None:
            right = behind(truth.edges[item], truth.truth.suspect)
        if item:
            rows.append(Row(Content(""), item))
        rows.append(Row(_head(shown.case, stated, right, width), item, True))
        for asked in (*stated.edge.there, *stated.edge.back):
            rows.append(Row(_said_line(stated.edge, asked, width), item))
    return rows


def _head(case: RelationCase, stated: StatedEdge, right: str, width: int) -> Content:
    """Return a statement, and at the right how it stands."""
    edge = stated.edge
    lead = Content("  ") + Content.styled(f"{edge.number} ", "bold")
    word = Content(" ") + one_line(edge_word(case, stated)) + Content(" ")
    room = max(width - cells(lead) - cells(word) - cells(right) - 3, 12)
    a, b = one_line(edge.a), one_line(edge.b)
    if cells(a) + cells(b) > room:
        a = cut_middle(a, max(room // 2, room - cells(b)))
        b = cut_middle(b, room - cells(a))
    left = lead + a.stylize("bold") + word + b.stylize("bold")
    return cut(fit(left, max(width - cells(right) - 1, 0)) + Content(right), width)


def _way(edge: CaseEdge, said: SaidAnswer) -> str:
    """Return which way round a pair was asked, as its statement reads or the other."""
    return THIS_WAY if said.a == edge.a else OTHER_WAY


def _said_line(edge: CaseEdge, said: SaidAnswer, width: int) -> Content:
    """Return one asking in a line: which way round, the word read, the model's own words."""
    word = one_line(said.relation) if said.relation is not None else Content("not read")
    line = Content(f"     {_way(edge, said):<{len(OTHER_WAY)}}  ")
    line += fit(cut(word, SAID_CELLS - 1), SAID_CELLS)
    text = said.text if said.text is not None else f"({said.reason})" if said.reason else ""
    return cut(line + one_line(text), width)


def words_lines(stated: StatedEdge | None, width: int, height: int) -> list[Content]:
    """Return the model's whole replies on a statement, as many lines as there is room for."""
    if stated is None:
        return []
    out: list[Content] = []
    for said in (*stated.edge.there, *stated.edge.back):
        if said.text is not None:
            way = _way(stated.edge, said)
            head = Content(f" on {stated.edge.number}, {way}: ")
            text = Content("“") + safe(said.text.strip(), newlines=True) + Content("”")
            out += hang(head, text, width)
    if len(out) > height:
        out = [
            *out[: height - 1],
            cut(out[height - 1], max(width - 12, 4)) + Content(" … (r: all)"),
        ]
    return out


# -- behind the seal


def behind(known: EdgeTruth, suspect: int | None) -> str:
    """Return in a few words what the seal hid of a statement."""
    mark = UNKNOWN if known.right is None else TRUE if known.right else FALSE
    told = f"truth {mark}"
    if known.right is False and known.true is not None:
        told += f" {known.true}"
    if suspect is None:
        return told
    return f"{told}  repair {'turns it' if suspect == known.number else 'keeps it'}"


def truth_lines(truth: RelationTruth, width: int) -> list[Content]:
    """Say what is true of the objects, what the repair would do, and what others said."""
    out: list[Content] = []
    stated = [
        one_line(o.name) + Content(" ") + one_line(o.stated or _written(o.truth))
        for o in truth.objects.values()
        if o.truth is not None
    ]
    if stated:
        out += hang(Content(" true: "), Content(" · ").join(stated), width)
    for (a, b), word in truth.facts.items():
        line = Content(" true: ") + one_line(a) + Content(" is ") + safe(word or "no word")
        out.append(cut(line + Content(" of ") + one_line(b), width))
    if truth.suspect is not None and truth.breaks is not None:
        n = wording.count(truth.breaks, "contradiction")
        out.append(cut(Content(f" repair: mending {truth.suspect} breaks {n}"), width))
    for schema, said in truth.verdicts.items():
        for verdict in said:
            out += _verdict(schema, verdict, width)
    return out


def _written(value: object) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else f"{value}"


def _verdict(schema: str, verdict: Verdict, width: int) -> list[Content]:
    said = wording.decision(verdict.state, verdict.category, verdict.first_wrong_step)
    if schema == "cycle-cause":
        said = Content("why: ") + said
    if verdict.rationale:
        said += Content("  “") + one_line(verdict.rationale) + Content("”")
    return hang(Content(" ") + safe(verdict.rater, "bold") + Content(" "), said, width)


# -- what is asked


def asked_schema(schema: SchemaRecord, n_edges: int, width: int) -> SchemaRecord:
    """Return a schema as its line asks it: the edges that there are, causes in a word.

    The line's head says in few words what the schema's question asks.
    """
    shown: list[Category] = []
    for category in schema.categories:
        if schema.item_kind == "cycle" and category.name.startswith("edge"):
            number = category.name.removeprefix("edge")
            if number.isdecimal() and int(number) > n_edges:
                continue
        short = SHORT_CAUSES.get(category.name, category.name) if width < 110 else category.name
        shown.append(replace(category, name=short))
    return replace(schema, question="", categories=tuple(shown))


def labels_said(labels: Sequence[LabelRecord | None]) -> Content:
    """Return one's own labels on a finding in words, empty without any."""
    said = [wording.label(x) for x in labels if x is not None and x.decided]
    return Content("your label: ") + Content(" · ").join(said) if said else Content("")


def in_full(shown: ReviewCase, truth: ReviewTruth | None, width: int) -> list[Content]:
    """Return everything that may be seen of a finding: what was told, asked and said, in full."""
    case, room = shown.case, width - 1
    out = [Content.styled("Statements", "bold")]
    for stated in shown.edges:
        edge = stated.edge
        line = Content(f"{edge.number} ") + safe(edge.a) + Content(" ")
        line += one_line(edge_word(case, stated)) + Content(" ") + safe(edge.b)
        out += wrap(line + Content(f"   {BOTH_WAYS[stated.both_ways]}"), room)
        for said in (*edge.there, *edge.back):
            asked = Content("  asked what ") + safe(said.a) + Content(" is to ") + safe(said.b)
            word = safe(said.relation) if said.relation is not None else Content("not read")
            out += wrap(asked + Content(": ") + word, room)
            if said.text is not None:
                lines = wrap(safe(said.text, newlines=True), room - 4)
                out += [Content("    ") + x for x in lines]
    if shown.about or shown.told:
        out += [Content(""), Content.styled("What the model was told", "bold")]
        for told in (shown.about, *shown.told):
            out += wrap(safe(told, newlines=True), room) if told else []
    if truth is not None:
        out += [Content(""), Content.styled("Behind the seal", "bold")]
        out += truth_lines(truth.truth, room)
    by = Content("asked of ") + safe(case.asking.model)
    by += Content(", prompt ") + safe(case.asking.prompt_version or wording.NONE)
    return [*out, Content(""), *wrap(by, room), *wrap(safe(case.item), room)]
