"""One budget over several askings of a stage."""

from __future__ import annotations

from pipeline.asking import AskSummary, How


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
