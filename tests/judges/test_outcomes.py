"""What an answer is taken to be. Only an ``ok`` reply may be read for meaning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judges.endpoint import Price
from judges.faults import Fault
from judges.outcomes import read_completion, read_data, validator
from judges.requests import Reply
from tests.judges.asking import VERDICT, request
from tests.judges.faults import ok

SOUND = '{"verdict": "sound"}'


def read(body: bytes, *, schema: bool = False, **changes: Any) -> Reply:
    return read_completion(body, request(schema=VERDICT if schema else None), **changes)


def answer(**message: Any) -> bytes:
    finish = message.pop("finish", "stop")
    value = {"choices": [{"finish_reason": finish, "message": message}], "model": "s"}
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("body", "schema", "outcome", "text", "reason"),
    [
        (answer(content="four"), False, "ok", "four", ""),
        (answer(content=" four\n"), False, "ok", " four\n", ""),
        (answer(content=SOUND), True, "ok", SOUND, ""),
        (answer(content="no", refusal="I cannot"), True, "refused", "no", "refused: I cannot"),
        (answer(content=None, refusal="I cannot"), False, "refused", "I cannot", "I cannot"),
        (answer(content=SOUND, finish="content_filter"), True, "refused", SOUND, "filter"),
        (answer(content="", finish="SAFETY"), False, "refused", "", "content filter"),
        (answer(content=SOUND, finish="length"), True, "truncated", SOUND, "token limit"),
        (answer(content="", finish="max_tokens"), False, "truncated", "", "token limit"),
        (answer(content=""), False, "empty", "", "blank"),
        (answer(content=" \n\t"), True, "empty", " \n\t", "blank"),
        (answer(content=None), False, "empty", "", "blank"),
        (answer(finish="tool_calls"), False, "empty", "", "(finish_reason tool_calls)"),
        (answer(content="Sound."), True, "invalid", "Sound.", "no JSON"),
        (answer(content='{"verdict": "x"}'), True, "invalid", '{"verdict": "x"}', "$.verdict"),
        (answer(content="{}"), True, "invalid", "{}", "'verdict' is a required property"),
        (answer(content=[{"type": "text", "text": "fo"}, {"text": "ur"}]), False, "ok", "four", ""),
        (answer(content={"odd": 1}), False, "empty", "", "blank"),
        (answer(content="a\x00b\ud800"), False, "ok", "a\x00b\ud800", ""),
    ],
)
def test_an_answer_has_one_outcome(
    body: bytes, schema: bool, outcome: str, text: str, reason: str
) -> None:
    reply = read(body, schema=schema)
    assert (reply.outcome, reply.text) == (outcome, text)
    assert reason in reply.reason
    assert bool(reply.reason) == (outcome != "ok")


def test_only_an_ok_reply_to_a_schema_has_data() -> None:
    assert read(answer(content=SOUND), schema=True).data == {"verdict": "sound"}
    assert read(answer(content=SOUND)).data is None
    assert read(answer(content=SOUND, finish="length"), schema=True).data is None
    assert read(answer(content=SOUND, refusal="no"), schema=True).data is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"```json\n{SOUND}\n```", "no JSON"),
        (f"Here: {SOUND}", "no JSON"),
        (f"{SOUND} {SOUND}", "no JSON"),
        ('{"verdict": "sound", "verdict": "unsound"}', "'verdict' stands twice"),
        ('{"verdict": NaN}', "NaN is no JSON"),
        ('{"verdict": "sound", "note": 1}', "'note' was unexpected"),
        ('["sound"]', "is not of type 'object'"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "no JSON"),
    ],
)
def test_what_does_not_follow_the_schema_has_no_value(text: str, reason: str) -> None:
    value, wrong = read_data(text, VERDICT)
    assert value is None
    assert reason in wrong
    assert len(wrong) < 260


def test_white_space_around_the_value_is_no_fault() -> None:
    assert read_data(f"\n {SOUND} \n", VERDICT) == ({"verdict": "sound"}, "")


def test_a_schema_is_compiled_once() -> None:
    assert validator(VERDICT) is validator(dict(reversed(list(VERDICT.items()))))


def test_a_broken_schema_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="not a JSON schema"):
        validator({"type": "thing"})


def test_a_schema_fetches_nothing(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text('{"type": "object"}', encoding="utf-8")
    with pytest.raises(Exception, match="Unresolvable"):
        read_data("{}", {"$ref": elsewhere.as_uri()})


@pytest.mark.parametrize(
    ("usage", "tokens", "cost"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, (10, 5), 20e-6),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0), 0.0),
        ({"prompt_tokens": 10}, (10, None), None),
        ({"prompt_tokens": -1, "completion_tokens": 5}, (None, 5), None),
        ({"prompt_tokens": True, "completion_tokens": "5"}, (None, None), None),
        ({"prompt_tokens": 1.5, "completion_tokens": 10**20}, (None, None), None),
        ([], (None, None), None),
        (None, (None, None), None),
    ],
)
def test_usage_is_the_servers_or_unknown(
    usage: object, tokens: tuple[int | None, int | None], cost: float | None
) -> None:
    value = json.loads(answer(content="x"))
    value["usage"] = usage
    reply = read(json.dumps(value).encode(), price=Price(1.0, 2.0))
    assert (reply.prompt_tokens, reply.completion_tokens) == tokens
    assert reply.cost == (pytest.approx(cost) if cost is not None else None)


def test_what_the_server_says_of_itself_is_kept_short_and_printable() -> None:
    reply = read(ok("x", model="m\x1b[2J" + "n" * 400, finish="stop").body)
    assert reply.served_model is not None
    assert reply.served_model.startswith(r"m\x1b[2Jnnn")
    assert len(reply.served_model) == 200
    assert reply.finish_reason == "stop"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>busy</html>", "no JSON: <html>busy</html>"),
        (b'{"choices": [', "no JSON"),
        (b"\xff\xfe\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "no choices[0].message"),
        (b'{"choices": []}', "no choices[0].message"),
        (b'{"choices": [{"text": "old"}]}', "no choices[0].message"),
        (b'{"choices": {"0": 1}}', "no choices[0].message"),
        (b'{"error": {"message": "model is loading"}}', "model is loading"),
        (b'{"error": {"message": "slow down", "code": 429}}', "429 Too Many Requests: slow down"),
        (b'{"error": "upstream"}', "upstream"),
    ],
)
def test_an_answer_that_is_no_completion_is_a_fault_that_may_pass(body: bytes, reason: str) -> None:
    with pytest.raises(Fault) as caught:
        read(body)
    assert reason in caught.value.reason
    assert caught.value.again


def test_an_error_inside_an_answer_counts_as_its_code_says() -> None:
    with pytest.raises(Fault) as caught:
        read(b'{"error": {"message": "no such key", "code": 401}}')
    assert caught.value.stops


def test_the_key_is_hidden_in_everything_that_is_kept() -> None:
    body = ok("my sk-planted", model="sk-planted", finish="sk-planted", refusal="sk-planted").body
    reply = read(body, hide=lambda text: text.replace("sk-planted", "[key]"))
    assert reply.text == "my [key]"
    assert "sk-planted" not in repr(reply)
