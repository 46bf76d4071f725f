from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judges.client import Budget
from pipeline.plan import Plan, PlanError, PlanRow, read_plan, run_plan
from store import Store
from tests.judges.faults import FaultServer, error
from tests.pipeline.conftest import HashEmbedder
from tests.pipeline.scripted import only_role, roles, serving

QUESTIONS = [
    {"id": "q1", "question": "Is ice cold?", "gold": "yes"},
    {"id": "q2", "question": "Is rain wet?", "gold": "yes"},
    {"id": "q3", "question": "Is tar black?", "gold": "yes"},
]
STAGES = """
[[stages]]
stage = "generate"
n = 2
temperature = 0.5

[[stages]]
stage = "decompose"
name = "facts"

[[stages]]
stage = "score"
embedder = "hash"

[[stages]]
stage = "score"
embedder = "hash"
decomposition = "facts"

[[stages]]
stage = "early-answer"
decomposition = "facts"

[[stages]]
stage = "judge"
items = "all"
repeats = 2
"""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


def plan_file(folder: Path, url: str, stages: str = STAGES, more: str = "", top: str = "") -> Path:
    (folder / "own.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    path = folder / "plan.toml"
    path.write_text(
        f"""{top}
[models.small]
base_url = "{url}"
structured = "schema"
{more}
[datasets.own]
files = "own.jsonl"
limit = 2
{stages}"""
    )
    return path


def plan_of(folder: Path, server: FaultServer, *args: Any, **more: Any) -> Plan:
    return read_plan(plan_file(folder, server.url, *args, **more))


def counted(store: Store) -> tuple[int, ...]:
    return (
        sum(store.question_counts().values()),
        sum(len(store.pool_traces(p.id)) for p in store.pools()),
        len(list(store.export_labels())),
        store.n_replies(),
    )


def test_a_plan_runs_wholly_and_a_second_run_asks_nothing(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    plan = plan_of(tmp_path, server)
    told: list[PlanRow] = []
    done = run_plan(store, plan, on_row=told.append)
    assert done.complete
    assert told == list(done.rows)
    assert [(r.stage, r.model, r.dataset) for r in done.rows] == [
        ("generate", "small", "own"),
        ("decompose", "small", "own"),
        ("score", None, None),
        ("score", None, None),
        ("early-answer", "small", "own"),
        ("judge", "small", "own"),
    ]
    # Two questions of three, two samples each; six facts a trace; two verdicts a path.
    requests = [r.asking.n_requests for r in done.rows if r.asking is not None]
    assert requests == [4, 4, 24, 8]
    assert counted(store)[:3] == (3, 4, 4)
    assert [s.decomposition for s in store.scorings()] == ["none", "facts"]
    n, state = len(server.seen), counted(store)
    again = run_plan(store, plan)
    assert (len(server.seen), counted(store)) == (n, state)
    assert [r.asking.n_requests for r in again.rows if r.asking is not None] == [0] * 4
    assert again.complete


def test_a_run_that_broke_goes_on_where_it_was(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    with serving(only_role("decomposer", lambda _: error(401, "no"))) as server:
        plan = plan_of(tmp_path, server)
        done = run_plan(store, plan)
        assert not done.complete
        assert done.stopped is not None
        assert [r.why_not is None for r in done.rows] == [True, True] + [False] * 4
        assert set(roles(server)) == {"generator", "decomposer"}
    with serving() as server:
        whole = run_plan(store, read_plan(plan_file(tmp_path, server.url)))
        assert whole.complete
        assert "generator" not in roles(server)


def test_the_budget_is_for_the_whole_run(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    stages = "".join(
        f'[[stages]]\nstage = "{s}"\nmax_tokens = 10\n' + ("n = 1\n" if s == "generate" else "")
        for s in ("generate", "decompose", "judge")
    )
    used = only_role("none", lambda _: None)
    with serving(lambda seen: replace(used(seen), body=costly(used(seen).body))) as server:
        bound = "[budget]\nmax_tokens = 1700\n"
        done = run_plan(store, plan_of(tmp_path, server, stages, more=bound))
        # Two traces use 1,000; one decomposition more fits, a second one might not.
        first, second, third = done.rows
        assert first.asking is not None
        assert second.asking is not None
        assert (first.asking.n_left, second.asking.n_replied, second.asking.n_left) == (0, 1, 1)
        assert done.stopped is not None
        assert "budget" in done.stopped
        assert third.why_not == "not run: an earlier stage was stopped"
        less = run_plan(store, plan_of(tmp_path, server, stages), budget=Budget(max_tokens=1))
        assert less.stopped is not None


def costly(body: bytes) -> bytes:
    """Make a completion say that it used 500 tokens."""
    return json.dumps(
        {**json.loads(body), "usage": {"prompt_tokens": 400, "completion_tokens": 100}}
    ).encode()


def test_a_dry_run_asks_and_writes_nothing(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    plan = plan_of(tmp_path, server)
    dry = run_plan(store, plan, dry_run=True)
    assert (counted(store), server.seen, store.runs()) == ((0, 0, 0, 0), [], ())
    first = dry.rows[0].asking
    assert first is not None
    assert first.estimate is not None
    assert first.estimate.n_to_ask == 4
    assert dry.rows[1].why_not is not None
    assert "medoid generate" in dry.rows[1].why_not
    run_plan(store, plan)
    n = len(server.seen)
    known = run_plan(store, plan, dry_run=True)
    left = [r.asking.estimate for r in known.rows if r.asking is not None]
    assert [e.n_to_ask for e in left if e is not None] == [0, 0, 0, 0]
    assert len(server.seen) == n


def test_several_models_and_datasets(
    store: Store, tmp_path: Path, server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    more = f"""
[models.big]
base_url = "{server.url}"
model = "big"
structured = "text"
[datasets.more]
files = ["more.jsonl"]
"""
    (tmp_path / "more.jsonl").write_text('{"id": 1, "question": "Is it?", "gold": "no"}\n')
    stages = '[[stages]]\nstage = "generate"\nmodels = ["small", "big"]\nn = 1\n'
    done = run_plan(store, plan_of(tmp_path, server, stages, more=more))
    assert [(r.model, r.dataset) for r in done.rows] == [
        ("small", "more"),
        ("small", "own"),
        ("big", "more"),
        ("big", "own"),
    ]
    assert {(p.pool, p.dataset) for p in store.pools()} == {
        ("small", "own"),
        ("small", "more"),
        ("big", "own"),
        ("big", "more"),
    }


RELATIONS = """
[models.small]
base_url = "URL"
structured = "schema"
[sets.kinship]
shipped = true
[sets.births]
file = "births.csv"
about = "the year of birth"
[[stages]]
stage = "relations"
sets = "births"
[[stages]]
stage = "relations"
sets = ["births"]
probe = true
[[stages]]
stage = "relations"
name = "bare"
reasoned = false
"""


def relation_plan(folder: Path, url: str, text: str = RELATIONS) -> Path:
    (folder / "births.csv").write_text("name,year\nAnn,1901\nBea,1902\nCid,1903\n")
    path = folder / "relations.toml"
    path.write_text(text.replace("URL", url))
    return path


def test_a_plan_may_be_about_relations_alone(
    store: Store, tmp_path: Path, server: FaultServer
) -> None:
    plan = read_plan(relation_plan(tmp_path, server.url))
    dry = run_plan(store, plan, dry_run=True)
    assert [r.asking.estimate.n_to_ask for r in dry.rows if r.asking and r.asking.estimate] == [
        *(6, 3, 110, 6)
    ]
    assert store.relation_sets() == ()
    done = run_plan(store, plan)
    assert done.complete
    assert [(r.stage, r.dataset, r.result.n_read) for r in done.rows] == [
        ("relations", "births", 6),
        ("relations", "births", 3),
        ("relations", "kinship", 110),
        ("relations", "births", 6),
    ]
    assert {(a.set, a.asks, a.name) for a in store.relation_askings()} == {
        ("births", "pairs", "small"),
        ("births", "objects", "small"),
        ("births", "pairs", "bare"),
        ("kinship", "pairs", "bare"),
    }
    again = run_plan(store, plan)
    assert [r.asking.n_requests for r in again.rows if r.asking] == [0] * 4


def test_faults_of_relation_sets_are_told(
    store: Store, tmp_path: Path, server: FaultServer
) -> None:
    text = RELATIONS + "[sets.x]\nfile = 'births.csv'\nshipped = true\ntells = 'all'\n"
    with pytest.raises(PlanError) as caught:
        read_plan(
            relation_plan(tmp_path, server.url, text.replace('sets = "births"', 'sets = "y"'))
        )
    told = "\n".join(caught.value.problems)
    assert "[sets.x] tells: 'all'; nothing or values or center or chain is right" in told
    assert "[sets.x]: a file and shipped; one of the two is right" in told
    assert (
        "[[stages]] 1 (relations) sets: 'y' is not in the plan; there are: kinship, births" in told
    )
    path = relation_plan(tmp_path, server.url, RELATIONS + "[sets.gone]\n")
    with pytest.raises(PlanError, match=r"\[sets.gone\]: not in the database"):
        run_plan(store, read_plan(path))


def test_every_fault_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        """
extra = 1
[models.small]
base_url = "ftp://x"
[datasets.own]
files = "none.jsonl"
mapping = "odd"
limit = 0
[[stages]]
stage = "generate"
models = "other"
n = "many"
colour = 1
[[stages]]
stage = "dance"
[[stages]]
stage = "score"
models = "small"
beta = 7
[[stages]]
stage = "judge"
items = "labelled"
datasets = ["own", "their"]
"""
    )
    with pytest.raises(PlanError) as caught:
        read_plan(path)
    problems = caught.value.problems
    assert all(p.startswith(f"{path}: ") for p in problems)
    for told in (
        "'extra' is unknown; models, datasets, sets, stages, budget are right",
        "[models.small]: base_url is 'ftp://x'; it must start with http",
        f"[datasets.own] files: {tmp_path / 'none.jsonl'}: no such file",
        "[datasets.own] mapping: 'odd'; native or gsm8k",
        "[datasets.own] limit: 0; a whole number from 1 is right",
        "[[stages]] 1 (generate) models: 'other' is not in the plan; there are: small",
        "[[stages]] 1 (generate) n: 'many'; a whole number from 1 is right",
        "[[stages]] 1 (generate): 'colour' is unknown; n, length,",
        "[[stages]] 2 stage: 'dance'; one of generate, decompose,",
        "[[stages]] 3 (score): models: score asks no model; leave it out",
        "[[stages]] 3 (score) beta: 7; a number from 0 to 1 is right",
        '[[stages]] 4 (judge): items = "labelled" goes with labelled_by',
        "[[stages]] 4 (judge) datasets: 'their' is not in the plan; there are: own",
    ):
        assert sum(told in p for p in problems) == 1, told
    assert len(problems) == 13


def test_toml_faults_have_a_line(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("[datasets.own]\nlimit =\n")
    with pytest.raises(PlanError, match=r"plan.toml: not TOML: .*line 2"):
        read_plan(path)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ('[[stages]]\nstage = "score"\ndecomposition = "x"\n', "'x' is neither in the database"),
        (
            '[[stages]]\nstage = "judge"\nitems = "labelled"\nlabelled_by = "eve"\n',
            "no rater 'eve'",
        ),
    ],
)
def test_what_the_database_lacks_is_told_before_anything_is_asked(
    store: Store, tmp_path: Path, server: FaultServer, stages: str, message: str
) -> None:
    generate = '[[stages]]\nstage = "generate"\n'
    with pytest.raises(PlanError, match=message):
        run_plan(store, plan_of(tmp_path, server, generate + stages))
    assert (server.seen, store.question_counts()) == ([], {})


def test_a_missing_key_and_dataset_are_told(
    store: Store, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    plan = plan_of(tmp_path, server, more='key_env = "NO_SUCH_KEY"\n[datasets.gone]\n')
    with pytest.raises(PlanError) as caught:
        run_plan(store, plan)
    assert len(caught.value.problems) == 2
    assert "[datasets.gone]: not in the database" in caught.value.problems[0]
    assert "the variable NO_SUCH_KEY is not set" in caught.value.problems[1]


def test_a_file_of_models_beside_the_plan(tmp_path: Path, server: FaultServer) -> None:
    (tmp_path / "m.toml").write_text(f'[models.a]\nbase_url = "{server.url}"\n')
    (tmp_path / "own.jsonl").write_text('{"question": "Is it?"}\n')
    path = tmp_path / "plan.toml"
    path.write_text(
        'models = "m.toml"\n[datasets.own]\nfiles = "own.jsonl"\n[[stages]]\nstage = "generate"\n'
    )
    plan = read_plan(path)
    assert [(s.stage, s.model, s.datasets) for s in plan.stages] == [("generate", "a", ("own",))]


def test_rejected_lines_make_a_run_incomplete(
    store: Store, tmp_path: Path, server: FaultServer
) -> None:
    plan = plan_of(tmp_path, server, '[[stages]]\nstage = "generate"\nn = 1\n')
    with (tmp_path / "own.jsonl").open("a") as file:
        file.write('{"question": 3}\n')
    done = run_plan(store, plan)
    assert (done.complete, len(done.questions["own"].rejected)) == (False, 1)
