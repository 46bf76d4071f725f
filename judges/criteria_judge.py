"""The judge of a decomposition: three criteria, each met or not, with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judges.fencing import Fencing
from judges.orders import drawn_order
from judges.plain import after_thinking, annotation, one_line, step_line, why_not
from judges.prompts import Prompt, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Message, Outcome, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.types import Fact, Trace

ROLE = "criteria_judge"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
CRITERIA = ("atomic", "nothing_invented", "dependencies_kept")
CATEGORIES = ("yes", "no")
MAX_RATIONALE = 160

PARTLY_UNPARSED = "partly_unparsed"
"""Flag: some of the criteria have a verdict that could be read, others have none."""

_NAMES = "|".join(name.replace("_", "[ _-]") for name in CRITERIA)
_LINE = re.compile(
    rf"(?:[\W_]|[0-9][.)]){{0,8}}({_NAMES})(?:[*_`\"')(,]| ){{0,6}}"
    rf"(reason|rationale|verdict)?[*_`\"') ]{{0,6}}[:=–-][*_`\"' ]{{0,8}}(.*)",
    re.IGNORECASE,
)
_WORD = re.compile(r"(yes|no)[*_`\"']{0,4}(?:$|(?:[.,;:(–—]| [(–—-])(.*))", re.IGNORECASE)
_OTHER = {"yes": re.compile(r"\b(?:not?|false)\b"), "no": re.compile(r"\b(?:yes|true)\b")}


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """What a judge said of one criterion; `category` is None with a `reason` where it did not."""

    category: str | None
    rationale: str
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CriteriaVerdict:
    """What a judge said of one decomposed trace.

    `criteria` has all three, in order. The whole is ``ok`` when at least one could be read;
    `reason` says why not, where none could.
    """

    criteria: Mapping[str, CriterionVerdict]
    outcome: Outcome
    reason: str = ""
    flags: tuple[str, ...] = ()


def option_order(seed: int, item: str, repeat: int) -> tuple[str, str]:
    """Return yes and no in the order in which one request offers them; see `drawn_order`."""
    return drawn_order(CATEGORIES, seed, item, repeat)


def criteria_request(
    model: str,
    q: QuestionText,
    trace: Trace,
    facts: Sequence[Fact],
    *,
    item: str,
    invented: Sequence[str] = (),
    repeat: int = 0,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    seed: int = 0,
    prompt: Prompt | None = None,
) -> Request:
    """Return the request for one look at one decomposed trace: what a person is shown of it.

    That is the question's wording, the steps with their annotations, the facts under their steps,
    and the `invented` statements, which name no step. Options, passage and the trace's answer are
    not sent. `item` only draws the order of the words (and of the worked examples): it is not sent.
    A sampling seed gets the repeat's number added; the newest `prompt` that ships is used unless
    another one is given. ValueError for a trace without facts.
    """
    if not facts:
        raise ValueError("a decomposition without facts cannot be judged: it is left out, counted")
    order = option_order(seed, item, repeat)
    prompt = load_prompt(f"criteria_judge-{form}") if prompt is None else prompt
    schema = criteria_schema(order)
    drawn = bounded(sampling, schema, form)
    if drawn.seed is not None:
        drawn = replace(drawn, seed=drawn.seed + repeat)
    lines = list(_lines(prompt, trace, facts, invented))
    enclosed = Fencing(prompt, q.text.strip(), *lines)
    messages = replace(prompt, examples=_ordered(prompt, order)).fill(
        rules="\n".join(prompt.part(word) for word in order),
        first=order[0],
        second=order[1],
        question=enclosed(q.text.strip()),
        steps=enclosed("\n".join(lines)),
        **enclosed.values,
    )
    bound = schema if form == "schema" else None
    return Request(ROLE, model, messages, drawn, bound, repeat, prompt.label)


def criteria_schema(order: tuple[str, str] = CATEGORIES) -> Schema:
    """Return the schema of a reply: for each criterion the reason first, then the word."""
    one = closed_object(
        {
            "rationale": {"type": "string", "maxLength": MAX_RATIONALE},
            "verdict": {"type": "string", "enum": list(order)},
        }
    )
    return closed_object(dict.fromkeys(CRITERIA, one))


def _lines(
    prompt: Prompt, trace: Trace, facts: Sequence[Fact], invented: Sequence[str]
) -> Iterator[str]:
    for step in trace.steps:
        yield f"{step_line(step, f'{step.index}.')}{annotation(step)}"
        own = [fact for fact in facts if fact.step == step.index]
        yield from (_indented(fact.text) for fact in own)
        if not own:
            yield f"   {prompt.part('dropped')}"
    if invented:
        yield prompt.part("stray")
        yield from map(_indented, invented)


def _indented(statement: str) -> str:
    return f"   - {one_line(statement)}"


def _ordered(prompt: Prompt, order: tuple[str, str]) -> tuple[Message, ...]:
    """Return the worked examples, that of the word offered first before the other.

    The file has two, in the order of `CATEGORIES`.
    """
    met, broken = prompt.examples[:2], prompt.examples[2:]
    return (*met, *broken) if order == CATEGORIES else (*broken, *met)


def read_criteria(reply: Reply) -> CriteriaVerdict:
    """Read three verdicts; nothing a model writes raises, and one that is not there is None."""
    reason = why_not(reply)
    if reason is not None:
        nothing = CriterionVerdict(None, "", reply.outcome, reason)
        return CriteriaVerdict(dict.fromkeys(CRITERIA, nothing), reply.outcome, reason)
    if reply.data is None:
        found = _in_text(after_thinking(reply.text))
    else:
        said: Any = reply.data if isinstance(reply.data, dict) else {}
        found = {name: _in_fields(said.get(name)) for name in CRITERIA}
    missing = [v for v in found.values() if v.category is None]
    if len(missing) == len(CRITERIA):
        return CriteriaVerdict(found, "invalid", "no verdict on any criterion could be read")
    return CriteriaVerdict(found, "ok", "", (PARTLY_UNPARSED,) if missing else ())


def _in_fields(said: Any) -> CriterionVerdict:
    if not isinstance(said, dict):
        return _verdict([], "")
    verdict, text = said.get("verdict"), said.get("rationale")
    named = [] if verdict is None else [verdict if verdict in CATEGORIES else None]
    return _verdict(named, text if isinstance(text, str) else "")


def _in_text(text: str) -> dict[str, CriterionVerdict]:
    """Return what the labelled lines say; several verdicts on one criterion must agree."""
    words: dict[str, list[str | None]] = {name: [] for name in CRITERIA}
    rationales: dict[str, str] = {}
    for line in map(one_line, text.splitlines()):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name = re.sub("[ -]", "_", match[1].casefold())
        if (match[2] or "").casefold() in ("reason", "rationale"):
            rationales.setdefault(name, match[3])
        else:
            words[name].append(_word(match[3]))
    return {name: _verdict(words[name], rationales.get(name, "")) for name in CRITERIA}


def _word(rest: str) -> str | None:
    """Return the word that opens what follows the label, unless what is behind it contradicts."""
    match = _WORD.match(rest)
    if match is None:
        return None
    word = match[1].casefold()
    return None if _OTHER[word].search((match[2] or "").casefold()) else word


def _verdict(named: Sequence[str | None], rationale: str) -> CriterionVerdict:
    words = set(named)
    if len(words) == 1 and (word := words.pop()) is not None:
        return CriterionVerdict(word, rationale, "ok")
    if not named:
        why = "the reply gives no verdict on this criterion"
    elif len(set(named)) > 1:
        why = "the reply gives several verdicts on this criterion"
    else:
        why = "the verdict is neither yes nor no"
    return CriterionVerdict(None, rationale, "invalid", why)
