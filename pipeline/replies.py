"""The reply cache of the client, kept in the project's database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judges.budget import BYTES_PER_TOKEN, text_bytes
from judges.requests import Outcome, Reply, Request
from store import Store
from store.model_records import ReplyOutcome, ReplyRecord, RequestRecord


class StoreCache:
    """A `judges.requests.ReplyCache` over a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find_replies(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return the kept replies of those keys that have one, marked as cached."""
        return {key: _reply(r) for key, r in self._store.find_replies(keys).items()}

    def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> Mapping[str, Reply]:
        """Keep replies for good; when this returns they survive a crash. Known keys stay.

        Where another process was first with some, what stands under all of these keys is returned:
        rows are made of what is kept, not of what came.
        """
        n_new = self._store.keep_replies([(_request(q), _record(r)) for q, r in entries])
        keys = list(dict.fromkeys(q.key for q, _ in entries))
        return {} if n_new == len(keys) else self.find_replies(keys)


class TokenSizes:
    """How many bytes of a prompt are a token, by replies that are kept.

    Those of the request's model and role tell best, then those of the model alone; where none is
    kept it is `BYTES_PER_TOKEN`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[str, str], float] = {}

    def __call__(self, request: Request) -> float:
        """Return how many bytes of a request's messages are a token."""
        key = (request.model, request.role)
        if key not in self._known:
            self._known[key] = self._found(*key)
        return self._known[key]

    def _found(self, model: str, role: str) -> float:
        samples = self._store.prompt_samples(model, role) or self._store.prompt_samples(model)
        n_bytes = sum(text_bytes(content) for body, _ in samples for _, content in body["messages"])
        n_tokens = sum(tokens for _, tokens in samples)
        return n_bytes / n_tokens if n_bytes and n_tokens else BYTES_PER_TOKEN


def _request(request: Request) -> RequestRecord:
    return RequestRecord(
        key=request.key,
        body_hash=request.body_hash,
        sample=request.sample,
        role=request.role,
        model=request.model,
        prompt_version=request.prompt_version,
        body=request.body,
    )


def reply_outcome(outcome: Outcome) -> ReplyOutcome:
    """Return an outcome that is a reply; ValueError for the two that are none."""
    if outcome == "failed" or outcome == "unasked":
        raise ValueError(f"a request that ended as {outcome} has no reply to keep")
    return outcome


def _record(reply: Reply) -> ReplyRecord:
    return ReplyRecord(
        outcome=reply_outcome(reply.outcome),
        text=reply.text,
        data=reply.data,
        reason=reply.reason,
        finish_reason=reply.finish_reason,
        served_model=reply.served_model,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost=reply.cost,
        seconds=reply.seconds,
        attempts=reply.attempts,
    )


def _reply(record: ReplyRecord) -> Reply:
    return Reply(
        outcome=record.outcome,
        text=record.text,
        data=record.data,
        reason=record.reason,
        finish_reason=record.finish_reason,
        served_model=record.served_model,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        cost=record.cost,
        seconds=record.seconds,
        attempts=record.attempts,
        cached=True,
    )
