"""Counterfactual editing, ablation and every schema as stages of a plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.client import Estimate
from pipeline import judged
from pipeline.asking import AskSummary
from pipeline.budgets import together
from pipeline.judged import ListedSource
from pipeline.plan import Plan, PlanError, check_plan, read_plan, run_plan
from pipeline.plan_stages import Ablated
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder
from tests.pipeline.scripted import (
    add_questions,
    answer_of,
    model,
    only_role,
    role_of,
    roles,
    serving,
)

N = 20
ODD = [i for i in range(3, N + 1) if i % 2]
HEAD = """
[models.small]
base_url = "URL"
structured = "schema"
[datasets.toy]
"""
STAGES = """
[[stages]]
stage = "generate"
n = 2
[[stages]]
stage = "score"
embedder = "hash"
[[stages]]
stage = "ablate"
n = 2
[[stages]]
stage = "counterfactual"
[[stages]]
stage = "judge"
schema = "counterfactual"
items = "all"
[[stages]]
stage = "decompose"
name = "facts"
"""


def wrong(seen: Seen) -> str:
    return "no" if "yes or no" in seen.prompt else "77"


def interventions(seen: Seen) -> Answer:
    """Reason alike, but for odd sums when forbidden to; give the answer once all is said.

    The answer to edited reasoning changes where its first step was edited.
    """
    role = role_of(seen.body)
    if role == "ablator" and any(f"What is {i} + {i}?" in seen.prompt for i in ODD):
        return ok(json.loads(model(seen).body)["choices"][0]["message"]["content"].replace(
            f'"answer": "{answer_of(seen)}"', '"answer": "1"'
        ))  # fmt: skip
    right = answer_of(seen)
    if role == "early_answerer" and "So it is." not in seen.prompt:
        right = wrong(seen)
    if role == "counterfactual_answerer" and "Not Fact" in seen.prompt:
        right = wrong(seen)
    if role in ("early_answerer", "counterfactual_answerer"):
        return ok(json.dumps({"answer": right}))
    return model(seen)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(interventions) as running:
        yield running


def plan_of(folder: Path, server: FaultServer, stages: str = STAGES, more: str = "") -> Plan:
    path = folder / "plan.toml"
    path.write_text(HEAD.replace("URL", server.url) + more + stages)
    return read_plan(path)


def test_a_plan_edits_ablates_and_judges_edits(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    add_questions(store, tmp_path, N)
    plan = plan_of(tmp_path, server)
    done = run_plan(store, plan)
    assert done.complete
    counts = {r.stage: r.asking.n_requests for r in done.rows if r.asking is not None}
    # Three facts a trace, two of them before the conclusion; one medoid a question.
    assert counts == {
        "generate": 2 * N,
        "ablate": 2 * N + 3 * (2 * N + N),
        "counterfactual": 2 * N + (N + 2 * N),
        "judge": 2 * N,
        "decompose": 2 * N,  # of the plan's own pools, not of the ablated ones
    }
    (f,) = done.figures
    assert (f.n_traces, f.n_scored, f.n_judged) == (2 * N, N, 2 * N)
    assert f.early == pytest.approx(2 / 3)
    assert f.counterfactual == pytest.approx(1 / 2)
    assert f.delta_a == pytest.approx(-len(ODD) / N)
    assert f.delta_f == pytest.approx(len(ODD) * (1 - 2 / 3) / N)
    assert {p.pool for p in store.pools()} == {"small", "small@ablate"}
    assert [e.name for e in store.editings()] == ["small"]
    labels = [x.label for x in store.export_labels(rater="small")]
    assert {x.schema for x in labels} == {"counterfactual"}
    assert labels[0].item.startswith("counterfactual:toy/")
    assert labels[0].item.endswith("/small")

    n, replies, runs = len(server.seen), store.n_replies(), len(store.runs())
    again = run_plan(store, plan)
    assert again.complete
    assert [r.asking.n_requests for r in again.rows if r.asking is not None] == [0] * 5
    assert (len(server.seen), store.n_replies(), len(store.runs())) == (n, replies, runs)
    assert again.figures[0].counterfactual == f.counterfactual
    dry = run_plan(store, plan, dry_run=True)
    estimates = [r.asking.estimate for r in dry.rows if r.asking is not None]
    assert [e.n_to_ask for e in estimates if e is not None] == [0] * 5
    assert len(server.seen) == n


def test_a_dry_run_counts_edits_that_are_not_there(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    add_questions(store, tmp_path, 2)
    first = STAGES.partition('[[stages]]\nstage = "ablate"')[0]
    run_plan(store, plan_of(tmp_path, server, first))
    n, runs = len(server.seen), len(store.runs())
    dry = run_plan(store, plan_of(tmp_path, server), dry_run=True)
    left = {r.stage: r.asking.estimate.n_to_ask for r in dry.rows if r.asking and r.asking.estimate}
    assert left["ablate"] == 4  # early answers come on top
    assert left["counterfactual"] == 4 + 6
    told = next(r for r in dry.rows if r.stage == "judge").why_not
    assert told is not None
    assert "no edit to judge" in told
    assert (len(server.seen), len(store.runs())) == (n, runs)


def test_few_questions_tell_no_change_of_accuracy(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    add_questions(store, tmp_path, 3)
    (f,) = run_plan(store, plan_of(tmp_path, server)).figures
    assert f.delta_a is None
    assert f.delta_f == pytest.approx(1 / 9)


def test_alternatives_alone_have_no_faithfulness(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    add_questions(store, tmp_path, 2)
    stages = STAGES.replace('"ablate"\nn = 2', '"ablate"\nn = 1\nearly = false')
    done = run_plan(store, plan_of(tmp_path, server, stages))
    ablated = next(r for r in done.rows if r.stage == "ablate")
    assert isinstance(ablated.result, Ablated)
    assert ablated.result.answered is None
    assert "early_answerer" not in roles(server)
    assert (done.figures[0].early, done.figures[0].delta_f) == (None, None)


def test_another_model_edits(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    add_questions(store, tmp_path, 2)
    more = f'[models.big]\nbase_url = "{server.url}"\nmodel = "big"\nstructured = "schema"\n'
    stages = STAGES.replace('"counterfactual"\n[', '"counterfactual"\neditor = "big"\n[')
    stages = stages.replace('"generate"', '"generate"\nmodels = "small"')
    stages = "".join(
        f'[[stages]]\nmodels = "small"{part}' if "score" not in part else f"[[stages]]{part}"
        for part in stages.replace('\nmodels = "small"', "").split("[[stages]]")[1:]
    )
    assert run_plan(store, plan_of(tmp_path, server, stages, more)).complete
    edits = [s.body["model"] for s in server.seen if role_of(s.body) == "counterfactual_editor"]
    assert (set(edits), len(edits)) == ({"big"}, 4)
    assert [(e.name, e.model) for e in store.editings()] == [("big", "big")]


def test_a_stopped_editor_stops_the_plan_and_the_rest_follows(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    add_questions(store, tmp_path, 2)
    with serving(only_role("counterfactual_editor", lambda _: error(401, "no"))) as server:
        done = run_plan(store, plan_of(tmp_path, server))
        row = next(r for r in done.rows if r.stage == "counterfactual")
        assert row.asking is not None
        assert (row.asking.n_replied, done.complete) == (0, False)
        assert done.rows[-1].why_not == "not run: an earlier stage was stopped"
    with serving(interventions) as server:
        assert run_plan(store, plan_of(tmp_path, server)).complete
        assert {"generator", "ablator"}.isdisjoint(roles(server))


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ('stage = "counterfactual"', "1 (counterfactual): medoids are of a scoring; a score stage"),
        ('stage = "ablate"', "1 (ablate): medoids are of a scoring"),
        ('stage = "early-answer"\ntraces = "medoids"', "1 (early-answer): medoids are of"),
        (
            'stage = "judge"\nschema = "counterfactual"\nitems = "all"',
            "1 (judge): there are no edits to judge; a counterfactual stage before it is right",
        ),
        (
            'stage = "counterfactual"\ntraces = "all"\n[[stages]]\nstage = "judge"\n'
            'schema = "counterfactual"',
            '2 (judge) items: no edits are drawn for people; items = "all" is right',
        ),
        (
            'stage = "judge"\nschema = "step"\nitems = "sample"',
            "1 (judge) items: no sample is drawn of step items; cases, all or labelled is right",
        ),
        ('stage = "judge"\nschema = "odd"', "1 (judge) schema: no schema 'odd'"),
    ],
)
def test_what_a_stage_needs_is_told_before_anything_is_asked(
    store: Store, tmp_path: Path, server: FaultServer, stages: str, message: str
) -> None:
    add_questions(store, tmp_path)
    with pytest.raises(PlanError) as caught:
        run_plan(store, plan_of(tmp_path, server, f"[[stages]]\n{stages}\n"))
    (problem,) = caught.value.problems
    assert message in problem
    assert server.seen == []


def test_an_editor_is_a_model_of_the_plan_and_has_its_key(
    store: Store, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    add_questions(store, tmp_path)
    stage = (
        '[[stages]]\nstage = "counterfactual"\nmodels = "small"\ntraces = "all"\neditor = "big"\n'
    )
    with pytest.raises(PlanError, match="editor: 'big' is not in the plan; there are: small"):
        plan_of(tmp_path, server, stage)
    more = f'[models.big]\nbase_url = "{server.url}"\nkey_env = "NO_SUCH_KEY"\n'
    with pytest.raises(PlanError, match=r"\[models.big\] key_env: the variable NO_SUCH_KEY is not"):
        run_plan(store, plan_of(tmp_path, server, stage, more))


def test_items_of_no_dataset_are_judged_once_without_a_limit(
    store: Store, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that belongs to no question: the stage has no dataset, and its limit says nothing."""
    add_questions(store, tmp_path)
    seen: list[object] = []

    def keys(_: Store) -> tuple[str, ...]:
        seen.append(1)
        return ()

    source = ListedSource("pairs", keys, lambda _s, _k: {}, "a command makes them")
    monkeypatch.setitem(judged._SOURCES, "pair_judge", source)
    stages = '[[stages]]\nstage = "judge"\nschema = "pair"\n'
    plan = plan_of(tmp_path, server, stages, "limit = 1\n")
    with pytest.raises(ValueError, match="no pairs to judge: a command makes them"):
        run_plan(store, plan)
    dry = run_plan(store, plan, dry_run=True)
    assert [(r.stage, r.dataset) for r in dry.rows] == [("judge", None)]
    assert seen


def test_several_askings_are_summed() -> None:
    one = AskSummary(
        "edit", 5, 1, 2, 3, {"ok": 4, "failed": 1}, {"no": 1}, 2, 10, 20, 1, 0.5, "USD", 3.0
    )
    two = AskSummary(
        "answer", 7, outcomes={"ok": 6, "unasked": 1}, prompt_tokens=1, cost=0.25,
        currency="USD", seconds=1.0, stopped="budget",
    )  # fmt: skip
    both = together("counterfactual", [one, two])
    assert (both.stage, both.n_requests, both.n_known, both.n_asked) == ("counterfactual", 12, 1, 3)
    assert both.outcomes == {"ok": 10, "failed": 1, "unasked": 1}
    assert (both.prompt_tokens, both.completion_tokens, both.seconds) == (11, 20, 4.0)
    assert (both.cost, both.currency, both.stopped, both.n_left) == (0.75, "USD", "budget", 2)
    assert both.estimate is None
    other = together("x", [one, AskSummary("answer", cost=1.0, currency="EUR")])
    assert (other.cost, other.currency) == (None, None)
    known, open_ = Estimate(3, 1, 2, 30, 60, 0.1), Estimate(4, 0, 4, 40, None, None)
    dry = together("x", [AskSummary("a", estimate=known), AskSummary("b", estimate=open_)])
    assert dry.estimate == Estimate(7, 1, 6, 70, None, None)


def test_the_plans_of_the_docs_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store, server: FaultServer
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    docs = Path(__file__).parents[2] / "docs"
    study = (docs / "study.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    for text in ((docs / "plan.toml").read_text("utf-8"), study):
        (tmp_path / "plan.toml").write_text(text, "utf-8")
        row = {"question": "Is it?", "answer": "#### 7"}
        for name in ("own.jsonl", "gsm8k_test.jsonl"):
            (tmp_path / name).write_text(json.dumps(row) + "\n", "utf-8")
        plan = read_plan(tmp_path / "plan.toml")
        assert {"counterfactual", "ablate", "judge"} <= {s.stage for s in plan.stages}
        check_plan(store, plan)
