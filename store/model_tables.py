"""Tables of what models were asked and said, of decompositions, and of runs at work."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from store.columns import JsonText, ModelText, utc_now

_REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"


class ModelRequest(SQLModel, table=True):
    """What a model was asked, without the sample index. Append-only."""

    __tablename__: ClassVar[Any] = "model_request"
    hash: str = Field(primary_key=True)
    role: str
    model: str
    prompt_version: str
    created_at: str = Field(default_factory=utc_now)
    body: Any = Field(sa_column=Column(JsonText, nullable=False))


class ModelReply(SQLModel, table=True):
    """What a model replied to a request and sample. Append-only.

    The long columns stand last, so that sums over the others need not read through them.
    """

    __tablename__: ClassVar[Any] = "model_reply"
    __table_args__ = (CheckConstraint(_REPLIED, name="reply_outcome"),)
    key: str = Field(primary_key=True)
    request_hash: str = Field(foreign_key="model_request.hash")
    sample: int
    outcome: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    attempts: int = 0
    created_at: str = Field(default_factory=utc_now)
    finish_reason: str | None = Field(default=None, sa_column=Column(ModelText))
    served_model: str | None = Field(default=None, sa_column=Column(ModelText))
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    text: str = Field(sa_column=Column(ModelText, nullable=False))
    data: Any = Field(default=None, sa_column=Column(JsonText))


class Decomposition(SQLModel, table=True):
    """A way of splitting traces into facts: a model, a prompt, parameters."""

    __tablename__: ClassVar[Any] = "decomposition"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    model: str
    prompt_version: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    created_at: str = Field(default_factory=utc_now)


class DecomposedTrace(SQLModel, table=True):
    """The facts of a trace under a decomposition. Append-only: labels and scores rest on them."""

    __tablename__: ClassVar[Any] = "decomposed_trace"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="decomposed_outcome"),
        Index("ix_decomposed_trace_trace_id", "trace_id"),
    )
    decomposition_id: int = Field(foreign_key="decomposition.id", primary_key=True)
    trace_id: int = Field(foreign_key="trace.id", primary_key=True)
    source_hash: str
    outcome: str
    n_facts: int
    n_dropped: int
    n_invented: int
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    facts: Any = Field(sa_column=Column(JsonText, nullable=False))
    dropped: Any = Field(sa_column=Column(JsonText, nullable=False))
    invented: Any = Field(sa_column=Column(JsonText, nullable=False))


class DecompositionSample(SQLModel, table=True):
    """A decomposed trace that was drawn to be labelled."""

    __tablename__: ClassVar[Any] = "decomposition_sample"
    __table_args__ = (
        ForeignKeyConstraint(
            ["decomposition_id", "trace_id"],
            ["decomposed_trace.decomposition_id", "decomposed_trace.trace_id"],
        ),
        Index("ix_decomposition_sample_order", "decomposition_id", "random_key", "trace_id"),
    )
    decomposition_id: int = Field(primary_key=True)
    trace_id: int = Field(primary_key=True)
    inclusion_probability: float
    random_key: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))


class EarlyRun(SQLModel, table=True):
    """One way of asking for early answers."""

    __tablename__: ClassVar[Any] = "early_run"
    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    model: str
    prompt_version: str
    decomposition: str = "none"
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    created_at: str = Field(default_factory=utc_now)


class EarlyAnswer(SQLModel, table=True):
    """The answer given the first facts of a trace."""

    __tablename__: ClassVar[Any] = "early_answer"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="early_outcome"),
        CheckConstraint("prefix >= 0 and prefix <= n_facts", name="early_prefix"),
    )
    early_run_id: int = Field(foreign_key="early_run.id", primary_key=True)
    trace_id: int = Field(foreign_key="trace.id", primary_key=True)
    prefix: int = Field(primary_key=True)
    n_facts: int
    source_hash: str
    outcome: str
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    reason: str | None = Field(default=None, sa_column=Column(ModelText))
    answer: Any = Field(default=None, sa_column=Column(JsonText))


class CounterfactualEditing(SQLModel, table=True):
    """A named way of rewriting steps: a model, a prompt, parameters. Append-only."""

    __tablename__: ClassVar[Any] = "counterfactual_editing"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    model: str
    prompt_version: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    created_at: str = Field(default_factory=utc_now)


class CounterfactualEdit(SQLModel, table=True):
    """A step of a trace rewritten, or the fault why it is not. Append-only: labels rest on it."""

    __tablename__: ClassVar[Any] = "counterfactual_edit"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="edit_outcome"),
        CheckConstraint("(fault is null) = (text is not null)", name="edit_fault"),
        CheckConstraint("step >= 0", name="edit_step"),
        Index("ix_counterfactual_edit_trace_id", "trace_id"),
    )
    editing_id: int = Field(foreign_key="counterfactual_editing.id", primary_key=True)
    trace_id: int = Field(foreign_key="trace.id", primary_key=True)
    step: int = Field(primary_key=True)
    source_hash: str
    outcome: str
    fault: str | None = None
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    text: str | None = Field(default=None, sa_column=Column(ModelText))


class CounterfactualSample(SQLModel, table=True):
    """An edited step that was drawn to be labelled."""

    __tablename__: ClassVar[Any] = "counterfactual_sample"
    __table_args__ = (
        ForeignKeyConstraint(
            ["editing_id", "trace_id", "step"],
            [
                "counterfactual_edit.editing_id",
                "counterfactual_edit.trace_id",
                "counterfactual_edit.step",
            ],
        ),
        Index("ix_counterfactual_sample_order", "editing_id", "random_key", "trace_id", "step"),
    )
    editing_id: int = Field(primary_key=True)
    trace_id: int = Field(primary_key=True)
    step: int = Field(primary_key=True)
    inclusion_probability: float
    random_key: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))


class CounterfactualRun(SQLModel, table=True):
    """One way of asking again with the edits of an editing."""

    __tablename__: ClassVar[Any] = "counterfactual_run"
    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    editing_id: int = Field(foreign_key="counterfactual_editing.id")
    model: str
    prompt_version: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    created_at: str = Field(default_factory=utc_now)


class CounterfactualAnswer(SQLModel, table=True):
    """The answer given a trace's steps with one of them rewritten; step -1: none (the baseline)."""

    __tablename__: ClassVar[Any] = "counterfactual_answer"
    __table_args__ = (
        CheckConstraint(_REPLIED, name="counterfactual_outcome"),
        CheckConstraint("step >= -1", name="counterfactual_step"),
        CheckConstraint("repeat >= 0", name="counterfactual_repeat"),
    )
    run_id: int = Field(foreign_key="counterfactual_run.id", primary_key=True)
    trace_id: int = Field(foreign_key="trace.id", primary_key=True)
    step: int = Field(primary_key=True)
    repeat: int = Field(primary_key=True)
    source_hash: str
    outcome: str
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    reason: str | None = Field(default=None, sa_column=Column(ModelText))
    answer: Any = Field(default=None, sa_column=Column(JsonText))


class AblationPool(SQLModel, table=True):
    """A pool that was sampled with a trace's reasoning forbidden. Append-only."""

    __tablename__: ClassVar[Any] = "ablation_pool"
    __table_args__ = (Index("ix_ablation_pool_medoid_trace_id", "medoid_trace_id"),)
    pool_id: int = Field(foreign_key="pool.id", primary_key=True)
    medoid_trace_id: int = Field(foreign_key="trace.id")
    source_hash: str
    scoring_key: str
    created_at: str = Field(default_factory=utc_now)


class JudgeVote(SQLModel, table=True):
    """One reply of a judge on an item. Append-only."""

    __tablename__: ClassVar[Any] = "judge_vote"
    __table_args__ = (
        UniqueConstraint("rater_id", "schema_name", "prompt_version", "item_id", "repeat"),
        ForeignKeyConstraint(
            ["schema_name", "schema_version"], ["label_schema.name", "label_schema.version"]
        ),
        CheckConstraint(_REPLIED, name="vote_outcome"),
        CheckConstraint("category is null or outcome = 'ok'", name="vote_category"),
        CheckConstraint("repeat >= 0", name="vote_repeat"),
    )
    id: int | None = Field(default=None, primary_key=True)
    item_id: int = Field(foreign_key="item.id")
    rater_id: int = Field(foreign_key="rater.id")
    schema_name: str
    schema_version: int
    prompt_version: str
    repeat: int
    outcome: str
    category: str | None = None
    first_wrong_step: int | None = None
    reply_key: str | None = Field(default=None, foreign_key="model_reply.key")
    created_at: str = Field(default_factory=utc_now)
    flags: Any = Field(sa_column=Column(JsonText, nullable=False))
    option_order: Any = Field(sa_column=Column(JsonText, nullable=False))
    reason: str = Field(default="", sa_column=Column(ModelText, nullable=False))
    rationale: str = Field(default="", sa_column=Column(ModelText, nullable=False))


class ServerFinding(SQLModel, table=True):
    """What probing a server and model found out."""

    __tablename__: ClassVar[Any] = "server_finding"
    base_url: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    findings: Any = Field(sa_column=Column(JsonText, nullable=False))
    found_at: str = Field(default_factory=utc_now)


class Run(SQLModel, table=True):
    """A stage at work, or that has ended."""

    __tablename__: ClassVar[Any] = "run"
    __table_args__ = (
        CheckConstraint(
            "state in ('running','done','stopped','failed','interrupted')", name="run_state"
        ),
    )
    id: int | None = Field(default=None, primary_key=True)
    stage: str
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    tool_version: str
    started_at: str
    finished_at: str | None = None
    summary: Any = Field(default=None, sa_column=Column(JsonText))
    state: str
    done: int = 0
    total: int | None = None
    unit: str = ""
    detail: Any = Field(default=None, sa_column=Column(JsonText))
    heartbeat_at: str | None = None
    host: str | None = None
    pid: int | None = None


__all__ = [
    "AblationPool",
    "CounterfactualAnswer",
    "CounterfactualEdit",
    "CounterfactualEditing",
    "CounterfactualRun",
    "CounterfactualSample",
    "DecomposedTrace",
    "Decomposition",
    "DecompositionSample",
    "EarlyAnswer",
    "EarlyRun",
    "JudgeVote",
    "ModelReply",
    "ModelRequest",
    "Run",
    "ServerFinding",
]
