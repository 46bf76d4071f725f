"""`medoid sensitivity`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.asking import DatasetOption, PoolOption
from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    print_json,
    progress_printer,
    say,
    usage_errors,
    whoever_asks,
)

if TYPE_CHECKING:
    from pipeline.sensitivity import SensitivityGroup, SensitivityReport


def sensitivity(
    context: typer.Context,
    db: SubDbOption = None,
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    scoring: Annotated[
        int | None, typer.Option(help="The scoring everything is compared with; the primary one.")
    ] = None,
    grid: Annotated[
        str, typer.Option(help="Vary β, γ and α one at a time (axes), or all together (full).")
    ] = "axes",
    readings: Annotated[
        str, typer.Option(help="Vary the readings one at a time (axes), or all together (full).")
    ] = "axes",
    target: Annotated[
        str, typer.Option(help="Faithfulness of early answers against gold, or the trace's own.")
    ] = "gold",
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """How far GSC's choice and GRCS hang on β, γ, α and on the readings of the paper.

    Nothing is embedded; the table is kept among the runs, where the workbench shows it. Sums are
    not sealed, but accuracies that would tell single gold answers need --unseal.
    """
    from pipeline import sealing
    from pipeline.sensitivity import sensitivity_report
    from pipeline.version import TOOL_VERSION
    from store.columns import utc_now

    started = utc_now()
    with usage_errors(), database(chosen_db(context, db)) as store:
        for name, value, words in (
            ("grid", grid, ("axes", "full")),
            ("readings", readings, ("axes", "full")),
            ("target", target, ("gold", "own")),
        ):
            if value not in words:
                raise ValueError(f"--{name} is {value!r}; {' or '.join(words)} is right")
        if unseal:
            sealing.unseal(store, "sensitivity over few questions", whoever_asks(), wanted=True)
        how: dict[str, Any] = {"grid": grid, "target": target}
        report = sensitivity_report(
            store,
            scoring=scoring,
            dataset=dataset or None,
            pool=pool,
            all_readings=readings == "full",
            unsealed=unseal,
            on_progress=progress_printer(),
            **how,
        )
        said = {**how, "dataset": dataset, "pool": pool, "readings": readings}
        store.record_run("sensitivity", said, TOOL_VERSION, started, report.sealed().as_json())
    if as_json:
        print_json(report.as_json())
    else:
        print_sensitivity(report)


def print_sensitivity(report: SensitivityReport) -> None:
    """Print a table per dataset and pool: the base, then what changes one thing."""
    from tui.commands.score import scoring_text

    say(f"against scoring {report.scoring.id}: {scoring_text(report.scoring)}")
    say(
        "same answer, same medoid: share of questions on which GSC chooses as under the base; "
        "r, ρ, τ: correlation of GRCS (a coherence) with faithfulness"
    )
    if report.faithfulness is None:
        say("no correlation: there are no early answers about these facts (medoid early-answer)")
    else:
        say(f"faithfulness: {report.faithfulness}")
    for group in report.groups:
        say()
        _print_group(group, report)


def _print_group(group: SensitivityGroup, report: SensitivityReport) -> None:
    from tui.commands.printing import number
    from tui.sensitivitylines import changes, setting_text

    base = report.base
    sc = f", SC right on {number(group.sc_accuracy)}" if group.sc_accuracy is not None else ""
    say(
        f"{group.dataset} · {group.pool}: {group.n_questions} questions, {group.n_gold} with "
        f"gold{sc}; {group.matchings} matchings"
    )
    if group.withheld:
        say("  accuracies would tell single gold answers: --unseal shows them")
    say(
        f"  {'setting':<24}{'n':>5}{'accuracy':>9}{'same answer':>12}{'same medoid':>12}"
        f"{'r':>7}{'ρ':>7}{'τ':>7}"
    )
    for row in group.rows:
        if report.grid == "axes" and len(changes(row, base)) > 1:
            continue
        figures = "".join(f"{number(row[k]):>7}" for k in ("pearson", "spearman", "kendall"))
        say(
            f"  {setting_text(row, base):<24}{row['n']:>5}{number(row['accuracy']):>9}"
            f"{number(row['same_answer']):>12}{number(row['same_medoid']):>12}{figures}"
        )
    for name in group.empty_readings:
        text = setting_text({**base, "reading": name}, base)
        say(f"  {text:<24}    0  no trace is left under this reading")
