"""A database that is not there is told of in one line, and made only by what brings data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.definitions.running import medoid, trace_row, write
from tui.cli import app

MAKERS = {
    *("import", "schema add", "demo", "run"),
    *("relations import", "relations make", "deduce import", "deduce synthesize"),
}
"""Commands that bring data: they make the database."""
NEEDLESS = {"doctor", "relations baseline"}
"""Commands that can do without one."""
ARGUMENTS: dict[str, list[str]] = {
    "schema show": ["path"],
    "schema version": ["path", "--seal", "judge"],
    "agreement": ["ana", "judge"],
    "items faithfulness": ["--rater", "ana"],
}
"""What a command is called with, where that is more than its required arguments."""


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the full name of every command of the app, with the command."""
    for name, command in group.commands.items():
        full = f"{path} {name}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, full)
        else:
            yield full, command


COMMANDS = dict(commands(typer.main.get_command(app)))
READERS = sorted(set(COMMANDS) - MAKERS - NEEDLESS)


def call(name: str) -> list[str]:
    required = [p for p in COMMANDS[name].params if p.required and p.param_type_name == "argument"]
    return [*name.split(), *ARGUMENTS.get(name, ["x"] * len(required))]


@pytest.mark.parametrize("name", READERS)
def test_a_command_that_reads_makes_no_database(name: str) -> None:
    ran = medoid(*call(name), "--db", "typo.db")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "medoid: typo.db does not exist: name another with --db, or make it with medoid import "
        "FILE…; medoid demo needs none\n"
    )
    assert os.listdir() == []


@pytest.mark.parametrize("name", sorted(NEEDLESS))
def test_nor_does_one_that_needs_none(name: str) -> None:
    medoid(*call(name), "--db", "typo.db")
    assert os.listdir() == []


@pytest.mark.parametrize("db", ["typo.db", "sqlite:///typo.db"])
@pytest.mark.parametrize("rest", [[], ["--rater", "ana"], ["--schema", "path"], ["agreement"]])
def test_nor_does_the_workbench(db: str, rest: list[str]) -> None:
    ran = medoid("--db", db, *rest)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("medoid: typo.db does not exist: name another with --db")
    assert os.listdir() == []


def test_nor_where_the_environment_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDOID_DB", "typo.db")
    Path("right.db").touch()
    ran = medoid("agreement")
    assert ran.code == 2
    assert ran.err.startswith("medoid: typo.db does not exist (beside it: right.db): name another")
    assert os.listdir() == ["right.db"]


def test_what_brings_data_makes_it() -> None:
    write(Path("t.jsonl"), trace_row())
    assert medoid("import", "t.jsonl", "--db", "a.db").code == 0
    Path("s.toml").write_text(medoid("schema", "show", "path", "--db", "a.db").out, "utf-8")
    assert medoid("schema", "add", "s.toml", "--db", "b.db").code == 0
    schemas = json.loads(medoid("schema", "list", "--db", "b.db", "--json").out)
    assert [s["name"] for s in schemas][:2] == ["path", "step"]
    assert sorted(os.listdir()) == ["a.db", "b.db", "s.toml", "t.jsonl"]


@pytest.mark.parametrize("args", [["import", "no.jsonl"], ["schema", "add", "no.toml"]])
def test_but_not_for_a_file_that_is_not_there(args: list[str]) -> None:
    ran = medoid(*args, "--db", "a.db")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "No such file" in ran.err
    assert os.listdir() == []
