"""A judge's votes stay as they came; their majority is its label; all of it is sealed."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.exporting import label_lines
from pipeline.importing import import_files
from store import ConflictError, Store
from store.model_records import VoteRecord, VotesSettled
from store.records import LabelRecord
from store.repository.panels import panel_of
from tests.store.models_world import decomposed, keep
from tests.store.test_label_machine import ERRORS
from tests.store.world import item_ids, small_project

PROMPT = "path_judge-schema/1"
SECRET = "SECRETRATIONALE"


@pytest.fixture
def items(store: Store) -> list[int]:
    (case,) = small_project(store, 1)
    return item_ids(store, case, store.rater("ana").id)


@pytest.fixture
def judge(store: Store) -> int:
    return store.rater("qwen", "judge").id


def vote(item: int, repeat: int = 0, category: str | None = "faithful", **rest: Any) -> VoteRecord:
    fields: dict[str, Any] = {"outcome": "ok" if category else "invalid", **rest}
    return VoteRecord(item, repeat, category=category, **fields)


def votes_of(item: int, *categories: str | None) -> list[VoteRecord]:
    return [vote(item, n, c) for n, c in enumerate(categories)]


def standing(store: Store, judge: int, item: int, schema: str = "path") -> LabelRecord:
    label = store.label(judge, item, store.schema(schema))
    assert label is not None
    return label


def told(store: Store, rater: str = "qwen", **rest: Any) -> list[Any]:
    return [x.label for x in store.export_labels(rater=rater, **rest)]


# --- votes -----------------------------------------------------------------------------------


def test_votes_come_back_as_they_were_given(store: Store, judge: int, items: list[int]) -> None:
    given_votes = [
        vote(
            items[0],
            1,
            "spurious",
            first_wrong_step=7,
            rationale="a\x00b\ud800\x1b",
            flags=("step_out_of_range",),
            option_order=("spurious", "faithful"),
            reply_key=keep(store, "reply"),
            created_at="2026-01-31T14:02:31.000000+00:00",
        ),
        vote(items[0], 0, None, outcome="truncated", reason="cut\x00"),
        vote(items[2], 0, created_at="2026-01-31T14:02:32.000000+00:00"),
    ]
    assert store.save_votes(judge, PROMPT, given_votes) == 3
    found = store.votes(judge, PROMPT)
    assert list(found) == sorted({items[0], items[2]})
    cut, spurious = found[items[0]]
    assert spurious == given_votes[0]
    assert cut.created_at is not None
    assert replace(cut, created_at=None) == given_votes[1]
    assert found[items[2]] == (given_votes[2],)
    assert store.votes(judge, PROMPT, item_ids=[items[2], items[3]]) == {
        items[2]: (given_votes[2],)
    }
    assert store.voted(judge, PROMPT) == {
        (items[0], 0): None,
        (items[0], 1): given_votes[0].reply_key,
        (items[2], 0): None,
    }
    assert store.votes(judge, "other/1") == store.votes(store.rater("b", "judge").id, PROMPT) == {}


def test_votes_of_prompts_and_models_stand_beside_each_other(
    store: Store, judge: int, items: list[int]
) -> None:
    other = store.rater("llama", "judge").id
    assert store.save_votes(judge, PROMPT, [vote(items[0])]) == 1
    assert store.save_votes(judge, "path_judge-schema/2", [vote(items[0], 0, "spurious")]) == 1
    assert store.save_votes(other, PROMPT, [vote(items[0], 0, None)]) == 1
    assert store.prompt_versions(judge) == (PROMPT, "path_judge-schema/2")
    assert [v.category for v in store.votes(judge, PROMPT)[items[0]]] == ["faithful"]
    assert [v.category for v in store.votes(other, PROMPT)[items[0]]] == [None]


def test_a_vote_stays_and_another_reply_under_its_name_is_refused(
    store: Store, judge: int, items: list[int]
) -> None:
    one, two = keep(store, "one"), keep(store, "two")
    first = vote(items[0], 0, reply_key=one)
    assert store.save_votes(judge, PROMPT, [first]) == 1
    assert store.save_votes(judge, PROMPT, [first, vote(items[0], 1, reply_key=two)]) == 1
    before = store.votes(judge, PROMPT)
    with pytest.raises(ConflictError, match=r"judge 'qwen' has another reply as repeat 0 on item"):
        store.save_votes(
            judge, PROMPT, [vote(items[1], 0), vote(items[0], 0, "spurious", reply_key=two)]
        )
    assert store.votes(judge, PROMPT) == before


def test_the_database_itself_refuses_to_change_votes(
    store: Store, db: Path, judge: int, items: list[int]
) -> None:
    store.save_votes(judge, PROMPT, [vote(items[0])])
    with closing(sqlite3.connect(db)) as connection:
        for change in (
            "UPDATE judge_vote SET category = 'spurious'",
            "DELETE FROM judge_vote",
            "INSERT OR REPLACE INTO judge_vote SELECT * FROM judge_vote",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="judge_vote rows are append-only"):
                connection.execute(change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": "failed", "category": None}, "ended as 'failed', which is no reply"),
        ({"outcome": "refused"}, "ended as 'refused'; it goes without a category"),
        ({"category": "unsure"}, "'unsure' is not in schema path version 1"),
        ({"category": "valid"}, "'valid' is not in schema path version 1"),
        ({"repeat": -1}, "repeats are counted from 0"),
        ({"first_wrong_step": -1}, "first wrong step -1; a step number from 0, or None"),
        ({"first_wrong_step": 2**31}, "a step number from 0, or None"),
        ({"item_id": 999}, "item 999 is not in the database; schema path is for path items"),
    ],
)
def test_what_is_no_vote_is_refused(
    store: Store, judge: int, items: list[int], change: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        store.save_votes(judge, PROMPT, [vote(items[1]), replace(vote(items[0]), **change)])
    assert store.votes(judge, PROMPT) == {}


def test_only_judges_vote(store: Store, judge: int, items: list[int]) -> None:
    ana = store.rater("ana").id
    for call in (
        lambda: store.save_votes(ana, PROMPT, [vote(items[0])]),
        lambda: store.settle_votes(ana, PROMPT),
        lambda: store.settle_panel(ana, [(judge, "a"), (judge, "b")]),
    ):
        with pytest.raises(ValueError, match="rater 'ana' is a human, not a judge"):
            call()


# --- the majority ------------------------------------------------------------------------------


def test_the_majority_becomes_the_judges_label(store: Store, judge: int, items: list[int]) -> None:
    keys = [keep(store, f"r{n}", f"raw {n}") for n in range(3)]
    orders = [("faithful", "spurious"), ("spurious", "faithful"), ("faithful", "spurious")]
    said = [("spurious", 0, "first"), ("faithful", None, "second"), ("spurious", 0, "third")]
    store.save_votes(
        judge,
        PROMPT,
        [
            vote(
                items[0],
                n,
                category,
                first_wrong_step=step,
                rationale=why,
                reply_key=keys[n],
                option_order=orders[n],
            )
            for n, (category, step, why) in enumerate(said)
        ],
    )
    assert store.settle_votes(judge, PROMPT) == VotesSettled(1, 1, 0, 0, 0, 0)
    (label,) = told(store)
    assert (label.rater, label.rater_kind, label.state) == ("qwen", "judge", "labelled")
    assert (label.category, label.first_wrong_step) == ("spurious", 0)
    assert (label.rationale, label.raw, label.prompt_version) == ("first", "raw 0", PROMPT)
    assert label.extra == {
        "votes": {"faithful": 1, "spurious": 2},
        "n_votes": 3,
        "n_parsed": 3,
        "self_agreement": 2 / 3,
        "order": [list(o) for o in orders],
        "outcomes": {"ok": 3},
    }
    assert (label.before_reveal, label.seal) == (None, "open")


def test_settling_again_adds_nothing_and_more_repeats_supersede(
    store: Store, judge: int, items: list[int]
) -> None:
    store.save_votes(judge, PROMPT, [vote(items[0], 0), vote(items[1], 0, "spurious")])
    assert store.settle_votes(judge, PROMPT) == VotesSettled(2, 2, 0, 0, 0, 0)
    first = standing(store, judge, items[0])
    assert told(store)[0].extra["self_agreement"] is None  # one vote agrees with nothing
    assert store.settle_votes(judge, PROMPT) == VotesSettled(2, 0, 0, 2, 0, 0)
    store.save_votes(judge, PROMPT, [vote(items[0], 1, "spurious"), vote(items[0], 2, "spurious")])
    assert store.settle_votes(judge, PROMPT) == VotesSettled(2, 0, 1, 1, 0, 0)
    assert store.settle_votes(judge, PROMPT, item_ids=[items[0]]) == VotesSettled(1, 0, 0, 1, 0, 0)
    history = store.label_history(judge, items[0])
    assert [r.category for r in history] == ["faithful", "spurious"]
    assert history[0] == first
    assert standing(store, judge, items[0]).category == "spurious"
    assert [x.category for x in told(store, history=True)] == ["faithful", "spurious", "spurious"]


def test_the_prompt_that_was_settled_last_stands(
    store: Store, judge: int, items: list[int]
) -> None:
    store.save_votes(judge, "a/1", [vote(items[0])])
    store.save_votes(judge, "a/2", [vote(items[0], 0, "spurious")])
    seen = []
    for prompt in ("a/1", "a/2", "a/1", "a/1"):
        store.settle_votes(judge, prompt)
        seen.append((standing(store, judge, items[0]).category, told(store)[-1].prompt_version))
    assert seen == [("faithful", "a/1"), ("spurious", "a/2")] + [("faithful", "a/1")] * 2
    assert len(store.label_history(judge, items[0])) == 3


def test_an_unreadable_reply_is_a_state_and_a_tie_is_unsure(
    store: Store, judge: int, items: list[int]
) -> None:
    store.save_votes(
        judge,
        PROMPT,
        [
            *votes_of(items[0], None, None),
            *votes_of(items[1], "faithful", "spurious", None),
            *votes_of(items[2], None, "faithful"),
        ],
    )
    assert store.settle_votes(judge, PROMPT) == VotesSettled(3, 3, 0, 0, 1, 1)
    labels = {x.item: x for x in told(store)}
    by_item = [labels[standing(store, judge, i).item] for i in items[:3]]
    assert [(x.state, x.category) for x in by_item] == [
        ("unparsed", None),
        ("unsure", None),
        ("labelled", "faithful"),
    ]
    assert [x.extra.get("tied") for x in by_item] == [None, True, None]
    assert [x.extra["self_agreement"] for x in by_item] == [None, 0.5, None]
    assert by_item[1].rationale is None  # a tie has no side to speak for it
    summary = store.judge_summary("qwen")
    assert (summary.n, summary.unparsed, summary.tied) == (3, 1, 1)
    assert dict(summary.counts) == {"faithful": 1}
    pairs = store.label_pairs("path", "qwen", "nobody")
    assert Counter((p.a, p.a_state) for p in pairs) == {
        (None, "unparsed"): 1,
        (None, "unsure"): 1,
        ("faithful", "labelled"): 1,
    }


def test_a_judge_against_itself_is_flagged_not_mended(
    store: Store, judge: int, items: list[int]
) -> None:
    store.save_votes(
        judge,
        PROMPT,
        [
            vote(items[0], 0, "faithful", first_wrong_step=1),
            vote(items[1], 0, "spurious"),
            vote(items[2], 0, "spurious", first_wrong_step=9),
        ],
    )
    store.settle_votes(judge, PROMPT)
    summary = store.judge_summary("qwen")
    assert dict(summary.self_contradictions) == {
        "faithful_with_wrong_step": 1,
        "spurious_without_step": 1,
    }
    assert summary.step_out_of_range == 1
    assert standing(store, judge, items[0]).first_wrong_step == 1


def test_votes_of_several_categories_are_compared_as_sets(
    store: Store, judge: int, items: list[int]
) -> None:
    store.add_schema(ERRORS)
    store.save_votes(
        judge, PROMPT, votes_of(items[0], "logic+sum", "sum+logic", "sum"), schema="errors"
    )
    assert store.settle_votes(judge, PROMPT, schema="errors").n_added == 1
    label = standing(store, judge, items[0], "errors")
    assert label.categories == ("sum", "logic")
    assert store.label(judge, items[0], store.schema()) is None


def test_criteria_of_a_decomposition_are_judged_too(
    store: Store, judge: int, items: list[int]
) -> None:
    made = decomposed(store)
    trace = store.pool_traces(store.pools()[0].id)[0].id
    refs = store.criterion_items(made, trace)
    with pytest.raises(ValueError, match=r"is path; schema decomposition is for criterion items"):
        store.save_votes(judge, "c/1", [vote(items[0], 0, "yes")], schema="decomposition")
    store.save_votes(
        judge, "c/1", [vote(r.item_id, 0, "yes") for r in refs], schema="decomposition"
    )
    assert store.settle_votes(judge, "c/1", schema="decomposition").n_added == 3
    ana = store.rater("ana").id
    assert [c.label for c in store.decomposition_view(made, trace, ana).criteria] == [None] * 3


def test_many_items_are_settled_in_parts(store: Store, judge: int) -> None:
    small_project(store, 60)
    ids = list(store.queued_items().values())
    assert len(ids) == 240
    store.save_votes(judge, PROMPT, [vote(i) for i in ids])
    assert store.settle_votes(judge, PROMPT) == VotesSettled(240, 240, 0, 0, 0, 0)
    assert store.settle_votes(judge, PROMPT) == VotesSettled(240, 0, 0, 240, 0, 0)


# --- several judges ----------------------------------------------------------------------------


def test_a_panel_counts_every_judge_once(store: Store, items: list[int]) -> None:
    panel, *judges = (store.rater(n, "judge").id for n in ("panel", "a", "b", "c"))
    a, b, c = judges
    store.save_votes(a, "p/1", votes_of(items[0], *["spurious"] * 5))  # asked five times
    store.save_votes(b, "p/1", votes_of(items[0], "faithful"))
    store.save_votes(c, "p/2", votes_of(items[0], "faithful"))
    store.save_votes(a, "p/1", votes_of(items[1], "faithful", "spurious"))  # tied with itself
    store.save_votes(b, "p/1", votes_of(items[1], "spurious"))
    store.save_votes(a, "p/1", votes_of(items[2], "faithful"))
    store.save_votes(b, "p/1", votes_of(items[2], "spurious"))
    store.save_votes(a, "p/1", votes_of(items[3], "faithful", "spurious"))
    store.save_votes(b, "p/1", votes_of(items[3], None))
    voters = [(a, "p/1"), (b, "p/1"), (c, "p/2")]
    assert store.settle_panel(panel, voters) == VotesSettled(4, 4, 0, 0, 2, 0)
    assert store.settle_panel(panel, voters).n_known == 4
    said = [standing(store, panel, i) for i in items]
    assert [(x.state, x.category) for x in said] == [
        ("labelled", "faithful"),
        ("labelled", "spurious"),
        ("unsure", None),
        ("unsure", None),
    ]
    first = next(x for x in told(store, "panel") if x.item == said[0].item)
    assert first.prompt_version == "p/1 + p/2"
    assert first.extra == {
        "votes": {"faithful": 2, "spurious": 1},
        "n_votes": 3,
        "n_parsed": 3,
        "panel_agreement": 2 / 3,
        "voters": {"a p/1": "spurious", "b p/1": "faithful", "c p/2": "faithful"},
    }
    for wrong in ([(a, "p/1")], [(a, "p/1"), (a, "p/1")], [(a, "p/1"), (panel, "p/1")]):
        with pytest.raises(ValueError, match="over at least two others"):
            store.settle_panel(panel, wrong)


# --- the rule ----------------------------------------------------------------------------------


def test_the_step_is_that_of_most_of_the_majority() -> None:
    def step(*votes: tuple[str, int | None]) -> tuple[int | None, int]:
        rows = [vote(1, n, c, first_wrong_step=s) for n, (c, s) in enumerate(votes)]
        panel = panel_of(rows[::-1])
        return panel.first_wrong_step, panel.chosen.repeat

    assert step(("spurious", 2)) == (2, 0)
    assert step(("spurious", 2), ("spurious", 3), ("spurious", 3)) == (3, 1)
    assert step(("spurious", 2), ("spurious", 3)) == (None, 0)  # a tie on the step
    assert step(("spurious", None), ("spurious", None), ("spurious", 1)) == (None, 0)
    assert step(("faithful", 5), ("faithful", 5), ("spurious", 1)) == (5, 0)
    assert step(("faithful", None), ("spurious", 4), ("spurious", 4)) == (4, 1)


@given(st.lists(st.sampled_from(["faithful", "spurious", None]), min_size=1, max_size=9))
def test_a_panel_follows_the_counts(said: list[str | None]) -> None:
    panel = panel_of(votes_of(1, *said))
    f, s = said.count("faithful"), said.count("spurious")
    assert (panel.n, panel.n_parsed) == (len(said), f + s)
    assert panel.category == ("faithful" if f > s else "spurious" if s > f else None)
    assert panel.tied == (f == s > 0)
    assert panel.agreement == (max(f, s) / (f + s) if f + s > 1 else None)
    assert panel.state == ("unparsed" if f + s == 0 else "unsure" if f == s else "labelled")
    assert panel.chosen.category == panel.category or panel.category is None


# --- sealed ------------------------------------------------------------------------------------


def test_nothing_of_a_vote_reaches_a_sealed_rater(
    store: Store, judge: int, items: list[int]
) -> None:
    ana, path = store.rater("ana").id, store.schema()
    (case,) = (r.case_id for r in store.cases(ana).rows)

    def everything() -> str:
        return repr(
            (
                store.case(case, ana, path),
                store.cases(ana),
                store.cases(ana, sort="question"),
                [store.cases(ana, show=f) for f in ("unlabelled", "done", "flagged")],
                store.progress(ana),
                store.overview(ana),
                store.runs(),
            )
        )

    before = everything()
    key = keep(store, "r", SECRET, role="path_judge")
    store.save_votes(judge, PROMPT, [vote(i, 0, rationale=SECRET, reply_key=key) for i in items])
    store.settle_votes(judge, PROMPT)
    assert everything() == before
    assert SECRET not in "".join(label_lines(store, rater="ana", history=True))


def test_a_judges_labels_come_back_from_files(
    store: Store, judge: int, items: list[int], tmp_path: Path
) -> None:
    store.save_votes(
        judge,
        PROMPT,
        [*votes_of(items[0], "faithful", "spurious"), *votes_of(items[1], "spurious")],
    )
    store.settle_votes(judge, PROMPT)
    text = "".join(label_lines(store))
    assert [json.loads(x).get("tied") for x in text.splitlines()] == [True, None]
    file = tmp_path / "labels.jsonl"
    file.write_text(text, encoding="utf-8")
    assert import_files(store, [file]).labels == {"known": 2}
    file.write_text(text.replace('"qwen"', '"copy"'), encoding="utf-8")
    assert import_files(store, [file]).labels == {"added": 2}
    assert store.judge_summary("copy") == replace(store.judge_summary("qwen"), rater="copy")
    assert store.judge_summary("copy").tied == 1
