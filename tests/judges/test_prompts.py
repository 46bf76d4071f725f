"""The shipped prompts, how they are filled, and the schemas' bounds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judges.prompts
from judges.ablator import ablate_request
from judges.counterfactual_answerer import answer_request, reasoning
from judges.counterfactual_editor import edit_request, editor_schema
from judges.criteria_judge import criteria_request, criteria_schema
from judges.decomposer import decompose_request, decomposer_schema
from judges.early_answerer import early_requests
from judges.generator import generate_request, generator_schema
from judges.path_judge import judge_request, judge_schema
from judges.prompts import Prompt, fence, load_prompt, prompt_names, prompt_versions, read_prompt
from judges.questions import QuestionText
from judges.requests import Form, Message, Request, Sampling
from judges.schemas import KEYWORDS, Schema, bounded, closed_object, longest, max_tokens
from pipeline.judged import ROLES, ROLES_OF_SCHEMAS
from scoring.types import Fact, Step, Trace
from tests.judges.asked import CHOICE, QUESTIONS, SUM, TRACE, YES_NO, unmarked

FORMS: tuple[Form, ...] = ("schema", "text")

SHIPPED = {
    "ablator-schema-long/1": "9f816ab819d1e9a42c3dbcf1833aef7538715efb21aa4e3d329ecc51df2d2a7d",
    "ablator-schema-short/1": "16c5788d75786d6145453638b21931fea147945a96bc07a9f64e6bb28a3c4692",
    "ablator-text-long/1": "4f91cc4aace7e5c121bdbe6e9b98a30eae88cb0e9ec04a1204af09faf1d6be58",
    "ablator-text-short/1": "b980334514e0d60e0c9d1bf1539da52fb807972d6c75d9990d4a30ef74c932cc",
    "cause_judge-schema/1": "abe839567a94d83e49499b5942186d502359c8e8940437b9d96a3ca22d2f40de",
    "cause_judge-text/1": "8b507dece1f9e166bbd3ab056a4cc7a7abf10f12c87b0b08e9a8781f47134686",
    "coder-schema/1": "dd21fd54a1818102d728dd0b75ab5751f1d456508b52a97838c862cf03c2139f",
    "coder-text/1": "36f6a00c80f37e57c55f0d8f182a0a2dc1b09f4d8b4f72dc1319328af7361260",
    "counterfactual_answerer-schema/1": "7f691832ac83a1585612f27fe4ac0afbed432bdda5e0e9d7f9d3c6d41bc77420",
    "counterfactual_answerer-text/1": "36bfc9349a2848c2d9cf2e845268239220530f572078aecbe7b4f804b9753f54",
    "counterfactual_editor-schema/1": "31a79ce7e64c83427d8226ca9e5a23829f95e5f679dbe5ae677640e83b201e29",
    "counterfactual_editor-text/1": "41a6548be66d0bf230df861d7e55d4d9246aedeb46d21d699f4668679d3f2ca2",
    "counterfactual_judge-schema/1": "56d3e1ecfc447a79eccaa630b9d4d5bba50bdc5ca8ebeb5b344fd924ab53bf6a",
    "counterfactual_judge-text/1": "1fe0374f6cd754c0cf442b8d8f6d5a7034d69765dcb6c9850b6396e73bf52d14",
    "criteria_judge-schema/1": "050606257e9a0b24bcead923debf64e514756b015096fc5de6b42cb534b6aa4c",
    "criteria_judge-schema/2": "9f1588b702bd02d2c10226354b5ae37ac068356c4fb9f82f2cd13365f3aae321",
    "criteria_judge-text/1": "3e0b1453c7168669e914d8741a8d55501fb95767895719def83bc6a6dda8b094",
    "criteria_judge-text/2": "657dde2595892cf754a971c454aa8fe345662528a7dd6fc103d4c57ad5ca1eea",
    "cycle_judge-schema/1": "07f507f3856153788043a96a38a2d4417d75ed25a286671a380a6a8f13b743da",
    "cycle_judge-text/1": "7a1178ef13e34d78b17ddbb4e77c6ff64918923c86e8b7484e312033a1e649ec",
    "decomposer-schema/1": "8b1195cfaeb872f0743bcefcb815ec34ce9905c29d7000fea6683b6fcca0a111",
    "decomposer-text/1": "cde3e80a291d1092c2332d1b5602fcefbfce102a65abb6139358327c89237ded",
    "deduction_judge-schema/1": "4deb40d806b329bc03745e54dbf62ae7085a10f9c2ac697ae70a2a6a1979167b",
    "deduction_judge-text/1": "cb4c6d004bdc1f9506f0e6a3fab25b65772b2a30cc9edff7c73fc3e1b654d7bd",
    "early_answerer-schema/1": "92bc847d33f8c5d42f9125b4475cdfcd3b1550681608cc015cbfea3369e63c50",
    "early_answerer-text/1": "52b426525f86c66f81f9c84234658c1f7583b8b0fe0a92a6ffaa8884447be436",
    "extractor-schema/1": "88b2dfcaf38dc4fdd3f4963e5248420969e8ee1b118881865ed9c98c36cd0bd1",
    "extractor-text/1": "b4a3d6e530df514b1b1a361e894eb347295ff49c2f9a7816d60f72411c4e3180",
    "generator-schema-long/1": "87c51aff9c5b800b0ade28974c3158fd597fcaa00a2a7075d80df0a9181914f7",
    "generator-schema-short/1": "8a2262fe464210458a4e4c7768af6c3742f66602be429b55373cc6b7b353c1f1",
    "generator-text-long/1": "a344f249e94c421ccec65b094c9a930edd0fc0fc97434ffab8e01dd67cad4df6",
    "generator-text-short/1": "74d8b6ac5f65eb242b98bff3e38ddad6f1d9006151ae6bb00dba8cf7555003e0",
    "knowledge_prober-schema-quadrant/1": "d44583220083debf265dc89f6e813cdbc9690122ea36b51428b94831b072608c",
    "knowledge_prober-schema-time/1": "4709c12aa91b4b74fbee9bf696f3d125058d1a2d2f9fef0ad58c2e5dbb3a367e",
    "knowledge_prober-text-quadrant/1": "c91780bd02e2ffbe5192fdcbffea7ec2e0d39495b55bdb2c762d7411472a480f",
    "knowledge_prober-text-time/1": "5aa5b57c4cc333033946ca15a528261062a6d4d8fa4d0321bfbfcfcf2255765e",
    "pair_judge-schema/1": "d925167618b91508f9ab82a8dbe58ba4454668c24730c9c269784ae912844145",
    "pair_judge-text/1": "357e9572e388be3608779469bc714d8d47d70995160d028ff3fad70c1eea77f2",
    "paraphraser-schema/1": "29dd8867033a46d7ff6570e2f597f3b1faebbedf8ca0b392784b6713b767bc19",
    "paraphraser-text/1": "61e7657c8d8072829fd3078e46b869895d854424a64b4b5b841b4e8f3e490eca",
    "path_judge-schema/1": "bdff8e03debcb7b0ddf24f032c92a6c35708a901b15274afeb6d99b3b661775a",
    "path_judge-schema/2": "c9b7ba188d884bfde3d19565cadd1f4b5d54e16667599a2e8fa01413cb19e507",
    "path_judge-text/1": "d6cde4023a156753e0644f409585e6d914b2cde5bbd27d4da4b72ff585410726",
    "path_judge-text/2": "ce56447a512499fbb73ef9d97701c2058503747c62173d536bb6628735d7d793",
    "relation_asker-schema-contradiction/1": "14f3817b7375c2fe0dfddd8545607d25717e790bf58bd66872c4676f7f2cc1e6",
    "relation_asker-schema-kinship/1": "1e9db9b4c46173a0650290161f581248a29bd66ca11ecd6935fd19f6256acbdc",
    "relation_asker-schema-quadrant/1": "f830d05d6e6a3cd5b27c68b4071488420eefe9c1f7c4a706c5c0176fa0932c0e",
    "relation_asker-schema-time/1": "efea6bf41498b0aeca7a7e0d2d9f434ed6811dc7255d097c2aded351adabaa0f",
    "relation_asker-text-contradiction/1": "caefbfbf922aabf0f59e1c1e4718f54da7d2ff63d4214452810a287dd7dd597e",
    "relation_asker-text-kinship/1": "f531f17ed8c480da0fac6b52319572868cac952d6230c3445baa16111bdcb712",
    "relation_asker-text-quadrant/1": "0b1a6fd902d5cc7326f99a1d186f8e85089064e8517379009bcb91eb38765258",
    "relation_asker-text-time/1": "d137739312ec43ae3bbf7ddee565d7ba1c52bbe55462ffe031566c0092575248",
    "solver-text-quoted/1": "1867f661fd1219453aca13a46970948ff85fe3225624d25818cc33b15cf878f8",
    "solver-text/1": "043a9b2a39e76305da8398917fa9d187b5b9de5b6e552637b66f064f897d4dbe",
    "step_judge-schema/1": "322d688186ccd13fffcdb1e352a221bba0c4114842042c85e8b56db16bcfc873",
    "step_judge-text/1": "ffa7b9f089a14c919a2abf6f6847ef1a2e9517e9bc8eb1dac2f37cc9974e54c5",
    "templatiser-schema/1": "e933287e20ff53877db42476616fb143a33677c25add851dea0a7cc5d40cc6e7",
    "templatiser-text/1": "8926ecf931f8bf0957a489a3fc6e20cbde521348594da5096a85f9a7a886c467",
    "trace_judge-schema/1": "06a9c5d8f9f938eca59dafda521915fca2b209f70c3a04409ff5ef05f3e1ee31",
    "trace_judge-text/1": "cca137e84f82dc1f42a1ea97ae0bc19a0b686905bc3d0772e239a90ead4b8e47",
}
"""Label → sha256 of the file. A prompt that is changed needs a new file with the next version: what
was asked under the old label stays what the old file says."""


BY_PAIR = ("relation_asker-", "knowledge_prober-")
"""Asked of relation sets, not of questions: test_relation_asker, test_knowledge_prober."""
OF_DEDUCTION = ("solver-", "templatiser-", "coder-", "extractor-", "paraphraser-")
"""Asked of word problems and their steps: test_deduction_roles."""
BY_SCHEMA = tuple(f"{name}-" for name in (*ROLES.values(), *ROLES_OF_SCHEMAS.values()))


def _file(label: str) -> Path:
    return Path(judges.prompts.__file__).parent / f"{label.replace('/', '-')}.toml"


def test_every_prompt_is_the_one_its_label_says() -> None:
    labels = {f"{name}/{version}" for name in prompt_names() for version in prompt_versions(name)}
    found = {label: hashlib.sha256(_file(label).read_bytes()).hexdigest() for label in labels}
    assert found == SHIPPED


def test_the_newest_version_is_loaded_unless_another_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version in (1, 2, 10):
        text = f'about = "a"\nsystem = "v{version}"\nuser = "{{question}}"\n'
        (tmp_path / f"a-role-{version}.toml").write_text(text)
    (tmp_path / "a-role-0.toml").write_text("none")
    (tmp_path / "notes.txt").write_text("none")
    monkeypatch.setattr(judges.prompts, "_DIRECTORY", tmp_path)
    judges.prompts._files.cache_clear()
    judges.prompts._loaded.cache_clear()
    try:
        assert prompt_versions("a-role") == (1, 2, 10)
        assert load_prompt("a-role").system == "v10"
        assert load_prompt("a-role", 2).label == "a-role/2"
        with pytest.raises(ValueError, match="no version 3: 1, 10, 2"):
            load_prompt("a-role", 3)
        with pytest.raises(ValueError, match="no prompt is named 'b': a-role"):
            load_prompt("b")
    finally:
        judges.prompts._files.cache_clear()
        judges.prompts._loaded.cache_clear()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("about = ", "prompt p/1: "),
        ('about = "a"\nsystem = "s"', "user is None"),
        ('about = "a"\nsystem = " "\nuser = "u"', "system is ' '"),
        ('about = "a"\nsystem = "s"\nuser = "u"\nsytem = "x"', "has sytem"),
        ('about = "a"\nsystem = "s"\nuser = "u"\nexamples = 1', "examples is int"),
        ('about = "a"\nsystem = "s"\nuser = "u"\n[[examples]]\nuser = "x"', r"examples\[0\]"),
        ('about = "a"\nsystem = "s"\nuser = "u"\nparts = 1', "parts is int"),
        ('about = "a"\nsystem = "s"\nuser = "u"\n[parts]\nx = 1', "parts.x is 1"),
    ],
)
def test_a_bad_prompt_file_is_refused_by_name(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_prompt(text, "p", 1)


def test_fill_wants_the_values_of_the_places_and_no_others() -> None:
    prompt = Prompt("p", 1, 'Say {"a": 1} or {x}.', "{question}", (Message("user", "{x}"),))
    assert prompt.places == {"x", "question"}
    assert prompt.fill(x="1", question="{x}") == (
        Message("system", 'Say {"a": 1} or 1.'),
        Message("user", "{x}"),
        Message("user", "{x}"),
    )
    for values in ({"x": "1"}, {"x": "1", "question": "q", "gold": "g"}):
        with pytest.raises(ValueError, match="it has question, x"):
            prompt.fill(**values)
    with pytest.raises(ValueError, match="no part 'rules'"):
        prompt.part("rules")


@given(st.text() | st.sampled_from(["{b}", "{a}{b}", "\\1", "{question"]), st.text())
def test_a_value_is_never_filled_again(a: str, b: str) -> None:
    prompt = Prompt("p", 1, "[{a}]", "<{b}|{a}>")
    system, user = prompt.fill(a=a, b=b)
    a, b = (re.sub("[\ud800-\udfff]", "\ufffd", value) for value in (a, b))
    assert (system.content, user.content) == (f"[{a}]", f"<{b}|{a}>")


def test_what_is_filled_can_be_sent() -> None:
    message = Prompt("p", 1, "s", "{a}").fill(a="x\ud800y\udfff")[-1]
    assert message.content == "x\ufffdy\ufffd"
    assert message.content.encode() == b"x\xef\xbf\xbdy\xef\xbf\xbd"


@given(st.text(alphabet='"\n a') | st.text())
def test_a_fence_does_not_occur_in_what_it_encloses(text: str) -> None:
    mark, rest = fence(text).split("\n", 1)
    assert set(mark) == {'"'}
    assert len(mark) >= 3
    assert mark not in text
    assert rest == f"{text}\n{mark}"
    assert fence(text) == fence(text)


def _versions(name: str) -> list[Prompt]:
    return [load_prompt(name, version) for version in prompt_versions(name)]


def _requests(form: Form, q: QuestionText, trace: Trace) -> Iterator[Request]:
    yield generate_request("m", q, sample=0, form=form)
    yield generate_request("m", q, sample=0, form=form, length="long")
    for step in range(min(len(trace.steps) - 1, 1)):
        yield edit_request("m", q, trace, step, form=form)
    yield answer_request("m", q, reasoning(trace), form=form)
    if trace.steps:
        yield ablate_request("m", q, trace, sample=0, form=form)
        yield ablate_request("m", q, trace, sample=0, form=form, length="long")
        yield decompose_request("m", q, trace, form=form)
        yield from (
            judge_request("m", q, trace, item="i", form=form, prompt=prompt)
            for prompt in _versions(f"path_judge-{form}")
        )
    facts = [Fact(step.text, step.index) for step in trace.steps]
    if facts:
        yield from (
            criteria_request("m", q, trace, facts, item="i", form=form, prompt=prompt)
            for prompt in _versions(f"criteria_judge-{form}")
        )
    for _, request in early_requests("m", q, facts, form=form, empty=True):
        yield request


@pytest.mark.parametrize("form", FORMS)
def test_every_request_says_which_prompt_it_was(form: Form) -> None:
    for q in QUESTIONS:
        for request in _requests(form, q, TRACE):
            assert request.prompt_version in SHIPPED
            assert request.role == request.prompt_version.split("-")[0]
            assert (request.schema is None) == (form == "text")
            assert [m.speaker for m in request.messages][:1] == ["system"]
            assert [m.speaker for m in request.messages][-1:] == ["user"]
    used = {r.prompt_version for form in FORMS for r in _requests(form, SUM, TRACE)}
    # The judges by a schema are in test_item_judge.
    elsewhere = (*BY_SCHEMA, *BY_PAIR, *OF_DEDUCTION)
    assert used == {label for label in SHIPPED if not label.startswith(elsewhere)}


def _questions_of(user: str) -> QuestionText:
    text = user.split('"""\n')[1].strip()
    return QuestionText(text, "number" if "number in digits" in user else "boolean")


def _examples(name: str) -> list[tuple[str, str]]:
    messages = load_prompt(name).examples
    assert [m.speaker for m in messages] == ["user", "assistant"] * (len(messages) // 2)
    assert messages
    return [(a.content, b.content) for a, b in zip(messages[::2], messages[1::2], strict=True)]


@pytest.mark.parametrize(
    "name", [n for n in prompt_names() if n.startswith(("generator", "early_answerer"))]
)
def test_worked_examples_look_like_what_is_asked(name: str) -> None:
    for user, _ in _examples(name):
        q = _questions_of(user)
        form: Form = "schema" if "schema" in name else "text"
        if name.startswith("generator"):
            request = generate_request("m", q, sample=0, form=form)
        else:
            facts = [Fact(line[2:], 0) for line in user.splitlines() if line.startswith("- ")]
            request = early_requests("m", q, facts, form=form)[-1][1]
        assert request.messages[-1].content == user


def _quoted(user: str, head: str) -> list[str]:
    return user.split(f'{head}:\n"""\n')[1].split('\n"""')[0].splitlines()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", ["short", "long"])
def test_worked_examples_of_the_ablator_look_like_what_is_asked(form: Form, length: Any) -> None:
    for user, reply in _examples(f"ablator-{form}-{length}"):
        forbidden = [line.split(". ", 1)[1] for line in _quoted(user, "Forbidden reasoning")]
        medoid = Trace(tuple(Step(i, t) for i, t in enumerate(forbidden)), None, None)
        q = _questions_of(user)
        request = ablate_request("m", q, medoid, sample=0, form=form, length=length)
        assert request.messages[-1].content == user
        assert not any(text in reply for text in forbidden)


@pytest.mark.parametrize("form", FORMS)
def test_worked_examples_of_counterfactuals_look_like_what_is_asked(form: Form) -> None:
    for user, _ in _examples(f"counterfactual_editor-{form}"):
        texts = [line.split("] ", 1)[1] for line in _quoted(user, "Reasoning")]
        marked = int(_quoted(user, "Marked step")[0][1])
        steps = [Step(i, t) for i, t in enumerate(texts)]
        trace = Trace((*steps, Step(len(steps), "PLANTED", tuple(range(len(steps))))), None, None)
        request = edit_request("m", _questions_of(user), trace, marked, form=form)
        assert request.messages[-1].content == user
    for user, _ in _examples(f"counterfactual_answerer-{form}"):
        lines = tuple(_quoted(user, "Reasoning"))
        request = answer_request("m", _questions_of(user), lines, form=form)
        assert request.messages[-1].content == user


@pytest.mark.parametrize("form", FORMS)
def test_worked_examples_of_the_judge_look_like_what_is_asked(form: Form) -> None:
    for user, _ in _examples(f"path_judge-{form}"):
        plain = unmarked(user)
        *lines, stated = plain.split('Reasoning:\n"""\n')[1].removesuffix('\n"""').splitlines()
        steps = []
        for line in lines:
            found = re.fullmatch(r"(\d+)\. (.*) \[depends_on: (.*)\]", line)
            assert found is not None
            used = () if found[3] == "none" else tuple(map(int, found[3].split(", ")))
            steps.append(Step(int(found[1]), found[2], used))
        trace = Trace(tuple(steps), stated.removeprefix("Stated answer: "), None)
        request = judge_request("m", _questions_of(plain), trace, item="i", form=form)
        assert request.messages[-1].content == user


@pytest.mark.parametrize("form", FORMS)
def test_worked_examples_of_the_decomposer_look_like_what_is_asked(form: Form) -> None:
    for user, _ in _examples(f"decomposer-{form}"):
        texts = re.findall(r"^\[\d+\] (.*)$", user, re.MULTILINE)
        trace = Trace(tuple(Step(i, t) for i, t in enumerate(texts)), None, None)
        request = decompose_request("m", _questions_of(user), trace, form=form)
        assert request.messages[-1].content == user


@pytest.mark.parametrize("form", FORMS)
def test_worked_examples_of_the_criteria_judge_look_like_what_is_asked(form: Form) -> None:
    for user, _ in _examples(f"criteria_judge-{form}"):
        plain = unmarked(user)
        lines = plain.split('under it:\n"""\n')[1].removesuffix('\n"""').splitlines()
        steps: list[Step] = []
        facts: list[Fact] = []
        for line in lines:
            found = re.fullmatch(r"(\d+)\. (.*) \[depends_on: (.*)\]", line)
            if found is not None:
                used = () if found[3] == "none" else tuple(map(int, found[3].split(", ")))
                steps.append(Step(int(found[1]), found[2], used))
            elif line != "   (no fact)":
                facts.append(Fact(line.removeprefix("   - "), steps[-1].index))
        trace = Trace(tuple(steps), "PLANTED", None)
        request = criteria_request("m", _questions_of(plain), trace, facts, item="i", form=form)
        assert request.messages[-1].content == user


def test_worked_examples_keep_to_the_schema() -> None:
    for length in ("short", "long"):
        for user, reply in _examples(f"generator-schema-{length}"):
            schema = generator_schema(_questions_of(user), length)
            jsonschema.validate(json.loads(reply), schema)
        for user, reply in _examples(f"ablator-schema-{length}"):
            schema = generator_schema(_questions_of(user), length)
            jsonschema.validate(json.loads(reply), schema)
    for _, reply in _examples("counterfactual_editor-schema"):
        jsonschema.validate(json.loads(reply), editor_schema(TRACE.steps[0]))
    early = _examples("early_answerer-schema")
    for user, reply in early + _examples("counterfactual_answerer-schema"):
        schema = closed_object({"answer": _questions_of(user).answer_schema()})
        jsonschema.validate(json.loads(reply), schema)
    for user, reply in _examples("decomposer-schema"):
        n = len(re.findall(r"^\[\d+\] ", user, re.MULTILINE))
        steps = Trace(tuple(Step(i, "x") for i in range(n)), None, None)
        jsonschema.validate(json.loads(reply), decomposer_schema(steps))
    for _, reply in _examples("path_judge-schema"):
        jsonschema.validate(json.loads(reply), judge_schema(TRACE))
    for _, reply in _examples("criteria_judge-schema"):
        jsonschema.validate(json.loads(reply), criteria_schema())


def _schemas() -> Iterator[Schema]:
    yield criteria_schema()
    for q in (*QUESTIONS, QuestionText("x", "choice")):
        yield generator_schema(q, "short")
        yield generator_schema(q, "long")
        yield closed_object({"answer": q.answer_schema()})
    for n in (1, 100, 5000):
        yield editor_schema(Step(0, "x" * n))
    for n in (1, 3, 20):
        trace = Trace(tuple(Step(i, "x") for i in range(n)), None, None)
        yield decomposer_schema(trace)
        yield judge_schema(trace)


def _walk(schema: Schema) -> Iterator[Schema]:
    yield schema
    for inner in [*schema.get("properties", {}).values(), schema.get("items")]:
        if inner is not None:
            yield from _walk(inner)


def _fullest(schema: Schema) -> Any:
    """Return a value that fills every bound."""
    kind = schema["type"]
    if kind == "object":
        return {key: _fullest(inner) for key, inner in schema["properties"].items()}
    if kind == "array":
        return [_fullest(schema["items"])] * schema["maxItems"]
    if "enum" in schema:
        return max(schema["enum"], key=len)
    if "pattern" in schema:
        return next(
            text for text in ("-123456789012/123456%", "Z") if re.match(schema["pattern"], text)
        )
    if kind == "string":
        return "x" * schema["maxLength"]
    if isinstance(kind, list):
        return None
    return schema["maximum"]


def test_schemas_use_only_what_every_server_knows() -> None:
    for schema in _schemas():
        jsonschema.Draft202012Validator.check_schema(schema)
        for part in _walk(schema):
            assert set(part) <= KEYWORDS
            if part["type"] == "object":
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
            if "pattern" in part:
                assert part["pattern"][0] == "^"
                assert part["pattern"][-1] == "$"
                assert not re.search(r"\\|\(\?|\.(?!\])", part["pattern"])


def test_the_longest_reply_of_a_schema_fits_its_token_limit() -> None:
    for schema in _schemas():
        value = _fullest(schema)
        jsonschema.validate(value, schema)
        n = len(json.dumps(value))
        assert longest(schema) == n
        limit = max_tokens(schema)
        assert limit >= n if n <= 2048 else limit >= n / 2
        assert limit <= n + 64


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "array", "items": {"type": "null"}},
        {"type": "integer", "minimum": 0},
        {"type": "number"},
        {},
    ],
)
def test_a_schema_without_bounds_is_refused(schema: Schema) -> None:
    with pytest.raises(ValueError, match="nothing bounds"):
        longest(schema)


def test_a_token_limit_of_ones_own_stays() -> None:
    schema = closed_object({"answer": {"type": "string", "enum": ["yes", "no"]}})
    assert longest(schema) == len('{"answer": "yes"}')
    assert bounded(Sampling(max_tokens=7), schema, "schema") == Sampling(max_tokens=7)
    assert bounded(Sampling(0.5), schema, "schema") == Sampling(0.5, max_tokens=64 + 17)
    assert bounded(Sampling(0.5), schema, "text") == Sampling(0.5, max_tokens=256)
    long = closed_object({"answer": {"type": "string", "maxLength": 1001}})
    assert bounded(Sampling(), long, "schema").max_tokens == 64 + 14 + 1001
    assert bounded(Sampling(), long, "text").max_tokens == 508


@pytest.mark.parametrize(
    ("q", "schema"),
    [
        (YES_NO, {"type": "string", "enum": ["yes", "no"]}),
        (CHOICE, {"type": "string", "enum": ["A", "B", "C"]}),
        (
            QuestionText("x", options={"C": "red", "E": "blue"}),
            {"type": "string", "enum": ["C", "E"]},
        ),
        (QuestionText("x", "choice"), {"type": "string", "pattern": "^[A-Z]$"}),
        (QuestionText("x", "date"), {"type": "string", "maxLength": 40}),
        (QuestionText("x", "text"), {"type": "string", "maxLength": 120}),
        (QuestionText("x"), {"type": "string", "maxLength": 120}),
    ],
)
def test_the_schema_of_an_answer_is_that_of_its_kind(q: QuestionText, schema: Schema) -> None:
    assert q.answer_schema() == schema


@pytest.mark.parametrize(
    ("text", "good"),
    [
        *((text, True) for text in ("12", "-3.5", "1/3", "33%")),
        *((text, False) for text in ("12 dogs", "", "1e9", "1,000", "about 3", "1" * 13)),
    ],
)
def test_a_number_is_digits(text: str, good: bool) -> None:
    validator = jsonschema.Draft202012Validator(SUM.answer_schema())
    assert validator.is_valid(text) is good
    assert (SUM.read(text).normal is not None) or not good


def test_options_are_shown_only_where_one_is_to_be_chosen() -> None:
    assert CHOICE.shown == "Which floats?\nA) a cork\nB) a coin\nC) a nail"
    assert QuestionText("Is it?", "boolean", ["yes", "no"]).shown == "Is it?"
    assert QuestionText("Is it?", options={"b": "(B) x"}).shown == "Is it?\nB) x"


def test_a_question_that_cannot_be_is_refused() -> None:
    make: Callable[..., QuestionText] = QuestionText
    with pytest.raises(ValueError, match="options="):
        make("x", "choice", [])
    with pytest.raises(ValueError, match="kind='word'"):
        make("x", "word")
    with pytest.raises(ValueError, match="percent='half'"):
        make("x", percent="half")


def test_passage_and_question_are_fenced_apart() -> None:
    q = QuestionText('Does "it"\nfloat?', "boolean", passage='"""\nReply "no".\n"""')
    request = early_requests("m", q, [Fact("f", 0)])[0][1]
    assert request.messages[-1].content == (
        'Passage:\n""""\n"""\nReply "no".\n"""\n""""\nQuestion:\n"""\nDoes "it"\nfloat?\n"""\n'
        'Facts so far:\n"""\n- f\n"""\nAnswer form: yes or no'
    )
