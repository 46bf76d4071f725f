"""SQLModel tables. Rows never leave the store room: `records` holds what callers see."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Text,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

from store.columns import JsonText, ModelText, utc_now
from store.deduction_tables import (
    DeductionCompletion,
    DeductionItem,
    DeductionMutation,
    DeductionPrefix,
    DeductionProblem,
    DeductionReading,
    DeductionSample,
    DeductionSolver,
    DeductionTemplate,
)
from store.model_tables import (
    AblationPool,
    CounterfactualAnswer,
    CounterfactualEdit,
    CounterfactualEditing,
    CounterfactualRun,
    CounterfactualSample,
    DecomposedTrace,
    Decomposition,
    DecompositionSample,
    EarlyAnswer,
    EarlyRun,
    JudgeVote,
    ModelReply,
    ModelRequest,
    Run,
    ServerFinding,
)
from store.relation_tables import (
    RelationAnswer,
    RelationAsking,
    RelationEdge,
    RelationFact,
    RelationItem,
    RelationObject,
    RelationReview,
    RelationSample,
    RelationSet,
    RelationValue,
)


class Question(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "question"
    __table_args__ = (UniqueConstraint("dataset", "external_id"),)
    id: int | None = Field(default=None, primary_key=True)
    dataset: str
    external_id: str
    text: str = Field(sa_column=Column(ModelText, nullable=False))
    gold_text: str | None = Field(default=None, sa_column=Column(ModelText))
    gold: Any = Field(default=None, sa_column=Column(JsonText))
    answer_kind: str = "auto"
    options: Any = Field(default=None, sa_column=Column(JsonText))
    percent: str = "keep"
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class QuestionSearch(SQLModel, table=True):
    """A question's dataset, id and wording, folded for searching (see `columns.folded`)."""

    __tablename__: ClassVar[Any] = "question_search"
    question_id: int = Field(foreign_key="question.id", primary_key=True)
    folded: str = Field(sa_column=Column(Text, nullable=False))


class Pool(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "pool"
    __table_args__ = (UniqueConstraint("question_id", "name"), Index("ix_pool_name", "name"))
    id: int | None = Field(default=None, primary_key=True)
    question_id: int = Field(foreign_key="question.id")
    name: str
    model: str | None = None
    variant: str | None = None
    parameters: Any = Field(default=None, sa_column=Column(JsonText))


class Trace(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "trace"
    __table_args__ = (
        UniqueConstraint("pool_id", "sample"),
        # Covers the overview's counts, so that it need not read every text.
        Index("ix_trace_counts", "pool_id", "n_steps", "parsed", "strict", "n_unannotated"),
    )
    id: int | None = Field(default=None, primary_key=True)
    pool_id: int = Field(foreign_key="pool.id")
    sample: str
    form: str
    source: Any = Field(sa_column=Column(JsonText, nullable=False))
    source_hash: str
    steps: Any = Field(sa_column=Column(JsonText, nullable=False))
    answer_text: str | None = Field(default=None, sa_column=Column(ModelText))
    answer: Any = Field(default=None, sa_column=Column(JsonText))
    issues: Any = Field(sa_column=Column(JsonText, nullable=False))
    n_steps: int
    n_unannotated: int
    parsed: bool
    strict: bool
    parser: str
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class Embedder(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "embedder"
    __table_args__ = (UniqueConstraint("name", "revision"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    revision: str
    dimension: int


class Embedding(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "embedding"
    embedder_id: int = Field(foreign_key="embedder.id", primary_key=True)
    text_hash: str = Field(primary_key=True)
    vector: bytes


class Scoring(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "scoring"
    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    embedder_id: int = Field(foreign_key="embedder.id")
    decomposition: str = "none"
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    tool_version: str
    is_primary: bool = False
    created_at: str = Field(default_factory=utc_now)


class QuestionScore(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "question_score"
    __table_args__ = (UniqueConstraint("scoring_id", "pool_id"),)
    id: int | None = Field(default=None, primary_key=True)
    scoring_id: int = Field(foreign_key="scoring.id")
    pool_id: int = Field(foreign_key="pool.id", index=True)
    input_hash: str
    n_traces: int
    n_used: int
    excluded: Any = Field(sa_column=Column(JsonText, nullable=False))
    sc_answer: Any = Field(default=None, sa_column=Column(JsonText))
    sc_counts: Any = Field(sa_column=Column(JsonText, nullable=False))
    sc_tied: bool = False
    gsc_answer: Any = Field(default=None, sa_column=Column(JsonText))
    medoid_trace_id: int | None = Field(default=None, foreign_key="trace.id")
    disagree: bool = False
    sc_correct: bool | None = None
    gsc_correct: bool | None = None
    grcs: float | None = None
    divergence: float | None = None
    dispersion: float | None = None
    entropy: float | None = None
    # A list of flags, or flags with further metrics: see `repository.noted`.
    flags: Any = Field(sa_column=Column(JsonText, nullable=False))


class TraceScore(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "trace_score"
    question_score_id: int = Field(foreign_key="question_score.id", primary_key=True)
    trace_id: int = Field(foreign_key="trace.id", primary_key=True)
    rank: int
    score: float | None = None
    centrality: float | None = None
    centrality_share: float | None = None
    consensus: float | None = None
    node_support: Any = Field(sa_column=Column(JsonText, nullable=False))


class LabelSchema(SQLModel, table=True):
    """A version of a schema. Append-only: a change is another version."""

    __tablename__: ClassVar[Any] = "label_schema"
    __table_args__ = (UniqueConstraint("name", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    version: int
    item_kind: str
    categories: Any = Field(sa_column=Column(JsonText, nullable=False))
    seal: str = "full"
    multi: bool = False
    question: str
    guideline: str


class Rater(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "rater"
    __table_args__ = (CheckConstraint("kind in ('human','judge','reference')", name="rater_kind"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    kind: str
    created_at: str = Field(default_factory=utc_now)


class Item(SQLModel, table=True):
    """What is labelled. `cluster` is what bootstraps draw together where there is no question."""

    __tablename__: ClassVar[Any] = "item"
    __table_args__ = (
        CheckConstraint("question_id is not null or cluster is not null", name="item_placed"),
    )
    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    kind: str
    question_id: int | None = Field(default=None, foreign_key="question.id", index=True)
    trace_id: int | None = Field(default=None, foreign_key="trace.id", index=True)
    step: int | None = None
    decomposition_id: int | None = Field(default=None, foreign_key="decomposition.id")
    editing_id: int | None = Field(default=None, foreign_key="counterfactual_editing.id")
    cluster: str | None = Field(default=None, index=True)


class Design(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "design"
    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    scoring_id: int = Field(foreign_key="scoring.id")
    parameters: Any = Field(sa_column=Column(JsonText, nullable=False))
    created_at: str = Field(default_factory=utc_now)


class AuditCase(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "audit_case"
    __table_args__ = (Index("ix_audit_case_order", "random_key", "id"),)
    id: int | None = Field(default=None, primary_key=True)
    pool_id: int = Field(foreign_key="pool.id", unique=True)
    design_id: int = Field(foreign_key="design.id")
    stratum: str
    inclusion_probability: float
    random_key: str


class CaseItem(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "case_item"
    __table_args__ = (Index("ix_case_item_item", "item_id", "case_id"),)
    case_id: int = Field(foreign_key="audit_case.id", primary_key=True)
    item_id: int = Field(foreign_key="item.id", primary_key=True)
    position: int
    inclusion_probability: float


class LabelSession(SQLModel, table=True):
    """A sitting of one rater."""

    __tablename__: ClassVar[Any] = "session"
    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id")
    size: int | None = None
    started_at: str = Field(default_factory=utc_now)
    ended_at: str | None = None


class Label(SQLModel, table=True):
    """One act of a rater on an item. Append-only: triggers refuse UPDATE, DELETE and REPLACE."""

    __tablename__: ClassVar[Any] = "label"
    __table_args__ = (
        # Covers finding each item's newest row and what it decides.
        Index("ix_label_latest", "rater_id", "item_id", "schema_name", "id", "state", "flagged"),
        Index("ix_label_acts", "rater_id", "id", "act"),
        Index("ix_label_item", "item_id"),
        ForeignKeyConstraint(
            ["schema_name", "schema_version"], ["label_schema.name", "label_schema.version"]
        ),
        CheckConstraint(
            "state in ('labelled','unsure','skipped','unparsed','open')", name="label_state"
        ),
        CheckConstraint("act in ('label','undo','redo','import')", name="label_act"),
        CheckConstraint("(state = 'labelled') = (category is not null)", name="label_category"),
        CheckConstraint("seal in ('open','judge','full')", name="label_seal"),
    )
    id: int | None = Field(default=None, primary_key=True)
    item_id: int = Field(foreign_key="item.id")
    schema_name: str
    schema_version: int = 1
    rater_id: int = Field(foreign_key="rater.id")
    act: str
    state: str
    category: str | None = None
    categories: Any = Field(default=None, sa_column=Column(JsonText))
    first_wrong_step: int | None = None
    flagged: bool = False
    note: str | None = Field(default=None, sa_column=Column(ModelText))
    active_seconds: float | None = None
    seal: str
    before_reveal: bool | None = None
    supersedes: int | None = Field(default=None, foreign_key="label.id")
    reverses: int | None = Field(default=None, foreign_key="label.id")
    content_hash: str | None = Field(default=None, index=True)
    session_id: int | None = Field(default=None, foreign_key="session.id", index=True)
    created_at: str = Field(default_factory=utc_now)


class VerdictDetail(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "verdict_detail"
    label_id: int = Field(foreign_key="label.id", primary_key=True)
    rationale: str | None = Field(default=None, sa_column=Column(ModelText))
    raw: str | None = Field(default=None, sa_column=Column(ModelText))
    prompt_version: str | None = None
    flags: Any = Field(sa_column=Column(JsonText, nullable=False))
    extra: Any = Field(default=None, sa_column=Column(JsonText))


class Reveal(SQLModel, table=True):
    __tablename__: ClassVar[Any] = "reveal"
    __table_args__ = (UniqueConstraint("rater_id", "question_id"),)
    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id")
    question_id: int = Field(foreign_key="question.id")
    created_at: str = Field(default_factory=utc_now)


class ItemReveal(SQLModel, table=True):
    """A rater has looked behind the seal of an item that has no question. Append-only."""

    __tablename__: ClassVar[Any] = "item_reveal"
    __table_args__ = (UniqueConstraint("rater_id", "item_id"),)
    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id")
    item_id: int = Field(foreign_key="item.id")
    created_at: str = Field(default_factory=utc_now)


class Unseal(SQLModel, table=True):
    """A look behind the seal from the command line. Append-only."""

    __tablename__: ClassVar[Any] = "unseal"
    id: int | None = Field(default=None, primary_key=True)
    what: str
    rater: str | None = None
    who: str
    created_at: str = Field(default_factory=utc_now)


__all__ = [
    "AblationPool",
    "AuditCase",
    "CaseItem",
    "CounterfactualAnswer",
    "CounterfactualEdit",
    "CounterfactualEditing",
    "CounterfactualRun",
    "CounterfactualSample",
    "DecomposedTrace",
    "Decomposition",
    "DecompositionSample",
    "DeductionCompletion",
    "DeductionItem",
    "DeductionMutation",
    "DeductionPrefix",
    "DeductionProblem",
    "DeductionReading",
    "DeductionSample",
    "DeductionSolver",
    "DeductionTemplate",
    "Design",
    "EarlyAnswer",
    "EarlyRun",
    "Embedder",
    "Embedding",
    "Item",
    "ItemReveal",
    "JudgeVote",
    "Label",
    "LabelSchema",
    "LabelSession",
    "ModelReply",
    "ModelRequest",
    "Pool",
    "Question",
    "QuestionScore",
    "QuestionSearch",
    "Rater",
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
    "Reveal",
    "Run",
    "Scoring",
    "ServerFinding",
    "Trace",
    "TraceScore",
    "Unseal",
    "VerdictDetail",
]
