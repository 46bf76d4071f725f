"""What completions say about a model's deduction: every measure of DEFINITIONS, section 3."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from pipeline.deducing.readers import ReadersCompared, compared_readers
from pipeline.deducing.reading import contexts
from pipeline.deducing.responses import Response, chosen_reader, responses
from pipeline.deducing.work import Templates, solver_templates
from scoring.deduction import (
    MIN_SHARE,
    Cell,
    Coverage,
    DedCons,
    FinalAccuracy,
    MemorisationGap,
    SanityReport,
    StyleComparison,
    accuracy_group,
    compare_styles,
    cons,
    coverage,
    decay,
    ded_cons,
    final_accuracy,
    memorisation_gap,
    paired_observations,
    propagation_share,
    survivors,
)
from scoring.deduction.consistency import Missing
from scoring.deduction.decay import DecayNorm
from scoring.deduction.template import HopUnit
from store import Store
from store.deduction_records import FIRST_STYLE, SolverRecord

TOLERANCE = Fraction(1, 20)
"""The paper's allowance for SynDeduct, shown beside the exact figures."""

NORMS: tuple[DecayNorm, ...] = ("table", "equation", "per_hop")

Kind = Literal["problems", "syndeduct"]
"""Word problems and their mutations, or SynDeduct questions: never one mean over both."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How completions are scored; see `scoring.deduction` for each.

    `reader` names whose values count, None: a model's where one has read them, else ours.
    """

    hops: HopUnit = "steps"
    missing: Missing = "wrong"
    k_min: int = 1
    min_share: Fraction | None = MIN_SHARE
    norm: DecayNorm = "table"
    reader: str | None = None
    templates: Templates = "auto"


@dataclass(frozen=True, slots=True)
class PrefixCons:
    """Cons(d, k): the mean over responses of the share of right variables, or of right steps.

    In [0, 1], 1 = ideal; None without a response that leaves something to derive.
    """

    k: int
    variables: float | None
    steps: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Scored:
    """One solver in one style, on word problems' mutations or on SynDeduct.

    `within` is the same as `exact` with the tolerance of SynDeduct, None elsewhere. `decays` are
    of `exact` in every normalisation. `statuses` counts variables by verdict. `groups` counts
    problems by accuracy over their mutations (1 = always right … 5 = never). `memory` compares the
    originals with the mutations, None without originals. `first_wrong` counts responses by their
    first wrong step. `n_unread` completions of `n` are left out: their reader could not read them.
    """

    solver: str
    style: str
    kind: Kind
    reader: str
    exact: DedCons
    within: DedCons | None
    decays: Mapping[DecayNorm, float | None]
    coverage: Coverage
    prefixes: tuple[PrefixCons, ...]
    final: FinalAccuracy
    memory: MemorisationGap | None
    groups: Mapping[int, int]
    statuses: Mapping[str, int]
    propagated: float | None
    n_wrong: int
    first_wrong: Mapping[int, int]
    n_problems: int
    n: int
    n_unread: int
    outcomes: Mapping[str, int]
    ways: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Compared:
    """A style against the original over the same observations of one solver."""

    solver: str
    style: str
    comparison: StyleComparison


@dataclass(frozen=True, slots=True)
class DeductionReport:
    """What a set of solvers did on the problems that survived for all of them.

    `dropped` counts, by solver, templates by failed check; `not_asked` says how many surviving
    problems not every solver was asked about.
    """

    solvers: tuple[SolverRecord, ...]
    rules: Rules
    problems: tuple[str, ...]
    passed: Mapping[str, int]
    dropped: Mapping[str, Mapping[str, int]]
    not_asked: int
    scores: tuple[Scored, ...]
    styles: tuple[Compared, ...]
    readers: tuple[ReadersCompared, ...] = field(default=())


def chosen_solvers(store: Store, names: Sequence[str] | None) -> tuple[SolverRecord, ...]:
    """Return the solvers that are meant, all when none is named.

    Raises
    ------
    ValueError
        Naming those that there are.
    """
    known = {s.name: s for s in store.solvers()}
    if not known:
        raise ValueError("no solver in the database: medoid deduce ask first")
    for name in names or ():
        if name not in known:
            raise ValueError(f"no solver {name!r} in the database; there are: {', '.join(known)}")
    return tuple(known[n] for n in dict.fromkeys(names)) if names else tuple(known.values())


def deduction_report(
    store: Store,
    solvers: Sequence[str] | None = None,
    rules: Rules | None = None,
    *,
    leave_out: Collection[int] = (),
) -> DeductionReport:
    """Measure solvers on the problems that survived their checks for every one of them.

    Completions to `leave_out`, by id, count in nothing: what is sealed for who looks.

    Raises
    ------
    ValueError
        When there is no such solver or reader, or nothing was asked.
    """
    rules = rules or Rules()
    chosen = chosen_solvers(store, solvers)
    about = contexts(store)
    reports = {
        s.name: [
            SanityReport(t.problem, t.solver, t.failures)
            for t in solver_templates(store, s.name, rules.templates)[1]
        ]
        for s in chosen
    }
    alive = survivors(reports)
    asked = [
        {about[m].problem.name for m, _, _ in store.completion_places(s.id) if m in about}
        for s in chosen
    ]
    common = set(alive.problems).intersection(*asked)
    if not common:
        raise ValueError(
            "no problem that every solver was asked about: medoid deduce ask, or name solvers with "
            "--solver"
        )
    scores: list[Scored] = []
    styles: list[Compared] = []
    readers: list[ReadersCompared] = []
    for solver in chosen:
        reader = chosen_reader(store, solver, rules.reader)
        every = responses(store, solver, reader, about=about, problems=common)
        rows = [r for r in every if r.completion.id not in leave_out]
        mine = _by_style(rows)
        scores += [_scored(key, reader, found, rules) for key, found in sorted(mine.items())]
        styles += _compared(solver.name, mine, rules)
        readers += compared_readers(store, solver, rows)
    return DeductionReport(
        solvers=chosen,
        rules=rules,
        problems=tuple(sorted(common)),
        passed=alive.passed,
        dropped=alive.dropped,
        not_asked=len(set(alive.problems) - common),
        scores=tuple(scores),
        styles=tuple(styles),
        readers=tuple(readers),
    )


_Key = tuple[Kind, int, str]


def _by_style(rows: Iterable[Response]) -> dict[_Key, list[Response]]:
    """Return responses by kind and style, the original style first."""
    out: dict[_Key, list[Response]] = defaultdict(list)
    for row in rows:
        kind: Kind = "syndeduct" if row.synthetic else "problems"
        style = row.completion.style
        out[kind, int(style != FIRST_STYLE), style].append(row)
    return dict(out)


def _scored(key: _Key, reader: str, rows: Sequence[Response], rules: Rules) -> Scored:
    kind, _, style = key
    read = [r for r in rows if r.reading is not None]
    mutated = [r for r in read if not r.is_original]
    cells = _cells(mutated, rules)
    measured = _measured(cells, rules)
    means = [h.mean for h in measured.hops if h.kept]
    spreads = [r.spread() for r in mutated]
    finals = _final_by_problem(cells)
    return Scored(
        solver=rows[0].solver,
        style=style,
        kind=kind,
        reader=reader,
        exact=measured,
        within=_measured(_cells(mutated, rules, TOLERANCE), rules) if kind == "syndeduct" else None,
        decays={norm: decay(means, norm=norm) for norm in NORMS},
        coverage=coverage(
            [{v.variable for v in r.verdicts()} for r in mutated], [set(r.stated) for r in mutated]
        ),
        prefixes=_prefix_cons(mutated, rules),
        final=final_accuracy(cells),
        memory=_memory(read, cells, rules),
        groups=dict(sorted(Counter(accuracy_group(a) for a in finals.values()).items())),
        statuses=dict(Counter(v.status for r in mutated for v in r.verdicts())),
        propagated=propagation_share(spreads),
        n_wrong=sum(s.wrong for s in spreads),
        first_wrong=dict(
            sorted(Counter(s.first_wrong_step for s in spreads if s.first_wrong_step).items())
        ),
        n_problems=len({r.problem for r in mutated}),
        n=len(rows),
        n_unread=len(rows) - len(read),
        outcomes=dict(Counter(r.completion.outcome for r in rows)),
        ways=dict(Counter(r.completion.way for r in rows)),
    )


def _cells(rows: Iterable[Response], rules: Rules, tolerance: Fraction = Fraction(0)) -> list[Cell]:
    return [c for r in rows for c in r.cells(hops=rules.hops, tolerance=tolerance)]


def _measured(cells: Sequence[Cell], rules: Rules) -> DedCons:
    return ded_cons(
        cells,
        k_min=rules.k_min,
        missing=rules.missing,
        norm=rules.norm,
        min_share=rules.min_share,
    )


def _final_by_problem(cells: Iterable[Cell]) -> dict[str, Fraction]:
    """Return the share of right final answers to each problem's mutations, nothing given."""
    flags: dict[str, list[bool]] = defaultdict(list)
    for c in cells:
        if c.final and c.k == 0:
            flags[c.problem].append(c.right is True)
    return {problem: Fraction(sum(f), len(f)) for problem, f in flags.items()}


def _prefix_cons(rows: Sequence[Response], rules: Rules) -> tuple[PrefixCons, ...]:
    """Return Cons(d, k) by k, a mean over responses; with k = 0 it is Cons(d)."""
    out = []
    for k in sorted({r.completion.k for r in rows}):
        shares: dict[str, list[float]] = {"variable": [], "step": []}
        n = 0
        for r in rows:
            if r.completion.k != k:
                continue
            n += 1
            cells = r.cells(hops=rules.hops)
            for unit in ("variable", "step"):
                value = cons(
                    cells,
                    k=k,
                    unit="variable" if unit == "variable" else "step",
                    missing=rules.missing,
                ).value
                if value is not None:
                    shares[unit].append(value)
        out.append(PrefixCons(k, _mean(shares["variable"]), _mean(shares["step"]), n))
    return tuple(out)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _memory(
    read: Sequence[Response], mutated: Sequence[Cell], rules: Rules
) -> MemorisationGap | None:
    originals = _cells([r for r in read if r.is_original], rules)
    if not originals or not mutated:
        return None
    return memorisation_gap(
        originals,
        mutated,
        k_min=rules.k_min,
        missing=rules.missing,
        norm=rules.norm,
        min_share=rules.min_share,
    )


def _compared(solver: str, mine: Mapping[_Key, Sequence[Response]], rules: Rules) -> list[Compared]:
    """Compare every other style with the original, over the observations both have."""
    first = mine.get(("problems", 0, FIRST_STYLE))
    if first is None:
        return []
    ours = _cells([r for r in first if r.reading and not r.is_original], rules)
    out = []
    for (kind, other, style), rows in sorted(mine.items()):
        if kind != "problems" or not other:
            continue
        theirs = _cells([r for r in rows if r.reading and not r.is_original], rules)
        a, b = paired_observations(ours, theirs, k_min=rules.k_min)
        out.append(Compared(solver, style, compare_styles(a, b)))
    return out


__all__ = [
    "NORMS",
    "TOLERANCE",
    "Compared",
    "DeductionReport",
    "Kind",
    "PrefixCons",
    "ReadersCompared",
    "Rules",
    "Scored",
    "chosen_solvers",
    "deduction_report",
]
