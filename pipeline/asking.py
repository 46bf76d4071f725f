"""What every stage that asks a model shares: requests go out, rows are saved as replies come."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from judges.requests import REPLIED, Reply, Request, Sampling
from pipeline.models import with_findings
from pipeline.progress import OnProgress, Progress, silent
from pipeline.replies import StoreCache, TokenSizes
from pipeline.runs import at_the_same_work, running
from pipeline.saving import Saver
from store import Store

if TYPE_CHECKING:
    import httpx2

    from judges.client import Budget, Estimate, Tally
    from judges.endpoint import Endpoint
    from judges.limits import ServerUse
    from pipeline.batching import BatchWay

T = TypeVar("T")

N_REASONS = 5
"""So many different reasons of failed requests are told."""


class How(TypedDict, total=False):
    """What every stage that asks takes besides its own parameters.

    `budget` bounds what is used; `on_note` is told what the user should know at once; `stop` ends the stage in good order from another thread;
    `transport` stands in for the network; with `dry_run` nothing is asked and nothing written; with `batch`
    requests go to the server's Batch API.
    """

    budget: Budget | None
    on_progress: OnProgress
    on_note: Callable[[str], None]
    stop: threading.Event | None
    transport: httpx2.AsyncBaseTransport | None
    dry_run: bool
    batch: BatchWay | None


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """A request and what its reply is about."""

    request: Request
    about: T


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """A reply to a job: any outcome that is a reply, refusals and cut ones included."""

    about: T
    request: Request
    reply: Reply


@dataclass(frozen=True, slots=True)
class AskSummary:
    """What asking did, or with `estimate` would take.

    `n_known` results stood already and were not asked for. Of `n_requests`, `outcomes` says how
    each ended, `n_cached` were answered by kept replies; `reasons` counts the failed by what the
    server said (the most frequent). `cost` is in `currency`, None without a price. `stopped` says
    why asking ended early. `servers` is told where there are several.
    `elsewhere` says that another process was at the same work when this one began.
    """

    stage: str
    n_requests: int = 0
    n_known: int = 0
    n_cached: int = 0
    n_asked: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_usage: int = 0
    cost: float | None = None
    currency: str | None = None
    seconds: float = 0.0
    stopped: str | None = None
    estimate: Estimate | None = None
    servers: tuple[ServerUse, ...] = ()
    elsewhere: str | None = None

    @property
    def n_replied(self) -> int:
        """Requests that the model answered in any way."""
        return sum(self.outcomes.get(o, 0) for o in REPLIED)

    @property
    def n_failed(self) -> int:
        """Requests without a reply; the next run asks them again."""
        return self.outcomes.get("failed", 0)

    @property
    def n_left(self) -> int:
        """Requests that the next run has to ask."""
        return 0 if self.estimate is not None else self.n_requests - self.n_replied

    @property
    def complete(self) -> bool:
        """Whether nothing is left to ask."""
        return self.n_left == 0

    def as_json(self) -> dict[str, Any]:
        """Return plain values for machines."""
        out = {
            name: getattr(self, name)
            for name in (
                "stage",
                "n_requests",
                "n_known",
                "n_cached",
                "n_asked",
                "n_failed",
                "n_left",
                "retries",
                "prompt_tokens",
                "completion_tokens",
                "unknown_usage",
                "cost",
                "currency",
                "seconds",
                "stopped",
                "elsewhere",
            )
        }
        out |= {"outcomes": dict(self.outcomes), "reasons": dict(self.reasons)}
        out["servers"] = [asdict(server) for server in self.servers]
        e = self.estimate
        out["estimate"] = None if e is None else asdict(e)
        return out


class Interrupted(KeyboardInterrupt):
    """Asking was interrupted; what had come is saved. `summary` says how far it got."""

    def __init__(self, summary: AskSummary) -> None:
        super().__init__(
            f"interrupted; {summary.n_replied} of {summary.n_requests} replies are kept, "
            f"{summary.n_left} are left: the same command goes on from there"
        )
        self.summary = summary


def sampling_for(endpoint: Endpoint, default: Sampling, **given: Any) -> Sampling:
    """Return a role's sampling with what was given in its place and the endpoint's extras.

    None among the given leaves the default.
    """
    return endpoint.keyed(replace(default, **{k: v for k, v in given.items() if v is not None}))


def of_its_own(request: Request, name: str) -> Request:
    """Return a request whose sample number belongs to a named sampling.

    Kept replies are found by body and sample number. Without this, two pools, judges or
    decompositions that are asked in the same way would be one and its copy, not two draws.
    """
    place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % _PLACES
    return replace(request, sample=place * _SAMPLES_PER_PLACE + request.sample)


_PLACES, _SAMPLES_PER_PLACE = 2**20, 2000
"""So that every sample number fits into 31 bits, as databases count."""


def ask_jobs(
    store: Store,
    endpoint: Endpoint,
    stage: str,
    jobs: Iterable[Job[T]],
    total: int,
    save: Callable[[Sequence[Answered[T]]], None],
    *,
    unit: str = "requests",
    n_known: int = 0,
    parameters: Mapping[str, Any],
    how: How,
) -> AskSummary:
    """Ask what is missing and save results in batches as replies come.

    `jobs` is consumed lazily. `save` runs in one thread of its own, never twice at once, with
    every reply exactly once; failed and held back requests do not reach it. With nothing to ask,
    nothing is written at all, and no run is recorded.

    Raises
    ------
    Interrupted
        On Ctrl-C, after what had come is saved.
    store.StoreError
        When rows cannot be saved; asking stops then.
    """
    empty = AskSummary(stage, n_known=n_known)
    if how.get("dry_run"):
        from judges.client import estimate

        price = endpoint.price
        if how.get("batch") is not None:
            price = endpoint.batch_price or price
        sizes = TokenSizes(store)
        found = estimate((j.request for j in jobs), StoreCache(store), price, sizes)
        return replace(
            empty,
            n_requests=found.n_requests,
            n_cached=found.n_cached,
            estimate=found,
            currency=price.currency if price else None,
        )
    if total == 0:
        return empty
    endpoint = with_findings(store, endpoint)
    with running(store, stage, parameters, total, unit) as run:
        empty = replace(empty, elsewhere=at_the_same_work(store, stage, parameters, run.run_id))
        if empty.elsewhere is not None and "on_note" in how:
            how["on_note"](empty.elsewhere)
        asking: _Asking[T] = _Asking(endpoint, empty, total, unit, how)
        try:
            with Saver(
                save, on_error=asking.stop.set, beat=lambda: run.beat(*asking.state())
            ) as saver:
                if how.get("batch") is None:
                    asking.ask(StoreCache(store), jobs, saver)
                else:
                    asking.ask_by_batch(store, jobs, saver)
        finally:
            ended = asking.summary
            run.summary, run.done = ended.as_json(), ended.n_replied
            run.state = "stopped" if ended.stopped else "done"
        return ended


def _nothing() -> None:
    """Do nothing."""


class _Asking(Generic[T]):
    """One run of the client: who asked what, and how it stands."""

    def __init__(
        self, endpoint: Endpoint, empty: AskSummary, total: int, unit: str, how: How
    ) -> None:
        self._endpoint = endpoint
        self._empty = empty
        self._total = total
        self._unit = unit
        self._how = how
        self._on_progress = how.get("on_progress", silent)
        self._abouts: defaultdict[str, deque[T]] = defaultdict(deque)
        self._outcomes: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._tally: Tally | None = None
        self.stop = how.get("stop") or threading.Event()
        self.beat: Callable[[], None] = _nothing

    def ask(self, cache: StoreCache, jobs: Iterable[Job[T]], saver: Saver[Answered[T]]) -> None:
        from judges.client import ask

        def requests() -> Iterator[Request]:
            for job in jobs:
                self._abouts[job.request.key].append(job.about)
                yield job.request

        def note(request: Request, reply: Reply) -> None:
            waiting = self._abouts[request.key]
            about = waiting.popleft()
            if not waiting:
                del self._abouts[request.key]
            self._settle(Answered(about, request, reply), saver)

        try:
            self._tally = ask(
                self._endpoint,
                requests(),
                cache=cache,
                budget=self._how.get("budget"),
                on_reply=note,
                on_tally=self._show,
                stop=self.stop,
                transport=self._how.get("transport"),
            )
        except KeyboardInterrupt as error:
            saver.close()
            raise Interrupted(self.summary) from error
        self._show(self._tally)

    def ask_by_batch(self, store: Store, jobs: Iterable[Job[T]], saver: Saver[Answered[T]]) -> None:
        """Submit and collect batches in place of asking."""
        from pipeline.batching import BatchAsker, BatchWay

        asker: BatchAsker[T] = BatchAsker(
            store,
            self._endpoint,
            self._empty.stage,
            self._how.get("batch") or BatchWay(),
            lambda request, about, reply: self._settle(Answered(about, request, reply), saver),
            budget=self._how.get("budget"),
            stop=self.stop,
            show=self._show,
            transport=self._how.get("transport"),
        )
        self.beat = asker.beat
        try:
            self._tally = asker.ask((job.request, job.about) for job in jobs)
        except KeyboardInterrupt as error:
            self._tally = asker.tally()
            saver.close()
            raise Interrupted(self.summary) from error
        self._show(self._tally)

    def _settle(self, answered: Answered[T], saver: Saver[Answered[T]]) -> None:
        reply = answered.reply
        self._outcomes[reply.outcome] += 1
        if reply.outcome == "failed":
            self._reasons[reply.reason] += 1
        if reply.replied:
            saver.put(answered)

    def _show(self, tally: Tally) -> None:
        self._tally = tally
        self._on_progress(
            Progress(
                self._empty.stage,
                self._done,
                self._total,
                self._unit,
                rate=tally.requests_per_second,
                tokens=tally.prompt_tokens + tally.completion_tokens,
                errors=self._errors,
            )
        )

    @property
    def _done(self) -> int:
        return sum(self._outcomes[o] for o in REPLIED)

    @property
    def _errors(self) -> int:
        return sum(n for o, n in self._outcomes.items() if o not in ("ok", "unasked"))

    def state(self) -> tuple[int, dict[str, Any]]:
        """Return how many are done, and what a progress screen shows beside it."""
        self.beat()
        t = self._tally
        return self._done, {
            "outcomes": dict(self._outcomes),
            "rate": t.requests_per_second if t else None,
            "tokens": t.prompt_tokens + t.completion_tokens if t else 0,
            "cost": t.cost if t else None,
            "currency": self._endpoint.price.currency if self._endpoint.price else None,
            "cached": t.cached if t else 0,
            "retries": t.retries if t else 0,
            "concurrency": t.concurrency if t else 0,
            "errors": self._errors,
        }

    @property
    def summary(self) -> AskSummary:
        t, price = self._tally, self._endpoint.price
        common = replace(
            self._empty,
            n_requests=self._total,
            outcomes=dict(self._outcomes),
            reasons=dict(self._reasons.most_common(N_REASONS)),
            currency=price.currency if price else None,
        )
        if t is None:
            return common
        return replace(
            common,
            n_cached=t.cached,
            n_asked=t.asked,
            retries=t.retries,
            prompt_tokens=t.prompt_tokens,
            completion_tokens=t.completion_tokens,
            unknown_usage=t.unknown_usage,
            cost=t.cost,
            seconds=t.seconds,
            stopped=t.stopped,
            servers=t.servers if len(t.servers) > 1 else (),
        )
