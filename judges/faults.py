"""What goes wrong between asking and a reply, and what to do about it: again, not again, stop."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from judges.redaction import one_line
from judges.requests import Outcome
from judges.schemas import BOUNDING

OVERLOADED = frozenset({429, 503, 529})
"""Statuses by which a server asks for less."""

PASSING = frozenset({408, 409, 425, 429})
"""Client errors that may be gone at the next attempt; every 5xx but `LASTING` is one too."""

LASTING = frozenset({501, 505})

STOPPING: Mapping[int, str] = {
    401: "check the key that key_env names",
    402: "the account has no credit",
    403: "check the key that key_env names, and what it may use",
    404: "check model and base_url",
    405: "check base_url",
    407: "the proxy wants its own password",
}
"""Statuses every other request would get as well, each with what to look at."""

SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
UNKNOWN_MODEL = frozenset({"model_not_found", "model_not_available"})
FILTERED = frozenset({"content_filter", "content_policy_violation"})
"""Codes in an error's body that say more than its status."""

REFUSING = frozenset({400, 422, 501})
"""Statuses by which a server says that it does not do what was asked."""

SCHEMA_ADVICE = "medoid doctor finds out which keywords of a schema this server takes"

_ABOUT_SCHEMA = re.compile(
    "(?i:schema|response_?format)|"
    + "|".join(f"(?<![a-z ]){name}(?![a-z ])" for name in sorted(BOUNDING))
)
"""The schema itself, or one of its keywords as servers quote them."""

_DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?"
    r"(?:(\d+(?:\.\d+)?)ms)?"
)


class Fault(Exception):
    """Why an attempt brought no reply.

    `again`: another attempt may succeed. `stops`: nothing more need be asked. `overload`: the
    server wants less. `down`: it was not reached at all. `wait`: seconds it asked to wait.
    `outcome`: what the request ends as when no attempt follows. `status`: the answer's, if any.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool = True,
        stops: bool = False,
        overload: bool = False,
        down: bool = False,
        wait: float | None = None,
        outcome: Outcome = "failed",
        status: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again and not stops
        self.stops = stops
        self.overload = overload
        self.down = down
        self.wait = wait
        self.outcome = outcome
        self.status = status

    @property
    def names_schema(self) -> bool:
        """Whether the server refused the request and spoke of its schema."""
        return self.status in REFUSING and _ABOUT_SCHEMA.search(self.reason) is not None


def fault_of_status(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    hide: Callable[[str], str],
    now: float,
) -> Fault:
    """Return the fault that an answer with an error status is. `now` is in epoch seconds."""
    message, code = _error_of(body)
    reason = _named(status, one_line(hide(message)))
    if status in (400, 403) and code in FILTERED:
        return Fault(reason, again=False, outcome="refused", status=status)
    if advice := _why_stop(status, code):
        return Fault(f"{reason} ({advice})", stops=True, status=status)
    passing = status in PASSING or (status >= 500 and status not in LASTING)
    said = headers.get("x-should-retry", "").lower()
    again = said == "true" or (passing and said != "false")
    return Fault(
        reason,
        again=again,
        overload=status in OVERLOADED,
        wait=retry_hint(headers, now) if again else None,
        status=status,
    )


def fault_of_error(error: object, hide: Callable[[str], str], now: float) -> Fault:
    """Return the fault that an ``error`` object in an answer of status 200 is."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        body = json.dumps({"error": error}).encode()
        return fault_of_status(code, {}, body, hide=hide, now=now)
    message, _ = _error_of(json.dumps({"error": error}).encode())
    return Fault(f"the server answered with an error: {one_line(hide(message))}")


def _named(status: int, message: str) -> str:
    try:
        name = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        name = f"status {status}"
    return f"{name}: {message}" if message else name


def _why_stop(status: int, code: str) -> str | None:
    if 300 <= status < 400:
        return "the server redirects; put the address it redirects to into base_url"
    if code in SPENT:
        return "the account has no credit"
    if status == 400 and code in UNKNOWN_MODEL:
        return STOPPING[404]
    return STOPPING.get(status)


def _error_of(body: bytes) -> tuple[str, str]:
    """Return message and code of an error's body, whichever of the usual shapes it has."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if isinstance(value, Mapping) and value.get("error"):
        value = value["error"]
    if not isinstance(value, Mapping):
        return (value if isinstance(value, str) else text), ""
    found = next((value[k] for k in ("message", "detail", "error") if value.get(k)), text)
    code = value.get("code") or value.get("type")
    message = found if isinstance(found, str) else json.dumps(found)
    return message, code if isinstance(code, str) else ""


def retry_hint(headers: Mapping[str, str], now: float) -> float | None:
    """Return for how many seconds a server asks to be left alone; None when it does not say.

    Read, in this order: ``retry-after-ms``, ``retry-after`` (seconds or a date, compared with the
    answer's own ``date`` where there is one), ``x-ratelimit-reset-requests`` and ``-tokens``
    (durations such as ``6m0s``; those that have nothing remaining, else the longest), and
    ``ratelimit-reset`` or ``x-ratelimit-reset`` (seconds, or epoch seconds or milliseconds).
    """
    if (seconds := _number(headers.get("retry-after-ms"))) is not None:
        return seconds / 1000
    if (after := headers.get("retry-after")) is not None:
        seconds = _number(after)
        seconds = _until(after, headers.get("date"), now) if seconds is None else seconds
        if seconds is not None:
            return seconds
    if (seconds := _resets(headers)) is not None:
        return seconds
    for name in ("ratelimit-reset", "x-ratelimit-reset"):
        if (seconds := _number(headers.get(name))) is not None:
            return _from_epoch(seconds, now)
    return None


def _number(text: str | None) -> float | None:
    """Return a finite number of 0 or more; what is below 0 is 0."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(value, 0.0) if math.isfinite(value) else None


def _until(text: str, date: str | None, now: float) -> float | None:
    try:
        then = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    try:
        start = parsedate_to_datetime(date or "").timestamp()
    except (ValueError, TypeError, OverflowError):
        start = now
    return max(then - start, 0.0)


def _resets(headers: Mapping[str, str]) -> float | None:
    spent, every = [], []
    for kind in ("requests", "tokens"):
        seconds = _duration(headers.get(f"x-ratelimit-reset-{kind}", ""))
        if seconds is None:
            continue
        every.append(seconds)
        if _number(headers.get(f"x-ratelimit-remaining-{kind}")) == 0:
            spent.append(seconds)
    return max(spent or every, default=None)


def _duration(text: str) -> float | None:
    """Return the seconds of ``1h2m3s``, ``20ms`` or a bare number."""
    if (seconds := _number(text)) is not None:
        return seconds
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds_, milliseconds = (float(g or 0) for g in match.groups())
    return 3600 * hours + 60 * minutes + seconds_ + milliseconds / 1000


def _from_epoch(value: float, now: float) -> float:
    if value > 1e11:
        return max(value / 1000 - now, 0.0)
    return max(value - now, 0.0) if value > 1e9 else value
