"""Relation reports as plain text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tui.commands.common import say

if TYPE_CHECKING:
    from pipeline.relation_compare import ModelPair
    from pipeline.relation_scores import AxisScore, SetScore
    from pipeline.relation_view import AskedSet
    from scoring.relations import CoinFlip, Inconsistency, ScoreCorrelation

FEW = 20
"""Below so many judged answers, or where none or all are wrong, how many are wrong would tell the
truth of single ones."""

WITHHELD = "withheld: so few or so alike that it would tell single truths (--unseal)"

FIRST = {"time": ("before", "after"), "x": ("west", "east"), "y": ("south", "north")}
"""What an answer says of the first-named object on an axis: it comes first, or not."""

METHOD_NAMES = {
    "exact": "exact",
    "local": "local search",
    "scc": "components (SCC)",
    "in_degree": "in-degree",
    "energy": "energy",
}


def share(value: float | None) -> str:
    """Return a share in per cent with one digit; a dash for none.

    >>> share(0.726), share(None)
    ('72.6 %', '–')
    """
    return "–" if value is None else f"{100 * value:.1f} %"


def told(wrong: int, answered: int, unsealed: bool) -> bool:
    """Whether a count of wrong answers may be told."""
    return unsealed or (answered >= FEW and 0 < wrong < answered)


def rate_text(rate: Mapping[str, Any]) -> str:
    """Return a rate with its interval and n."""
    if rate["value"] is None:
        return "undefined: no usable answer"
    low, high = rate["ci"]
    missing = f", {rate['missing']:,} unusable" if rate["missing"] else ""
    return (
        f"{share(rate['value'])} [{100 * low:.1f}–{100 * high:.1f}], "
        f"{rate['count']:,} of {rate['n']:,}{missing}"
    )


def coin_text(coin: CoinFlip) -> str:
    """Return what coins score, with their spread."""
    if coin.mean is None:
        return "undefined: no pair of objects"
    sd = "" if coin.sd is None else f" ± {100 * coin.sd:.1f}"
    unproved = f", {coin.unproved} not proved" if coin.unproved else ""
    return (
        f"{share(coin.mean)}{sd}, 95 % of them {100 * (coin.low or 0):.1f}–"
        f"{100 * (coin.high or 0):.1f} ({coin.draws} draws by {coin.method}{unproved})"
    )


def heading(asked: AskedSet) -> None:
    """Print which answers are meant."""
    a = asked.asking
    say(f"{asked.set.name} · {a.name}: {asked.kind}, {len(asked.objects)} objects")
    prompt = f", prompt {a.prompt_version}" if a.prompt_version else ""
    form = f", form {a.form}" if a.form else ""
    say(f"  model {a.model}{prompt}{form}")


def print_score(s: SetScore, *, objects: bool, unsealed: bool) -> None:
    """Print the score of one asking of one set."""
    heading(s.asked)
    say(
        f"  {s.n_asked:,} answers to {s.n_pairs:,} ordered pairs; {s.n_read:,} give a relation "
        f"(coverage {share(s.coverage)})"
    )
    for why, n in s.left_out.items():
        say(f"    left out {n:,}: {why}")
    if s.n_turned:
        say(f"    {n_turned(s.n_turned)}")
    words = ", ".join(f"{word} {n:,}" for word, n in list(s.words.items())[:8])
    more = f" and {len(s.words) - 8} more words" if len(s.words) > 8 else ""
    say(f"  said: {words or 'nothing'}{more}")
    if s.inconsistent is not None:
        say(f"  answered INCONSISTENT: {rate_text(asdict(s.inconsistent))}")
    for axis in s.axes:
        _print_axis(s, axis, objects=objects, unsealed=unsealed)
    if s.kinship is not None:
        _print_kinship(s, unsealed)


def n_turned(n: int) -> str:
    """Return how many replies spoke of a pair the other way round."""
    return f"{n:,} spoke of the pair the other way round and were read so"


def _print_axis(s: SetScore, axis: AxisScore, *, objects: bool, unsealed: bool) -> None:
    first, second = FIRST[axis.axis]
    found = axis.exact
    say(f"  axis {axis.axis} ({first} to {second})")
    if found.score is None:
        say(f"    inconsistency undefined: {found.why_undefined}")
        return
    trusted = f", {axis.n_trusted:,} true pairs trusted" if axis.n_trusted else ""
    say(f"    inconsistency {exact_text(found)}{trusted}")
    if axis.n_trusted:
        say("      0 % = all fit one order that keeps the trusted pairs; 200 % = none does")
    else:
        say("      0 % = all fit one order; 100 % = half of them against the best order")
    if axis.coin is not None:
        held = axis.against_coin
        by = "" if held is found else f" (by {METHOD_NAMES[held.method]} {share(held.score)})"
        verdict = "below the coin" if axis.beats_coin else "NOT below the coin"
        say(f"    a coin scores {coin_text(axis.coin)}")
        say(f"      this is {verdict}{by}")
    if axis.leaning is not None and axis.preference.share is not None:
        say(
            f"    a coin that says {first} {share(axis.preference.share)} of the time: "
            f"{share(axis.leaning.mean)}"
        )
    for method, other in axis.scores.items():
        if method != "exact":
            say(f"    {METHOD_NAMES[method]:<17}{_method_text(other)}")
            if other.energy is not None and other.energy_optimum is not None:
                steps = len(other.energy_trace or ()) - 1
                say(
                    f"      energy {other.energy:.1f} after {steps:,} steps; the least there is "
                    f"{other.energy_optimum:.1f}"
                )
    say(f"    of n(n-1)/2 pairs {share(found.literal)}; of answers {share(found.fraction)}")
    _print_preference(axis)
    _print_truth(axis, unsealed)
    if objects:
        for b in axis.blame:
            if b.reverse:
                say(
                    f"      {s.asked.objects[b.object]}: {b.reverse} of {b.edges} of its answers "
                    "are against the order"
                )


def exact_text(found: Inconsistency) -> str:
    """Return the headline: exact, or its bounds where time ran out."""
    counts = f"{found.reverse:,} of {found.edges:,} answers against the best order"
    if found.proved:
        return f"{share(found.score)} (exact, proved): {counts}"
    return (
        f"between {share(found.lower_score)} and {share(found.score)} (bounds, time ran out): "
        f"{found.lower_bound:,} to {counts}"
    )


def _method_text(found: Inconsistency) -> str:
    text = f"{share(found.score)}  {found.reverse:,} against the order"
    if found.tie_range is not None:
        low, high = found.tie_range
        text += f"; ties otherwise {100 * low:.1f}–{100 * high:.1f}"
    return text


def _print_preference(axis: AxisScore) -> None:
    p = axis.preference
    first, second = FIRST[axis.axis]
    total = p.first + p.second
    say(f"    answer preference: {first} {share(p.share)} of {total:,} answers (even = 50 %)")
    if p.both_asked:
        sign = "" if p.p is None else f" (sign test p {p.p:.3g})"
        say(
            f"    the two askings contradict in {p.contradicted:,} of {p.both_asked:,} pairs "
            f"({share(p.asymmetry)})"
        )
        say(f"      {first} both times {p.both_first:,}, {second} {p.both_second:,}{sign}")


def _print_truth(axis: AxisScore, unsealed: bool) -> None:
    error = axis.error
    if error is None:
        say(f"    no error rate: {axis.why_no_truth}")
        return
    if error.value is None:
        say(f"    error rate undefined: {error.why_undefined}")
        return
    if not told(error.wrong, error.answered, unsealed):
        say(f"    error rate and τ {WITHHELD}")
        return
    tied = f", {error.tied:,} about ties not judged" if error.tied else ""
    say(
        f"    error rate {share(error.answered_rate)} (wrong {error.wrong:,} of "
        f"{error.answered:,} answered{tied}; 0 best)"
    )
    say(f"      of all pairs {share(error.literal)}, missing as wrong {share(error.strict)}")
    tau = "–" if axis.tau is None else f"{axis.tau:.2f}"
    say(f"    Kendall's τ of the best order with the truth {tau} (1 = true, -1 = reversed)")


def _print_kinship(s: SetScore, unsealed: bool) -> None:
    k = s.kinship
    if k is None:
        return
    f = k.found
    say(
        f"    excluded triples {share(f.triple_rate)} ({len(f.triples):,} of "
        f"{f.triples_checked:,} checked; 0 = none contradict)"
    )
    for what, spread in (("words drawn evenly", k.coin), ("its own words dealt anew", k.shuffled)):
        if spread is not None:
            mean, low, high = spread
            say(
                f"      {what}: {share(mean)}, 95 % of them {100 * low:.1f}–{100 * high:.1f} "
                f"({k.draws} draws)"
            )
    say(
        f"    pairs whose two answers are not inverse {share(f.pair_rate)} ({len(f.pairs):,} of "
        f"{f.pairs_checked:,})"
    )
    say(f"    people given two genders {len(f.genders):,} of {f.people_checked:,}")
    if k.error is None:
        say("    no error rate: the set has no truth")
        return
    if k.error.value is None:
        say(f"    error rate undefined: {k.error.why_undefined}")
        return
    if not told(k.error.wrong, k.error.answered, unsealed):
        say(f"    error rate {WITHHELD}")
        return
    lenient = None if k.lenient is None else k.lenient.value
    say(
        f"    kinship error {share(k.error.value)} (wrong {k.error.wrong:,} of "
        f"{k.error.determined:,} determined pairs; 0 best)"
    )
    say(
        f"      lenient {share(lenient)}, of answered {share(k.error.answered_rate)}, missing as "
        f"wrong {share(k.error.strict)}"
    )


def score_json(s: SetScore, *, objects: bool, unsealed: bool) -> dict[str, Any]:
    """Return a score as plain values; single objects and truths only where they may be told."""
    out: dict[str, Any] = {
        **named_json(s.asked),
        "how": asdict(s.how),
        "pairs": s.n_pairs,
        "answers": s.n_asked,
        "read": s.n_read,
        "turned": s.n_turned,
        "coverage": s.coverage,
        "left_out": dict(s.left_out),
        "words": dict(s.words),
        "inconsistent": None if s.inconsistent is None else asdict(s.inconsistent),
        "axes": [_axis_json(s, a, objects=objects, unsealed=unsealed) for a in s.axes],
        "kinship": None,
    }
    if s.kinship is not None:
        k, f = s.kinship, s.kinship.found
        shown = k.error is not None and told(k.error.wrong, k.error.answered, unsealed)
        out["kinship"] = {
            "excluded_triples": len(f.triples),
            "triples_checked": f.triples_checked,
            "triple_rate": f.triple_rate,
            "not_inverse": len(f.pairs),
            "pairs_checked": f.pairs_checked,
            "pair_rate": f.pair_rate,
            "two_genders": len(f.genders),
            "people_checked": f.people_checked,
            "coin": k.coin,
            "shuffled": k.shuffled,
            "draws": k.draws,
            "error": asdict(k.error) if k.error is not None and shown else None,
            "lenient": asdict(k.lenient) if k.lenient is not None and shown else None,
            "error_withheld": k.error is not None and not shown,
        }
    return out


def named_json(asked: AskedSet) -> dict[str, Any]:
    """Return which answers are meant."""
    a = asked.asking
    return {
        "set": asked.set.name,
        "kind": asked.kind,
        "objects": len(asked.objects),
        "name": a.name,
        "model": a.model,
        "form": a.form,
        "prompt_version": a.prompt_version,
        "parameters": dict(a.parameters),
    }


def _axis_json(s: SetScore, a: AxisScore, *, objects: bool, unsealed: bool) -> dict[str, Any]:
    shown = a.error is not None and told(a.error.wrong, a.error.answered, unsealed)
    out: dict[str, Any] = {
        "axis": a.axis,
        "scores": {m: inconsistency_json(f) for m, f in a.scores.items()},
        "coin": None if a.coin is None else asdict(a.coin),
        "leaning_coin": None if a.leaning is None else asdict(a.leaning),
        "below_coin": a.beats_coin,
        "trusted": a.n_trusted,
        "preference": {**asdict(a.preference), "asymmetry": a.preference.asymmetry},
        "error": None,
        "tau": a.tau if shown else None,
        "error_withheld": a.error is not None and not shown,
        "why_no_truth": a.why_no_truth,
    }
    if a.error is not None and shown:
        out["error"] = {
            **asdict(a.error),
            "answered_rate": a.error.answered_rate,
            "literal": a.error.literal,
            "strict": a.error.strict,
        }
    if objects:
        names = s.asked.objects
        out["blame"] = [{**asdict(b), "object": names[b.object]} for b in a.blame]
        out["order"] = [names[k] for k in a.exact.order]
    return out


def inconsistency_json(f: Inconsistency) -> dict[str, Any]:
    """Return a method's figures, without its order and its reverse answers: those are sealed."""
    hidden = ("order", "reverse_edges", "energy_trace")
    return {
        **{k: v for k, v in asdict(f).items() if k not in hidden},
        "lower_score": f.lower_score,
        "literal": f.literal,
        "fraction": f.fraction,
        "why_undefined": f.why_undefined,
        "energy_steps": None if f.energy_trace is None else len(f.energy_trace) - 1,
        "energy_trace": None if f.energy_trace is None else list(f.energy_trace),
    }


def print_compared(found: Sequence[SetScore], pairs: Sequence[ModelPair]) -> None:
    """Print each set's figure, then models against each other."""
    from pipeline.relation_compare import set_value

    for s in found:
        what = "excluded triples" if s.kinship is not None else "exact inconsistency"
        if len(s.axes) > 1:
            what += ", mean of its axes"
        say(f"{s.asked.set.name} · {s.asked.asking.name}: {what} {share(set_value(s))}")
    if not pairs:
        say("no two names were asked about a common set: nothing to compare")
    for p in pairs:
        c = p.found
        if c.difference is None:
            say(f"{p.first} − {p.second}: undefined ({c.why_undefined})")
            continue
        ci = "no interval" if c.ci is None else f"[{100 * c.ci[0]:.1f}, {100 * c.ci[1]:.1f}]"
        why = f" ({c.why_undefined})" if c.why_undefined else ""
        p_value = "" if c.p is None else f", p {c.p:.3g}"
        say(
            f"{p.first} − {p.second}: {100 * c.difference:+.1f} points {ci}{p_value}; n {c.n} sets, "
            f"dropped {c.dropped}{why}"
        )
        say("  paired bootstrap over sets; below 0: the first contradicts itself less")


def print_correlations(found: Mapping[str, ScoreCorrelation]) -> None:
    """Print how each graph method goes with the energy method."""
    if not found:
        return
    say("correlation with the energy method over sets and axes (-1 to 1; the paper: .982)")
    for method, c in found.items():
        if c.pearson is None or c.spearman is None:
            say(f"  {METHOD_NAMES[method]:<17}undefined: {c.why_undefined} (n {c.n})")
        else:
            say(
                f"  {METHOD_NAMES[method]:<17}Pearson {c.pearson:.3f}  Spearman {c.spearman:.3f}  "
                f"n {c.n}, dropped {c.dropped}"
            )
