"""GSM-Symbolic's templates (JSON, and the TOML files that follow it) as tables of our own.

Numbers become placeholders; names and things stay as in the original, since only numbers are
mutated. Nothing of a file is executed: what it computes is rewritten as text, and the interpreter
decides what runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from scoring.deduction import exact, format_number, run_program
from scoring.parsing.numbers import read_number

_SECTION = re.compile(r"^[ \t]*#[ \t]*(init|conditions|answer)[ \t]*:", re.MULTILINE)
_SLOT = re.compile(r"\{\s*([A-Za-z_]\w*)\s*,\s*([^{}]*?)\s*\}")
_EXPRESSION = re.compile(r"\{([^{}]+)\}")
_CALCULATED = re.compile(r"<<.*?>>")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[0-9]+(?:\.[0-9]+)?|//|\*\*|[<>=!]=|.)")
_LITERAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_RANGE = re.compile(r"(range|arange|range_sample|arange_sample)\s*\(([^()]*)\)")
_LIST = re.compile(r"(?:sample\s*\(\s*)?\[([^\[\]()]*)\]\s*\)?")
_GOLD = re.compile(r"####\s*([-$0-9.,/ ]+)")
_TRIALS = 7
"""Sets of values on which a rewritten expression must agree with the one it came from."""


class GsmFault(ValueError):
    """What of a template cannot be taken over: its key, and the part of it."""

    def __init__(self, key: str, part: str, message: str) -> None:
        super().__init__(message)
        self.key, self.part = key, part


@dataclass(frozen=True, slots=True)
class GsmTable:
    """A template as `scoring.deduction.template_from_dict` reads it, and what was left as text."""

    table: dict[str, Any]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Reading:
    """A template in the making.

    `inputs` are mutated; `texts` stay as written; `fixed` are numbers that the question writes in
    words or as a fraction: they stay too, and the code knows them.
    """

    inputs: dict[str, Fraction] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, Fraction] = field(default_factory=dict)
    ranges: dict[str, list[str]] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)
    derived: dict[str, str] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> set[str]:
        return {*self.inputs, *self.fixed, *self.derived}

    def code(self) -> list[str]:
        fixed = [f"{name} = {value}" for name, value in self.fixed.items()]
        return fixed + [f"{name} = {text}" for name, text in self.derived.items()]


def is_gsm_symbolic(table: Mapping[str, Any]) -> bool:
    """Return whether a table is a template of this form."""
    return "question_annotated" in table or "answer_annotated" in table


def gsm_table(table: Mapping[str, Any], stem: str) -> GsmTable:
    """Return a template as a table of our own.

    Parameters
    ----------
    table
        ``question_annotated`` (text with ``{name, default}``, then ``#init:``, ``#conditions:``
        and ``#answer:``) and ``answer_annotated`` (text with ``{expression}``).
    stem
        The file's stem, which names the problem.

    Raises
    ------
    GsmFault
        Naming the key and the part that cannot be taken over.
    """
    for key in ("question_annotated", "answer_annotated"):
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            raise GsmFault(key, "", f"{key} is {'missing' if value is None else repr(value)[:60]};"
                           " a text is right")  # fmt: skip
    head, sections = _sections(table["question_annotated"])
    reading = _Reading()
    question = _question(head, reading)
    for line in sections.get("init", "").splitlines():
        _initial(line.strip().lstrip("-").strip(), reading)
    for line in sections.get("conditions", "").splitlines():
        condition = line.strip().lstrip("-").strip()
        if condition and condition != "True":
            reading.conditions.append(_plain(condition, "question_annotated"))
    steps, answer = _steps(table["answer_annotated"], sections.get("answer", ""), reading)
    gold = _GOLD.search(table["answer"]) if isinstance(table.get("answer"), str) else None
    made: dict[str, Any] = {
        "problem": f"gsm-symbolic-{stem}",
        "question": question,
        "steps": steps,
        "code": "\n".join([*reading.code(), *_shared(reading)]),
        "factual": {name: str(value) for name, value in reading.inputs.items()},
        "answer": answer,
        "ranges": reading.ranges,
        "conditions": reading.conditions,
        "source": f"GSM-Symbolic {table.get('id_orig', stem)}",
    }
    if gold is not None and (value := _exact(gold[1].replace("$", ""))) is not None:
        made["gold"] = str(value)
    left = sorted({*reading.texts, *reading.fixed})
    notes = (f"left as in the original: {', '.join(left)}",) if left else ()
    return GsmTable(made, notes)


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Return the question and the texts of the sections behind it."""
    marks = list(_SECTION.finditer(text))
    head = text[: marks[0].start()] if marks else text
    ends = [*(m.start() for m in marks[1:]), len(text)]
    return head.strip(), {
        m[1]: text[m.end() : e].strip() for m, e in zip(marks, ends, strict=False)
    }


def _question(head: str, reading: _Reading) -> str:
    """Return the question with placeholders of numbers; sort its variables."""
    for name, default in _SLOT.findall(head):
        value = _exact(default)
        if value is not None and "/" not in default:
            reading.inputs.setdefault(name, value)
            continue
        reading.texts.setdefault(name, default.strip("\"'"))
        spoken = value if value is not None else read_number(default).value
        if spoken is not None:
            reading.fixed.setdefault(name, spoken)

    def slot(match: re.Match[str]) -> str:
        name = match[1]
        return f"{{{name}}}" if name in reading.inputs else reading.texts[name]

    return _SLOT.sub(slot, head)


def _exact(text: str) -> Fraction | None:
    try:
        return exact(text.replace(",", "").strip().rstrip("."))
    except ValueError:
        return None


def _initial(line: str, reading: _Reading) -> None:
    """Read one line of ``#init:``: where a variable's values come from."""
    if not line or line.startswith("#"):
        return
    left, equals, right = line.partition("=")
    names = [part.strip().lstrip("$").strip() for part in left.split(",")]
    if not equals or not all(names):
        raise GsmFault("question_annotated", line, f"init line {line[:60]!r}: NAME = … is right")
    if not reading.inputs.keys() & set(names):
        used = set(_NAME.findall(right)) & reading.numbers
        if "$" in left and used and len(names) == 1:
            reading.derived[names[0]] = _plain(right.strip(), "question_annotated")
        return
    if len(names) > 1 or set(_NAME.findall(right)) & reading.numbers:
        raise GsmFault(
            "question_annotated",
            line,
            f"init line {line[:60]!r}: a number that depends on others cannot be drawn by itself",
        )
    _drawn(names[0], right.strip(), line, reading)


def _drawn(name: str, right: str, line: str, reading: _Reading) -> None:
    """Take over a range or list of values."""
    ranged, listed = _RANGE.fullmatch(right), _LIST.fullmatch(right)
    if ranged is not None:
        given = [_exact(part) for part in ranged[2].split(",")]
        if 1 <= len(given) <= 3 and None not in given:
            low, high, step = _bounds([g for g in given if g is not None])
            if step > 0 and high > low:
                last = low + step * (-(-(high - low) // step) - 1)
                reading.ranges[name] = [str(low), str(last)]
                if step != 1:
                    from_low = f"({name} - {low})" if low else name
                    reading.conditions.append(f"{from_low} % ({step}) == 0")
                return
    elif listed is not None or _LITERAL.fullmatch(right):
        found = [_exact(p) for p in (listed[1] if listed else right).split(",") if p.strip()]
        values = [v for v in found if v is not None]
        if values and len(values) == len(found):
            reading.ranges[name] = [str(min(values)), str(max(values))]
            if len(set(values)) > 2 or min(values) != max(values):
                reading.conditions.append(" or ".join(f"{name} == {v}" for v in values))
            return
    raise GsmFault(
        "question_annotated",
        line,
        f"init line {line[:60]!r}: range(low, high[, step]) or sample([numbers]) is right for a "
        "number",
    )


def _bounds(given: Sequence[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    if len(given) == 1:
        return Fraction(0), given[0], Fraction(1)
    return given[0], given[1], given[2] if len(given) == 3 else Fraction(1)


def _plain(text: str, key: str) -> str:
    """Rewrite ``is_int(x)`` and ``divides(a, b)`` in what the interpreter knows."""
    for name in ("is_int", "divides"):
        while (at := re.search(rf"(?<!\w){name}\s*\(", text)) is not None:
            inside, end = _inside(text, at.end(), key)
            parts = _split(inside)
            if len(parts) != (1 if name == "is_int" else 2):
                raise GsmFault(key, text, f"{name}({inside[:40]}): wrong number of arguments")
            divisor = "1" if name == "is_int" else f"({parts[1]})"
            text = f"{text[: at.start()]}(({parts[0]}) % {divisor} == 0){text[end:]}"
    return text


def _inside(text: str, start: int, key: str) -> tuple[str, int]:
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at], at + 1
    raise GsmFault(key, text, f"{text[:60]!r}: a bracket is not closed")


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _steps(text: str, final: str, reading: _Reading) -> tuple[list[str], str]:
    """Return the solution's lines with placeholders, and the variable that answers."""
    steps, answer = [], ""
    for line in text.splitlines():
        shown = _CALCULATED.sub("", line).strip()
        if shown.startswith("####"):
            found = _EXPRESSION.search(shown)
            answer = _variable(found[1] if found else shown[4:].strip(), reading)
        elif shown:
            steps.append(_EXPRESSION.sub(lambda m: _shown(m[1], reading), shown))
    if not answer:
        if not final:
            raise GsmFault("answer_annotated", "", "there is no #### line that states the answer")
        answer = _variable(final, reading)
    if f"{{{answer}}}" not in "\n".join(steps):
        steps.append(f"The answer is {{{answer}}}.")
    return steps, answer


def _shown(expression: str, reading: _Reading) -> str:
    name = expression.strip()
    if name in reading.texts:
        return reading.texts[name]
    literal = _exact(name)
    return format_number(literal) if literal is not None else f"{{{_variable(name, reading)}}}"


def _variable(expression: str, reading: _Reading) -> str:
    """Return the variable that holds an expression's value."""
    text = expression.strip()
    if text in reading.numbers:
        return text
    words = set(_NAME.findall(text)) & (reading.texts.keys() - reading.fixed.keys())
    if words:
        raise GsmFault(
            "answer_annotated",
            expression,
            f"{{{text[:60]}}} computes with {sorted(words)[0]}, which is a text: a number is right",
        )
    plain = "".join(_tokens(_plain(text, "answer_annotated")))
    for name, known in reading.computed.items():
        if known == plain:
            return name
    name = f"v{len(reading.computed) + 1}"
    while name in reading.numbers:
        name += "_"
    reading.computed[name] = plain
    return name


def _tokens(text: str) -> list[str]:
    tokens = [t for t in _TOKEN.findall(text) if t.strip()]
    words = ("and", "or", "not", "if", "else", "in")
    return [f" {t} " if t in words else t for t in tokens]


def _shared(reading: _Reading) -> list[str]:
    """Return the lines that compute the steps' numbers, each from earlier ones where it can.

    The source writes every number as an expression of the question's. Where an earlier one stands
    in a later one, and the value stays the same on several sets of inputs, its name takes its
    place: so that it is known which number follows from which.
    """
    before = reading.code()
    lines: list[str] = []
    for name, text in reading.computed.items():
        chosen = text
        for other, known in reversed(list(reading.computed.items())):
            if other == name:
                continue
            if f"{other} = " not in "\n".join(f"{line} " for line in lines):
                continue
            tried = _replaced(_tokens(chosen), _tokens(known), other)
            if tried is not None and _same([*before, *lines], chosen, tried, reading):
                chosen = tried
        lines.append(f"{name} = {chosen}")
    return lines


def _replaced(tokens: Sequence[str], part: Sequence[str], name: str) -> str | None:
    n = len(part)
    if n < 2:
        return None
    for at in range(len(tokens) - n + 1):
        if list(tokens[at : at + n]) == list(part):
            return "".join([*tokens[:at], name, *tokens[at + n :]])
    return None


def _same(before: Sequence[str], old: str, new: str, reading: _Reading) -> bool:
    """Return whether two expressions agree wherever the first has a value, somewhere at least."""
    agreed = 0
    for trial in range(_TRIALS):
        inputs = {
            name: value if trial == 0 else Fraction(3 + 7 * trial + 11 * at + trial * at * at)
            for at, (name, value) in enumerate(reading.inputs.items())
        }
        source = "\n".join([*before, f"old_value = {old}", f"new_value = {new}"])
        found = run_program(source, inputs)
        if found.refusal is not None:
            if trial == 0:
                return False
            continue
        if found.values["old_value"] != found.values["new_value"]:
            return False
        agreed += 1
    return agreed > 1


__all__ = ["GsmFault", "GsmTable", "gsm_table", "is_gsm_symbolic"]
