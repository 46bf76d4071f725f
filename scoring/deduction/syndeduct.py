"""SynDeduct: arithmetic chains of any length whose every step is known, made from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scoring.deduction.exact import Number, exact
from scoring.deduction.verbalise import (
    Operator,
    Rule,
    say_constant,
    say_question,
    say_rule,
    say_step,
    wordings,
)

LENGTHS = tuple(range(1, 13))
"""The paper's prefixes and lengths."""
OPERATORS: tuple[Operator, ...] = ("+", "-", "*")
TOLERANCE = Fraction(1, 20)
_FACTORS = (2, 9)
_RESTARTS = 60
_TRIES = 40
_SETBACKS = 10
_RETREAT = 4


@dataclass(frozen=True, slots=True)
class SynQuestion:
    """One question with its whole solution.

    Attributes
    ----------
    id
        ``k{k}n{n}#{i}``.
    k, n
        Steps given as prefix, and hops from there to the target.
    question
        Constants and rules in words, then what is asked.
    steps
        The k + n solution steps in words and numbers.
    names
        Variable computed by each step.
    values
        Exact value of every constant and variable, distractors included.
    code
        The rules as a program of `run_program`; `constants` are its inputs.
    constants
        Values that the question states.
    distractors
        Names the target does not need.
    """

    id: str
    k: int
    n: int
    question: str
    steps: tuple[str, ...]
    names: tuple[str, ...]
    values: Mapping[str, Fraction]
    code: str
    constants: Mapping[str, Fraction]
    distractors: tuple[str, ...]

    @property
    def prefix(self) -> str:
        """The first k steps, the start of the assistant's answer."""
        return " ".join(self.steps[: self.k])

    @property
    def target(self) -> str:
        """The variable asked for."""
        return self.names[-1]

    @property
    def hops(self) -> dict[str, int]:
        """Hop of each variable still to be derived."""
        return {name: h for h, name in enumerate(self.names[self.k :], start=1)}

    @property
    def truth(self) -> dict[int, Fraction]:
        """Value at each hop."""
        return {h: self.values[name] for name, h in self.hops.items()}


def synthesize(
    seed: int,
    *,
    prefixes: Iterable[int] = LENGTHS,
    lengths: Iterable[int] = LENGTHS,
    per_cell: int = 10,
    operators: Sequence[Operator] = OPERATORS,
    reuse: float = 0.25,
    distractors: int = 0,
    shuffle: bool = False,
    tolerance: Number = TOLERANCE,
) -> tuple[SynQuestion, ...]:
    """Make arithmetic questions over random graphs, by prefix and length.

    Parameters
    ----------
    seed
        >= 0; the same seed and options give the same questions, each independent of the others.
    prefixes, lengths
        Values of k (>= 0) and of n (>= 1).
    per_cell
        Questions per (k, n), >= 0.
    operators
        Among ``+ - * /``; results are positive whole numbers whatever is chosen.
    reuse
        Chance that a rule's second operand is an earlier variable rather than a constant.
    distractors
        Rules added that the target does not need, each with its own constant.
    shuffle
        Whether constants and rules are told in random order rather than in order of use.
    tolerance
        Values of one question differ by more than this share, see Notes.

    Returns
    -------
    tuple of SynQuestion
        By k, then n, then number.

    Raises
    ------
    ValueError
        When an option is out of range, or no such question could be found.

    Notes
    -----
    X0 is given; each rule computes X_i from X_{i-1} and one more operand, so every one of the
    k + n steps is needed and hop h of a prefix k is X_{k+h}. No two values of a question are
    equal, and every variable differs from every other value of its question by more than
    `tolerance` of either: an answer accepted within the tolerance cannot be another value of the
    question. Numbers are kept small, since large ones would make late hops
    harder for a reason of their own: they grow only where small ones leave no room.

    With the defaults hop h is scored on 12 · 10 · (13 - h) questions, which every one of the
    paper's 96 cells has as its denominator.

    References
    ----------
    Paper C, section 4.4 and appendix A.5 (its generator and wording are not printed; these are
    ours).

    Examples
    --------
    >>> q = synthesize(1, prefixes=[1], lengths=[2], per_cell=1)[0]
    >>> q.id, q.names, q.hops
    ('k1n2#0', ('X1', 'X2', 'X3'), {'X2': 1, 'X3': 2})
    """
    ks, ns = list(prefixes), list(lengths)
    share = exact(tolerance, "tolerance")
    _check(seed, ks, ns, per_cell, operators, reuse, distractors, share)
    return tuple(
        _question(
            np.random.default_rng([seed, k, n, i]),
            (k, n, i),
            _Options(tuple(operators), reuse, distractors, shuffle, share),
        )
        for k in ks
        for n in ns
        for i in range(per_cell)
    )


@dataclass(frozen=True, slots=True)
class _Options:
    operators: tuple[Operator, ...]
    reuse: float
    distractors: int
    shuffle: bool
    tolerance: Fraction


def _check(
    seed: int,
    ks: Sequence[int],
    ns: Sequence[int],
    per_cell: int,
    operators: Sequence[str],
    reuse: float,
    distractors: int,
    tolerance: Fraction,
) -> None:
    if seed < 0 or per_cell < 0 or distractors < 0:
        raise ValueError(f"seed={seed}, per_cell={per_cell}, distractors={distractors}: all >= 0")
    if any(k < 0 for k in ks) or any(n < 1 for n in ns):
        raise ValueError(f"prefixes {ks} must be >= 0 and lengths {ns} >= 1")
    if not operators or not set(operators) <= {"+", "-", "*", "/"}:
        raise ValueError(f"operators {list(operators)} must be some of + - * /")
    if not 0 <= reuse <= 1:
        raise ValueError(f"reuse is {reuse}: it must be in [0, 1]")
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance is {tolerance}: it must be in [0, 1)")


class _Graph:
    """A graph in the making: values so far, and which new ones they leave room for."""

    def __init__(self, rng: np.random.Generator, options: _Options, limit: int) -> None:
        self.rng = rng
        self.options = options
        self.limit = limit
        self.above, self.below = options.tolerance.numerator, options.tolerance.denominator
        self.values: dict[str, int] = {}
        self.constants: dict[int, str] = {}
        self.rules: list[Rule] = []

    def constant(self, name: str, value: int) -> None:
        self.values[name] = value
        self.constants[value] = name

    def free(self, value: int, others: Iterable[int]) -> bool:
        """Return whether a value is further than the tolerance from all others."""
        for v in others:
            larger, smaller = (value, v) if value > v else (v, value)
            if (larger - smaller) * self.below <= self.above * larger:
                return False
        return True

    def extend(self, source: str, out: str) -> bool:
        """Add a rule that computes `out` from `source`; return whether one was found."""
        for _ in range(_TRIES):
            operator = self.options.operators[int(self.rng.integers(len(self.options.operators)))]
            name, operand = self._operand(source, operator)
            result = _result(self.values[source], operator, operand)
            if result is None or not 1 < result <= self.limit:
                continue
            if not self.free(result, self.values.values()):
                continue
            if name not in self.values:
                computed = [self.values[rule.out] for rule in self.rules]
                if operand == self.values["X0"] or not self.free(operand, [*computed, result]):
                    continue
                self.constant(name, operand)
            self.values[out] = result
            self.rules.append(Rule(out, source, operator, name))
            return True
        return False

    def retreat(self, n: int) -> None:
        """Take back the last n rules, with the constants that only they use."""
        for _ in range(min(n, len(self.rules))):
            rule = self.rules.pop()
            del self.values[rule.out]
            if not any(rule.b in (r.a, r.b) for r in self.rules) and rule.b.startswith("C"):
                del self.constants[self.values.pop(rule.b)]

    def _operand(self, source: str, operator: Operator) -> tuple[str, int]:
        """Return an earlier variable, or a constant: a known one where the value is known."""
        if len(self.rules) > 1 and self.rng.random() < self.options.reuse:
            earlier = [rule.out for rule in self.rules if rule.out != source]
            name = earlier[int(self.rng.integers(len(earlier)))]
            return name, self.values[name]
        low, high = (
            _FACTORS if operator in "*/" else (2, min(max(30, self.values[source] // 4), 10**15))
        )
        value = int(self.rng.integers(low, high, endpoint=True))
        return self.constants.get(value, f"C{len(self.constants)}"), value


def _result(a: int, operator: Operator, b: int) -> int | None:
    if operator == "/":
        return a // b if a % b == 0 else None
    return {"+": a + b, "-": a - b, "*": a * b}[operator]


def _question(
    rng: np.random.Generator, place: tuple[int, int, int], options: _Options
) -> SynQuestion:
    """Try until a graph fits, with larger numbers only when small ones leave no room."""
    steps = place[0] + place[1]
    limit = max(500, round(60 * 1.12**steps))
    grows = "*" in options.operators and {"-", "/"}.isdisjoint(options.operators)
    pace = max(1, steps // (2 if grows else 8))
    for attempt in range(_RESTARTS):
        graph = _graph(rng, options, steps, limit << (attempt * pace // 3))
        if graph is not None:
            return _told(graph, place)
    raise ValueError(
        f"no question with k={place[0]}, n={place[1]}, operators {''.join(options.operators)} in"
        f" which all values differ by more than {options.tolerance}: allow more operators, fewer"
        " steps or distractors, or a smaller tolerance"
    )


def _graph(rng: np.random.Generator, options: _Options, steps: int, limit: int) -> _Graph | None:
    graph = _Graph(rng, options, limit)
    graph.constant("X0", _start(rng, options.operators, steps, limit))
    graph.limit = max(limit, graph.values["X0"])
    setbacks = 0
    while (i := len(graph.rules) + 1) <= steps:
        if not graph.extend(f"X{i - 1}", f"X{i}"):
            setbacks += 1
            if setbacks > _SETBACKS:
                return None
            graph.retreat(_RETREAT)
    for i in range(1, options.distractors + 1):
        source = f"X{int(rng.integers(0, steps + 1))}"
        if not graph.extend(source, f"Y{i}"):
            return None
    return graph


def _start(rng: np.random.Generator, operators: Sequence[Operator], steps: int, limit: int) -> int:
    """Return the first value: small, but high or divisible when values can only fall."""
    if set(operators) == {"/"}:
        return int(np.prod(rng.integers(*_FACTORS, size=steps), dtype=object)) * 7
    if set(operators) <= {"-", "/"}:
        return int(rng.integers(limit // 2, limit, endpoint=True))
    return int(rng.integers(2, 60, endpoint=True))


def _told(graph: _Graph, place: tuple[int, int, int]) -> SynQuestion:
    """Put a graph into words."""
    k, n, i = place
    values = {name: Fraction(v) for name, v in graph.values.items()}
    choices = iter(wordings(graph.rng, len(graph.constants) + len(graph.rules)))
    sentences = [say_constant(c, values[c], next(choices)) for c in graph.constants.values()]
    sentences += [say_rule(rule, next(choices)) for rule in graph.rules]
    if graph.options.shuffle:
        sentences = [sentences[int(j)] for j in graph.rng.permutation(len(sentences))]
    chain = graph.rules[: k + n]
    extra = graph.rules[k + n :]
    used = {name for rule in chain for name in (rule.a, rule.b)}
    idle = [c for c in graph.constants.values() if c not in used]
    return SynQuestion(
        id=f"k{k}n{n}#{i}",
        k=k,
        n=n,
        question=say_question(sentences, chain[-1].out),
        steps=tuple(say_step(r, values[r.a], values[r.b], values[r.out]) for r in chain),
        names=tuple(r.out for r in chain),
        values=values,
        code="\n".join(r.code for r in graph.rules),
        constants={c: values[c] for c in graph.constants.values()},
        distractors=(*idle, *(r.out for r in extra)),
    )
