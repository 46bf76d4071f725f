"""The values that completions state: by our number reader, and by a model that extracts them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from judges.extractor import (
    DEFAULT_SAMPLING,
    extract_request,
    read_extracted,
    wanted_names,
)
from judges.plain import after_thinking
from judges.prompts import load_prompt
from judges.requests import Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs
from pipeline.models import FormChoice, choose_form
from pipeline.replies import reply_outcome
from scoring.deduction import Template, read_named_values, read_stated_values
from store import Store
from store.deduction_records import (
    NUMBERS,
    CompletionRecord,
    MutationRecord,
    ProblemRecord,
    ReadingRecord,
    SolverRecord,
)

if TYPE_CHECKING:
    from judges.endpoint import Endpoint
    from judges.requests import Form

READER_VERSION = "numbers/2"
"""Of our own reader: another version reads everything again."""


_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_OWN_WORDS = 3
"""A sentence of fewer words may be said again for other reasons."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a completion is about: its problem, template and mutation."""

    problem: ProblemRecord
    template: Template
    mutation: MutationRecord


def contexts(store: Store) -> dict[int, Context]:
    """Return what every mutation is about, by mutation id."""
    problems = {p.name: p for p in store.problems()}
    templates = {t.id: t for t in store.templates() if t.template is not None}
    out: dict[int, Context] = {}
    for ident, rows in store.mutations(list(templates)).items():
        template = templates[ident].template
        if template is None:
            continue
        for mutation in rows:
            out[mutation.id] = Context(problems[mutation.problem], template, mutation)
    return out


def read_numbers(store: Store, solver: SolverRecord) -> int:
    """Read every completion of a solver that our number reader has not read; return how many.

    It looks for values the template's steps state, in the words they state them in, and never at
    the expected ones.
    """
    known = {
        ident
        for ident, r in store.readings(solver.id, NUMBERS).items()
        if r.version == READER_VERSION
    }
    about = contexts(store)
    rows = [
        _by_numbers(c, about[c.mutation_id])
        for c in store.completions(solver.id)
        if c.id not in known and c.mutation_id in about
    ]
    return store.save_readings(rows)


def _by_numbers(completion: CompletionRecord, about: Context) -> ReadingRecord:
    t = about.template
    given = about.mutation.steps[: completion.k]
    text = without_echoes(after_thinking(completion.text), [about.mutation.question, *given])
    if about.problem.only_k is not None:
        names = wanted_names(t.steps, t.inputs, completion.k)
        found = read_named_values(text, names)
    else:
        found = read_stated_values(text, t.steps, given=completion.k, inputs=t.inputs)
    return ReadingRecord(
        completion_id=completion.id,
        reader=NUMBERS,
        version=READER_VERSION,
        values=found.values,
        how=found.how,
    )


def without_echoes(text: str, told: Sequence[str]) -> str:
    """Return a text without the sentences that it was told, word for word.

    A model that only repeats the question states no values.

    >>> without_echoes("I have 3 pens. So 3 * 2 = 6.", ["I have 3 pens. How much are they?"])
    'So 3 * 2 = 6.'
    """
    for whole in told:
        for part in (whole, *_SENTENCE_END.split(whole)):
            if len(part.split()) >= _OWN_WORDS:
                text = text.replace(part, "\n")
    return text.strip()


@dataclass(frozen=True, slots=True)
class ExtractSummary:
    """What extraction did: `n_blank` completions have no text, and so state nothing."""

    asking: AskSummary
    solver: str
    reader: str
    prompt_version: str
    form: FormChoice
    n_blank: int = 0


@dataclass(frozen=True, slots=True)
class _About:
    completion: CompletionRecord
    names: tuple[str, ...]


def extract(
    store: Store,
    endpoint: Endpoint,
    solver: SolverRecord,
    *,
    name: str | None = None,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    **how: Unpack[How],
) -> ExtractSummary:
    """Let a model look up the values that a solver's completions state.

    `name` is the reader's, the endpoint's if not given. What it has read is not asked again. A
    completion without a text states nothing, and nobody is asked about it.

    Raises
    ------
    ValueError
        When the solver has no completions, the name is our own reader's, or no server answers.
    Interrupted
        On Ctrl-C.
    """
    reader = name or endpoint.name
    if reader == NUMBERS:
        raise ValueError(f"{NUMBERS} is the name of our own reader: give --name another one")
    completions = store.completions(solver.id)
    if not completions:
        raise ValueError(f"solver {solver.name!r} has no completions: medoid deduce ask first")
    dry_run = how.get("dry_run", False)
    choice = choose_form(store, endpoint, form, dry_run=dry_run, transport=how.get("transport"))
    label = load_prompt(f"extractor-{choice.form}").label
    keyed = endpoint.keyed(sampling)
    known = store.readings(solver.id, reader)
    if other := {r.version for r in known.values()} - {label}:
        raise ValueError(
            f"reader {reader!r} has read these completions with prompt {min(other)}, not {label}: "
            "give this one another name"
        )
    about = contexts(store)
    missing = [c for c in completions if c.id not in known and c.mutation_id in about]
    blank = [c for c in missing if not after_thinking(c.text).strip()]
    if blank and not dry_run:
        store.save_readings(
            ReadingRecord(c.id, reader, label, {}, {}, c.outcome, "there is no text") for c in blank
        )
    left_out = {c.id for c in blank}
    jobs = [c for c in missing if c.id not in left_out]
    asking = ask_jobs(
        store,
        endpoint,
        "extract",
        _jobs(jobs, about, endpoint, keyed, choice),
        len(jobs),
        lambda answered: _save(store, reader, label, answered),
        unit="solutions",
        n_known=len(completions) - len(missing),
        parameters={"solver": solver.name, "reader": reader, "form": choice.form},
        how=how,
    )
    return ExtractSummary(asking, solver.name, reader, label, choice, len(blank))


def _jobs(
    rows: Sequence[CompletionRecord],
    about: Mapping[int, Context],
    endpoint: Endpoint,
    sampling: Sampling,
    choice: FormChoice,
) -> Iterator[Job[_About]]:
    for completion in rows:
        t = about[completion.mutation_id].template
        request = extract_request(
            endpoint.model,
            after_thinking(completion.text),
            t.steps,
            inputs=t.inputs,
            given=completion.k,
            sampling=sampling,
            form=choice.form,
        )
        names = wanted_names(t.steps, t.inputs, completion.k)
        yield Job(request, _About(completion, tuple(names)))


def _save(store: Store, reader: str, label: str, answered: Sequence[Answered[_About]]) -> None:
    rows = []
    for a in answered:
        found = read_extracted(a.reply, a.about.names)
        rows.append(
            ReadingRecord(
                completion_id=a.about.completion.id,
                reader=reader,
                version=label,
                values=found.values,
                how=dict.fromkeys(found.values, "extracted"),
                outcome=reply_outcome(found.outcome),
                reason=found.reason,
                reply_key=a.request.key,
            )
        )
    store.save_readings(rows)


__all__ = ["READER_VERSION", "Context", "ExtractSummary", "contexts", "extract", "read_numbers"]
