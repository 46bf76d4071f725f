"""A problem as a template: question and solution steps with placeholders, code that fills them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from scoring.deduction.exact import Number, exact, format_number

HopUnit = Literal["steps", "variables"]
"""What a hop counts: solution steps, or only those that state a variable for the first time."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_KEYS = frozenset(
    {"problem", "question", "steps", "code", "factual", "gold"}
    | {"answer", "ranges", "conditions", "model", "source"}
)


@dataclass(frozen=True, slots=True)
class Span:
    """From where a placeholder's mutated value may come, both ends included.

    Attributes
    ----------
    low, high
        0 < low <= high is not required, but values that are not positive are rejected later.
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"range [{self.low}, {self.high}] is empty: give low <= high")


@dataclass(frozen=True, slots=True)
class Template:
    """One problem with its solution, its numbers taken out.

    Attributes
    ----------
    problem
        Its stable name.
    question
        Text with ``{placeholder}`` for every number that may change. Other braces stay as typed.
    steps
        Solution steps in order, with placeholders; those the question lacks are computed.
    code
        Program of the subset of `run_program` that computes them.
    factual
        Values in the original problem: of every placeholder of the question, and of any other
        name that the code is to be checked against.
    gold
        The original problem's answer, None when unknown.
    answer
        Name of the variable that answers the question.
    ranges
        Where mutated values come from, by placeholder; others use the mutation's own limits.
    conditions
        Expressions that must hold (not be 0) for the original and every mutation.
    model
        Model whose solution it is, empty when written by hand.
    source
        Where the problem comes from.
    """

    problem: str
    question: str
    steps: tuple[str, ...]
    code: str
    factual: Mapping[str, Fraction]
    answer: str
    gold: Fraction | None = None
    ranges: Mapping[str, Span] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    model: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("problem", "question", "code"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty: a template needs one")
        if not self.steps or not all(step.strip() for step in self.steps):
            raise ValueError("steps must be at least one text, none of them empty")
        if not self.inputs:
            raise ValueError("question has no {placeholder}: nothing could be mutated")
        for name in self.inputs:
            if name not in self.factual:
                raise ValueError(f"factual lacks {name!r}, a placeholder of the question")
        for name in self.ranges:
            if name not in self.inputs:
                raise ValueError(f"ranges names {name!r}, which is no placeholder of the question")
        if self.answer not in self.stated_in:
            raise ValueError(f"answer {self.answer!r} is not a variable that a step states")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Placeholders of the question, in order: the values that are injected."""
        return placeholders(self.question)

    @property
    def stated_in(self) -> dict[str, int]:
        """For each computed variable, the step (from 1) that states it first."""
        return first_stated(self.steps, self.inputs)


def placeholders(text: str) -> tuple[str, ...]:
    r"""Return the placeholders of a text in order, without repeats.

    Examples
    --------
    >>> placeholders("{a} boxes of {b}, so {a}; and \frac{1}{2}")
    ('a', 'b')
    """
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


def fill(text: str, values: Mapping[str, Fraction]) -> str:
    """Put values into the placeholders of a text.

    Parameters
    ----------
    text
        Text with ``{placeholder}``.
    values
        At least the values of its placeholders.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Naming a placeholder without a value.

    Examples
    --------
    >>> fill("{n} pens at {p} each", {"n": Fraction(3), "p": Fraction(5, 2)})
    '3 pens at 2.5 each'
    """
    for name in placeholders(text):
        if name not in values:
            raise ValueError(f"placeholder {name!r} has no value")
    return _PLACEHOLDER.sub(lambda m: format_number(values[m[1]]), text)


def first_stated(steps: Sequence[str], inputs: Iterable[str] = ()) -> dict[str, int]:
    """Return, for each variable of the steps, the step (from 1) that states it first.

    Parameters
    ----------
    steps
        Solution steps with placeholders.
    inputs
        Variables that the question states, and so no step.

    Returns
    -------
    dict
        In reading order.

    Examples
    --------
    >>> first_stated(["{a} + {b} = {c}", "{c} * {d} = {e}"], ["a", "b"])
    {'c': 1, 'd': 2, 'e': 2}
    """
    known = set(inputs)
    out: dict[str, int] = {}
    for number, step in enumerate(steps, start=1):
        for name in placeholders(step):
            if name not in known:
                known.add(name)
                out[name] = number
    return out


def hops_after(stated_in: Mapping[str, int], k: int, *, hops: HopUnit = "steps") -> dict[str, int]:
    """Return the hop of every variable that is still to be derived after k given steps.

    Parameters
    ----------
    stated_in
        Step (from 1) that states each variable first.
    k
        Steps given as prefix, >= 0.
    hops
        ``"steps"``: the hop of step s is s - k. ``"variables"``: only steps that state a variable
        count.

    Returns
    -------
    dict
        Variables first stated in a step of the prefix are left out.

    Raises
    ------
    ValueError
        When k is negative or the unit unknown.

    References
    ----------
    Paper C, section 4.3 and appendix A.1.

    Examples
    --------
    >>> hops_after({"weeks": 2, "week": 3, "year": 4}, 0)
    {'weeks': 2, 'week': 3, 'year': 4}
    >>> hops_after({"weeks": 2, "week": 3, "year": 4}, 0, hops="variables")
    {'weeks': 1, 'week': 2, 'year': 3}
    """
    if k < 0:
        raise ValueError(f"k is {k}: it must be at least 0")
    if hops not in ("steps", "variables"):
        raise ValueError(f"hops={hops!r} must be 'steps' or 'variables'")
    left = {name: step for name, step in stated_in.items() if step > k}
    if hops == "steps":
        return {name: step - k for name, step in left.items()}
    rank = {step: i for i, step in enumerate(sorted(set(left.values())), start=1)}
    return {name: rank[step] for name, step in left.items()}


def template_from_dict(data: Mapping[str, Any]) -> Template:
    """Return the template of a decoded TOML or JSON table.

    Parameters
    ----------
    data
        Keys ``problem``, ``question``, ``steps`` (list), ``code``, ``factual`` (table of numbers)
        and optionally ``gold``, ``answer`` (default: the last variable the steps state),
        ``ranges`` (placeholder → [low, high]), ``conditions`` (list), ``model``, ``source``. A
        number may be a text (``"1/3"``).

    Returns
    -------
    Template

    Raises
    ------
    ValueError
        Naming the key that is missing, unknown or of the wrong kind.

    Examples
    --------
    >>> t = template_from_dict({
    ...     "problem": "pens", "question": "{n} pens at 2 each: how much?",
    ...     "steps": ["{n} * 2 = {cost}."], "code": "cost = n * 2", "factual": {"n": 3}, "gold": 6,
    ... })
    >>> t.inputs, t.answer, t.gold
    (('n',), 'cost', Fraction(6, 1))
    """
    unknown = sorted(str(k) for k in data if k not in _KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}: known are {', '.join(sorted(_KEYS))}")
    question = _text(data, "question")
    steps = _texts(data, "steps")
    stated = list(first_stated(steps, placeholders(question)))
    answer = _text(data, "answer", stated[-1] if stated else "")
    gold = data.get("gold")
    return Template(
        problem=_text(data, "problem"),
        question=question,
        steps=steps,
        code=_text(data, "code"),
        factual={n: _number(v, f"factual.{n}") for n, v in _table(data, "factual").items()},
        answer=answer,
        gold=None if gold is None else _number(gold, "gold"),
        ranges={n: _span(v, f"ranges.{n}") for n, v in _table(data, "ranges", {}).items()},
        conditions=_texts(data, "conditions", ()),
        model=_text(data, "model", ""),
        source=_text(data, "source", ""),
    )


def _given(data: Mapping[str, Any], key: str, default: Any) -> Any:
    if key not in data and default is None:
        raise ValueError(f"key {key!r} is missing")
    return data.get(key, default)


def _text(data: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = _given(data, key, default)
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r:.60}: it must be a text")
    return value


def _texts(
    data: Mapping[str, Any], key: str, default: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    value = _given(data, key, default)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{key} is {value!r:.60}: it must be a list of texts")
    if not all(isinstance(part, str) for part in value):
        raise ValueError(f"{key} must hold texts only")
    return tuple(value)


def _table(
    data: Mapping[str, Any], key: str, default: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    value = _given(data, key, default)
    if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
        raise ValueError(f"{key} is {value!r:.60}: it must be a table of names")
    return value


def _number(value: Any, what: str) -> Fraction:
    if not isinstance(value, Number):
        raise ValueError(f"{what} is {value!r:.60}: it must be a number")
    return exact(value, what)


def _span(value: Any, what: str) -> Span:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise ValueError(f"{what} is {value!r:.60}: it must be [low, high]")
    return Span(_number(value[0], f"{what} low"), _number(value[1], f"{what} high"))
