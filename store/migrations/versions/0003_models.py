"""Replies of models, decompositions, early answers, a judge's votes; runs that are at work."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

SAME_ROW = {
    "model_request": "hash = NEW.hash",
    "model_reply": "key = NEW.key",
    "decomposition": "id = NEW.id OR name = NEW.name",
    "decomposed_trace": "decomposition_id = NEW.decomposition_id AND trace_id = NEW.trace_id",
    "judge_vote": (
        "id = NEW.id OR (rater_id = NEW.rater_id AND schema_name = NEW.schema_name AND "
        "prompt_version = NEW.prompt_version AND item_id = NEW.item_id AND repeat = NEW.repeat)"
    ),
}
"""Append-only tables, with what tells an insert that would replace a row (INSERT OR REPLACE)."""

UNNAMED = "unnamed"
"""The decomposition of criterion items that were made before their keys named one."""

REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"


def upgrade() -> None:
    _replies()
    _decompositions()
    _early_answers()
    _votes()
    _runs()
    op.add_column("pool", sa.Column("parameters", sa.Text(), nullable=True))
    # Alembic renders no reference with a new column here, and a rebuilt table's in any order.
    op.execute("ALTER TABLE item ADD COLUMN decomposition_id INTEGER REFERENCES decomposition (id)")
    _name_the_unnamed()
    _forbid_changes()


def _replies() -> None:
    op.create_table(
        "model_request",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_table(
        "model_reply",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("finish_reason", sa.Text(), nullable=True),
        sa.Column("served_model", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="reply_outcome"),
        sa.ForeignKeyConstraint(["request_hash"], ["model_request.hash"]),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "server_finding",
        sa.Column("base_url", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("findings", sa.Text(), nullable=False),
        sa.Column("found_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("base_url", "model"),
    )


def _decompositions() -> None:
    op.create_table(
        "decomposition",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "decomposed_trace",
        sa.Column("decomposition_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("source_hash", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("n_facts", sa.Integer(), nullable=False),
        sa.Column("n_dropped", sa.Integer(), nullable=False),
        sa.Column("n_invented", sa.Integer(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("dropped", sa.Text(), nullable=False),
        sa.Column("invented", sa.Text(), nullable=False),
        sa.CheckConstraint(REPLIED, name="decomposed_outcome"),
        sa.ForeignKeyConstraint(["decomposition_id"], ["decomposition.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"]),
        sa.PrimaryKeyConstraint("decomposition_id", "trace_id"),
    )
    op.create_index("ix_decomposed_trace_trace_id", "decomposed_trace", ["trace_id"], unique=False)
    op.create_table(
        "decomposition_sample",
        sa.Column("decomposition_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.Column("random_key", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decomposition_id", "trace_id"],
            ["decomposed_trace.decomposition_id", "decomposed_trace.trace_id"],
        ),
        sa.PrimaryKeyConstraint("decomposition_id", "trace_id"),
    )
    op.create_index(
        "ix_decomposition_sample_order",
        "decomposition_sample",
        ["decomposition_id", "random_key", "trace_id"],
        unique=False,
    )


def _early_answers() -> None:
    op.create_table(
        "early_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("decomposition", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_table(
        "early_answer",
        sa.Column("early_run_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("prefix", sa.Integer(), nullable=False),
        sa.Column("n_facts", sa.Integer(), nullable=False),
        sa.Column("source_hash", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="early_outcome"),
        sa.CheckConstraint("prefix >= 0 and prefix <= n_facts", name="early_prefix"),
        sa.ForeignKeyConstraint(["early_run_id"], ["early_run.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"]),
        sa.PrimaryKeyConstraint("early_run_id", "trace_id", "prefix"),
    )


def _votes() -> None:
    op.create_table(
        "judge_vote",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("schema_name", sa.String(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("first_wrong_step", sa.Integer(), nullable=True),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("option_order", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.CheckConstraint(REPLIED, name="vote_outcome"),
        sa.CheckConstraint("category is null or outcome = 'ok'", name="vote_category"),
        sa.CheckConstraint("repeat >= 0", name="vote_repeat"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.ForeignKeyConstraint(
            ["schema_name", "schema_version"], ["label_schema.name", "label_schema.version"]
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("rater_id", "schema_name", "prompt_version", "item_id", "repeat"),
    )


def _runs() -> None:
    """Give runs a state. Those that are there were written when they had ended."""
    with op.batch_alter_table("run") as table:
        table.add_column(sa.Column("state", sa.String(), nullable=True))
        table.add_column(sa.Column("done", sa.Integer(), nullable=True))
        table.add_column(sa.Column("total", sa.Integer(), nullable=True))
        table.add_column(sa.Column("unit", sa.String(), nullable=True))
        table.add_column(sa.Column("detail", sa.Text(), nullable=True))
        table.add_column(sa.Column("heartbeat_at", sa.String(), nullable=True))
        table.add_column(sa.Column("host", sa.String(), nullable=True))
        table.add_column(sa.Column("pid", sa.Integer(), nullable=True))
    op.execute("UPDATE run SET state = 'done', done = 0, unit = '', heartbeat_at = finished_at")
    with op.batch_alter_table("run") as table:
        for name, kind in (("state", sa.String), ("done", sa.Integer), ("unit", sa.String)):
            table.alter_column(name, existing_type=kind(), nullable=False)
        table.create_check_constraint(
            "run_state", "state in ('running','done','stopped','failed','interrupted')"
        )


def _name_the_unnamed() -> None:
    """Put a decomposition into the keys of criterion items that have none."""
    bind = op.get_bind()
    rows = bind.execute(sa.text("SELECT id, key FROM item WHERE kind = 'criterion'")).all()
    old = [(id_, key) for id_, key in rows if key.count("/") == 4]
    if not old:
        return
    bind.execute(
        sa.text(
            "INSERT INTO decomposition (name, model, prompt_version, parameters, created_at) "
            "VALUES (:name, :name, :name, '{}', '')"
        ),
        {"name": UNNAMED},
    )
    found = bind.execute(
        sa.text("SELECT id FROM decomposition WHERE name = :name"), {"name": UNNAMED}
    ).scalar_one()
    for id_, key in old:
        trace, _, criterion = key.rpartition("/")
        bind.execute(
            sa.text("UPDATE item SET key = :key, decomposition_id = :found WHERE id = :id"),
            {"key": f"{trace}/{UNNAMED}/{criterion}", "found": found, "id": id_},
        )


def _forbid_changes() -> None:
    """What a model said, and what facts and votes were read from it, is never changed."""
    dialect = op.get_bind().dialect.name
    for table, same in SAME_ROW.items():
        if dialect == "sqlite":
            refuse = f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END"
            for verb in ("update", "delete"):
                op.execute(
                    f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} {refuse}"
                )
            op.execute(
                f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
                f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) {refuse}"
            )
        elif dialect == "postgresql":
            op.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION medoid_append_only()"
            )
