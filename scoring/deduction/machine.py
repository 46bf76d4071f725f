"""The machine behind `run_program`: evaluates a checked tree, step by counted step."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from scoring.deduction.exact import MAX_BITS, fits
from scoring.deduction.syntax import Parsed, Refused

MAX_STEPS = 8_000
"""Units of work: one per node evaluated, more for operations on large numbers."""

_BITS_PER_STEP = 64


def _weight(value: Fraction) -> int:
    """Return the extra steps that handling a long number counts for."""
    return (value.numerator.bit_length() + value.denominator.bit_length()) // _BITS_PER_STEP


def _mentioned(node: ast.AST) -> frozenset[str]:
    nodes = list(ast.walk(node))
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in called)


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


_COMPARE: dict[type[ast.cmpop], Callable[[Fraction, Fraction], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ZERO, _ONE = Fraction(0), Fraction(1)


class Run:
    """One run: the values so far and the work left."""

    def __init__(
        self, parsed: Parsed, inputs: dict[str, Fraction], held: dict[str, Fraction]
    ) -> None:
        self.parsed = parsed
        self.inputs = inputs
        self.held = held
        self.values = inputs | {name: held[name] for name in held if name in inputs}
        self.order: dict[str, None] = {}
        self.set_aside: dict[str, Fraction] = {}
        self.reads: dict[str, set[str]] = {}
        self.work = 0
        self.line: int | None = None
        self.around: list[frozenset[str]] = []
        self.mentioned: dict[ast.AST, frozenset[str]] = {}
        self.traced: set[ast.stmt] = set()
        self.handlers: dict[type[ast.AST], Callable[[Any], Fraction]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BinOp: self._chain,
            ast.UnaryOp: self._unary,
            ast.BoolOp: self._bool,
            ast.Compare: self._compare,
            ast.IfExp: self._if_expression,
            ast.Call: self._call,
        }
        self.statements: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self._assign,
            ast.AugAssign: self._augmented,
            ast.Expr: self._expression,
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.Break: self._break,
            ast.Continue: self._continue,
        }

    def refused(self, code: str, message: str) -> Refused:
        """Return the exception for what goes wrong in the current line."""
        return Refused(code, message, self.line)

    def spend(self, units: int) -> None:
        """Count work done; refuse beyond the limit."""
        self.work += units
        if self.work > MAX_STEPS:
            raise self.refused("too_many_steps", f"more than {MAX_STEPS} steps")

    def bounded(self, value: Fraction) -> Fraction:
        """Return a result, refusing one beyond the limit of bits."""
        if not fits(value):
            raise self.refused("too_big", f"a number of more than {MAX_BITS} bits")
        self.spend(1 + 2 * _weight(value))
        return value

    # Statements

    def block(self, body: tuple[ast.stmt, ...] | list[ast.stmt]) -> None:
        """Run statements in order."""
        for statement in body:
            self.line = statement.lineno
            self.spend(1)
            run = self.statements.get(type(statement))
            if run is not None:  # what is left is `pass`
                run(statement)

    def _assign(self, node: ast.Assign) -> None:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        self.spend(len(names) - 1)
        used = self._names(node.value)
        literal = None if used else self.value(node.value)
        self._give(node, names, used)
        for name in names:
            if name in self.held:
                self.values[name] = self.held[name]
            elif name in self.inputs:
                if literal is None:
                    raise self._recomputed(name)
                self.set_aside.setdefault(name, literal)
        free = [n for n in names if n not in self.held and n not in self.inputs]
        if free:
            value = self.value(node.value) if literal is None else literal
            self.values.update(dict.fromkeys(free, value))

    def _augmented(self, node: ast.AugAssign) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        self._give(node, [name], self._names(node.value) | {name})
        if name in self.held:
            self.values[name] = self.held[name]
        elif name in self.inputs:
            raise self._recomputed(name)
        else:
            self.values[name] = self._apply(node.op, self._read(name), self.value(node.value))

    def _give(self, node: ast.stmt, names: list[str], used: frozenset[str]) -> None:
        """Note which names a statement gives a value, and from which others it does.

        Once for each statement: what stands around it is the same on every turn of a loop, and
        the sets would cost more time than the steps that are counted.
        """
        if node in self.traced:
            return
        self.traced.add(node)
        for name in names:
            self.order.setdefault(name)
            self.reads.setdefault(name, set()).update(used, *self.around)

    def _recomputed(self, name: str) -> Refused:
        return self.refused("input_recomputed", f"the program recomputes the input {name!r}")

    def _names(self, node: ast.AST) -> frozenset[str]:
        """Return the variables an expression mentions."""
        known = self.mentioned.get(node)
        if known is None:
            known = self.mentioned[node] = _mentioned(node)
        return known

    def _expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _if(self, node: ast.If) -> None:
        self.around.append(self._names(node.test))
        self.block(node.body if self.value(node.test) else node.orelse)
        self.around.pop()

    def _for(self, node: ast.For) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        arguments = node.iter.args if isinstance(node.iter, ast.Call) else []
        if name in self.inputs or name in self.held:
            raise self._recomputed(name)
        bounds = [self._whole(self.value(a), "range") for a in arguments]
        if len(bounds) == 3 and bounds[2] == 0:
            raise self.refused("argument", "range needs a step other than 0")
        self.around.append(frozenset(n for a in arguments for n in self._names(a)))
        for i in range(*bounds):
            self.spend(1)
            self._give(node, [name], frozenset())
            self.values[name] = Fraction(i)
            if not self._body(node.body):
                break
        self.around.pop()

    def _while(self, node: ast.While) -> None:
        self.around.append(self._names(node.test))
        while self.value(node.test):
            self.spend(1)
            if not self._body(node.body):
                break
        self.around.pop()

    def _body(self, body: list[ast.stmt]) -> bool:
        """Run a loop's body once; return whether the loop goes on."""
        depth = len(self.around)
        try:
            self.block(body)
        except _Continue:
            pass
        except _Break:
            return False
        finally:
            del self.around[depth:]
        return True

    def _break(self, _: ast.Break) -> None:
        raise _Break

    def _continue(self, _: ast.Continue) -> None:
        raise _Continue

    # Expressions

    def value(self, node: ast.expr) -> Fraction:
        """Evaluate an expression."""
        self.spend(1)
        return self.handlers[type(node)](node)

    def _constant(self, node: ast.Constant) -> Fraction:
        if isinstance(node.value, bool):
            return Fraction(node.value)
        value = self.parsed.literals[node.lineno, node.col_offset]
        self.spend(_weight(value))
        return value

    def _name(self, node: ast.Name) -> Fraction:
        return self._read(node.id)

    def _read(self, name: str) -> Fraction:
        value = self.values.get(name)
        if value is None:
            raise self.refused("undefined_name", f"{name!r} has no value yet")
        self.spend(_weight(value))
        return value

    def _chain(self, node: ast.BinOp) -> Fraction:
        """Evaluate a chain of operators from its left end, without recursion along it."""
        links: list[ast.BinOp] = [node]
        while isinstance(links[-1].left, ast.BinOp):
            links.append(links[-1].left)
        value = self.value(links[-1].left)
        for link in reversed(links):
            self.spend(1)
            value = self._apply(link.op, value, self.value(link.right))
        return value

    def _apply(self, op: ast.operator, a: Fraction, b: Fraction) -> Fraction:
        if isinstance(op, ast.Pow):
            return self._power(a, b)
        if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and b == 0:
            raise self.refused("division_by_zero", "division by zero")
        match op:
            case ast.Add():
                value = a + b
            case ast.Sub():
                value = a - b
            case ast.Mult():
                value = a * b
            case ast.Div():
                value = a / b
            case ast.FloorDiv():
                value = Fraction(a // b)
            case _:
                value = a % b
        return self.bounded(value)

    def _power(self, a: Fraction, b: Fraction) -> Fraction:
        """Return a**b, refusing a result beyond the limit before it is built."""
        if b.denominator != 1:
            raise self.refused("power", "a power needs a whole exponent")
        if a == 0 and b < 0:
            raise self.refused("division_by_zero", "division by zero")
        if a in (0, 1) or b == 0:
            return a if b else _ONE
        if a == -1:
            return a if b % 2 else _ONE
        bits = max(a.numerator.bit_length(), a.denominator.bit_length())
        if (bits - 1) * abs(b) > MAX_BITS:
            raise self.refused("too_big", f"a power of more than {MAX_BITS} bits")
        return self.bounded(a ** int(b))

    def _unary(self, node: ast.UnaryOp) -> Fraction:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return _ZERO if value else _ONE
        return -value if isinstance(node.op, ast.USub) else value

    def _bool(self, node: ast.BoolOp) -> Fraction:
        stops = isinstance(node.op, ast.Or)
        value = _ZERO
        for part in node.values:
            value = self.value(part)
            if bool(value) is stops:
                break
        return value

    def _compare(self, node: ast.Compare) -> Fraction:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not _COMPARE[type(op)](left, right):
                return _ZERO
            left = right
        return _ONE

    def _if_expression(self, node: ast.IfExp) -> Fraction:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _call(self, node: ast.Call) -> Fraction:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.values:
            raise self.refused("argument", f"{name!r} is a number here and cannot be called")
        args = [self.value(a) for a in node.args]
        match name:
            case "abs":
                return abs(args[0])
            case "min":
                return min(args)
            case "max":
                return max(args)
            case "pow":
                return self._power(*args)
            case "float":
                return args[0]
            case "int":
                return Fraction(math.trunc(args[0]))
            case "floor":
                return Fraction(math.floor(args[0]))
            case "ceil":
                return Fraction(math.ceil(args[0]))
        places = self._whole(args[1], "round") if len(args) == 2 else 0
        if abs(places) > 100:
            raise self.refused("argument", "round takes at most 100 places")
        return self.bounded(Fraction(round(args[0], places)))

    def _whole(self, value: Fraction, what: str) -> int:
        if value.denominator != 1:
            raise self.refused("argument", f"{what} needs whole numbers, not {value}")
        return value.numerator
