"""`medoid agreement`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    fail,
    print_json,
    say,
    usage_errors,
    whoever_asks,
)

if TYPE_CHECKING:
    from store import Store


def agreement(
    context: typer.Context,
    raters: Annotated[
        list[str] | None,
        typer.Argument(help="Two raters, or more; all people against all judges if none is given."),
    ] = None,
    db: SubDbOption = None,
    judge: Annotated[
        str | None,
        typer.Option(help="Report on this judge: for which use may its verdicts be trusted?"),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="With --judge: the rater who counts as right, or adjudicated (adjudications, and "
            "what people agree on)."
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="With --judge: the category whose rate is meant.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(help="With --judge: an earlier version of it, to compare.")
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="With --judge: a threshold of the verdict."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say how many labels an interval of κ takes.")
    ] = False,
    kappa: Annotated[
        float | None, typer.Option(help="With --plan: the κ expected; needs no project.")
    ] = None,
    half_width: Annotated[
        float, typer.Option(help="Half the width of the interval of κ that is wanted.")
    ] = 0.1,
    prevalence: Annotated[
        float, typer.Option(help="With --plan --kappa: the share of one of two categories.")
    ] = 0.5,
    ratings: Annotated[
        Path | None,
        typer.Option(help="A CSV of items × raters (header: raters' names); no project needed."),
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="All categories in order, comma-separated (with --ratings).")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="linear, quadratic or ordinal over the declared categories (with --ratings: "
            "--categories), or a CSV file with a matrix of similarities."
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option(help="Scale of α: nominal, ordinal, interval or ratio.")
    ] = "nominal",
    schema: Annotated[str, typer.Option(help="Which label schema.")] = "path",
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print confusion tables and Cohen's κ with its errors, interval, n and what was left out.

    In a project, labels made before the reveal count, and imported ones of unknown origin. While
    a person has sealed items left to label, only what they have revealed is compared with theirs.
    With --judge, a judge's report; with --plan, how many labels an interval takes. docs/agreement.md
    says what each number means.
    """
    given = {"--truth": truth, "--positive": positive, "--before": before, "--rule": rule}
    for name, value in given.items():
        if value and judge is None:
            fail(f"{name} goes with --judge")
    if plan and kappa is not None:
        with usage_errors():
            _plan(kappa, half_width, prevalence, as_json=as_json)
    elif ratings is not None:
        with usage_errors():
            if raters:
                raise ValueError("name raters, or give --ratings, not both")
            if judge is not None:
                raise ValueError("--judge is for a project, not for --ratings")
            _of_table(ratings, categories, weights, measure, half_width, as_json=as_json)
    elif categories is not None:
        fail("--categories goes with --ratings; a project's schema declares its own")
    else:
        with usage_errors(), database(chosen_db(context, db)) as store:
            if judge is not None:
                if raters:
                    raise ValueError("name raters, or give --judge with --truth, not both")
                _judge(
                    store,
                    judge,
                    {"truth": truth, "positive": positive, "before": before, "schema": schema},
                    rule or [],
                    weights,
                    unseal=unseal,
                    as_json=as_json,
                )
            else:
                how = {"schema": schema, "half_width": half_width, "unsealed": unseal}
                only = "plan" if plan else None
                _of_project(store, raters or [], how, weights, measure, only, as_json=as_json)


def _plan(kappa: float, half_width: float, prevalence: float, *, as_json: bool) -> None:
    from scoring.agreement import labels_needed

    n = labels_needed(kappa, half_width, prevalence)
    if as_json:
        stated = {"kappa": kappa, "half_width": half_width, "prevalence": prevalence}
        print_json({**stated, "level": 0.95, "labels": n})
        return
    say(
        f"{n} items, labelled by both raters, give κ {kappa:g} ± {half_width:g} (95 %) at "
        f"prevalence {prevalence:g}"
    )
    say("  for independent items of two categories; where several belong to a question, plan more:")
    say("  from five alike items a question up to five times as many (docs/agreement.md)")


def _of_table(
    path: Path,
    categories: str | None,
    weights: str | None,
    measure: str,
    half_width: float,
    *,
    as_json: bool,
) -> None:
    from pipeline.agreement import read_ratings
    from pipeline.figures import read_weights
    from pipeline.several import several_of_table
    from scoring.agreement import pairwise_agreement
    from tui.commands.agreement_lines import plain, print_several
    from tui.commands.printing import print_rated_pair, rated_pair_json

    declared = None if categories is None else [c.strip() for c in categories.split(",")]
    table = read_ratings(path, declared)
    if weights is not None and declared is None:
        raise ValueError("--weights need the categories' order: declare --categories")
    similar = read_weights(weights, len(table.categories))
    found = pairwise_agreement(table, weights=similar)
    every = None
    if len(table.raters) > 2 or measure != "nominal":
        every = several_of_table(table, measure=measure, weights=similar)
    if as_json:
        print_json(
            {
                "file": path.name,
                "items": table.n_items,
                "categories": list(table.categories),
                "read_as_missing": dict(table.missing),
                "weights": similar,
                "pairs": [rated_pair_json(p, half_width) for p in found],
                "several": plain(every),
            }
        )
        return
    say(f"{path.name}: {table.n_items} items, {len(table.raters)} raters")
    if table.missing:
        cells = ", ".join(f"{word or 'empty'!r} {n}" for word, n in table.missing)
        say(f"read as no label: {cells}")
    for pair in found:
        say()
        print_rated_pair(pair, similar, half_width)
    if every is not None:
        say()
        print_several(every)


def _of_project(
    store: Store,
    raters: list[str],
    how: dict[str, Any],
    weights: str | None,
    measure: str,
    only: str | None,
    *,
    as_json: bool,
) -> None:
    from itertools import combinations

    from pipeline.agreement import default_pairs, pair_report
    from pipeline.criteria_agreement import criteria_report
    from pipeline.figures import read_weights
    from pipeline.laying import Readings, lay
    from pipeline.several import several_of
    from tui.commands.agreement_lines import plain, print_plan, print_several
    from tui.commands.criteria_lines import criteria_json, print_criteria
    from tui.commands.printing import pair_json, print_pair

    schema = how["schema"]
    if len(raters) == 1:
        raise ValueError("1 rater named; two or more are right, or none for all pairs")
    pairs = [*combinations(raters, 2)] if raters else list(default_pairs(store, schema))
    if not pairs:
        raise ValueError("fewer than two raters have labels: label some items, or import labels")
    similar = read_weights(weights, len(store.schema(schema).names))
    if how["unsealed"]:
        named = "; ".join(f"{a}, {b}" for a, b in pairs)
        store.record_unseal(f"agreement of {named} on {schema}", whoever_asks())
    readings = Readings(store)
    reports = [
        pair_report(store, a, b, weights=similar, readings=readings, **how) for a, b in pairs
    ]
    criteria = [
        criteria_report(
            store, a, b, schema, unsealed=how["unsealed"], weights=similar, readings=readings
        )
        for a, b in pairs
    ]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    every = None
    if len(names) > 2 or measure != "nominal":
        laid = lay(store, schema, names, unsealed=how["unsealed"], readings=readings)
        every = several_of(laid, measure=measure, weights=similar) if laid.places else None
    if as_json:
        told = [
            {**pair_json(r), "by_criterion": criteria_json(c)}
            for r, c in zip(reports, criteria, strict=True)
        ]
        print_json({"pairs": told, "several": plain(every)})
        return
    for i, (report, each) in enumerate(zip(reports, criteria, strict=True)):
        if only == "plan":
            say(f"{report.raters[0]} against {report.raters[1]}: n {report.kappa.n}")
            print_plan(report.plan)
            continue
        if i:
            say()
        print_pair(report)
        if each is not None:
            print_criteria(each)
    if every is not None and only is None:
        say()
        print_several(every)


def _judge(
    store: Store,
    judge: str,
    how: dict[str, Any],
    rules: list[str],
    weights: str | None,
    *,
    unseal: bool,
    as_json: bool,
) -> None:
    from pipeline.figures import read_weights
    from pipeline.validating import validate_judge, verdict_rules
    from tui.commands.judge_lines import print_validation, validation_json

    thresholds = verdict_rules(rules)
    similar = read_weights(weights, len(store.schema(how["schema"]).names))
    if unseal:
        store.record_unseal(f"report on judge {judge} on {how['schema']}", whoever_asks())
    found = validate_judge(store, judge, weights=similar, rules=thresholds, unsealed=unseal, **how)
    if as_json:
        print_json(validation_json(found))
    else:
        print_validation(found)
