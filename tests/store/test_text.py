"""Texts come back to the last code unit; keys come apart as they were put together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scoring.types import NormalForm, ParseIssue, Step, Trace
from store import ConflictError, Store, open_store
from store.codec import answer_key, decode_answer, encode_answer
from store.keys import decode_part, encode_part, is_name, path_key, split_path_key
from tests.store.world import (
    add_labels,
    add_traces,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    score_and_make_cases,
)

HARD = {
    "lone high surrogate": "a\ud83cb",
    "lone low surrogate": "\udf4e",
    "reversed surrogates": "\udf4e\ud83c",
    "nul": "before\x00after",
    "escape": "\x1b[31mred\x1b[0m \x9b",
    "rtl": "\u202eabc\u202c \u05e9\u05dc\u05d5\u05dd",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🍎",
    "combining": "e\u0301 is not \u00e9",
    "json": '{"a": "\\u0041 \\n \\" \\\\"}',
    "markup": "[/x] [CLAIM] [$accent] [",
    "newlines": "\r\n\u2028\u2029\x85",
    "noncharacters": "\ufffe\uffff\U0010ffff\ufeff",
    "sql": "'; DROP TABLE label; --",
    "blank": " \t ",
    "empty": "",
}


def all_texts(store: Store, text: str) -> dict[str, Any]:
    """Put a text into every column that holds one, and read it back through the store."""
    question = new_question("q1", text=text, options=[text], extra={text: [text]})
    question = replace(question, gold_text=text)
    parsed = Trace(
        (Step(0, text, (), True, text), Step(1, text, (0,), False)),
        text,
        ("text", text),
        (ParseIssue("code", text, 1),),
    )
    add_traces(
        store,
        [new_trace(question, str(k), source={"t": text}, trace=parsed) for k in range(2)],
    )
    score_and_make_cases(store, paths=("0", "1"))
    (case,) = [r.case_id for r in store.cases(0).rows]
    ana, path = store.rater("ana").id, store.schema()
    add_labels(
        store,
        [
            new_label(key_of("q1", "0"), "judge", rationale=text, raw=text, extra={"x": text}),
            new_label(key_of("q1", "1"), "bob", rater_kind="human", note=text),
        ],
    )
    decide(store, case, ana)
    noted = store.annotate(ana, item_ids(store, case, ana)[0], path, note=text)
    store.reveal(case, ana, path)
    found = store.revealed_case(case, ana, path)
    said = {v.rater: v.rationale for v in found.verdicts}
    view = found.case.paths[0]
    (pool,) = store.pools()
    return {
        "question": (found.case.question, pool.question),
        "gold": (found.gold_text, found.case.options),
        "steps": view.steps,
        "answer": (view.answer_text, view.answer, pool.gold),
        "issues": view.issues,
        "source": view.source,
        "record": store.pool_traces(pool.id)[0].trace,
        "votes": found.score.sc_answer,
        "said": (said["judge"], said["bob"]),
        "note": noted.note,
    }


def expected_texts(text: str) -> dict[str, Any]:
    steps = (Step(0, text, (), True, text), Step(1, text, (0,), False))
    issues = (ParseIssue("code", text, 1),)
    answer: NormalForm = ("text", text)
    return {
        "question": (text, text),
        "gold": (text, [text]),
        "steps": steps,
        "answer": (text, answer, ("number", Fraction(1))),
        "issues": issues,
        "source": {"t": text},
        "record": Trace(steps, text, answer, issues),
        "votes": answer,
        "said": (text or None, text),
        "note": text or None,
    }


@pytest.mark.parametrize("name", HARD)
def test_a_hard_text_comes_back_from_every_column(name: str, store: Store) -> None:
    assert all_texts(store, HARD[name]) == expected_texts(HARD[name])


def test_a_megabyte_comes_back_from_every_column(store: Store) -> None:
    text = ("0123456789abcde\n" * 65_536) + "\ud800"
    assert len(text) > 2**20
    assert all_texts(store, text) == expected_texts(text)


any_text = st.text(st.characters(exclude_categories=()), max_size=40)


@given(texts=st.lists(any_text, min_size=5, max_size=5))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_comes_back(texts: list[str], store: Store) -> None:
    item = f"q{len(store.pools())}"
    question = new_question(item, text=texts[0])
    trace = new_trace(question, source=texts[1], steps=[texts[2]])
    add_traces(store, [trace])
    pool = next(p for p in store.pools() if p.question_id == item)
    (record,) = store.pool_traces(pool.id)
    assert pool.question == texts[0]
    assert (record.source, record.trace) == (texts[1], trace.trace)
    judge = new_label(key_of(item, "0"), "judge", note=texts[3], created_at=None)
    assert add_labels(store, [judge]) == ["added"]
    assert add_labels(store, [judge, replace(judge, note=texts[3] + "x")]) == ["known", "changed"]


def test_what_was_stored_is_there_after_reopening(db: Any) -> None:
    with open_store(db) as store:
        traces = [new_trace(new_question(f"q{i}", text=x)) for i, x in enumerate(HARD.values())]
        add_traces(store, traces)
    with open_store(db) as store:
        found = {p.question_id: p.question for p in store.pools()}
    assert found == {f"q{i}": x for i, x in enumerate(HARD.values())}


# --- keys ----------------------------------------------------------------------------------

part = st.text(st.sampled_from("/%25Ff ab:é🍎") | st.characters(), min_size=1, max_size=12)


@given(part, part, part, part)
@example("a/b", "50%", "%2F", "%252f")
@example("%", "/", "//", "%%")
@example("%25", "%2f", "path:", ":")
def test_keys_come_apart_as_they_were_put_together(a: str, b: str, c: str, d: str) -> None:
    assert split_path_key(path_key(a, b, c, d)) == (a, b, c, d)


@given(part)
def test_an_encoded_part_holds_no_separator(text: str) -> None:
    encoded = encode_part(text)
    assert "/" not in encoded
    assert decode_part(encoded) == text


@given(st.tuples(part, part, part, part), st.tuples(part, part, part, part))
def test_two_places_never_share_a_key(one: Any, other: Any) -> None:
    assert (path_key(*one) == path_key(*other)) == (one == other)


@pytest.mark.parametrize("key", ["path:a/b/c", "path:a/b/c/d/e", "path:a//c/d", "step:a/b/c/d", ""])
def test_what_is_no_path_key_is_refused_with_the_right_form(key: str) -> None:
    with pytest.raises(ValueError, match="path:DATASET/QUESTION/POOL/SAMPLE"):
        split_path_key(key)


def test_labels_find_items_whose_names_hold_separators(store: Store) -> None:
    names = ["a/b", "50%", "%2F", "%252f", "c d"]
    for dataset, pool in zip(names, reversed(names), strict=True):
        question = new_question("q/1%", dataset=dataset)
        add_traces(store, [new_trace(question, "s/0", pool=pool)])
        key = path_key(dataset, "q/1%", pool, "s/0")
        assert add_labels(store, [new_label(key, "judge")]) == ["added"]
        lower = key.replace("%2F", "%2f")
        assert add_labels(store, [new_label(lower, "judge", "spurious")]) == ["changed"]
    assert len(store.label_pairs("path", "judge", "judge")) == len(names)


@pytest.mark.parametrize("name", ["", " ", "a\x00", "a\nb", "a\x1fb", "\ud800", "a\x9bb"])
def test_a_name_that_no_key_can_hold_is_refused_and_nothing_is_kept(
    name: str, store: Store
) -> None:
    assert not is_name(name)
    with pytest.raises(ValueError, match="name"):
        store.rater(name)
    good = new_question("q1")
    with store.importing() as batch:
        for bad in (
            new_trace(replace(good, dataset=name)),
            new_trace(replace(good, external_id=name)),
            new_trace(good, pool=name),
            new_trace(good, name),
        ):
            with pytest.raises(ConflictError, match="name without control"):
                batch.add_trace(bad)
        assert batch.add_trace(new_trace(good)) == "added"
        with pytest.raises(ConflictError, match="name without control"):
            batch.add_label(new_label(key_of("q1", "0"), name))
    assert [p.question_id for p in store.pools()] == ["q1"]
    assert store.raters() == ()


# --- answers -------------------------------------------------------------------------------


@given(
    st.fractions().map(lambda f: ("number", f))
    | st.booleans().map(lambda b: ("boolean", b))
    | any_text.map(lambda t: ("text", t))
    | any_text.map(lambda t: ("choice", t))
)
def test_answers_come_back_with_their_types(answer: Any) -> None:
    back = decode_answer(encode_answer(answer))
    assert back == answer
    assert back is not None
    assert type(back[1]) is type(answer[1])


def test_answers_share_a_key_only_when_they_are_the_same() -> None:
    answers: list[NormalForm] = [
        ("number", Fraction(1)),
        ("number", Fraction(1, 2)),
        ("boolean", True),
        ("boolean", False),
        ("text", "1"),
        ("text", "true"),
        ("choice", "1"),
        ("date", "1"),
    ]
    assert len({answer_key(a) for a in answers}) == len(answers)
    assert answer_key(("number", Fraction(2, 4))) == answer_key(("number", Fraction(1, 2)))
