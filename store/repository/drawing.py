"""Drawing what people label: systematic from a random order, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from store.repository.cases import digest

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Candidate(Generic[K]):
    """What may be drawn: its id, its pool (dataset, question, name), and a text that is its own."""

    ident: K
    pool: tuple[str, str, str]
    key: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """With what probability something was drawn, and its place among all that was."""

    probability: float
    random_key: str


def draw(population: Sequence[Candidate[K]], n: int, seed: int, what: str) -> dict[K, Drawn]:
    """Draw n of N, each with probability n/N and no pool more than its share rounded up.

    Pools in random order, what is in them in random order, and every N/n-th from a random start;
    whole numbers, so that no place is drawn twice. `what` keeps draws of one seed apart.
    """
    n = min(n, len(population))
    if n == 0:
        return {}
    rng = random.Random(f"{seed}\x1f{what}")
    pools: dict[tuple[str, str, str], list[Candidate[K]]] = {}
    for one in population:
        pools.setdefault(one.pool, []).append(one)
    order = list(pools)
    rng.shuffle(order)
    line: list[Candidate[K]] = []
    for pool in order:
        rng.shuffle(pools[pool])
        line += pools[pool]
    fine = 2**40
    start = rng.randrange(fine)
    chosen = [line[(k * fine + start) * len(line) // (n * fine)] for k in range(n)]
    return {c.ident: Drawn(n / len(line), digest(str(seed), c.key)[:16]) for c in chosen}


@dataclass(frozen=True, slots=True)
class Room(Generic[K]):
    """What a new draw does to an earlier one.

    `withdrawn` are to be deleted; of them `n_gone` are not drawn again.
    """

    n_same: int
    n_kept: int
    n_gone: int
    withdrawn: tuple[K, ...]


def make_room(
    sampled: Iterable[tuple[K, Drawn]], labelled: Collection[K], drawn: dict[K, Drawn]
) -> Room[K]:
    """Say what of an earlier draw stays: what is drawn just so again, and what is labelled.

    That is taken out of `drawn`, so that what is left there is to be added.
    """
    n_same = n_kept = n_gone = 0
    withdrawn = []
    for ident, old in sampled:
        new = drawn.get(ident)
        if new == old:
            n_same += 1
        elif ident in labelled:
            n_kept += 1
        else:
            withdrawn.append(ident)
            n_gone += new is None
            continue
        drawn.pop(ident, None)
    return Room(n_same, n_kept, n_gone, tuple(withdrawn))
