"""Validating a judge against people: the evidence, and what it may be used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pipeline.agreement import default_pairs
from pipeline.laying import Laid, Truth, inclusions, lay, never_sampled, truth_of
from pipeline.sealing import known_rater
from pipeline.version import TOOL_VERSION
from scoring.agreement import (
    AltTest,
    Drift,
    FirstWrongStep,
    JudgeReport,
    Stability,
    StepLabel,
    VerdictRules,
    alt_test,
    drift,
    first_wrong_step,
    judge_report,
    stability,
)
from store import Store
from store.compare_records import ADJUDICATED, DesignStratum
from store.model_records import VoteRecord
from store.records import JudgeSummary, RaterRecord, SchemaRecord


@dataclass(frozen=True, slots=True)
class JudgeValidation:
    """A judge against the truth of people, with all that was measured and what was not, and why.

    `truth` is a rater's name or ``adjudicated``. `not_measured` says, by name of the part, why it
    is missing. `outcomes` counts the judge's replies by how they ended (its verdicts by whether
    they could be read, where no replies are stored). `compared_with` is the version of the judge
    that `report.drift` starts from. `weighted` says whether the rates count items by inverse
    inclusion probability; `never` are the strata that nothing labelled comes from. `n_held` labels
    of people are left out: still sealed.
    """

    judge: str
    truth: Truth
    schema: str
    positive: str
    prompts: tuple[str, ...]
    report: JudgeReport
    summary: JudgeSummary
    humans: tuple[str, ...]
    n_held: int
    n_judged: int
    n_questions: int
    weighted: bool
    why_unweighted: str | None
    never: tuple[DesignStratum, ...]
    outcomes: Mapping[str, int]
    compared_with: str | None
    not_measured: Mapping[str, str]
    tool_version: str


def validate_judge(
    store: Store,
    judge: str,
    *,
    truth: str | None = None,
    schema: str = "path",
    positive: str | None = None,
    before: str | None = None,
    weights: Any = None,
    rules: VerdictRules | None = None,
    unsealed: bool = False,
    replicates: int = 1000,
) -> JudgeValidation:
    """Hold a judge against people and say what it may be used for.

    `truth` names the rater who counts as right, or ``adjudicated``: then an item's adjudication
    counts, and where there is none what all people who labelled it agree on. Without it, the one
    person or reference who labelled, or ``adjudicated`` where several did. `positive` is the
    category whose rate is meant: by default the one that takes a first wrong step, else the last.
    `before` names an earlier version of the judge (another rater) to compare it with.

    Raises
    ------
    ValueError
        When there is no such rater, category or truth, or the judge is none.
    """
    record = store.schema(schema)
    _need_judge(store, judge)
    if before is not None:
        _need_judge(store, before)
        if before == judge:
            raise ValueError(f"--before names {judge!r} itself: name the earlier version")
    if record.multi:
        raise ValueError(f"schema {schema} lets several categories hold; a judge report needs one")
    wanted = _positive(record, positive)
    people = _people(store, schema)
    name = _truth_name(people, truth, schema)
    others = [p.name for p in people if p.kind == "human"]
    raters = dict.fromkeys([judge, *others, *([] if name == ADJUDICATED else [name])])
    laid = lay(store, schema, list(raters), unsealed=unsealed)
    right = truth_of(store, laid, name)
    verdicts = laid.categories(judge)
    both = [
        h is not None and j is not None for h, j in zip(right.categories, verdicts, strict=True)
    ]
    chances = inclusions(laid, both)
    n_outside = sum(p is None for p, here in zip(chances, both, strict=True) if here)
    weighted = any(both) and not n_outside
    votes = _votes(store, judge, schema)
    outcomes = _outcomes(votes, laid, judge)
    missing: dict[str, str] = {}
    parts = _Parts(store, laid, record, missing)
    report = judge_report(
        right.categories,
        verdicts,
        categories=record.names,
        positive=wanted,
        weights=weights,
        clusters=laid.questions,
        inclusion=chances if weighted else None,
        strata=[p.stratum or () for p in laid.places] if weighted else None,
        parse_failures=_failures(outcomes),
        stability=parts.stability(votes),
        drift=parts.drift(judge, votes, before),
        steps=parts.steps(right, judge),
        alt_test=parts.alt_test(judge, others),
        rules=rules,
        replicates=replicates,
    )
    return JudgeValidation(
        judge=judge,
        truth=right,
        schema=schema,
        positive=wanted,
        prompts=tuple(votes)
        or tuple(p or "unknown" for p in store.label_prompts(_id(store, judge), schema=schema)),
        report=report,
        summary=store.judge_summary(judge, schema),
        humans=tuple(others),
        n_held=laid.n_held_items,
        n_judged=sum(v is not None for v in verdicts),
        n_questions=len({q for q, n in zip(laid.questions, both, strict=True) if n}),
        weighted=weighted,
        why_unweighted=f"{n_outside} labelled items were not drawn for the queue"
        if n_outside
        else None,
        never=never_sampled(store, _only(laid, both)) if weighted else (),
        outcomes=outcomes,
        compared_with=parts.compared_with,
        not_measured=missing,
        tool_version=TOOL_VERSION,
    )


def judges_to_validate(store: Store, schema: str = "path") -> tuple[str, ...]:
    """Return the judges that labels of people or references can be held against."""
    kinds = {r.name: r.kind for r in store.raters(schema)}
    pairs = default_pairs(store, schema)
    return tuple(dict.fromkeys(b for a, b in pairs if (kinds[a], kinds[b])[1] == "judge"))


def verdict_rules(given: Sequence[str]) -> VerdictRules:
    """Read thresholds stated as NAME=VALUE over the default ones.

    Raises
    ------
    ValueError
        Naming the thresholds that there are.
    """
    kinds = {f.name: f.type for f in fields(VerdictRules)}
    rules = VerdictRules()
    for text in given:
        name, _, value = text.partition("=")
        if name not in kinds:
            raise ValueError(f"there is no rule {name!r}; there are: {', '.join(kinds)}")
        try:
            number: Any = int(value) if name == "min_per_class" else float(value)
        except ValueError as error:
            raise ValueError(f"--rule is {text!r}; {name}=NUMBER is right") from error
        rules = replace(rules, **{name: number})
    return rules


def _id(store: Store, name: str) -> int:
    return known_rater(store, name).id


def _need_judge(store: Store, name: str) -> None:
    rater = known_rater(store, name)
    if rater.kind != "judge":
        raise ValueError(f"rater {name!r} is a {rater.kind}, not a judge")


def _people(store: Store, schema: str) -> list[RaterRecord]:
    return [
        r
        for r in store.raters(schema)
        if r.kind != "judge" and r.n_labelled and r.name != ADJUDICATED
    ]


def _truth_name(people: Sequence[RaterRecord], given: str | None, schema: str) -> str:
    """Return who counts as right."""
    names = [p.name for p in people]
    if given == ADJUDICATED:
        if not any(p.kind == "human" for p in people):
            raise ValueError(
                f"nobody has labelled under schema {schema}: there is no truth to take"
            )
        return ADJUDICATED
    if given is not None:
        if given not in names:
            told = ", ".join([*names, ADJUDICATED]) if names else "none yet: label some items"
            raise ValueError(
                f"no labels of {given!r} under schema {schema}; the truth may be: {told}"
            )
        return given
    if not names:
        raise ValueError(f"nobody has labelled under schema {schema}: label some items")
    humans = [p.name for p in people if p.kind == "human"]
    if len(humans) > 1:
        return ADJUDICATED
    return (humans or names)[0]


def _positive(schema: SchemaRecord, given: str | None) -> str:
    names = schema.names
    if given is not None:
        if given not in names:
            raise ValueError(f"--positive is {given!r}; one of {', '.join(names)} is right")
        return given
    wrong = [c.name for c in schema.categories if c.name in names and c.takes_first_wrong_step]
    return wrong[0] if len(wrong) == 1 else names[-1]


def _only(laid: Laid, counted: Sequence[bool]) -> Laid:
    places = tuple(p for p, here in zip(laid.places, counted, strict=True) if here)
    return replace(laid, places=places)


def _votes(store: Store, judge: str, schema: str) -> dict[str, dict[int, tuple[VoteRecord, ...]]]:
    ident = _id(store, judge)
    return {
        prompt: store.votes(ident, prompt, schema=schema)
        for prompt in store.prompt_versions(ident, schema=schema)
    }


def _outcomes(
    votes: Mapping[str, Mapping[int, Sequence[VoteRecord]]], laid: Laid, judge: str
) -> dict[str, int]:
    found: dict[str, int] = {}
    for rows in votes.values():
        for vote in (v for group in rows.values() for v in group):
            found[vote.outcome] = found.get(vote.outcome, 0) + 1
    if not found:
        for label in laid.labels[judge]:
            if label is not None and not (label.state == "unsure" and "tied_votes" in label.flags):
                word = "unparsed" if label.state == "unparsed" else "ok"
                found[word] = found.get(word, 0) + 1
    return dict(sorted(found.items()))


def _failures(outcomes: Mapping[str, int]) -> tuple[int, int] | None:
    total = sum(outcomes.values())
    return (total - outcomes.get("ok", 0), total) if total else None


class _Parts:
    """The parts of a report that may be missing; each puts its reason into `missing`."""

    def __init__(
        self, store: Store, laid: Laid, schema: SchemaRecord, missing: dict[str, str]
    ) -> None:
        self._store = store
        self._laid = laid
        self._schema = schema
        self._missing = missing
        self.compared_with: str | None = None

    def stability(
        self, votes: Mapping[str, Mapping[int, Sequence[VoteRecord]]]
    ) -> Stability | None:
        """Return the agreement of repeats under the newest prompt version."""
        if not votes:
            self._missing["stability"] = "no replies are stored: the verdicts were imported"
            return None
        rows = votes[max(votes)]
        if all(len(group) < 2 for group in rows.values()):
            self._missing["stability"] = "each item was asked once: medoid judge -k 3 repeats"
            return None
        question = {p.item_id: p.question for p in self._laid.places}
        return stability(
            [[v.category for v in group] for group in rows.values()],
            clusters=[question.get(item, f"item {item}") for item in rows],
        )

    def drift(
        self,
        judge: str,
        votes: Mapping[str, Mapping[int, Sequence[VoteRecord]]],
        before: str | None,
    ) -> Drift | None:
        """Compare with an earlier version: another rater, else the prompt version before."""
        names = self._schema.names
        if before is not None:
            self.compared_with = before
            old = lay(self._store, self._schema.name, [before, judge])
            return drift(old.categories(before), old.categories(judge), categories=names)
        if len(votes) < 2:
            self._missing["drift"] = "one version only: --before JUDGE names an earlier one"
            return None
        earlier, newest = sorted(votes)[-2:]
        self.compared_with = earlier
        items = sorted({*votes[earlier], *votes[newest]})
        sides = [
            [x.majority for x in _majorities(votes[v], items).items] for v in (earlier, newest)
        ]
        return drift(*sides, categories=names)

    def steps(self, truth: Truth, judge: str) -> FirstWrongStep | None:
        """Return the agreement on where a reasoning first goes wrong."""
        wrong = {
            c.name
            for c in self._schema.categories
            if c.state == "labelled" and c.takes_first_wrong_step
        }
        if not wrong or self._schema.item_kind != "path":
            self._missing["steps"] = f"schema {self._schema.name} asks for no first wrong step"
            return None
        theirs = self._laid.labels[judge]
        return first_wrong_step(
            [_step(c, s, wrong) for c, s in zip(truth.categories, truth.steps, strict=True)],
            [None if x is None else _step(x.category, x.first_wrong_step, wrong) for x in theirs],
        )

    def alt_test(self, judge: str, humans: Sequence[str]) -> AltTest | None:
        """Return the alternative annotator test, where two or more people labelled."""
        if len(humans) < 2:
            n = "one person" if humans else "nobody"
            self._missing["alt_test"] = (
                f"{n} labelled: the test takes two or more, on the same items"
            )
            return None
        return alt_test(
            self._laid.categories(judge),
            [self._laid.categories(h) for h in humans],
            names=list(humans),
        )


def _majorities(rows: Mapping[int, Sequence[VoteRecord]], items: Sequence[int]) -> Stability:
    return stability([[v.category for v in rows.get(i, ())] for i in items])


def _step(category: str | None, step: int | None, wrong: set[str]) -> StepLabel | None:
    if category is None:
        return None
    return StepLabel(False, step) if category in wrong else StepLabel(True)
