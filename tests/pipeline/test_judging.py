from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.requests import Sampling
from pipeline.generating import generate
from pipeline.importing import import_files
from pipeline.judging import judge, self_agreement
from pipeline.sampling import make_items
from pipeline.scoring import score
from store import Store, StoreError
from store.records import NewLabel
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder, write_lines
from tests.pipeline.scripted import add_questions, endpoint, only_role, roles, serving
from tests.pipeline.test_scoring import disagreeing_pool


def verdict(word: str, step: int | None = None) -> Answer:
    said = {"rationale": "Because.", "first_wrong_step": step, "verdict": word}
    return ok(json.dumps(said))


def first_offered(seen: Seen) -> str:
    """Return the word that the reply's schema offers first."""
    schema = seen.body["response_format"]["json_schema"]["schema"]
    return str(schema["properties"]["verdict"]["enum"][0])


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _cases(store: Store, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    import_files(store, [write_lines(tmp_path / "t.jsonl", disagreeing_pool())])
    score(store, embedder="hash")
    make_items(store)


def labels(store: Store, rater: str = "small") -> dict[str, tuple[object, ...]]:
    exported = store.export_labels(rater=rater)
    return {
        x.label.item.rpartition("/")[2]: (x.label.state, x.label.category, x.label.first_wrong_step)
        for x in exported
    }


def test_the_paths_of_the_queue_are_judged(store: Store, server: FaultServer) -> None:
    done = judge(store, endpoint(server))
    # Five traces, four of them paths of the one case.
    assert (done.n_items, done.n_complete, done.verdicts) == (4, 4, {"faithful": 4})
    assert set(roles(server)) == {"path_judge"}
    assert len(labels(store)) == 4
    assert set(labels(store).values()) == {("labelled", "faithful", None)}
    settled = done.settled
    assert settled is not None
    assert (settled.n_added, settled.n_changed, settled.n_known) == (4, 0, 0)
    (exported, *_) = store.export_labels(rater="small")
    assert (exported.label.rater_kind, exported.label.rationale) == ("judge", "It holds.")
    assert exported.label.prompt_version == "path_judge-schema/2"
    assert exported.label.raw is not None
    assert json.loads(exported.label.raw)["verdict"] == "faithful"


def test_all_traces_and_those_that_a_rater_labelled(store: Store, server: FaultServer) -> None:
    key = "path:toy/q1/m@1/1"
    with store.importing() as batch:
        batch.add_label(NewLabel(key, "path", "ana", "human", "labelled", "spurious"))
    assert judge(store, endpoint(server), items="labelled", labelled_by="ana").n_items == 1
    assert set(labels(store)) == {"1"}
    assert judge(store, endpoint(server), items="all").n_items == 5
    assert set(labels(store)) == {"0", "1", "2", "3", "4"}


def test_a_second_run_asks_and_writes_nothing(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), repeats=2)
    n, runs = len(server.seen), len(store.runs())
    rows = len(list(store.export_labels(history=True)))
    store.close()
    assert store.file is not None
    content = store.file.read_bytes()
    again = judge(store, endpoint(server), repeats=2)
    store.close()
    assert store.file.read_bytes() == content
    assert (len(server.seen), len(store.runs())) == (n, runs)
    assert len(list(store.export_labels(history=True))) == rows
    assert (again.asking.n_requests, again.asking.n_known) == (0, 8)
    assert (again.n_complete, again.verdicts) == (4, {"faithful": 8})


def test_the_majority_of_the_repeats_is_the_label(store: Store) -> None:
    """Sample 3 hears spurious twice of three; the others always hear faithful."""
    lock = threading.Lock()
    said = ["spurious", "faithful", "spurious"]

    def script(seen: Seen) -> Answer:
        if "Bulldogs are dogs" not in seen.prompt:
            return verdict("faithful")
        with lock:
            word = said.pop(0) if said else "faithful"
        return verdict(word, 1 if word == "spurious" else None)

    with serving(only_role("path_judge", script)) as server:
        alone = judge(
            store, endpoint(server, concurrency=1), pool="m@1", repeats=3, sampling=Sampling()
        )
    found = labels(store)
    wrong = [s for s, label in found.items() if label[1] == "spurious"]
    assert len(wrong) == 1
    assert wrong[0] in ("3", "4")
    assert found[wrong[0]] == ("labelled", "spurious", 1)
    assert alone.verdicts == {"faithful": 10, "spurious": 2}
    agreement = alone.agreement
    assert agreement is not None
    assert (agreement.n_items, agreement.n_pairs) == (4, 12)
    assert agreement.share == pytest.approx((3 + 2 / 3) / 4)
    assert agreement.pairwise == pytest.approx(10 / 12)


def test_a_judge_that_takes_the_first_word_is_tied_with_itself(store: Store) -> None:
    with serving(only_role("path_judge", lambda s: verdict(first_offered(s), None))) as server:
        done = judge(store, endpoint(server), repeats=2)
    assert done.verdicts == {"faithful": 4, "spurious": 4}
    assert set(labels(store).values()) == {("unsure", None, None)}
    assert done.settled is not None
    assert done.settled.n_tied == 4
    assert done.agreement is not None
    assert done.agreement.pairwise == 0.0
    assert done.flags == {"spurious_without_step": 4}


def test_more_repeats_later_use_all_votes(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server))
    with serving(only_role("path_judge", lambda _: verdict("spurious", 0))) as other:
        more = judge(store, endpoint(other), repeats=3)
    assert (more.asking.n_requests, more.asking.n_known) == (8, 4)
    assert set(labels(store).values()) == {("labelled", "spurious", 0)}
    # Asking for fewer again changes nothing: every vote there is counts.
    fewer = judge(store, endpoint(server), repeats=1)
    assert fewer.settled is not None
    assert (fewer.settled.n_known, fewer.settled.n_changed) == (4, 0)


def test_replies_without_a_verdict_are_labels_without_a_category(store: Store) -> None:
    with serving(only_role("path_judge", lambda _: ok(None, refusal="no"))) as server:
        done = judge(store, endpoint(server))
    assert (done.asking.outcomes, done.verdicts) == ({"refused": 4}, {"unparsed": 4})
    assert set(labels(store).values()) == {("unparsed", None, None)}


def test_a_label_waits_for_all_its_repeats(store: Store) -> None:
    failures = [error(400, "no")]

    def script(_: Seen) -> Answer:
        return failures.pop() if failures else verdict("faithful")

    with serving(only_role("path_judge", script)) as server:
        first = judge(store, endpoint(server, concurrency=1), repeats=2)
        assert (first.asking.n_left, first.n_complete, len(labels(store))) == (1, 3, 3)
        again = judge(store, endpoint(server), repeats=2)
        assert (again.asking.n_requests, again.n_complete, len(labels(store))) == (1, 4, 4)


def test_votes_without_their_labels_are_settled_by_the_next_run(
    store: Store, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the last verdict and the labels costs nothing."""

    def killed(*_: object, **__: object) -> None:
        raise StoreError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "settle_votes", killed)
        with pytest.raises(StoreError, match="killed"):
            judge(store, endpoint(server), repeats=2)
    assert labels(store) == {}
    n = len(server.seen)
    done = judge(store, endpoint(server), repeats=2)
    assert (len(server.seen), done.asking.n_requests, len(labels(store))) == (n, 0, 4)


@pytest.mark.parametrize("change", [{"model": "other"}, {"seed": 7}, {"temperature": 1.0}])
def test_a_judge_is_asked_in_one_way(
    store: Store, server: FaultServer, change: dict[str, object]
) -> None:
    judge(store, endpoint(server), repeats=2)
    given: dict[str, object] = dict(change)
    asked = endpoint(server, model=given.pop("model", "m"))
    temperature = given.pop("temperature", None)
    if temperature is not None:
        given["sampling"] = Sampling(temperature=1.0)
    with pytest.raises(ValueError, match="--rater NAME"):
        judge(store, asked, repeats=2, **given)  # type: ignore[arg-type]
    judge(store, asked, repeats=2, rater="second", **given)  # type: ignore[arg-type]
    assert len(labels(store, "second")) == 4


def test_another_judge_of_the_same_kind_is_asked_anew(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server))
    n = len(server.seen)
    done = judge(store, endpoint(server), rater="twin")
    assert (len(server.seen) - n, done.asking.n_cached) == (n, 0)


def test_a_person_is_no_judge(store: Store, server: FaultServer) -> None:
    store.rater("ana")
    with pytest.raises(ValueError, match="'ana' is a human, not a judge"):
        judge(store, endpoint(server), rater="ana")
    assert server.seen == []


def test_a_dry_run_makes_no_rater(store: Store, server: FaultServer) -> None:
    done = judge(store, endpoint(server), items="all", repeats=2, dry_run=True)
    e = done.asking.estimate
    assert e is not None
    assert (e.n_requests, done.n_items) == (10, 5)
    assert (store.raters(), server.seen) == ((), [])


def test_the_judge_never_sees_gold_votes_or_scores(store: Store, server: FaultServer) -> None:
    judge(store, endpoint(server), items="all")
    for seen in server.seen:
        said = json.dumps(seen.body["messages"][-1])
        assert not {"gold", "medoid", "majority", "support", "q1", "m@1"} & set(said.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": 0}, "repeats is 0"),
        ({"schema": "pair"}, "no stated pairs to judge: medoid relations review --pairs"),
        ({"schema": "odd"}, "odd"),
        ({"items": "labelled"}, "needs that rater's name"),
        ({"labelled_by": "ana"}, "only that"),
        ({"items": "labelled", "labelled_by": "eve"}, "no rater 'eve'"),
        ({"pool": "x"}, "no pool 'x'"),
    ],
)
def test_mistakes_are_told(
    store: Store, server: FaultServer, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        judge(store, endpoint(server), **options)  # type: ignore[arg-type]


def test_nothing_in_the_queue_is_told(store: Store, server: FaultServer, tmp_path: Path) -> None:
    add_questions(store, tmp_path, dataset="more")
    generate(store, endpoint(server), dataset="more", n=1)
    with pytest.raises(ValueError, match="--all judges every trace"):
        judge(store, endpoint(server), dataset="more")


def test_self_agreement_is_over_readable_verdicts() -> None:
    found = self_agreement([[None, None], ["a"], []])
    assert (found.n_items, found.n_pairs, found.share, found.pairwise) == (0, 0, None, None)
