"""Tables of deduction: problems, templates, mutations, prefixes, completions, stated values."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from store.columns import JsonText, ModelText, utc_now

_REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"


class DeductionProblem(SQLModel, table=True):
    """A problem as it stands in its source. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_problem"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    source: str = ""
    created_at: str = Field(default_factory=utc_now)
    question: str = Field(sa_column=Column(ModelText, nullable=False))
    gold: Any = Field(default=None, sa_column=Column(JsonText))
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class DeductionTemplate(SQLModel, table=True):
    """An attempt at a problem's template, with what its sanity checks found. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_template"
    __table_args__ = (
        UniqueConstraint("problem_id", "solver", "attempt"),
        CheckConstraint("attempt >= 0", name="template_attempt"),
    )
    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="deduction_problem.id")
    solver: str
    attempt: int
    passed: bool
    content_hash: str
    created_at: str = Field(default_factory=utc_now)
    made_by: Any = Field(sa_column=Column(JsonText, nullable=False))
    failures: Any = Field(sa_column=Column(JsonText, nullable=False))
    template: Any = Field(default=None, sa_column=Column(JsonText))
    solution: str | None = Field(default=None, sa_column=Column(ModelText))


class DeductionMutation(SQLModel, table=True):
    """A template's question and steps with one set of numbers; -1: its own. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_mutation"
    __table_args__ = (
        UniqueConstraint("template_id", "number"),
        CheckConstraint("number >= -1", name="mutation_number"),
    )
    id: int | None = Field(default=None, primary_key=True)
    template_id: int = Field(foreign_key="deduction_template.id")
    number: int
    created_at: str = Field(default_factory=utc_now)
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    inputs: Any = Field(sa_column=Column(JsonText, nullable=False))
    numbers: Any = Field(sa_column=Column(JsonText, nullable=False))
    question: str = Field(sa_column=Column(ModelText, nullable=False))
    steps: Any = Field(sa_column=Column(JsonText, nullable=False))


class DeductionSolver(SQLModel, table=True):
    """A named way of asking for solutions. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_solver"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    model: str
    prompt_version: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    created_at: str = Field(default_factory=utc_now)


class DeductionPrefix(SQLModel, table=True):
    """The first k steps of a mutation in another style, or why there are none. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_prefix"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="prefix_outcome"),
        CheckConstraint("(fault is null) = (text is not null)", name="prefix_fault"),
        CheckConstraint("k >= 1", name="prefix_k"),
    )
    mutation_id: int = Field(foreign_key="deduction_mutation.id", primary_key=True)
    k: int = Field(primary_key=True)
    style: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    prompt_version: str
    outcome: str
    fault: str | None = None
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    text: str | None = Field(default=None, sa_column=Column(ModelText))


class DeductionCompletion(SQLModel, table=True):
    """What a solver wrote after the first k steps of a mutation. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_completion"
    __table_args__ = (
        UniqueConstraint("mutation_id", "solver_id", "k", "style"),
        CheckConstraint(_REPLIED, name="completion_outcome"),
        CheckConstraint("way in ('none','assistant','quoted')", name="completion_way"),
        CheckConstraint("k >= 0 and (k = 0) = (way = 'none')", name="completion_k"),
        Index("ix_deduction_completion_solver_id", "solver_id", "style"),
    )
    id: int | None = Field(default=None, primary_key=True)
    mutation_id: int = Field(foreign_key="deduction_mutation.id")
    solver_id: int = Field(foreign_key="deduction_solver.id")
    k: int
    style: str
    way: str
    outcome: str
    prompt_version: str
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    prefix: str = Field(sa_column=Column(ModelText, nullable=False))
    text: str = Field(sa_column=Column(ModelText, nullable=False))


class DeductionReading(SQLModel, table=True):
    """The values that a completion states, as one reader has it. Append-only."""

    __tablename__: ClassVar[Any] = "deduction_reading"
    __table_args__ = (CheckConstraint(_REPLIED, name="reading_outcome"),)
    completion_id: int = Field(foreign_key="deduction_completion.id", primary_key=True)
    reader: str = Field(primary_key=True)
    version: str = Field(primary_key=True)
    outcome: str
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    stated: Any = Field(sa_column=Column(JsonText, nullable=False))
    how: Any = Field(sa_column=Column(JsonText, nullable=False))


class DeductionItem(SQLModel, table=True):
    """Which completion an item is about. Append-only: labels rest on it."""

    __tablename__: ClassVar[Any] = "deduction_item"
    item_id: int = Field(foreign_key="item.id", primary_key=True)
    completion_id: int = Field(foreign_key="deduction_completion.id", unique=True)


class DeductionSample(SQLModel, table=True):
    """A completion that was drawn to be labelled."""

    __tablename__: ClassVar[Any] = "deduction_sample"
    __table_args__ = (Index("ix_deduction_sample_order", "random_key", "item_id"),)
    item_id: int = Field(foreign_key="deduction_item.item_id", primary_key=True)
    inclusion_probability: float
    random_key: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))


__all__ = [
    "DeductionCompletion",
    "DeductionItem",
    "DeductionMutation",
    "DeductionPrefix",
    "DeductionProblem",
    "DeductionReading",
    "DeductionSample",
    "DeductionSolver",
    "DeductionTemplate",
]
