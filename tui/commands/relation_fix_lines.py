"""Repairs, alignments, maps and probes as plain text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tui.commands.common import percent, say
from tui.commands.relation_lines import FEW, FIRST, WITHHELD, heading, named_json, share, told

if TYPE_CHECKING:
    from pipeline.relation_repair import AxisAlignment, SetFix, SetMap, SetProbe
    from pipeline.relation_view import AskedSet
    from scoring.relations import Alignment


def print_fix(f: SetFix, *, edits: bool) -> None:
    """Print how few edits make answers consistent, and what is proved of it."""
    heading(f.asked)
    verb = "turned round" if f.mend == "reverse" else "dropped"
    for axis, r in f.axes.items():
        say(f"  axis {axis}: {r.cost:,} of {len_answers(f):,} answers {verb}; {_proof(r)}")
        if r.packing is not None:
            say(
                f"    {r.packing.lower_bound:,} contradictions share no answer: anyone can check "
                "that at least so many must go"
            )
    if f.kinship is not None:
        k = f.kinship
        say(f"  {k.cost:,} of {len(f.answers):,} answers dropped; {_proof(k)}")
        say(
            f"    {len(k.disjoint):,} contradictions share no answer; what is left contradicts "
            "itself in no triple, pair or gender"
        )
    left_out = f"; {f.n_left_out:,} without a relation left out" if f.n_left_out else ""
    say(f"  {f.n_changed:,} of {len(f.answers):,} answers edited{left_out}")
    if edits:
        names = f.asked.objects
        for a in f.answers:
            if a.changed:
                say(f"    {names[a.a]} – {names[a.b]}: {a.said} → {a.mended or 'dropped'}")


def len_answers(f: SetFix) -> int:
    """Return how many answers speak on the axes."""
    return len(f.answers)


def _proof(r: Any) -> str:
    if r.optimal:
        return "optimal, proved: fewer leave a contradiction"
    return f"at most {r.gap:,} too many: {r.lower_bound:,} are proved to be needed"


def fix_json(f: SetFix, *, edits: bool) -> dict[str, Any]:
    """Return a repair as plain values; single edits only where asked for."""
    out: dict[str, Any] = {
        **named_json(f.asked),
        "mend": f.mend,
        "answers": len(f.answers),
        "changed": f.n_changed,
        "left_out": f.n_left_out,
        "axes": {
            axis: {
                "cost": r.cost,
                "lower_bound": r.lower_bound,
                "optimal": r.optimal,
                "gap": r.gap,
                "packing": None if r.packing is None else r.packing.lower_bound,
                "selfloops": r.selfloops,
            }
            for axis, r in f.axes.items()
        },
        "kinship": None,
    }
    if f.kinship is not None:
        k = f.kinship
        out["kinship"] = {
            "cost": k.cost,
            "lower_bound": k.lower_bound,
            "optimal": k.optimal,
            "gap": k.gap,
            "disjoint": len(k.disjoint),
        }
    if edits:
        names = f.asked.objects
        out["edits"] = [
            {
                "a": names[a.a],
                "b": names[a.b],
                "repeat": a.repeat,
                "said": a.said,
                "mended": a.mended,
            }
            for a in f.answers
            if a.changed
        ]
        if f.kinship is not None:
            out["kinship"]["certificate"] = [[list(s) for s in one] for one in f.kinship.disjoint]
        for axis, r in f.axes.items():
            if r.packing is not None:
                out["axes"][axis]["certificate"] = [
                    [[names[u], names[v]] for u, v in cycle] for cycle in r.packing.cycles
                ]
    return out


def _aligned_told(x: AxisAlignment, a: Alignment, unsealed: bool) -> bool:
    """Whether an alignment may be told: not of few pairs, nor where it or its error is nothing or
    all, for then it tells single truths."""
    n = a.facts_asked + a.edges_deduced + a.edges_kept
    return unsealed or (n >= FEW and a.changed > 0 and told(x.n_wrong, x.n_judged, False))


def print_align(
    asked: AskedSet, axes: Sequence[AxisAlignment], *, facts: bool, unsealed: bool
) -> None:
    """Print both alignments of every axis."""
    heading(asked)
    names = asked.objects
    for x in axes:
        ties = f", {x.n_tied} objects tied in truth" if x.n_tied else ""
        say(f"  axis {x.axis}{ties}")
        for what, a in (("until consistent", x.consistent), ("until aligned", x.aligned)):
            if not _aligned_told(x, a, unsealed):
                say(f"    {what}: {WITHHELD}")
                continue
            say(
                f"    {what}: facts asked {a.facts_asked:,}, pairs deduced "
                f"{a.edges_deduced:,}, left as the model said {a.edges_kept:,}"
            )
            say(
                f"      {a.changed:,} answers changed, rounds {a.rounds}; against the order "
                f"{a.reverse_left:,}, pairs of it off the truth {a.distance:,} (0 = aligned)"
            )
            if facts:
                say("      " + "; ".join(f"{names[u]} before {names[v]}" for u, v in a.facts))


def align_json(
    asked: AskedSet, axes: Sequence[AxisAlignment], *, facts: bool, unsealed: bool
) -> dict[str, Any]:
    """Return alignments as plain values; single facts only where asked for."""
    names = asked.objects

    def one(x: AxisAlignment, a: Alignment) -> dict[str, Any] | None:
        if not _aligned_told(x, a, unsealed):
            return None
        hidden = ("edges", "order", "facts", "deduced")
        out = {k: v for k, v in asdict(a).items() if k not in hidden}
        if facts:
            out["facts"] = [[names[u], names[v]] for u, v in a.facts]
        return out

    return {
        **named_json(asked),
        "axes": {
            x.axis: {
                "consistent": one(x, x.consistent),
                "aligned": one(x, x.aligned),
                "tied": x.n_tied,
                "withheld": not all(
                    _aligned_told(x, a, unsealed) for a in (x.consistent, x.aligned)
                ),
            }
            for x in axes
        },
    }


def print_map(f: SetMap) -> None:
    """Print the orders, and for two axes each object's place beside its true one."""
    heading(f.asked)
    names = f.asked.objects
    for axis, order in f.orders.items():
        first, second = FIRST[axis]
        tau = f.taus[axis]
        with_truth = "no truth" if tau is None else f"τ with the truth {tau:.2f}"
        proved = "" if f.proved[axis] else " (not proved best)"
        say(f"  axis {axis}, {first} to {second}: {with_truth}{proved}")
        if f.drawn is None:
            for place, k in enumerate(order, start=1):
                say(f"    {place:>3}  {names[k]}")
    if f.drawn is None:
        return
    wide = min(max(len(n) for n in names), 40)
    say("    places counted from the west and from the south, 0 first")
    say(f"    {'':<{wide}}  east  north   true east  north")
    for k, name in enumerate(names):
        x, y = f.drawn.points[k]
        true = (
            ""
            if f.drawn.true_points is None
            else "   {:>9g}  {:>5g}".format(*f.drawn.true_points[k])
        )
        say(f"    {name:<{wide}}  {x:>4g}  {y:>5g}{true}")


def map_json(f: SetMap) -> dict[str, Any]:
    """Return orders and places as plain values."""
    names = f.asked.objects
    out: dict[str, Any] = {
        **named_json(f.asked),
        "orders": {axis: [names[k] for k in order] for axis, order in f.orders.items()},
        "tau": dict(f.taus),
        "proved": dict(f.proved),
        "places": None,
    }
    if f.drawn is not None:
        true = f.drawn.true_points
        out["places"] = {
            name: {
                "x": float(f.drawn.points[k][0]),
                "y": float(f.drawn.points[k][1]),
                "true_x": None if true is None else float(true[k][0]),
                "true_y": None if true is None else float(true[k][1]),
            }
            for k, name in enumerate(names)
        }
    return out


def print_probe(p: SetProbe, *, objects: bool, unsealed: bool) -> None:
    """Print what a model states of the objects, and what its answers rest on."""
    heading(p.asked)
    say(f"  objects themselves asked of {p.probed.name} (prompt {p.probed.prompt_version})")
    for why, n in p.left_out.items():
        say(f"    left out {n:,}: {why}")
    for a in p.axes:
        f = a.found
        wrong = len(f.wrong_fact) + len(f.wrong_reasoning)
        judged = wrong + len(f.lucky) + f.sound
        say(f"  axis {a.axis}: {a.n_stated:,} of {a.n_objects:,} objects have a stated value")
        if not told(wrong, judged, unsealed) or not told(a.n_right, a.n_stated, unsealed):
            say(f"    {WITHHELD}")
            continue
        error = "–" if a.median_error is None else f"{a.median_error:.1f}"
        say(
            f"    {a.n_right:,} within {p.within:g} of the truth "
            f"({percent(a.n_right, a.n_stated)}), median {error} off; {a.pairs_right:,} of "
            f"{a.pairs:,} pairs in the true order ({percent(a.pairs_right, a.pairs)})"
        )
        say(
            f"    of {judged:,} answers that can be judged, {share(f.follows)} follow from the "
            "stated facts"
        )
        say(
            f"    wrong from a wrong fact {len(f.wrong_fact):,}, wrong against its own facts "
            f"{len(f.wrong_reasoning):,}; right by luck {len(f.lucky):,}, right from its facts "
            f"{f.sound:,}; unknown {f.unknown:,}, tied {f.tied:,}"
        )
    if objects:
        for k, name in enumerate(p.asked.objects):
            values = ", ".join(
                f"{axis} {'–' if v[k] is None else format(v[k], '.2f')}"
                for axis, v in p.stated.items()
            )
            say(f"    {name}: {values}")


def probe_json(p: SetProbe, *, objects: bool, unsealed: bool) -> dict[str, Any]:
    """Return a probe as plain values; single objects only where asked for."""
    axes = {}
    for a in p.axes:
        f = a.found
        counts = {
            "wrong_fact": len(f.wrong_fact),
            "wrong_reasoning": len(f.wrong_reasoning),
            "lucky": len(f.lucky),
            "sound": f.sound,
        }
        wrong = counts["wrong_fact"] + counts["wrong_reasoning"]
        shown = told(wrong, sum(counts.values()), unsealed) and told(
            a.n_right, a.n_stated, unsealed
        )
        axes[a.axis] = {
            "objects": a.n_objects,
            "stated": a.n_stated,
            "withheld": not shown,
            **(
                {
                    "right": a.n_right,
                    "median_error": a.median_error,
                    "pairs_right": a.pairs_right,
                    "pairs": a.pairs,
                    **counts,
                    "unknown": f.unknown,
                    "tied": f.tied,
                    "follows": f.follows,
                }
                if shown
                else {}
            ),
        }
    out: dict[str, Any] = {
        **named_json(p.asked),
        "probed": p.probed.name,
        "within": p.within,
        "left_out": dict(p.left_out),
        "axes": axes,
    }
    if objects:
        out["stated"] = {
            name: {axis: v[k] for axis, v in p.stated.items()}
            for k, name in enumerate(p.asked.objects)
        }
    return out
