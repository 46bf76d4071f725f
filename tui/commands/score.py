"""`medoid score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    fail,
    percent,
    print_json,
    progress_printer,
    say,
    usage_errors,
    whoever_asks,
)
from tui.commands.data import DecompositionOption, print_embedding, print_items, reasons

if TYPE_CHECKING:
    from pipeline.correlating import CorrelationReport
    from pipeline.score_report import MetricSummary, ScoreReport


def score(
    context: typer.Context,
    db: SubDbOption = None,
    embedder: Annotated[str, typer.Option(help="Which embedder.")] = "minilm",
    decomposition: DecompositionOption = "none",
    beta: Annotated[float, typer.Option(help="Weight of terminal similarity, 0 to 1.")] = 0.4,
    gamma: Annotated[float, typer.Option(help="Sharpness of structural similarity.")] = 5.0,
    alpha: Annotated[float, typer.Option(help="Weight of centrality in GSC, 0 to 1.")] = 0.8,
    tau: Annotated[float, typer.Option(help="Cosine from which a node supports another.")] = 0.9,
    terminal_weight: Annotated[
        float, typer.Option(help="Weight of a conclusion in the consensus.")
    ] = 2.0,
    edge_embedding: Annotated[str, typer.Option(help="concat or mean.")] = "concat",
    fact_edges: Annotated[
        str, typer.Option(help="Edges from the last fact of a step (anchor) or from all.")
    ] = "anchor",
    terminals: Annotated[
        str, typer.Option(help="Conclusions: facts of unused steps (step) or unused facts (fact).")
    ] = "step",
    missing: Annotated[
        str, typer.Option(help="A step without annotation: chain, premise or exclude.")
    ] = "chain",
    electorate: Annotated[
        str, typer.Option(help="Who votes in SC: as in GSC (both), or any parsed answer (any).")
    ] = "both",
    bins: Annotated[str, typer.Option(help="Histogram of the entropy: fd or sturges.")] = "fd",
    metrics: Annotated[
        str,
        typer.Option(
            help="Further metrics: cheap, all, none, or names with commas (docs/metrics.md)."
        ),
    ] = "cheap",
    entailment: Annotated[
        str | None,
        typer.Option(help="A cross-encoder by path or name: CoTA by it, too (cota_model)."),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that score.")] = 1,
    dask: Annotated[
        str | None, typer.Option(help="Score on the Dask cluster at this scheduler's address.")
    ] = None,
    primary: Annotated[
        bool, typer.Option("--primary", help="Make this the scoring whose medoids make cases.")
    ] = False,
    k: Annotated[int, typer.Option(help="Paths per answer of a disagreement case.")] = 3,
    agreements: Annotated[
        float, typer.Option(help="Share of agreement cases to sample, 0 to 1.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    make_items: Annotated[
        bool, typer.Option("--items/--no-items", help="Make the audit's cases afterwards.")
    ] = True,
    show: Annotated[
        bool, typer.Option("--show", help="Score nothing; print what stored scores say.")
    ] = False,
    correlate: Annotated[
        bool,
        typer.Option(
            "--correlate",
            help="Score nothing; print how metrics go with faithfulness (early answers).",
        ),
    ] = False,
    target: Annotated[
        str, typer.Option(help="With --correlate: faithfulness against gold, or the own answer.")
    ] = "gold",
    replicates: Annotated[
        int, typer.Option(min=1, help="With --correlate: bootstrap replicates.")
    ] = 1000,
    scoring: Annotated[
        int | None, typer.Option(help="With --show: which scoring; the primary one if not given.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="With --show: the pool whose mean the regimes are told from.")
    ] = None,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Embed what is missing, score every pool, and make the audit's cases.

    Pools that are scored already are left alone. With --show, every metric over the questions of
    each dataset and pool: sums are not sealed, but those of fewer than 5 questions need --unseal.
    """
    if correlate:
        _correlate(chosen_db(context, db), scoring, target, replicates, seed, unseal, as_json)
        return
    if show:
        _show(chosen_db(context, db), scoring, reference, unseal, as_json)
        return
    if unseal or scoring is not None or reference is not None:
        fail(
            "--unseal, --scoring and --reference go with --show (the first two with --correlate, too)"
        )
    from dataclasses import asdict

    from pipeline.sampling import Design
    from pipeline.sampling import make_items as make
    from pipeline.scoring import ScoreParameters, chosen_metrics
    from pipeline.scoring import score as run
    from pipeline.version import TOOL_VERSION
    from store.columns import utc_now

    started = utc_now()
    with usage_errors(), database(chosen_db(context, db)) as store:
        words: dict[str, Any] = {
            "edge_embedding": edge_embedding,
            "fact_edges": fact_edges,
            "terminals": terminals,
            "missing": missing,
            "electorate": electorate,
            "bins": bins,
        }
        parameters = ScoreParameters(
            beta=beta,
            gamma=gamma,
            alpha=alpha,
            tau=tau,
            terminal_weight=terminal_weight,
            **words,
        )
        design = Design(k=k, agreements=agreements, seed=seed)
        names = chosen_metrics(metrics, entailment)
        summary = run(
            store,
            embedder=embedder,
            decomposition=decomposition,
            parameters=parameters,
            primary=True if primary else None,
            metrics=names,
            entailment=entailment if "cota_model" in names else None,
            workers=workers,
            dask=dask,
            on_progress=progress_printer(),
        )
        made = make(store, design) if make_items and summary.scoring.is_primary else None
        result = {
            "score": asdict(summary),
            "items": None if made is None else asdict(made),
            "design": asdict(design),
        }
        said = {**asdict(parameters), "metrics": list(names), "workers": workers, "dask": dask}
        store.record_run("score", said, TOOL_VERSION, started, result)
    if as_json:
        print_json(result)
        return
    print_embedding(summary.embedding)
    say(
        f"scored   {summary.n_scored} questions ({summary.n_known} known) in "
        f"{summary.seconds:.1f} s; {summary.n_used} of {summary.n_traces} traces vote"
        + reasons(summary.excluded)
    )
    if summary.n_unusable:
        say(f"         {summary.n_unusable} questions have no trace that votes: not scored")
    say(f"         SC and GSC disagree on {summary.n_disagree} of {summary.n_pools} questions")
    if made is None:
        reason = "not the primary scoring" if not summary.scoring.is_primary else "--no-items"
        say(f"items    none made ({reason})")
    else:
        print_items(made)
    say("metrics  medoid score --show" + _number(summary.scoring))


def _number(record: Any) -> str:
    return "" if record.is_primary else f" --scoring {record.id}"


def _show(db: str, scoring: int | None, reference: str | None, unseal: bool, as_json: bool) -> None:
    from pipeline import sealing
    from pipeline.score_report import score_report

    with usage_errors(), database(db) as store:
        if unseal:
            sealing.unseal(store, "scores of few questions", whoever_asks(), wanted=True)
        report = score_report(store, scoring=scoring, reference=reference, unsealed=unseal)
        others = [s for s in store.scorings() if s.id != report.scoring.id]
    if as_json:
        from dataclasses import asdict

        print_json(asdict(report))
        return
    print_scores(report)
    for s in others:
        say(f"another scoring: --scoring {s.id}: {scoring_text(s)}")


def _correlate(
    db: str,
    scoring: int | None,
    target: str,
    replicates: int,
    seed: int,
    unseal: bool,
    as_json: bool,
) -> None:
    from pipeline import sealing
    from pipeline.correlating import correlation_report

    with usage_errors(), database(db) as store:
        if target not in ("gold", "own"):
            raise ValueError(f"--target is {target!r}; gold or own is right")
        if unseal:
            sealing.unseal(store, "correlations over few questions", whoever_asks(), wanted=True)
        report = correlation_report(
            store,
            scoring=scoring,
            target="gold" if target == "gold" else "own",
            replicates=replicates,
            seed=seed,
            unsealed=unseal,
            on_progress=progress_printer(),
        )
    if as_json:
        print_json(correlations_json(report))
    else:
        print_correlations(report)


def print_correlations(report: CorrelationReport) -> None:
    """Print every metric's correlations with their intervals."""
    say(f"scoring {report.scoring.id}: {scoring_text(report.scoring)}")
    say(f"faithfulness of the medoid: {report.faithfulness}")
    say(
        f"mean and 95 % of {report.replicates:,} replicates of 20 questions with replacement; "
        "* of 10 traces each, too"
    )
    for group in report.groups:
        say()
        say(f"{group.dataset} · {group.pool}: {group.n_questions} questions")
        if group.metrics and group.metrics[0].withheld:
            say("  fewer than 20 questions: this would tell single gold answers; --unseal shows it")
            continue
        say(f"  {'metric':<21}{'Pearson':>22}{'Spearman':>22}{'Kendall':>22}{'n':>5}  what it is")
        for m in group.metrics:
            b = m.bootstrap
            if b is None:
                continue
            told = "".join(f"{_interval(x):>22}" for x in (b.pearson, b.spearman, b.kendall))
            mark = "*" if m.resampled == "questions and traces" else ""
            say(f"  {m.name + mark:<21}{told}{b.questions:>5}  {m.kind}")
            if b.pearson.dropped:
                say(f"  {'':<21}{b.pearson.dropped} replicates dropped: a side was constant")
            for flag in b.flags:
                say(f"  {'':<21}{flag}")


def _interval(summary: Any) -> str:
    if summary.mean is None:
        return "–"
    return f"{summary.mean:.2f} [{summary.low:.2f}, {summary.high:.2f}]"


def correlations_json(report: CorrelationReport) -> dict[str, Any]:
    """Return the report as plain values, without every single replicate."""
    from dataclasses import asdict

    out = asdict(report)
    for group in out["groups"]:
        for metric in group["metrics"]:
            for method in ("pearson", "spearman", "kendall"):
                if metric["bootstrap"] is not None:
                    del metric["bootstrap"][method]["values"]
    return out


def scoring_text(record: Any) -> str:
    """Return under what a scoring was computed, in one line."""
    given = " ".join(f"{k}={v}" for k, v in record.parameters.items())
    facts = "one fact per step" if record.decomposition == "none" else record.decomposition
    return (
        f"{record.embedder} {record.embedder_revision[:14]}, {facts}, {given}, "
        f"medoid {record.tool_version}{', primary' if record.is_primary else ''}"
    )


def print_scores(report: ScoreReport) -> None:
    """Print every metric of every group, and the topology map's regimes."""
    say(f"scoring {report.scoring.id}: {scoring_text(report.scoring)}")
    for group in report.groups:
        say()
        say(
            f"{group.dataset} · {group.pool}: {group.n_questions} questions, {group.n_used} of "
            f"{group.n_traces} traces vote{reasons(group.excluded)}"
        )
        if group.metrics and group.metrics[0].withheld:
            say("  fewer than 5 questions: sums would tell of single ones; --unseal shows them")
            continue
        _print_accuracy(group)
        say(
            f"  {'metric':<20}{'mean':>8}{'sd':>8}{'q1':>8}{'median':>8}{'q3':>8}{'n':>5}"
            "  what it is"
        )
        for m in group.metrics:
            _print_metric(m)
        if group.regimes is not None and report.origin is not None:
            told = ", ".join(f"{n} {name}" for name, n in sorted(group.regimes.items()))
            say(f"  topology  {told}")
    if report.wilcoxon is not None:
        w = report.wilcoxon
        say()
        told = f"p {w.p:.3f} ({w.method})" if w.p is not None else str(w.why_undefined)
        say(
            f"GSC against SC over datasets and pools: Wilcoxon signed-rank of the difference in "
            f"accuracy {told}, n {w.n}, {w.zeros} without a difference"
        )
    _print_legend(report)
    if report.origin is not None:
        whose = f"pool {report.reference}" if report.reference else "all questions"
        say()
        say(
            f"regimes are relative to the mean of {whose}: divergence {report.origin[0]:.3f}, "
            f"entropy {report.origin[1]:.3f}"
        )
        say(
            "  low/low confident, low/high multi-path, high/low noisy, high/high confused "
            "(divergence first)"
        )


def _print_legend(report: ScoreReport) -> None:
    shown = {m.name: m for g in report.groups for m in g.metrics if not m.withheld}
    if shown:
        say()
        say("what a higher value means, and where a value can lie:")
    for m in shown.values():
        say(f"  {m.name:<20}{m.higher}; {m.range}")


def _print_accuracy(group: Any) -> None:
    a = group.accuracy
    say(f"  SC and GSC disagree on {group.n_disagree} of {group.n_questions}")
    if a is None:
        say("  accuracy  –  (it would tell single gold answers; --unseal shows it)")
        return
    if a.n == 0:
        say("  accuracy  –  (no question has gold)")
        return
    p = "–" if a.test.exact_p is None else f"{a.test.exact_p:.3f}"
    mid = "–" if a.test.mid_p is None else f"{a.test.mid_p:.3f}"
    say(
        f"  accuracy  SC {a.first:.3f}, GSC {a.second:.3f} of {a.n} with gold; only SC right "
        f"{a.first_only}, only GSC {a.second_only}; McNemar exact p {p}, mid-p {mid}"
    )


def _print_metric(m: MetricSummary) -> None:
    from tui.commands.printing import number

    figures = "".join(f"{number(v):>8}" for v in (m.mean, m.sd, m.low, m.median, m.high))
    say(f"  {m.name:<20}{figures}{m.n:>5}  {m.kind}")
    for why, n in m.undefined.items():
        say(f"  {'':<20}{n} undefined: {why}")
    for flag, n in m.flags.items():
        say(f"  {'':<20}{n} flagged {flag} ({percent(n, m.n)})")
    for by in m.by:
        if m.name == "cota_model":
            say(f"  {'':<20}by {by.get('entailment')} {str(by.get('revision'))[:14]}")


__all__ = ["print_scores", "score", "scoring_text"]
