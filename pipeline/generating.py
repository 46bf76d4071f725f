"""The generate stage: N sampled traces of every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from judges.generator import (
    DEFAULT_SAMPLING,
    SAMPLES,
    Generated,
    Length,
    generate_request,
    read_generated,
)
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.models import FormChoice, choose_form
from pipeline.selecting import chosen_questions, known_datasets, question_text
from store import ConflictError, ImportBatch, Store
from store.exchange.traces import PARSER
from store.keys import is_name
from store.records import NewQuestion, NewTrace, QuestionRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class GenerateSummary:
    """What one run of the generate stage did.

    `n_traces` new traces were stored; the rates are over them: `n_strict` follow the format to the
    letter, `n_usable` have steps, `n_parsed` an answer, `n_voting` both. `n_elsewhere` were stored
    by another run meanwhile.
    """

    asking: AskSummary
    pool: str
    form: FormChoice
    prompt_version: str
    n_questions: int
    n: int
    n_traces: int = 0
    n_elsewhere: int = 0
    n_strict: int = 0
    n_usable: int = 0
    n_parsed: int = 0
    n_voting: int = 0
    issues: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AskedSample:
    question: QuestionRecord
    text: QuestionText
    sample: int


def pool_name(endpoint: Endpoint, variant: str | None = None) -> str:
    """Return the name of a sampling's pools: the endpoint's, ``@`` and the variant.

    Raises
    ------
    ValueError
        When it cannot be part of a key.
    """
    name = endpoint.name if variant is None else f"{endpoint.name}@{variant}"
    if not is_name(name):
        raise ValueError(f"the pool's name is {name!r}; a name without control characters is right")
    return name


def generate(
    store: Store,
    endpoint: Endpoint,
    *,
    dataset: str | Iterable[str] | None = None,
    n: int = SAMPLES,
    variant: str | None = None,
    length: Length = "short",
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    limit: int | None = None,
    seed: int | None = None,
    **how: Unpack[How],
) -> GenerateSummary:
    """Sample traces until every chosen question has `n` of them in the pool.

    The pool is called after the endpoint, with `variant` ``NAME@VARIANT``, and belongs to one
    sampling: model, prompt version, form, length and parameters. Samples that are there are not
    asked again, so a higher `n` adds to a pool. A reply that is refused, empty, cut or invalid is
    a trace too, without an answer and with an issue that says so.

    Raises
    ------
    ValueError
        When the pool belongs to another sampling, there are no such questions, or a number is out
        of range.
    Interrupted
        On Ctrl-C.
    """
    if n < 1:
        raise ValueError(f"n is {n}; at least 1 sample is right")
    name = pool_name(endpoint, variant)
    questions = chosen_questions(store, known_datasets(store, dataset), limit=limit, seed=seed)
    before = [p.parameters for p in store.pools() if p.pool == name]
    choice = choose_form(
        store,
        endpoint,
        form,
        before=form_of(before),
        dry_run=how.get("dry_run", False),
        transport=how.get("transport"),
    )
    drawn = endpoint.keyed(sampling)
    parameters = {
        "model": endpoint.model,
        "prompt_version": load_prompt(f"generator-{choice.form}-{length}").label,
        "form": choice.form,
        "length": length,
        "sampling": drawn.as_json(),
    }
    check_sampling(name, before, parameters)
    missing = missing_samples(store, name, questions, n)

    def jobs() -> Iterator[Job[AskedSample]]:
        for question, samples in missing:
            text = question_text(question)
            for sample in samples:
                request = generate_request(
                    endpoint.model,
                    text,
                    sample=sample,
                    sampling=drawn,
                    form=choice.form,
                    length=length,
                )
                yield Job(of_its_own(request, name), AskedSample(question, text, sample))

    total = sum(len(samples) for _, samples in missing)
    saver = TraceSaver(store, name, endpoint.model, variant, choice.form, parameters)
    asking = ask_jobs(
        store,
        endpoint,
        "generate",
        jobs(),
        total,
        saver.save,
        n_known=n * len(questions) - total,
        parameters={"pool": name, "n": n, **parameters},
        how=how,
    )
    return saver.summary(asking, choice, len(questions), n)


def missing_samples(
    store: Store, pool: str, questions: Sequence[QuestionRecord], n: int
) -> list[tuple[QuestionRecord, tuple[int, ...]]]:
    """Return the questions with the samples that they lack."""
    stored = store.pool_samples(pool)
    return [
        (q, tuple(i for i in range(n) if str(i) not in stored.get(q.id, frozenset())))
        for q in questions
    ]


def form_of(before: Sequence[Mapping[str, Any] | None]) -> Form | None:
    """Return the form in which pools were sampled so far, None for new ones."""
    found = next((p["form"] for p in before if p is not None and "form" in p), None)
    return None if found is None else "schema" if found == "schema" else "text"


def check_sampling(
    name: str, before: Sequence[Mapping[str, Any] | None], parameters: Mapping[str, Any]
) -> None:
    """Refuse to mix two samplings in the pools of one name."""
    for stored in before:
        if stored == parameters:
            continue
        if stored is None:
            raise ValueError(
                f"pool {name!r} holds traces that were imported, not sampled here: "
                "name a pool of its own with --variant NAME"
            )
        raise ValueError(
            f"pool {name!r} was sampled with {_differences(stored, parameters)}: "
            "name a pool of its own with --variant NAME"
        )


def _differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Return in what two samplings differ, as ``temperature 0.7, not 1.0``."""

    def flat(value: Mapping[str, Any]) -> dict[str, Any]:
        rest = {k: v for k, v in value.items() if k != "sampling"}
        return rest | dict(value.get("sampling") or {})

    old, new = flat(stored), flat(asked)
    keys = [k for k in {**old, **new} if old.get(k) != new.get(k)]

    def said(value: Any) -> str:
        return "the server's own" if value is None else str(value)

    return ", ".join(f"{k} {said(old.get(k))}, not {said(new.get(k))}" for k in keys)


class TraceSaver:
    """Stores replies as traces, and counts what was made of them.

    `link` is called for every trace inside the transaction that stores it.
    """

    def __init__(
        self,
        store: Store,
        pool: str,
        model: str,
        variant: str | None,
        form: Form,
        parameters: Mapping[str, Any],
        link: Callable[[ImportBatch, NewTrace], None] | None = None,
    ) -> None:
        self._store = store
        self._link = link
        self._pool = pool
        self._model = model
        self._variant = variant
        self._form = form
        self._parameters = parameters
        self._counts: Counter[str] = Counter()
        self._issues: Counter[str] = Counter()

    def save(self, answered: Sequence[Answered[AskedSample]]) -> None:
        """Store traces; one that another run stored meanwhile stays as it is."""
        found = [
            (a, read_generated(self._form, a.reply, a.about.text), a.about.question)
            for a in answered
        ]
        n_elsewhere = 0
        with self._store.importing() as batch:
            for a, generated, question in found:
                new = self._new(a, generated, question)
                try:
                    outcome = batch.add_trace(new)
                except ConflictError:
                    outcome = "known"
                if self._link is not None:
                    self._link(batch, new)
                if outcome == "added":
                    self._count(generated)
                else:
                    n_elsewhere += 1
        if n_elsewhere:
            # Another run was at the same pool: sampling in the same way, or else this one stops.
            before = [p.parameters for p in self._store.pools() if p.pool == self._pool]
            check_sampling(self._pool, before, self._parameters)
            self._counts["elsewhere"] += n_elsewhere

    def _new(
        self, answered: Answered[AskedSample], generated: Generated, question: QuestionRecord
    ) -> NewTrace:
        reply = answered.reply
        return NewTrace(
            question=NewQuestion(
                dataset=question.dataset,
                external_id=question.external_id,
                text=question.text,
                answer_kind=question.answer_kind,
                options=question.options,
                percent=question.percent,
            ),
            pool=self._pool,
            model=self._model,
            variant=self._variant,
            sample=str(answered.about.sample),
            form=generated.form,
            source=generated.source,
            trace=generated.trace,
            strict=generated.strict,
            parser=PARSER,
            extra={
                "outcome": reply.outcome,
                "finish_reason": reply.finish_reason,
                "reply": answered.request.key,
            },
            parameters=self._parameters,
        )

    def _count(self, generated: Generated) -> None:
        trace = generated.trace
        parsed = trace.answer is not None
        self._counts["traces"] += 1
        self._counts["strict"] += generated.strict
        self._counts["usable"] += trace.usable
        self._counts["parsed"] += parsed
        self._counts["voting"] += trace.usable and parsed
        self._issues.update({i.code for i in trace.issues})

    def summary(
        self, asking: AskSummary, form: FormChoice, n_questions: int, n: int
    ) -> GenerateSummary:
        """Return the summary of everything saved."""
        names = ("traces", "elsewhere", "strict", "usable", "parsed", "voting")
        counts = {f"n_{name}": self._counts[name] for name in names}
        return GenerateSummary(
            asking,
            self._pool,
            form,
            self._parameters["prompt_version"],
            n_questions,
            n,
            **counts,
            issues=dict(self._issues.most_common()),
        )
