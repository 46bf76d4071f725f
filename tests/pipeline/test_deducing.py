"""Deduction from files to measures: imported, mutated, asked, read, scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from judges.client import Budget
from judges.requests import Sampling
from pipeline.deducing.importing import OWN_PROBLEMS, import_problems
from pipeline.deducing.making import NO_SOLUTION, add_questions, final_number, make_templates
from pipeline.deducing.mutating import Limits, mutate_problems
from pipeline.deducing.reading import contexts, extract
from pipeline.deducing.report import Rules, Scored, deduction_report
from pipeline.deducing.responses import responses
from pipeline.deducing.solving import solve
from pipeline.deducing.synthetic import make_synthetic
from pipeline.questions import import_questions
from scoring.deduction import run_program
from store import ConflictError, Store
from store.deduction_records import NUMBERS
from tests.judges.faults import FaultServer, Seen
from tests.judges.faults import ok as answer
from tests.pipeline.conftest import write_lines
from tests.pipeline.deduced import PROBLEMS, Solver, problem_file, templates
from tests.pipeline.scripted import endpoint, role_of, roles

N = 3


@pytest.fixture
def problems(store: Store, tmp_path: Path) -> None:
    import_problems(store, [problem_file(tmp_path)])
    mutate_problems(store, n=N)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FaultServer]:
    with FaultServer(Solver(templates(tmp_path))) as running:
        yield running


def solving(tmp_path: Path, **more: Any) -> FaultServer:
    return FaultServer(Solver(templates(tmp_path), **more))


def score_of(store: Store, style: str = "original", **rules: Any) -> Scored:
    report = deduction_report(store, rules=Rules(**rules))
    (found,) = [s for s in report.scores if s.style == style]
    return found


# --- problems -------------------------------------------------------------------------------


def test_problems_are_checked_as_they_are_read(store: Store, tmp_path: Path) -> None:
    bad = PROBLEMS.replace("gold = 28", "gold = 27").replace("n = 4\n", "n = true\n", 1)
    done = import_problems(store, [problem_file(tmp_path, bad)])
    (rejected,) = done.rejected
    assert (rejected.line, rejected.message.partition(";")[0]) == (17, "factual.n is true")
    assert (done.n_added, done.n_passed, done.reasons) == (1, 0, {"wrong_answer": 1})
    (template,) = store.templates()
    assert [f.code for f in template.failures] == ["wrong_answer"]
    with pytest.raises(ValueError, match="no problem passed its checks"):
        mutate_problems(store)
    again = import_problems(store, [problem_file(tmp_path, bad)])
    assert (again.n_added, len(again.checked)) == (0, 1)


def test_our_own_problems_are_imported_and_mutated(store: Store) -> None:
    done = import_problems(store, [OWN_PROBLEMS])
    assert (done.n_passed, done.rejected) == (12, ())
    made = mutate_problems(store, n=2)
    assert (made.n_templates, made.n_new, made.n_known, made.short) == (12, 24, 0, {})
    again = mutate_problems(store, n=3)
    assert (again.n_new, again.n_known) == (12, 24)


def test_mutations_of_another_seed_are_refused(store: Store, problems: None) -> None:
    with pytest.raises(ConflictError, match="another seed or other limits"):
        mutate_problems(store, n=N, limits=Limits(seed=1))


def test_a_problem_that_cannot_be_mutated_is_told(store: Store, tmp_path: Path) -> None:
    narrow = PROBLEMS.replace("n = [5, 30]", "n = [5, 5]").replace(
        "gold = 17", 'gold = 17\nconditions = ["n < 5"]'
    )
    import_problems(store, [problem_file(tmp_path, narrow)])
    made = mutate_problems(store, n=2, limits=Limits(tries=5))
    assert made.short == {"pens": 0}
    assert made.rejected == {"condition": 10}


# --- asking ---------------------------------------------------------------------------------


def test_every_mutation_is_asked_after_every_number_of_steps(
    store: Store, problems: None, server: FaultServer
) -> None:
    done = solve(store, endpoint(server))
    # pens: k = 0..2, rows: k = 0..1; the original and three mutations of each
    assert (done.asking.n_requests, done.n_problems, done.n_mutations) == (20, 2, 6)
    assert (done.sent.way, done.sent.why) == ("assistant", "probed")
    assert done.n_read == 20
    (solver,) = store.solvers()
    found = store.completions(solver.id)
    assert {(c.k, c.way) for c in found} == {(0, "none"), (1, "assistant"), (2, "assistant")}
    about = contexts(store)
    for c in found:
        steps = about[c.mutation_id].mutation.steps
        assert c.prefix == "\n".join(steps[: c.k])
        assert c.text.startswith(steps[c.k])
    n = len(server.seen)
    again = solve(store, endpoint(server))
    assert (again.asking.n_requests, again.asking.n_known, again.n_read) == (0, 20, 0)
    assert again.sent.why == "found"
    assert len(server.seen) == n


def test_where_the_server_does_not_go_on_steps_are_quoted(
    store: Store, problems: None, tmp_path: Path
) -> None:
    with solving(tmp_path, continues=False) as server:
        done = solve(store, endpoint(server), k_max=1, problems=["rows"], mutations=1)
        assert (done.sent.way, done.asking.n_requests) == ("quoted", 4)
        (solver,) = store.solvers()
        quoted = [c for c in store.completions(solver.id) if c.k]
        assert {(c.way, c.prompt_version) for c in quoted} == {("quoted", "solver-text-quoted/1")}
        assert not any(
            s.body["messages"][-1]["role"] == "assistant"
            for s in server.seen
            if role_of(s.body) == "solver"
        )


def test_a_dry_run_asks_and_writes_nothing(
    store: Store, problems: None, server: FaultServer
) -> None:
    done = solve(store, endpoint(server), dry_run=True)
    assert done.asking.estimate is not None
    assert done.asking.estimate.n_to_ask == 20
    assert (done.sent.way, done.sent.why) == ("quoted", "unknown")
    assert (server.seen, store.solvers(), store.runs()) == ([], (), ())


def test_a_budget_stops_and_the_next_run_asks_the_rest(
    store: Store, problems: None, server: FaultServer
) -> None:
    small = endpoint(server, concurrency=1)
    sampling = Sampling(temperature=0.0, max_tokens=20)
    first = solve(store, small, sampling=sampling, budget=Budget(max_tokens=250))
    assert first.asking.stopped is not None
    assert 0 < first.asking.n_replied < 20
    rest = solve(store, small, sampling=sampling)
    assert rest.asking.n_known == first.asking.n_replied
    assert rest.asking.n_left == 0


def test_another_sampling_needs_another_name(
    store: Store, problems: None, server: FaultServer
) -> None:
    solve(store, endpoint(server), problems=["rows"], mutations=0)
    with pytest.raises(ValueError, match="give this one another name"):
        solve(store, endpoint(server), sampling=Sampling(temperature=1.0, max_tokens=9))
    with pytest.raises(ValueError, match="no problem 'odd'"):
        solve(store, endpoint(server), problems=["odd"])
    with pytest.raises(ValueError, match="style is 'odd'"):
        solve(store, endpoint(server), styles=["odd"])


# --- measures -------------------------------------------------------------------------------


def test_an_ideal_reasoner_has_base_1_and_no_decay(
    store: Store, problems: None, server: FaultServer
) -> None:
    solve(store, endpoint(server))
    found = score_of(store)
    assert found.exact.base == 1.0
    assert set(found.decays.values()) == {0.0}
    assert (found.final.value, found.final.n) == (1.0, 6)
    assert found.groups == {1: 2}
    assert found.statuses == {"right": 3 * (3 + 2 + 1) + 3 * (2 + 1)}
    assert (found.coverage.value, found.coverage.printed) == (1.0, 1.0)
    assert [(p.k, p.variables, p.steps, p.n) for p in found.prefixes] == [
        (0, 1.0, 1.0, 6),
        (1, 1.0, 1.0, 6),
        (2, 1.0, 1.0, 3),
    ]
    assert found.memory is not None
    assert (found.memory.final_gap, found.memory.problems) == (0.0, 2)
    assert (found.propagated, found.n_wrong, found.n_unread) == (None, 0, 0)


def first_sum_wrong(problem: str, k: int, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Miss the first variable of pens by one; what follows is worked out on the wrong one."""
    if problem == "pens" and k == 0:
        return {"pens_cost": values["pens_cost"] + 1}
    return {}


def test_an_error_is_counted_once_and_what_follows_as_propagated(
    store: Store, problems: None, tmp_path: Path
) -> None:
    with solving(tmp_path, wrong=first_sum_wrong) as server:
        solve(store, endpoint(server))
    found = score_of(store, k_min=0)
    cells = {(c.k, c.l): (c.right, c.n) for c in found.exact.cells}
    assert cells == {(0, 1): (3, 6), (0, 2): (3, 6), (0, 3): (0, 3), (1, 1): (6, 6), (1, 2): (3, 3),
                     (2, 1): (3, 3)}  # fmt: skip
    assert found.n_wrong == 9
    assert found.propagated == pytest.approx(6 / 9)
    assert found.first_wrong == {1: 3}
    assert found.groups == {1: 1, 5: 1}
    assert found.final.value == 0.5
    assert score_of(store).exact.base == 1.0


def remembered(problem: str, k: int, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Give the original's values, whatever is asked."""
    if problem != "rows":
        return {}
    return {"all_seats": Fraction(40), "free_seats": Fraction(28)}


def test_values_copied_from_the_original_are_told_apart(
    store: Store, problems: None, tmp_path: Path
) -> None:
    with solving(tmp_path, wrong=remembered) as server:
        solve(store, endpoint(server), problems=["rows"])
    found = score_of(store)
    assert found.statuses == {"copied": 3 * 3}
    assert found.memory is not None
    assert (found.memory.final_original.value, found.memory.final_mutated.value) == (1.0, 0.0)
    assert found.memory.final_gap == 1.0


def test_models_are_compared_on_the_problems_that_survive_for_each(
    store: Store, problems: None, server: FaultServer, tmp_path: Path
) -> None:
    solve(store, endpoint(server), name="a")
    solve(store, endpoint(server), name="b", problems=["rows"])
    report = deduction_report(store)
    assert report.problems == ("rows",)
    assert report.not_asked == 1
    assert {(s.solver, s.n_problems) for s in report.scores} == {("a", 1), ("b", 1)}
    assert deduction_report(store, ["a"]).problems == ("pens", "rows")
    with pytest.raises(ValueError, match="no solver 'c'"):
        deduction_report(store, ["c"])


# --- styles ---------------------------------------------------------------------------------


def test_styles_are_rewritten_checked_and_compared(
    store: Store, problems: None, server: FaultServer
) -> None:
    done = solve(store, endpoint(server), styles=["original", "plain", "axioms"])
    assert done.paraphrasing is not None
    assert (done.paraphrasing.n_requests, done.faults) == (24, {})
    assert done.asking.n_requests == 20 + 24
    (solver,) = store.solvers()
    plain = store.completions(solver.id, style="plain")
    assert all(c.prefix.startswith("In other words: ") and c.k for c in plain)
    report = deduction_report(store)
    assert [(c.style, c.comparison.n, c.comparison.difference) for c in report.styles] == [
        ("axioms", 12, 0.0),
        ("plain", 12, 0.0),
    ]
    assert [s.style for s in report.scores] == ["original", "axioms", "plain"]
    again = solve(store, endpoint(server), styles=["original", "plain", "axioms"])
    assert again.paraphrasing is not None
    assert (again.paraphrasing.n_requests, again.asking.n_requests) == (0, 0)


def test_a_paraphrase_with_other_numbers_is_never_sent(
    store: Store, problems: None, tmp_path: Path
) -> None:
    good = Solver(templates(tmp_path))

    def script(seen: Seen) -> Any:
        if role_of(seen.body) == "paraphraser":
            return answer('{"text": "It makes 7123 in all."}')
        return good(seen)

    with FaultServer(script) as server:
        done = solve(store, endpoint(server), styles=["plain"], problems=["rows"])
        assert (done.faults, done.asking.n_requests) == ({"numbers": 4}, 0)
        assert "solver" not in roles(server)
        again = solve(store, endpoint(server), styles=["plain"], problems=["rows"])
        assert again.paraphrasing is not None
        assert again.paraphrasing.n_requests == 0


# --- readers --------------------------------------------------------------------------------


def test_two_readers_are_compared(store: Store, problems: None, server: FaultServer) -> None:
    solve(store, endpoint(server))
    (solver,) = store.solvers()
    done = extract(store, endpoint(server), solver, name="x")
    assert (done.asking.n_requests, done.asking.n_left) == (20, 0)
    report = deduction_report(store)
    (compared,) = report.readers
    assert (compared.a, compared.b, compared.agreement) == (NUMBERS, "x", 1.0)
    assert (compared.differ, compared.only_a, compared.only_b) == (0, 0, 0)
    assert {s.reader for s in report.scores} == {"x"}
    assert deduction_report(store, rules=Rules(reader=NUMBERS)).scores[0].reader == NUMBERS
    again = extract(store, endpoint(server), solver, name="x")
    assert (again.asking.n_requests, again.asking.n_known) == (0, 20)
    with pytest.raises(ValueError, match="no reader 'y'"):
        deduction_report(store, rules=Rules(reader="y"))
    with pytest.raises(ValueError, match="is the name of our own reader"):
        extract(store, endpoint(server), solver, name=NUMBERS)


def test_the_expected_values_are_never_sent_to_the_extractor(
    store: Store, problems: None, tmp_path: Path
) -> None:
    with solving(tmp_path, wrong=remembered) as server:
        solve(store, endpoint(server), problems=["rows"], mutations=1)
        (solver,) = store.solvers()
        server.seen.clear()
        extract(store, endpoint(server), solver)
        about = [c for c in contexts(store).values() if c.mutation.label == "0"]
        expected = {
            str(c.mutation.values[c.template.answer]) for c in about if "rows" in c.template.inputs
        }
        assert len(server.seen) == 4
        assert not any(e in s.prompt for e in expected for s in server.seen)


def test_what_a_reader_could_not_read_is_left_out_and_counted(
    store: Store, problems: None, server: FaultServer
) -> None:
    solve(store, endpoint(server), problems=["rows"])
    (solver,) = store.solvers()
    with FaultServer(lambda _: answer('{"other": "1"}')) as odd:
        extract(store, endpoint(odd), solver, name="odd")
    found = score_of(store, reader="odd")
    assert (found.n, found.n_unread, found.exact.n) == (8, 8, 0)
    assert found.exact.why_undefined == "no cell with a prefix long enough"
    assert found.coverage.value is None
    assert score_of(store).reader == NUMBERS  # not the one who could read nothing


# --- templates from own solutions -----------------------------------------------------------


def questions(store: Store, tmp_path: Path) -> None:
    rows = [
        {
            "id": "1",
            "question": "Mia buys 4 pens at 3 dollars each and a bag for 7 dollars. She gets 2"
            " dollars off. What does she pay?",
            "gold": "17",
            "answer_kind": "number",
        },
        {
            "id": "2",
            "question": "A hall has 5 rows of 8 seats, and 12 seats are taken. How many are free?",
            "gold": "29",
            "answer_kind": "number",
        },
        {"id": "3", "question": "Is it?", "gold": "yes", "answer_kind": "boolean"},
    ]
    import_questions(store, [write_lines(tmp_path / "q.jsonl", rows)], "native", dataset="own")


def test_own_correct_solutions_become_templates(
    store: Store, server: FaultServer, tmp_path: Path
) -> None:
    questions(store, tmp_path)
    assert add_questions(store, "own") == (2, 1)
    made = make_templates(store, endpoint(server))
    assert (made.n_problems, made.n_passed, made.reasons) == (2, 1, {NO_SOLUTION: 1})
    assert [a.n_requests for a in made.askings] == [2, 1, 1]
    own = {t.problem: t for t in store.templates("small")}
    assert own["own-1"].passed
    assert (own["own-1"].solution or "").endswith("The answer is 17.")
    assert own["own-2"].failures[0].message == "the model's own answer is not the gold answer"
    again = make_templates(store, endpoint(server))
    assert (again.n_known, [a.n_requests for a in again.askings]) == (2, [0, 0, 0])
    retried = make_templates(store, endpoint(server), retry=True)
    assert (retried.n_known, retried.askings[0].n_cached) == (1, 1)
    mutate_problems(store, n=2)
    done = solve(store, endpoint(server))
    assert (done.templates, done.n_problems, done.left_out) == ("own", 1, {"failed a check": 1})
    report = deduction_report(store)
    assert report.problems == ("own-1",)
    assert report.dropped["small"] == {NO_SOLUTION: 1}
    assert report.scores[0].exact.base == 1.0


def test_a_program_that_does_other_things_is_refused_with_its_reason(
    store: Store, tmp_path: Path
) -> None:
    questions(store, tmp_path)
    add_questions(store, "own")
    good = Solver(templates(tmp_path))
    marker = tmp_path / "marker"

    def script(seen: Seen) -> Any:
        if role_of(seen.body) == "coder":
            return answer(
                '{"code": "import pathlib\\npathlib.Path(\'' + str(marker) + "').touch()\"}"
            )
        return good(seen)

    with FaultServer(script) as server:
        made = make_templates(store, endpoint(server), problems=["own-1"])
    assert made.reasons == {"code_refused": 1}
    assert made.failures["own-1"][0].message.startswith("word")
    assert not marker.exists()


@pytest.mark.parametrize(
    ("text", "number"),
    [("So 3.\nThe answer is 7.", 7), ("<think>9</think>The answer is 1/2.", Fraction(1, 2)),
     ("Nothing.", None)],
)  # fmt: skip
def test_the_number_a_solution_ends_with(text: str, number: Any) -> None:
    assert final_number(text) == number


# --- SynDeduct ------------------------------------------------------------------------------


def test_synthetic_questions_are_asked_once_after_exactly_their_steps(
    store: Store, tmp_path: Path
) -> None:
    made = make_synthetic(store, 4, prefixes=[1, 2], lengths=[1, 3], per_cell=2)
    assert (made.n_questions, made.n_new) == (8, 8)
    assert make_synthetic(store, 4, prefixes=[1, 2], lengths=[1, 3], per_cell=2).n_new == 0
    mutated = mutate_problems(store)
    assert (mutated.n_templates, mutated.n_new) == (8, 0)
    about = {c.mutation.question: c for c in contexts(store).values()}

    def script(seen: Seen) -> Any:
        messages = seen.body["messages"]
        if role_of(seen.body) != "solver":
            return answer("is")
        context = about[messages[1]["content"]]
        k = context.problem.only_k or 0
        lines = [s.rstrip(".") for s in context.mutation.steps[k:]]
        values = context.mutation.values
        target = context.template.answer
        near = f"{target} = {float(values[target]) * 1.04:.2f}"  # within 5 %, not exact
        return answer("\n".join([*lines[:-1], near]))

    with FaultServer(script) as server:
        done = solve(store, endpoint(server))
    assert done.asking.n_requests == 8
    found = score_of(store)
    assert found.kind == "syndeduct"
    assert found.within is not None
    exact = {(c.k, c.l): (c.right, c.n) for c in found.exact.cells}
    assert exact == {(k, hop): (2 if hop < 3 else 0, 4 if hop == 1 else 2)
                     for k in (1, 2) for hop in (1, 2, 3)}  # fmt: skip
    assert [h.mean for h in found.within.hops] == [1.0, 1.0, 1.0]
    assert found.memory is None


def test_a_programs_values_are_those_of_the_interpreter(store: Store, problems: None) -> None:
    for context in contexts(store).values():
        m, code = context.mutation, context.template.code
        assert dict(run_program(code, m.inputs).values) == dict(m.values)


def test_responses_hold_what_was_stated(store: Store, problems: None, server: FaultServer) -> None:
    solve(store, endpoint(server), problems=["rows"], mutations=1)
    (solver,) = store.solvers()
    rows = list(responses(store, solver, NUMBERS))
    assert {r.final for r in rows} == {True}
    for r in rows:
        assert dict(r.stated) == {v.variable: v.expected for v in r.verdicts()}
