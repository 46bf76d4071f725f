"""What the interpreter refuses, and that nothing in the project hands text to Python."""

from __future__ import annotations

import ast
import re
import tracemalloc
import warnings
from pathlib import Path

import pytest

from scoring.deduction import Refusal, evaluate, run_program
from scoring.deduction.machine import MAX_STEPS, Run
from scoring.deduction.syntax import Refused, parse

ROOT = Path(__file__).parents[3]

REFUSED = {
    "attribute escape": ("().__class__.__bases__", "character"),
    "attribute of a number": ("x = 1 .real", "character"),
    "import": ("import os", "word"),
    "from import": ("from os import system", "word"),
    "dunder import": ("__import__(1)", "construct"),
    "call of exec": ("exec(1)", "construct"),
    "call of a call": ("abs(1)(2)", "construct"),
    "keyword argument": ("x = round(number=1)", "construct"),
    "star argument": ("x = max(*a)", "construct"),
    "too few arguments": ("x = max(1)", "construct"),
    "string": ("x = 'a'", "character"),
    "bytes": ('x = b"a"', "character"),
    "f-string": ("x = f'{1}'", "character"),
    "list": ("x = [1]\nwhile True:\n    x = x + x", "character"),
    "dict": ("x = {}", "character"),
    "tuple": ("x = 1, 2", "construct"),
    "unpacking": ("a, b = 1, 2", "construct"),
    "subscript": ("x = a[0]", "character"),
    "lambda": ("f = lambda: 1", "word"),
    "def": ("def f():\n    return 1", "word"),
    "class": ("class A:\n    pass", "word"),
    "try": ("try:\n    x = 1\nexcept:\n    x = 2", "word"),
    "with": ("with a:\n    pass", "word"),
    "raise": ("raise a", "word"),
    "assert": ("assert 1", "word"),
    "del": ("del x", "word"),
    "global": ("global x", "word"),
    "yield": ("x = yield", "word"),
    "await": ("await x", "word"),
    "None": ("x = None", "word"),
    "is": ("x = 1 is 1", "word"),
    "in": ("x = 1 in a", "construct"),
    "walrus": ("(x := 1)", "construct"),
    "annotation": ("x: int = 1", "construct"),
    "match": ("match 1:\n    case 1:\n        x = 1", "construct"),
    "for over a name": ("for i in a:\n    pass", "construct"),
    "for else": ("for i in range(2):\n    pass\nelse:\n    x = 1", "construct"),
    "while else": ("while 0:\n    pass\nelse:\n    x = 1", "construct"),
    "decorator": ("@x\ndef f():\n    pass", "character"),
    "bit operator": ("x = 1 << 99999", "construct"),
    "invert": ("x = ~1", "character"),
    "matrix product": ("x = a @ b", "character"),
    "complex": ("x = 3j", "literal"),
    "hexadecimal": ("x = 0x" + "f" * 5000, "literal"),
    "digits": ("x = " + "9" * 5000, "literal"),
    "exponent": ("x = 1e-999999999", "literal"),
    "long exponent": ("x = 1e" + "9" * 5000, "literal"),
    "just too large": ("x = 9e300 * 1e300", "too_big"),
    "tower": ("x = 9**9**9", "too_big"),
    "power": ("x = 2**1024", "too_big"),
    "negative power": ("x = 2**-99999999", "too_big"),
    "called power": ("x = pow(10, 10**200)", "too_big"),
    "root": ("x = 2**0.5", "power"),
    "zero to a negative": ("x = 0**-1", "division_by_zero"),
    "division": ("x = 1 / 0", "division_by_zero"),
    "floor division": ("x = 1 // 0", "division_by_zero"),
    "modulo": ("x = 1 % 0", "division_by_zero"),
    "squaring": ("x = 3\nwhile True:\n    x = x * x", "too_big"),
    "fractions": ("x = 3\nwhile True:\n    x = 1 / (x + 1 / x)", "too_big"),
    "endless": ("while True:\n    pass", "too_many_steps"),
    "endless for": ("for i in range(10**300):\n    pass", "too_many_steps"),
    "endless continue": ("while 1:\n    continue", "too_many_steps"),
    "nested loops": ("for i in range(200):\n    for j in range(200):\n        x = 1", "too_many_steps"),
    "range of a fraction": ("for i in range(1 / 2):\n    pass", "argument"),
    "range without step": ("for i in range(1, 2, 0):\n    pass", "argument"),
    "round to a fraction": ("x = round(1, 1 / 2)", "argument"),
    "round to many places": ("x = round(1, 10**9)", "argument"),
    "call of a number": ("max = 1\nx = max(1, 2)", "argument"),
    "undefined": ("x = y", "undefined_name"),
    "undefined target": ("x += 1", "undefined_name"),
    "function as a value": ("x = abs", "undefined_name"),
    "unassigned branch": ("if 0:\n    x = 1\ny = x", "undefined_name"),
    "break outside": ("break", "syntax"),
    "continue in if": ("if 1:\n    continue", "syntax"),
    "brackets": ("(" * 5000, "nesting"),
    "closed brackets": ("x = " + "(" * 300 + "1" + ")" * 300, "nesting"),
    "open bracket": ("x = (1", "syntax"),
    "stray bracket": ("x = 1)", "syntax"),
    "signs": ("x = " + "-" * 5000 + "1", "nesting"),
    "nots": ("x = " + "not " * 1000 + "1", "nesting"),
    "powers": ("x = " + "1**" * 1000 + "1", "nesting"),
    "conditionals": ("x = " + "1 if 1 else " * 500 + "1", "nesting"),
    "branches": ("if 1:\n    x = 1\n" + "elif 1:\n    x = 1\n" * 300, "nesting"),
    "blocks": ("".join(" " * i + "if 1:\n" for i in range(90)) + " " * 90 + "x = 1", "nesting"),
    "tabs": ("if 1:\n" + "\t" * 9 + "x = 1", "nesting"),
    "long line": ("x = 1" + " + 1" * 300, "nesting"),
    "many lines": ("x = 1\n" * 400, "nesting"),
    "huge": ("x = 1\n" * 1_000_000, "too_long"),
    "long name": ("x" * 5000 + " = 1", "word"),
    "null": ("x = 1\0", "character"),
    "form feed": ("x = 1\f", "character"),
    "surrogate": ("x = \ud800", "character"),
    "look-alike digit": ("x = \u0663", "character"),
    "look-alike letter": ("\uff58 = 1", "character"),
    "continuation": ("x = 1 + \\\n2", "character"),
    "indentation": ("  x = 1", "syntax"),
    "mixed indentation": ("if 1:\n\tx = 1\n        y = 2\n      z = 3", "syntax"),
    "leading zero": ("x = 007", "syntax"),
    "underscores": ("x = 1__0", "syntax"),
    "prose": ("The answer is 5", "word"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_its_reason_and_little_memory(name: str) -> None:
    source, code = REFUSED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tracemalloc.start()
        program = run_program(source, {})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert program.refusal is not None
    assert program.refusal.code == code, program.refusal
    assert (program.values, program.order) == ({}, ())
    assert peak < 5_000_000
    assert len(str(program.refusal)) < 200


@pytest.mark.parametrize("source", [None, 3, b"x = 1", ["x = 1"]])
def test_what_is_no_text_is_refused(source: object) -> None:
    refusal = run_program(source, {}).refusal  # type: ignore[arg-type]
    assert refusal is not None
    assert refusal.code == "not_text"


def test_an_expression_is_nothing_more() -> None:
    for bad in ("x = 1", "1\n2", "1; 2", "", "while 1: pass"):
        refusal = evaluate(bad, {})
        assert isinstance(refusal, Refusal)
        assert refusal.code in ("syntax", "construct")


def test_long_numbers_cost_more_steps() -> None:
    """Work is bounded in time, not only in count: long operands end a loop earlier."""
    turns = []
    for start in ("3", "2**900"):
        run = Run(parse(f"a = {start}\nn = 0\nwhile True:\n    n = n + 1\n    b = a - a"), {}, {})
        with pytest.raises(Refused, match=f"more than {MAX_STEPS} steps"):
            run.block(run.parsed.body)
        turns.append(int(run.values["n"]))
    assert turns[0] > 500
    assert turns[1] < turns[0] / 3


def test_the_callers_deep_stack_is_no_crash() -> None:
    def deep(n: int) -> Refusal | None:
        return (
            run_program("x = " + "abs(" * 15 + "1" + ")" * 15, {}).refusal
            if n == 0
            else deep(n - 1)
        )

    seen = {getattr(deep(n), "code", "ran") for n in range(700, 940, 8) if _fits(n)}
    assert "ran" in seen
    assert seen <= {"ran", "nesting", "syntax"}


def _fits(n: int) -> bool:
    """Return whether a bare recursion of n calls is possible here."""
    try:
        return n == 0 or _fits(n - 1)
    except RecursionError:
        return False


ROOMS = ("scoring", "judges", "store", "pipeline", "tui")
_RUNS_TEXT = re.compile(r"(?<![\w.])(?:exec|eval|compile|__import__)\s*\(")
_NAMES = frozenset(["exec", "eval", "compile", "__import__", "builtins", "__builtins__"])


def _sources() -> list[Path]:
    found = [p for room in ROOMS for p in sorted((ROOT / room).rglob("*.py"))]
    assert len(found) > 50
    return found


def test_no_room_hands_text_to_python() -> None:
    hits = [p.name for p in _sources() if _RUNS_TEXT.search(p.read_text(encoding="utf-8"))]
    assert hits == []


def test_no_room_names_the_builtins_that_run_text() -> None:
    hits = []
    for path in _sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Name) and node.id in _NAMES
            imported = isinstance(node, ast.Import) and any(a.name in _NAMES for a in node.names)
            evaluates = isinstance(node, ast.Attribute) and node.attr == "eval"
            if named or imported or evaluates:
                hits.append(f"{path.name}: {ast.unparse(node)}")
    assert hits == []


def test_the_search_itself_finds_what_it_looks_for() -> None:
    for bad in ("exec(x)", "y = eval (x)", "compile(x, '', 'exec')"):
        assert _RUNS_TEXT.search(bad)
    for good in ("re.compile(x)", "session.exec(x)", "my_eval(x)", "evaluate(x)"):
        assert not _RUNS_TEXT.search(good)
