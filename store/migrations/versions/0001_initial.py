"""The first schema: questions, traces, scores, cases, append-only labels."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("label", "verdict_detail", "reveal")


def _forbid_changes() -> None:
    """Labels, verdicts and reveals are never updated or deleted, whoever asks."""
    dialect = op.get_bind().dialect.name
    if dialect == "sqlite":
        for table in APPEND_ONLY:
            for verb in ("update", "delete"):
                op.execute(
                    f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END"
                )
    elif dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION medoid_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% rows are append-only', TG_TABLE_NAME; END $$"
        )
        for table in APPEND_ONLY:
            op.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION medoid_append_only()"
            )


def upgrade() -> None:
    op.create_table(
        "embedder",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("revision", sa.String(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", "revision"),
    )
    op.create_table(
        "label_schema",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("item_kind", sa.String(), nullable=False),
        sa.Column("categories", sa.Text(), nullable=False),
        sa.Column("seal", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("guideline", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", "version"),
    )
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("gold_text", sa.Text(), nullable=True),
        sa.Column("gold", sa.Text(), nullable=True),
        sa.Column("answer_kind", sa.String(), nullable=False),
        sa.Column("options", sa.Text(), nullable=True),
        sa.Column("percent", sa.String(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset", "external_id"),
    )
    op.create_table(
        "rater",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.CheckConstraint("kind in ('human','judge','reference')", name="rater_kind"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("tool_version", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("finished_at", sa.String(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "embedding",
        sa.Column("embedder_id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["embedder_id"],
            ["embedder.id"],
        ),
        sa.PrimaryKeyConstraint("embedder_id", "text_hash"),
    )
    op.create_table(
        "pool",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("variant", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("question_id", "name"),
    )
    with op.batch_alter_table("pool", schema=None) as batch_op:
        batch_op.create_index("ix_pool_name", ["name"], unique=False)

    op.create_table(
        "reveal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"],
            ["rater.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("rater_id", "question_id"),
    )
    op.create_table(
        "scoring",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("embedder_id", sa.Integer(), nullable=False),
        sa.Column("decomposition", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("tool_version", sa.String(), nullable=False),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["embedder_id"],
            ["embedder.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_table(
        "design",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_id"],
            ["scoring.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_table(
        "trace",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("sample", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_hash", sa.String(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.Column("answer_text", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("issues", sa.Text(), nullable=False),
        sa.Column("n_steps", sa.Integer(), nullable=False),
        sa.Column("n_unannotated", sa.Integer(), nullable=False),
        sa.Column("parsed", sa.Boolean(), nullable=False),
        sa.Column("strict", sa.Boolean(), nullable=False),
        sa.Column("parser", sa.String(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pool_id"],
            ["pool.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("pool_id", "sample"),
    )
    op.create_table(
        "audit_case",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("design_id", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.Column("random_key", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["design_id"],
            ["design.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pool_id"],
            ["pool.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("pool_id"),
    )
    with op.batch_alter_table("audit_case", schema=None) as batch_op:
        batch_op.create_index("ix_audit_case_order", ["random_key", "id"], unique=False)

    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.ForeignKeyConstraint(
            ["trace_id"],
            ["trace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    with op.batch_alter_table("item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_item_question_id"), ["question_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_item_trace_id"), ["trace_id"], unique=False)

    op.create_table(
        "question_score",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("input_hash", sa.String(), nullable=False),
        sa.Column("n_traces", sa.Integer(), nullable=False),
        sa.Column("n_used", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.Text(), nullable=False),
        sa.Column("sc_answer", sa.Text(), nullable=True),
        sa.Column("sc_counts", sa.Text(), nullable=False),
        sa.Column("sc_tied", sa.Boolean(), nullable=False),
        sa.Column("gsc_answer", sa.Text(), nullable=True),
        sa.Column("medoid_trace_id", sa.Integer(), nullable=True),
        sa.Column("disagree", sa.Boolean(), nullable=False),
        sa.Column("sc_correct", sa.Boolean(), nullable=True),
        sa.Column("gsc_correct", sa.Boolean(), nullable=True),
        sa.Column("grcs", sa.Float(), nullable=True),
        sa.Column("divergence", sa.Float(), nullable=True),
        sa.Column("dispersion", sa.Float(), nullable=True),
        sa.Column("entropy", sa.Float(), nullable=True),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["medoid_trace_id"],
            ["trace.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pool_id"],
            ["pool.id"],
        ),
        sa.ForeignKeyConstraint(
            ["scoring_id"],
            ["scoring.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("scoring_id", "pool_id"),
    )
    with op.batch_alter_table("question_score", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_question_score_pool_id"), ["pool_id"], unique=False)

    op.create_table(
        "case_item",
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["audit_case.id"],
        ),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["item.id"],
        ),
        sa.PrimaryKeyConstraint("case_id", "item_id"),
    )
    with op.batch_alter_table("case_item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_case_item_item_id"), ["item_id"], unique=False)

    op.create_table(
        "label",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("schema_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("first_wrong_step", sa.Integer(), nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("active_seconds", sa.Float(), nullable=True),
        sa.Column("seal", sa.String(), nullable=False),
        sa.Column("before_reveal", sa.Boolean(), nullable=True),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.Column("reverses", sa.Integer(), nullable=True),
        sa.Column("content_hash", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.CheckConstraint("(state = 'labelled') = (category is not null)", name="label_category"),
        sa.CheckConstraint("act in ('label','undo','redo','import')", name="label_act"),
        sa.CheckConstraint("seal in ('open','judge','full')", name="label_seal"),
        sa.CheckConstraint(
            "state in ('labelled','unsure','skipped','unparsed','open')", name="label_state"
        ),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["item.id"],
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"],
            ["rater.id"],
        ),
        sa.ForeignKeyConstraint(
            ["reverses"],
            ["label.id"],
        ),
        sa.ForeignKeyConstraint(
            ["schema_id"],
            ["label_schema.id"],
        ),
        sa.ForeignKeyConstraint(
            ["supersedes"],
            ["label.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("label", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_label_content_hash"), ["content_hash"], unique=False)
        batch_op.create_index("ix_label_item", ["item_id"], unique=False)
        batch_op.create_index(
            "ix_label_latest", ["rater_id", "schema_id", "item_id", "id"], unique=False
        )

    op.create_table(
        "trace_score",
        sa.Column("question_score_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("centrality", sa.Float(), nullable=True),
        sa.Column("centrality_share", sa.Float(), nullable=True),
        sa.Column("consensus", sa.Float(), nullable=True),
        sa.Column("node_support", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_score_id"],
            ["question_score.id"],
        ),
        sa.ForeignKeyConstraint(
            ["trace_id"],
            ["trace.id"],
        ),
        sa.PrimaryKeyConstraint("question_score_id", "trace_id"),
    )
    op.create_table(
        "verdict_detail",
        sa.Column("label_id", sa.Integer(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=True),
        sa.Column("raw", sa.Text(), nullable=True),
        sa.Column("prompt_version", sa.String(), nullable=True),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["label_id"],
            ["label.id"],
        ),
        sa.PrimaryKeyConstraint("label_id"),
    )
    _forbid_changes()


def downgrade() -> None:
    op.drop_table("verdict_detail")
    op.drop_table("trace_score")
    with op.batch_alter_table("label", schema=None) as batch_op:
        batch_op.drop_index("ix_label_latest")
        batch_op.drop_index("ix_label_item")
        batch_op.drop_index(batch_op.f("ix_label_content_hash"))

    op.drop_table("label")
    with op.batch_alter_table("case_item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_case_item_item_id"))

    op.drop_table("case_item")
    with op.batch_alter_table("question_score", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_question_score_pool_id"))

    op.drop_table("question_score")
    with op.batch_alter_table("item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_item_trace_id"))
        batch_op.drop_index(batch_op.f("ix_item_question_id"))

    op.drop_table("item")
    with op.batch_alter_table("audit_case", schema=None) as batch_op:
        batch_op.drop_index("ix_audit_case_order")

    op.drop_table("audit_case")
    op.drop_table("trace")
    op.drop_table("design")
    op.drop_table("scoring")
    op.drop_table("reveal")
    with op.batch_alter_table("pool", schema=None) as batch_op:
        batch_op.drop_index("ix_pool_name")

    op.drop_table("pool")
    op.drop_table("embedding")
    op.drop_table("run")
    op.drop_table("rater")
    op.drop_table("question")
    op.drop_table("label_schema")
    op.drop_table("embedder")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION medoid_append_only()")
