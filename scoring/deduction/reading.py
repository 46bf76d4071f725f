"""Our own number reader: which value does a response state for each variable.

It is the cheap second opinion beside a model that extracts values by schema. It never looks at
the expected values, so it cannot find what it hopes for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from scoring.deduction.template import first_stated
from scoring.parsing.folding import fold
from scoring.parsing.numbers import read_number

MAX_TEXT = 50_000
"""Characters of a response that are read."""
MAX_SENTENCES = 200
MAX_TOKENS = 120
"""Words and signs of a sentence that are aligned."""
MIN_OVERLAP = 0.3
"""A step and a sentence that share less of their words are not the same statement."""

How = Literal["named", "aligned"]

_SENTENCE = re.compile(r"\n+|(?<=[^\W\d_]|[0-9)%!?$}])[.!?;](?=\s|$)")
_STEP_NUMBER = re.compile(r"^\s*(?:step\s+)?[0-9]{1,2}\s*[.):]\s+", re.IGNORECASE)
_DIGITS = r"[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?|\.[0-9]+"
_WORD_TOKEN = re.compile(
    rf"(?P<num>{_DIGITS})|(?P<slot>\{{\w+\}})|(?P<word>[^\W\d_]\w*)|(?P<op>\S)"
)
_TIMES = re.compile(r"(?<=[0-9)}])\s*[x×]\s*(?=[$€£¥(]*[0-9.{])")
"""A times sign between numbers or placeholders; elsewhere an x is a word."""
_SCALES = frozenset(["hundred", "thousand", "million", "billion"])
_ARITHMETIC = frozenset("+-*/=()x$€£¥%")
_HEAD = r"(?<![\w.])({names})(?!\w)[`$]?\s*(?:=|:|≈|\bis\b|\bequals\b)"
_OPERATORS = frozenset("+-*/=×÷^(≈")
_LAST = re.compile(r"(?:=|≈|\bis\b|\bequals\b|\bto\b|\bgives\b|\bmakes\b)(?!.*(?:=|≈|\bis\b))(.+)")


@dataclass(frozen=True, slots=True)
class StatedValues:
    """Values a response states.

    Attributes
    ----------
    values
        Variable → value, for those it states.
    how
        Variable → ``named`` (the text says ``name = …``) or ``aligned`` (the number stands where
        the step's placeholder does).
    sentences
        Sentences read.
    """

    values: Mapping[str, Fraction]
    how: Mapping[str, How]
    sentences: int


@dataclass(frozen=True, slots=True)
class NumberChanges:
    """Numbers that a paraphrase lost or invented; both empty = the numbers are unchanged."""

    missing: tuple[Fraction, ...]
    added: tuple[Fraction, ...]

    @property
    def unchanged(self) -> bool:
        """Whether the paraphrase may be used."""
        return not self.missing and not self.added


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def read_named_values(text: str, names: Iterable[str]) -> StatedValues:
    """Read the values of variables that the text calls by name.

    Parameters
    ----------
    text
        A response.
    names
        Variables looked for.

    Returns
    -------
    StatedValues
        Where a variable is given several values, the last one counts.

    Notes
    -----
    Read is what follows ``name =``, ``name is`` or ``name:`` to the end of the sentence; of a
    chain of equalities the last member.

    Examples
    --------
    >>> read_named_values("X1 = X0 + C3 = 18 + 20 = 38. So X2 is 46.", ["X1", "X2", "X3"]).values
    {'X1': Fraction(38, 1), 'X2': Fraction(46, 1)}
    """
    sentences = _sentences(text)
    values: dict[str, Fraction] = {}
    wanted = sorted(set(names), key=len, reverse=True)
    head = re.compile(_HEAD.format(names="|".join(map(re.escape, wanted)))) if wanted else None
    for sentence in sentences if head else ():
        for name, clause in _clauses(sentence, head):
            value = _clause_value(clause)
            if value is not None:
                values[name] = value
    return StatedValues(values, dict.fromkeys(values, "named"), len(sentences))


def _clauses(sentence: str, head: re.Pattern[str] | None) -> list[tuple[str, str]]:
    """Return each name that is given a value, with the text up to the next one.

    A name behind an operator or equals sign is an operand: ``X2 = C1 + X1 = 5`` says nothing of X1.
    """
    found = [] if head is None else list(head.finditer(sentence))
    found = [m for m in found if sentence[: m.start()].rstrip(" `$")[-1:] not in _OPERATORS]
    starts = [m.start() for m in found]
    ends = [*starts[1:], len(sentence)][: len(found)]
    return [(m[1], sentence[m.end() : end]) for m, end in zip(found, ends, strict=True)]


def read_stated_values(
    text: str, steps: Sequence[str], *, given: int = 0, inputs: Iterable[str] = ()
) -> StatedValues:
    """Read the values of a template's variables from a response in free text.

    Parameters
    ----------
    text
        What the model wrote after the prefix.
    steps
        All solution steps, with placeholders.
    given
        Steps the prefix gave; variables first stated in them are not looked for.
    inputs
        Placeholders of the question, which no step states first.

    Returns
    -------
    StatedValues

    Notes
    -----
    Steps are matched to sentences in order, by the words they share (bare equations by their
    operators), so that the total overlap is greatest; of equals the last sentence. Within a pair, words and numbers are aligned (longest common subsequence, where a
    placeholder matches any number), and a placeholder takes the number it is aligned with; behind
    an equals sign, the end of the chain of equalities. A variable called by its own name counts
    first, unless the name is a plain word (``left``, ``cost``) that text uses for other things.

    Examples
    --------
    >>> steps = ["{a} pens at {p} cost {a} * {p} = {c}.", "With {d} off it is {t}."]
    >>> read_stated_values("So 4 pens at 3 cost 4*3 = 12. With 2 off it is $10.", steps,
    ...                    inputs=["a", "p", "d"]).values
    {'c': Fraction(12, 1), 't': Fraction(10, 1)}
    """
    stated = first_stated(steps, inputs)
    wanted = {name: step for name, step in stated.items() if step > given}
    named = read_named_values(text, [n for n in wanted if not n.isalpha()])
    sentences = [_tokens(_STEP_NUMBER.sub("", s)) for s in _sentences(text)]
    patterns = {s: _tokens(steps[s - 1]) for s in sorted(set(wanted.values()))}
    pairs = _matched(list(patterns.values()), sentences)
    values, how = dict(named.values), dict(named.how)
    for (step, pattern), place in zip(patterns.items(), pairs, strict=True):
        if place is None:
            continue
        found = _aligned(pattern, sentences[place])
        for name, number in found.items():
            if wanted.get(name) == step and name not in values:
                values[name], how[name] = number, "aligned"
    return StatedValues(
        {name: values[name] for name in wanted if name in values},
        {name: how[name] for name in wanted if name in how},
        len(sentences),
    )


def number_changes(original: str, paraphrase: str) -> NumberChanges:
    """Return the numbers a paraphrase lost and those it invented.

    Parameters
    ----------
    original, paraphrase
        The prefix before and after; numbers in words count too, "one" excepted.

    Returns
    -------
    NumberChanges
        As sets of values: how often a number occurs does not matter.

    Examples
    --------
    >>> number_changes("60 + 12 = 72 pages", "72 pages, the sum of sixty and 13").missing
    (Fraction(12, 1),)
    """
    before, after = _numbers_in(original), _numbers_in(paraphrase)
    return NumberChanges(tuple(sorted(before - after)), tuple(sorted(after - before)))


def _numbers_in(text: str) -> set[Fraction]:
    out: set[Fraction] = set()
    words: list[str] = []
    for token in [*(t for s in _sentences(text) for t in _tokens(s)), _Token("op", "")]:
        if token.kind == "num":
            out.add(_number(token.text))
        if _is_number_word(token, words):
            words.append(token.text)
        elif words and token.text != "-":
            value = read_number(" ".join(words)).value
            out |= set() if value is None else {value}
            words = []
    return out


def _is_number_word(token: _Token, before: Sequence[str]) -> bool:
    if token.kind != "word" or (token.text == "one" and not before):
        return False
    return (token.text in _SCALES and bool(before)) or read_number(token.text).value is not None


def _sentences(text: str) -> list[str]:
    plain = text[:MAX_TEXT].replace("**", "").replace("\u2212", "-").replace("×", "*")
    parts = [part.strip() for part in _SENTENCE.split(plain)]
    return [part for part in parts if part][:MAX_SENTENCES]


def _clause_value(clause: str) -> Fraction | None:
    """Return the one number of a clause, or the one behind its last verb."""
    clause = clause[:500]
    value = read_number(fold(clause)).value
    if value is None and (last := _LAST.search(clause)):
        value = read_number(fold(last[1])).value
    return value


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", "")) if len(text) <= 100 else Fraction(0)


def _tokens(text: str) -> list[_Token]:
    out: list[_Token] = []
    for match in _WORD_TOKEN.finditer(_TIMES.sub(" * ", text).replace("÷", "/")):
        kind = str(match.lastgroup)
        out.append(_Token(kind, match[0].strip("{}") if kind == "slot" else match[0].lower()))
        if len(out) == MAX_TOKENS:
            break
    return out


def _words(tokens: Sequence[_Token]) -> frozenset[str]:
    return frozenset(t.text for t in tokens if t.kind == "word")


def _matched(
    steps: Sequence[Sequence[_Token]], sentences: Sequence[Sequence[_Token]]
) -> list[int | None]:
    """Return for each step its sentence: increasing, with the greatest sum of overlaps."""
    rows = [[_overlap(s, t) for t in sentences] for s in steps]
    n = len(sentences)
    best = [[0.0] * (n + 1) for _ in range(len(steps) + 1)]
    for i in range(len(steps) - 1, -1, -1):
        for j in range(n - 1, -1, -1):
            take = rows[i][j] + best[i + 1][j + 1] if rows[i][j] else 0.0
            best[i][j] = max(take, best[i + 1][j], best[i][j + 1])
    out: list[int | None] = []
    j = 0
    for i in range(len(steps)):
        chosen = None
        if best[i][j] > best[i + 1][j]:
            while best[i][j] == best[i][j + 1]:
                j += 1
            chosen, j = j, j + 1
        out.append(chosen)
    return out


def _overlap(step: Sequence[_Token], sentence: Sequence[_Token]) -> float:
    """Return the Dice overlap of the words, 0 below the threshold or without any number.

    Two bare equations have no words to share: they go together by their operators, by no more than
    the least overlap of words.
    """
    if not any(t.kind == "num" for t in sentence):
        return 0.0
    a, b = _words(step), _words(sentence)
    if not a and not b:
        return MIN_OVERLAP * _same_signs(step, sentence)
    if not a or not b:
        return 0.0
    share = 2 * len(a & b) / (len(a) + len(b))
    return share if share >= MIN_OVERLAP else 0.0


def _same_signs(step: Sequence[_Token], sentence: Sequence[_Token]) -> float:
    """Return the Dice overlap of two equations' operators, with 1 shared from the start.

    It is above 0 whatever they are: a step that is worked out in another form is the step.
    """
    a, b = _signs(step), _signs(sentence)
    shared = sum((a & b).values())
    return (2 + 2 * shared) / (2 + sum(a.values()) + sum(b.values()))


def _signs(tokens: Sequence[_Token]) -> Counter[str]:
    """Count the operators of an equation."""
    return Counter(t.text for t in tokens if t.kind == "op" and t.text in _OPERATORS)


def _aligned(step: Sequence[_Token], sentence: Sequence[_Token]) -> dict[str, Fraction]:
    """Return the number each placeholder of a step is aligned with."""
    n, m = len(step), len(sentence)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1])
            if _same(step[i], sentence[j]):
                best[i][j] = max(best[i][j], best[i + 1][j + 1] + 1)
    out: dict[str, Fraction] = {}
    i = j = 0
    while i < n and j < m:
        if _same(step[i], sentence[j]) and best[i][j] == best[i + 1][j + 1] + 1:
            if step[i].kind == "slot":
                result = i > 0 and step[i - 1].text in ("=", "$")
                value = _value_at(sentence, j, result)
                if value is not None:
                    out.setdefault(step[i].text, value)
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return out


def _same(a: _Token, b: _Token) -> bool:
    number = ("slot", "num")
    return (a.kind in number and b.kind == "num") or (a.kind == b.kind and a.text == b.text)


def _value_at(sentence: Sequence[_Token], j: int, result: bool) -> Fraction | None:
    """Return the value of the number at j; a result is the end of its chain of equalities."""
    if result:
        end = j
        while end + 1 < len(sentence) and (
            sentence[end + 1].kind == "num" or sentence[end + 1].text in _ARITHMETIC
        ):
            end += 1
        chain = " ".join(t.text for t in sentence[j : end + 1]).rsplit("=", 1)
        tail = re.sub(r"(?<=[0-9]) / (?=[0-9])", "/", chain[-1].strip(" +-*()x"))
        value = read_number(fold(tail)).value
        if value is not None:
            return _signed(sentence, j, value) if len(chain) == 1 else value
    return _signed(sentence, j, _number(sentence[j].text))


def _signed(sentence: Sequence[_Token], j: int, value: Fraction) -> Fraction:
    """Apply a minus that opens the number: behind an equals sign, bracket or nothing."""
    k = j - 1
    if k >= 0 and sentence[k].text in ("$", "€", "£", "¥"):
        k -= 1
    minus = k >= 0 and sentence[k].text == "-"
    return -value if minus and (k == 0 or sentence[k - 1].text in ("=", "(", "is")) else value
