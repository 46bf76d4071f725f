"""Servers whose strict mode refuses some keywords of JSON schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from judges.client import ask
from judges.criteria_judge import criteria_schema
from judges.decomposer import decomposer_schema
from judges.faults import SCHEMA_ADVICE, Fault
from judges.generator import generator_schema
from judges.path_judge import judge_schema
from judges.probe import KEYWORDS_SCHEMA, probe
from judges.requests import Request
from judges.schemas import BOUNDING, KEYWORDS, without_bounds
from judges.wire import request_body
from tests.judges.asked import QUESTIONS, TRACE
from tests.judges.asking import QUICK, Heard, endpoint, request
from tests.judges.faults import (
    Answer,
    FaultServer,
    Script,
    Seen,
    error,
    keywords_of,
    ok,
    refusing_keywords,
)

BOUNDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "maximum": {"type": ["integer", "null"], "minimum": 0, "maximum": 2},
        "texts": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "minLength": 1, "maxLength": 5},
        },
        "letter": {"anyOf": [{"type": "string", "pattern": "^[A-Z]$"}, {"enum": ["a"]}]},
    },
    "required": ["maximum", "texts", "letter"],
    "additionalProperties": False,
}
GOOD = json.dumps({"maximum": 2, "texts": ["one"], "letter": "B"})


def able(seen: Seen) -> Answer:
    if "response_format" not in seen.body:
        return ok("is")
    title = seen.body["response_format"]["json_schema"]["name"]
    return ok('{"colour": "red"}' if title == "colour" else GOOD)


def settled(script: Script, *asked: Request, **changes: Any) -> tuple[Heard, list[Seen]]:
    heard = Heard()
    with FaultServer(script) as server:
        ask(endpoint(server.url, **changes), asked, on_reply=heard, tuning=QUICK)
    return heard, server.seen


def test_bounds_go_at_every_depth_and_names_stay() -> None:
    assert without_bounds(BOUNDED) == {
        "type": "object",
        "properties": {
            "maximum": {"type": ["integer", "null"]},
            "texts": {"type": "array", "items": {"type": "string"}},
            "letter": {"anyOf": [{"type": "string"}, {"enum": ["a"]}]},
        },
        "required": ["maximum", "texts", "letter"],
        "additionalProperties": False,
    }
    assert BOUNDED["properties"]["maximum"]["maximum"] == 2


def test_no_schema_of_a_role_keeps_a_keyword_that_bounds() -> None:
    schemas = [criteria_schema(), judge_schema(TRACE), decomposer_schema(TRACE)]
    schemas += [generator_schema(q, "long") for q in QUESTIONS]
    for schema in schemas:
        assert BOUNDING & set(keywords_of(schema))
        assert set(keywords_of(without_bounds(schema))) <= KEYWORDS - BOUNDING
        assert without_bounds(schema)["required"] == schema["required"]


def test_the_probe_asks_with_every_keyword_that_we_use() -> None:
    assert set(keywords_of(KEYWORDS_SCHEMA)) & BOUNDING == KEYWORDS & BOUNDING


@pytest.mark.parametrize("keyword", sorted(KEYWORDS & BOUNDING))
def test_a_server_that_refuses_a_keyword_is_found_out(keyword: str) -> None:
    with FaultServer(refusing_keywords(able, keyword)) as server:
        found = probe(endpoint(server.url))
    assert (found.structured, found.schema_keywords) == (True, "plain")
    said = f"Invalid schema for response_format: '{keyword}' is not permitted"
    assert f"keywords of schemas: 400 Bad Request: {said}" in found.notes


@pytest.mark.parametrize(
    ("answer", "keywords"),
    [
        (ok("What?"), "all"),
        (ok("{", finish="length"), "all"),
        (error(422), "plain"),
        (error(500), None),
        (Answer(cut=-1), None),
    ],
    ids=["prose", "cut", "422", "500", "dropped"],
)
def test_keywords_are_refused_only_when_the_server_says_so(
    answer: Answer, keywords: str | None
) -> None:
    def script(seen: Seen) -> Answer:
        named = seen.body.get("response_format", {}).get("json_schema", {}).get("name")
        return answer if named == "colours" else able(seen)

    with FaultServer(script) as server:
        found = probe(endpoint(server.url))
    assert (found.structured, found.schema_keywords) == (True, keywords)
    assert found.continues_prefix is True


def test_a_server_without_schemas_is_not_asked_for_keywords() -> None:
    with FaultServer(lambda _: ok("The sea is wide.")) as server:
        found = probe(endpoint(server.url))
    assert (found.structured, found.schema_keywords) == (False, None)
    assert sum("response_format" in seen.body for seen in server.seen) == 1


def test_a_plain_server_is_sent_the_schema_without_them_and_held_to_all_of_it() -> None:
    good, long = request("good", schema=BOUNDED), request("long", schema=BOUNDED)
    too_long = json.dumps({"maximum": 3, "texts": ["one"], "letter": "B"})
    script = refusing_keywords(
        lambda seen: ok(GOOD if seen.prompt == "good" else too_long), *BOUNDING
    )
    heard, seen = settled(script, good, long, schema_keywords="plain")
    replies = {asked.key: reply for asked, reply in heard.pairs}
    assert replies[good.key].data == json.loads(GOOD)
    assert (replies[long.key].outcome, replies[long.key].data) == ("invalid", None)
    assert "maximum" in replies[long.key].reason
    for one in seen:
        sent = one.body["response_format"]["json_schema"]
        assert (sent["schema"], sent["strict"]) == (without_bounds(BOUNDED), True)


def test_the_key_of_a_request_does_not_know_the_server() -> None:
    asked = request(schema=BOUNDED)
    plain = json.loads(request_body(asked, keywords="plain"))
    whole = json.loads(request_body(asked, keywords="all"))
    assert whole["response_format"]["json_schema"]["schema"] == BOUNDED
    assert {k: v for k, v in plain.items() if k != "response_format"} == {
        k: v for k, v in whole.items() if k != "response_format"
    }
    assert asked.body["schema"] == BOUNDED


@pytest.mark.parametrize("keyword", ["maxLength", "pattern"])
def test_without_a_finding_the_reason_says_what_finds_out(keyword: str) -> None:
    script = refusing_keywords(lambda _: ok(GOOD), keyword)
    heard, _ = settled(script, request(schema=BOUNDED))
    assert heard.only.outcome == "failed"
    assert heard.only.reason == (
        f"400 Bad Request: Invalid schema for response_format: '{keyword}' is not permitted "
        "(medoid doctor finds out which keywords of a schema this server takes)"
    )
    heard, _ = settled(script, request(schema=BOUNDED), schema_keywords="all")
    assert SCHEMA_ADVICE not in heard.only.reason


def test_other_refusals_get_no_such_advice() -> None:
    heard, _ = settled(lambda _: error(400, "max_tokens is over the maximum of 4096"), request())
    assert SCHEMA_ADVICE not in heard.only.reason
    bound = request(schema=BOUNDED)
    heard, _ = settled(lambda _: error(400, "max_tokens is over the maximum of 4096"), bound)
    assert SCHEMA_ADVICE not in heard.only.reason
    heard, _ = settled(lambda _: error(400, "no such schema"), request())
    assert SCHEMA_ADVICE not in heard.only.reason
    assert not Fault("schema", status=500).names_schema


def test_what_was_found_is_no_setting() -> None:
    assert endpoint().schema_keywords is None
    assert replace(endpoint(), schema_keywords="plain") != endpoint()
