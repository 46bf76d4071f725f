"""Counterfactual edits, what is answered with them, samples of them; ablated pools."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

SAME_ROW = {
    "counterfactual_editing": "id = NEW.id OR name = NEW.name",
    "counterfactual_edit": (
        "editing_id = NEW.editing_id AND trace_id = NEW.trace_id AND step = NEW.step"
    ),
    "ablation_pool": "pool_id = NEW.pool_id",
}
"""Append-only tables, with what tells an insert that would replace a row (INSERT OR REPLACE)."""

REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"


def upgrade() -> None:
    _edits()
    _answers()
    _ablations()
    op.execute(
        "ALTER TABLE item ADD COLUMN editing_id INTEGER REFERENCES counterfactual_editing (id)"
    )
    _forbid_changes()


def _edits() -> None:
    op.create_table(
        "counterfactual_editing",
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
        "counterfactual_edit",
        sa.Column("editing_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("source_hash", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("fault", sa.String(), nullable=True),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="edit_outcome"),
        sa.CheckConstraint("(fault is null) = (text is not null)", name="edit_fault"),
        sa.CheckConstraint("step >= 0", name="edit_step"),
        sa.ForeignKeyConstraint(["editing_id"], ["counterfactual_editing.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"]),
        sa.PrimaryKeyConstraint("editing_id", "trace_id", "step"),
    )
    op.create_index(
        "ix_counterfactual_edit_trace_id", "counterfactual_edit", ["trace_id"], unique=False
    )
    op.create_table(
        "counterfactual_sample",
        sa.Column("editing_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.Column("random_key", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["editing_id", "trace_id", "step"],
            [
                "counterfactual_edit.editing_id",
                "counterfactual_edit.trace_id",
                "counterfactual_edit.step",
            ],
        ),
        sa.PrimaryKeyConstraint("editing_id", "trace_id", "step"),
    )
    op.create_index(
        "ix_counterfactual_sample_order",
        "counterfactual_sample",
        ["editing_id", "random_key", "trace_id", "step"],
        unique=False,
    )


def _answers() -> None:
    op.create_table(
        "counterfactual_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("editing_id", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["editing_id"], ["counterfactual_editing.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_table(
        "counterfactual_answer",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("source_hash", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="counterfactual_outcome"),
        sa.CheckConstraint("step >= -1", name="counterfactual_step"),
        sa.CheckConstraint("repeat >= 0", name="counterfactual_repeat"),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.ForeignKeyConstraint(["run_id"], ["counterfactual_run.id"]),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"]),
        sa.PrimaryKeyConstraint("run_id", "trace_id", "step", "repeat"),
    )


def _ablations() -> None:
    op.create_table(
        "ablation_pool",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("medoid_trace_id", sa.Integer(), nullable=False),
        sa.Column("source_hash", sa.String(), nullable=False),
        sa.Column("scoring_key", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["medoid_trace_id"], ["trace.id"]),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"]),
        sa.PrimaryKeyConstraint("pool_id"),
    )
    op.create_index(
        "ix_ablation_pool_medoid_trace_id", "ablation_pool", ["medoid_trace_id"], unique=False
    )


def _forbid_changes() -> None:
    """Edits, which labels rest on, and what an ablated pool forbade are never changed."""
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
