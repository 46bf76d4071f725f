"""The decompose stage: the steps of traces split into atomic facts by a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from judges.decomposer import DEFAULT_SAMPLING, decompose_request, read_facts
from judges.prompts import load_prompt
from judges.requests import Form, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.facts import UNDECOMPOSED
from pipeline.models import FormChoice, choose_form
from pipeline.replies import reply_outcome
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from store import ConflictError, Store
from store.keys import is_name
from store.model_records import DecomposedRecord, DecompositionRecord
from store.records import PoolRecord, TraceRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class DecomposeSummary:
    """What one run of the decompose stage did.

    Of `n_traces` traces `n_stepless` have no steps and are never decomposed. Over the newly
    decomposed ones: `n_decomposed` have facts, `n_facts` in all from `n_steps` steps; `n_dropped`
    of the steps got none, and `n_invented` statements name a step that does not exist.
    """

    asking: AskSummary
    name: str
    form: FormChoice
    prompt_version: str
    n_traces: int
    n_stepless: int
    n_decomposed: int = 0
    n_facts: int = 0
    n_steps: int = 0
    n_dropped: int = 0
    n_invented: int = 0


@dataclass(frozen=True, slots=True)
class _Whole:
    record: TraceRecord


def decompose(
    store: Store,
    endpoint: Endpoint,
    *,
    name: str | None = None,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    limit: int | None = None,
    seed: int | None = None,
    **how: Unpack[How],
) -> DecomposeSummary:
    """Split the steps of every chosen trace that was not decomposed under this name yet.

    The decomposition is called after the endpoint unless `name` is given, and belongs to one
    model, prompt version, form and parameters.

    Raises
    ------
    ValueError
        When the name belongs to another decomposition, or there are no such traces.
    Interrupted
        On Ctrl-C.
    """
    name = endpoint.name if name is None else name
    if name == UNDECOMPOSED or not is_name(name):
        raise ValueError(f"the decomposition's name is {name!r}; another one is right (--name)")
    datasets = known_datasets(store, dataset)
    pools = chosen_pools(store, datasets, pool, limit=limit, seed=seed)
    dry_run = how.get("dry_run", False)
    known = next((d for d in store.decompositions() if d.name == name), None)
    choice = choose_form(
        store,
        endpoint,
        form,
        before=None if known is None else known.parameters.get("form"),
        dry_run=dry_run,
        transport=how.get("transport"),
    )
    drawn = endpoint.keyed(sampling)
    prompt_version = load_prompt(f"decomposer-{choice.form}").label
    parameters = {"form": choice.form, "sampling": drawn.as_json()}
    _check_same(known, endpoint.model, prompt_version, parameters)
    work = _work(store, None if known is None else known.id, pools)
    if known is None and work.total and not dry_run:
        known = store.decomposition(name, endpoint.model, prompt_version, parameters)
    texts = question_texts(store, datasets)

    def jobs() -> Iterator[Job[_Whole]]:
        for place, missing in work.missing:
            q = texts[place.dataset, place.question_id]
            for record in store.pool_traces(place.id):
                if record.id in missing:
                    request = decompose_request(
                        endpoint.model, q, record.trace, sampling=drawn, form=choice.form
                    )
                    yield Job(of_its_own(request, name), _Whole(record))

    saver = _Facts(store, 0 if known is None else known.id)
    asking = ask_jobs(
        store,
        endpoint,
        "decompose",
        jobs(),
        work.total,
        saver.save,
        n_known=work.n_traces - work.n_stepless - work.total,
        parameters={"decomposition": name, "model": endpoint.model, **parameters},
        how=how,
    )
    counts = {f"n_{k}": saver.counts[k] for k in _COUNTS}
    return DecomposeSummary(
        asking, name, choice, prompt_version, work.n_traces, work.n_stepless, **counts
    )


_COUNTS = ("decomposed", "facts", "steps", "dropped", "invented")


def _check_same(
    known: DecompositionRecord | None,
    model: str,
    prompt_version: str,
    parameters: Mapping[str, object],
) -> None:
    """Refuse to mix two ways of decomposing under one name."""
    if known is None:
        return
    if (known.model, known.prompt_version) != (model, prompt_version) or (
        known.parameters != parameters
    ):
        raise ValueError(
            f"decomposition {known.name!r} was made by {known.model} with prompt "
            f"{known.prompt_version} and other parameters than asked for now: "
            "name this one with --name"
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """Which traces of which pools are to be decomposed."""

    missing: list[tuple[PoolRecord, frozenset[int]]]
    n_traces: int
    n_stepless: int

    @property
    def total(self) -> int:
        """How many traces there are to decompose."""
        return sum(len(missing) for _, missing in self.missing)


def _work(store: Store, decomposition_id: int | None, pools: Sequence[PoolRecord]) -> _Work:
    missing = []
    n_traces = n_stepless = 0
    for pool in pools:
        traces = store.pool_traces(pool.id)
        rows = {} if decomposition_id is None else store.decomposed(decomposition_id, pool.id)
        n_traces += len(traces)
        n_stepless += sum(not r.trace.usable for r in traces)
        new = frozenset(r.id for r in traces if r.trace.usable and r.id not in rows)
        if new:
            missing.append((pool, new))
    return _Work(missing, n_traces, n_stepless)


class _Facts:
    """Stores what replies make of traces, and counts it."""

    def __init__(self, store: Store, decomposition_id: int) -> None:
        self._store = store
        self._decomposition_id = decomposition_id
        self.counts: Counter[str] = Counter()

    def save(self, answered: Sequence[Answered[_Whole]]) -> None:
        """Store decomposed traces."""
        rows = []
        for a in answered:
            record = a.about.record
            found = read_facts(a.reply, record.trace)
            rows.append(
                DecomposedRecord(
                    trace_id=record.id,
                    outcome=reply_outcome(found.outcome),
                    reason=found.reason,
                    facts=found.facts,
                    dropped=found.dropped,
                    invented=found.invented,
                    reply_key=a.request.key,
                )
            )
            if found.facts:
                self.counts["decomposed"] += 1
                self.counts["steps"] += len(record.trace.steps)
                self.counts["facts"] += len(found.facts)
                self.counts["dropped"] += len(found.dropped)
            self.counts["invented"] += len(found.invented)
        try:
            self._store.save_decomposed(self._decomposition_id, rows)
        except ConflictError:  # another run was at the same traces: what it stored stands
            for row in rows:
                with suppress(ConflictError):
                    self._store.save_decomposed(self._decomposition_id, [row])
