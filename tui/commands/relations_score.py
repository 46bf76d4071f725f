"""`medoid relations score`, `compare` and `baseline`."""

from __future__ import annotations

import sys
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
from tui.commands.relations_ask import NamesOption, SetsOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.relation_scores import HowScored, SetScore
    from store import Store

MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        help="exact (always), local, scc, in_degree, energy; all if not given.  (repeatable)",
    ),
]
TimeOption = Annotated[
    float, typer.Option("--time-limit", min=0.1, help="Seconds for each exact score.")
]
DrawsOption = Annotated[
    int | None,
    typer.Option(min=0, help="Sets of coin answers for the baseline; 0: none.  [default: enough]"),
]
SeedOption = Annotated[int, typer.Option(min=0, help="For coins, ties and what is trusted.")]


def score(
    context: typer.Context,
    db: SubDbOption = None,
    sets: SetsOption = None,
    names: NamesOption = None,
    methods: MethodsOption = None,
    time_limit: TimeOption = 10.0,
    draws: DrawsOption = None,
    trusted_share: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share of the true pairs every order must keep (needs --unseal)."
        ),
    ] = 0.0,
    seed: SeedOption = 0,
    objects: Annotated[
        bool, typer.Option("--objects", help="A row for each object (needs --unseal).")
    ] = False,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say how far a model's answers contradict each other, beside what a coin would score.

    0 % = all answers fit one order; 100 % = even the best order has half of them against it.
    """
    from pipeline import sealing
    from tui.commands.relation_lines import print_score, score_json

    with usage_errors(), database(chosen_db(context, db)) as store:
        if objects or trusted_share or unseal:
            # An order that must keep true pairs scores worse by what is wrong, however few answers.
            sealing.unseal(store, "truth and blame of objects", whoever_asks(), wanted=unseal)
        how = _how(methods, time_limit, draws, trusted_share, seed)
        found = _scores(store, sets, names, how)
        rows = _detections(found)
    if as_json:
        print_json(
            {
                "scores": [score_json(s, objects=objects, unsealed=unseal) for s in found],
                "detection": rows,
            }
        )
        return
    for s in found:
        print_score(s, objects=objects, unsealed=unseal)
    _print_detections(rows)


def _how(
    methods: list[str] | None, time_limit: float, draws: int | None, trusted: float, seed: int
) -> HowScored:
    from pipeline.relation_scores import HowScored
    from scoring.relations import METHODS

    for name in methods or ():
        if name not in METHODS:
            raise ValueError(f"--method is {name!r}; {', '.join(METHODS)} are right")
    chosen = tuple(m for m in METHODS if methods is None or m in methods or m == "exact")
    return HowScored(chosen, time_limit, trusted, seed, draws)


def _scores(
    store: Store, sets: list[str] | None, names: list[str] | None, how: HowScored
) -> list[SetScore]:
    from pipeline.relation_scores import score_set
    from pipeline.relation_view import asked_set, chosen_askings

    terminal = sys.stderr.isatty()

    def note(text: str) -> None:
        if terminal:
            say(f"… {text}", err=True)

    return [
        score_set(asked_set(store, a), how, note)
        for a in chosen_askings(store, sets or (), names or ())
    ]


def _detections(found: Sequence[SetScore]) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from pipeline.relation_compare import detections

    return [
        {
            "name": row.name,
            "sets": list(row.sets),
            "controls": list(row.controls),
            "success": asdict(row.found.success),
            "false_alarms": asdict(row.found.false_alarms),
            "advantage": row.found.advantage,
        }
        for row in detections(found)
    ]


def _print_detections(rows: Sequence[dict[str, Any]]) -> None:
    from tui.commands.relation_lines import rate_text

    for row in rows:
        say(f"contradictions noticed by {row['name']} (share answered INCONSISTENT, 0 to 100 %)")
        for what, key, of in (
            ("contradictory sets, higher is better", "success", "sets"),
            ("consistent controls, lower is better", "false_alarms", "controls"),
        ):
            names = ", ".join(row[of]) or "none asked"
            say(f"  {what}: {rate_text(row[key])}  ({names})")
        if row["advantage"] is not None:
            say(f"  difference {100 * row['advantage']:.1f} points; 0 = the word says nothing")
        else:
            say("  difference undefined: it takes a contradictory set and a consistent control")


def compare(
    context: typer.Context,
    db: SubDbOption = None,
    sets: SetsOption = None,
    names: NamesOption = None,
    time_limit: TimeOption = 10.0,
    replicates: Annotated[int, typer.Option(min=1, help="Resamples of the sets.")] = 10_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare models over the sets that both were asked about, and the scoring methods over all.

    Models: paired bootstrap over sets of the exact scores (a family: share of excluded triples).
    Methods: correlation of each graph method with the energy method over sets and axes.
    """
    from dataclasses import asdict

    from pipeline.relation_compare import compare_scores, correlate_methods, set_value
    from tui.commands.relation_lines import print_compared, print_correlations

    with usage_errors(), database(chosen_db(context, db)) as store:
        found = _scores(store, sets, names, _how(None, time_limit, 0, 0.0, seed))
        pairs = compare_scores(found, replicates=replicates, seed=seed)
        correlations = correlate_methods(found)
    if as_json:
        print_json(
            {
                "sets": [
                    {"set": s.asked.set.name, "name": s.asked.asking.name, "value": set_value(s)}
                    for s in found
                ],
                "models": [
                    {"first": p.first, "second": p.second, "sets": p.n_sets, **asdict(p.found)}
                    for p in pairs
                ],
                "methods": {m: asdict(c) for m, c in correlations.items()},
            }
        )
        return
    print_compared(found, pairs)
    print_correlations(correlations)


def baseline(
    objects: Annotated[int, typer.Option("--objects", "-n", min=2, help="How many objects.")] = 20,
    method: Annotated[str, typer.Option(help="exact, local, scc, in_degree or energy.")] = "exact",
    draws: Annotated[int, typer.Option(min=1, help="Sets of coin answers.")] = 30,
    first: Annotated[
        float, typer.Option(min=0, max=1, help="How often the coin prefers the first-named.")
    ] = 0.5,
    recovery: Annotated[
        list[float] | None,
        typer.Option(help="Flip this share of the true answers instead.  (repeatable)"),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="With --recovery: sets per share.")] = 5,
    time_limit: TimeOption = 10.0,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say what answers that know nothing score, or how much of an order comes back from noise.

    Needs no database. A score means little unless it lies below the coin's.
    """
    from dataclasses import asdict

    from scoring.relations import METHODS, coin_flip_baseline, recovery_curve
    from tui.commands.relation_lines import coin_text

    with usage_errors():
        if method not in METHODS:
            raise ValueError(f"--method is {method!r}; {', '.join(METHODS)} are right")
        if recovery:
            if any(not 0 <= share <= 1 for share in recovery):
                fail("--recovery is a share from 0 to 1")
            points = recovery_curve(
                objects, recovery, method=method, repeats=repeats, seed=seed, time_limit=time_limit
            )
            if as_json:
                print_json({"method": method, "n": objects, "points": [asdict(p) for p in points]})
                return
            say(f"recovery by {method}, {objects} objects, {repeats} sets per share")
            say(
                "flipped: of true answers; error: pairs of the recovered order the wrong way, 0 best"
            )
            for p in points:
                spread = "" if p.sd is None else f" ± {100 * p.sd:.1f}"
                say(
                    f"  flipped {100 * p.share:5.1f} % ({p.flipped:,})  "
                    f"error {100 * p.error:5.1f} %{spread}  inconsistency {100 * p.score:.1f} %"
                )
            return
        coin = coin_flip_baseline(
            objects, method=method, draws=draws, seed=seed, first=first, time_limit=time_limit
        )
    if as_json:
        print_json({**asdict(coin), "first": first})
    else:
        say(f"coin ({100 * first:g} % first-named), {objects} objects: {coin_text(coin)}")
        say("  inconsistency: 0 % = fits one order, 100 % = half against the best order")
