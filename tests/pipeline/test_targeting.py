"""A queue ordered toward an interval: how many, in which order, and that the order tells nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.laying import inclusions, lay
from pipeline.sampling import Design, make_items
from pipeline.targeting import Target, draw_targeted
from scoring.agreement import allocation
from store import Store, open_store
from store.records import PoolRecord, PoolScore
from tests.store.world import (
    Sealed,
    add_traces,
    case_ids,
    new_question,
    new_trace,
    score_and_make_cases,
)

SIZES = {"disagreement": 120, "agreement": 280}
SKEWED = Target(0.08, {"disagreement": 0.5, "agreement": 0.1})


def made_up(order: int = 1) -> tuple[list[PoolScore], dict[int, PoolRecord]]:
    """Return scores of 400 pools, every third or so a disagreement, and the pools."""
    pools, scores = {}, []
    for i in range(400)[::order]:
        pools[i] = PoolRecord(i, "d", f"q{i}", "?", "m", None)
        scores.append(
            PoolScore(
                pool_id=i,
                input_hash=f"hash-{i}",
                n_traces=1,
                n_used=1,
                excluded={},
                sc_answer=None,
                sc_counts=(),
                sc_tied=False,
                gsc_answer=None,
                medoid_trace_id=i,
                disagree=i % 10 < 3,
                sc_correct=None,
                gsc_correct=None,
                grcs=None,
                divergence=None,
                dispersion=None,
                entropy=None,
                flags=(),
            )
        )
    return scores, pools


def strata(drawn: list[tuple[PoolScore, float, int]]) -> list[str]:
    return ["disagreement" if s.disagree else "agreement" for s, _, _ in drawn]


def test_as_many_as_the_interval_takes_and_no_more() -> None:
    drawn, plan = draw_targeted(*made_up(), SKEWED, 0)
    variances = {"disagreement": 0.25, "agreement": 0.09}
    se = allocation(SIZES, variances, plan.n_cases).se
    before = allocation(SIZES, variances, plan.n_cases - 1).se
    assert se is not None
    assert before is not None
    assert plan.half_width == pytest.approx(1.959964 * se, abs=1e-6)
    assert 1.959964 * se <= 0.08 < 1.959964 * before
    # Neyman: (1.96 / .08)² (.3 · .5 + .7 · .3)² = 77.8, spread as 15 to 21.
    assert Counter(strata(drawn)) == Counter(disagreement=33, agreement=45)
    assert (plan.n_cases, plan.n_questions, plan.reached) == (78, 400, True)
    assert {(s.disagree, p) for s, p, _ in drawn} == {(True, 33 / 120), (False, 45 / 280)}


def test_whenever_one_stops_the_sample_is_the_best_of_its_size() -> None:
    drawn, _ = draw_targeted(*made_up(), SKEWED, 0)
    assert [place for _, _, place in drawn] == list(range(len(drawn)))
    for n in range(8, len(drawn), 8):
        best = allocation(SIZES, {"disagreement": 0.25, "agreement": 0.09}, n).counts
        assert Counter(strata(drawn[:n])) == best


def test_the_order_is_the_same_again_and_depends_on_no_order_of_reading() -> None:
    scores, pools = made_up()
    turned, _ = made_up(-1)
    first = [s.pool_id for s, _, _ in draw_targeted(scores, pools, SKEWED, 0)[0]]
    assert first == [s.pool_id for s, _, _ in draw_targeted(turned, pools, SKEWED, 0)[0]]
    assert first != [s.pool_id for s, _, _ in draw_targeted(scores, pools, SKEWED, 1)[0]]


def test_who_knows_seed_and_sizes_cannot_work_out_the_strata() -> None:
    """With other scores behind them, the same seed and the same sizes give another order."""
    scores, pools = made_up()
    from dataclasses import replace

    others = [replace(s, input_hash="other" + s.input_hash) for s in scores]
    here = strata(draw_targeted(scores, pools, SKEWED, 0)[0])
    there = strata(draw_targeted(others, pools, SKEWED, 0)[0])
    assert Counter(here) == Counter(there)
    assert here != there


def test_no_verdict_enters(tmp_path: Path) -> None:
    """The draw sees scores and pools; what it uses of them has no gold, answer or vote."""
    from dataclasses import replace

    scores, pools = made_up()
    changed = [
        replace(s, gsc_correct=True, sc_correct=False, grcs=0.5, sc_counts=((("text", "a"), 2),))
        for s in scores
    ]
    order = [
        [s.pool_id for s, _, _ in draw_targeted(x, pools, SKEWED, 0)[0]] for x in (scores, changed)
    ]
    assert order[0] == order[1]


@pytest.mark.parametrize(
    ("half_width", "expected", "message"),
    [(0, {}, "half-width"), (1.5, {}, "half-width"), (0.1, {"odd": 0.1}, "no stratum 'odd'")],
)
def test_what_makes_no_sense_is_refused(
    half_width: float, expected: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Target(half_width, expected)
    with pytest.raises(ValueError, match="share from 0 to 1"):
        Target(0.1, {"agreement": 2.0})


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Store]:
    """Forty questions; in every fourth, vote and medoid differ."""
    with open_store(tmp_path / "p.db") as store:
        questions = [new_question(f"q{i}") for i in range(40)]
        add_traces(
            store,
            (new_trace(q, str(s), answer=a) for q in questions for s, a in enumerate((1, 1, 2, 1))),
        )
        sealed = {f"q{i}": Sealed(medoid="2" if i % 4 == 0 else "0") for i in range(40)}
        score_and_make_cases(store, sealed)
        yield store


def test_the_queue_is_made_in_that_order_and_once(project: Store) -> None:
    design = Design(k=1, target=Target(0.25, {}))
    made = make_items(project, design)
    assert made.plan is not None
    # 1.96 · sqrt(.25 / 16) ≤ .25 < 1.96 · sqrt(.25 / 15)
    assert (made.plan.n_cases, made.cases.n_withdrawn) == (16, 24)
    assert (made.n_disagreements_drawn, made.n_agreements_drawn) == (4, 12)
    order = case_ids(project, 0)
    assert len(order) == 16
    again = make_items(project, design)
    assert (again.cases.n_same, again.cases.n_new) == (16, 0)
    assert case_ids(project, 0) == order
    ana = project.rater("ana").id
    walked = [order[0]]
    while (found := project.neighbour_case(ana, walked[-1])) is not None:
        walked.append(found)
    assert walked == order


def test_more_than_there_is_is_said(project: Store) -> None:
    made = make_items(project, Design(k=1, target=Target(0.01, {})))
    assert made.plan is not None
    assert (made.plan.n_cases, made.plan.n_questions, made.plan.reached) == (40, 40, False)
    assert made.strata_never_sampled == ()


def test_weights_follow_how_far_a_targeted_queue_was_labelled(project: Store) -> None:
    """Ten disagreements, thirty agreements; four and three cases labelled: 4/10 and 3/30."""
    make_items(project, Design(k=1, target=Target(0.25, {"agreement": 0.5})))
    ana, path = project.rater("ana").id, project.schema()
    left = {"disagreement": 4, "agreement": 3}
    for case in case_ids(project, ana):
        view = project.case(case, ana, path)
        name = "disagreement" if len({p.answer for p in view.paths}) > 1 else "agreement"
        if left[name]:
            left[name] -= 1
            for p in view.paths:
                project.commit_label(ana, p.item_id, path, category="faithful")
    laid = lay(project, "path", ["ana"], unsealed=True)
    chances = inclusions(laid, [True] * len(laid.places))
    by_stratum = {p.stratum[2]: set() for p in laid.places if p.stratum}  # type: ignore[var-annotated]
    for place, chance in zip(laid.places, chances, strict=True):
        assert place.stratum is not None
        assert place.within is not None
        by_stratum[place.stratum[2]].add(round((chance or 0) / place.within, 6))
    assert by_stratum == {"disagreement": {0.4}, "agreement": {0.1}}
