"""Which steps of which traces are edited, and the asking for edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judges.counterfactual_answerer import reasoning
from judges.counterfactual_editor import edit_request, intermediate_steps, read_edit
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.medoids import medoids_of
from pipeline.models import choose_form
from pipeline.replies import reply_outcome
from store import ConflictError, Store
from store.columns import content_hash
from store.intervention_records import EditingRecord, EditRecord
from store.records import PoolRecord, TraceRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

Which = Literal["all", "medoids"]

NO_STEP = "no intermediate step"


@dataclass(frozen=True, slots=True)
class _Step:
    record: TraceRecord
    step: int
    source_hash: str


def edit_hash(q: QuestionText, lines: Sequence[str], step: int) -> str:
    """Return a hash of what an editor is shown: question, lines of reasoning, and which step."""
    return content_hash([q.shown, list(lines), step])


def usable_edit(edit: EditRecord | None, q: QuestionText, lines: Sequence[str]) -> str | None:
    """Return the text of an edit; None where there is none, or the trace reads otherwise now."""
    if edit is None or edit.source_hash != edit_hash(q, lines, edit.step):
        return None
    return edit.text


class EditedTraces:
    """The traces whose steps are edited, by pool."""

    def __init__(
        self,
        store: Store,
        pools: Sequence[PoolRecord],
        texts: Mapping[tuple[str, str], QuestionText],
        traces: Which,
    ) -> None:
        self._store = store
        self._texts = texts
        self.pools = pools
        self._only = medoids_of(store, self.pools) if traces == "medoids" else None
        self.n_traces = self.n_steps = 0
        self.excluded: Counter[str] = Counter()
        for place in self.pools:
            for record in self._chosen(place):
                steps = intermediate_steps(record.trace)
                if steps:
                    self.n_traces += 1
                    self.n_steps += len(steps)
                else:
                    self.excluded[NO_STEP if record.trace.usable else "no steps"] += 1

    def _chosen(self, place: PoolRecord) -> list[TraceRecord]:
        if self._only is not None and self._only.get(place.id) is None:
            return []
        records = self._store.pool_traces(place.id)
        return [r for r in records if self._only is None or r.id == self._only[place.id]]

    def question(self, place: PoolRecord) -> QuestionText:
        """Return what a model is told of a pool's question."""
        return self._texts[place.dataset, place.question_id]

    def traces(self, place: PoolRecord) -> list[TraceRecord]:
        """Return the chosen traces of a pool that have an intermediate step."""
        return [r for r in self._chosen(place) if intermediate_steps(r.trace)]


class Edits:
    """Asks for edits, and stores them."""

    def __init__(
        self,
        store: Store,
        editor: Endpoint,
        name: str,
        form: Form | None,
        sampling: Sampling,
        work: EditedTraces,
        how: How,
    ) -> None:
        self._store, self._editor, self._name = store, editor, name
        self._work, self._how = work, how
        self._dry = how.get("dry_run", False)
        self.known = next((e for e in store.editings() if e.name == name), None)
        before = None if self.known is None else self.known.parameters.get("form")
        self.choice = choose_form(
            store, editor, form, before=before, dry_run=self._dry, transport=how.get("transport")
        )
        self._sampling = editor.keyed(sampling)
        self.prompt_version = load_prompt(f"counterfactual_editor-{self.choice.form}").label
        self._parameters = {"form": self.choice.form, "sampling": self._sampling.as_json()}
        _check_same(self.known, editor.model, self.prompt_version, self._parameters)
        self.n_edited = 0
        self.faults: Counter[str] = Counter()

    def ask(self) -> AskSummary:
        """Ask for the edits that are not there."""
        missing = [(place, self._missing(place)) for place in self._work.pools]
        total = sum(len(steps) for _, steps in missing)
        if self.known is None and total and not self._dry:
            self.known = self._store.editing(
                self._name, self._editor.model, self.prompt_version, self._parameters
            )
        return ask_jobs(
            self._store,
            self._editor,
            "edit",
            self._jobs(missing),
            total,
            self._save,
            unit="steps",
            n_known=self._work.n_steps - total,
            parameters={"editing": self._name, "model": self._editor.model, **self._parameters},
            how=self._how,
        )

    def of_pool(self, place: PoolRecord) -> dict[tuple[int, int], EditRecord]:
        """Return the edits of a pool that are there."""
        return {} if self.known is None else self._store.edits(self.known.id, place.id)

    def _missing(self, place: PoolRecord) -> set[tuple[int, int]]:
        there = self.of_pool(place)
        return {
            (r.id, s.index)
            for r in self._work.traces(place)
            for s in intermediate_steps(r.trace)
            if (r.id, s.index) not in there
        }

    def _jobs(
        self, missing: Sequence[tuple[PoolRecord, set[tuple[int, int]]]]
    ) -> Iterator[Job[_Step]]:
        for place, steps in missing:
            if not steps:
                continue
            q = self._work.question(place)
            for record in self._work.traces(place):
                lines = reasoning(record.trace)
                for step in intermediate_steps(record.trace):
                    if (record.id, step.index) not in steps:
                        continue
                    request = edit_request(
                        self._editor.model,
                        q,
                        record.trace,
                        step.index,
                        sampling=self._sampling,
                        form=self.choice.form,
                    )
                    about = _Step(record, step.index, edit_hash(q, lines, step.index))
                    yield Job(of_its_own(request, self._name), about)

    def _save(self, answered: Sequence[Answered[_Step]]) -> None:
        if self.known is None:
            raise RuntimeError("edits came before their editing was there")
        rows = []
        for a in answered:
            found = read_edit(a.reply, a.about.record.trace, a.about.step)
            rows.append(
                EditRecord(
                    trace_id=a.about.record.id,
                    step=a.about.step,
                    outcome=reply_outcome(found.outcome),
                    text=found.text,
                    fault=found.fault,
                    reason=found.reason,
                    reply_key=a.request.key,
                    source_hash=a.about.source_hash,
                )
            )
            self.n_edited += found.text is not None
            if found.fault is not None:
                self.faults[found.fault] += 1
        try:
            self._store.save_edits(self.known.id, rows)
        except ConflictError:  # another run was at the same steps: what it stored stands
            for row in rows:
                with suppress(ConflictError):
                    self._store.save_edits(self.known.id, [row])


def _check_same(
    known: EditingRecord | None, model: str, prompt_version: str, parameters: Mapping[str, object]
) -> None:
    """Refuse to mix two ways of editing under one name."""
    if known is None:
        return
    if (known.model, known.prompt_version) != (model, prompt_version) or (
        known.parameters != parameters
    ):
        raise ValueError(
            f"editing {known.name!r} was made by {known.model} with prompt "
            f"{known.prompt_version} and other parameters than asked for now: "
            "name this one with --name, or say who edits with --editor"
        )
