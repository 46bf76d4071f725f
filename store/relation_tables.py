"""Tables of relation sets, of what models answer about them, and of items made from the answers."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from store.columns import JsonText, ModelText, utc_now

_REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"


class RelationSet(SQLModel, table=True):
    """Objects whose relations a model is asked about. `source` says where they are from."""

    __tablename__: ClassVar[Any] = "relation_set"
    __table_args__ = (
        CheckConstraint(
            "kind in ('temporal','spatial','kinship','contradiction')", name="relation_kind"
        ),
    )
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    kind: str
    source: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    extra: Any = Field(default=None, sa_column=Column(JsonText))
    created_at: str = Field(default_factory=utc_now)


class RelationObject(SQLModel, table=True):
    """An object of a set. `truth` is a number or [x, y]; `stated` is how its file writes it."""

    __tablename__: ClassVar[Any] = "relation_object"
    __table_args__ = (
        UniqueConstraint("set_id", "name"),
        UniqueConstraint("set_id", "position"),
        CheckConstraint("position >= 0", name="object_position"),
    )
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = Field(foreign_key="relation_set.id")
    position: int
    name: str
    truth: Any = Field(default=None, sa_column=Column(JsonText))
    stated: str | None = Field(default=None, sa_column=Column(ModelText))
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class RelationFact(SQLModel, table=True):
    """What is true of an ordered pair, or what the model is told of it. Append-only."""

    __tablename__: ClassVar[Any] = "relation_fact"
    __table_args__ = (
        CheckConstraint("\"use\" in ('truth','told')", name="fact_use"),
        CheckConstraint("a_id <> b_id", name="fact_pair"),
    )
    set_id: int = Field(foreign_key="relation_set.id", primary_key=True)
    use: str = Field(primary_key=True)
    a_id: int = Field(foreign_key="relation_object.id", primary_key=True)
    b_id: int = Field(foreign_key="relation_object.id", primary_key=True)
    relation: str | None = None
    value: Any = Field(default=None, sa_column=Column(JsonText))
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class RelationAsking(SQLModel, table=True):
    """One way of asking a model about a set: its pairs, or its objects themselves. Append-only."""

    __tablename__: ClassVar[Any] = "relation_asking"
    __table_args__ = (
        UniqueConstraint("set_id", "asks", "name"),
        CheckConstraint("asks in ('pairs','objects')", name="asking_asks"),
    )
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = Field(foreign_key="relation_set.id")
    asks: str
    name: str
    model: str
    form: str
    prompt_version: str
    created_at: str = Field(default_factory=utc_now)
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))


class RelationAnswer(SQLModel, table=True):
    """What a model said of an ordered pair; `relation` None = no usable answer. Append-only."""

    __tablename__: ClassVar[Any] = "relation_answer"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="relation_outcome"),
        CheckConstraint("relation is null or outcome = 'ok'", name="relation_read"),
        CheckConstraint("repeat >= 0", name="relation_repeat"),
    )
    asking_id: int = Field(foreign_key="relation_asking.id", primary_key=True)
    a_id: int = Field(foreign_key="relation_object.id", primary_key=True)
    b_id: int = Field(foreign_key="relation_object.id", primary_key=True)
    repeat: int = Field(primary_key=True)
    relation: str | None = None
    outcome: str
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    text: str | None = Field(default=None, sa_column=Column(ModelText))
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class RelationValue(SQLModel, table=True):
    """What a model said of an object itself, its date or place. Append-only."""

    __tablename__: ClassVar[Any] = "relation_value"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="value_outcome"),
        CheckConstraint("value is null or outcome = 'ok'", name="value_read"),
        CheckConstraint("repeat >= 0", name="value_repeat"),
    )
    asking_id: int = Field(foreign_key="relation_asking.id", primary_key=True)
    object_id: int = Field(foreign_key="relation_object.id", primary_key=True)
    repeat: int = Field(primary_key=True)
    outcome: str
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    value: Any = Field(default=None, sa_column=Column(JsonText))
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    text: str | None = Field(default=None, sa_column=Column(ModelText))
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class RelationItem(SQLModel, table=True):
    """What a pair or cycle item is about. Append-only: labels rest on it."""

    __tablename__: ClassVar[Any] = "relation_item"
    __table_args__ = (Index("ix_relation_item_asking_id", "asking_id"),)
    item_id: int = Field(foreign_key="item.id", primary_key=True)
    asking_id: int = Field(foreign_key="relation_asking.id")
    axis: str | None = None


class RelationEdge(SQLModel, table=True):
    """A statement of an item, by place: "a before b" on its axis, or the asked pair. Append-only."""

    __tablename__: ClassVar[Any] = "relation_edge"
    __table_args__ = (
        CheckConstraint("position >= 0", name="edge_position"),
        CheckConstraint("a_id <> b_id", name="edge_pair"),
    )
    item_id: int = Field(foreign_key="relation_item.item_id", primary_key=True)
    position: int = Field(primary_key=True)
    a_id: int = Field(foreign_key="relation_object.id")
    b_id: int = Field(foreign_key="relation_object.id")


class RelationReview(SQLModel, table=True):
    """A contradiction's place in the queue; `suspect` is the edge that would be mended: sealed."""

    __tablename__: ClassVar[Any] = "relation_review"
    __table_args__ = (CheckConstraint("rank >= 0 and breaks >= 0", name="review_rank"),)
    item_id: int = Field(foreign_key="relation_item.item_id", primary_key=True)
    rank: int
    breaks: int
    suspect: int | None = None
    edge_breaks: Any = Field(sa_column=Column(JsonText, nullable=False))
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))


class RelationSample(SQLModel, table=True):
    """A stated pair that was drawn to be labelled."""

    __tablename__: ClassVar[Any] = "relation_sample"
    item_id: int = Field(foreign_key="relation_item.item_id", primary_key=True)
    inclusion_probability: float
    random_key: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))


__all__ = [
    "RelationAnswer",
    "RelationAsking",
    "RelationEdge",
    "RelationFact",
    "RelationItem",
    "RelationObject",
    "RelationReview",
    "RelationSample",
    "RelationSet",
    "RelationValue",
]
