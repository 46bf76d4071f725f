"""The interpreter under arbitrary text, and against values computed beside the source."""

from __future__ import annotations

import ast
import math
import warnings
from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoring.deduction import evaluate, format_number, run_program
from scoring.deduction.exact import exact, fits
from scoring.deduction.syntax import Refusal

Pair = tuple[str, Fraction]
NAMES = {"a": Fraction(3), "b": Fraction(5, 2), "c": Fraction(-7), "zero": Fraction(0)}

whole = st.integers(0, 40).map(lambda n: (str(n), Fraction(n)))
decimal = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(
    lambda t: (f"{t[0]}.{t[1]:02d}", Fraction(100 * t[0] + t[1], 100))
)
names = st.sampled_from(sorted(NAMES)).map(lambda n: (n, NAMES[n]))


@st.composite
def compounds(draw: st.DrawFn, parts: st.SearchStrategy[Pair]) -> Pair:
    """A larger expression with the value that Python's own operators give."""
    (s, x), (t, y) = draw(parts), draw(parts)
    kind = draw(
        st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "min", "round", "if", "and", "neg"])
    )
    match kind:
        case "+":
            return f"({s} + {t})", x + y
        case "-":
            return f"({s} - {t})", x - y
        case "*":
            return f"({s} * {t})", x * y
        case "/":
            return (f"({s} / {t})", x / y) if y else (f"({s})", x)
        case "//":
            return (f"({s} // {t})", Fraction(x // y)) if y else (f"abs({s})", abs(x))
        case "%":
            return (f"({s} % {t})", x % y) if y else (f"int({s})", Fraction(math.trunc(x)))
        case "**":
            n = draw(st.integers(0, 4))
            return f"({s}) ** {n}", x**n
        case "min":
            return f"min({s}, {t})", min(x, y)
        case "round":
            n = draw(st.integers(-2, 3))
            return f"round({s}, {n})", Fraction(round(x, n))
        case "if":
            return f"({s} if {s} <= {t} else {t})", x if x <= y else y
        case "and":
            return f"({s} and not {t})", x and Fraction(not y)
    return f"-({s})", -x


expressions = st.recursive(
    st.one_of(whole, decimal, names), lambda parts: compounds(parts), max_leaves=8
)


@given(expressions)
@settings(max_examples=200, deadline=None)
def test_expressions_have_pythons_exact_value(pair: Pair) -> None:
    source, expected = pair
    found = evaluate(source, NAMES)
    if isinstance(found, Refusal):
        assert found.code in ("nesting", "too_big", "too_many_steps"), found
    else:
        assert found == expected


@given(st.lists(st.tuples(st.sampled_from("+-*"), whole), min_size=1, max_size=20), whole)
@settings(max_examples=60, deadline=None)
def test_chains_keep_precedence_and_order(chain: list[tuple[str, Pair]], first: Pair) -> None:
    """Without brackets: products first, then sums from the left."""
    source, (total, product, sign) = first[0], (Fraction(0), first[1], 1)
    for op, (text, value) in chain:
        source += f" {op} {text}"
        if op == "*":
            product *= value
        else:
            total, product, sign = total + sign * product, value, 1 if op == "+" else -1
    assert evaluate(source, {}) == total + sign * product


@given(st.lists(st.tuples(st.sampled_from(["+=", "-=", "*="]), st.integers(1, 9)), max_size=25))
@settings(max_examples=60, deadline=None)
def test_programs_have_the_value_of_their_statements(lines: list[tuple[str, int]]) -> None:
    source, value = ["x = 1", "seen = 0"], 1
    for op, n in lines:
        source += [f"if x < 10 ** 6:\n    x {op} {n}", "seen = seen + 1"]
        if value < 10**6:
            value = {"+=": value + n, "-=": value - n, "*=": value * n}[op]
    program = run_program("\n".join(source), {})
    assert program.values["x"] == value
    assert program.values["seen"] == len(lines)


PIECES = (
    *("x", "y", "if", "else", "elif", "for", "in", "while", "range", "not", "and", "or", "True"),
    *("max", "abs", "break", "continue", "pass", "import", "lambda", "None", "__class__", "print"),
    *("1", "2.5", "1e9", "1e-999999999", "9" * 200, "0x1f", "3j", "(", ")", "[", "]", "{", "}"),
    *("+", "-", "*", "/", "//", "%", "**", "=", "+=", "==", "<", ">=", ":", ":=", ",", ";", ".", "@"),
    *("\n", "\n    ", "\n\t", " ", "#", "'", '"""', "\\", "\0", "\r", "ü", "\ud800", "\u2028"),
)  # fmt: skip
soup = st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join)
dense = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(st.one_of(st.text(max_size=200), soup, dense))
@example("#\0")
@example("#\ud800")
@settings(max_examples=400, deadline=None)
def test_no_text_raises_or_warns(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = run_program(source, {"x": 2})
    if program.refusal is None:
        ast.parse(source.replace("\r", "\n"))  # what runs is a program to Python too
        assert program.values["x"] == 2
        assert all(fits(v) for v in program.values.values())
    else:
        assert (program.values, program.order) == ({}, ())


@given(st.one_of(st.text(max_size=200), soup, dense))
@example(" 1")
@example("# 1\n 2")
@settings(max_examples=300, deadline=None)
def test_no_expression_raises_or_warns(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(source, {"x": 2})
    assert isinstance(found, Fraction | Refusal)
    assert isinstance(found, Refusal) or fits(found)


@given(expressions, st.text(" \t\n", max_size=5), st.text(" \t\n", max_size=5))
@settings(max_examples=60, deadline=None)
def test_blanks_around_an_expression_change_nothing(pair: Pair, before: str, after: str) -> None:
    assert evaluate(before + pair[0] + after, NAMES) == evaluate(pair[0], NAMES)


@given(st.fractions(), st.fractions(max_denominator=1000))
def test_numbers_survive_being_written(a: Fraction, b: Fraction) -> None:
    for value in (a, b):
        if fits(value):
            assert exact(format_number(value)) == value
