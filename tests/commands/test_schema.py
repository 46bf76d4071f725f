"""`medoid schema`: what is listed, shown, added and changed, and with which exit codes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store import open_store
from store.exchange.schemas import schema_text, spec_of
from store.records import SchemaSpec
from store.schemas import SHIPPED, shipped_text
from tests.definitions.running import DB, medoid
from tests.store.test_label_machine import ERRORS


@pytest.fixture(autouse=True)
def _project() -> None:
    open_store(DB).close()


def save(spec: SchemaSpec, name: str = "s.toml") -> Path:
    path = Path(name)
    path.write_text(schema_text(spec), encoding="utf-8")
    return path


def test_every_version_is_listed() -> None:
    medoid("schema", "version", "path", "--seal", "judge")
    found = medoid("schema", "list", "--json").json
    names = [(s["name"], s["version"], s["seal"]) for s in found]
    assert names[:3] == [("path", 1, "full"), ("path", 2, "judge"), ("step", 1, "full")]
    assert len(names) == len(SHIPPED) + 1
    lines = medoid("schema", "list").out.splitlines()
    assert len(lines) == len(names)
    words = lines[1].split()
    assert words[:5] == ["path", "2", "path", "seal", "judge"]
    assert lines[-1].endswith("several of calculation, logical, understanding, none, unsure")


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shown_is_a_file_that_can_be_read(name: str) -> None:
    ran = medoid("schema", "show", name)
    assert (ran.code, ran.out) == (0, shipped_text(name))
    Path("again.toml").write_text(ran.out, encoding="utf-8")
    assert medoid("schema", "version", "again.toml", "--json").json["version"] == 1


def test_hostile_words_are_shown_as_escapes_and_come_back() -> None:
    guideline = 'two\nlines \u202eback \xa0 \ufe0f \\ """ end"'
    spec = replace(ERRORS, guideline=guideline)
    assert medoid("schema", "add", save(spec)).code == 0
    ran = medoid("schema", "show", "errors")
    assert "\u202e" not in ran.out
    Path("t.toml").write_text(ran.out, encoding="utf-8")
    assert medoid("schema", "add", "t.toml").code == 0
    with open_store(DB) as store:
        assert spec_of(store.schema("errors")) == spec


def test_adding_and_changing() -> None:
    assert medoid("schema", "add", save(ERRORS)).out == "schema errors version 1, seal full\n"
    assert medoid("schema", "add", save(ERRORS)).code == 0
    changed = save(replace(ERRORS, question="Which?"))
    refused = medoid("schema", "add", changed)
    assert (refused.code, "other content" in refused.err) == (2, True)
    made = medoid("schema", "version", changed, "--seal", "open")
    assert made.out == "schema errors version 2, seal open\n"
    old = medoid("schema", "show", "errors", "--version", "1", "--json").json
    assert (old["question"], old["seal"], old["multi"]) == ("Which errors?", "full", True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["show", "odd"], "no schema 'odd'; there are: "),
        (["show", "path", "--version", "3"], "path has no version 3; the newest is 1"),
        (["add", "none.toml"], "none.toml: No such file"),
        (["add", "bad.toml"], "bad.toml: not TOML"),
        (["version", "path"], "give a TOML file, or --seal LEVEL"),
        (["version", "path", "--seal", "shut"], 'seal is "shut"; one of open, judge, full'),
        (["version", "new.toml"], "no schema 'errors'"),
    ],
)
def test_mistakes_end_with_2_and_one_line(call: list[str], message: str) -> None:
    Path("bad.toml").write_text("name =")
    save(ERRORS, "new.toml")
    ran = medoid("schema", *call)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
