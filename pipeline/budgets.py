"""Several askings of one stage: one budget over them, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.asking import N_REASONS, AskSummary, How

if TYPE_CHECKING:
    from judges.client import Estimate


def rest_of(how: How, *before: AskSummary) -> How:
    """Return how to go on after some askings: with what they have left of the budget."""
    from judges.client import Budget

    budget = how.get("budget")
    if budget is None:
        return how
    tokens = sum(a.prompt_tokens + a.completion_tokens for a in before)
    cost = sum(a.cost or 0.0 for a in before)
    rest = Budget(
        None if budget.max_tokens is None else max(budget.max_tokens - tokens, 0),
        None if budget.max_cost is None else max(budget.max_cost - cost, 0.0),
    )
    left = how.copy()
    left["budget"] = rest
    return left


def together(stage: str, askings: Sequence[AskSummary]) -> AskSummary:
    """Return what several askings come to.

    A cost is None without a price, and where one is in another currency than the rest.
    """
    costs = [a.cost for a in askings if a.cost is not None]
    currencies = {a.currency for a in askings if a.currency is not None}
    one_currency = len(currencies) <= 1
    reasons = sum((Counter(a.reasons) for a in askings), Counter[str]())
    names = ("n_requests", "n_known", "n_cached", "n_asked", "retries", "prompt_tokens")
    sums = {name: sum(getattr(a, name) for a in askings) for name in names}
    return AskSummary(
        stage,
        **sums,
        outcomes=dict(sum((Counter(a.outcomes) for a in askings), Counter[str]())),
        reasons=dict(reasons.most_common(N_REASONS)),
        completion_tokens=sum(a.completion_tokens for a in askings),
        unknown_usage=sum(a.unknown_usage for a in askings),
        cost=sum(costs) if costs and one_currency else None,
        currency=min(currencies) if currencies and one_currency else None,
        seconds=sum(a.seconds for a in askings),
        stopped=next((a.stopped for a in askings if a.stopped is not None), None),
        estimate=_estimates([a.estimate for a in askings if a.estimate is not None], one_currency),
        servers=tuple(server for a in askings for server in a.servers),
    )


def _estimates(found: Sequence[Estimate], one_currency: bool) -> Estimate | None:
    """Return the sum of estimates; what is not known of one is not known of all."""
    from judges.client import Estimate

    if not found:
        return None
    prompt_tokens = sum(e.prompt_tokens for e in found)
    known = [e for e in found if e.bytes_per_token is not None]
    n_bytes = sum((e.bytes_per_token or 0.0) * e.prompt_tokens for e in known)
    n_tokens = sum(e.prompt_tokens for e in known)
    most = [e.max_completion_tokens for e in found if e.max_completion_tokens is not None]
    costs = [e.cost for e in found if e.cost is not None]
    return Estimate(
        n_requests=sum(e.n_requests for e in found),
        n_cached=sum(e.n_cached for e in found),
        n_to_ask=sum(e.n_to_ask for e in found),
        prompt_tokens=prompt_tokens,
        max_completion_tokens=sum(most) if len(most) == len(found) else None,
        cost=sum(costs) if len(costs) == len(found) and one_currency else None,
        bytes_per_token=n_bytes / n_tokens if n_tokens else None,
    )
