"""Replies of models, kept for good; what they used; what servers were found to be."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import column, func, table
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import dumps, utc_now
from store.engine import Base
from store.model_records import REPLIED, FindingRecord, ReplyRecord, RequestRecord, RoleUsage
from store.repository.rows import add_missing, chunks

_RECORDED = (
    "outcome",
    "text",
    "data",
    "reason",
    "finish_reason",
    "served_model",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "seconds",
    "attempts",
)
_FROM_SERVER = ("text", "reason", "finish_reason", "served_model")


def _plain(model: Any) -> Any:
    """Return a table whose columns take text that is encoded already."""
    return table(model.__tablename__, *(column(c.name) for c in model.__table__.columns))


_REQUEST = _plain(t.ModelRequest)
_REPLY = _plain(t.ModelReply)


class Replies(Base):
    """The cache of replies. Nothing here goes to a screen or file without the seal's leave."""

    def find_replies(self, keys: Sequence[str]) -> dict[str, ReplyRecord]:
        """Return the kept replies of those keys that have one."""
        columns = [getattr(t.ModelReply, name) for name in _RECORDED]
        found: dict[str, ReplyRecord] = {}
        with self._read() as s:
            for part in chunks(list(dict.fromkeys(keys))):
                rows = s.connection().execute(
                    plain_select(col(t.ModelReply.key), *columns).where(
                        col(t.ModelReply.key).in_(part)
                    )
                )
                for key, *values in rows:
                    found[key] = ReplyRecord(*values)
        return found

    def keep_replies(self, entries: Iterable[tuple[RequestRecord, ReplyRecord]]) -> int:
        """Keep replies in one transaction; return how many were new.

        They are on the disk when this returns. The first reply of a key stays for good. After a
        transaction others get a moment to write.

        Raises
        ------
        ValueError
            When an outcome is no reply (a failed request has none), or a key is not that of its
            request. Nothing is kept then.
        """
        now = utc_now()
        requests: dict[str, dict[str, Any]] = {}
        replies: dict[str, dict[str, Any]] = {}
        for request, reply in entries:
            if request.key in replies:
                continue
            replies[request.key] = _reply_row(request, reply, now)
            if request.body_hash not in requests:
                requests[request.body_hash] = _request_row(request, now)
        if not replies:
            return 0
        with self._write() as s:
            new = _missing(s, t.ModelReply.key, replies)
            asked = {row["request_hash"]: requests[row["request_hash"]] for row in new}
            add_missing(s, _REQUEST, _missing(s, t.ModelRequest.hash, asked))
            n_new = add_missing(s, _REPLY, new)
        self._let_others_write()
        return n_new

    def usage_by_role(self) -> tuple[RoleUsage, ...]:
        """Return what each role used of each model, over all kept replies.

        A row a role and model: costs of two models may be in two currencies.
        """
        reply: Any = t.ModelReply
        known = reply.prompt_tokens.is_not(None) & reply.completion_tokens.is_not(None)
        with self._read() as s:
            rows = s.execute(
                plain_select(
                    col(t.ModelRequest.role),
                    col(t.ModelRequest.model),
                    reply.outcome,
                    func.count(),
                    func.coalesce(func.sum(reply.prompt_tokens), 0),
                    func.coalesce(func.sum(reply.completion_tokens), 0),
                    func.count().filter(~known),
                    func.sum(reply.cost),
                    func.count(reply.cost),
                    func.coalesce(func.sum(reply.seconds), 0.0),
                )
                .join(t.ModelRequest, col(t.ModelRequest.hash) == reply.request_hash)
                .group_by(col(t.ModelRequest.role), col(t.ModelRequest.model), reply.outcome)
                .order_by(col(t.ModelRequest.role), col(t.ModelRequest.model))
            ).all()
        groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
        for role, model, *rest in rows:
            groups[role, model].append(rest)
        return tuple(_usage(role, model, parts) for (role, model), parts in groups.items())

    def prompt_samples(
        self, model: str, role: str | None = None, limit: int = 100
    ) -> tuple[tuple[Any, int], ...]:
        """Return some requests of a model, of one role where it is given: body and prompt tokens.

        The same ones each time, and only those whose server told.
        """
        reply: Any = t.ModelReply
        asked = plain_select(col(t.ModelRequest.body), reply.prompt_tokens).join(
            t.ModelRequest, col(t.ModelRequest.hash) == reply.request_hash
        )
        asked = asked.where(col(t.ModelRequest.model) == model, reply.prompt_tokens > 0)
        if role is not None:
            asked = asked.where(col(t.ModelRequest.role) == role)
        with self._read() as s:
            rows = s.execute(asked.order_by(reply.key).limit(limit)).all()
            return tuple((body, tokens) for body, tokens in rows)

    def n_replies(self) -> int:
        """Count the kept replies."""
        with self._read() as s:
            return s.exec(select(func.count()).select_from(t.ModelReply)).one()

    def keep_finding(self, base_url: str, model: str, findings: Mapping[str, Any]) -> None:
        """Note what probing a server and model found, in place of what was found before.

        Raises
        ------
        ValueError
            When the URL holds a user name or password: it would be stored.
        """
        url = urlsplit(base_url)
        if url.username is not None or url.password is not None:
            raise ValueError("the base URL holds a user name or password: name the key's variable")
        with self._write() as s:
            row = s.get(t.ServerFinding, (base_url, model))
            if row is None:
                s.add(t.ServerFinding(base_url=base_url, model=model, findings=dict(findings)))
            else:
                row.findings, row.found_at = dict(findings), utc_now()
                s.add(row)

    def finding(self, base_url: str, model: str) -> FindingRecord | None:
        """Return what was found of a server and model, None when it was never probed."""
        with self._read() as s:
            row = s.get(t.ServerFinding, (base_url, model))
            if row is None:
                return None
            return FindingRecord(row.base_url, row.model, row.findings, row.found_at)


def _missing(s: Session, key: Any, rows: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows whose key the database does not have, by key.

    In one order for all, so that two writers of the same keys do not wait for each other.
    """
    there: set[str] = set()
    for part in chunks(sorted(rows)):
        there.update(s.exec(select(key).where(col(key).in_(part))))
    return [row for name, row in sorted(rows.items()) if name not in there]


def _reply_row(request: RequestRecord, reply: ReplyRecord, now: str) -> dict[str, Any]:
    if reply.outcome not in REPLIED:
        raise ValueError(
            f"{request.key} ended as {reply.outcome!r}, which is no reply; "
            f"one of {', '.join(REPLIED)} is right"
        )
    if request.key != f"{request.body_hash}:{request.sample}":
        raise ValueError(
            f"{request.key!r} is not the key of body {request.body_hash!r}, sample {request.sample}"
        )
    row = {name: getattr(reply, name) for name in _RECORDED}
    for name in _FROM_SERVER:
        row[name] = None if row[name] is None else dumps(row[name])
    for name in ("prompt_tokens", "completion_tokens"):
        # A count that no server can mean is as good as none, and no reason to lose a reply.
        row[name] = row[name] if 0 <= (row[name] or 0) < 2**31 else None
    return {
        **row,
        "data": _data_text(reply.data),
        "key": request.key,
        "request_hash": request.body_hash,
        "sample": request.sample,
        "created_at": now,
    }


def _data_text(data: Any) -> str | None:
    """Return a reply's value as text. A model may write 1e999: no reply is lost for that."""
    if data is None:
        return None
    try:
        return dumps(data)
    except ValueError:
        return json.dumps(data)


def _request_row(request: RequestRecord, now: str) -> dict[str, Any]:
    return {
        "hash": request.body_hash,
        "role": request.role,
        "model": request.model,
        "prompt_version": request.prompt_version,
        "body": dumps(dict(request.body)),
        "created_at": now,
    }


def _usage(role: str, model: str, parts: Sequence[Sequence[Any]]) -> RoleUsage:
    n = sum(p[1] for p in parts)
    n_priced = sum(p[6] for p in parts)
    return RoleUsage(
        role=role,
        model=model,
        n=n,
        by_outcome={p[0]: p[1] for p in sorted(parts, key=lambda p: REPLIED.index(p[0]))},
        prompt_tokens=sum(int(p[2]) for p in parts),
        completion_tokens=sum(int(p[3]) for p in parts),
        unknown_tokens=sum(p[4] for p in parts),
        cost=float(sum(p[5] or 0.0 for p in parts)) if n_priced else None,
        unknown_cost=n - n_priced,
        seconds=float(sum(p[7] for p in parts)),
    )
