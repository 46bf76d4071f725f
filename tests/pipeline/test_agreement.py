from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.agreement import default_pairs, pair_report, read_ratings
from pipeline.importing import import_files
from pipeline.laying import Readings
from scoring.agreement import pairwise_agreement
from store import Store
from store.compare_records import StandingLabel
from tests.pipeline.conftest import line, write_lines


def labels(rater: str, kind: str, categories: str) -> list[dict[str, object]]:
    """Return one label per letter: f, s, u (unsure) or a dot for none."""
    names = {"f": "faithful", "s": "spurious", "u": "unsure"}
    return [
        {
            "item": f"path:toy/q{i // 2}/m@1/{i % 2}",
            "schema": "path",
            "rater": rater,
            "rater_kind": kind,
            "category": names[c],
        }
        for i, c in enumerate(categories)
        if c != "."
    ]


@pytest.fixture
def labelled(store: Store, tmp_path: Path) -> Store:
    rows = [line(f"q{i // 2}", i % 2, "yes", "A.") for i in range(10)]
    rows += labels("ana", "human", "ffffsssfu.")
    rows += labels("bob", "human", "fffs......")
    rows += labels("gemma", "judge", "fffsssffff")
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    return store


def test_pair_report_by_hand(labelled: Store) -> None:
    report = pair_report(labelled, "ana", "gemma")
    assert report.table.table.tolist() == [[4, 1], [1, 2]]
    # po = 6/8, pe = (5·5 + 3·3)/64
    assert report.kappa.value == pytest.approx((6 / 8 - 34 / 64) / (1 - 34 / 64))
    assert (report.kappa.n, report.kappa.dropped, report.n_questions) == (8, 2, 4)
    assert report.states == {"ana": {"unsure": 1, "not labelled": 1}, "gemma": {}}
    assert report.origins["ana"] == {"pre_reveal": 0, "unknown": 8, "post_reveal": 0}


def test_every_coefficient_is_over_the_schemas_categories(store: Store, tmp_path: Path) -> None:
    rows = [line(f"q{i // 2}", i % 2, "yes", "A.") for i in range(4)]
    steps = ["valid", "valid", "unsupported", "arithmetic"], ["valid", "valid", "valid", "valid"]
    rows += [
        {"item": f"step:toy/q{i // 2}/m@1/{i % 2}/0", "schema": "step", "rater": rater}
        | {"rater_kind": kind, "category": category}
        for (rater, kind), said in zip((("ana", "human"), ("gem", "judge")), steps, strict=True)
        for i, category in enumerate(said)
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    report = pair_report(store, "ana", "gem", "step")
    # Five categories: po = 1/2; shares 6/8, 1/8, 1/8, 0, 0, so pe = (12 + 7 + 7)/64/4.
    expected = 26 / 256
    assert report.ac1.value == pytest.approx((1 / 2 - expected) / (1 - expected))
    assert report.summary.pabak == pytest.approx((5 * 0.5 - 1) / 4)


def test_default_pairs_are_people_against_judges_then_people(labelled: Store) -> None:
    assert default_pairs(labelled) == (("ana", "gemma"), ("bob", "gemma"), ("ana", "bob"))


def test_unknown_and_equal_raters_are_refused(labelled: Store) -> None:
    with pytest.raises(ValueError, match="no rater 'eve' in the database; there are: ana"):
        pair_report(labelled, "ana", "eve")
    with pytest.raises(ValueError, match="two raters"):
        pair_report(labelled, "ana", "ana")


def test_labels_after_the_reveal_do_not_count(labelled: Store) -> None:
    schema = labelled.schema()
    rater = labelled.rater("ana")
    pool = next(p for p in labelled.pools() if p.question_id == "q0")
    from store import NewCase

    scoring = labelled.scoring(labelled.embedder("e", "1", 2), {}, "0")
    case = NewCase(pool.id, "agreement", 1.0, (("path:toy/q0/m@1/0", 1.0),))
    labelled.make_cases(scoring.id, {"seed": 0}, [case])
    row = labelled.cases(rater.id).rows[0]
    view = labelled.case(row.case_id, rater.id, schema)
    labelled.commit_label(rater.id, view.paths[0].item_id, schema, category="faithful")
    labelled.reveal(row.case_id, rater.id, schema)
    labelled.commit_label(rater.id, view.paths[0].item_id, schema, category="spurious")
    report = pair_report(labelled, "ana", "gemma")
    assert report.table.table.tolist() == [[4, 1], [1, 2]]
    assert report.origins["ana"]["post_reveal"] == 1


def test_ratings_file(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("\ufeffitem,ana,bob\nq1,yes,yes\n\nq2,no,yes\nq3,no,no\nq4,,no\n", "utf-8")
    table = read_ratings(path)
    (pair,) = pairwise_agreement(table)
    assert pair.raters == ("ana", "bob")
    assert pair.table.table.tolist() == [[1, 1], [0, 1]]
    # po = 2/3, pe = (2·1 + 1·2)/9
    assert pair.kappa.value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert (pair.kappa.n, pair.kappa.dropped) == (3, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"a,b\n1\n", r"r.csv:2: 1 cells; the header has 2 columns"),
        (b"a\n1\n", "at least two"),
        (b"a,b\n", "no rows"),
        (b"a,a\n1,1\n", "twice"),
        (b'a,b\n"1,2\n', "not CSV"),
        (b"a,b\n\xff,1\n", "not UTF-8"),
    ],
)
def test_bad_ratings_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_ratings(path)
    assert str(path) in str(error.value)


def test_a_report_of_pairs_reads_no_rater_twice(
    labelled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    real = labelled.standing

    def standing(schema: str, rater: str) -> tuple[StandingLabel, ...]:
        asked.append((schema, rater))
        return real(schema, rater)

    monkeypatch.setattr(labelled, "standing", standing)
    readings = Readings(labelled)
    pairs = [pair_report(labelled, a, b, readings=readings) for a, b in default_pairs(labelled)]
    assert sorted(asked) == [("path", "ana"), ("path", "bob"), ("path", "gemma")]
    assert [p.kappa.n for p in pairs] == [8, 4, 4]
