"""A project with replies to deduction problems, planted so that what is sealed can be looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from scoring.deduction import Mutation, Template, check_template, mutate, template_from_dict
from store import Store
from store.deduction_records import NUMBERS, ORIGINAL, CompletionRecord, ReadingRecord
from store.records import NewLabel

PENS: dict[str, Any] = {
    "problem": "pens",
    "question": "{n} pens cost {p} each and {off} is taken off. What is paid?",
    "steps": [
        "{n} pens at {p} cost {full_price}.",
        "With {off} off it is {cost_total}.",
        "Two such lots cost {both_lots}.",
    ],
    "code": "full_price = n * p\ncost_total = full_price - off\nboth_lots = cost_total * 2",
    "factual": {"n": 3, "p": 7, "off": 1},
    "gold": 40,
    "ranges": {"n": [20, 60], "p": [11, 19], "off": [2, 9]},
}
INKS: dict[str, Any] = {
    "problem": "inks",
    "question": "{jars} jars hold {ml} ml each; {spilt} ml are spilt. How much is left?",
    "steps": ["{jars} jars hold {whole_ink} ml.", "Of it {rest_ink} ml are left."],
    "code": "whole_ink = jars * ml\nrest_ink = whole_ink - spilt",
    "factual": {"jars": 4, "ml": 30, "spilt": 15},
    "gold": 105,
    "ranges": {"jars": [5, 9], "ml": [40, 60], "spilt": [20, 33]},
}


def stated(
    template: Template, values: Mapping[str, Fraction], k: int, wrong: int
) -> dict[str, Fraction]:
    """What a reply after k steps states: `wrong` of its values are one too large."""
    names = [n for n, step in template.stated_in.items() if step > k]
    return {n: values[n] + (i < wrong) for i, n in enumerate(names)}


def reply_of(
    template: Template, values: Mapping[str, Fraction], said: Mapping[str, Fraction], k: int
) -> str:
    """The remaining steps in the template's words, but those that state what was not said."""
    from scoring.deduction import fill

    stated_in = template.stated_in
    kept = [
        step
        for number, step in enumerate(template.steps, start=1)
        if number > k and all(n in said for n, at in stated_in.items() if at == number)
    ]
    return "\n".join(fill(step, {**values, **said}) for step in kept) or "So that is it."


def deduced(
    store: Store,
    solvers: Sequence[str] = ("small", "large"),
    *,
    n: int = 2,
    styles: Sequence[str] = ("original",),
    templates: Sequence[Mapping[str, Any]] = (PENS, INKS),
    more: str = "",
) -> None:
    """Store problems, mutations, a reply of every solver to each prefix, and what was read of it.

    The first solver has every value right, the second its first value wrong in odd mutations and
    nothing stated of the last, the third copies the values of the original problem. `more` ends
    every reply.
    """
    kinds = [store.solver(name, f"model of {name}", "solver-text/1", {}) for name in solvers]
    for data in templates:
        template = template_from_dict(dict(data))
        store.add_problem(template.problem, template.question, template.gold)
        record = store.add_template(template.problem, template)
        own = check_template(template).values
        first = Mutation(
            template.problem, ORIGINAL, {i: own[i] for i in template.inputs}, own,
            *_texts(template, own),
        )  # fmt: skip
        store.save_mutations(record.id, [first, *mutate(template, n=n, seed=3).items], {"seed": 3})
        for mutation in store.mutations([record.id])[record.id]:
            for i, solver in enumerate(kinds):
                rows, said = [], []
                for style in styles:
                    for k in range(len(template.steps)):
                        values = _said(template, mutation.values, own, k, i, mutation.number)
                        said.append(values)
                        text = reply_of(template, mutation.values, values, k) + more
                        way = "quoted" if k else "none"
                        prefix = mutation.prefix(k)
                        rows.append(
                            CompletionRecord(mutation.id, k, style, way, prefix, "ok", text)  # type: ignore[arg-type]
                        )
                store.save_completions(solver.id, rows)
                done = [c for c in store.completions(solver.id) if c.mutation_id == mutation.id]
                places = {(c.k, c.style): c.id for c in done}
                store.save_readings(
                    ReadingRecord(
                        places[r.k, r.style], NUMBERS, "1", v, dict.fromkeys(v, "aligned")
                    )
                    for r, v in zip(rows, said, strict=True)
                )


def _texts(template: Template, values: Mapping[str, Fraction]) -> tuple[str, tuple[str, ...]]:
    from scoring.deduction import fill

    return fill(template.question, values), tuple(fill(s, values) for s in template.steps)


def _said(
    template: Template,
    values: Mapping[str, Fraction],
    own: Mapping[str, Fraction],
    k: int,
    solver: int,
    number: int,
) -> dict[str, Fraction]:
    if solver == 0:
        return stated(template, values, k, 0)
    if solver == 1:
        found = stated(template, values, k, number % 2)
        found.pop(template.answer, None)
        return found
    return stated(template, own, k, 0)


def judged(store: Store, category: str = "logical", rater: str = "judge") -> None:
    """Add a judge's verdict on every sampled reply."""
    ids = [row.text.item for row in store.deduction_queue(0).rows]
    with store.importing() as batch:
        for item in ids:
            said = f"SECRET {category}"
            batch.add_label(
                NewLabel(item, "deduction", rater, "judge", "labelled", category, rationale=said)
            )
