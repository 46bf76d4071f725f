"""Solvers are asked: every problem that passed, every mutation, every number of given steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Unpack

from judges.prompts import load_prompt
from judges.requests import Sampling
from judges.solver import DEFAULT_SAMPLING, PrefixWay, solve_request
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.budgets import rest_of
from pipeline.deducing.reading import read_numbers
from pipeline.deducing.styling import Paraphrases
from pipeline.deducing.work import Asked, Place, SolverWork, Templates
from pipeline.models import look_at
from pipeline.replies import reply_outcome
from scoring.deduction import STYLES
from store import Store
from store.deduction_records import FIRST_STYLE, CompletionRecord, SolverRecord

if TYPE_CHECKING:
    import httpx2

    from judges.endpoint import Endpoint
    from judges.requests import Form

Sending = Literal["auto", "assistant", "quoted"]
"""How given steps are to be sent; ``auto`` goes by what the server was found to do."""


@dataclass(frozen=True, slots=True)
class SentHow:
    """How given steps are sent and how that is known: ``asked``, ``found``, ``probed``, or
    ``unknown`` (nobody looked, and in a dry run nobody may)."""

    way: Literal["assistant", "quoted"]
    why: str


@dataclass(frozen=True, slots=True)
class SolveSummary:
    """What asking a solver did.

    `n_problems` are asked about, with `n_mutations` mutations, the originals beside them; `left_out`
    counts the other problems by reason. `paraphrasing` is what was asked of the paraphraser, None
    without another style; `faults` counts prefixes that are no paraphrase. `n_read` completions
    were read by our number reader.
    """

    asking: AskSummary
    solver: str
    model: str
    prompt_version: str
    sent: SentHow
    styles: tuple[str, ...]
    templates: Templates
    n_problems: int
    n_mutations: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    paraphrasing: AskSummary | None = None
    faults: Mapping[str, int] = field(default_factory=dict)
    n_read: int = 0


def prefix_way(
    store: Store,
    endpoint: Endpoint,
    sending: Sending = "auto",
    *,
    dry_run: bool = False,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> SentHow:
    """Return how given steps are sent.

    They are the assistant's own unfinished message where every server of the endpoint continues
    one, and quoted otherwise. A server nobody looked at is probed now, and the finding is kept.

    Raises
    ------
    ValueError
        When no server answers.
    """
    if sending != "auto":
        return SentHow(sending, "asked")
    why = "found"
    continues: list[bool] = []
    notes: list[str] = []
    for url in endpoint.base_urls:
        finding = store.finding(url, endpoint.model)
        if finding is not None:
            continues.append(finding.findings.get("continues_prefix") is True)
        elif dry_run:
            return SentHow("quoted", "unknown")
        else:
            why = "probed"
            found = look_at(store, endpoint, url, transport=transport)
            if found.reachable:
                continues.append(found.continues_prefix is True)
            notes += found.notes
    if not continues:
        raise ValueError("no server answers: " + "; ".join(notes))
    return SentHow("assistant" if all(continues) else "quoted", why)


def solver_record(
    store: Store, endpoint: Endpoint, name: str | None, sampling: Sampling
) -> SolverRecord:
    """Return the solver under its name (the endpoint's if none is given), adding it on first use.

    Raises
    ------
    ValueError
        When the name belongs to another model, prompt or sampling.
    """
    keyed = endpoint.keyed(sampling)
    return store.solver(
        name or endpoint.name,
        endpoint.model,
        load_prompt("solver-text").label,
        {"sampling": keyed.as_json()},
    )


def solve(
    store: Store,
    endpoint: Endpoint,
    *,
    name: str | None = None,
    problems: Sequence[str] | None = None,
    templates: Templates = "auto",
    mutations: int | None = None,
    k_max: int | None = None,
    styles: Sequence[str] = (FIRST_STYLE,),
    paraphraser: Endpoint | None = None,
    paraphraser_form: Form | None = None,
    sending: Sending = "auto",
    sampling: Sampling = DEFAULT_SAMPLING,
    **how: Unpack[How],
) -> SolveSummary:
    """Ask a model to solve every problem, and to go on from its first k steps, k = 0, 1, …

    What was asked under this solver's name is not asked again. In styles other than the original
    the `paraphraser` (the solver itself where none is given) rewrites the given steps first;
    without given steps there is no style. A budget holds for both together.

    Parameters
    ----------
    name
        Of the solver, the endpoint's if not given: what stands in item keys and tables.
    templates
        ``own`` templates (from the model's own solutions), ``shared`` ones, or ``auto``: own
        where there are any.
    mutations
        So many of each problem at most; all if not given. The original is always asked.
    k_max
        Most given steps; all but the last step if not given.

    Raises
    ------
    ValueError
        When a style or problem is unknown, nothing is there to ask, or no server answers.
    Interrupted
        On Ctrl-C.
    """
    for style in styles:
        if style not in STYLES:
            raise ValueError(f"style is {style!r}; some of {', '.join(STYLES)} are right")
    dry_run = how.get("dry_run", False)
    known = next((s for s in store.solvers() if s.name == (name or endpoint.name)), None)
    work = SolverWork(store, name or endpoint.name, problems, templates, mutations, k_max)
    sent = prefix_way(store, endpoint, sending, dry_run=dry_run, transport=how.get("transport"))
    others = [s for s in styles if s != FIRST_STYLE]
    written = Paraphrases(store, paraphraser or endpoint, paraphraser_form, work, others, how)
    paraphrasing = written.ask() if others else None
    rest = how if paraphrasing is None else rest_of(how, paraphrasing)
    solver = known if dry_run else solver_record(store, endpoint, name, sampling)
    asking = _Solving(store, endpoint, solver, work, written, tuple(styles), sent, sampling, rest)
    stopped = None if paraphrasing is None else paraphrasing.stopped
    summary = asking.ask(stopped)
    n_read = 0 if dry_run or solver is None else read_numbers(store, solver)
    return SolveSummary(
        summary,
        name or endpoint.name,
        endpoint.model,
        load_prompt("solver-text").label,
        sent,
        tuple(styles),
        work.templates,
        work.n_problems,
        work.n_mutations,
        dict(work.left_out),
        paraphrasing,
        dict(written.faults),
        n_read,
    )


class _Solving:
    """Asks for the completions that are not there."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        solver: SolverRecord | None,
        work: SolverWork,
        written: Paraphrases,
        styles: tuple[str, ...],
        sent: SentHow,
        sampling: Sampling,
        how: How,
    ) -> None:
        self._store, self._endpoint, self._solver = store, endpoint, solver
        self._work, self._written, self._styles = work, written, styles
        self._sent, self._sampling, self._how = sent, endpoint.keyed(sampling), how

    def ask(self, stopped: str | None) -> AskSummary:
        """Ask; nothing where paraphrasing was `stopped`."""
        there: frozenset[Place] = frozenset()
        if self._solver is not None:
            there = self._store.completion_places(self._solver.id)
        all_of_it = list(self._asked())
        missing = [] if stopped else [a for a in all_of_it if a.place not in there]
        return ask_jobs(
            self._store,
            self._endpoint,
            "deduce",
            self._jobs(missing),
            len(missing),
            self._save,
            unit="solutions",
            n_known=sum(a.place in there for a in all_of_it),
            parameters={
                "solver": self._work.solver,
                "model": self._endpoint.model,
                "sampling": self._sampling.as_json(),
                "sent": self._sent.way,
                "styles": list(self._styles),
            },
            how=self._how,
        )

    def _asked(self) -> Iterator[Asked]:
        for style in self._styles:
            for asked in self._work.asked(style):
                if style == FIRST_STYLE:
                    yield asked
                elif (text := self._written.text(asked)) is not None:
                    yield asked.with_prefix(text)

    def _jobs(self, missing: Sequence[Asked]) -> Iterator[Job[tuple[Asked, PrefixWay]]]:
        for asked in missing:
            way: PrefixWay = self._sent.way if asked.k else "none"
            request = solve_request(
                self._endpoint.model,
                asked.question,
                prefix=asked.prefix,
                way=way,
                sampling=self._sampling,
            )
            yield Job(of_its_own(request, self._work.solver), (asked, way))

    def _save(self, answered: Sequence[Answered[tuple[Asked, PrefixWay]]]) -> None:
        if self._solver is None:
            raise RuntimeError("completions came before their solver was there")
        rows = []
        for a in answered:
            asked, way = a.about
            rows.append(
                CompletionRecord(
                    mutation_id=asked.mutation_id,
                    k=asked.k,
                    style=asked.style,
                    way=way,
                    prefix=asked.prefix,
                    outcome=reply_outcome(a.reply.outcome),
                    text=a.reply.text,
                    reason=a.reply.reason,
                    reply_key=a.request.key,
                    prompt_version=a.request.prompt_version,
                )
            )
        self._store.save_completions(self._solver.id, rows)


def outcome_counts(rows: Sequence[CompletionRecord]) -> Counter[str]:
    """Return how completions ended."""
    return Counter(r.outcome for r in rows)


__all__ = ["SentHow", "SolveSummary", "outcome_counts", "prefix_way", "solve", "solver_record"]
