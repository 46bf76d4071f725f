"""Schemas with versions, step items, sessions, the unseal log; indexes for long queues.

Every step first looks whether it is needed: databases exist that were written by development
versions and hold some of this under revision 0001 already.
"""

import sqlalchemy as sa
from alembic import op

from store.columns import folded

revision = "0002"
down_revision = "0001"

SAME_ROW = {
    "label": "id = NEW.id",
    "verdict_detail": "label_id = NEW.label_id",
    "reveal": "id = NEW.id OR (rater_id = NEW.rater_id AND question_id = NEW.question_id)",
    "unseal": "id = NEW.id",
    "label_schema": "id = NEW.id OR (name = NEW.name AND version = NEW.version)",
}
"""Append-only tables, with what tells an insert that would replace a row (INSERT OR REPLACE)."""

OLD_APPEND_ONLY = ("label", "verdict_detail", "reveal")

LABEL_COLUMNS = (
    "id, item_id, schema_name, schema_version, rater_id, act, state, category, categories, "
    "first_wrong_step, flagged, note, active_seconds, seal, before_reveal, supersedes, reverses, "
    "content_hash, session_id, created_at"
)


def _drop_triggers(tables: tuple[str, ...]) -> None:
    dialect = op.get_bind().dialect.name
    for table in tables:
        if dialect == "sqlite":
            for verb in ("update", "delete", "replace"):
                op.execute(f"DROP TRIGGER IF EXISTS {table}_no_{verb}")
        elif dialect == "postgresql":
            op.execute(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")


def _forbid_changes() -> None:
    """Labels, what they mean, and looks behind the seal are never updated or deleted."""
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


class _Present:
    """What a database holds already."""

    def __init__(self) -> None:
        self._look = sa.inspect(op.get_bind())

    def table(self, name: str) -> bool:
        return self._look.has_table(name)

    def column(self, table: str, name: str) -> bool:
        return any(c["name"] == name for c in self._look.get_columns(table))

    def index(self, table: str, name: str, columns: list[str] | None = None) -> bool:
        return any(
            i["name"] == name and (columns is None or i["column_names"] == columns)
            for i in self._look.get_indexes(table)
        )


def upgrade() -> None:
    there = _Present()
    _drop_triggers(tuple(t for t in SAME_ROW if there.table(t)))
    _new_tables(there)
    _fill_search()
    _small_changes(there)
    if not there.column("label", "schema_name"):
        _rebuild_label()
    _forbid_changes()


def _new_tables(there: _Present) -> None:
    if not there.table("question_search"):
        op.create_table(
            "question_search",
            sa.Column("question_id", sa.Integer(), nullable=False),
            sa.Column("folded", sa.Text(), nullable=False),
            sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
            sa.PrimaryKeyConstraint("question_id"),
        )
    if not there.table("unseal"):
        op.create_table(
            "unseal",
            sa.Column("id", sa.Integer(), nullable=False),
            sa.Column("what", sa.String(), nullable=False),
            sa.Column("rater", sa.String(), nullable=True),
            sa.Column("who", sa.String(), nullable=False),
            sa.Column("created_at", sa.String(), nullable=False),
            sa.PrimaryKeyConstraint("id"),
        )
    if not there.table("session"):
        op.create_table(
            "session",
            sa.Column("id", sa.Integer(), nullable=False),
            sa.Column("rater_id", sa.Integer(), nullable=False),
            sa.Column("size", sa.Integer(), nullable=True),
            sa.Column("started_at", sa.String(), nullable=False),
            sa.Column("ended_at", sa.String(), nullable=True),
            sa.ForeignKeyConstraint(["rater_id"], ["rater.id"]),
            sa.PrimaryKeyConstraint("id"),
        )


def _fill_search() -> None:
    bind = op.get_bind()
    rows = bind.execute(
        sa.text(
            "SELECT id, dataset, external_id, text FROM question "
            "WHERE id NOT IN (SELECT question_id FROM question_search)"
        )
    ).all()
    for id_, dataset, external_id, stored in rows:
        bind.execute(
            sa.text("INSERT INTO question_search (question_id, folded) VALUES (:id, :folded)"),
            {"id": id_, "folded": folded(dataset, external_id, _model_text(stored))},
        )


def _model_text(stored: str) -> str:
    """Read a `ModelText` column: text is kept as a JSON string."""
    from store.columns import ModelText

    value = ModelText().process_result_value(stored, op.get_bind().dialect)
    return "" if value is None else value


def _small_changes(there: _Present) -> None:
    if not there.column("label_schema", "multi"):
        with op.batch_alter_table("label_schema") as table:
            table.add_column(
                sa.Column("multi", sa.Boolean(), nullable=False, server_default=sa.false())
            )
        with op.batch_alter_table("label_schema") as table:
            table.alter_column("multi", server_default=None)
    if not there.column("item", "step"):
        op.add_column("item", sa.Column("step", sa.Integer(), nullable=True))
    if not there.index("trace", "ix_trace_counts"):
        op.create_index(
            "ix_trace_counts",
            "trace",
            ["pool_id", "n_steps", "parsed", "strict", "n_unannotated"],
            unique=False,
        )
    if there.index("case_item", "ix_case_item_item_id"):
        op.drop_index("ix_case_item_item_id", "case_item")
    if not there.index("case_item", "ix_case_item_item"):
        op.create_index("ix_case_item_item", "case_item", ["item_id", "case_id"], unique=False)


def _rebuild_label() -> None:
    """Name the schema and its version on every label, in place of a row id."""
    for name in ("ix_label_content_hash", "ix_label_item", "ix_label_latest", "ix_label_acts"):
        op.execute(f"DROP INDEX IF EXISTS {name}")
    if op.get_bind().dialect.name == "postgresql":
        _alter_label()
    else:
        _copy_label()
    op.create_index("ix_label_content_hash", "label", ["content_hash"], unique=False)
    op.create_index("ix_label_item", "label", ["item_id"], unique=False)
    op.create_index("ix_label_acts", "label", ["rater_id", "id", "act"], unique=False)
    op.create_index(
        "ix_label_latest",
        "label",
        ["rater_id", "item_id", "schema_name", "id", "state", "flagged"],
        unique=False,
    )
    op.create_index("ix_label_session_id", "label", ["session_id"], unique=False)


def _copy_label() -> None:
    op.create_table(
        "label_new",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("schema_name", sa.String(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("categories", sa.Text(), nullable=True),
        sa.Column("first_wrong_step", sa.Integer(), nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("active_seconds", sa.Float(), nullable=True),
        sa.Column("seal", sa.String(), nullable=False),
        sa.Column("before_reveal", sa.Boolean(), nullable=True),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.Column("reverses", sa.Integer(), nullable=True),
        sa.Column("content_hash", sa.String(), nullable=True),
        sa.Column("session_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.CheckConstraint("(state = 'labelled') = (category is not null)", name="label_category"),
        sa.CheckConstraint("act in ('label','undo','redo','import')", name="label_act"),
        sa.CheckConstraint("seal in ('open','judge','full')", name="label_seal"),
        sa.CheckConstraint(
            "state in ('labelled','unsure','skipped','unparsed','open')", name="label_state"
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"]),
        # They name the new table: renaming it renames them too.
        sa.ForeignKeyConstraint(["reverses"], ["label_new.id"]),
        sa.ForeignKeyConstraint(["supersedes"], ["label_new.id"]),
        sa.ForeignKeyConstraint(
            ["schema_name", "schema_version"], ["label_schema.name", "label_schema.version"]
        ),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute(
        f"INSERT INTO label_new ({LABEL_COLUMNS}) "
        "SELECT l.id, l.item_id, s.name, s.version, l.rater_id, l.act, l.state, l.category, NULL, "
        "l.first_wrong_step, l.flagged, l.note, l.active_seconds, l.seal, l.before_reveal, "
        "l.supersedes, l.reverses, l.content_hash, NULL, l.created_at "
        "FROM label l JOIN label_schema s ON s.id = l.schema_id ORDER BY l.id"
    )
    op.drop_table("label")
    op.rename_table("label_new", "label")


def _alter_label() -> None:
    """Do the same in place: other tables refer to the rows, and nothing can be switched off."""
    op.add_column("label", sa.Column("schema_name", sa.String(), nullable=True))
    op.add_column("label", sa.Column("schema_version", sa.Integer(), nullable=True))
    op.add_column("label", sa.Column("categories", sa.Text(), nullable=True))
    op.add_column("label", sa.Column("session_id", sa.Integer(), nullable=True))
    op.execute(
        "UPDATE label SET schema_name = s.name, schema_version = s.version "
        "FROM label_schema s WHERE s.id = label.schema_id"
    )
    op.alter_column("label", "schema_name", nullable=False)
    op.alter_column("label", "schema_version", nullable=False)
    op.drop_column("label", "schema_id")
    op.create_foreign_key(
        None,
        "label",
        "label_schema",
        ["schema_name", "schema_version"],
        ["name", "version"],
    )
    op.create_foreign_key(None, "label", "session", ["session_id"], ["id"])
