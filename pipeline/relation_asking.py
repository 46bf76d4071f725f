"""The stages that ask about relation sets: every ordered pair, and every object itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING, Any, Unpack

from judges import knowledge_prober, relation_asker
from judges.knowledge_prober import ProbeQuestion, probe_request, read_probe
from judges.prompts import Prompt, PromptChoice, chosen_prompt
from judges.relation_asker import (
    DEFAULT_SAMPLING,
    Asked,
    RelationQuestion,
    option_order,
    relation_request,
)
from judges.relation_reading import read_relation
from judges.requests import Form, Reply, Request, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.models import FormChoice, choose_form
from pipeline.relation_sets import fact_line
from pipeline.replies import reply_outcome
from store import Store
from store.keys import encode_part, is_name
from store.relation_records import (
    AskingRecord,
    Asks,
    NewFact,
    RelationAnswerRecord,
    SetRecord,
    Truth,
    ValueRecord,
)

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

ASKED: Mapping[str, Asked] = {
    "temporal": "time",
    "spatial": "quadrant",
    "kinship": "kinship",
    "contradiction": "contradiction",
}
"""What is asked of the pairs of a kind of set."""


@dataclass(frozen=True, slots=True)
class RelationSummary:
    """What asking about one set did.

    `n_wanted` questions make it whole. Of the new replies `n_read` gave what was asked for;
    `reasons` counts the others. `made` is where the answers are, None where there are none yet.
    """

    asking: AskSummary
    set: str
    kind: str
    name: str
    form: FormChoice
    prompt_version: str
    n_wanted: int
    n_read: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    made: AskingRecord | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values, the asking among them."""
        return {
            "set": self.set,
            "kind": self.kind,
            "asking_name": self.name,
            "form": self.form.form,
            "form_known_by": self.form.why,
            "prompt_version": self.prompt_version,
            "wanted": self.n_wanted,
            "read": self.n_read,
            "unread": dict(self.reasons),
            "asking": self.asking.as_json(),
        }


def ask_relations(
    store: Store,
    endpoint: Endpoint,
    set_name: str,
    *,
    name: str | None = None,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    reasoned: bool = True,
    order_seed: int | None = 0,
    repeats: int = 1,
    prompt: PromptChoice = None,
    **how: Unpack[How],
) -> RelationSummary:
    """Ask about every ordered pair of a set that was not asked under this name yet.

    Parameters
    ----------
    set_name : str
        Which set.
    name : str, optional
        What the answers are called: MODEL in the keys of items. None = the endpoint's name.
    form : {"schema", "text"}, optional
        None = as before, else as the endpoint is set or found.
    sampling : Sampling
        How the model is sampled.
    reasoned : bool
        Ask for a sentence of reasoning before the word.
    order_seed : int or None
        From which the order of the words is drawn for each pair; None = fixed.
    repeats : int
        How often each pair is asked.
    prompt : int or Path, optional
        A version that ships, or a file of one's own.

    Raises
    ------
    ValueError
        When there is no such set, or the name was asked in another way.
    Interrupted
        On Ctrl-C.
    """
    of = store.relation_set_named(set_name)
    asked = ASKED[of.kind]
    place = _Place(store, endpoint, of, "pairs", name, how)
    choice = place.form(form)
    used = chosen_prompt(relation_asker.prompt_name(asked, choice.form), prompt)
    drawn = endpoint.keyed(sampling)
    place.settle(
        choice,
        used.label,
        {"sampling": drawn.as_json(), "reasoned": reasoned, "order_seed": order_seed},
    )
    objects = [o.name for o in store.relation_objects(of.id)]
    about, told = _about(of), told_lines(store, of)
    there = place.answered()
    missing = [
        (a, b, r)
        for a, b in permutations(range(len(objects)), 2)
        for r in range(repeats)
        if (a, b, r) not in there
    ]

    def ask(key: tuple[int, ...]) -> tuple[Request, RelationQuestion]:
        a, b, repeat = key
        q = RelationQuestion(objects[a], objects[b], asked, about, told)
        request = relation_request(
            endpoint.model,
            q,
            item=_pair(of.name, q, repeat),
            sampling=drawn,
            form=choice.form,
            reasoned=reasoned,
            order_seed=order_seed,
            prompt=used,
        )
        return place.own(request, repeat), q

    def read(
        key: tuple[int, ...], q: RelationQuestion, reply: Reply, reply_key: str
    ) -> RelationAnswerRecord:
        a, b, repeat = key
        found = read_relation(reply, q)
        extra: dict[str, Any] = {"first": option_order(q, _pair(of.name, q, repeat), order_seed)[0]}
        if found.reasoning:
            extra["reasoning"] = found.reasoning
        if found.turned:
            extra["turned"] = True
        return RelationAnswerRecord(
            a,
            b,
            found.relation,
            reply_outcome(reply.outcome),
            repeat,
            reply.text,
            found.reason,
            reply_key,
            extra,
        )

    n_wanted = len(objects) * (len(objects) - 1) * repeats
    saver = _Saver(read, store.save_relation_answers)
    return place.run("relations", missing, n_wanted, ask, saver)


def _about(of: SetRecord) -> str:
    return str(of.extra.get("about", ""))


def told_lines(store: Store, of: SetRecord) -> tuple[str, ...]:
    """Return the statements a model is told of a set: those it was made with, else one for each
    told fact."""
    told = of.extra.get("told")
    if isinstance(told, list | tuple):
        return tuple(map(str, told))
    names = [o.name for o in store.relation_objects(of.id)]
    return tuple(
        fact_line(NewFact("told", names[f.a], names[f.b], f.relation, f.value))
        for f in store.relation_facts(of.id, "told")
    )


def _pair(of: str, q: RelationQuestion, repeat: int) -> str:
    """Return what the order of the words is drawn from."""
    return "/".join(encode_part(p) for p in (of, q.a, q.b, str(repeat)))


def probe_objects(
    store: Store,
    endpoint: Endpoint,
    set_name: str,
    *,
    name: str | None = None,
    form: Form | None = None,
    sampling: Sampling = knowledge_prober.DEFAULT_SAMPLING,
    prompt: PromptChoice = None,
    **how: Unpack[How],
) -> RelationSummary:
    """Ask for each object's own date or place, once.

    Raises
    ------
    ValueError
        When there is no such set, its objects have neither, or the name was asked in another way.
    Interrupted
        On Ctrl-C.
    """
    of = store.relation_set_named(set_name)
    if of.kind == "kinship":
        raise ValueError(f"set {of.name} is a family: its members have neither a date nor a place")
    probed: knowledge_prober.Probed = "time" if of.kind == "temporal" else "quadrant"
    place = _Place(store, endpoint, of, "objects", name, how)
    choice = place.form(form)
    used: Prompt = chosen_prompt(knowledge_prober.prompt_name(probed, choice.form), prompt)
    drawn = endpoint.keyed(sampling)
    place.settle(choice, used.label, {"sampling": drawn.as_json()})
    objects = [o.name for o in store.relation_objects(of.id)]
    about, told = _about(of), told_lines(store, of)
    there = place.answered()
    missing: list[tuple[int, ...]] = [(k, 0) for k in range(len(objects)) if (k, 0) not in there]

    def ask(key: tuple[int, ...]) -> tuple[Request, ProbeQuestion]:
        q = ProbeQuestion(objects[key[0]], probed, about, told)
        request = probe_request(endpoint.model, q, sampling=drawn, form=choice.form, prompt=used)
        return place.own(request, 0), q

    def read(key: tuple[int, ...], q: ProbeQuestion, reply: Reply, reply_key: str) -> ValueRecord:
        found = read_probe(reply, q)
        value: Truth | None = None
        if found.values:
            v = found.values
            value = v["time"] if probed == "time" else (v["x"], v["y"])
        return ValueRecord(
            key[0], value, reply_outcome(reply.outcome), 0, reply.text, found.reason, reply_key
        )

    saver = _Saver(read, store.save_relation_values)
    return place.run("probe", missing, len(objects), ask, saver)


class _Place:
    """Where the answers of one asking of one set go, and in which way they are asked for."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        of: SetRecord,
        asks: Asks,
        name: str | None,
        how: How,
    ) -> None:
        self._store = store
        self._endpoint = endpoint
        self._of = of
        self._asks: Asks = asks
        self._how = how
        self.name = endpoint.name if name is None else name
        if not is_name(self.name):
            raise ValueError(f"the answers' name is {self.name!r}; one without controls is right")
        known = store.relation_askings(of.id, asks)
        self._known = next((a for a in known if a.name == self.name), None)
        self._choice = FormChoice("schema", "unknown")
        self._prompt_version = ""
        self._parameters: Mapping[str, Any] = {}

    def form(self, form: Form | None) -> FormChoice:
        """Return whether replies are bound by a schema."""
        before: Form | None = None
        if self._known is not None and self._known.form in ("schema", "text"):
            before = "schema" if self._known.form == "schema" else "text"
        return choose_form(
            self._store,
            self._endpoint,
            form,
            before=before,
            dry_run=self._how.get("dry_run", False),
            transport=self._how.get("transport"),
        )

    def settle(
        self, choice: FormChoice, prompt_version: str, parameters: Mapping[str, Any]
    ) -> None:
        """Say how it is asked. ValueError where this name was asked in another way."""
        self._choice, self._prompt_version, self._parameters = choice, prompt_version, parameters
        known = self._known
        if known is None:
            return
        now = {
            "model": self._endpoint.model,
            "form": choice.form,
            "prompt": prompt_version,
            "parameters": dict(parameters),
        }
        before = {
            "model": known.model,
            "form": known.form,
            "prompt": known.prompt_version,
            "parameters": dict(known.parameters),
        }
        other = [k for k in now if now[k] != before[k]]
        if other:
            raise ValueError(
                f"{self.name} was asked about set {self._of.name} with another "
                f"{' and '.join(other)}: give this one another name (--name)"
            )

    def answered(self) -> frozenset[tuple[int, ...]]:
        """Return what is there already, by places and repeat."""
        if self._known is None:
            return frozenset()
        if self._asks == "pairs":
            rows = self._store.relation_answers(self._known.id)
            return frozenset((r.a, r.b, r.repeat) for r in rows)
        return frozenset((r.object, r.repeat) for r in self._store.relation_values(self._known.id))

    def own(self, request: Request, repeat: int) -> Request:
        """Return a request whose reply is that of this asking."""
        from dataclasses import replace

        return of_its_own(replace(request, sample=repeat), f"{self._of.name}\n{self.name}")

    def run(
        self,
        stage: str,
        missing: Sequence[tuple[int, ...]],
        n_wanted: int,
        ask: Any,
        saver: _Saver,
    ) -> RelationSummary:
        """Ask what is missing."""
        made = self._known
        if made is None and missing and not self._how.get("dry_run", False):
            made = self._store.relation_asking(
                self._of.id,
                self.name,
                model=self._endpoint.model,
                form=self._choice.form,
                prompt_version=self._prompt_version,
                parameters=self._parameters,
                asks=self._asks,
            )
        saver.asking_id = 0 if made is None else made.id

        def jobs() -> Iterator[Job[tuple[tuple[int, ...], Any]]]:
            for key in missing:
                request, q = ask(key)
                yield Job(request, (key, q))

        asking = ask_jobs(
            self._store,
            self._endpoint,
            stage,
            jobs(),
            len(missing),
            saver.save,
            n_known=n_wanted - len(missing),
            parameters={
                "set": self._of.name,
                "asking": self.name,
                "model": self._endpoint.model,
                "form": self._choice.form,
                **self._parameters,
            },
            how=self._how,
        )
        return RelationSummary(
            asking,
            self._of.name,
            self._of.kind,
            self.name,
            self._choice,
            self._prompt_version,
            n_wanted,
            saver.n_read,
            dict(saver.reasons.most_common()),
            made,
        )


class _Saver:
    """Stores what replies say, and counts those that do not say it."""

    def __init__(self, read: Any, store_rows: Any) -> None:
        self._read = read
        self._store_rows = store_rows
        self.asking_id = 0
        self.n_read = 0
        self.reasons: Counter[str] = Counter()

    def save(self, answered: Sequence[Answered[tuple[tuple[int, ...], Any]]]) -> None:
        """Store answers; `read` makes a row of (key, question, reply, reply's key)."""
        rows = [self._read(*a.about, a.reply, a.request.key) for a in answered]
        self._store_rows(self.asking_id, rows)
        for row in rows:
            if row.reason:
                self.reasons[row.reason.partition(":")[0]] += 1
            else:
                self.n_read += 1
