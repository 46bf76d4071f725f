"""Judges by a schema: what each is shown, what it is offered, how its reply is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import store.schemas
from judges.counterfactual_judge import counterfactual_content
from judges.deduction_judge import deduction_content
from judges.item_judge import (
    Block,
    ItemContent,
    Rubric,
    item_order,
    item_request,
    item_schema,
)
from judges.item_reading import STEP_WITH_SOUND, read_item
from judges.path_judge import STEP_OUT_OF_RANGE
from judges.prompts import load_prompt, own_prompt, prompt_names
from judges.questions import QuestionText
from judges.relation_judge import StatedRelation, cause_content, cycle_content, pair_content
from judges.requests import Form, Reply, Sampling
from judges.schemas import KEYWORDS
from judges.step_judge import first_wrong_step, step_content, trace_content
from pipeline.judged import ROLES, ROLES_OF_SCHEMAS, role_name, rubric_of
from scoring.types import Step, Trace
from store.exchange.schemas import parse_schema
from store.label_records import SchemaRecord
from tests.judges.asked import SUM, TRACE, data, ok, replies, unmarked, values


def shipped(name: str, version: int = 1) -> SchemaRecord:
    text = (Path(store.schemas.__file__).parent / f"{name}.toml").read_text("utf-8")
    s = parse_schema(text)
    return SchemaRecord(
        1, s.name, version, s.item_kind, s.categories, s.seal, s.question, s.guideline, s.multi
    )


STEPS = rubric_of(shipped("step"))
DEDUCTION = rubric_of(shipped("deduction"))
FORMS: tuple[Form, ...] = ("schema", "text")

EDGES = (
    StatedRelation("Rome", "Oslo", "lies south of", "Rome is in Italy.\nSo south."),
    StatedRelation("Oslo", "Rome", "lies south of", "Oslo first."),
)
CONTENTS: dict[str, ItemContent] = {
    "step": step_content(SUM, TRACE, 1),
    "path": trace_content(SUM, TRACE),
    "counterfactual": counterfactual_content(
        SUM, TRACE.steps, 1, "There are 5 dogs.", before="12", after="20"
    ),
    "pair": pair_content(EDGES[0], "How does {a} lie to {b}?"),
    "cycle": cycle_content(EDGES, "Where?"),
    "cycle-cause": cause_content(EDGES, 2, "Where?", "Oslo: 60° N"),
    "deduction": deduction_content("What is 2 × 3?", "2 × 3 = 5", prefix="2 × 3", reference="6"),
}


def body(name: str, **more: Any) -> str:
    rubric = rubric_of(shipped(name))
    return unmarked(
        item_request("m", rubric, CONTENTS[name], item="i", **more).messages[-1].content
    )


def test_a_step_is_shown_with_all_the_others() -> None:
    words = ", ".join(item_order(STEPS, 0, "i", 0))
    assert body("step") == (
        'Question:\n"""\nHow many legs have 3 dogs?\n"""\nAll steps:\n"""\n'
        "0. A dog has 4 legs. [depends_on: none]\n1. There are 3 dogs. [depends_on: none]\n"
        '2. 3 times 4 is 12. [depends_on: 0, 1]\n"""\nThe step to judge:\n"""\n'
        f'1. There are 3 dogs. [depends_on: none]\n"""\nThe words: {words}'
    )
    with pytest.raises(ValueError, match="step 7; the trace has 3"):
        step_content(SUM, TRACE, 7)


def test_the_steps_of_a_trace_are_asked_alike_up_to_the_step() -> None:
    texts = [
        item_request("m", STEPS, step_content(SUM, TRACE, n), item="i").messages[-1].content
        for n in range(3)
    ]
    assert len({t.partition("The step to judge:")[0] for t in texts}) == 1
    assert len(set(texts)) == 3


def test_an_edit_is_shown_beside_what_it_was_and_both_answers() -> None:
    assert body("counterfactual").startswith('Question:\n"""\nHow many legs')
    assert (
        'The step as it was:\n"""\n1. There are 3 dogs.\n"""\nThe step as edited:\n"""\n'
        '1. There are 5 dogs.\n"""\nAnswer to the steps as they were:\n"""\n12\n"""\n'
        'Answer to the steps as edited:\n"""\n20\n"""\n'
    ) in body("counterfactual")
    bare = counterfactual_content(SUM, TRACE.steps, 1, "x")
    assert {b.name for b in bare.blocks} == {"question", "steps", "original", "edit"}
    for step, text in ((9, "x"), (1, " ")):
        with pytest.raises(ValueError, match="edit"):
            counterfactual_content(SUM, TRACE.steps, step, text)


def test_relations_are_shown_as_they_were_stated() -> None:
    assert body("pair").startswith(
        'What was asked:\n"""\nHow does {a} lie to {b}?\n"""\nWhat was stated:\n"""\n'
        'Rome — lies south of — Oslo\n"""\nThe whole reply it comes from:\n"""\nRome is in Italy.'
    )
    lines = "edge1: Rome — lies south of — Oslo\nedge2: Oslo — lies south of — Rome"
    assert f'The edges of the circle:\n"""\n{lines}\n"""' in body("cycle")
    assert 'The edge that is held for wrong:\n"""\nedge2: Oslo' in body("cycle-cause")
    assert 'The whole reply behind it:\n"""\nOslo first.\n"""' in body("cycle-cause")
    with pytest.raises(ValueError, match="a cycle of 1 edges"):
        cycle_content(EDGES[:1])
    with pytest.raises(ValueError, match="edge3; the cycle has edges from 1 to 2"):
        cause_content(EDGES, 3)
    with pytest.raises(ValueError, match="the reply behind edge1 is not known"):
        cause_content([StatedRelation("a", "b", "r"), *EDGES], 1)


def test_a_deduction_is_shown_with_what_was_given() -> None:
    assert body("deduction").startswith(
        'Problem:\n"""\nWhat is 2 × 3?\n"""\nA worked solution:\n"""\n6\n"""\n'
        'The beginning they were given:\n"""\n2 × 3\n"""\nWhat they wrote:\n"""\n2 × 3 = 5\n"""\n'
    )
    with pytest.raises(ValueError, match="the reply is blank"):
        deduction_content("x", " ")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CONTENTS)
def test_the_guideline_and_the_words_come_from_the_schema(name: str, form: Form) -> None:
    record = shipped(name)
    rubric = rubric_of(record)
    request = item_request("m", rubric, CONTENTS[name], item="i", form=form)
    system, user = request.messages
    assert request.role == CONTENTS[name].role
    if name != "path":
        assert request.role == role_name(record)
    assert request.prompt_version == f"{request.role}-{form}/1+{name}/1"
    assert record.question in system.content
    for word in rubric.categories:
        assert f"**{word}**" in system.content or word.startswith("edge")
    assert "**unsure**" not in system.content
    assert "κ" not in system.content
    offered = user.content.rpartition("The words: ")[2].split(", ")
    assert sorted(offered) == sorted(rubric.categories)
    assert "unsure" not in offered
    assert (request.schema is None) == (form == "text")


def test_every_prompt_of_a_role_is_one_that_a_schema_uses() -> None:
    used = {*ROLES.values(), *ROLES_OF_SCHEMAS.values()}
    there = {n.partition("-")[0] for n in prompt_names() if "_judge-" in n}
    assert there == used | {"path_judge", "criteria_judge"}


def test_a_schema_of_ones_own_is_judged_by_its_own_words() -> None:
    spec = parse_schema(
        'name = "tone"\nitem_kind = "path"\nquestion = "How sure does it sound?"\n'
        'guideline = """\\\n- **sure**: no doubt.\n- **wavering**: some {rules}.\n'
        '- **dunno**: leave it.\n  *Example.* Never mind.\n- **late**: from a step on."""\n'
        '[[categories]]\nname = "sure"\nkey = "1"\n[[categories]]\nname = "wavering"\nkey = "2"\n'
        '[[categories]]\nname = "late"\nkey = "4"\ntakes_first_wrong_step = true\n'
        '[[categories]]\nname = "dunno"\nkey = "3"\nstate = "unsure"\n'
    )
    record = SchemaRecord(
        1, "tone", 4, "path", spec.categories, "full", spec.question, spec.guideline, False
    )
    rubric = rubric_of(record)
    assert rubric.told == (
        "- **sure**: no doubt.\n- **wavering**: some {rules}.\n- **late**: from a step on."
    )
    request = item_request("m", rubric, CONTENTS["path"], item="i")
    assert request.prompt_version == "trace_judge-schema/1+tone/4"
    assert "some {rules}." in request.messages[0].content
    assert request.schema is not None
    fields = request.schema["properties"]
    assert set(fields) == {"rationale", "first_wrong_step", "verdict"}
    assert fields["first_wrong_step"]["maximum"] == 2
    said = read_item(
        data({"rationale": "r", "first_wrong_step": 1, "verdict": "late"}), rubric, CONTENTS["path"]
    )
    assert (said.category, said.first_wrong_step, said.flags) == ("late", 1, ())
    said = read_item(
        data({"rationale": "r", "first_wrong_step": 1, "verdict": "sure"}), rubric, CONTENTS["path"]
    )
    assert (said.category, said.first_wrong_step, said.flags) == ("sure", None, (STEP_WITH_SOUND,))
    said = read_item(ok("Verdict: late\nFirst wrong step: 8"), rubric, CONTENTS["path"])
    assert (said.category, said.first_wrong_step, said.flags) == ("late", 8, (STEP_OUT_OF_RANGE,))


def test_a_schema_with_one_category_left_is_refused() -> None:
    with pytest.raises(ValueError, match="has 1 categories to judge by"):
        Rubric("x", 1, "q", "g", ("one",))


@pytest.mark.parametrize("k", [2, 5])
def test_each_word_is_once_in_every_place(k: int) -> None:
    rubric = replace(STEPS, categories=STEPS.categories[:k])
    orders = [item_order(rubric, 3, "item", repeat) for repeat in range(k)]
    for place in range(k):
        assert {order[place] for order in orders} == set(rubric.categories)
    assert item_order(rubric, 3, "item", k) == orders[0]
    firsts = {item_order(rubric, seed, "item", 0)[0] for seed in range(40)}
    assert firsts == set(rubric.categories)


def test_the_order_is_offered_and_the_sampling_seed_counts_repeats() -> None:
    for repeat in (0, 1):
        order = item_order(STEPS, 5, "i", repeat)
        r = item_request(
            "m", STEPS, CONTENTS["step"], item="i", repeat=repeat, seed=5, sampling=Sampling(seed=9)
        )
        assert r.schema is not None
        assert tuple(r.schema["properties"]["verdict"]["enum"]) == order
        assert (r.sampling.seed, r.sample) == (9 + repeat, repeat)


@pytest.mark.parametrize("rubric", [STEPS, DEDUCTION])
def test_reply_schemas_use_what_every_server_knows(rubric: Rubric) -> None:
    schema = item_schema(rubric, CONTENTS["path"], rubric.categories)
    jsonschema.Draft202012Validator.check_schema(schema)
    verdict = schema["properties"]["verdict"]
    assert set(verdict) | set(verdict.get("items", ())) <= KEYWORDS
    good = ["none"] if rubric.multi else "valid"
    jsonschema.validate({"rationale": "", "verdict": good}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"rationale": "", "verdict": "unsure"}, schema)


@pytest.mark.parametrize(
    ("words", "category", "reason"),
    [
        (["logical"], "logical", ""),
        (["understanding", "calculation"], "calculation+understanding", ""),
        (["logical", "logical"], "logical", ""),
        (["none"], "none", ""),
        (["none", "logical"], None, "none stands alone"),
        ([], None, "no verdict"),
        (["odd"], None, "no verdict"),
        (["logical", 3], None, "no verdict"),
        (None, None, "no verdict"),
    ],
)
def test_several_categories_may_hold(words: object, category: str | None, reason: str) -> None:
    said = read_item(data({"rationale": "r", "verdict": words}), DEDUCTION, CONTENTS["deduction"])
    assert (said.category, said.outcome) == (category, "ok" if category else "invalid")
    assert reason in said.reason


@pytest.mark.parametrize(
    ("rubric", "text", "category"),
    [
        (STEPS, "Rationale: r\nVerdict: valid", "valid"),
        (STEPS, "**Verdict:** `Arithmetic`.", "arithmetic"),
        (STEPS, "Verdict: irrelevant, it is only colour", "irrelevant"),
        (STEPS, "Verdict: valid, not arithmetic", None),
        (STEPS, "Verdict: valid or so", None),
        (STEPS, "Verdict: valid\nVerdict: arithmetic", None),
        (STEPS, "Verdict: valid\nFinal verdict - valid", "valid"),
        (STEPS, "valid", "valid"),
        (STEPS, "I think it is valid", None),
        (STEPS, "Verdict: unsure", None),
        (STEPS, "<think>Verdict: arithmetic</think>\nVerdict: valid", "valid"),
        (DEDUCTION, "Verdict: logical, calculation", "calculation+logical"),
        (DEDUCTION, "Verdict: logical and understanding.", "logical+understanding"),
        (DEDUCTION, "Verdict: none, logical", None),
        (DEDUCTION, "Verdict: logical, odd", None),
        (
            rubric_of(shipped("cycle-cause")),
            "Verdict: Swapped objects — see there",
            "swapped objects",
        ),
    ],
)
def test_plain_text_is_read(rubric: Rubric, text: str, category: str | None) -> None:
    said = read_item(ok(text), rubric, CONTENTS["deduction"])
    assert said.category == category
    assert bool(said.reason) == (category is None)


def test_what_is_no_reply_is_no_verdict() -> None:
    cut = read_item(Reply("truncated", text="Verdict: valid"), STEPS, CONTENTS["step"])
    assert (cut.category, cut.outcome, cut.reason) == (None, "truncated", "truncated")


WORDS = st.sampled_from(["valid", "arithmetic", "logical", "none", ", ", " and ", ": "])


@given(st.one_of(replies, st.lists(st.one_of(replies, WORDS)).map("".join)), values)
def test_nothing_a_model_writes_raises(text: str, value: Any) -> None:
    for rubric, reply in ((r, x) for r in (STEPS, DEDUCTION) for x in (ok(text), data(value))):
        said = read_item(reply, rubric, CONTENTS["deduction"])
        assert (said.category is None) == (said.outcome != "ok")
        if said.category is not None:
            assert set(said.category.split("+")) <= set(rubric.categories)


@given(st.lists(st.sampled_from(["valid", "arithmetic", None]), max_size=6))
def test_the_first_wrong_step_is_known_only_after_sound_ones(said: list[str | None]) -> None:
    found = first_wrong_step(dict(enumerate(said)), len(said), "valid")
    before = said if found.step is None else said[: found.step]
    if found.known:
        assert all(v == "valid" for v in before)
        assert found.step is None or said[found.step] == "arithmetic"
    else:
        assert found.step is None
        assert next(v for v in said if v != "valid") is None


@pytest.mark.parametrize("name", CONTENTS)
def test_a_sentence_is_planted_where_a_model_wrote(name: str) -> None:
    content = CONTENTS[name]
    planted = content.planted("PLANTED.")
    changed = [
        (a.text, b.text) for a, b in zip(content.blocks, planted.blocks, strict=True) if a != b
    ]
    assert len(changed) == 1
    assert changed[0][1].replace(" PLANTED.", "") == changed[0][0]
    assert len(changed[0][1].split("\n")) == len(changed[0][0].split("\n"))
    with pytest.raises(ValueError, match="no text of a model's"):
        ItemContent("r", (Block("a", "b"),)).planted("x")


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    newest = Path(load_prompt.__globals__["_DIRECTORY"]) / "step_judge-schema-1.toml"
    path = tmp_path / "mine.toml"
    path.write_text(newest.read_text("utf-8").replace("You check one step", "Look at one step"))
    prompt = own_prompt(path, "step_judge-schema")
    assert prompt.own is not None
    assert prompt.label == f"step_judge-schema@{prompt.own}"
    assert len(prompt.own) == 12
    request = item_request("m", STEPS, CONTENTS["step"], item="i", prompt=prompt)
    assert request.prompt_version == f"{prompt.label}+step/1"
    assert request.messages[0].content.startswith("Look at one step")
    path.write_text(path.read_text("utf-8") + "\n")
    assert own_prompt(path, "step_judge-schema").own != prompt.own


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("{guideline}", "", r"needs the places guideline, mark, .*; it has mark, "),
        ("[parts]", '[parts]\nmore = "x"', "needs the parts .*; it has more, "),
        ("about = ", "about ", "not TOML|prompt step_judge-schema/0"),
        ("[parts]", '[[examples]]\nuser = "u"\nassistant = "a"\n[parts]', "1 worked examples"),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    newest = Path(load_prompt.__globals__["_DIRECTORY"]) / "step_judge-schema-1.toml"
    path = tmp_path / "mine.toml"
    path.write_text(newest.read_text("utf-8").replace(old, new, 1))
    with pytest.raises(ValueError, match=complaint) as caught:
        own_prompt(path, "step_judge-schema")
    assert str(path) in str(caught.value)


def test_the_json_of_a_reply_in_text_form_is_no_verdict() -> None:
    text = json.dumps({"rationale": "r", "verdict": "valid"})
    assert read_item(ok(text), STEPS, CONTENTS["step"]).category is None


def test_a_question_with_a_passage_shows_both() -> None:
    q = QuestionText("Is it?", passage="Once.")
    content = step_content(q, Trace((Step(0, "a"),), None, None), 0)
    assert [b.name for b in content.blocks] == ["passage", "question", "trace", "step"]
