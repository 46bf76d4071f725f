"""`medoid association`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.asking import DatasetOption, PoolOption
from tui.commands.common import (
    JsonOption,
    SubDbOption,
    chosen_db,
    database,
    print_json,
    progress_printer,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pipeline.association import AssociationGroup, AssociationReport, SideBySide
    from scoring.faithfulness import BootstrapSummary

METHODS = ("pearson", "spearman", "kendall")


def association(
    context: typer.Context,
    db: SubDbOption = None,
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="grcs, divergence, dispersion or entropy; all if not given.  (repeatable)"
        ),
    ] = None,
    replicates: Annotated[int, typer.Option(min=1, help="Bootstrap replicates.")] = 1000,
    questions: Annotated[int, typer.Option(min=2, help="Questions drawn in each.")] = 20,
    traces: Annotated[int, typer.Option(min=2, help="Traces drawn of each question.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Correlate each metric with the medoids' faithfulness, over bootstrap replicates.

    Faithfulness is early answering (EA, against gold and the own answer) and counterfactual
    editing (CF, against the re-asked and the stated answer), whichever were asked; both side by
    side where both were.
    """
    from pipeline.association import METRICS
    from pipeline.association import association as run

    with usage_errors(), database(chosen_db(context, db)) as store:
        report = run(
            store,
            dataset=dataset or None,
            pool=pool,
            metrics=METRICS if not metric else tuple(metric),  # type: ignore[arg-type]  # checked there
            replicates=replicates,
            questions=questions,
            traces=traces,
            seed=seed,
            on_progress=progress_printer(),
        )
    if as_json:
        print_json(association_json(report))
    else:
        print_association(report)


def print_association(report: AssociationReport) -> None:
    """Print correlations with their intervals, and EA beside CF."""
    say(
        f"correlation of a metric with the medoids' faithfulness: {report.replicates:,} "
        f"replicates of {report.questions} questions × {report.traces} traces, seed {report.seed}"
    )
    say("mean [2.5 % – 97.5 %]; grcs is a coherence (1: all traces alike), the others grow with")
    say("how much traces differ; dropped: replicates in which a side is constant")
    for group in report.groups:
        _print_group(group)
    pairs = [(g, p) for g in report.groups for p in g.side_by_side]
    if pairs:
        _print_table(pairs)


def _print_group(group: AssociationGroup) -> None:
    say(
        f"{group.dataset} · {group.pool}: {group.n_questions:,} scored questions, "
        f"{group.n_metric:,} with a metric"
    )
    if group.early_run is not None:
        run = group.early_run
        say(f"  EA by {run.model} ({run.prompt_version}, facts of {run.decomposition})")
    if group.counterfactual_run is not None:
        cf = group.counterfactual_run
        say(f"  CF by {cf.model} ({cf.prompt_version}), editing {cf.editing}")
    say(f"  {'metric':<11}{'faithfulness':<13}{'n':>5}  {'Pearson':<24}{'Spearman':<24}Kendall")
    for cell in group.cells:
        r = cell.result
        dropped = max(r.pearson.dropped, r.spearman.dropped, r.kendall.dropped)
        line = (
            f"  {cell.metric:<11}{cell.faithfulness:<13}{r.questions:>5}  "
            f"{_interval(r.pearson):<24}{_interval(r.spearman):<24}{_interval(r.kendall)}"
        )
        say(line + (f"  {dropped:,} dropped" if dropped else ""))
    if any("more_draws_than_questions" in c.result.flags for c in group.cells):
        say("  more questions are drawn than there are: the intervals are too narrow")


def _interval(s: BootstrapSummary) -> str:
    if s.mean is None or s.low is None or s.high is None:
        return "–"
    return f"{s.mean:+.3f} [{s.low:+.2f} – {s.high:+.2f}]"


def _print_table(pairs: list[tuple[AssociationGroup, SideBySide]]) -> None:
    """Print Pearson's correlation by EA and CF, as paper A's Table 4 has it."""
    say("Pearson by EA and CF, over the questions that have both, under the same draws:")
    wide = max(len(f"{g.dataset} · {g.pool}") for g, _ in pairs)
    say(
        f"  {'dataset · pool':<{wide}}  {'metric':<11}{'EA, CF':<22}{'n':>5}  "
        f"{'PCC-EA':>7}  {'PCC-CF':>7}  Δ(CF−EA)"
    )
    for g, p in pairs:
        kinds = f"{p.ea_name.split()[1]}, {p.cf_name.split()[1]}"
        delta = (
            "–" if p.delta is None else f"{p.delta:+.3f} [{p.delta_low:+.2f} – {p.delta_high:+.2f}]"
        )
        say(
            f"  {f'{g.dataset} · {g.pool}':<{wide}}  {p.metric:<11}{kinds:<22}{p.n:>5}  "
            f"{_signed(p.ea.pearson.mean):>7}  {_signed(p.cf.pearson.mean):>7}  {delta}"
            + (f"  {p.dropped:,} dropped" if p.dropped else "")
        )


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def association_json(report: AssociationReport) -> dict[str, Any]:
    """Return a report as plain values, without the single replicates."""
    from dataclasses import asdict

    return {
        "scoring": asdict(report.scoring),
        "replicates": report.replicates,
        "questions": report.questions,
        "traces": report.traces,
        "seed": report.seed,
        "groups": [
            {
                "dataset": g.dataset,
                "pool": g.pool,
                "n_questions": g.n_questions,
                "n_metric": g.n_metric,
                "early_run": None if g.early_run is None else asdict(g.early_run),
                "counterfactual_run": None
                if g.counterfactual_run is None
                else asdict(g.counterfactual_run),
                "correlations": [
                    {"metric": c.metric, "faithfulness": c.faithfulness, **_result_json(c.result)}
                    for c in g.cells
                ],
                "side_by_side": [
                    {
                        "metric": p.metric,
                        "ea": p.ea_name,
                        "cf": p.cf_name,
                        "n": p.n,
                        "pcc_ea": p.ea.pearson.mean,
                        "pcc_cf": p.cf.pearson.mean,
                        "delta": p.delta,
                        "delta_low": p.delta_low,
                        "delta_high": p.delta_high,
                        "used": p.used,
                        "dropped": p.dropped,
                    }
                    for p in g.side_by_side
                ],
            }
            for g in report.groups
        ],
    }


def _result_json(result: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"n": result.questions, "left_out": result.left_out}
    for method in METHODS:
        s = getattr(result, method)
        out[method] = {
            "mean": s.mean,
            "low": s.low,
            "high": s.high,
            "used": s.used,
            "dropped": s.dropped,
            "point": getattr(result.point, method),
        }
    return {**out, "flags": list(result.flags)}
