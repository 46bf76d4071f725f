"""What was asked and what it used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from judges.endpoint import Price
from judges.limits import ServerUse
from judges.requests import Outcome, Reply, Request


@dataclass(frozen=True, slots=True)
class RoleUse:
    """What one role's requests came to. Tokens and cost are this run's own: cached ones use none.

    ``requests == asked + cached + unasked``. `cost` is None without a price; it leaves out the
    `unknown_usage` replies whose server did not tell what they used.
    """

    requests: int = 0
    asked: int = 0
    cached: int = 0
    unasked: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unknown_usage: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """Where a run stands.

    `by_outcome` counts every request settled, cached ones too, and sums to
    ``asked + cached + by_outcome["unasked"]``. `asked` ended by an answer or a failure of the
    server, `cached` by a kept reply or by that of an equal request of the same run. `retries` are
    the attempts beyond each request's first. `requests_per_second` is of `asked`, None before the
    first. `concurrency` is the limit as it stands, over those of the `servers` that
    live. `stopped` says why not everything was asked.
    """

    asked: int = 0
    cached: int = 0
    by_outcome: Mapping[Outcome, int] = field(default_factory=dict)
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unknown_usage: int = 0
    seconds: float = 0.0
    requests_per_second: float | None = None
    concurrency: int = 0
    stopped: str | None = None
    by_role: Mapping[str, RoleUse] = field(default_factory=dict)
    servers: tuple[ServerUse, ...] = ()

    @property
    def settled(self) -> int:
        """How many requests have their outcome."""
        return sum(self.by_outcome.values())


class _Use:
    __slots__ = (
        "asked",
        "cached",
        "completion_tokens",
        "cost",
        "prompt_tokens",
        "unasked",
        "unknown_usage",
    )

    def __init__(self) -> None:
        self.asked = self.cached = self.unasked = 0
        self.prompt_tokens = self.completion_tokens = self.unknown_usage = 0
        self.cost = 0.0


class Ledger:
    """The running count behind the tallies."""

    def __init__(self, price: Price | None) -> None:
        self._priced = price is not None
        self._outcomes: Counter[Outcome] = Counter()
        self._roles: dict[str, _Use] = {}
        self.settled = 0

    def add(self, request: Request, reply: Reply) -> None:
        """Count a request that ended."""
        self.settled += 1
        self._outcomes[reply.outcome] += 1
        use = self._roles.get(request.role)
        if use is None:
            use = self._roles[request.role] = _Use()
        if reply.outcome == "unasked":
            use.unasked += 1
            return
        if reply.cached:
            use.cached += 1
            return
        use.asked += 1
        if not reply.replied:
            return
        use.prompt_tokens += reply.prompt_tokens or 0
        use.completion_tokens += reply.completion_tokens or 0
        use.cost += reply.cost or 0.0
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            use.unknown_usage += 1

    def tally(
        self,
        *,
        retries: int,
        seconds: float,
        concurrency: int,
        stopped: str | None,
        servers: tuple[ServerUse, ...] = (),
    ) -> Tally:
        """Return the count as it stands."""
        uses = list(self._roles.values())
        asked = sum(u.asked for u in uses)
        return Tally(
            asked=asked,
            cached=sum(u.cached for u in uses),
            by_outcome=dict(self._outcomes),
            retries=retries,
            prompt_tokens=sum(u.prompt_tokens for u in uses),
            completion_tokens=sum(u.completion_tokens for u in uses),
            cost=sum(u.cost for u in uses) if self._priced else None,
            unknown_usage=sum(u.unknown_usage for u in uses),
            seconds=seconds,
            requests_per_second=asked / seconds if asked and seconds > 0 else None,
            concurrency=concurrency,
            stopped=stopped,
            by_role={role: self._role_use(use) for role, use in self._roles.items()},
            servers=servers,
        )

    def _role_use(self, use: _Use) -> RoleUse:
        return RoleUse(
            requests=use.asked + use.cached + use.unasked,
            asked=use.asked,
            cached=use.cached,
            unasked=use.unasked,
            prompt_tokens=use.prompt_tokens,
            completion_tokens=use.completion_tokens,
            cost=use.cost if self._priced else None,
            unknown_usage=use.unknown_usage,
        )
