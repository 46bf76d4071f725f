"""Two judges, or two prompt versions of one, on the same items: how far their verdicts differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.panels import voting
from scoring.agreement import Drift, Stability, drift, stability
from store import Store


@dataclass(frozen=True, slots=True)
class JudgeSide:
    """One side of a comparison.

    `n_items` have verdicts; on `n_tied` of them no category has most, on `n_unread` none could be
    read. `stability` is how far its repeats agree, by question; `shares` counts the majorities.
    """

    rater: str
    prompt_version: str
    n_items: int
    n_tied: int
    n_unread: int
    shares: Mapping[str, int]
    stability: Stability


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Majority against majority, item by item.

    `n_both` items have verdicts of both sides (ties and unreadable ones among them, which `drift`
    drops and counts), of `n_questions` questions where items have any. `moves` are the changes of
    verdict, (from, to) → how many, the most frequent first.
    """

    schema: str
    first: JudgeSide
    second: JudgeSide
    n_both: int
    n_questions: int
    drift: Drift
    moves: Mapping[tuple[str, str], int]


def compare_judges(
    store: Store, names: Sequence[str], *, schema: str = "path", prompts: Sequence[str] = ()
) -> JudgeComparison:
    """Compare two judges, or with one name and two `prompts` two versions of its prompt.

    Raises
    ------
    ValueError
        When it is not clear which two are meant, one has no votes, or they share no item.
    """
    pairs = _sides(names, prompts)
    judges = [voting(store, name, schema, prompt) for name, prompt in pairs]
    if judges[0] == judges[1]:
        raise ValueError(
            f"both are judge {judges[0][1]!r} under {judges[0][2]}: name two judges, or one and "
            "two of its prompt versions"
        )
    votes = [store.votes(ident, version, schema=schema) for ident, _, version in judges]
    both = sorted(set(votes[0]) & set(votes[1]))
    if not both:
        raise ValueError("the two judged no item in common")
    keys = store.item_keys([*votes[0], *votes[1]])
    sides, words = [], []
    for (_, name, version), said in zip(judges, votes, strict=True):
        side, by_item = _side(name, version, said, keys)
        sides.append(side)
        words.append([by_item[i] for i in both])
    found = drift(*words)
    moves: dict[tuple[str, str], int] = {}
    for pair in zip(*words, strict=True):
        if None not in pair and pair[0] != pair[1]:
            place = (str(pair[0]), str(pair[1]))
            moves[place] = moves.get(place, 0) + 1
    return JudgeComparison(
        schema,
        sides[0],
        sides[1],
        len(both),
        len({_question(keys[i]) for i in both}),
        found,
        dict(sorted(moves.items(), key=lambda move: (-move[1], move[0]))),
    )


def _sides(names: Sequence[str], prompts: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return which judge and prompt version each side is."""
    if len(names) == 2 and len(prompts) <= 2:
        chosen: list[str | None] = [None, None]
        if prompts:
            chosen = [prompts[0], prompts[-1]]
        return list(zip(names, chosen, strict=True))
    if len(names) == 1 and len(prompts) == 2:
        return [(names[0], prompt) for prompt in prompts]
    raise ValueError(
        "two judges are compared (--of RATER --of RATER), or two prompt versions of one (--of "
        "RATER --prompt-version A --prompt-version B)"
    )


def _side(
    name: str, version: str, votes: Mapping[int, Sequence[object]], keys: Mapping[int, str]
) -> tuple[JudgeSide, dict[int, str | None]]:
    rows = {i: [getattr(v, "category", None) for v in said] for i, said in votes.items()}
    found = stability(rows.values(), clusters=[_question(keys[i]) for i in rows])
    words = {
        i: None if item.majority is None else str(item.majority)
        for i, item in zip(rows, found.items, strict=True)
    }
    shares: dict[str, int] = {}
    for word in words.values():
        if word is not None:
            shares[word] = shares.get(word, 0) + 1
    n_unread = sum(item.n == 0 for item in found.items)
    n_tied = sum(word is None for word in words.values()) - n_unread
    side = JudgeSide(
        name, version, len(rows), n_tied, n_unread, dict(sorted(shares.items())), found
    )
    return side, words


def _question(key: str) -> str:
    """Return what of an item's key says which question or set it belongs to: its first two parts."""
    return "/".join(key.partition(":")[2].split("/")[:2])
