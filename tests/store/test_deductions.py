"""Deduction in the database: problems, templates, mutations, completions, stated values."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from scoring.deduction import (
    Mutation,
    SanityFailure,
    Template,
    check_template,
    mutate,
    template_from_dict,
)
from store import ConflictError, Store, open_store
from store.codec import decode_template, encode_template
from store.deduction_records import (
    NUMBERS,
    ORIGINAL,
    CompletionRecord,
    PrefixRecord,
    ReadingRecord,
    mutation_label,
)

PENS: dict[str, Any] = {
    "problem": "pens",
    "question": "{n} pens at {p} each, \ud800 {off} off?",
    "steps": ["{n} * {p} = {full_price}.", "{full_price} - {off} = {cost_total}."],
    "code": "full_price = n * p\ncost_total = full_price - off",
    "factual": {"n": 3, "p": "1/3", "off": 1},
    "gold": 0,
    "ranges": {"n": [20, 90]},
    "conditions": ["n > 1"],
}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "t.db") as opened:
        yield opened


def pens(**changes: Any) -> Template:
    return template_from_dict(PENS | changes)


def added(store: Store, template: Template, **more: Any) -> Any:
    store.add_problem(template.problem, "3 pens?", template.gold)
    return store.add_template(template.problem, template, **more)


def with_completion(store: Store) -> tuple[int, int, int]:
    """Return the ids of a template, a mutation and a solver, with one completion (id 1)."""
    record = added(store, pens())
    made = mutate(record.template, n=2, seed=0)
    store.save_mutations(record.id, made.items, {"seed": 0})
    first = store.mutations([record.id])[record.id][0]
    solver = store.solver("m", "model", "solver-text/1", {"t": 0})
    row = CompletionRecord(first.id, 1, "original", "quoted", "a", "ok", "b \x00")
    assert store.save_completions(solver.id, [row]) == 1
    return record.id, first.id, solver.id


def test_a_template_comes_back_exactly(store: Store) -> None:
    template = pens(source="s", model="m")
    assert decode_template(encode_template(template)) == template
    assert added(store, template).template == template
    (stored,) = store.templates()
    assert stored.template == template
    assert stored.passed
    assert (stored.solver, stored.attempt, stored.failures) == ("", 0, ())


def test_a_problem_stands_once_and_is_never_another(store: Store) -> None:
    first = store.add_problem("p", "How many?", Fraction(1, 3), source="f", extra={"k": 2})
    assert store.add_problem("p", "How many?", Fraction(1, 3)) == first
    assert store.problems() == (first,)
    assert (first.gold, first.only_k) == (Fraction(1, 3), 2)
    with pytest.raises(ConflictError, match="another question"):
        store.add_problem("p", "How much?", Fraction(1, 3))
    with pytest.raises(ConflictError, match="another answer"):
        store.add_problem("p", "How many?", None)
    with pytest.raises(ValueError, match="a name without control characters"):
        store.add_problem("a\nb", "How many?", None)


def test_a_template_that_failed_can_be_tried_again_one_that_passed_stays(store: Store) -> None:
    failed = [SanityFailure("wrong_answer", "it is 6, gold is 7")]
    first = added(store, pens(), failures=failed)
    assert (first.passed, first.attempt) == (False, 0)
    assert store.add_template("pens", pens(), failed).id == first.id
    none = store.add_template("pens", None, [SanityFailure("format", "no code")], solution="3.")
    assert (none.template, none.attempt, none.solution) == (None, 1, "3.")
    assert store.templates()[0].id == none.id
    passed = store.add_template("pens", pens())
    assert [t.id for t in store.templates()] == [passed.id]
    assert store.add_template("pens", pens()).id == passed.id
    with pytest.raises(ConflictError, match="another template that passed"):
        store.add_template("pens", pens(code="full_price = p * n\ncost_total = full_price - off"))
    own = store.add_template("pens", pens(), solver="m")
    assert [t.id for t in store.templates("m")] == [own.id]
    assert [t.id for t in store.templates("")] == [passed.id]
    with pytest.raises(ValueError, match="no problem 'inks'"):
        store.add_template("inks", pens())


def test_mutations_of_one_seed_grow_those_of_another_are_refused(store: Store) -> None:
    record = added(store, pens())
    values = check_template(pens()).values
    given = {n: values[n] for n in ("n", "p", "off")}
    own = Mutation("pens", ORIGINAL, given, values, "3 pens?", ("a", "b"))
    three = mutate(pens(), n=3, seed=5).items
    assert store.save_mutations(record.id, [own, *three], {"seed": 5}) == 4
    five = mutate(pens(), n=5, seed=5).items
    assert store.save_mutations(record.id, five, {"seed": 5}) == 2
    found = store.mutations([record.id])[record.id]
    assert [m.label for m in found] == ["original", "0", "1", "2", "3", "4"]
    assert found[0].values["p"] == Fraction(1, 3)
    assert [dict(m.values) for m in found[1:]] == [dict(m.values) for m in five]
    assert store.mutation_counts() == {record.id: 5}
    with pytest.raises(ConflictError, match="other numbers"):
        store.save_mutations(record.id, mutate(pens(), n=1, seed=6).items, {"seed": 6})
    assert mutation_label(ORIGINAL) == "original"


def test_a_solver_is_one_way_of_asking(store: Store) -> None:
    first = store.solver("m", "model", "solver-text/1", {"t": 0})
    assert store.solver("m", "model", "solver-text/1", {"t": 0}) == first
    with pytest.raises(ValueError, match="another parameters"):
        store.solver("m", "model", "solver-text/1", {"t": 1})
    assert store.solvers() == (first,)


def test_completions_stand_as_they_came(store: Store) -> None:
    _, mutation, solver = with_completion(store)
    row = CompletionRecord(mutation, 1, "original", "quoted", "a", "ok", "other")
    plain = replace(row, style="plain", text="c")
    assert store.save_completions(solver, [row, plain]) == 1
    assert store.completion_places(solver) == {(mutation, 1, "original"), (mutation, 1, "plain")}
    found = store.completions(solver)
    assert [(c.style, c.text) for c in found] == [("original", "b \x00"), ("plain", "c")]
    assert store.completions(solver, style="plain", ids=[found[0].id]) == ()
    assert store.completions(solver, ids=[found[1].id]) == found[1:]
    with pytest.raises(ValueError, match="which is no reply"):
        store.save_completions(solver, [replace(row, outcome="failed")])  # type: ignore[arg-type]


def test_the_newest_reading_of_a_reader_counts(store: Store) -> None:
    _, _, solver = with_completion(store)
    (completion,) = store.completions(solver)
    old = ReadingRecord(completion.id, NUMBERS, "1", {"v": Fraction(1, 3)}, {"v": "named"})
    new = replace(old, version="2", values={"v": Fraction(-2)}, how={"v": "aligned"})
    assert store.save_readings([old]) == 1
    assert store.save_readings([old, new]) == 1
    assert store.readings(solver, NUMBERS) == {completion.id: new}
    assert store.readings(solver, "other") == {}
    assert store.readers(solver) == {NUMBERS: 1}


def test_who_could_read_most_comes_first(store: Store) -> None:
    _, _, solver = with_completion(store)
    (completion,) = store.completions(solver)
    lost = ReadingRecord(completion.id, "a", "1", {}, {}, reason="no JSON")
    store.save_readings([lost, replace(lost, reader="b", reason="", values={"v": Fraction(1)})])
    assert list(store.readers(solver).items()) == [("b", 1), ("a", 0)]


def test_the_first_usable_paraphrase_comes_first(store: Store) -> None:
    _, mutation, _ = with_completion(store)
    bad = PrefixRecord(mutation, 1, "plain", "a", "p/1", "ok", fault="numbers", reason="lost 3")
    good = PrefixRecord(mutation, 1, "plain", "b", "p/1", "ok", text="So it is.")
    assert store.save_prefixes([bad, good]) == 2
    assert store.save_prefixes([replace(good, text="x")]) == 0
    assert store.prefixes([mutation], "plain") == {(mutation, 1): (good, bad)}
    assert store.prefixes([mutation], "axioms") == {}
    with pytest.raises(ValueError, match="either a text or a fault"):
        store.save_prefixes([replace(good, fault="x", model="c")])


@pytest.mark.parametrize(
    "table",
    ["problem", "template", "mutation", "solver", "prefix", "completion", "reading"],
)
def test_nothing_of_it_is_ever_changed(store: Store, table: str, tmp_path: Path) -> None:
    _, mutation, solver = with_completion(store)
    (completion,) = store.completions(solver)
    store.save_readings([ReadingRecord(completion.id, NUMBERS, "1", {}, {})])
    store.save_prefixes([PrefixRecord(mutation, 1, "plain", "a", "p/1", "ok", text="x")])
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        columns = [r[1] for r in connection.execute(f"PRAGMA table_info(deduction_{table})")]
        for statement in (
            f"DELETE FROM deduction_{table}",
            f"UPDATE deduction_{table} SET {columns[0]} = {columns[0]}",
            f"INSERT OR REPLACE INTO deduction_{table} SELECT * FROM deduction_{table}",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
