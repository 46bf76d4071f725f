"""A model that knows every role: what it replies depends on what it is asked, and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judges.endpoint import Endpoint
from judges.prompts import load_prompt, prompt_names
from pipeline.questions import import_questions
from store import Store
from tests.judges.faults import Answer, FaultServer, Script, Seen, ok

QUESTIONS = [
    {"id": "q1", "question": "How many legs have 3 dogs?", "gold": "12", "answer_kind": "number"},
    {"id": "q2", "question": "Is ice cold?", "gold": "yes", "answer_kind": "boolean"},
]


def add_questions(store: Store, folder: Path, n: int = 2, dataset: str = "toy") -> None:
    """Import some questions."""
    rows = QUESTIONS[:n] + [
        {"id": f"q{i}", "question": f"What is {i} + {i}?", "gold": str(2 * i)}
        for i in range(3, n + 1)
    ]
    path = folder / f"{dataset}.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    import_questions(store, [path], "native", dataset=dataset)


def role_of(body: dict[str, Any]) -> str:
    """Return which role a request was made by: that of the prompt it opens with."""
    system = str(body["messages"][0]["content"])
    for name in prompt_names():
        opening = load_prompt(name).system.partition("{")[0].splitlines()[0][:60]
        if opening and system.startswith(opening):
            return name.partition("-")[0]
    return "probe"


def digest(seen: Seen) -> int:
    """Return a number that depends on the request's text alone."""
    text = json.dumps(seen.body["messages"], sort_keys=True)
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def answer_of(seen: Seen) -> str:
    """Return an answer of the kind that is asked for."""
    if "yes or no" in seen.prompt:
        return "yes"
    numbers = re.findall(r"What is ([0-9]+) \+", seen.prompt)
    return str(2 * int(numbers[-1])) if numbers else "12"


def said(seen: Seen) -> str:
    """Return what the model says."""
    role, bound = role_of(seen.body), "response_format" in seen.body
    if role in ("generator", "ablator"):
        steps = [(f"Fact {digest(seen) % 97}.", []), ("Another fact.", []), ("So it is.", [0, 1])]
        if bound:
            rows = [{"text": t, "depends_on": d} for t, d in steps]
            return json.dumps({"steps": rows, "answer": answer_of(seen)})
        lines = [
            f"{i}. {t} [depends_on: {', '.join(map(str, d)) or 'none'}]"
            for i, (t, d) in enumerate(steps)
        ]
        return "\n".join([*lines, f"The final answer is: {answer_of(seen)}"])
    if role == "decomposer":
        steps_asked = re.findall(r"^\[([0-9]+)\] (.*)$", seen.prompt, re.MULTILINE)
        if bound:
            return json.dumps({f"step_{i}": [f"{t} (a)", f"{t} (b)"] for i, t in steps_asked})
        return "\n".join(f"[{i}] {t} ({x})" for i, t in steps_asked for x in "ab")
    if role == "counterfactual_editor":
        number, text = re.findall(r"^\[([0-9]+)\] (.*)$", seen.prompt, re.MULTILINE)[-1]
        return json.dumps({"step": f"Not {text}"}) if bound else f"[{number}] Not {text}"
    if role == "path_judge":
        verdict = {"rationale": "It holds.", "first_wrong_step": None, "verdict": "faithful"}
        if bound:
            return json.dumps(verdict)
        return "Rationale: It holds.\nFirst wrong step: none\nVerdict: faithful"
    if role == "criteria_judge":
        names = ("atomic", "nothing_invented", "dependencies_kept")
        if bound:
            return json.dumps({n: {"rationale": "It holds.", "verdict": "yes"} for n in names})
        return "\n".join(f"{n} reason: It holds.\n{n}: yes" for n in names)
    if role.endswith("_judge"):
        words = seen.prompt.rpartition("The words: ")[2].split(", ")
        word = "valid" if "valid" in words else min(words)
        if bound:
            fields = seen.body["response_format"]["json_schema"]["schema"]["properties"]
            several = fields["verdict"]["type"] == "array"
            reply: dict[str, Any] = dict.fromkeys(fields)
            return json.dumps({**reply, "rationale": "So.", "verdict": [word] if several else word})
        return f"Rationale: So.\nVerdict: {word}"
    if role in ("relation_asker", "knowledge_prober"):
        return said_of_objects(seen, role, bound)
    if role == "probe":
        return '{"colour": "red"}' if bound else "is"
    return json.dumps({"answer": answer_of(seen)}) if bound else answer_of(seen)


def named(seen: Seen, heading: str) -> str:
    """Return what stands under a heading between lines of quotation marks."""
    found = re.findall(rf'^{heading}:\n"""+\n(.*)\n"""+$', seen.prompt, re.MULTILINE)
    return str(found[-1])


def said_of_objects(seen: Seen, role: str, bound: bool) -> str:
    """Return that the first in the alphabet comes first, lies southwest, and dates from 1900."""
    if role == "knowledge_prober":
        time = "common era" in str(seen.body["messages"][0]["content"])
        year = {"year": 1900 + ord(named(seen, "Name")[-1]), "month": None, "day": None}
        place = {"east": "1", "north": "2"}
        if bound:
            return json.dumps(year if time else place)
        return f"Date: {year['year']}" if time else "East: 1\nNorth: 2"
    first = named(seen, "Subject") < named(seen, "Reference")
    words = seen.prompt.rpartition(": ")[2].split(", ")
    wanted = ("before", "southwest", "father") if first else ("after", "northeast", "son")
    word = next(w for w in wanted if w in words)
    if bound:
        fields = seen.body["response_format"]["json_schema"]["schema"]["properties"]
        reply = {"reasoning": "By the alphabet.", "relation": word}
        return json.dumps({k: reply[k] for k in fields})
    return f"By the alphabet.\nRelation: {word}"


def model(seen: Seen) -> Answer:
    """Answer as a good model would."""
    return ok(said(seen))


def serving(script: Script = model) -> FaultServer:
    """Return a server that answers by a script."""
    return FaultServer(script)


def endpoint(server: FaultServer, **more: Any) -> Endpoint:
    """Return an endpoint at a server, with replies bound by a schema."""
    given: dict[str, Any] = {"name": "small", "model": "m", "structured": "schema", **more}
    return Endpoint(base_urls=(server.url,), **given)


def only_role(role: str, script: Callable[[Seen], Answer | None]) -> Script:
    """Let a script answer one role's requests, and the good model those it leaves and all others."""

    def answered(seen: Seen) -> Answer:
        found = script(seen) if role_of(seen.body) == role else None
        return model(seen) if found is None else found

    return answered


def roles(server: FaultServer) -> list[str]:
    """Return the roles of the requests that arrived, in order."""
    return [role_of(s.body) for s in server.seen]
