"""How far a project's results hang on β, γ, α and on the readings of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pipeline.early_report import early_report
from pipeline.facts import FactSource, fact_source
from pipeline.pool_scoring import ScoreParameters, electorate_graphs
from pipeline.progress import OnProgress, Progress, silent
from pipeline.score_report import chosen_scoring, tells_gold
from pipeline.selecting import chosen_pools, known_datasets
from pipeline.spreading import one_blas_thread
from scoring.faithfulness import (
    Reading,
    SensitivityQuestion,
    SensitivityTable,
    sensitivity,
)
from scoring.faithfulness.sensitivity import ALPHAS, BETAS, GAMMAS, Grid
from scoring.graphs import self_consistency
from store import Store
from store.records import PoolRecord, ScoringRecord

Target = Literal["gold", "own"]

READINGS: Mapping[str, tuple[str, ...]] = {
    "fact_edges": ("anchor", "all"),
    "terminals": ("step", "fact"),
    "missing": ("chain", "premise", "exclude"),
    "edge_embedding": ("concat", "mean"),
}
"""What a reading is made of, the definitions' choice first."""


@dataclass(frozen=True, slots=True)
class SensitivityGroup:
    """One dataset and pool: a row per setting, the base first.

    `sc_accuracy` is what the vote gets on the same questions; `empty_readings` leave no question a
    voter. With `withheld`, accuracies are
    left out: they would tell single gold answers.
    """

    dataset: str
    pool: str
    n_questions: int
    n_gold: int
    sc_accuracy: float | None
    rows: tuple[Mapping[str, Any], ...]
    matchings: int
    withheld: bool
    empty_readings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SensitivityReport:
    """Tables by dataset and pool, under one embedder and decomposition.

    `faithfulness` says whose the correlation's other side is, None where there is none.
    """

    scoring: ScoringRecord
    base: Mapping[str, Any]
    grid: str
    faithfulness: str | None
    groups: tuple[SensitivityGroup, ...]

    def sealed(self) -> SensitivityReport:
        """Return the report without what would tell single gold answers."""
        return replace(self, groups=tuple(map(sealed_group, self.groups)))

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "scoring": self.scoring.id,
            "embedder": self.scoring.embedder,
            "embedder_revision": self.scoring.embedder_revision,
            "decomposition": self.scoring.decomposition,
            "base": dict(self.base),
            "grid": self.grid,
            "faithfulness": self.faithfulness,
            "groups": [asdict(g) for g in self.groups],
        }


@dataclass(slots=True)
class _Count:
    """Questions and the vote's answers, counted while they pass."""

    questions: int = 0
    right: list[bool] = field(default_factory=list)


def reading_name(p: ScoreParameters) -> str:
    """Return what a reading is called: edges, terminals, missing annotations, edge embedding."""
    return "/".join((p.fact_edges, p.terminals, p.missing, p.edge_embedding))


def readings(base: ScoreParameters, *, full: bool = False) -> tuple[ScoreParameters, ...]:
    """Return the readings to try, the base first: one change at a time, or all combinations.

    >>> [reading_name(p) for p in readings(ScoreParameters())][:3]
    ['anchor/step/chain/concat', 'all/step/chain/concat', 'anchor/fact/chain/concat']
    """
    found = [base]
    for name, words in READINGS.items():
        others: list[dict[str, Any]] = [{name: w} for w in words if w != getattr(base, name)]
        found += [
            replace(p, **other) for other in others for p in (list(found) if full else [base])
        ]
    return tuple(found)


def sensitivity_report(
    store: Store,
    *,
    scoring: int | None = None,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    grid: Grid = "axes",
    all_readings: bool = False,
    target: Target = "gold",
    unsealed: bool = False,
    on_progress: OnProgress = silent,
) -> SensitivityReport:
    """Return correlation and GSC accuracy under a grid of parameters and readings.

    The base is a stored scoring (the primary one), whose embedder, decomposition and vectors are
    used: nothing is embedded or stored. Early answers, where there are any for its
    facts, give the faithfulness; questions are read one at a time.

    Raises
    ------
    ValueError
        When nothing is scored, there is no such scoring or pool, or vectors are missing.
    """
    record = chosen_scoring(store, scoring)
    base = ScoreParameters.of(dict(record.parameters))
    pools = chosen_pools(store, known_datasets(store, dataset), pool)
    told, faithful = faithfulness_of(store, record, target)
    tried = readings(base, full=all_readings)
    source = fact_source(store, record.decomposition)
    embedder_id = next(
        i
        for i, name, revision, _ in store.embedders()
        if (name, revision) == (record.embedder, record.embedder_revision)
    )
    grouped: dict[tuple[str, str], list[PoolRecord]] = {}
    for p in pools:
        grouped.setdefault((p.dataset, p.pool), []).append(p)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        on_progress(Progress("sensitivity", done, len(pools), "questions"))

    groups = []
    for (name, pool_name), members in grouped.items():
        work = _Work(store, embedder_id, source, tried, faithful, step)
        count = _Count()
        with one_blas_thread():
            table = _table(work.questions(members, count), base, grid)
        if table is not None:
            groups.append(_group(name, pool_name, table, count, tried, unsealed=unsealed))
    said = {**asdict(base), "reading": reading_name(base)}
    return SensitivityReport(record, said, grid, told, tuple(groups))


def _table(
    questions: Iterator[SensitivityQuestion], base: ScoreParameters, grid: Grid
) -> SensitivityTable | None:
    first = next(questions, None)
    if first is None:
        return None

    def every() -> Iterator[SensitivityQuestion]:
        yield first
        yield from questions

    return sensitivity(
        every(),
        betas=BETAS,
        gammas=GAMMAS,
        alphas=ALPHAS,
        base=(base.beta, base.gamma, base.alpha),
        grid=grid,
        tau=base.tau,
        terminal_weight=base.terminal_weight,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    store: Store
    embedder_id: int
    source: FactSource
    tried: Sequence[ScoreParameters]
    faithful: Mapping[int, float | None]
    step: Callable[[], None]

    def questions(
        self, pools: Sequence[PoolRecord], count: _Count
    ) -> Iterator[SensitivityQuestion]:
        """Yield the pools of one group, each under every reading; those without voters are not."""
        for pool in pools:
            traces = self.store.pool_traces(pool.id)
            found = self.source.of_pool(pool.id, traces)
            made = []
            for p in self.tried:
                used, graphs, _ = electorate_graphs(self.store, self.embedder_id, traces, found, p)
                values = [self.faithful.get(r.id) for r in used]
                made.append(Reading(reading_name(p), graphs, p.edge_embedding, values))
            self.step()
            if not made[0].graphs:
                continue
            count.questions += 1
            vote = self_consistency([g.answer for g in made[0].graphs])
            if pool.gold is not None:
                count.right.append(vote.answer == pool.gold)
            yield SensitivityQuestion(made, pool.gold)


def faithfulness_of(
    store: Store, record: ScoringRecord, target: Target
) -> tuple[str | None, dict[int, float | None]]:
    """Return the newest early answers about a scoring's facts, F by trace, and what they are."""
    runs = [r for r in store.early_runs() if r.decomposition == record.decomposition]
    if not runs:
        return None, {}
    report = early_report(store, runs[-1])
    values = {
        row.trace_id: getattr(row.targets, target).faithfulness
        for q in report.questions
        for row in q.rows
    }
    return f"early answers by {runs[-1].model} against {target}", values


def _group(
    dataset: str,
    pool: str,
    table: SensitivityTable,
    count: _Count,
    tried: Sequence[ScoreParameters],
    *,
    unsealed: bool,
) -> SensitivityGroup:
    n_gold = len(count.right)
    rows = [
        {
            **cell.setting._asdict(),
            "accuracy": cell.accuracy,
            "n_accuracy": cell.n_accuracy,
            "pearson": cell.correlation.pearson,
            "spearman": cell.correlation.spearman,
            "kendall": cell.correlation.kendall,
            "n_correlation": cell.correlation.n,
            "why_undefined": cell.correlation.why_undefined,
            "same_answer": cell.same_answer,
            "same_medoid": cell.same_medoid,
            "n": cell.n,
        }
        for cell in table.cells
    ]
    sc = sum(count.right) / n_gold if n_gold else None
    group = SensitivityGroup(
        dataset,
        pool,
        count.questions,
        n_gold,
        sc,
        tuple(rows),
        table.matchings,
        withheld=False,
        empty_readings=tuple(
            name for name in map(reading_name, tried) if all(r["reading"] != name for r in rows)
        ),
    )
    return group if unsealed else sealed_group(group)


def sealed_group(group: SensitivityGroup) -> SensitivityGroup:
    """Return a group without what would tell single gold answers."""
    told = [row["accuracy"] for row in group.rows]
    if group.n_gold == 0 or not tells_gold(group.n_gold, (*told, group.sc_accuracy)):
        return group
    hidden = dict.fromkeys(("accuracy", "pearson", "spearman", "kendall"))
    rows = tuple({**row, **hidden} for row in group.rows)
    return replace(group, sc_accuracy=None, rows=rows, withheld=True)


__all__ = ["SensitivityGroup", "SensitivityReport", "readings", "sensitivity_report"]
