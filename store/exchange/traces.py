"""The native trace JSONL and the Faithful-COT pools (DESIGN, Contract)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from scoring.parsing import (
    is_strict,
    normalize_answer,
    parse_faithful_cot,
    parse_trace,
    trace_from_steps,
)
from scoring.parsing.choices import lettered
from scoring.types import AnswerKind, ParseIssue, Trace
from store.exchange.lines import (
    LineError,
    maybe_name,
    need_name,
    need_text,
    scalar_text,
    shown,
)
from store.records import NewQuestion, NewTrace

PARSER = "medoid-parser/1"
KINDS: tuple[str, ...] = get_args(AnswerKind)
_NATIVE_FIELDS = frozenset(
    [
        "dataset",
        "question_id",
        "question",
        "gold",
        "answer_kind",
        "options",
        "percent",
        "pool",
        "model",
        "variant",
        "sample",
        "text",
        "steps",
        "answer",
    ]
)


@dataclass(frozen=True, slots=True)
class RawTrace:
    """A trace as a file states it, before the question's answer kind is known for sure."""

    question: NewQuestion
    kind_stated: bool
    pool: str
    model: str | None
    variant: str | None
    sample: str
    form: Literal["text", "steps", "faithful-cot"]
    source: Any
    extra: Mapping[str, Any] | None

    def parsed(self, question: NewQuestion) -> NewTrace:
        """Parse under a question's answer kind, options and percent rule."""
        trace = _parse(self.form, self.source, question)
        if self.extra and self.extra.get("finish_reason") == "length":
            trace = _cut_off(trace)
        return NewTrace(
            question=question,
            pool=self.pool,
            model=self.model,
            variant=self.variant,
            sample=self.sample,
            form=self.form,
            source=self.source,
            trace=trace,
            strict=is_strict(trace),
            parser=PARSER,
            extra=self.extra,
        )


def _parse(form: str, source: Any, question: NewQuestion) -> Trace:
    rules: dict[str, Any] = {
        "kind": question.answer_kind,
        "options": question.options,
        "percent": question.percent,
    }
    if form == "steps":
        return trace_from_steps(source["steps"], source["answer"], **rules)
    if form == "faithful-cot":
        return parse_faithful_cot(source["text"], source["answer"], **rules)
    return parse_trace(source, **rules)


def _cut_off(trace: Trace) -> Trace:
    """Note that the server cut the reply, which the text alone need not show."""
    if any(i.code == "truncated" for i in trace.issues):
        return trace
    issue = ParseIssue("truncated", "the server says the reply was cut at the token limit")
    return replace(trace, issues=(*trace.issues, issue))


def is_trace_line(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a native trace."""
    return "question" in row and ("text" in row or "steps" in row)


def is_faithful_cot_line(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a Faithful-COT question with its chains."""
    return "cots" in row and "question" in row


def native_trace(row: dict[str, Any], stem: str) -> RawTrace:
    """Read one line of native trace JSONL.

    Raises
    ------
    LineError
        Naming the field, what was found, and what would be right.
    """
    model, variant = maybe_name(row, "model"), maybe_name(row, "variant")
    pool = maybe_name(row, "pool") or (
        stem if model is None else model if variant is None else f"{model}@{variant}"
    )
    if ("text" in row) == ("steps" in row):
        raise LineError("a trace has either text, or steps and answer; this line has both")
    form: Literal["text", "steps"] = "text" if "text" in row else "steps"
    source: Any
    if form == "text":
        source = need_text(row, "text", blank=True)
    else:
        if not isinstance(row["steps"], list):
            raise LineError(f"steps is {shown(row['steps'])}; a list of objects is right")
        source = {"steps": row["steps"], "answer": scalar_text(row.get("answer"), "answer")}
    question, stated = question_of(row, need_name(row, "dataset"), need_name(row, "question_id"))
    extra = {k: v for k, v in row.items() if k not in _NATIVE_FIELDS}
    if form == "text" and "answer" in row:
        extra["answer"] = row["answer"]
    return RawTrace(
        question,
        stated,
        pool,
        model,
        variant,
        need_name(row, "sample"),
        form,
        source,
        extra or None,
    )


def faithful_cot(row: dict[str, Any], dataset: str, pool: str) -> Iterator[RawTrace | LineError]:
    """Read one Faithful-COT question: a trace, or an error, for each of its chains.

    A chain is an object with `config` (the sample), `answer` and `text`, or a bare text, whose
    sample is its place and whose answer stands in the text.
    """
    question, stated = question_of(row, dataset, need_name(row, "id"))
    if not isinstance(row["cots"], list):
        raise LineError(f"cots is {shown(row['cots'])}; a list of chains is right")
    for place, chain in enumerate(row["cots"]):
        try:
            yield _chain(chain, place, question, stated, pool)
        except LineError as error:
            yield LineError(f"cots[{place}]: {error}")


def _chain(chain: Any, place: int, question: NewQuestion, stated: bool, pool: str) -> RawTrace:
    if isinstance(chain, str):
        return RawTrace(question, stated, pool, None, None, str(place), "text", chain, None)
    if not isinstance(chain, dict):
        raise LineError(f"{shown(chain)}; an object with config, answer and text is right")
    source = {
        "text": need_text(chain, "text", blank=True),
        "answer": scalar_text(chain.get("answer"), "answer"),
    }
    sample = need_name(chain, "config") if "config" in chain else str(place)
    extra = {k: v for k, v in chain.items() if k not in ("config", "answer", "text")}
    return RawTrace(
        question, stated, pool, None, None, sample, "faithful-cot", source, extra or None
    )


def question_of(
    row: dict[str, Any], dataset: str, external_id: str, extra: Mapping[str, Any] | None = None
) -> tuple[NewQuestion, bool]:
    """Read the question that a line states, and whether it states the answer's kind.

    Raises
    ------
    LineError
        Naming the field, what was found, and what would be right; never the gold answer.
    """
    gold_text = scalar_text(row.get("gold"), "gold")
    options = row.get("options")
    if not _valid_options(options):
        raise LineError(f"options is {shown(options)}; a list of texts or letter → text is right")
    if options is not None:
        try:
            lettered(options)
        except ValueError as error:
            raise LineError(str(error)) from error
    percent = row.get("percent", "keep")
    if percent not in ("keep", "ratio"):
        raise LineError(f"percent is {shown(percent)}; keep or ratio is right")
    stated = row.get("answer_kind")
    if stated is not None and stated not in KINDS:
        raise LineError(f"answer_kind is {shown(stated)}; one of {', '.join(KINDS)} is right")
    kind: AnswerKind = stated or _kind_of_gold(gold_text, options, percent)
    gold = None
    if gold_text is not None:
        gold = normalize_answer(gold_text, kind, options=options, percent=percent)
        if gold is None:
            raise LineError(f"gold, a text of {len(gold_text)} characters, is no {kind} answer")
    question = NewQuestion(
        dataset,
        external_id,
        need_text(row, "question"),
        gold_text,
        gold,
        kind,
        options,
        percent,
        extra,
    )
    return question, stated is not None


def _kind_of_gold(gold: str | None, options: Any, percent: str) -> AnswerKind:
    """Return the kind that the gold answer shows, `auto` where there is none."""
    if options is not None:
        return "choice"
    if gold is None:
        return "auto"
    normal = normalize_answer(gold, "auto", percent=percent)
    return "auto" if normal is None else normal[0]  # type: ignore[return-value]


def _valid_options(options: Any) -> bool:
    if options is None:
        return True
    if isinstance(options, dict):
        return bool(options) and all(isinstance(v, str) for v in options.values())
    return isinstance(options, list) and bool(options) and all(isinstance(v, str) for v in options)
