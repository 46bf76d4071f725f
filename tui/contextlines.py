"""What a seal level below `full` allows beside a case, in few lines, for the path in hand."""

from __future__ import annotations

from textual.content import Content

from scoring.types import NormalForm
from store.records import PathView, RevealedCase, Verdict
from tui import wording
from tui.charts import support_glyph
from tui.text import hang, safe

_RIGHT = {True: " ✓", False: " ✗", None: ""}


def context_lines(revealed: RevealedCase, item_id: int | None, width: int) -> list[Content]:
    """Lay out gold, vote and medoid, then what belongs to a path; long parts wrap."""
    path = next((p for p in revealed.case.paths if p.item_id == item_id), None)
    parts = [("gold ", _gold(revealed)), ("SC ", _vote(revealed)), ("GSC ", _medoid(revealed))]
    lines = _joined(parts, width)
    if path is not None:
        lines += _path(revealed, path, width)
        lines += [x for v in _verdicts(revealed, path) for x in hang(Content(" "), v, width)]
    return lines


def _joined(parts: list[tuple[str, Content]], width: int) -> list[Content]:
    texts = [Content.styled(head, "bold") + text for head, text in parts]
    whole = Content(" ") + Content("  ·  ").join(texts)
    if len(whole.plain) <= width:
        return [whole]
    return [line for text in texts for line in hang(Content(" "), text, width)]


def _gold(revealed: RevealedCase) -> Content:
    if revealed.gold is None and revealed.gold_text:
        return safe(revealed.gold_text)
    return wording.answer(revealed.gold)


def _side(revealed: RevealedCase, answer: NormalForm | None) -> str:
    names = [
        "AB"[i]
        for i, side in enumerate(revealed.case.sides)
        if answer is not None and any(p.answer == answer for p in side)
    ]
    return f" ({'+'.join(names)})" if names else ""


def _vote(revealed: RevealedCase) -> Content:
    score = revealed.score
    counts = dict(score.sc_counts)
    n = counts.get(score.sc_answer, 0) if score.sc_answer else 0
    told = f"{_RIGHT[score.sc_correct]} {n} of {sum(counts.values())}"
    side = _side(revealed, score.sc_answer)
    return wording.answer(score.sc_answer) + Content(told + side)


def _medoid(revealed: RevealedCase) -> Content:
    score = revealed.score
    counts = dict(score.sc_counts)
    n = counts.get(score.gsc_answer, 0) if score.gsc_answer else 0
    told = f"{_RIGHT[score.gsc_correct]} {n} of {sum(counts.values())}"
    side = _side(revealed, score.gsc_answer)
    return wording.answer(score.gsc_answer) + Content(told + side)


def _path(revealed: RevealedCase, path: PathView, width: int) -> list[Content]:
    ranked = next((r for r in revealed.ranking if r.trace_id == path.trace_id), None)
    if ranked is None:
        return [Content(" this path has no score")]
    medoid = " ◀ medoid" if ranked.is_medoid else ""
    text = Content(f"{wording.ordinal(ranked.rank)}, score {wording.share(ranked.score)}{medoid}")
    if len(ranked.node_support) == len(path.steps):
        glyphs = " ".join(
            f"{s.index}{support_glyph(v)}"
            for s, v in zip(path.steps, ranked.node_support, strict=True)
        )
        text = text + Content("  ·  ") + Content.styled("support ", "bold") + Content(glyphs)
    return hang(Content(" ") + Content.styled("this path ", "bold"), text, width)


def _verdicts(revealed: RevealedCase, path: PathView) -> list[Content]:
    return [_verdict(v) for v in revealed.verdicts if v.item_id == path.item_id]


def _verdict(verdict: Verdict) -> Content:
    said = wording.decision(verdict.state, verdict.category, verdict.first_wrong_step)
    text = safe(verdict.rater, "bold") + Content(" ") + said
    if verdict.rationale:
        text = text + Content(" “") + safe(verdict.rationale, newlines=True) + Content("”")
    return text
