"""Question files: one question a row, as JSON Lines, a JSON array, or CSV, read by a mapping.

A mapping says which fields of a row are the question, its options and its gold answer. Names are
compared without case, and with blanks, hyphens and underscores as one (``Correct Answer`` is
``correct_answer``). What a mapping does not take is kept as the question's `extra`, which is never
part of what is asked. The dataset is the one asked for, else the file's stem. A row without an id
gets one from a hash of what it asks. A missing gold answer is fine; an unreadable one is an error.

``native``
    ``question``; ``question_id`` or ``id``, ``dataset``, ``gold``, ``answer_kind``, ``options``,
    ``percent`` where there are any. Kind and percent rule as for traces: without ``answer_kind``,
    the kind that the gold answer shows.
``gsm8k``
    ``question``, ``answer``: a solution whose last ``####`` comes before the number, or the number
    alone. Kind number, percent rule keep. The solution is kept as ``answer`` in `extra`.
``strategyqa``
    ``qid``, ``question``, ``answer`` (true, false, yes, no, 1, 0). Kind boolean. ``facts``,
    ``decomposition``, ``evidence``, ``term`` and ``description`` stay in `extra`.
``boolq``
    ``question``, ``passage``, ``answer`` or ``label`` (label -1: none), ``idx`` or ``id``. Kind
    boolean. The question's text is the question, a blank line, ``Passage:``, and the passage
    between two fence lines of hyphens: three, or one more than the longest run in the passage.
``medqa``
    ``question`` (or ``sent1``); ``options`` or ``choices`` (letter → text, a list, or a list of
    objects with ``key`` and ``value``), or a column for each option (``A``, ``opa``, ``option_a``,
    ``ending0``…); ``answer_idx`` (a letter, or a place counted from 0) and ``answer`` or ``label``
    (an option's text, a letter, or a place): where both are given they must agree. Kind choice.
``gpqa``
    ``Question``, ``Correct Answer``, ``Incorrect Answer 1``…``3`` (any number from 1 to 9),
    ``Record ID``. Kind choice. The options are put in an order that depends on the seed, the
    question's id and the options alone, not on the order of rows or columns; gold is the letter.
    The seed is kept as ``shuffle_seed`` in `extra`.
``aime``
    ``problem`` or ``question`` (a ``problem`` that is a number is the problem's number);
    ``answer``, an integer from 0 to 999, leading zeros allowed. Kind number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.parsing import normalize_answer
from scoring.types import AnswerKind, NormalForm
from store.columns import canonical, text_hash
from store.exchange.lines import LineError, shown
from store.exchange.options import gold_letter, lettered_options
from store.exchange.question_rows import Fields, described, read_rows, structure
from store.exchange.traces import question_of
from store.keys import is_name
from store.records import NewQuestion

_IDS = ("question_id", "qid", "id", "record_id", "idx", "problem_idx")
_TRACE_FIELDS = frozenset(["sample", "text", "steps", "cots"])
_NATIVE = ("gold", "answer_kind", "options", "percent")
_NOT_NATIVE = ("answer", "answer_idx", "label", "correct_answer")
_PLAIN_NUMBER = re.compile(r"\s*[-+−]?\$?[0-9][0-9,]*(?:\.[0-9]+)?\s*")
_AIME = re.compile(r"\s*([0-9]{1,3})(?:\.0+)?\s*")


@dataclass(frozen=True, slots=True)
class RawQuestion:
    """A question as a file states it; `kind_stated`: its kind is no guess from the gold answer."""

    question: NewQuestion
    kind_stated: bool = True


@dataclass(frozen=True, slots=True)
class Naming:
    """What a file does not say: its dataset (None = its stem) and the seed of shuffling."""

    dataset: str | None = None
    stem: str = "questions"
    seed: int = 0

    @property
    def default(self) -> str:
        """The dataset of rows that name none."""
        name = self.stem if self.dataset is None else self.dataset
        if not is_name(name):
            raise LineError(f"the dataset is {shown(name)}; --dataset NAME is right")
        return name


def read_questions(
    path: Path, mapping: str, naming: Naming
) -> Iterator[tuple[int, RawQuestion | LineError]]:
    """Yield (1-based line number, question or error) of a question file.

    Raises
    ------
    ValueError
        When there is no such mapping.
    OSError
        When the file cannot be read.
    """
    chosen = mapping_of(mapping)
    for number, row in read_rows(path, chosen.needs):
        try:
            if isinstance(row, LineError):
                raise row
            yield number, _read(chosen, row, naming)
        except LineError as error:
            yield number, error


def is_question_line(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a native question: one without a trace."""
    return "question" in row and not _TRACE_FIELDS & set(row)


def native_question(row: Mapping[str, Any], naming: Naming) -> RawQuestion:
    """Read one line of native question JSONL.

    Raises
    ------
    LineError
        Naming the field, what was found, and what would be right; never the gold answer.
    """
    return _read(MAPPINGS["native"], row, naming)


def _read(mapping: _Mapping, row: Mapping[str, Any], naming: Naming) -> RawQuestion:
    fields = Fields(row)
    lacking = [" or ".join(group) for group in mapping.needs if not fields.has(*group)]
    if lacking:
        raise LineError(
            f"an object with the fields {shown(fields.given, 100)}; {lacking[0]} is missing"
        )
    return mapping.read(fields, naming)


def _native(fields: Fields, naming: Naming) -> RawQuestion:
    given = {name: fields.take(name) for name in _NATIVE}
    if isinstance(given["gold"], list | dict):
        raise LineError(f"gold is {described(given['gold'])}; a text, number or boolean is right")
    if given["gold"] is None and (other := [n for n in _NOT_NATIVE if n in fields]):
        raise LineError(
            f"a question with {other[0]} but without gold; gold is right, or a --mapping for files "
            "of other people's"
        )
    if isinstance(given["options"], str):
        given["options"] = structure(given["options"]) or given["options"]
    text, dataset = fields.text("question"), fields.name("dataset") or naming.default
    external_id = fields.name("question_id", "id") or _own_id(text, given["options"])
    row = {"question": text, **{k: v for k, v in given.items() if v is not None}}
    question, stated = question_of(row, dataset, external_id, fields.rest() or None)
    return RawQuestion(question, stated)


def _gsm8k(fields: Fields, naming: Naming) -> RawQuestion:
    text, answer = fields.text("question"), fields.take("answer")
    gold, extra = None, {}
    if isinstance(answer, str) and "####" in answer:
        gold, extra = answer.rpartition("####")[2].strip(), {"answer": answer}
    elif answer is not None:
        gold = str(answer).strip()
        if isinstance(answer, bool) or not _PLAIN_NUMBER.fullmatch(gold):
            raise LineError(
                f"answer is {described(answer)}; a solution that ends with #### and a number, or "
                "a number, is right"
            )
    return _question(fields, naming, text, "number", gold, extra=extra, of="after ####")


def _strategyqa(fields: Fields, naming: Naming) -> RawQuestion:
    text, gold = fields.text("question"), fields.boolean("answer")
    return _question(fields, naming, text, "boolean", _yes_no(gold))


def _boolq(fields: Fields, naming: Naming) -> RawQuestion:
    text = with_passage(fields.text("question"), fields.text("passage"))
    gold = fields.boolean("answer") if "answer" in fields else fields.boolean("label", none=-1)
    return _question(fields, naming, text, "boolean", _yes_no(gold))


def with_passage(question: str, passage: str) -> str:
    r"""Return a question with the passage it is about, fenced so that its end is certain.

    >>> with_passage("is it so", "It is --- so.")
    'is it so\n\nPassage:\n----\nIt is --- so.\n----'
    """
    longest = max((len(run) for run in re.findall("-+", passage)), default=0)
    fence = "-" * max(3, longest + 1)
    return f"{question}\n\nPassage:\n{fence}\n{passage}\n{fence}"


def _medqa(fields: Fields, naming: Naming) -> RawQuestion:
    text, options = fields.text("question", "sent1"), lettered_options(fields)
    gold = gold_letter(fields, options)
    return _question(fields, naming, text, "choice", gold, options=options)


def _choice_text(letter: str, options: dict[str, str]) -> str:
    """Return a gold letter as text; with its option where the letter is another option's text."""
    alone = normalize_answer(letter, "choice", options=options) == ("choice", letter)
    return letter if alone else f"{letter}) {options[letter]}"


def _gpqa(fields: Fields, naming: Naming) -> RawQuestion:
    text = fields.text("question")
    right = _option(fields, "correct_answer")
    wrong = [
        _option(fields, name) for i in range(1, 10) if (name := f"incorrect_answer_{i}") in fields
    ]
    if right in wrong:
        raise LineError(
            "the correct answer and an incorrect one are the same text; one right option is right"
        )
    texts = [right, *wrong]
    external_id = fields.name(*_IDS) or _own_id(text, sorted(texts))
    texts.sort(key=lambda option: text_hash(canonical([naming.seed, external_id, option])))
    options = {chr(ord("A") + i): option for i, option in enumerate(texts)}
    gold = chr(ord("A") + texts.index(right))
    extra = {"shuffle_seed": naming.seed}
    return _question(
        fields, naming, text, "choice", gold, options=options, external_id=external_id, extra=extra
    )


def _option(fields: Fields, name: str) -> str:
    """Return an option without the blanks around it, which could tell it from the others."""
    value = fields.take(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise LineError(f"{name} is {described(value)}; a text is right")
    return value.strip()


def _aime(fields: Fields, naming: Naming) -> RawQuestion:
    first = fields.peek("problem")
    is_text = isinstance(first, str) and not first.strip().isdecimal()
    text = fields.text(*(("problem", "question") if is_text else ("question", "problem")))
    answer = fields.take("answer")
    gold = None
    if answer is not None:
        said = None if isinstance(answer, bool) else _AIME.fullmatch(str(answer))
        if said is None:
            raise LineError(f"answer is {described(answer)}; an integer from 0 to 999 is right")
        gold = str(int(said[1]))
    return _question(fields, naming, text, "number", gold)


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _own_id(*asked: Any) -> str:
    """Return an id for a question that has none, from what it asks."""
    return text_hash(canonical(list(asked)))[:16]


def _question(
    fields: Fields,
    naming: Naming,
    text: str,
    kind: AnswerKind,
    gold_text: str | None,
    *,
    options: dict[str, str] | None = None,
    external_id: str | None = None,
    extra: Mapping[str, Any] | None = None,
    of: str = "the answer",
) -> RawQuestion:
    gold: NormalForm | None = None
    if gold_text is not None and options is not None:
        gold, gold_text = ("choice", gold_text), _choice_text(gold_text, options)
    elif gold_text is not None:
        gold = normalize_answer(gold_text, kind)
        if gold is None:
            raise LineError(f"{of} stands {described(gold_text)}; a {kind} is right")
    return RawQuestion(
        NewQuestion(
            dataset=naming.default,
            external_id=external_id or fields.name(*_IDS) or _own_id(text, options),
            text=text,
            gold_text=gold_text,
            gold=gold,
            answer_kind=kind,
            options=options,
            extra={**fields.rest(), **(extra or {})} or None,
        )
    )


@dataclass(frozen=True, slots=True)
class _Mapping:
    """How a row is read, and which columns it must have: one name of each group."""

    read: Callable[[Fields, Naming], RawQuestion]
    needs: Sequence[Sequence[str]]


_QUESTION = ("question",)
MAPPINGS: Mapping[str, _Mapping] = {
    "native": _Mapping(_native, [_QUESTION]),
    "gsm8k": _Mapping(_gsm8k, [_QUESTION]),
    "strategyqa": _Mapping(_strategyqa, [_QUESTION]),
    "boolq": _Mapping(_boolq, [_QUESTION, ("passage",)]),
    "medqa": _Mapping(_medqa, [("question", "sent1")]),
    "gpqa": _Mapping(_gpqa, [_QUESTION, ("correct_answer",), ("incorrect_answer_1",)]),
    "aime": _Mapping(_aime, [("problem", "question")]),
}
"""The mappings by name."""


def mapping_of(name: str) -> _Mapping:
    """Return a mapping.

    Raises
    ------
    ValueError
        Naming those that there are.
    """
    if name not in MAPPINGS:
        raise ValueError(f"--mapping is {name!r}; one of {', '.join(MAPPINGS)} is right")
    return MAPPINGS[name]


__all__ = [
    "MAPPINGS",
    "Naming",
    "RawQuestion",
    "is_question_line",
    "mapping_of",
    "native_question",
    "read_questions",
    "with_passage",
]
