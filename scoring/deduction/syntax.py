"""Program text → a checked syntax tree: everything outside the subset is refused before it runs.

The guards come in this order, so that no later one meets input that could hurt it: length,
characters and words, size of literals, nesting and length of lines, the parser, the tree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from scoring.deduction.exact import fits

MAX_SOURCE = 8_000
"""Characters of a program."""
MAX_TOKENS = 800
MAX_LINE_TOKENS = 400
MAX_DIGITS = 100
MAX_EXPONENT = 300
MAX_BRACKETS = 20
MAX_RECURSIVE = 20
"""Signs, powers, `not` and conditionals in one logical line: the parser recurses at each."""
MAX_ELIF = 20
MAX_INDENT = 40
"""Columns of indentation."""
MAX_NAME = 100
MAX_DEPTH = 50
"""Depth of the syntax tree; a chain of + - * / of any length counts once."""

FUNCTIONS = {
    "abs": (1, 1),
    "min": (2, 50),
    "max": (2, 50),
    "round": (1, 2),
    "int": (1, 1),
    "float": (1, 1),
    "floor": (1, 1),
    "ceil": (1, 1),
    "pow": (2, 2),
}
"""Functions of the subset with the least and greatest number of arguments."""

_FOREIGN_WORDS = frozenset(
    {"None", "as", "assert", "async", "await", "class", "def", "del", "except", "finally", "from"}
    | {"global", "import", "is", "lambda", "nonlocal", "raise", "return", "try", "with", "yield"}
)
_RECURSIVE = frozenset(["**", "not", "if", "else"])
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>\*\*=?|//=?|[-+*/%<>=]=?|!=|[(),:;])"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<space>[ \t]+)"
    r"|(?P<newline>\n(?:[ \t]*\n)*)"
)
_OPERAND_END = frozenset(["number", "name", ")"])
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_COMPARE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LEAVES = (ast.Name, ast.Constant, ast.Pass, ast.Load, ast.Store, ast.And, ast.Or)
_PLAIN = (
    *_LEAVES,
    *_BINARY,
    *_COMPARE,
    *(ast.Module, ast.Expression, ast.Expr, ast.If, ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp),
    *(ast.UAdd, ast.USub, ast.Not, ast.Compare),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a program was not run, or not to its end.

    Attributes
    ----------
    code
        Stable machine name: ``not_text``, ``too_long``, ``character``, ``word``, ``literal``,
        ``nesting``, ``syntax``, ``construct`` before it runs; ``undefined_name``, ``argument``,
        ``division_by_zero``, ``power``, ``too_big``, ``too_many_steps``, ``input_recomputed``
        while it runs.
    message
        What was found, and the limit where there is one.
    line
        1-based line of the source, None for the whole.
    """

    code: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        """Return the message with its line."""
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class Refused(Exception):
    """Carries a `Refusal` out of nested calls; never leaves the room."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, message, line)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A program inside the subset.

    Attributes
    ----------
    body
        Its statements, or the one expression wrapped as a statement.
    literals
        Exact value of every number by (line, column) of its place; the parser's own floats are
        never used.
    """

    body: tuple[ast.stmt, ...]
    literals: dict[tuple[int, int], Fraction]


def parse(source: object, *, expression: bool = False) -> Parsed:
    """Return the tree of a program inside the subset.

    Parameters
    ----------
    source
        Program text; anything else is refused.
    expression
        Whether it must be a single expression.

    Raises
    ------
    Refused
        On everything outside the subset.
    """
    if not isinstance(source, str):
        raise Refused("not_text", f"a program is text, not {type(source).__name__}")
    if len(source) > MAX_SOURCE:
        raise Refused("too_long", f"{len(source)} characters, at most {MAX_SOURCE} are read")
    if "\0" in source or any("\ud800" <= c <= "\udfff" for c in source):
        raise Refused("character", "NUL and lone surrogates are no part of a program")
    clean, literals = _scan(source.replace("\r\n", "\n").replace("\r", "\n"))
    if expression:  # places of literals are those of what is parsed: without blanks before it
        clean, literals = _scan(clean.strip())
    try:
        if expression:
            body: list[ast.stmt] = [ast.Expr(ast.parse(clean, mode="eval").body)]
        else:
            body = ast.parse(clean).body
    except SyntaxError as error:
        raise Refused("syntax", f"does not parse: {str(error.msg)[:100]}", error.lineno) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise Refused("syntax", f"does not parse: {type(error).__name__}") from None
    _check_tree(body)
    return Parsed(tuple(body), literals)


def _scan(source: str) -> tuple[str, dict[tuple[int, int], Fraction]]:
    """Check every token; return the source without comments and the value of each number."""
    literals: dict[tuple[int, int], Fraction] = {}
    kept: list[str] = []
    limits = _Limits()
    line, start, end, before = 1, 0, 0, ""
    while end < len(source):
        match = _TOKEN.match(source, end)
        if match is None:
            raise Refused("character", f"{source[end]!a} is outside the subset", line)
        kind, text, column = str(match.lastgroup), match[0], end - start
        end = match.end()
        if before == "number" and kind in ("number", "name"):
            raise Refused("literal", "a number runs into a word", line)
        if kind == "number":
            literals[line, column] = _literal(text, line)
        elif kind == "name":
            _check_word(text, line)
        kept.append("" if kind == "comment" else text)
        limits.see(kind, text, column, line)
        before = kind
        if kind == "newline":
            line, start = line + text.count("\n"), end
    limits.finish(line)
    return "".join(kept), literals


def _check_word(text: str, line: int) -> None:
    if text in _FOREIGN_WORDS:
        raise Refused("word", f"{text!r} is outside the subset", line)
    if len(text) > MAX_NAME:
        raise Refused("word", f"a name of {len(text)} characters, at most {MAX_NAME}", line)


def _literal(text: str, line: int) -> Fraction:
    """Return the exact value of a number; its size is known before anything is built."""
    mantissa, _, exponent = text.replace("_", "").lower().partition("e")
    if len(mantissa) > MAX_DIGITS:
        raise Refused("literal", f"a number of more than {MAX_DIGITS} digits", line)
    if len(exponent) > 5 or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise Refused("literal", f"an exponent beyond {MAX_EXPONENT}", line)
    if mantissa.isdigit() and not exponent:
        return Fraction(int(mantissa))
    value = Fraction(mantissa + "0" if mantissa.endswith(".") else mantissa)
    value *= Fraction(10) ** int(exponent or 0)
    if not fits(value):
        raise Refused("literal", "a number too large or too fine", line)
    return value


_OPENERS = frozenset(["not", "and", "or", "if", "else", "elif", "while", "in"])


class _Limits:
    """Counts what makes a parser recurse, token by token."""

    def __init__(self) -> None:
        self.tokens = self.line_tokens = self.recursive = self.brackets = self.elifs = 0
        self.last = ""

    def see(self, kind: str, text: str, column: int, line: int) -> None:
        if kind == "space":
            if column == 0 and len(text.expandtabs()) > MAX_INDENT:
                raise Refused("nesting", f"more than {MAX_INDENT} columns of indentation", line)
        elif kind == "newline" or text == ";":
            if not self.brackets:
                self.line_tokens = self.recursive = 0
                self.last = ""
        elif kind != "comment":
            self._count(kind, text, line)

    def _count(self, kind: str, text: str, line: int) -> None:
        self.tokens += 1
        self.line_tokens += 1
        _at_most(self.tokens, MAX_TOKENS, "words and signs", line)
        _at_most(self.line_tokens, MAX_LINE_TOKENS, "words and signs in one line", line)
        if text in _RECURSIVE or (text in "+-" and self.last not in _OPERAND_END):
            self.recursive += 1
            _at_most(self.recursive, MAX_RECURSIVE, "signs, powers and conditions in a line", line)
        elif text == "(":
            self.brackets += 1
            _at_most(self.brackets, MAX_BRACKETS, "open brackets", line)
        elif text == ")":
            self.brackets -= 1
            if self.brackets < 0:
                raise Refused("syntax", "a bracket closes that was never opened", line)
        elif text == "elif":
            self.elifs += 1
            _at_most(self.elifs, MAX_ELIF, "elif branches", line)
        self.last = kind if kind == "number" or (kind == "name" and text not in _OPENERS) else text

    def finish(self, line: int) -> None:
        if self.brackets:
            raise Refused("syntax", "a bracket is never closed", line)


def _at_most(count: int, most: int, what: str, line: int) -> None:
    if count > most:
        raise Refused("nesting", f"more than {most} {what}", line)


def _check_tree(body: list[ast.stmt]) -> None:
    """Refuse every node that is not on the list, and trees deeper than `MAX_DEPTH`."""
    stack: list[tuple[ast.AST, int, bool, int | None]] = [(node, 1, False, None) for node in body]
    while stack:
        node, depth, in_loop, around = stack.pop()
        line = getattr(node, "lineno", around)
        if depth > MAX_DEPTH:
            raise Refused("nesting", f"nested deeper than {MAX_DEPTH}", line)
        if isinstance(node, ast.Break | ast.Continue):
            if not in_loop:
                raise Refused("syntax", "break or continue outside a loop", line)
        elif not isinstance(node, _PLAIN):
            _check_special(node, line)
        loop = in_loop or isinstance(node, ast.For | ast.While)
        stack.extend((child, deeper, loop, line) for child, deeper in _children(node, depth))


def _children(node: ast.AST, depth: int) -> Iterator[tuple[ast.AST, int]]:
    """Yield what lies below a node; the left side of a chain stays on its level."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.BinOp) and child is node.left and isinstance(child, ast.BinOp):
            yield child, depth
        elif isinstance(node, ast.Call) and child is node.func:
            continue
        elif isinstance(node, ast.For) and child is node.iter and isinstance(child, ast.Call):
            yield from ((argument, depth + 1) for argument in child.args)
        else:
            yield child, depth + 1


def _check_special(node: ast.AST, line: int | None) -> None:
    """Check the nodes that are inside the subset only in one form."""
    if isinstance(node, ast.Assign):
        good = all(isinstance(t, ast.Name) for t in node.targets)
    elif isinstance(node, ast.AugAssign):
        good = isinstance(node.target, ast.Name)
    elif isinstance(node, ast.While):
        good = not node.orelse
    elif isinstance(node, ast.For):
        good = isinstance(node.target, ast.Name) and _is_range(node.iter) and not node.orelse
    elif isinstance(node, ast.Call):
        good = _is_known_call(node)
    else:
        good = False
    if not good:
        raise Refused(
            "construct", f"this form of {type(node).__name__} is outside the subset", line
        )


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "range"
        and not node.keywords
        and 1 <= len(node.args) <= 3
    )


def _is_known_call(node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or node.keywords:
        return False
    least, most = FUNCTIONS[node.func.id]
    return least <= len(node.args) <= most
