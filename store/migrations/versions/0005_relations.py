"""Relation sets and what models answer about them; items without a question, and their reveals.

An item has a question, or a `cluster`: what bootstraps draw together, e.g. a relation set asked of
a model.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

SAME_ROW = {
    "item_reveal": "id = NEW.id OR (rater_id = NEW.rater_id AND item_id = NEW.item_id)",
    "relation_fact": (
        'set_id = NEW.set_id AND "use" = NEW."use" AND a_id = NEW.a_id AND b_id = NEW.b_id'
    ),
    "relation_asking": (
        "id = NEW.id OR (set_id = NEW.set_id AND asks = NEW.asks AND name = NEW.name)"
    ),
    "relation_answer": (
        "asking_id = NEW.asking_id AND a_id = NEW.a_id AND b_id = NEW.b_id AND repeat = NEW.repeat"
    ),
    "relation_value": (
        "asking_id = NEW.asking_id AND object_id = NEW.object_id AND repeat = NEW.repeat"
    ),
    "relation_item": "item_id = NEW.item_id",
    "relation_edge": "item_id = NEW.item_id AND position = NEW.position",
}
"""Append-only tables, with what tells an insert that would replace a row (INSERT OR REPLACE)."""

REPLIED = "outcome in ('ok','refused','empty','truncated','invalid')"
PLACED = "question_id is not null or cluster is not null"


def upgrade() -> None:
    _items()
    _sets()
    _answers()
    _relation_items()
    _forbid_changes()


def _items() -> None:
    """Let an item stand without a question, in a cluster of its own kind."""
    if op.get_bind().dialect.name == "postgresql":
        op.add_column("item", sa.Column("cluster", sa.String(), nullable=True))
        op.alter_column("item", "question_id", nullable=True)
        op.create_check_constraint("item_placed", "item", PLACED)
    else:
        _copy_items()
    op.create_index("ix_item_cluster", "item", ["cluster"], unique=False)
    op.create_table(
        "item_reveal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("rater_id", "item_id"),
    )


def _copy_items() -> None:
    """SQLite changes no column in place: the rows move to a new table under the same ids."""
    op.create_table(
        "item_new",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=True),
        sa.Column("trace_id", sa.Integer(), nullable=True),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("decomposition_id", sa.Integer(), nullable=True),
        sa.Column("editing_id", sa.Integer(), nullable=True),
        sa.Column("cluster", sa.String(), nullable=True),
        sa.CheckConstraint(PLACED, name="item_placed"),
        sa.ForeignKeyConstraint(["decomposition_id"], ["decomposition.id"]),
        sa.ForeignKeyConstraint(["editing_id"], ["counterfactual_editing.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    columns = "id, key, kind, question_id, trace_id, step, decomposition_id, editing_id"
    op.execute(f"INSERT INTO item_new ({columns}) SELECT {columns} FROM item ORDER BY id")
    op.drop_table("item")
    op.rename_table("item_new", "item")
    op.create_index("ix_item_question_id", "item", ["question_id"], unique=False)
    op.create_index("ix_item_trace_id", "item", ["trace_id"], unique=False)


def _sets() -> None:
    op.create_table(
        "relation_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.CheckConstraint(
            "kind in ('temporal','spatial','kinship','contradiction')", name="relation_kind"
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "relation_object",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("truth", sa.Text(), nullable=True),
        sa.Column("stated", sa.Text(), nullable=True),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.CheckConstraint("position >= 0", name="object_position"),
        sa.ForeignKeyConstraint(["set_id"], ["relation_set.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("set_id", "name"),
        sa.UniqueConstraint("set_id", "position"),
    )
    op.create_table(
        "relation_fact",
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("use", sa.String(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("relation", sa.String(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.CheckConstraint("\"use\" in ('truth','told')", name="fact_use"),
        sa.CheckConstraint("a_id <> b_id", name="fact_pair"),
        sa.ForeignKeyConstraint(["a_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["b_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["set_id"], ["relation_set.id"]),
        sa.PrimaryKeyConstraint("set_id", "use", "a_id", "b_id"),
    )


def _answers() -> None:
    op.create_table(
        "relation_asking",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("asks", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.CheckConstraint("asks in ('pairs','objects')", name="asking_asks"),
        sa.ForeignKeyConstraint(["set_id"], ["relation_set.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("set_id", "asks", "name"),
    )
    op.create_table(
        "relation_answer",
        sa.Column("asking_id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("relation", sa.String(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="relation_outcome"),
        sa.CheckConstraint("relation is null or outcome = 'ok'", name="relation_read"),
        sa.CheckConstraint("repeat >= 0", name="relation_repeat"),
        sa.ForeignKeyConstraint(["a_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["asking_id"], ["relation_asking.id"]),
        sa.ForeignKeyConstraint(["b_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.PrimaryKeyConstraint("asking_id", "a_id", "b_id", "repeat"),
    )
    op.create_table(
        "relation_value",
        sa.Column("asking_id", sa.Integer(), nullable=False),
        sa.Column("object_id", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reply_key", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.CheckConstraint(REPLIED, name="value_outcome"),
        sa.CheckConstraint("value is null or outcome = 'ok'", name="value_read"),
        sa.CheckConstraint("repeat >= 0", name="value_repeat"),
        sa.ForeignKeyConstraint(["asking_id"], ["relation_asking.id"]),
        sa.ForeignKeyConstraint(["object_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["reply_key"], ["model_reply.key"]),
        sa.PrimaryKeyConstraint("asking_id", "object_id", "repeat"),
    )


def _relation_items() -> None:
    op.create_table(
        "relation_item",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("asking_id", sa.Integer(), nullable=False),
        sa.Column("axis", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["asking_id"], ["relation_asking.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.PrimaryKeyConstraint("item_id"),
    )
    op.create_index("ix_relation_item_asking_id", "relation_item", ["asking_id"], unique=False)
    op.create_table(
        "relation_edge",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.CheckConstraint("position >= 0", name="edge_position"),
        sa.CheckConstraint("a_id <> b_id", name="edge_pair"),
        sa.ForeignKeyConstraint(["a_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["b_id"], ["relation_object.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["relation_item.item_id"]),
        sa.PrimaryKeyConstraint("item_id", "position"),
    )
    op.create_table(
        "relation_review",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("breaks", sa.Integer(), nullable=False),
        sa.Column("suspect", sa.Integer(), nullable=True),
        sa.Column("edge_breaks", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.CheckConstraint("rank >= 0 and breaks >= 0", name="review_rank"),
        sa.ForeignKeyConstraint(["item_id"], ["relation_item.item_id"]),
        sa.PrimaryKeyConstraint("item_id"),
    )
    op.create_table(
        "relation_sample",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.Column("random_key", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["relation_item.item_id"]),
        sa.PrimaryKeyConstraint("item_id"),
    )


def _forbid_changes() -> None:
    """What a model said, what an item is about, and who has seen behind it are never changed."""
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
