"""Validating a judge: truth, evidence, the seal, and planning from what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pipeline.agreement import agreement_matrix, pair_report
from pipeline.disagreements import disagreements
from pipeline.figures import MoreLabels, more_labels, paradox, read_weights
from pipeline.several import several
from pipeline.validating import judges_to_validate, validate_judge, verdict_rules
from scoring.agreement import (
    RANKING,
    RATE,
    agreement_summary,
    confusion_table,
    gwet_ac1,
    kappa_from_table,
)
from store import Store, open_store
from store.model_records import VoteRecord
from tests.store.world import (
    add_labels,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    small_project,
)

N = 30
"""Questions of four paths each."""


def said(rater: str, categories: Sequence[str | None], kind: str = "human") -> list[object]:
    """Return labels over the paths in order; f, s, or None for none."""
    names = {"f": "faithful", "s": "spurious"}
    return [
        new_label(
            key_of(f"q{i // 4}", str(i % 4)),
            rater,
            names[c],
            rater_kind=kind,
            first_wrong_step=1 if c == "s" else None,
            before_reveal=True if kind == "human" else None,
        )
        for i, c in enumerate(categories)
        if c is not None
    ]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Store]:
    """Ana calls every third of 120 paths spurious; a judge misses one in eight, cries wolf rarely.

    Bob labels the first 60 and differs from ana on two; the judge agrees with bob on one of them.
    """
    ana = ["s" if i % 3 == 0 else "f" for i in range(4 * N)]
    bob: list[str | None] = [*ana[:60], *[None] * 60]
    bob[0], bob[1] = "f", "s"
    judge = [
        {"s": "f", "f": "s"}[c] if (c == "s" and i % 24 == 0) or i % 40 == 1 else c
        for i, c in enumerate(ana)
    ]
    with open_store(tmp_path / "p.db") as store:
        small_project(store, N)
        add_labels(store, said("ana", ana))  # type: ignore[arg-type]
        add_labels(store, said("bob", bob))  # type: ignore[arg-type]
        add_labels(store, said("gem", judge, "judge"))  # type: ignore[arg-type]
        yield store


def test_a_judge_against_one_person_by_hand(project: Store) -> None:
    v = validate_judge(project, "gem", truth="ana", replicates=100)
    assert v.positive == "spurious"
    assert v.report.table.table.tolist() == [[78, 2], [6, 34]]
    rates = v.report.rates
    assert rates is not None
    assert (rates.errors.sensitivity.k, rates.errors.sensitivity.n) == (34, 40)
    assert (rates.errors.specificity.k, rates.errors.specificity.n) == (78, 80)
    # θ = (p + TNR − 1)/(TPR + TNR − 1) over the very items the errors come from: ana's own rate.
    assert rates.corrected is not None
    assert rates.corrected.value == pytest.approx(40 / 120)
    assert v.weighted
    assert v.report.verdict.allowed(RANKING) is True
    assert v.report.steps is not None
    assert (v.report.steps.exact.k, v.report.steps.exact.n) == (34, 34)
    assert set(v.not_measured) == {"stability", "drift"}


def test_rates_stand_raw_and_weighted(project: Store) -> None:
    found = {r.rater: r for r in pair_report(project, "ana", "gem").rates}
    ana = found["ana"]
    assert (ana.category, ana.raw.k, ana.raw.n) == ("spurious", 40, 120)
    rows = project.standing("path", "ana")
    weights = [1 / (x.inclusion_probability or 0) for x in rows]
    spurious = sum(w for w, x in zip(weights, rows, strict=True) if x.category == "spurious")
    assert ana.weighted is not None
    assert ana.weighted.value == pytest.approx(spurious / sum(weights))
    assert (found["gem"].raw.k, found["gem"].raw.n) == (36, 120)


def test_the_adjudicated_truth(project: Store) -> None:
    """Without adjudications, what ana and bob agree on; an adjudication decides a dispute."""
    v = validate_judge(project, "gem", replicates=50)
    assert (v.truth.name, v.truth.n_adjudicated, v.truth.n_open, v.report.kappa.n) == (
        "adjudicated",
        0,
        2,
        118,
    )
    ana, path = project.rater("ana").id, project.schema()
    rows = {r.item: r for r in project.standing("path", "ana")}
    disputed = rows[key_of("q0", "0")]
    project.reveal(disputed.case or 0, ana, path)
    project.adjudicate(disputed.item_id, ana, path, category="spurious", reason="1 is false")
    v = validate_judge(project, "gem", truth="adjudicated", replicates=50)
    assert (v.truth.n_adjudicated, v.truth.n_against_judge, v.truth.n_open) == (1, 1, 1)
    assert v.report.kappa.n == 119
    # κ of the raters themselves is untouched by it.
    report = pair_report(project, "ana", "bob")
    assert report.table.table.tolist() == [[39, 1], [1, 19]]
    with pytest.raises(ValueError, match="--judge NAME --truth adjudicated"):
        pair_report(project, "adjudicated", "gem")


def test_votes_give_stability_parse_failures_and_drift(project: Store) -> None:
    gem = project.rater("gem", "judge").id
    rows = project.standing("path", "gem")[:40]

    def votes(flip: int) -> list[VoteRecord]:
        return [
            VoteRecord(
                item_id=r.item_id,
                repeat=k,
                outcome="invalid" if n == 0 and k == 2 else "ok",
                category=None
                if n == 0 and k == 2
                else ("spurious" if n < flip or (n == 5 and k == 1) else "faithful"),
            )
            for n, r in enumerate(rows)
            for k in range(3)
        ]

    project.save_votes(gem, "path/1", votes(4))
    project.save_votes(gem, "path/2", votes(2))
    v = validate_judge(project, "gem", truth="ana", replicates=50)
    assert v.outcomes == {"invalid": 2, "ok": 238}
    assert v.report.parse_failures is not None
    assert (v.report.parse_failures.k, v.report.parse_failures.n) == (2, 240)
    s = v.report.stability
    assert s is not None
    # 39 items agree fully, one on a third of its pairs.
    assert s.pairwise.value == pytest.approx((39 + 1 / 3) / 40)
    assert v.compared_with == "path/1"
    assert v.report.drift is not None
    assert (v.report.drift.changed.k, v.report.drift.changed.n) == (2, 40)


def test_drift_against_an_earlier_judge(project: Store) -> None:
    add_labels(project, said("old", ["f"] * 120, "judge"))  # type: ignore[arg-type]
    v = validate_judge(project, "gem", truth="ana", before="old", replicates=50)
    assert v.report.drift is not None
    assert v.report.drift.table.table.tolist() == [[84, 36], [0, 0]]
    assert v.report.drift.mcnemar is not None
    assert v.report.drift.mcnemar.exact_p == pytest.approx(2 * 0.5**36)
    assert judges_to_validate(project) == ("gem", "old")


def test_the_alternative_annotator_test_needs_two_people(project: Store) -> None:
    v = validate_judge(project, "gem", truth="ana", replicates=50)
    assert v.report.alt_test is not None
    assert (v.report.alt_test.n_items, len(v.report.alt_test.humans)) == (60, 2)
    assert v.report.alt_test.passed is True


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"truth": "nobody"}, "the truth may be: ana, bob, adjudicated"),
        ({"positive": "odd"}, "faithful, spurious"),
        ({"before": "gem"}, "itself"),
        ({"before": "ana"}, "not a judge"),
    ],
)
def test_what_makes_no_sense_is_refused(project: Store, how: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        validate_judge(project, "gem", **how)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a judge"):
        validate_judge(project, "ana")


def test_thresholds_can_be_stated_and_change_the_verdict(project: Store) -> None:
    rules = verdict_rules(["ranking_accuracy=.99", "min_per_class=5"])
    assert (rules.ranking_accuracy, rules.min_per_class, rules.min_stability) == (0.99, 5, 0.8)
    v = validate_judge(project, "gem", truth="ana", rules=rules, replicates=50)
    assert v.report.verdict.allowed(RANKING) is False
    assert v.report.verdict.allowed(RATE) is not None
    with pytest.raises(ValueError, match="no rule 'odd'"):
        verdict_rules(["odd=1"])
    with pytest.raises(ValueError, match="min_per_class=NUMBER"):
        verdict_rules(["min_per_class=x"])


def test_sealed_labels_stay_out_of_the_report(tmp_path: Path) -> None:
    """A person under the seal counts with what they have revealed; the rest is counted as held."""
    with open_store(tmp_path / "s.db") as store:
        small_project(store, 2)
        add_labels(store, said("gem", ["s", "f", "f", "f"] * 2, "judge"))  # type: ignore[arg-type]
        ana, path = store.rater("ana").id, store.schema()
        first, second = case_ids(store, ana)
        decide(store, first, ana)
        sealed = validate_judge(store, "gem", truth="ana", replicates=20)
        assert (sealed.report.kappa.n, sealed.n_held) == (0, 4)
        store.reveal(first, ana, path)
        store.commit_label(ana, item_ids(store, second, ana)[0], path, category="spurious")
        seen = validate_judge(store, "gem", truth="ana", replicates=20)
        assert (seen.report.kappa.n, seen.n_held, seen.n_judged) == (4, 1, 8)


def test_disagreements_are_those_of_revealed_questions_only(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    before = disagreements(project, "ana", "gem", ana)
    assert (before.rows, before.n_compared, before.n_sealed) == ((), 0, N)
    case = next(r.case for r in project.standing("path", "ana") if r.question == "own/q0")
    project.reveal(case or 0, ana, path)
    found = disagreements(project, "ana", "gem", ana)
    assert [(r.item, r.said, r.steps) for r in found.rows] == [
        (key_of("q0", "0"), ("spurious", "faithful"), (1, None)),
        (key_of("q0", "1"), ("faithful", "spurious"), (None, 1)),
    ]
    assert (found.n_compared, found.n_sealed) == (4, N - 1)
    eve = project.rater("eve").id
    assert disagreements(project, "ana", "gem", eve).rows == ()


def test_the_count_of_what_is_sealed_does_not_follow_ones_labels(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        small_project(store, 2)
        add_labels(store, said("gem", ["s", "f", "f", "f"] * 2, "judge"))  # type: ignore[arg-type]
        ana, path = store.rater("ana").id, store.schema()
        item = item_ids(store, case_ids(store, ana)[0], ana)[0]
        found = []
        for label in ("faithful", "spurious"):
            store.commit_label(ana, item, path, category=label)
            found.append(disagreements(store, "ana", "gem", ana))
        assert found[0] == found[1]
        assert (found[0].rows, found[0].n_sealed) == ((), 2)


def test_the_matrix_is_symmetric_pairs_of_everybody(project: Store) -> None:
    matrix = agreement_matrix(project)
    assert [r.name for r in matrix.raters] == ["ana", "bob", "gem"]
    assert sorted(matrix.kappas) == [(0, 1), (0, 2), (1, 2)]
    assert (matrix.kappas[0, 1].n, matrix.kappas[0, 2].n) == (60, 120)
    assert matrix.kappas[0, 1].value == pytest.approx(
        pair_report(project, "bob", "ana").kappa.value
    )
    assert matrix.several is not None
    assert (matrix.several.n_rated, matrix.several.n_all) == (120, 60)


def test_flips_and_times_of_the_sealed_protocol(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        small_project(store, 1)
        add_labels(store, said("gem", ["s", "s", "f", "f"], "judge"))  # type: ignore[arg-type]
        ana, path = store.rater("ana").id, store.schema()
        (case,) = case_ids(store, ana)
        keys = {p.item: p.item_id for p in store.case(case, ana, path).paths}
        for n, item in enumerate(keys.values()):
            store.commit_label(ana, item, path, category="faithful", active_seconds=10.0 * (n + 1))
        store.reveal(case, ana, path)
        store.commit_label(ana, keys[key_of("q0", "0")], path, category="spurious")
        report = pair_report(store, "ana", "gem")
        flips = report.flips["ana"]
        assert (flips.toward.k, flips.toward.n, flips.away.k, flips.away.n) == (1, 2, 0, 2)
        assert report.table.table.tolist() == [[2, 2], [0, 0]]
        assert report.times["ana"].median == 25.0


def test_more_labels_follow_the_variance() -> None:
    table = confusion_table(["a"] * 60 + ["b"] * 40, ["a"] * 50 + ["b"] * 50)
    kappa = kappa_from_table(table)
    assert kappa.se is not None
    plan = more_labels(kappa, 0.05)
    assert isinstance(plan, MoreLabels)
    assert plan.half_width_now == pytest.approx(1.959964 * kappa.se, abs=1e-6)
    assert plan.needed == -(-100 * (1.959964 * kappa.se) ** 2 // 0.0025)
    assert plan.more == plan.needed - 100
    full = kappa_from_table(confusion_table(["a", "b"], ["a", "b"]))
    assert "no error" in str(more_labels(full))
    with pytest.raises(ValueError, match="above 0"):
        more_labels(kappa, 0)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([[80, 10], [5, 5]], "would be 0.70 in place of 0.32"),
        ([[40, 9], [6, 45]], None),
        ([[74, 12], [12, 2]], "would be 0.52 in place of 0.00"),
        ([[55, 20], [20, 5]], None),
    ],
    ids=["lopsided", "balanced", "by chance", "poor"],
)
def test_the_paradox_is_explained_where_it_bites(table: list[list[int]], told: str | None) -> None:
    """κ is .32, .70, .00 and −.07; with even shares, (PABAK + BI²)/(1 + BI²) of it."""
    a = ["y"] * sum(table[0]) + ["n"] * sum(table[1])
    b = [x for row in table for x, n in zip("yn", row, strict=True) for _ in range(n)]
    counted = confusion_table(a, b, categories=["y", "n"])
    assert counted.table.tolist() == table
    found = paradox(
        counted, kappa_from_table(counted), agreement_summary(counted), gwet_ac1([a, b])
    )
    if told is None:
        assert found is None
    else:
        assert found is not None
        assert told in found


def test_weights_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("1,.5,0\n.5,1,.5\n0,.5,1\n")
    assert read_weights(str(path), 3) == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    assert read_weights("linear", 3) == "linear"
    with pytest.raises(ValueError, match="4 × 4"):
        read_weights(str(path), 4)
    path.write_text("1,x\nx,1\n")
    with pytest.raises(ValueError, match=r"w\.csv:1"):
        read_weights(str(path), 2)
    with pytest.raises(ValueError, match="linear, quadratic, ordinal"):
        read_weights("cubic", 2)


def test_several_raters_with_gaps_on_every_scale() -> None:
    """The nominal example of AGREEMENT.md (α .692), and what a scale asks for."""
    ratings = [
        [1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1],
        [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4],
    ]
    found = several(["x", "y"], ratings, [1, 2, 3, 4, 5])
    assert found.alpha.value == pytest.approx(0.692, abs=5e-4)
    assert (found.n_rated, found.n_all, found.ac2) == (12, 12, None)
    scales = {
        m: several(["x", "y"], ratings, [1, 2, 3, 4, 5], measure=m).alpha.value
        for m in ("ordinal", "interval", "ratio")
    }
    assert len(set(scales.values())) == 3
    with pytest.raises(ValueError, match="numbers"):
        several(["x", "y"], [["a"], ["b"]], ["a", "b"], measure="interval")
    with pytest.raises(ValueError, match="order"):
        several(["x", "y"], [["a"], ["b"]], ["a", "b"], declared=False, measure="ordinal")
