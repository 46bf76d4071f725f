"""Before the reveal nothing sealed can be told from what the store returns."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from store import SealedError, Store, open_store
from store.records import CaseView, SchemaRecord
from tests.store.world import (
    Sealed,
    add_labels,
    add_traces,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    score_and_make_cases,
    small_project,
)

N = 6
ANSWERS = (1, 1, 2, 2)


@dataclass(frozen=True)
class Secrets:
    """Everything the seal hides, for all questions of a project."""

    gold: int | None
    category: str
    step: int | None
    rationale: str
    sealed: dict[str, Sealed]


ONE = Secrets(1, "faithful", None, "all fine", {})
OTHER = Secrets(
    2,
    "spurious",
    1,
    "the second step is wrong",
    {
        f"q{i}": Sealed(
            str(3 - i % 3), (0.5, 0.4, 0.3, 0.2), 0.1 * i, f"stratum {i % 2}", 1 / (i + 1)
        )
        for i in range(N)
    },
)


def plant(db: Path, secrets: Secrets) -> Store:
    """Make the same questions, traces, cases and paths with these secrets behind the seal."""
    store = open_store(db)
    questions = [new_question(f"q{i}", gold=secrets.gold) for i in range(N)]
    add_traces(
        store,
        (
            new_trace(q, str(k), answer=a, steps=(f"{q.external_id} step {k}", "so"))
            for q in questions
            for k, a in enumerate(ANSWERS)
        ),
    )
    score_and_make_cases(store, secrets.sealed)
    for rater, kind in (("judge", "judge"), ("authors", "reference"), ("bob", "human")):
        add_labels(
            store,
            (
                new_label(
                    key_of(q.external_id, str(k)),
                    rater,
                    secrets.category,
                    rater_kind=kind,
                    first_wrong_step=secrets.step,
                    rationale=secrets.rationale,
                )
                for q in questions
                for k in range(len(ANSWERS))
            ),
        )
    return store


@pytest.fixture
def planted(blank: Path, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    stores = [
        plant(Path(shutil.copy(blank, tmp_path / f"{i}.db")), secrets)
        for i, secrets in enumerate((ONE, OTHER))
    ]
    yield stores[0], stores[1]
    for store in stores:
        store.close()


def without_time(value: Any) -> Any:
    """Return a record as plain values, without the moment at which labels were made."""
    if isinstance(value, dict):
        return {k: without_time(v) for k, v in value.items() if k != "created_at"}
    if isinstance(value, list | tuple):
        return [without_time(v) for v in value]
    return value


def seen(store: Store, name: str) -> dict[str, Any]:
    """Everything a sealed rater can get at."""
    rater, path = store.rater(name).id, store.schema()
    out: dict[str, Any] = {}
    for show in ("all", "unlabelled", "done", "flagged"):
        for sort in ("random", "question"):
            for search in ("", "q3"):
                page = store.cases(rater, show=show, sort=sort, search=search)
                out[f"cases {show} {sort} {search}"] = asdict(page)
        for case in (None, *case_ids(store, rater)):
            out[f"next {show} {case}"] = [
                store.neighbour_case(rater, case, direction=d, show=show)
                for d in ("next", "previous")
            ]
    for case in case_ids(store, rater):
        out[f"case {case}"] = asdict(store.case(case, rater, path))
        out[f"position {case}"] = store.case_position(case)
        out[f"check {case}"] = asdict(store.reveal_check(case, rater, path))
    plain = without_time(out)
    assert isinstance(plain, dict)
    return plain


def behind_the_seal(store: Store) -> list[tuple[Any, ...]]:
    rater, path = store.rater("ana").id, store.schema()
    columns = []
    for case in case_ids(store, rater):
        decide(store, case, rater)
        store.reveal(case, rater, path)
        found = store.revealed_case(case, rater, path)
        verdict = found.verdicts[0]
        columns.append(
            (
                found.gold,
                found.stratum,
                found.inclusion_probability,
                found.score.gsc_answer,
                [r.score for r in found.ranking],
                (verdict.category, verdict.first_wrong_step, verdict.rationale),
            )
        )
    return list(zip(*columns, strict=True))


def test_the_planted_secrets_do_differ(planted: tuple[Store, Store]) -> None:
    one, other = (behind_the_seal(store) for store in planted)
    assert [a == b for a, b in zip(one, other, strict=True)] == [False] * 6


def test_nothing_sealed_can_be_told_before_the_first_label(planted: tuple[Store, Store]) -> None:
    one, other = planted
    assert seen(one, "ana") == seen(other, "ana")


def test_nothing_sealed_can_be_told_while_labelling(planted: tuple[Store, Store]) -> None:
    for store in planted:
        rater, path = store.rater("ana").id, store.schema()
        first, second, third = case_ids(store, rater)[:3]
        decide(store, first, rater)
        store.commit_label(rater, item_ids(store, second, rater)[0], path, state="skipped")
        store.annotate(rater, item_ids(store, third, rater)[1], path, flagged=True)
        store.undo(rater)
    one, other = planted
    assert seen(one, "ana") == seen(other, "ana")


def test_the_overview_shows_a_rater_their_own_progress_and_aggregates_only(
    planted: tuple[Store, Store],
) -> None:
    aggregates = {"n_gold", "sc_correct", "gsc_correct", "n_disagree"}
    rows = []
    for store in planted:
        rater = store.rater("ana").id
        decide(store, case_ids(store, rater)[0], rater)
        (mine,) = store.overview(rater)
        (all_,) = store.overview(None)
        assert (mine.n_cases_done, mine.n_items_done) == (1, 4)
        assert replace(mine, n_cases_done=0, n_items_done=0) == all_
        rows.append({k: v for k, v in asdict(mine).items() if k not in aggregates})
    assert rows[0] == rows[1]


# --- the door behind the seal --------------------------------------------------------------


@pytest.fixture
def ana(store: Store) -> int:
    return store.rater("ana").id


@pytest.fixture
def path(store: Store) -> SchemaRecord:
    return store.schema()


@pytest.mark.parametrize("level", ["judge", "full"])
def test_a_sealed_case_is_not_revealed(
    level: Any, store: Store, ana: int, path: SchemaRecord
) -> None:
    (case,) = small_project(store, 1)
    schema = replace(path, seal=level)
    with pytest.raises(SealedError, match="sealed"):
        store.revealed_case(case, ana, schema)
    decide(store, case, ana)
    with pytest.raises(SealedError, match="sealed"):
        store.revealed_case(case, ana, schema)
    store.reveal(case, ana, schema)
    assert store.revealed_case(case, ana, schema).gold_text == "1"


def test_the_reveal_waits_for_the_last_path(store: Store, ana: int, path: SchemaRecord) -> None:
    (case,) = small_project(store, 1)
    items = item_ids(store, case, ana)
    for n, item in enumerate(items):
        check = store.reveal_check(case, ana, path)
        assert (check.ok, check.n_left) == (False, 4 - n)
        with pytest.raises(SealedError, match=f"{4 - n} paths"):
            store.reveal(case, ana, path)
        store.annotate(ana, item, path, note="seen")  # a note is no decision
        assert store.reveal_check(case, ana, path).n_left == 4 - n
        state: Any = ("labelled", "unsure", "skipped", "labelled")[n]
        category = "faithful" if state == "labelled" else None
        store.commit_label(ana, item, path, state=state, category=category)
    store.reveal(case, ana, path)
    store.reveal(case, ana, path)
    assert store.case(case, ana, path).revealed


def test_a_reveal_is_for_one_rater_and_one_question(
    store: Store, ana: int, path: SchemaRecord
) -> None:
    first, second = small_project(store, 2)
    bob = store.rater("bob").id
    decide(store, first, ana)
    store.reveal(first, ana, path)
    assert [r.revealed for r in store.cases(ana).rows] == [True, False]
    assert [r.revealed for r in store.cases(bob).rows] == [False, False]
    for case, rater in ((second, ana), (first, bob)):
        assert not store.case(case, rater, path).revealed
        with pytest.raises(SealedError):
            store.revealed_case(case, rater, path)


def two_pools(store: Store) -> tuple[int, int]:
    question = new_question("q1")
    add_traces(
        store,
        (
            new_trace(question, str(k), answer=a, pool=pool, steps=(f"{pool} {k}", "so"))
            for pool in ("m@zero", "m@one")
            for k, a in enumerate(ANSWERS)
        ),
    )
    score_and_make_cases(store)
    first, second = case_ids(store, 0)
    return first, second


def test_a_question_revealed_in_one_pool_is_revealed_in_the_other(
    store: Store, ana: int, path: SchemaRecord
) -> None:
    here, there = two_pools(store)
    decide(store, here, ana)
    check = store.reveal_check(here, ana, path)
    assert (check.ok, check.n_left, check.n_left_elsewhere) == (True, 0, 4)
    store.reveal(here, ana, path)
    views = [store.case(c, ana, path) for c in (here, there)]
    assert [(v.revealed, v.revealed_elsewhere) for v in views] == [(True, False), (True, True)]
    item = item_ids(store, there, ana)[0]
    assert store.commit_label(ana, item, path, category="faithful").before_reveal is False


def test_where_a_question_was_revealed_does_not_change_with_later_labels(
    store: Store, ana: int, path: SchemaRecord
) -> None:
    here, there = two_pools(store)
    decide(store, here, ana)
    store.reveal(here, ana, path)
    store.undo(ana)
    assert store.case(here, ana, path).n_left == 1
    assert not store.case(here, ana, path).revealed_elsewhere
    decide(store, there, ana)
    assert store.case(there, ana, path).n_left == 0
    assert store.case(there, ana, path).revealed_elsewhere


def test_the_revealed_case_shows_what_others_said_as_it_stands(
    store: Store, ana: int, path: SchemaRecord
) -> None:
    (case,) = small_project(store, 1)
    key = key_of("q0", "2")
    add_labels(
        store,
        [
            new_label(key, "judge", "faithful", rationale="looks right"),
            new_label(key, "judge", "spurious", first_wrong_step=7, note="step 7", rationale=None),
            new_label(key_of("q0", "0"), "judge", None, raw="???"),
        ],
    )
    decide(store, case, ana)
    store.reveal(case, ana, path)
    found = store.revealed_case(case, ana, path)
    said = {v.item_id: v for v in found.verdicts}
    ids = {p.item: p.item_id for p in found.case.paths}
    wrong = said[ids[key]]
    assert len(found.verdicts) == 2
    assert (wrong.category, wrong.first_wrong_step, wrong.rationale, wrong.flags) == (
        "spurious",
        7,
        "step 7",
        ("step_out_of_range",),
    )
    assert said[ids[key_of("q0", "0")]].state == "unparsed"
    assert [(r.rank, r.sample, r.is_medoid) for r in found.ranking] == [
        (1, "2", True),
        (2, "0", False),
        (3, "1", False),
        (4, "3", False),
    ]


# --- sides ---------------------------------------------------------------------------------


def first_answer(view: CaseView) -> Any:
    return view.sides[0][0].answer


def test_which_answer_is_a_is_random_over_raters_and_stays(
    store: Store, db: Path, path: SchemaRecord
) -> None:
    cases = small_project(store, 2, answers=ANSWERS)
    raters = [store.rater(f"rater {i}").id for i in range(100)]
    views = {(c, r): store.case(c, r, path) for c in cases for r in raters}
    for view in views.values():
        a, b = view.sides
        assert [len(a), len(b)] == [2, 2]
        assert len({p.answer for p in a} | {p.answer for p in b}) == 2
        assert len({p.answer for p in a}) == len({p.answer for p in b}) == 1
    swapped = [sum(first_answer(views[c, r]) == ("number", 1) for r in raters) for c in cases]
    # 100 fair coins fall outside 30..70 with probability 3e-5; the names fix them for ever.
    assert all(30 <= n <= 70 for n in swapped)
    both = sum(first_answer(views[cases[0], r]) == first_answer(views[cases[1], r]) for r in raters)
    assert 30 <= both <= 70
    orders = {tuple(p.item for p in views[cases[0], r].paths) for r in raters}
    assert len(orders) == 8
    store.close()
    with open_store(db) as again:
        assert {(c, r): again.case(c, r, path) for c in cases for r in raters} == views


def test_paths_of_one_answer_are_split_over_both_sides(store: Store, path: SchemaRecord) -> None:
    (case,) = small_project(store, 1, answers=(1, 1, 1, 1))
    medoid_first = 0
    for i in range(60):
        view = store.case(case, store.rater(f"rater {i}").id, path)
        assert [len(side) for side in view.sides] == [2, 2]
        medoid_first += view.paths[0].item == key_of("q0", "2")
    # One in four; 60 draws give 4..28 with probability above .9999.
    assert 4 <= medoid_first <= 28


def twins(store: Store, *, options: tuple[Any, Any] = (None, None), text: str = "") -> list[int]:
    """Make one question under two datasets; return their case ids, that of `own` first."""
    mine = new_question("q1", text="How many cups a day?", options=options[0])
    theirs = new_question(
        "t-9", dataset="other", text=text or "How many CUPS a day?", options=options[1]
    )
    add_traces(
        store,
        (
            new_trace(question, str(k), answer=a, steps=(f"{question.dataset} {k}", "so"))
            for question in (mine, theirs)
            for k, a in enumerate(ANSWERS)
        ),
    )
    score_and_make_cases(store)
    rater = store.rater("somebody").id
    path = store.schema()
    ids = case_ids(store, rater)
    return sorted(ids, key=lambda c: store.case(c, rater, path).dataset == "other")


def test_the_same_question_under_another_dataset_is_the_same_question(
    store: Store, ana: int, path: SchemaRecord
) -> None:
    here, there = twins(store)
    decide(store, here, ana)
    check = store.reveal_check(here, ana, path)
    assert (check.ok, check.n_left, check.n_left_elsewhere) == (True, 0, 4)
    store.reveal(here, ana, path)
    view = store.case(there, ana, path)
    assert (view.dataset, view.revealed, view.revealed_elsewhere) == ("other", True, True)
    item = item_ids(store, there, ana)[0]
    assert store.commit_label(ana, item, path, category="faithful").before_reveal is False


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (({"A": "1", "B": "2"}, {"A": "3", "B": "4"}), ""),
        ((None, None), "So: How many cups a day?"),
        ((None, None), "many cups a day?"),
    ],
)
def test_other_options_or_a_part_of_the_text_make_another_question(
    store: Store, ana: int, path: SchemaRecord, options: tuple[Any, Any], text: str
) -> None:
    here, there = twins(store, options=options, text=text)
    decide(store, here, ana)
    decide_none = store.reveal_check(here, ana, path)
    assert (decide_none.ok, decide_none.n_left_elsewhere) == (True, 0)
    store.reveal(here, ana, path)
    assert not store.case(there, ana, path).revealed


def test_what_was_shown_without_a_seal_stays_seen_when_the_seal_is_back(
    store: Store, ana: int, path: SchemaRecord
) -> None:
    shown, other = small_project(store, 2)
    unsealed = replace(path, seal="open")
    assert store.case_context(shown, ana, unsealed).gold_text == "1"
    assert store.case_context(shown, ana, unsealed).case.revealed
    first, second = (item_ids(store, c, ana)[0] for c in (shown, other))
    label = store.commit_label(ana, first, path, category="faithful")
    assert (label.seal, label.before_reveal) == ("full", False)
    unseen = store.commit_label(ana, second, path, category="faithful")
    assert (unseen.seal, unseen.before_reveal) == ("full", True)
    bob = store.rater("bob").id
    assert store.commit_label(bob, first, path, category="faithful").before_reveal is True
    assert [r.revealed for r in store.cases(ana).rows] == [True, False]
