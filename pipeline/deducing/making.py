"""Templates from a model's own correct solutions: solved, taken apart, coded, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

from judges import coder, templatiser
from judges.coder import code_request, read_code
from judges.plain import after_thinking
from judges.prompts import load_prompt
from judges.requests import Form, Reply, Request, Sampling
from judges.solver import DEFAULT_SAMPLING, solve_request
from judges.templatiser import Templatised, read_template, template_request
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.budgets import rest_of
from pipeline.deducing.importing import known_problems
from pipeline.deducing.solving import solver_record
from pipeline.models import choose_form
from pipeline.selecting import chosen_questions, known_datasets
from scoring.deduction import SanityFailure, Template, check_dict
from scoring.parsing import parse_trace
from store import Store
from store.deduction_records import ProblemRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

NO_SOLUTION = "no_solution"
"""The model's own solution of the original is missing or wrong: nothing to make a template of."""


@dataclass(frozen=True, slots=True)
class MakeSummary:
    """What making templates did.

    `askings` are those of the solver, the templatiser and the coder. Of `n_problems`, `n_known`
    had an attempt already; of the new ones `n_passed` passed every check, `reasons` counts the
    failed checks of the others by code, `failures` says what was found, by problem.
    """

    askings: tuple[AskSummary, ...]
    solver: str
    makers: tuple[str, ...]
    n_problems: int
    n_known: int
    n_passed: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, tuple[SanityFailure, ...]] = field(default_factory=dict)


def add_questions(
    store: Store,
    dataset: str | Sequence[str] | None,
    *,
    limit: int | None = None,
    seed: int | None = None,
) -> tuple[int, int]:
    """Take over questions with a number as gold as problems; return how many, and how many not.

    Raises
    ------
    ValueError
        When there is no such dataset.
    """
    datasets = known_datasets(store, dataset)
    taken = 0
    found = chosen_questions(store, datasets, limit=limit, seed=seed)
    for q in found:
        if q.gold is None or q.gold[0] != "number" or not isinstance(q.gold[1], Fraction):
            continue
        store.add_problem(
            f"{q.dataset}-{q.external_id}", q.text.strip(), q.gold[1], source=q.dataset
        )
        taken += 1
    return taken, len(found) - taken


def final_number(text: str) -> Fraction | None:
    """Return the number that a solution ends with, None where it states none."""
    answer = parse_trace(after_thinking(text), kind="number").answer
    if answer is None or not isinstance(answer[1], Fraction):
        return None
    return answer[1]


@dataclass(slots=True)
class _Draft:
    """A problem on its way to a template."""

    problem: ProblemRecord
    solution: str = ""
    made: Templatised = field(default_factory=Templatised)
    code: str = ""
    failure: SanityFailure | None = None


def make_templates(
    store: Store,
    endpoint: Endpoint,
    maker: Endpoint | None = None,
    *,
    name: str | None = None,
    problems: Sequence[str] | None = None,
    retry: bool = False,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    **how: Unpack[How],
) -> MakeSummary:
    """Make templates of problems from a model's own correct solutions.

    The model (`endpoint`) solves the original; where its answer is the gold one, `maker` (the model
    itself where none is given) takes the numbers out and writes the program, and every sanity check
    is run. What fails is stored with its reason. A problem with an attempt is not tried again,
    unless it failed and `retry` is given.

    Raises
    ------
    ValueError
        When there is no problem with a gold answer, or no server answers.
    Interrupted
        On Ctrl-C.
    """
    maker = maker or endpoint
    solver = name or endpoint.name
    wanted = set(known_problems(store, problems))
    tried = {t.problem: t for t in store.templates(solver)}
    drafts, n_known = [], 0
    for problem in store.problems():
        if problem.name not in wanted or problem.only_k is not None or problem.gold is None:
            continue
        before = tried.get(problem.name)
        if before is not None and (before.passed or not retry):
            n_known += 1
        else:
            drafts.append(_Draft(problem))
    if not drafts and not n_known:
        raise ValueError("no problem with a gold answer: medoid deduce import, or --dataset")
    work = _Making(store, endpoint, maker, solver, name, form, sampling, how)
    return work.all(drafts, n_known)


class _Making:
    """One run of the stage: three askings, each of what the one before left."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        maker: Endpoint,
        solver: str,
        name: str | None,
        form: Form | None,
        sampling: Sampling,
        how: How,
    ) -> None:
        self._store, self._endpoint, self._maker = store, endpoint, maker
        self._solver, self._name, self._how = solver, name, how
        self._sampling = endpoint.keyed(sampling)
        self._given_sampling = sampling
        self._dry = how.get("dry_run", False)
        self._form: Form = choose_form(
            store, maker, form, dry_run=self._dry, transport=how.get("transport")
        ).form

    def all(self, drafts: list[_Draft], n_known: int) -> MakeSummary:
        """Solve, take apart, code, check."""
        if drafts and not self._dry:
            solver_record(self._store, self._endpoint, self._name, self._given_sampling)
        solving = self._ask("solve", self._endpoint, drafts, self._solve, self._solved, self._how)
        right = [d for d in drafts if d.solution and d.failure is None]
        rest = rest_of(self._how, solving)
        taking = self._ask("template", self._maker, right, self._template, self._templated, rest)
        drawn = [d for d in right if d.made.question and d.failure is None]
        rest = rest_of(self._how, solving, taking)
        coding = self._ask("code", self._maker, drawn, self._code, self._coded, rest)
        askings = (solving, taking, coding)
        done = [d for d in drafts if d.failure is not None or d.code]
        kept = {} if self._dry else {d.problem.name: self._check(d) for d in done}
        reasons = Counter(code for f in kept.values() for code in {x.code for x in f})
        prompts = [f"{r.ROLE}-{self._form}" for r in (templatiser, coder)]
        return MakeSummary(
            askings,
            self._solver,
            (self._maker.model, *(load_prompt(p).label for p in prompts)),
            len(drafts) + n_known,
            n_known,
            sum(not f for f in kept.values()),
            dict(sorted(reasons.items())),
            {name: f for name, f in kept.items() if f},
        )

    def _ask(
        self,
        stage: str,
        endpoint: Endpoint,
        drafts: Sequence[_Draft],
        request: Callable[[_Draft], Request],
        read: Callable[[Reply, _Draft], None],
        how: How,
    ) -> AskSummary:
        def jobs() -> Iterator[Job[_Draft]]:
            for draft in drafts:
                yield Job(of_its_own(request(draft), self._solver), draft)

        def save(answered: Sequence[Answered[_Draft]]) -> None:
            for a in answered:
                read(a.reply, a.about)

        parameters: dict[str, Any] = {"solver": self._solver, "model": endpoint.model}
        return ask_jobs(
            self._store,
            endpoint,
            stage,
            jobs(),
            len(drafts),
            save,
            unit="problems",
            parameters={**parameters, "form": self._form},
            how=how,
        )

    def _solve(self, draft: _Draft) -> Request:
        return solve_request(self._endpoint.model, draft.problem.question, sampling=self._sampling)

    def _solved(self, reply: Reply, draft: _Draft) -> None:
        draft.solution = after_thinking(reply.text).strip()
        if reply.outcome != "ok" or not draft.solution:
            why = f"{reply.outcome}: {reply.reason}" if reply.reason else reply.outcome
            draft.failure = SanityFailure(NO_SOLUTION, f"the model's own solution is {why}")
            return
        said = final_number(draft.solution)
        if said != draft.problem.gold:
            stated = "states no number" if said is None else "is not the gold answer"
            draft.failure = SanityFailure(NO_SOLUTION, f"the model's own answer {stated}")

    def _template(self, draft: _Draft) -> Request:
        return template_request(
            self._maker.model,
            draft.problem.question,
            draft.solution,
            sampling=self._maker.keyed(templatiser.DEFAULT_SAMPLING),
            form=self._form,
        )

    def _templated(self, reply: Reply, draft: _Draft) -> None:
        draft.made = read_template(reply, draft.problem.question, draft.solution)
        if draft.made.reason:
            draft.failure = SanityFailure("format", draft.made.reason)

    def _code(self, draft: _Draft) -> Request:
        return code_request(
            self._maker.model,
            draft.made.question,
            draft.made.steps,
            sampling=self._maker.keyed(coder.DEFAULT_SAMPLING),
            form=self._form,
        )

    def _coded(self, reply: Reply, draft: _Draft) -> None:
        code, reason = read_code(reply)
        draft.code = code or ""
        if code is None:
            draft.failure = SanityFailure("format", reason)

    def _check(self, draft: _Draft) -> tuple[SanityFailure, ...]:
        """Run every check on a draft and store it; return what failed."""
        template: Template | None = None
        failures: tuple[SanityFailure, ...] = () if draft.failure is None else (draft.failure,)
        if draft.failure is None:
            template, report = check_dict(self._table(draft))
            failures = report.failures
        self._store.add_template(
            draft.problem.name,
            template,
            failures,
            solver=self._solver,
            solution=draft.solution or None,
            made_by={"model": self._maker.model, "form": self._form},
        )
        return failures

    def _table(self, draft: _Draft) -> dict[str, Any]:
        """Return a draft as a template's table."""
        gold = draft.problem.gold
        return {
            "problem": draft.problem.name,
            "question": draft.made.question,
            "steps": list(draft.made.steps),
            "code": draft.code,
            "factual": {name: str(value) for name, value in draft.made.values.items()},
            **({} if gold is None else {"gold": str(gold)}),
            "model": self._solver,
            "source": draft.problem.source,
        }


__all__ = ["NO_SOLUTION", "MakeSummary", "add_questions", "final_number", "make_templates"]
