"""Keys of requests, and the bodies that are sent."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.requests import REPLIED, Message, Outcome, Reply, Request, Sampling, digest
from judges.wire import request_body, schema_name, token_bound
from tests.judges.asking import VERDICT, request

BASE = Request(
    "generator",
    "m",
    (Message("system", "Reason."), Message("user", "Two and two?")),
    Sampling(temperature=0.7, max_tokens=100, extra={"top_k": 40, "min_p": 0.1}),
    VERDICT,
    sample=3,
    prompt_version="generator/1",
)


def sent(asked: Request, **changes: Any) -> Any:
    return json.loads(request_body(asked, **changes))


def test_the_key_of_a_request_never_changes() -> None:
    # Replies kept by earlier versions are found by it.
    plain = Request("r", "m", (Message("user", "hi"),), Sampling(temperature=0.7), sample=2)
    written = (
        '{"messages":[["user","hi"]],"model":"m","sampling":{"temperature":0.7},"schema":null}'
    )
    assert plain.body_hash == sha256(written.encode()).hexdigest()
    assert plain.key == f"{plain.body_hash}:2"
    assert plain.body_hash.startswith("ae7d7eecc47ebdcb")


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, role="judge"),
        replace(BASE, prompt_version="generator/2"),
        replace(BASE, sampling=replace(BASE.sampling, extra={"min_p": 0.1, "top_k": 40})),
        replace(BASE, schema=dict(reversed(list(VERDICT.items())))),
    ],
    ids=["role", "prompt version", "order of extras", "order of the schema's fields"],
)
def test_what_does_not_change_the_reply_does_not_change_the_key(other: Request) -> None:
    assert other.key == BASE.key


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, model="n"),
        replace(BASE, messages=BASE.messages[::-1]),
        replace(BASE, messages=(Message("user", "Reason."), BASE.messages[1])),
        replace(BASE, sampling=replace(BASE.sampling, temperature=0.0)),
        replace(BASE, sampling=replace(BASE.sampling, seed=1)),
        replace(BASE, sampling=replace(BASE.sampling, extra={"top_k": 41, "min_p": 0.1})),
        replace(BASE, schema=None),
        replace(BASE, schema={**VERDICT, "title": "other"}),
    ],
    ids=["model", "order", "speaker", "temperature", "seed", "extra", "no schema", "schema"],
)
def test_what_changes_the_reply_changes_the_key(other: Request) -> None:
    assert other.body_hash != BASE.body_hash


def test_samples_share_the_body_and_have_keys_of_their_own() -> None:
    keys = {replace(BASE, sample=k).key for k in range(20)}
    assert len(keys) == 20
    assert {key.rsplit(":", 1)[0] for key in keys} == {BASE.body_hash}


def test_an_unset_parameter_is_no_parameter() -> None:
    assert Sampling().as_json() == {}
    assert Sampling(temperature=0.0, stop=("END",)).as_json() == {
        "temperature": 0.0,
        "stop": ["END"],
    }


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_has_a_key_and_a_body_in_utf_8(text: str) -> None:
    asked = request(text)
    assert asked.key == request(text).key
    body = request_body(asked)
    assert json.loads(body.decode("utf-8"))["messages"][0]["role"] == "user"


def test_lone_surrogates_are_replaced_on_the_wire_only() -> None:
    lone, other = request("a\ud800b"), request("a\udfffb")
    assert lone.key != other.key
    assert sent(lone)["messages"][0]["content"] == "a\ufffdb"
    # A pair spells a character.
    assert sent(request("\ud83d\ude00 \udc00"))["messages"][0]["content"] == "\U0001f600 \ufffd"


def test_nul_and_escapes_arrive_as_they_are() -> None:
    text = 'NUL \x00, ESC \x1b[31m, "quoted" \\ and [/x]'
    assert sent(request(text))["messages"][0]["content"] == text


def test_the_body_holds_what_was_asked_and_nothing_else() -> None:
    assert sent(BASE) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Reason."},
            {"role": "user", "content": "Two and two?"},
        ],
        "temperature": 0.7,
        "max_tokens": 100,
        "top_k": 40,
        "min_p": 0.1,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "schema": dict(VERDICT), "strict": True},
        },
    }
    assert sent(request()) == {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def test_a_requests_own_extras_stand_over_the_servers_and_parameters_over_both() -> None:
    asked = replace(request(), sampling=Sampling(top_p=0.9, extra={"top_k": 1}))
    body = sent(asked, extra={"top_k": 2, "min_p": 0.5, "top_p": 0.1})
    assert (body["top_k"], body["min_p"], body["top_p"]) == (1, 0.5, 0.9)


def test_the_bound_on_tokens_goes_by_the_servers_name() -> None:
    body = sent(request(max_tokens=9), bound="max_completion_tokens")
    assert body["max_completion_tokens"] == 9
    assert "max_tokens" not in body


@pytest.mark.parametrize("name", ["stream", "n", "model", "messages", "response_format"])
def test_extras_cannot_change_what_a_reply_is(name: str) -> None:
    asked = replace(request(), sampling=Sampling(extra={name: True}))
    with pytest.raises(ValueError, match=f"extra sets '{name}'"):
        request_body(asked)


def test_what_json_cannot_hold_is_an_error_and_not_a_crash() -> None:
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        request_body(replace(request(), sampling=Sampling(temperature=float("nan"))))


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("verdict", "verdict"),
        ("Path verdict: v2!", "Path_verdict_v2"),
        ("…", "reply"),
        (7, "reply"),
    ],
)
def test_a_schema_is_sent_under_a_name_servers_take(title: object, name: str) -> None:
    assert schema_name({"title": title}) == name
    assert schema_name({}) == "reply"
    assert len(schema_name({"title": "x" * 100})) == 64


def test_the_bound_is_found_whatever_it_is_called() -> None:
    assert token_bound(request()) is None
    assert token_bound(request(max_tokens=5)) == 5
    extra = Sampling(extra={"max_completion_tokens": 6})
    assert token_bound(replace(request(), sampling=extra)) == 6


def test_digest_ignores_the_order_of_names_and_nothing_else() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_only_failed_and_unasked_are_no_replies() -> None:
    assert [o for o in get_args(Outcome) if not Reply(o).replied] == ["failed", "unasked"]
    assert {*REPLIED, "failed", "unasked"} == set(get_args(Outcome))
