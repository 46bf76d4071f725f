"""From a server's answer to a typed outcome. Only an ``ok`` reply may be read for meaning."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judges.endpoint import Price
from judges.faults import Fault, fault_of_error
from judges.redaction import one_line
from judges.requests import Outcome, Reply, Request

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

CUT = frozenset({"length", "max_tokens"})
FILTERED = frozenset({"content_filter", "safety"})
"""Finish reasons, as servers spell them."""

MOST_TOKENS = 2**53


def read_completion(
    body: bytes,
    request: Request,
    *,
    price: Price | None = None,
    hide: Callable[[str], str] = str,
    now: float = 0.0,
) -> Reply:
    """Return what an answer of status 200 says, as the request's outcome.

    The first of these that holds: refused (a refusal, or stopped by a filter), truncated (stopped
    by the token limit), empty (blank), invalid (its schema broken), ok. Fault when the answer is
    no completion at all.
    """
    answer = _object(body, hide, now)
    choice, message = _first_choice(answer)
    finish = _string(choice.get("finish_reason"), hide)
    refusal = hide(_text(message.get("refusal")))
    text = hide(_text(message.get("content"))) or refusal
    outcome, data, reason = _outcome(text, refusal, finish, request.schema)
    prompt_tokens, completion_tokens = _usage(answer.get("usage"))
    known = prompt_tokens is not None and completion_tokens is not None
    return Reply(
        outcome=outcome,
        text=text,
        data=data,
        reason=reason,
        finish_reason=finish,
        served_model=_string(answer.get("model"), hide),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=price.cost(prompt_tokens or 0, completion_tokens or 0) if price and known else None,
    )


def read_data(text: str, schema: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the JSON value of a reply that must follow a schema, and what is wrong with it.

    The whole text must be one JSON value: no fences, no NaN, no name twice in one object (which of
    the two would hold?). What is wrong is "" when nothing is; the value is None when something is.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        return None, "no JSON: nested too deeply"
    except ValueError as error:
        return None, f"no JSON: {one_line(str(error), 120)}"
    try:
        broken = _worst(validator(schema).iter_errors(value))
    except RecursionError:
        return None, "breaks the schema: nested too deeply"
    if broken is not None:
        return None, f"breaks the schema: {one_line(broken, 200)}"
    return value, ""


def validator(schema: Mapping[str, Any]) -> Validator:
    """Return the schema's validator, compiled once. ValueError when it is no JSON schema."""
    return _compiled(json.dumps(schema, sort_keys=True))


@lru_cache(maxsize=256)
def _compiled(schema: str) -> Validator:
    import jsonschema
    from referencing import Registry

    value = json.loads(schema)
    kind = jsonschema.validators.validator_for(value, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(value)
    except jsonschema.SchemaError as error:
        raise ValueError(f"not a JSON schema: {one_line(error.message)}") from None
    # An empty registry of its own, so that no reference is ever fetched.
    return kind(value, registry=Registry())


def _worst(errors: Any) -> str | None:
    from jsonschema.exceptions import best_match

    error = best_match(errors)
    return None if error is None else f"{error.json_path}: {error.message}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} stands twice in one object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _outcome(
    text: str, refusal: str, finish: str | None, schema: Mapping[str, Any] | None
) -> tuple[Outcome, Any, str]:
    ended = (finish or "").lower()
    if refusal:
        return "refused", None, f"the model refused: {one_line(refusal, 200)}"
    if ended in FILTERED:
        return "refused", None, "stopped by the server's content filter"
    if ended in CUT:
        return "truncated", None, "cut by the token limit"
    if not text.strip():
        also = f" (finish_reason {finish})" if finish not in (None, "stop") else ""
        return "empty", None, f"the reply is blank{also}"
    if schema is None:
        return "ok", None, ""
    data, wrong = read_data(text, schema)
    return ("invalid", None, wrong) if wrong else ("ok", data, "")


def _object(body: bytes, hide: Callable[[str], str], now: float) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        start = one_line(hide(body[:400].decode("utf-8", "replace")), 80)
        raise Fault(f"the answer is no JSON: {start}") from None
    if not isinstance(answer, Mapping):
        raise Fault("the answer is no JSON object")
    if answer.get("error") and not answer.get("choices"):
        raise fault_of_error(answer["error"], hide, now)
    return answer


def _first_choice(answer: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise Fault("the answer is no chat completion: it has no choices[0].message")
    return choice, message


def _text(content: object) -> str:
    """Return a message's text: a string, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (p.get("text") for p in content if isinstance(p, Mapping))
        return "".join(p for p in parts if isinstance(p, str))
    return ""


def _string(value: object, hide: Callable[[str], str]) -> str | None:
    return one_line(hide(value), 200) if isinstance(value, str) and value else None


def _usage(usage: object) -> tuple[int | None, int | None]:
    if not isinstance(usage, Mapping):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < MOST_TOKENS else None
