"""What stands on the screen after the reveal, most important first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from scoring.types import NormalForm
from store.records import LabelRecord, PathView, RankedTrace, RevealedCase, Verdict
from tui import wording
from tui.charts import SUPPORT_LEGEND, bar
from tui.overviewlines import provenance
from tui.pathlines import answer_title, path_rows
from tui.text import cells, cut, fit, hang, safe, wrap
from tui.walk import places

BAR_CELLS = 14
SECOND = "²"

FLAGS = {
    "faithful_with_wrong_step": "says faithful and yet names a first wrong step",
    "spurious_without_step": "says spurious and names no wrong step",
    "step_out_of_range": "names a step that the path does not have",
}


def counted_label(history: Sequence[LabelRecord]) -> LabelRecord | None:
    """Return the label that κ uses: the last one not made after the reveal."""
    before = [r for r in history if r.before_reveal is not False]
    return before[-1] if before and before[-1].state != "open" else None


@dataclass(frozen=True, slots=True)
class Derived:
    """A prediction's faithfulness as the path labels give it; None where undefined."""

    faithful: bool | None
    labelled: int
    total: int


@dataclass(frozen=True, slots=True)
class RevealedView:
    """A revealed case, and by item the label of this rater that counts."""

    revealed: RevealedCase
    counted: Mapping[int, LabelRecord | None]
    steps: Mapping[int, Mapping[int, LabelRecord]] = field(default_factory=dict)

    @property
    def named_paths(self) -> tuple[tuple[str, PathView], ...]:
        """Every path with its name, A1 then B1 then A2 …"""
        sides = self.revealed.case.sides
        return tuple(
            (f"{'AB'[p.side]}{p.turn + 1}", sides[p.side][p.turn])
            for p in places(self.revealed.case)
        )

    def _category(self, path: PathView) -> str | None:
        record = self.counted.get(path.item_id)
        return None if record is None else record.category

    def sc_faithful(self) -> Derived:
        """Derive the vote's faithfulness from its labelled supporters among the case's paths."""
        score = self.revealed.score
        votes = [
            c
            for path in self.revealed.case.paths
            if path.answer == score.sc_answer and (c := self._category(path)) is not None
        ]
        total = dict(score.sc_counts).get(score.sc_answer, 0) if score.sc_answer else 0
        sound = sum(c == "faithful" for c in votes)
        return Derived(
            None if 2 * sound == len(votes) else 2 * sound > len(votes), len(votes), total
        )

    def gsc_faithful(self) -> Derived:
        """Derive the medoid's faithfulness from its path's label."""
        for path in self.revealed.case.paths:
            if path.trace_id == self.revealed.score.medoid_trace_id:
                category = self._category(path)
                known = category is not None
                return Derived(category == "faithful" if known else None, int(known), 1)
        return Derived(None, 0, 1)


def support_of(view: RevealedView, path: PathView) -> tuple[float | None, ...] | None:
    """Return a path's support by step; None where facts are not steps."""
    for ranked in view.revealed.ranking:
        if ranked.trace_id == path.trace_id and len(ranked.node_support) == len(path.steps):
            return ranked.node_support
    return None


def summary_lines(view: RevealedView, width: int) -> list[Content]:
    """Lay out everything but the paths' text."""
    blank = Content("")
    blocks = [
        _verdict_of_methods(view, width),
        _label_table(view, width),
        _notes(view, width),
        _comments(view, width),
        _derived(view, width),
        _rationales(view, width),
        _ranking(view, width),
        _metrics(view, width),
        _provenance(view, width),
    ]
    out: list[Content] = []
    for block in blocks:
        if block:
            out += [*block, blank]
    return out


def path_lines(view: RevealedView, width: int) -> list[Content]:
    """Lay out the paths of the case with the support of their steps."""
    out = [Content(f" support  {SUPPORT_LEGEND}")]
    for name, path in view.named_paths:
        support = support_of(view, path)
        label = path.label
        out.append(
            Content.styled(f" {name} ", "bold")
            + answer_title(path)
            + Content(_role(view, path, " · "))
        )
        if support is None:
            out.append(Content("  support is known by fact, not by step"))
        wrong = None if label is None else label.first_wrong_step
        out += [row.content for row in path_rows(path, width, wrong=wrong, support=support)]
        out.append(Content(""))
    return out


def _right(correct: bool | None) -> str:
    return {True: "✓ right", False: "✗ wrong", None: "no gold"}[correct]


def _verdict_of_methods(view: RevealedView, width: int) -> list[Content]:
    revealed = view.revealed
    score = revealed.score
    gold = wording.answer(revealed.gold, "bold")
    if revealed.gold is None and revealed.gold_text:
        gold = safe(revealed.gold_text, "bold")
    counts = dict(score.sc_counts)
    n = sum(counts.values())

    def votes(answer: NormalForm | None) -> str:
        return f"{counts.get(answer, 0) if answer else 0} of {n}"

    tied = ", tied: the first seen counts" if score.sc_tied else ""
    ranked = _ranked(view, score.medoid_trace_id)
    shown = "" if ranked is None else f", score {wording.share(ranked.score)}"
    medoid_tie = ", tied medoid: the first counts" if "tied_medoid" in score.flags else ""
    lines = [
        Content(" gold           ") + gold,
        Content(" SC, the vote   ")
        + wording.answer(score.sc_answer, "bold")
        + Content(f"  {_right(score.sc_correct)}  {votes(score.sc_answer)}{tied}")
        + _sides_of(view, score.sc_answer),
        Content(" GSC, medoid    ")
        + wording.answer(score.gsc_answer, "bold")
        + Content(f"  {_right(score.gsc_correct)}  {votes(score.gsc_answer)}{shown}{medoid_tie}")
        + _sides_of(view, score.gsc_answer),
    ]
    out = [x for line in lines for x in hang(line[:16], line[16:], width)]
    if set(counts) - {score.sc_answer, score.gsc_answer}:
        out += _all_votes(score.sc_counts, width)
    return out


def _all_votes(counts: Sequence[tuple[NormalForm, int]], width: int) -> list[Content]:
    """Return every answer with its votes, e.g. ``16 ×6``; no line ends between the two."""
    head, pad = Content(" all votes      "), Content(" " * 16)
    parts = [wording.answer(a) + Content(f" ×{n}") for a, n in counts]
    parts = [p + Content(" ·") for p in parts[:-1]] + parts[-1:]
    rows: list[Content] = []
    for part in parts:
        joined = rows[-1] + Content(" ") + part if rows else part
        if rows and cells(joined) <= width - 16:
            rows[-1] = joined
        else:
            rows.append(part)
    return [x for i, row in enumerate(rows) for x in hang(pad if i else head, row, width)]


def _sides_of(view: RevealedView, answer: NormalForm | None) -> Content:
    names = [
        "AB"[i]
        for i, side in enumerate(view.revealed.case.sides)
        if any(p.answer == answer for p in side)
    ]
    return Content(f"  (side {' and '.join(names)})" if names else "")


def _ranked(view: RevealedView, trace_id: int | None) -> RankedTrace | None:
    return next((r for r in view.revealed.ranking if r.trace_id == trace_id), None)


def _role(view: RevealedView, path: PathView, lead: str) -> str:
    ranked = _ranked(view, path.trace_id)
    if ranked is None:
        return ""
    return f"{lead}{wording.ordinal(ranked.rank)}{' ◀ medoid' if ranked.is_medoid else ''}"


def _raters(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((v.rater, v.rater_kind) for v in verdicts))


def _label_table(view: RevealedView, width: int) -> list[Content]:
    revealed = view.revealed
    raters = _raters(revealed.verdicts)
    first = [
        Content.styled(f" {name} ", "bold")
        + cut(wording.answer(path.answer), 12)
        + Content(_role(view, path, "  "))
        for name, path in view.named_paths
    ]
    name_cells = max(map(cells, first), default=8) + 2
    room = max((width - name_cells) // (len(raters) + 1), 12)
    by_path = {(v.item_id, v.rater): v for v in revealed.verdicts}
    names = [Content(" path"), Content("you"), *(safe(name) for name, _ in raters)]
    kinds = [Content(""), Content(""), *(Content(f"({kind})") for _, kind in raters)]
    lines = [_columns(names, name_cells, room), _columns(kinds, name_cells, room, "underline")]
    for head, (_, path) in zip(first, view.named_paths, strict=True):
        row = [head, _mine(view, path)]
        for rater, _ in raters:
            verdict = by_path.get((path.item_id, rater))
            row.append(Content(wording.NONE) if verdict is None else _verdict(verdict))
        lines.append(_columns(row, name_cells, room))
    return [cut(line, width) for line in lines]


def _columns(parts: list[Content], first: int, room: int, style: str = "") -> Content:
    out = Content("")
    for i, part in enumerate(parts):
        out = out + fit(part, (first if i == 0 else room) - 1) + Content(" ")
    return out.stylize(style) if style else out


def _mine(view: RevealedView, path: PathView) -> Content:
    text = wording.label(path.label)
    return text + Content(f" {SECOND}") if _second(view, path) else text


def _second(view: RevealedView, path: PathView) -> bool:
    """Return whether a label was set after a reveal; at level `open` there is none."""
    sealed = view.revealed.case.seal != "open"
    return sealed and path.label is not None and path.label.before_reveal is False


def _verdict(verdict: Verdict) -> Content:
    text = wording.decision(verdict.state, verdict.category, verdict.first_wrong_step)
    return text + Content(f" {wording.CONTRADICTION}") if verdict.flags else text


def _notes(view: RevealedView, width: int) -> list[Content]:
    """Explain the marks of the table."""
    out: list[Content] = []
    names = {path.item_id: name for name, path in view.named_paths}
    for name, path in view.named_paths:
        if _second(view, path):
            counted = view.counted.get(path.item_id)
            before = Content("no label") if counted is None else wording.label(counted)
            text = Content(f"{name}: set after the reveal; before it, and for κ: ") + before
            out += hang(Content(f" {SECOND} "), text, width)
        if path.label is not None and path.label.at_odds:
            text = Content("you: ") + wording.at_odds(path.label) + Content(f" ({name})")
            out += hang(Content(f" {wording.CONTRADICTION} "), text, width)
    grouped: dict[tuple[str, str], list[str]] = {}
    for verdict in view.revealed.verdicts:
        for flag in verdict.flags:
            grouped.setdefault((verdict.rater, flag), []).append(names[verdict.item_id])
    for (rater, flag), where in grouped.items():
        meaning = FLAGS.get(flag)
        told = Content(f" {meaning}") if meaning else Content(": ") + safe(flag)
        order = [name for name in names.values() if name in where]
        text = safe(rater) + told + Content(f" ({', '.join(order)})")
        out += hang(Content(f" {wording.CONTRADICTION} "), text, width)
    return out


def _comments(view: RevealedView, width: int) -> list[Content]:
    """Show what the rater wrote on paths and steps."""
    out: list[Content] = []
    for name, path in view.named_paths:
        steps = sorted(view.steps.get(path.item_id, {}).items())
        named = [(name, path.label), *((f"{name} step {i}", label) for i, label in steps)]
        for where, label in named:
            if label is not None and label.note:
                head = Content(" ✎ ") + Content.styled(where, "bold") + Content(" you: ")
                text = Content("“") + safe(label.note, newlines=True) + Content("”")
                out += hang(head, text, width)
    return out


def _derived(view: RevealedView, width: int) -> list[Content]:
    sc, gsc = view.sc_faithful(), view.gsc_faithful()
    lines = [
        f"SC prediction   {_word(sc)}: {sc.labelled} of its {sc.total} traces labelled",
        f"GSC prediction  {_word(gsc)}: the medoid's path",
    ]
    head = Content.styled(" By your labels", "bold")
    return [head, *(x for line in lines for x in hang(Content("   "), Content(line), width))]


def _word(derived: Derived) -> str:
    if derived.faithful is None:
        return "undefined (a tie)" if derived.labelled else "undefined (no label)"
    return "faithful" if derived.faithful else "spurious"


def _rationales(view: RevealedView, width: int) -> list[Content]:
    names = {path.item_id: name for name, path in view.named_paths}
    out: list[Content] = []
    for verdict in sorted(
        view.revealed.verdicts, key=lambda v: (list(names).index(v.item_id), v.rater)
    ):
        if not verdict.rationale:
            continue
        version = Content("")
        if verdict.prompt_version:
            version = Content(" ") + safe(verdict.prompt_version)
        head = Content.styled(f" {names[verdict.item_id]} ", "bold")
        text = (
            safe(verdict.rater) + version + Content(": “") + safe(verdict.rationale, newlines=True)
        )
        out += hang(head, text + Content("”"), width)
    return out


def _ranking(view: RevealedView, width: int) -> list[Content]:
    names = {path.trace_id: name for name, path in view.named_paths}
    ranking = view.revealed.ranking
    if not ranking:
        return []
    lines = [Content.styled(" rank  GSC score            C/max     P  answer", "underline")]
    for r in ranking:
        shown = bar(r.score, BAR_CELLS)
        left = Content(f" {r.rank:>4}  ") + fit(Content(shown), BAR_CELLS)
        figures = "".join(
            wording.share(v).rjust(w)
            for v, w in ((r.score, 5), (r.centrality_share, 8), (r.consensus, 6))
        )
        mark = " ◀ medoid" if r.is_medoid else ""
        if r.trace_id in names:
            mark += f" · {names[r.trace_id]}"
        room = width - cells(left) - len(figures) - len(mark) - 2
        lines.append(
            left.stylize("$primary", 6)
            + Content(figures + "  ")
            + cut(wording.answer(r.answer), max(room, 4))
            + Content(mark)
        )
    lines += wrap(
        Content(" C/max: centrality as a share of the highest; P: consensus of the steps"), width
    )
    return lines


def _metrics(view: RevealedView, width: int) -> list[Content]:
    """Show the pool's other metrics with what a higher value means and where it can lie."""
    held = view.revealed.score.metrics
    if not held:
        return []
    from scoring.graphs.orientation import METRICS

    lines = [Content.styled(" metric                value    n  higher means; range", "underline")]
    for name, metric in held.items():
        info = METRICS[name]
        value = wording.NONE if metric.value is None else f"{metric.value:.3f}"
        head = Content(f" {name:<20}{value:>7}{metric.n:>5}  ")
        told = f"{info.higher}; {info.range}" if metric.value is not None else ""
        lines += hang(head, Content(told) + safe(metric.why_undefined or ""), width)
    return lines


def _provenance(view: RevealedView, width: int) -> list[Content]:
    revealed = view.revealed
    score = revealed.score
    excluded = ", ".join(f"{k} {v}" for k, v in score.excluded.items() if v) or "none"
    flags = ", ".join(score.flags)
    texts = [
        Content(
            f"GRCS {wording.share(score.grcs)} (a coherence: 1 = all traces alike)  "
            f"divergence {wording.share(score.divergence)} (0 = alike)  "
            f"n {score.n_used} of {score.n_traces}, left out: "
        )
        + safe(excluded)
        + (Content("  flags: ") + safe(flags) if flags else Content("")),
        Content("scored with ") + provenance(revealed.scoring),
        Content("stratum ")
        + safe(revealed.stratum)
        + Content(f", chosen with probability {wording.share(revealed.inclusion_probability)}"),
    ]
    return [line for text in texts for line in hang(Content(" "), text, width)]


__all__ = [
    "RevealedView",
    "counted_label",
    "path_lines",
    "summary_lines",
    "support_of",
]
