"""A panel of judges: the majority of several models as the label of a rater of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.sealing import known_rater
from store import Store
from store.model_records import VotesSettled
from store.records import RaterRecord


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """What settling a panel did; `voters` are (judge, prompt version)."""

    rater: str
    voters: tuple[tuple[str, str], ...]
    settled: VotesSettled


def settle_panel(
    store: Store,
    rater: str,
    judges: Sequence[str],
    *,
    schema: str = "path",
    prompt: str | None = None,
) -> PanelSummary:
    """Make the majority of several judges the label of the panel; nobody is asked.

    Each judge's own majority is one vote, however often it was asked. `prompt` chooses among the
    prompt versions of judges that were asked under several.

    Raises
    ------
    ValueError
        When a judge is not there or has no votes, fewer than two vote, the panel's name belongs to
        one of them or to a person, or it is open which prompt version counts.
    """
    names = tuple(dict.fromkeys(judges))
    if len(names) < 2:
        raise ValueError("a panel is of two judges or more: --of RATER --of RATER")
    if rater in names:
        raise ValueError(f"the panel {rater!r} cannot be one of its judges: name it otherwise")
    voters = [(known_rater(store, name), name) for name in names]
    versions = [_version(store, record, schema, prompt) for record, _ in voters]
    taken = next((r for r in store.raters() if r.name == rater), None)
    if taken is not None and taken.kind == "judge" and store.prompt_versions(taken.id):
        raise ValueError(f"judge {rater!r} has votes of its own: name the panel otherwise")
    panel = store.rater(rater, "judge")
    pairs = [(record.id, v) for (record, _), v in zip(voters, versions, strict=True)]
    settled = store.settle_panel(panel.id, pairs, schema=schema)
    return PanelSummary(rater, tuple(zip(names, versions, strict=True)), settled)


def voting(store: Store, name: str, schema: str, prompt: str | None) -> tuple[int, str, str]:
    """Return id, name and prompt version of a judge whose votes are meant.

    Raises
    ------
    ValueError
        When there is no such judge, it has no votes, or it is open which prompt version counts.
    """
    record = known_rater(store, name)
    return record.id, record.name, _version(store, record, schema, prompt)


def _version(store: Store, record: RaterRecord, schema: str, prompt: str | None) -> str:
    """Return the prompt version of a judge that counts."""
    if record.kind != "judge":
        raise ValueError(f"rater {record.name!r} is a {record.kind}, not a judge")
    versions = store.prompt_versions(record.id, schema=schema)
    if not versions:
        raise ValueError(f"judge {record.name!r} has no votes: medoid judge asks for them")
    if prompt is None and len(versions) == 1:
        return versions[0]
    if prompt not in versions:
        raise ValueError(
            f"judge {record.name!r} has votes under {', '.join(versions)}: choose with --prompt-version"
        )
    return prompt
