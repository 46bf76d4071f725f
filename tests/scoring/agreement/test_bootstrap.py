"""The clustered bootstrap interval of kappa."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.agreement import cohen_kappa, kappa_bootstrap

CELLS = {("y", "y"): 40, ("y", "n"): 9, ("n", "y"): 6, ("n", "n"): 45}
A = [x for (x, _), n in CELLS.items() for _ in range(n)]
B = [y for (_, y), n in CELLS.items() for _ in range(n)]


def test_single_item_clusters_come_near_the_large_sample_error() -> None:
    r = kappa_bootstrap(A, B, range(100), replicates=4000, seed=7)
    k = cohen_kappa(A, B)
    assert k.ci is not None
    assert r.ci is not None
    assert r.value == k.value
    assert r.se == pytest.approx(k.se, rel=0.06)
    assert r.ci == pytest.approx(k.ci, abs=0.02)
    assert (r.n, r.dropped, r.clusters, r.replicates, r.undefined) == (100, 0, 100, 4000, 0)
    assert (r.why_undefined, r.why_no_interval, r.level) == (None, None, 0.95)


def test_copies_of_an_item_in_its_cluster_add_no_information() -> None:
    once = kappa_bootstrap(A, B, range(100), seed=3)
    many = kappa_bootstrap(A * 4, B * 4, list(range(100)) * 4, seed=3)
    assert once.ci is not None
    assert many.ci == pytest.approx(once.ci, abs=1e-12)
    as_if_independent = kappa_bootstrap(A * 4, B * 4, range(400), seed=3)
    assert as_if_independent.se == pytest.approx((once.se or 0) / 2, rel=0.1)


def test_seed_decides_and_a_generator_is_taken() -> None:
    one = kappa_bootstrap(A, B, range(100), replicates=50, seed=5)
    assert one == kappa_bootstrap(A, B, range(100), replicates=50, seed=np.random.default_rng(5))
    assert one != kappa_bootstrap(A, B, range(100), replicates=50, seed=6)


def test_replicates_do_not_depend_on_the_chunks_they_are_drawn_in() -> None:
    """Drawn here one by one from the same generator."""
    clusters = [i // 5 for i in range(100)]
    r = kappa_bootstrap(A, B, clusters, replicates=250, seed=11)
    rng = np.random.default_rng(11)
    kappas = []
    for times in rng.multinomial(20, np.full(20, 1 / 20), size=250):
        rows = [i for i in range(100) for _ in range(times[clusters[i]])]
        kappas.append(cohen_kappa([A[i] for i in rows], [B[i] for i in rows]).value)
    defined = np.array([k for k in kappas if k is not None])
    assert r.undefined == 250 - len(defined)
    assert r.ci == pytest.approx(tuple(np.quantile(defined, [0.025, 0.975])), abs=1e-12)
    assert r.se == pytest.approx(defined.std(ddof=1), abs=1e-12)


def test_many_single_items_are_drawn_by_kind() -> None:
    """Beyond a thousand clusters equal ones share their draws: the same distribution."""
    a, b = A * 30, B * 30
    r = kappa_bootstrap(a, b, range(3000), replicates=4000, seed=7)
    k = cohen_kappa(a, b)
    assert (r.clusters, r.n, r.value) == (3000, 3000, k.value)
    assert r.se == pytest.approx(k.se, rel=0.04)
    assert r.ci == pytest.approx(k.ci, abs=0.002)
    # questions are kinds too, here of the same label twice
    twice = kappa_bootstrap(a + a, b + b, [*range(3000), *range(3000)], replicates=4000, seed=7)
    assert twice.ci == pytest.approx(r.ci, abs=1e-12)


def test_undefined_replicates_are_dropped_and_counted() -> None:
    a, b = ["y"] * 9 + ["n"], ["y"] * 8 + ["n", "n"]
    r = kappa_bootstrap(a, b, range(10), replicates=2000, seed=1)
    # undefined when only "y", "y" items are drawn, (8/10)^10 = .107 of the replicates, or only
    # the last item, 10^-10
    assert r.undefined / 2000 == pytest.approx(0.8**10, abs=0.02)
    assert r.ci is not None
    assert r.ci[0] < (r.value or 0) < r.ci[1]


def test_full_agreement_has_no_interval() -> None:
    a = ["y"] * 9 + ["n"]
    r = kappa_bootstrap(a, a, range(10), replicates=2000, seed=1)
    # kappa is undefined when the one "n" is not drawn: (9/10)^10 = .349 of the replicates
    assert r.undefined / 2000 == pytest.approx(0.9**10, abs=0.03)
    assert (r.value, r.se, r.ci) == (1.0, None, None)
    assert r.why_no_interval == "every replicate gives the same kappa: no information on the error"


def test_weights_are_those_of_kappa() -> None:
    a, b = [1, 2, 3, 3, 1, 2], [1, 3, 3, 2, 1, 1]
    r = kappa_bootstrap(a, b, range(6), categories=[1, 2, 3], weights="quadratic", replicates=20)
    assert r.value == cohen_kappa(a, b, categories=[1, 2, 3], weights="quadratic").value


def test_clusters_without_a_pair_are_not_resampled() -> None:
    r = kappa_bootstrap([*A, None], [*B, "y"], [*range(100), "empty"], replicates=20)
    assert (r.clusters, r.n, r.dropped) == (100, 100, 1)


def test_one_cluster_gives_a_value_without_interval() -> None:
    r = kappa_bootstrap(A, B, ["q"] * 100)
    assert r.value == cohen_kappa(A, B).value
    assert (r.ci, r.se, r.replicates) == (None, None, 0)
    assert r.why_no_interval == "all items belong to one cluster: nothing to resample"


def test_undefined_kappa_gives_its_reason() -> None:
    r = kappa_bootstrap(["y", "y"], ["y", "y"], [1, 2])
    assert (r.value, r.ci) == (None, None)
    assert r.why_undefined
    assert r.why_undefined == r.why_no_interval


def test_too_few_defined_replicates_give_no_interval() -> None:
    # kappa exists only in replicates that draw the "n" and a "y"
    a = ["y"] * 2 + ["n"]
    seeds = (kappa_bootstrap(a, a, range(3), replicates=2, seed=s) for s in range(50))
    r = next(r for r in seeds if r.undefined >= 1)
    assert (r.value, r.ci, r.replicates) == (1.0, None, 2)
    assert r.why_no_interval == f"kappa is undefined in {r.undefined} of 2 replicates"


@pytest.mark.parametrize(
    ("clusters", "replicates", "message"),
    [
        ([1], 10, "clusters has 1 entries for 2 items"),
        ([1, None], 10, "item 1 has no cluster"),
        ([1, 2], 1, "replicates is 1"),
    ],
)
def test_refusals(clusters: list[object], replicates: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kappa_bootstrap(["y", "n"], ["y", "y"], clusters, replicates=replicates)
