"""SynDeduct questions as problems: each asked once, after exactly its k given steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.deduction import SynQuestion, Template, check_template, synthesize, template_from_dict
from scoring.deduction.syndeduct import LENGTHS, OPERATORS
from scoring.deduction.verbalise import Operator
from store import Store

SOURCE = "SynDeduct"

_NAME = re.compile("[A-Z][0-9]+")
_STATED = re.compile(
    r"(?P<head>(?:The value of )?(?P<name>[A-Z][0-9]+)(?: is| stands for)) (?P<value>[0-9./]+)\."
)


@dataclass(frozen=True, slots=True)
class Synthesized:
    """What making SynDeduct questions did: `n_questions`, of which `n_new` are new."""

    n_questions: int
    n_new: int
    prefixes: tuple[int, ...]
    lengths: tuple[int, ...]
    seed: int


def syn_template(question: SynQuestion, seed: int) -> Template:
    """Return a SynDeduct question as a template: its constants are what it states.

    >>> from scoring.deduction import synthesize
    >>> t = syn_template(synthesize(1, prefixes=[1], lengths=[2], per_cell=1)[0], 1)
    >>> t.problem, t.steps[0][:16], t.answer
    ('syn1-k1n2-0', 'X1 = X0 + C1 = {', 'X3')
    """

    def slot(match: re.Match[str]) -> str:
        return f"{match['head']} {{{match['name']}}}."

    steps = []
    for name, text in zip(question.names, question.steps, strict=True):
        rule = text.partition(" = ")[2].partition(" = ")[0]
        filled = _NAME.sub(r"{\g<0>}", rule)
        steps.append(f"{name} = {rule} = {filled} = {{{name}}}.")
    return template_from_dict(
        {
            "problem": f"syn{seed}-{question.id.replace('#', '-')}",
            "question": _STATED.sub(slot, question.question),
            "steps": steps,
            "code": question.code,
            "factual": {n: str(v) for n, v in question.constants.items()},
            "gold": str(question.values[question.target]),
            "answer": question.target,
            "source": SOURCE,
        }
    )


def make_synthetic(
    store: Store,
    seed: int = 0,
    *,
    prefixes: Iterable[int] = LENGTHS,
    lengths: Iterable[int] = LENGTHS,
    per_cell: int = 10,
    operators: Sequence[Operator] = OPERATORS,
    distractors: int = 0,
    shuffle: bool = False,
) -> Synthesized:
    """Make SynDeduct questions and store them as problems; the same again adds nothing.

    Raises
    ------
    ValueError
        As `scoring.deduction.synthesize` does, or when questions of this seed are there that were
        made with other options.
    """
    ks, ns = tuple(prefixes), tuple(lengths)
    made = synthesize(
        seed,
        prefixes=ks,
        lengths=ns,
        per_cell=per_cell,
        operators=operators,
        distractors=distractors,
        shuffle=shuffle,
    )
    there = {p.name for p in store.problems()}
    new = 0
    for question in made:
        template = syn_template(question, seed)
        new += template.problem not in there
        store.add_problem(
            template.problem,
            question.question,
            template.gold,
            source=SOURCE,
            extra={"k": question.k, "n": question.n, "seed": seed},
        )
        report = check_template(template)
        store.add_template(template.problem, template, report.failures, made_by={"seed": seed})
    return Synthesized(len(made), new, ks, ns, seed)


__all__ = ["SOURCE", "Synthesized", "make_synthetic", "syn_template"]
