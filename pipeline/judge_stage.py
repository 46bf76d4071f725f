"""What a judge at work holds, whatever it judges: how it asks, what it said, what that comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from judges.requests import Form, Request, Sampling
from pipeline.asking import of_its_own
from pipeline.raters import judge_id
from store import Store
from store.model_records import VoteRecord, VotesSettled

if TYPE_CHECKING:
    from judges.endpoint import Endpoint


G = TypeVar("G")


class JudgeStage(Generic[G]):
    """One judge at work under one schema and prompt version; items come in groups of G."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        rater: str,
        schema: str,
        form: Form,
        sampling: Sampling,
        seed: int,
        prompt_version: str,
    ) -> None:
        self._store = store
        self._model = endpoint.model
        self._schema = schema
        self._form = form
        self._sampling = sampling
        self._seed = seed
        self._missing: list[tuple[G, list[tuple[str, int]]]] = []
        self._ids: dict[str, int] = {}
        self._rater_id = judge_id(store, rater)
        self.rater = rater
        self.prompt_version = prompt_version
        self.total = 0

    @property
    def parameters(self) -> dict[str, object]:
        """How the judge is asked."""
        return {
            "rater": self.rater,
            "model": self._model,
            "prompt_version": self.prompt_version,
            "form": self._form,
            "seed": self._seed,
            "sampling": self._sampling.as_json(),
        }

    def _own(self, request: Request) -> Request:
        return of_its_own(request, self.rater)

    def _voted(self) -> dict[tuple[int, int], str | None]:
        """Return the reply behind every verdict that is there, by item and repeat."""
        if self._rater_id is None:
            return {}
        return self._store.voted(self._rater_id, self.prompt_version, schema=self._schema)

    def _note(self, group: G, lacking: list[tuple[str, int]]) -> None:
        """Note which verdicts on a group are missing."""
        self.total += len(lacking)
        if lacking:
            self._missing.append((group, lacking))

    def _refuse_other(self, there: Collection[str | None], asked: Request) -> None:
        """Refuse to mix two ways of asking under one name."""
        if set(there) != {asked.key}:
            raise ValueError(
                f"judge {self.rater!r} gave verdicts under {self.prompt_version} with another "
                "model, seed or parameters: name this one with --rater NAME"
            )

    def _make(self, keys: Iterable[str]) -> None:
        """Make the rater and the items that verdicts will hang on."""
        self._rater_id = self._store.rater(self.rater, "judge").id
        self._ids = self._store.make_items(list(keys))

    def _keep(self, votes: Sequence[VoteRecord]) -> None:
        self._store.save_votes(self._rater_id or 0, self.prompt_version, votes, schema=self._schema)

    def _complete(
        self, rater_id: int, ids: Iterable[int], repeats: int
    ) -> dict[int, tuple[VoteRecord, ...]]:
        """Return the verdicts on those items whose repeats are all in."""
        votes = self._store.votes(
            rater_id, self.prompt_version, schema=self._schema, item_ids=sorted(ids)
        )
        wanted = set(range(repeats))
        return {item: said for item, said in votes.items() if {v.repeat for v in said} >= wanted}

    def _settle(self, rater_id: int, items: Iterable[int]) -> VotesSettled:
        """Make the majority on each item the judge's label."""
        return self._store.settle_votes(
            rater_id, self.prompt_version, schema=self._schema, item_ids=sorted(items)
        )
