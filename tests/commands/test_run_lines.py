"""What a plan's line of a stage says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from tui.commands.run import _ablated_text


def test_an_ablation_says_which_alternatives_it_asked_nothing_about() -> None:
    pool = SimpleNamespace(n_traces=4, n_voting=3)
    sampled = SimpleNamespace(askings=(SimpleNamespace(estimate=None),), pools=(pool, pool))
    answered = SimpleNamespace(
        asking=SimpleNamespace(n_replied=10), n_answers=9, excluded={"not decomposed": 8}
    )
    told = _ablated_text(cast(Any, SimpleNamespace(sampled=sampled, answered=answered)))
    assert told == (
        "75.0 % of new alternatives vote, 90.0 % of replies give an answer, "
        "no early answers of 8 not decomposed"
    )
