"""What is found out about a server, and that what cannot be told stays open."""

from __future__ import annotations

import pytest

from judges.endpoint import Endpoint
from judges.probe import Probe, probe
from tests.judges.asking import endpoint
from tests.judges.faults import NO_JSON, Answer, FaultServer, Script, Seen, error, ok

SECRET = "sk-Planted/7=secret"


def able(seen: Seen) -> Answer:
    """A server that can do everything."""
    if "response_format" in seen.body:
        return ok('{"colour": "red"}')
    if seen.body["messages"][-1]["role"] == "assistant":
        return ok("is.")
    return ok("A fox.", copies=seen.body.get("n", 1), finish="length")


def plain(seen: Seen) -> Answer:
    """A server that ignores what it does not know, and tells no usage."""
    if seen.body["messages"][-1]["role"] == "assistant":
        return ok("The capital of France is Paris.", usage=None)
    return ok("The sea is wide.", usage=None)


def strict(seen: Seen) -> Answer:
    """A server that refuses what it does not know."""
    if "response_format" in seen.body or "n" in seen.body:
        return error(400, "unknown field")
    return error(422, "the last message must be the user's")


def found(script: Script, *, models: Answer | None = None, **changes: object) -> Probe:
    with FaultServer(script, models=models) as server:
        return probe(endpoint(server.url, **changes))


def abilities(result: Probe) -> tuple[bool | None, ...]:
    return (
        result.structured,
        result.continues_prefix,
        result.reports_usage,
        result.several_choices,
    )


def test_a_server_that_can_do_everything() -> None:
    result = found(able)
    assert (result.reachable, result.models, result.model_known) == (True, ("m", "other"), True)
    assert abilities(result) == (True, True, True, True)
    assert result.schema_keywords == "all"
    assert result.notes == ()
    assert 0 < result.seconds < 10


def test_a_server_that_ignores_what_it_does_not_know() -> None:
    result = found(plain)
    assert abilities(result) == (False, False, False, False)
    assert any(note.startswith("structured replies: no JSON") for note in result.notes)


def test_a_server_that_refuses_what_it_does_not_know() -> None:
    result = found(strict)
    assert abilities(result) == (False, False, None, False)
    assert result.notes[:2] == (
        "several choices: 400 Bad Request: unknown field",
        "structured replies: 400 Bad Request: unknown field",
    )
    assert result.notes[2].startswith("continuing a prefix: 422 ")
    assert result.notes[2].endswith(": the last message must be the user's")


def test_a_few_small_requests_are_enough() -> None:
    with FaultServer(able) as server:
        probe(endpoint(server.url, extra={"top_k": 1}))
    assert len(server.seen) == 4
    assert all(seen.body["max_tokens"] <= 64 for seen in server.seen)
    assert all(seen.body["top_k"] == 1 for seen in server.seen)


@pytest.mark.parametrize(
    ("reply", "structured"),
    [
        (ok("The sea is", finish="length"), False),
        (ok('{"colour": "re', finish="length"), None),
        (ok(""), None),
        (ok(None, refusal="no"), None),
        (ok('{"colour": "green"}'), False),
        (error(500), None),
        (error(501), False),
        (NO_JSON, None),
    ],
    ids=["prose cut", "json cut", "blank", "refused", "off schema", "500", "501", "no JSON"],
)
def test_whether_replies_are_bound_is_only_said_when_it_shows(
    reply: Answer, structured: bool | None
) -> None:
    result = found(lambda seen: reply if "response_format" in seen.body else able(seen))
    assert result.structured is structured
    assert any(note.startswith("structured replies: ") for note in result.notes)


@pytest.mark.parametrize(
    ("text", "continues"),
    [("is", True), (" Is a city", True), ("Paris.", False), ("The capital", False), ("", None)],
)
def test_a_prefix_is_continued_when_the_word_is(text: str, continues: bool | None) -> None:
    result = found(
        lambda seen: ok(text) if seen.body["messages"][-1]["role"] == "assistant" else able(seen)
    )
    assert result.continues_prefix is continues


def test_a_model_that_is_not_listed_is_told() -> None:
    listed = Answer(body=b'{"data": [{"id": "big"}, {"id": 7}, {}, "x", {"id": "a\\u001bb"}]}')
    result = found(able, models=listed)
    assert result.models == ("big", r"a\x1bb")
    assert result.model_known is False


@pytest.mark.parametrize(
    "models", [error(404), error(500), Answer(body=b"<p>"), Answer(body=b'{"data": 3}')]
)
def test_without_a_list_the_model_may_be_known_or_not(models: Answer) -> None:
    result = found(able, models=models)
    assert (result.reachable, result.models, result.model_known) == (True, (), None)
    assert abilities(result) == (True, True, True, True)


def test_a_wrong_key_ends_the_probing() -> None:
    with FaultServer(lambda seen: error(401, "bad key")) as server:
        result = probe(endpoint(server.url))
    assert len(server.seen) == 1
    assert result.reachable
    assert abilities(result) == (None, None, None, None)
    assert result.notes[-1].startswith("401 Unauthorized: bad key")


def test_a_server_that_is_not_there_is_a_note_and_no_error() -> None:
    with FaultServer(able) as server:
        gone = server.url
    result = probe(endpoint(gone))
    assert result.reachable is False
    assert result.model_known is None
    [note] = result.notes
    assert note.startswith(f"{gone}/models: cannot connect")


def test_of_several_servers_the_first_that_answers_is_probed() -> None:
    with FaultServer(able) as server:
        gone = server.url
    with FaultServer(able) as server:
        result = probe(endpoint(gone, server.url))
    assert result.reachable
    assert result.structured is True
    [note] = result.notes
    assert note.startswith(gone)


def test_a_server_that_hangs_is_not_waited_for_long() -> None:
    result = found(lambda seen: ok(wait=30.0), timeout=0.3)
    assert result.reachable
    assert abilities(result) == (None, None, None, None)
    assert result.notes[0] == "several choices: no answer within 0.3 seconds"


def test_the_key_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", SECRET)

    def echo(seen: Seen) -> Answer:
        return error(500, f"your key is {SECRET}")

    models = Answer(body=b'{"data": [{"id": "%b"}]}' % SECRET.encode())
    result = found(echo, models=models, key_env="PLANTED_KEY")
    assert SECRET not in repr(result)
    assert result.models == ("[key]",)
    assert "your key is [key]" in result.notes[0]


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANTED_KEY", raising=False)
    where: Endpoint = endpoint(key_env="PLANTED_KEY")
    with pytest.raises(ValueError, match="PLANTED_KEY"):
        probe(where)
