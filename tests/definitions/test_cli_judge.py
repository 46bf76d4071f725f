"""`medoid agreement` beyond two raters: planning, several raters, a judge's report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.definitions.running import label_row, medoid, trace_row, write


@pytest.mark.parametrize(("prevalence", "n"), [(0.5, 246), (0.3, 296), (0.1, 705)])
def test_planning_needs_no_project(prevalence: float, n: int) -> None:
    """Donner and Eliasziw's numbers for κ = .6 ± .1."""
    args = ("--plan", "--kappa", ".6", "--half-width", ".1", "--prevalence", str(prevalence))
    assert medoid("agreement", *args, "--json").json["labels"] == n
    assert medoid("agreement", *args).out.startswith(f"{n} items")
    assert medoid("agreement", "--plan", "--kappa", "1.5").code == 2


def test_three_raters_of_a_table(tmp_path: Path) -> None:
    """Counts of PandaLM's first two humans on 999 items give κ .852; a third says as the second."""
    counts = [[89, 0, 8], [16, 388, 23], [11, 29, 435]]
    rows = [
        f"{i},{j},{j}" for i, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)
    ]
    path = tmp_path / "r.csv"
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    document = medoid("agreement", "--ratings", path, "--json").json
    kappas = {tuple(p["raters"]): p["kappa"]["value"] for p in document["pairs"]}
    assert len(kappas) == 3
    assert kappas["a", "b"] == kappas["a", "c"] == pytest.approx(0.852, abs=5e-4)
    assert kappas["b", "c"] == 1.0
    several = document["several"]
    assert (several["n_all"], several["measure"]) == (len(rows), "nominal")
    assert several["alpha"]["ci"][0] < several["alpha"]["value"] < several["alpha"]["ci"][1]
    ordinal = medoid(
        "agreement", "--ratings", path, "--measure", "ordinal", "--categories", "0,1,2", "--json"
    ).json["several"]
    assert ordinal["alpha"]["value"] != several["alpha"]["value"]
    assert medoid("agreement", "--ratings", path, "--measure", "odd").code == 2


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Sixty paths: ann calls 24 spurious, the judge 20 of these and 3 others."""
    rows = [trace_row(question_id=f"q{i // 3}", sample=i % 3) for i in range(60)]
    for i in range(60):
        item = f"path:d/q{i // 3}/m/{i % 3}"
        ann = "spurious" if i < 24 else "faithful"
        judge = "spurious" if i < 20 or 24 <= i < 27 else "faithful"
        rows.append(label_row(item=item, category=ann, before_reveal=True))
        rows.append(label_row(item=item, rater="j", rater_kind="judge", category=judge))
    assert medoid("import", write(tmp_path / "p.jsonl", *rows)).code == 0
    return tmp_path


def test_a_judge_report(project: Path) -> None:
    document = medoid("agreement", "--judge", "j", "--json").json
    assert (document["truth"]["name"], document["positive"]) == ("ann", "spurious")
    rates = document["report"]["rates"]
    assert (rates["errors"]["sensitivity"]["k"], rates["errors"]["sensitivity"]["n"]) == (20, 24)
    assert (rates["errors"]["specificity"]["k"], rates["errors"]["specificity"]["n"]) == (33, 36)
    assert rates["corrected"]["value"] == pytest.approx(24 / 60)
    uses = {u["use"]: u["allowed"] for u in document["report"]["verdict"]["uses"]}
    assert uses["replacing a human"] is None
    assert document["report"]["verdict"]["rules"]["min_per_class"] == 20
    text = medoid("agreement", "--judge", "j").out
    assert "NOT SHOWN  replacing a human" in text
    assert "min per class 20" in text
    assert "0.833 [0.641 to 0.933] (20 of 24)" in text
    stricter = medoid("agreement", "--judge", "j", "--rule", "min_per_class=30", "--json").json
    assert {u["allowed"] for u in stricter["report"]["verdict"]["uses"]} == {None}


def test_options_of_the_report_go_with_it(project: Path) -> None:
    for args in (
        ("--truth", "ann"),
        ("--positive", "spurious"),
        ("--before", "x"),
        ("--rule", "min_per_class=1"),
        ("ann", "j", "--judge", "j"),
        ("--judge", "ann"),
        ("--judge", "j", "--rule", "odd=1"),
        ("ann", "j", "--weights", "odd"),
    ):
        ran = medoid("agreement", *args)
        assert (ran.code, ran.out) == (2, "")


def test_weights_over_the_schemas_order(project: Path) -> None:
    """With two categories every weighting is the plain κ."""
    plain = medoid("agreement", "ann", "j", "--json").json["pairs"][0]["kappa"]["value"]
    for weights in ("linear", "quadratic", "ordinal"):
        ran = medoid("agreement", "ann", "j", "--weights", weights, "--json").json["pairs"][0]
        assert ran["kappa"]["value"] == pytest.approx(plain)
        assert ran["ac2"]["value"] == pytest.approx(ran["ac1"]["value"])
