"""A judge's votes, and the labels they come to. All of it is sealed for people who label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.label_records import JOINT
from store.model_records import REPLIED, VoteRecord, VotesSettled
from store.records import NewLabel, SchemaRecord
from store.repository.choices import in_order
from store.repository.items import ConflictError
from store.repository.label_imports import LabelBatch, new_label_hash
from store.repository.panels import Panel, panel_of
from store.repository.rows import add_missing, chunks, is_standing, latest_label, need_schema

SETTLE_EVERY = 100
"""Labels to a transaction: a person's label made meanwhile waits for at most one of them."""


class Votes(Base):
    """What judges said, reply by reply. For stages and judges' reports, never for a screen that a
    sealed rater sees, and for no listing without ``--unseal``."""

    def save_votes(
        self,
        rater_id: int,
        prompt_version: str,
        votes: Iterable[VoteRecord],
        *,
        schema: str = "path",
    ) -> int:
        """Append a judge's votes in one transaction; return how many were new.

        A vote that is there (rater, schema, prompt version, item, repeat) stays as it is.

        Raises
        ------
        ValueError
            When the rater is no judge, an item of another kind, an outcome no reply, or a category
            not the schema's.
        ConflictError
            When a vote of this repeat came from another reply: the judge was asked otherwise (other
            parameters, another model) under the same name. Nothing is stored then.
        """
        now = utc_now()
        new = {(v.item_id, v.repeat): v for v in votes}
        with self._write() as s:
            name = _need_judge(s, rater_id)
            record = need_schema(s, schema)
            missing = []
            for part in chunks(sorted({item for item, _ in new})):
                _check_items(s, part, record)
                known = _stored(s, rater_id, prompt_version, schema, part)
                before = {(v.item_id, v.repeat): v for vs in known.values() for v in vs}
                for place in sorted(p for p in new if p[0] in set(part)):
                    row = _checked(new[place], record)
                    if place not in before:
                        missing.append(_values(row, rater_id, prompt_version, record, now))
                    elif not _same_reply(before[place], row):
                        raise ConflictError(
                            f"judge {name!r} has another reply as repeat {place[1]} on item "
                            f"{place[0]} under {prompt_version}: it was asked otherwise, so give "
                            "it another name"
                        )
            n_new = add_missing(s, t.JudgeVote, missing)
        self._let_others_write()
        return n_new

    def votes(
        self,
        rater_id: int,
        prompt_version: str,
        *,
        schema: str = "path",
        item_ids: Sequence[int] | None = None,
    ) -> dict[int, tuple[VoteRecord, ...]]:
        """Return a judge's votes by item id, repeats in order; of some items where given."""
        with self._read() as s:
            return _stored(s, rater_id, prompt_version, schema, item_ids)

    def voted(
        self, rater_id: int, prompt_version: str, *, schema: str = "path"
    ) -> dict[tuple[int, int], str | None]:
        """Return (item id, repeat) → reply key of the votes that are there."""
        with self._read() as s:
            rows = s.exec(
                select(t.JudgeVote.item_id, t.JudgeVote.repeat, t.JudgeVote.reply_key).where(
                    t.JudgeVote.rater_id == rater_id,
                    t.JudgeVote.prompt_version == prompt_version,
                    t.JudgeVote.schema_name == schema,
                )
            )
            return {(item, repeat): key for item, repeat, key in rows}

    def prompt_versions(self, rater_id: int, *, schema: str = "path") -> tuple[str, ...]:
        """Return the prompt versions under which a judge has votes, by name."""
        with self._read() as s:
            return tuple(
                s.exec(
                    select(t.JudgeVote.prompt_version)
                    .where(t.JudgeVote.rater_id == rater_id, t.JudgeVote.schema_name == schema)
                    .distinct()
                    .order_by(col(t.JudgeVote.prompt_version))
                )
            )

    def label_prompts(self, rater_id: int, *, schema: str = "path") -> tuple[str | None, ...]:
        """Return the prompt versions of a judge's standing labels, None where one does not say.

        They need not be those of its votes: labels are imported, and those of panels have none.
        """
        with self._read() as s:
            found = s.exec(
                select(t.VerdictDetail.prompt_version)
                .select_from(t.Label)
                .join(
                    t.VerdictDetail,
                    col(t.VerdictDetail.label_id) == col(t.Label.id),
                    isouter=True,
                )
                .where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    is_standing(t.Label),
                )
                .distinct()
            ).all()
        return tuple(sorted(found, key=lambda version: version or ""))

    def settle_votes(
        self,
        rater_id: int,
        prompt_version: str,
        *,
        schema: str = "path",
        item_ids: Sequence[int] | None = None,
    ) -> VotesSettled:
        """Make the majority of a judge's votes its label, item by item.

        The label carries the rationale and raw reply of a vote of the majority, and all counts;
        see `panels.Panel` for ties. An item whose label says this already gets no row; any other
        label of the judge is superseded.
        """
        with self._read() as s:
            _need_judge(s, rater_id)
            votes = _stored(s, rater_id, prompt_version, schema, item_ids)
        panels = {item: panel_of(rows) for item, rows in votes.items()}
        extras = {item: _extra(panels[item], rows) for item, rows in votes.items()}
        return self._settle(rater_id, prompt_version, schema, panels, extras)

    def settle_panel(
        self,
        rater_id: int,
        voters: Sequence[tuple[int, str]],
        *,
        schema: str = "path",
        item_ids: Sequence[int] | None = None,
    ) -> VotesSettled:
        """Make the majority of several judges the label of another one, the panel.

        `voters` are (rater id, prompt version). Each judge's own majority is one vote, however
        often it was asked; a judge tied with itself, or never understood, abstains.

        Raises
        ------
        ValueError
            When a rater is no judge, fewer than two vote, or the panel is one of them.
        """
        if len(set(voters)) < 2 or rater_id in {v for v, _ in voters}:
            raise ValueError("a panel is a judge of its own, over at least two others")
        by_item: dict[int, list[tuple[str, Panel]]] = {}
        with self._read() as s:
            _need_judge(s, rater_id)
            for voter, prompt in dict.fromkeys(voters):
                name = f"{_need_judge(s, voter)} {prompt}"
                for item, rows in _stored(s, voter, prompt, schema, item_ids).items():
                    by_item.setdefault(item, []).append((name, panel_of(rows)))
        panels, extras = {}, {}
        for item, said in by_item.items():
            panels[item] = panel_of([_as_vote(p, n) for n, (_, p) in enumerate(said)])
            if panels[item].n_parsed == 0 and any(p.tied for _, p in said):
                panels[item] = replace(panels[item], tied=True)
            extras[item] = _extra(panels[item], ()) | {"voters": {n: p.category for n, p in said}}
        prompts = " + ".join(sorted({p for _, p in voters}))
        return self._settle(rater_id, prompts, schema, panels, extras)

    def _settle(
        self,
        rater_id: int,
        prompt_version: str,
        schema: str,
        panels: Mapping[int, Panel],
        extras: Mapping[int, dict[str, Any]],
    ) -> VotesSettled:
        done: Counter[str] = Counter()
        items = sorted(panels)
        waiting: list[tuple[int, NewLabel]] = []
        for part in chunks(items):
            with self._read() as s:
                name = _need_judge(s, rater_id)
                keys = _keys(s, part)
                raw = _raw(s, [panels[i].chosen.reply_key for i in part])
                hashes = _standing_hashes(s, rater_id, schema, part)
            for item in part:
                label = replace(
                    _label(panels[item], keys[item], schema, name, raw),
                    prompt_version=prompt_version,
                    extra=extras[item],
                )
                if hashes.get(item) == new_label_hash(label):
                    done["known"] += 1
                else:
                    waiting.append((item, label))
        for start in range(0, len(waiting), SETTLE_EVERY):
            with self._write() as s:
                batch = LabelBatch(s)
                for item, label in waiting[start : start + SETTLE_EVERY]:
                    done[_commit(s, batch, label, rater_id, item)] += 1
            self._let_others_write()
        return VotesSettled(
            n_items=len(items),
            n_added=done["added"],
            n_changed=done["changed"],
            n_known=done["known"],
            n_tied=sum(p.tied for p in panels.values()),
            n_unparsed=sum(p.state == "unparsed" for p in panels.values()),
        )


def _need_judge(s: Session, rater_id: int) -> str:
    rater = s.get_one(t.Rater, rater_id)
    if rater.kind != "judge":
        raise ValueError(f"rater {rater.name!r} is a {rater.kind}, not a judge")
    return rater.name


def _check_items(s: Session, ids: Sequence[int], schema: SchemaRecord) -> None:
    kinds = dict(s.exec(select(t.Item.id, t.Item.kind).where(col(t.Item.id).in_(ids))).all())
    for ident in ids:
        if kinds.get(ident) != schema.item_kind:
            raise ValueError(
                f"item {ident} is {kinds.get(ident) or 'not in the database'}; schema "
                f"{schema.name} is for {schema.item_kind} items"
            )


def _checked(vote: VoteRecord, schema: SchemaRecord) -> VoteRecord:
    """Return a vote with its categories in the schema's order."""
    place = f"vote {vote.repeat} on item {vote.item_id}"
    if vote.outcome not in REPLIED:
        raise ValueError(
            f"{place} ended as {vote.outcome!r}, which is no reply; "
            f"one of {', '.join(REPLIED)} is right"
        )
    if vote.repeat < 0:
        raise ValueError(f"{place}: repeats are counted from 0")
    step = vote.first_wrong_step
    if step is not None and not 0 <= step < 2**31:
        raise ValueError(f"{place}: first wrong step {step}; a step number from 0, or None")
    if vote.category is None:
        return vote
    if vote.outcome != "ok":
        raise ValueError(f"{place} ended as {vote.outcome!r}; it goes without a category")
    parts = vote.category.split(JOINT) if schema.multi else [vote.category]
    return replace(vote, category=JOINT.join(in_order(schema, parts)))


def _same_reply(before: VoteRecord, new: VoteRecord) -> bool:
    if before.reply_key is not None or new.reply_key is not None:
        return before.reply_key == new.reply_key
    return replace(before, created_at=None) == replace(new, created_at=None)


def _values(
    vote: VoteRecord, rater_id: int, prompt_version: str, schema: SchemaRecord, now: str
) -> dict[str, Any]:
    return {
        "item_id": vote.item_id,
        "rater_id": rater_id,
        "schema_name": schema.name,
        "schema_version": schema.version,
        "prompt_version": prompt_version,
        "repeat": vote.repeat,
        "outcome": vote.outcome,
        "category": vote.category,
        "first_wrong_step": vote.first_wrong_step,
        "reply_key": vote.reply_key,
        "created_at": vote.created_at or now,
        "flags": list(vote.flags),
        "option_order": list(vote.option_order),
        "reason": vote.reason,
        "rationale": vote.rationale,
    }


def _stored(
    s: Session,
    rater_id: int,
    prompt_version: str,
    schema: str,
    item_ids: Sequence[int] | None = None,
) -> dict[int, tuple[VoteRecord, ...]]:
    query = (
        select(t.JudgeVote)
        .where(
            t.JudgeVote.rater_id == rater_id,
            t.JudgeVote.schema_name == schema,
            t.JudgeVote.prompt_version == prompt_version,
        )
        .order_by(col(t.JudgeVote.item_id), col(t.JudgeVote.repeat))
    )
    parts = [None] if item_ids is None else chunks(sorted(set(item_ids)))
    found: dict[int, list[VoteRecord]] = {}
    for part in parts:
        wanted = query if part is None else query.where(col(t.JudgeVote.item_id).in_(part))
        for row in s.exec(wanted):
            found.setdefault(row.item_id, []).append(_record(row))
    return {item: tuple(votes) for item, votes in found.items()}


def _record(row: t.JudgeVote) -> VoteRecord:
    return VoteRecord(
        item_id=row.item_id,
        repeat=row.repeat,
        outcome=row.outcome,  # type: ignore[arg-type]  # constrained by the table
        category=row.category,
        first_wrong_step=row.first_wrong_step,
        rationale=row.rationale,
        flags=tuple(row.flags),
        option_order=tuple(row.option_order),
        reason=row.reason,
        reply_key=row.reply_key,
        created_at=row.created_at,
    )


def _as_vote(panel: Panel, place: int) -> VoteRecord:
    """Return a judge's majority as one vote of a panel of judges."""
    return replace(
        panel.chosen,
        repeat=place,
        category=panel.category,
        first_wrong_step=panel.first_wrong_step,
    )


def _extra(panel: Panel, votes: Sequence[VoteRecord]) -> dict[str, Any]:
    """Return what the label says of its votes; all of it is the judge's, so all of it is sealed."""
    said: dict[str, Any] = {
        "votes": dict(panel.counts),
        "n_votes": panel.n,
        "n_parsed": panel.n_parsed,
        "self_agreement" if votes else "panel_agreement": panel.agreement,
    }
    if panel.tied:
        said["tied"] = True
    if votes:
        said["order"] = [list(v.option_order) for v in votes]
        said["outcomes"] = dict(sorted(Counter(v.outcome for v in votes).items()))
    return said


def _keys(s: Session, ids: Sequence[int]) -> dict[int, str]:
    rows = s.exec(select(t.Item.id, t.Item.key).where(col(t.Item.id).in_(ids)))
    return {ident or 0: key for ident, key in rows}


def _standing_hashes(
    s: Session, rater_id: int, schema: str, ids: Sequence[int]
) -> dict[int, str | None]:
    rows = s.exec(
        select(t.Label.item_id, t.Label.content_hash).where(
            t.Label.rater_id == rater_id,
            t.Label.schema_name == schema,
            col(t.Label.item_id).in_(ids),
            is_standing(t.Label),
        )
    )
    return dict(rows.all())


def _raw(s: Session, keys: Iterable[str | None]) -> dict[str, str]:
    wanted = sorted({k for k in keys if k is not None})
    found: dict[str, str] = {}
    for part in chunks(wanted):
        found.update(
            s.exec(
                select(t.ModelReply.key, t.ModelReply.text).where(col(t.ModelReply.key).in_(part))
            ).all()
        )
    return found


def _label(panel: Panel, key: str, schema: str, rater: str, raw: Mapping[str, str]) -> NewLabel:
    speaks = panel.chosen if panel.state != "unsure" else None
    return NewLabel(
        item=key,
        schema=schema,
        rater=rater,
        rater_kind="judge",
        state=panel.state,
        category=panel.category,
        first_wrong_step=panel.first_wrong_step,
        rationale=(speaks.rationale or None) if speaks else None,
        raw=raw.get(speaks.reply_key or "") if speaks else None,
    )


def _commit(s: Session, batch: LabelBatch, label: NewLabel, rater_id: int, item: int) -> str:
    """Append a label unless the one that stands says the same: another process may be at it."""
    before = latest_label(s, rater_id, label.schema, item)
    if before is not None and before.content_hash == new_label_hash(label):
        return "known"
    return batch.add_label(replace(label, created_at=utc_now()))
