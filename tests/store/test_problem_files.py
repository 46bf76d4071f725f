"""Deduction problems as files: our own form, GSM-Symbolic's, and every mistake with its line."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.deduction import check_template, mutate, run_program
from store.exchange.lines import Rejected
from store.exchange.places import json_lines, toml_lines
from store.exchange.problems import ReadProblem, problem_files, read_problems

BUNDLED = Path(__file__).parents[2] / "pipeline" / "bundled" / "problems.toml"

PENS = """\
problem = "pens"
question = "{n} pens at ${p} each, {off} off. How much?"
steps = [
  "{n} * {p} = ${full_price}.",
  "{full_price} - {off} = ${cost_total}.",
]
code = '''
full_price = n * p
cost_total = full_price - off
'''
gold = 6.5
conditions = ["full_price > off"]
[factual]
n = 3
p = "5/2"
off = 1
[ranges]
n = [2, 9]
"""


def read(folder: Path, text: str, name: str = "a.toml") -> list[ReadProblem | Rejected]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return list(read_problems(path))


def faults(folder: Path, text: str, name: str = "a.toml") -> list[tuple[int, str]]:
    found = read(folder, text, name)
    assert all(isinstance(r, Rejected) for r in found)
    return [(r.line, r.message) for r in found if isinstance(r, Rejected)]


def one(folder: Path, text: str, name: str = "a.toml") -> ReadProblem:
    (found,) = read(folder, text, name)
    assert isinstance(found, ReadProblem), found
    return found


def test_a_problem_is_read_with_its_original_wording(tmp_path: Path) -> None:
    found = one(tmp_path, PENS)
    assert found.question == "3 pens at $2.5 each, 1 off. How much?"
    assert (found.gold, found.template.answer) == (Fraction(13, 2), "cost_total")
    assert found.template.stated_in == {"full_price": 1, "cost_total": 2}
    assert check_template(found.template).passed


def test_json_holds_the_same_fields(tmp_path: Path) -> None:
    import tomllib

    text = json.dumps(tomllib.loads(PENS), indent=1)
    assert one(tmp_path, text, "a.json").template == one(tmp_path, PENS).template


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ('problem = "pens"', "problem = 7", 1, "problem is 7; a text is right"),
        ('problem = "pens"', 'problem = "a\\u0007b"', 1, "a name is right"),
        ("gold = 6.5", 'gold = "six"', 11, 'gold is "six"; a number is right'),
        ("gold = 6.5", "gold = true", 11, "gold is true; a number is right"),
        ("gold = 6.5", "golden = 6.5", 11, "unknown key 'golden'"),
        ("gold = 6.5", "gold = inf", 11, "gold is"),
        ("off = 1", "off = [1]", 16, "factual.off is [1]; a number is right"),
        ("off = 1\n", "", 13, "factual lacks 'off'"),
        ("n = [2, 9]", "n = [9, 2]", 18, "ranges.n is [9, 2]; the lower end comes first"),
        ("n = [2, 9]", "n = [2]", 18, "ranges.n is [2]; [low, high] is right"),
        ("n = [2, 9]", "m = [2, 9]", 17, "ranges names 'm'"),
        ('["full_price > off"]', '"full_price > off"', 12, "conditions is"),
        ('  "{full_price} - {off} = ${cost_total}.",\n', '  " ",\n', 3, "steps is"),
        ("gold = 6.5", 'answer = "p"\ngold = 6.5', 11, "answer 'p' is not a variable"),
    ],
)
def test_a_bad_field_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, complaint: str
) -> None:
    assert old in PENS
    ((found, message),) = faults(tmp_path, PENS.replace(old, new, 1))
    assert complaint in message
    assert found == line


def test_every_bad_field_is_named(tmp_path: Path) -> None:
    text = PENS.replace("gold = 6.5", "gold = true").replace("n = 3", 'n = "x"')
    found = faults(tmp_path, text.replace('problem = "pens"\n', ""))
    assert [line for line, _ in found] == [1, 10, 13]
    assert found[0][1] == "problem is missing"


def test_places_within_several_problems(tmp_path: Path) -> None:
    table = PENS.replace("[factual]", "[problems.factual]").replace("[ranges]", "[problems.ranges]")
    second = table.replace('"pens"', '"inks"').replace("off = 1", "off = false")
    found = read(tmp_path, f"[[problems]]\n{table}\n[[problems]]\n{second}")
    assert isinstance(found[0], ReadProblem)
    assert isinstance(found[1], Rejected)
    assert (found[1].line, found[1].message[:20]) == (37, "factual.off is false")


@pytest.mark.parametrize(
    ("name", "text", "line", "complaint"),
    [
        ("a.toml", 'problem = "x"\nsteps = [', 2, "not TOML"),
        ("a.toml", "problem = 'x'\nproblem = 'y'", 2, "not TOML"),
        ("a.json", '{\n"problem": }', 2, "not JSON at column 12"),
        ("a.json", "[3]", 1, "3 is no table"),
        ("a.json", '"x"', 1, "is no table"),
        ("a.json", "[" * 5000, 1, ""),
    ],
)
def test_what_cannot_be_read_is_one_error(
    tmp_path: Path, name: str, text: str, line: int, complaint: str
) -> None:
    found = faults(tmp_path, text, name)
    assert len(found) == 1
    assert found[0][0] == line
    assert complaint in found[0][1]


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'problem = "x"\nquestion = "\xff"\n')
    (found,) = read_problems(tmp_path / "a.toml")
    assert isinstance(found, Rejected)
    assert (found.line, found.message) == (2, "not UTF-8; save the file as UTF-8")


def test_lines_of_keys_pass_over_texts_of_several_lines() -> None:
    text = "a = '''\nb = 1\n'''\nb = 2\n[t]\n'c d' = 3\nx.y = 4\n"
    assert toml_lines(text) == {
        ("a",): 1,
        ("b",): 4,
        ("t",): 5,
        ("t", "c d"): 6,
        ("t", "x", "y"): 7,
    }
    assert json_lines('{"a": 1,\n"b": {"a": 2}}') == {("a",): 1, ("b",): 2}


@given(st.text(alphabet="ab=[]\"'\n .#{}1") | st.text())
def test_no_text_breaks_the_search_for_lines(text: str) -> None:
    n = len(text.splitlines())
    for found in (toml_lines(text), json_lines(text)):
        assert all(1 <= line <= n for line in found.values())


def test_our_own_problems_pass_every_check_and_can_be_mutated() -> None:
    found = list(read_problems(BUNDLED))
    assert len(found) == 12
    assert len({p.template.problem for p in found if isinstance(p, ReadProblem)}) == 12
    for problem in found:
        assert isinstance(problem, ReadProblem), problem
        assert check_template(problem.template).failures == ()
        assert 4 <= len(problem.template.steps) <= 7
        made = mutate(problem.template, n=10, max_iter=1000)
        assert len(made.items) == 10, problem.template.problem
        assert all(v > 0 for m in made.items for v in m.values.values())


# --- GSM-Symbolic ---------------------------------------------------------------------------

QUESTION = (
    "{name, Ana} stacks {x,12} {thing,jar}s on each of {n,5} shelves and {frac,half} as many again"
    " on a table. A {thing,jar} costs ${p,2.50}. What are they worth?\n"
    "#init:\n- name = sample(names)\n- thing = sample(['jar', 'tin'])\n- frac = sample(fractions)\n"
    "- $x = range(10, 31, 2)\n- $n = range(2, 9)\n- $p = arange(0.5, 3.5, 0.5)\n\n"
    "#conditions:\n- is_int(x*n*frac)\n- divides(x*n, 4)\n- x*n < 100\n\n"
    "#answer: (x*n + int(x*n*frac)) * p"
)
ANSWER = (
    "{name} has {x}*{n} = <<{x}*{n}={x*n}>>{x*n} {thing}s on shelves.\n"
    "On the table are {x*n*frac} more.\n"
    "That is {x*n}+{x*n*frac} = {x*n+x*n*frac} in all.\n"
    "#### {(x*n+x*n*frac)*p}"
)
GSM = {
    "question": "Ana stacks 12 jars on each of 5 shelves and half as many again on a table. A jar"
    " costs $2.50. What are they worth?",
    "answer": "So it is.\n#### 225",
    "id_orig": 7,
    "id_shuffled": 1,
    "question_annotated": QUESTION,
    "answer_annotated": ANSWER,
}


def gsm(folder: Path, **changes: object) -> list[ReadProblem | Rejected]:
    return read(folder, json.dumps(GSM | changes, indent=1), "0007.json")


def test_a_gsm_symbolic_template_becomes_one_of_ours(tmp_path: Path) -> None:
    (found,) = gsm(tmp_path)
    assert isinstance(found, ReadProblem), found
    t = found.template
    assert (t.problem, t.source, found.gold) == (
        "gsm-symbolic-0007",
        "GSM-Symbolic 7",
        Fraction(225),
    )
    assert t.inputs == ("x", "n", "p")
    assert t.question.startswith("Ana stacks {x} jars on each of {n} shelves and half as many")
    assert t.steps == (
        "Ana has {x}*{n} = {v1} jars on shelves.",
        "On the table are {v2} more.",
        "That is {v1}+{v2} = {v3} in all.",
        "The answer is {v4}.",
    )
    assert t.code.splitlines() == [
        "frac = 1/2",
        "v1 = x*n",
        "v2 = v1*frac",
        "v3 = v1+v2",
        "v4 = (v3)*p",
    ]
    assert t.ranges["x"].high == 30
    assert t.ranges["p"].high == 3
    assert "((x*n*frac) % 1 == 0)" in t.conditions
    assert "((x*n) % (4) == 0)" in t.conditions
    assert "(x - 10) % (2) == 0" in t.conditions
    assert found.notes == ("left as in the original: frac, name, thing",)
    assert check_template(t).failures == ()
    for m in mutate(t, n=5, max_iter=2000).items:
        assert m.inputs["x"] % 2 == 0
        assert m.values["v1"] < 100
        assert m.values["v4"] == m.inputs["x"] * m.inputs["n"] * Fraction(3, 2) * m.inputs["p"]


def test_the_toml_files_that_follow_it_read_the_same(tmp_path: Path) -> None:
    text = "\n".join(
        [
            f"question = {json.dumps(GSM['question'])}",
            f"answer = {json.dumps(GSM['answer'])}",
            "id_orig = 7",
            f'question_annotated = """\n{QUESTION}\n"""',
            f'answer_annotated = """\n{ANSWER}\n"""',
            'human-validated = "by hand"',
        ]
    )
    found = one(tmp_path, text, "0007.toml")
    (same,) = gsm(tmp_path)
    assert isinstance(same, ReadProblem)
    assert found.template == same.template


def test_where_an_earlier_number_cannot_stand_the_expression_stays(tmp_path: Path) -> None:
    answer = "{n} less {x-n} is left, then {x-n*2} of it.\n#### {x-n*2}"
    (found,) = gsm(tmp_path, answer_annotated=answer, answer="#### 2")
    assert isinstance(found, ReadProblem)
    assert "v2 = x-n*2" in found.template.code
    assert run_program(found.template.code, found.template.factual).values["v2"] == 2


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("- $x = range(10, 31, 2)", "- $x = range(low, 31)", "range(low, high[, step])"),
        ("- $x = range(10, 31, 2)", "- $x = range(31, 10)", "range(low, high[, step])"),
        ("- $x = range(10, 31, 2)", "- $x = n * 2", "a number that depends on others"),
        ("- $x = range(10, 31, 2)", "- $x, n = sample([(1, 2)])", "depends on others"),
        ("- $x = range(10, 31, 2)", "- $x", "NAME = … is right"),
        ("is_int(x*n*frac)", "is_int(x*n*frac", "a bracket is not closed"),
        ("divides(x*n, 4)", "divides(x*n)", "wrong number of arguments"),
    ],
)
def test_what_cannot_be_taken_over_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    assert old in QUESTION
    changed = QUESTION.replace(old, new)
    toml = f'id_orig = 1\nquestion_annotated = """\n{changed}\n"""\nanswer_annotated = "{{x}}"\n'
    (found,) = read(tmp_path, toml, "0001.toml")
    assert isinstance(found, Rejected)
    assert complaint in found.message
    rows = toml.splitlines()
    assert re.sub(r"\s", "", new.removeprefix("- "))[:6] in re.sub(r"\s", "", rows[found.line - 1])


def test_a_text_that_is_computed_with_is_refused(tmp_path: Path) -> None:
    (found,) = gsm(tmp_path, answer_annotated="{name.upper()} has it.\n#### {x}")
    assert isinstance(found, Rejected)
    assert "computes with name, which is a text" in found.message


def test_what_the_interpreter_does_not_know_fails_its_check_and_runs_nowhere(
    tmp_path: Path,
) -> None:
    answer = "It is {__import__('os').system('x') + x}.\n#### {x*n}"
    (found,) = gsm(tmp_path, answer_annotated=answer)
    assert isinstance(found, ReadProblem)
    assert [f.code for f in check_template(found.template).failures] == ["code_refused"]


def test_a_folder_is_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b.toml", "a.json", "c.txt"):
        (tmp_path / name).write_text("")
    assert [p.name for p in problem_files(tmp_path)] == ["a.json", "b.toml"]
    assert problem_files(tmp_path / "c.txt") == [tmp_path / "c.txt"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"holds no \.toml or \.json file"):
        problem_files(tmp_path / "empty")
