"""The counterfactual stage: steps rewritten one at a time, and the answer asked again with each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Unpack

from judges.counterfactual_answerer import (
    DEFAULT_SAMPLING,
    answer_request,
    read_answered,
    reasoning,
)
from judges.counterfactual_editor import DEFAULT_SAMPLING as EDITOR_SAMPLING
from judges.counterfactual_editor import intermediate_steps, stated
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs
from pipeline.budgets import rest_of
from pipeline.editing import EditedTraces, Edits, Which, usable_edit
from pipeline.models import FormChoice, choose_form
from pipeline.replies import reply_outcome
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from store import Store
from store.columns import content_hash
from store.intervention_records import (
    UNEDITED,
    CounterfactualRecord,
    CounterfactualRunRecord,
)
from store.keys import FIRST_EDITING
from store.records import PoolRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class CounterfactualSummary:
    """What one run of the stage did.

    Of the chosen traces `n_traces` have an intermediate step; `excluded` counts the others by
    reason. They have `n_steps` such steps. `n_edited` of the new edits can be used, `faults`
    counts those that cannot; of the new answers `n_answers` could be read. `run` is where the
    answers are, None where there are none yet.
    """

    editing: AskSummary
    answering: AskSummary
    name: str
    editor: str
    editor_form: FormChoice
    editor_prompt: str
    form: FormChoice
    prompt_version: str
    repeats: int
    n_traces: int
    n_steps: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    n_edited: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    n_answers: int = 0
    run: CounterfactualRunRecord | None = None

    @property
    def askings(self) -> tuple[AskSummary, ...]:
        """How the requests for edits and those for answers ended."""
        return self.editing, self.answering


@dataclass(frozen=True, slots=True)
class _Asked:
    trace_id: int
    step: int
    repeat: int
    source_hash: str
    question: QuestionText


def answer_hash(q: QuestionText, lines: Sequence[str]) -> str:
    """Return a hash of what is asked about: question and lines of reasoning."""
    return content_hash([q.shown, q.passage, q.answer_kind, list(lines)])


def counterfactual(
    store: Store,
    endpoint: Endpoint,
    editor: Endpoint | None = None,
    *,
    name: str = FIRST_EDITING,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    traces: Which = "medoids",
    repeats: int = 1,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    editor_sampling: Sampling = EDITOR_SAMPLING,
    limit: int | None = None,
    seed: int | None = None,
    **how: Unpack[How],
) -> CounterfactualSummary:
    """Rewrite every intermediate step of the chosen traces, and ask for the answer with each.

    `endpoint` is asked again, `editor` (the same where none is given) rewrites. The baseline, the
    answer with no step edited, is asked in the same way. Edits under `name` and answers that are
    there are not asked again. A budget holds for both together. With `repeats`, every answer is
    asked so many times; at temperature 0 a server is likely to repeat itself.

    Raises
    ------
    ValueError
        When the name belongs to another editing, there are no such traces, or nothing is scored
        and medoids are asked for.
    Interrupted
        On Ctrl-C.
    """
    if not 1 <= repeats <= 100:
        raise ValueError(f"repeats is {repeats}; a number from 1 to 100 is right")
    editor = endpoint if editor is None else editor
    datasets = known_datasets(store, dataset)
    pools = chosen_pools(store, datasets, pool, limit=limit, seed=seed)
    work = EditedTraces(store, pools, question_texts(store, datasets), traces)
    edits = Edits(store, editor, name, form, editor_sampling, work, how)
    editing = edits.ask()
    rest = rest_of(how, editing)
    answers = _Answers(store, endpoint, edits, form, sampling, repeats, work, rest)
    answering = answers.ask(stopped=editing.stopped)
    return CounterfactualSummary(
        editing,
        answering,
        name,
        editor.model,
        edits.choice,
        edits.prompt_version,
        answers.choice,
        answers.prompt_version,
        repeats,
        work.n_traces,
        work.n_steps,
        dict(work.excluded),
        edits.n_edited,
        dict(edits.faults.most_common()),
        answers.n_answers,
        answers.run,
    )


class _Answers:
    """Asks for the answers with the edits that are there, and with none."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        edits: Edits,
        form: Form | None,
        sampling: Sampling,
        repeats: int,
        work: EditedTraces,
        how: How,
    ) -> None:
        self._store, self._endpoint, self._edits = store, endpoint, edits
        self._repeats, self._work, self._how = repeats, work, how
        self._dry = how.get("dry_run", False)
        self.choice = choose_form(
            store, endpoint, form, dry_run=self._dry, transport=how.get("transport")
        )
        self._sampling = endpoint.keyed(sampling)
        self.prompt_version = load_prompt(f"counterfactual_answerer-{self.choice.form}").label
        self._parameters = {"form": self.choice.form, "sampling": self._sampling.as_json()}
        self.n_answers = 0
        self.run = self._find_run()

    def _find_run(self) -> CounterfactualRunRecord | None:
        editing = self._edits.known
        if editing is None:
            return None
        wanted = (editing.id, self._endpoint.model, self.prompt_version, self._parameters)
        for run in self._store.counterfactual_runs():
            if (run.editing_id, run.model, run.prompt_version, run.parameters) == wanted:
                return run
        return None

    def ask(self, *, stopped: str | None) -> AskSummary:
        """Ask for the answers that are not there; nothing where editing was `stopped`."""
        missing = [(place, self._missing(place)) for place in self._work.pools]
        total = sum(len(of) for _, of in missing)
        n_known = sum(self._n_wanted(place) for place in self._work.pools) - total
        if stopped is not None and not self._dry:
            left = {"unasked": total} if total else {}
            return AskSummary(
                "answer", n_requests=total, n_known=n_known, outcomes=left, stopped=stopped
            )
        editing = self._edits.known
        if self.run is None and editing is not None and total and not self._dry:
            self.run = self._store.counterfactual_run(
                editing.id, self._endpoint.model, self.prompt_version, self._parameters
            )
        return ask_jobs(
            self._store,
            self._endpoint,
            "answer",
            self._jobs(missing),
            total,
            self._save,
            n_known=n_known,
            parameters={
                "editing": self._edits.known.name if self._edits.known else "",
                "model": self._endpoint.model,
                "repeats": self._repeats,
                **self._parameters,
            },
            how=self._how,
        )

    def _n_wanted(self, place: PoolRecord) -> int:
        return sum(1 for _ in self._wanted(place))

    def _wanted(self, place: PoolRecord) -> Iterator[tuple[_Asked, tuple[str, ...]]]:
        """Yield what is asked of a pool: the baseline of each trace with an edit, and its edits.

        In a dry run an edit that is not there yet is about as long as its step.
        """
        q = self._work.question(place)
        edits = self._edits.of_pool(place)
        for record in self._work.traces(place):
            plain = reasoning(record.trace)
            lines = {}
            for step in intermediate_steps(record.trace):
                i = step.index
                found = edits.get((record.id, i))
                text = usable_edit(found, q, plain)
                if found is None and self._dry:
                    text = f"{stated(step)} (edited)"
                if text is not None:
                    lines[i] = reasoning(record.trace, step=i, edit=text)
            if not lines:
                continue
            for step_index, said in {UNEDITED: plain, **lines}.items():
                digest = answer_hash(q, said)
                for repeat in range(self._repeats):
                    yield _Asked(record.id, step_index, repeat, digest, q), said

    def _missing(self, place: PoolRecord) -> set[tuple[int, int, int]]:
        answered = (
            {} if self.run is None else self._store.counterfactual_answers(self.run.id, place.id)
        )
        there = {
            (r.trace_id, r.step, r.repeat, r.source_hash) for of in answered.values() for r in of
        }
        return {
            (a.trace_id, a.step, a.repeat)
            for a, _ in self._wanted(place)
            if (a.trace_id, a.step, a.repeat, a.source_hash) not in there
        }

    def _jobs(
        self, missing: Sequence[tuple[PoolRecord, set[tuple[int, int, int]]]]
    ) -> Iterator[Job[_Asked]]:
        for place, lacking in missing:
            if not lacking:
                continue
            for about, lines in self._wanted(place):
                if (about.trace_id, about.step, about.repeat) in lacking:
                    request = answer_request(
                        self._endpoint.model,
                        about.question,
                        lines,
                        repeat=about.repeat,
                        sampling=self._drawn(about.repeat),
                        form=self.choice.form,
                    )
                    yield Job(request, about)

    def _drawn(self, repeat: int) -> Sampling:
        """Return the sampling of one repeat: with a seed of its own, where seeds are sent."""
        given = self._sampling
        return given if given.seed is None else replace(given, seed=given.seed + repeat)

    def _save(self, answered: Sequence[Answered[_Asked]]) -> None:
        if self.run is None:
            raise RuntimeError("answers came before their run was there")
        rows = []
        for a in answered:
            answer, reason = read_answered(a.reply, a.about.question)
            rows.append(
                CounterfactualRecord(
                    trace_id=a.about.trace_id,
                    step=a.about.step,
                    repeat=a.about.repeat,
                    source_hash=a.about.source_hash,
                    outcome=reply_outcome(a.reply.outcome),
                    answer=answer,
                    reason=reason,
                    reply_key=a.request.key,
                )
            )
            self.n_answers += answer is not None
        self._store.save_counterfactual(self.run.id, rows)
