"""Deduction: problems, templates, mutations, given steps in other styles, completions, values."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

SAME_ROW = {
    "deduction_problem": "id = NEW.id OR name = NEW.name",
    "deduction_template": (
        "id = NEW.id OR (problem_id = NEW.problem_id AND solver = NEW.solver"
        " AND attempt = NEW.attempt)"
    ),
    "deduction_mutation": (
        "id = NEW.id OR (template_id = NEW.template_id AND number = NEW.number)"
    ),
    "deduction_solver": "id = NEW.id OR name = NEW.name",
    "deduction_prefix": (
        "mutation_id = NEW.mutation_id AND k = NEW.k AND style = NEW.style AND model = NEW.model"
    ),
    "deduction_completion": (
        "id = NEW.id OR (mutation_id = NEW.mutation_id AND solver_id = NEW.solver_id"
        " AND k = NEW.k AND style = NEW.style)"
    ),
    "deduction_reading": (
        "completion_id = NEW.completion_id AND reader = NEW.reader AND version = NEW.version"
    ),
    "deduction_item": "item_id = NEW.item_id OR completion_id = NEW.completion_id",
}
"""Append-only tables, with what tells an insert that would replace a row (INSERT OR REPLACE)."""

REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"


def upgrade() -> None:
    _problems()
    _mutations()
    _completions()
    _readings()
    _items()
    _forbid_changes()


def _problems() -> None:
    op.create_table(
        "deduction_problem",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("gold", sa.Text(), nullable=True),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "deduction_template",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("solver", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("failures", sa.Text(), nullable=False),
        sa.Column("template", sa.Text(), nullable=True),
        sa.Column("solution", sa.Text(), nullable=True),
        sa.CheckConstraint("attempt >= 0", name="template_attempt"),
        sa.ForeignKeyConstraint(["problem_id"], ["deduction_problem.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("problem_id", "solver", "attempt"),
    )


def _mutations() -> None:
    op.create_table(
        "deduction_mutation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("template_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("numbers", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.CheckConstraint("number >= -1", name="mutation_number"),
        sa.ForeignKeyConstraint(["template_id"], ["deduction_template.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("template_id", "number"),
    )
    op.create_table(
        "deduction_prefix",
        sa.Column("mutation_id", sa.Integer(), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("style", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("fault", sa.String(), nullable=True),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="prefix_outcome"),
        sa.CheckConstraint("(fault is null) = (text is not null)", name="prefix_fault"),
        sa.CheckConstraint("k >= 1", name="prefix_k"),
        sa.ForeignKeyConstraint(["mutation_id"], ["deduction_mutation.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.PrimaryKeyConstraint("mutation_id", "k", "style", "model"),
    )


def _completions() -> None:
    op.create_table(
        "deduction_solver",
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
        "deduction_completion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("mutation_id", sa.Integer(), nullable=False),
        sa.Column("solver_id", sa.Integer(), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("style", sa.String(), nullable=False),
        sa.Column("way", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.CheckConstraint(REPLIED, name="completion_outcome"),
        sa.CheckConstraint("way in ('none','assistant','quoted')", name="completion_way"),
        sa.CheckConstraint("k >= 0 and (k = 0) = (way = 'none')", name="completion_k"),
        sa.ForeignKeyConstraint(["mutation_id"], ["deduction_mutation.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.ForeignKeyConstraint(["solver_id"], ["deduction_solver.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("mutation_id", "solver_id", "k", "style"),
    )
    op.create_index(
        "ix_deduction_completion_solver_id",
        "deduction_completion",
        ["solver_id", "style"],
        unique=False,
    )


def _readings() -> None:
    op.create_table(
        "deduction_reading",
        sa.Column("completion_id", sa.Integer(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("stated", sa.Text(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.CheckConstraint(REPLIED, name="reading_outcome"),
        sa.ForeignKeyConstraint(["completion_id"], ["deduction_completion.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.PrimaryKeyConstraint("completion_id", "reader", "version"),
    )


def _items() -> None:
    op.create_table(
        "deduction_item",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("completion_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["completion_id"], ["deduction_completion.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.PrimaryKeyConstraint("item_id"),
        sa.UniqueConstraint("completion_id"),
    )
    op.create_table(
        "deduction_sample",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.Column("random_key", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["deduction_item.item_id"]),
        sa.PrimaryKeyConstraint("item_id"),
    )
    op.create_index(
        "ix_deduction_sample_order", "deduction_sample", ["random_key", "item_id"], unique=False
    )


def _forbid_changes() -> None:
    """Labels rest on completions, scores on all of it: none of it is ever changed."""
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
