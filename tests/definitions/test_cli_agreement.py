"""`medoid agreement` as a user sees it: figures, what was dropped, and why κ is undefined."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store import open_store
from tests.definitions.running import label_row, medoid, trace_row, write


def kappa_of(pairs: list[tuple[str, str]]) -> Fraction | None:
    n = len(pairs)
    names = {x for pair in pairs for x in pair}
    if not n:
        return None
    po = Fraction(sum(a == b for a, b in pairs), n)
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    pe = sum(Fraction(first.count(c) * second.count(c), n * n) for c in names)
    return None if pe == 1 else (po - pe) / (1 - pe)


def figure(text: str, label: str) -> str:
    found = re.search(rf"{label}\s+([-−–\d.]+)", text)
    assert found, (label, text)
    return found[1]


# --- a plain table --------------------------------------------------------------------------------

RATINGS = """item,ann,bob,judge
1,good,good,good
2,good,bad,bad
3,bad,bad,good
4,bad,bad,bad
5,,bad,bad
6,good,skip,good
7,good,n/a,
8,unsure,good,good
"""


def test_a_table_with_missing_cells(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RATINGS)
    ran = medoid("agreement", "--ratings", path, "--json")
    assert ran.code == 0
    pairs = {tuple(p["raters"]): p for p in ran.json["pairs"]}
    assert list(pairs) == [("ann", "bob"), ("ann", "judge"), ("bob", "judge")]
    # good-good, good-bad, bad-bad twice: po 3/4, pe 1/2·1/4 + 1/2·3/4 = 1/2.
    first = pairs["ann", "bob"]
    assert first["kappa"]["value"] == pytest.approx(0.5)
    assert (first["kappa"]["n"], first["kappa"]["dropped"]) == (4, 4)
    third = pairs["bob", "judge"]
    kept = [
        ("good", "good"),
        ("bad", "bad"),
        ("bad", "good"),
        ("bad", "bad"),
        ("bad", "bad"),
        ("good", "good"),
    ]
    assert (third["kappa"]["n"], third["kappa"]["dropped"]) == (6, 2)
    assert third["kappa"]["value"] == pytest.approx(float(kappa_of(kept) or 0))
    assert ran.json["read_as_missing"] == {"": 2, "skip": 1, "n/a": 1, "unsure": 1}


def test_text_and_json_show_the_same_figures(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RATINGS)
    report = medoid("agreement", "--ratings", path, "--json").json
    text = medoid("agreement", "--ratings", path).out
    blocks = re.split(r"\n(?=\S+ against )", text)[1:]
    assert len(blocks) == len(report["pairs"])
    for block, pair in zip(blocks, report["pairs"], strict=True):
        kappa = pair["kappa"]
        assert block.startswith(f"{pair['raters'][0]} against {pair['raters'][1]}")
        assert figure(block, "κ") == f"{kappa['value']:.3f}"
        assert figure(block, "SE") == f"{kappa['se']:.3f}"
        assert figure(block, "interval") == f"{kappa['ci'][0]:.3f}"
        assert figure(block, "to") == f"{kappa['ci'][1]:.3f}"
        assert figure(block, "observed") == f"{kappa['observed']:.3f}"
        assert figure(block, "by chance") == f"{kappa['expected']:.3f}"
        assert figure(block, "n") == str(kappa["n"])
        assert figure(block, "dropped") == str(kappa["dropped"])
        assert figure(block, "AC1") == f"{pair['ac1']['value']:.3f}"
        assert figure(block, "PABAK") == f"{pair['summary']['pabak']:.3f}"
        for name, row in zip(
            pair["confusion"]["categories"], pair["confusion"]["table"], strict=True
        ):
            assert re.search(rf"^\s*{name}\s+" + r"\s+".join(map(str, row)) + "$", block, re.M)


@pytest.mark.parametrize(
    ("rows", "n"),
    [("1,good,good\n2,good,good\n", 2), ("1,good,\n2,,good\n", 0), ("", 0), ("1,,\n", 0)],
)
def test_an_undefined_kappa_says_why(tmp_path: Path, rows: str, n: int) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,ann,bob\n" + rows)
    ran = medoid("agreement", "--ratings", path, "--json")
    if ran.code == 2:  # a table without any rating may be refused outright
        assert n == 0
        assert "r.csv" in ran.err
        return
    (pair,) = ran.json["pairs"]
    assert pair["kappa"]["value"] is None
    assert pair["kappa"]["why_undefined"]
    assert pair["kappa"]["n"] == n
    text = medoid("agreement", "--ratings", path).out
    assert f"undefined: {pair['kappa']['why_undefined']}" in text
    assert "nan" not in text.lower()


cells = st.sampled_from(["a", "b", "c", "", "skip"])


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=15))
def test_any_table(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "r.csv"
    path.write_text("id,x,y\n" + "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(rows)))
    kept = [(a, b) for a, b in rows if {a, b} <= {"a", "b", "c"}]
    ran = medoid("agreement", "--ratings", path, "--json")
    if ran.code == 2:
        assert not any(x in "abc" for row in rows for x in row if x)
        return
    (pair,) = ran.json["pairs"]
    want = kappa_of(kept)
    assert pair["kappa"]["value"] == (None if want is None else pytest.approx(float(want)))
    assert (pair["kappa"]["n"], pair["kappa"]["dropped"]) == (len(kept), len(rows) - len(kept))


def test_weights(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,x,y\n1,low,low\n2,low,mid\n3,mid,high\n4,high,low\n5,high,high\n")
    args = ("agreement", "--ratings", path, "--json", "--weights", "linear")
    ran = medoid(*args, "--categories", "low, mid, high")
    (pair,) = ran.json["pairs"]
    # Rows low (2,·), columns low 2, mid 1, high 2: w 1, ½, 0.
    po = Fraction(1 * 2 + Fraction(1, 2) * 2, 5)
    rows, columns = [2, 1, 2], [2, 1, 2]
    w = [[1 - Fraction(abs(i - j), 2) for j in range(3)] for i in range(3)]
    pe = sum(w[i][j] * rows[i] * columns[j] for i in range(3) for j in range(3)) / Fraction(25)
    assert pair["kappa"]["value"] == pytest.approx(float((po - pe) / (1 - pe)))
    assert medoid(*args).code == 2  # an order of categories must be declared
    assert medoid("agreement", "--ratings", path, "--weights", "cubic").code == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"item,ann\n1,good\n",
        b"item,ann,bob\n1,good\n",
        b"item,ann,bob\n1,good,bad,bad\n",
        b"item,ann,ann\n1,good,bad\n",
        b"item,ann,bob\n1,g\xff,bad\n",
        b'item,ann,bob\n1,"good,bad\n',
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    ran = medoid("agreement", "--ratings", path)
    assert ran.code == 2
    assert ran.err.startswith("medoid: ")
    assert "r.csv" in ran.err
    assert ran.out == ""


def test_bad_usage(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RATINGS)
    assert medoid("agreement", "--ratings", tmp_path / "absent.csv").code == 2
    assert medoid("agreement", "--ratings", tmp_path).code == 2
    assert medoid("agreement", "ann", "bob", "--ratings", path).code == 2
    assert medoid("agreement", "--ratings", path, "--categories", "good,fair").code == 2
    assert medoid("agreement", "--weights", "linear").code == 2
    absent = medoid("agreement", "--db", tmp_path / "absent.db")
    assert absent.code == 2
    assert not (tmp_path / "absent.db").exists()


def test_windows_files_and_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"\xef\xbb\xbf" + RATINGS.replace("\n", "\r\n").encode())
    ran = medoid("agreement", "--ratings", path, "--json")
    assert ran.json["pairs"][0]["raters"] == ["ann", "bob"]
    assert ran.json["pairs"][0]["kappa"]["value"] == pytest.approx(0.5)


# --- a project ------------------------------------------------------------------------------------

ANN = ["faithful"] * 5 + ["spurious"] * 4 + ["unsure", None, "faithful"]
JUDGE = (
    ["faithful"] * 4 + ["spurious"] + ["spurious"] * 3 + ["faithful"] + ["faithful"] * 2 + [None]
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rows: list[Any] = [trace_row(question_id=f"q{i // 3}", sample=i % 3) for i in range(len(ANN))]
    for i, (a, j) in enumerate(zip(ANN, JUDGE, strict=True)):
        item = f"path:d/q{i // 3}/m/{i % 3}"
        if a is not None:
            rows.append(label_row(item=item, category=a, before_reveal=True))
        rows.append(label_row(item=item, rater="j", rater_kind="judge", category=j))
    # Made after the reveal: it must not count.
    rows.append(label_row(item="path:d/q3/m/1", category="spurious", before_reveal=False))
    assert medoid("import", write(tmp_path / "p.jsonl", *rows)).code == 0
    return tmp_path


def test_agreement_in_a_project(project: Path) -> None:
    kept = [
        (a, j)
        for a, j in zip(ANN, JUDGE, strict=True)
        if a in ("faithful", "spurious") and j is not None
    ]
    want = kappa_of(kept)
    assert want is not None
    for args in ((), ("ann", "j")):
        ran = medoid("agreement", *args, "--json")
        assert ran.code == 0
        (pair,) = ran.json["pairs"]
        assert pair["kappa"]["value"] == pytest.approx(float(want))
        assert (pair["kappa"]["n"], len(kept)) == (9, 9)
        assert pair["kappa"]["dropped"] == 3
        assert pair["confusion"]["table"] == [[4, 1], [1, 3]]
        assert pair["states"]["ann"]["unsure"] == 1
        assert pair["states"]["j"]["unparsed"] == 1
        assert pair["origins"]["ann"]["post_reveal"] == 1
    text = medoid("agreement").out
    assert figure(text, "κ") == f"{float(want):.3f}"
    assert "n 9" in text
    assert "dropped 3" in text
    turned = medoid("agreement", "j", "ann", "--json").json["pairs"][0]
    assert turned["kappa"]["value"] == pytest.approx(float(want))


def test_an_undefined_kappa_in_a_project_says_why(tmp_path: Path) -> None:
    rows: list[Any] = [trace_row(sample=i) for i in range(3)]
    for i in range(3):
        for rater in ("ann", "bob"):
            rows.append(label_row(item=f"path:d/q1/m/{i}", rater=rater))
    medoid("import", write(tmp_path / "p.jsonl", *rows))
    (pair,) = medoid("agreement", "--json").json["pairs"]
    assert pair["kappa"]["value"] is None
    assert pair["kappa"]["n"] == 3
    assert "undefined: " + pair["kappa"]["why_undefined"] in medoid("agreement").out


def test_bad_raters(project: Path) -> None:
    for args in (("ann",), ("ann", "nobody"), ("ann", "ann"), ("a", "b", "c")):
        ran = medoid("agreement", *args)
        assert ran.code == 2
        assert ran.err.startswith("medoid: ")
    with open_store("medoid.db") as store:
        assert {r.name for r in store.raters()} == {"ann", "j"}


def test_a_project_without_two_raters(tmp_path: Path) -> None:
    medoid("import", write(tmp_path / "p.jsonl", trace_row(), label_row()))
    ran = medoid("agreement")
    assert ran.code == 2
    assert "rater" in ran.err
