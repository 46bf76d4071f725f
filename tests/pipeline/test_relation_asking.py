"""Every ordered pair is asked once, and what a reply does not say is never guessed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from judges.client import Budget
from pipeline.relation_asking import ask_relations, probe_objects
from pipeline.relation_sets import dated_set, family_set, kinship_set, loop_set, point_set
from pipeline.relation_view import asked_set, chosen_askings
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, ok
from tests.pipeline.scripted import endpoint, named, only_role, roles, serving

YEARS = [("Ann", 1901.0, "1901"), ("Bea", 1902.0, "1902"), ("Cid", 1903.0, "1903")]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def sets(store: Store) -> None:
    store.save_relation_set(dated_set("births", YEARS, about="the year of birth"))
    store.save_relation_set(point_set("plane", 4))
    store.save_relation_set(loop_set("loop", 4))
    store.save_relation_set(family_set("family", 7))


def test_every_ordered_pair_is_asked_once(store: Store, server: FaultServer) -> None:
    done = ask_relations(store, endpoint(server), "births")
    assert (done.n_wanted, done.n_read, done.asking.n_requests) == (6, 6, 6)
    assert set(roles(server)) == {"relation_asker"}
    asked = [(named(s, "Subject"), named(s, "Reference")) for s in server.seen]
    assert sorted(asked) == [
        (a, b) for a in ("Ann", "Bea", "Cid") for b in ("Ann", "Bea", "Cid") if a != b
    ]
    assert done.made is not None
    rows = store.relation_answers(done.made.id)
    assert {(r.a, r.b): r.relation for r in rows} == {
        (a, b): "before" if a < b else "after" for a in range(3) for b in range(3) if a != b
    }
    for r in rows:
        assert r.text
        assert json.loads(r.text)["relation"] == r.relation
        assert (r.extra or {})["reasoning"] == "By the alphabet."
        assert (r.extra or {})["first"] in ("before", "after")
        assert r.reply_key is not None
    assert {(r.extra or {})["first"] for r in rows} == {"before", "after"}
    assert done.made.parameters == {
        "sampling": {"temperature": 0.0},
        "reasoned": True,
        "order_seed": 0,
    }
    assert done.made.prompt_version == "relation_asker-schema-time/1"


@pytest.mark.parametrize("name", ["births", "plane", "loop", "family"])
@pytest.mark.parametrize("form", ["schema", "text"])
def test_a_second_run_asks_nothing(store: Store, server: FaultServer, name: str, form: str) -> None:
    first = ask_relations(store, endpoint(server), name, form=form)  # type: ignore[arg-type]
    n = store.relation_set_named(name).n_pairs
    assert (first.asking.n_requests, first.n_read) == (n, n)
    seen, runs = len(server.seen), len(store.runs())
    again = ask_relations(store, endpoint(server), name, form=form)  # type: ignore[arg-type]
    assert (again.asking.n_requests, again.asking.n_known) == (0, n)
    assert (again.form.form, len(server.seen), len(store.runs())) == (form, seen, runs)


def test_what_is_told_is_what_the_set_tells_and_never_the_truth(
    store: Store, server: FaultServer
) -> None:
    for name in ("births", "plane", "loop", "family"):
        server.seen.clear()
        ask_relations(store, endpoint(server), name)
        of = store.relation_set_named(name)
        for seen in server.seen:
            for line in of.extra["told"]:
                assert f"- {line}" in seen.prompt
            assert ("INCONSISTENT" in seen.prompt) == (name == "loop")
            if name == "births":
                assert "190" not in json.dumps(seen.body["messages"])
                assert "the year of birth" in seen.prompt


def test_another_way_of_asking_needs_another_name(store: Store, server: FaultServer) -> None:
    ask_relations(store, endpoint(server), "births")
    with pytest.raises(ValueError, match=r"another parameters: give this one another name"):
        ask_relations(store, endpoint(server), "births", reasoned=False)
    with pytest.raises(ValueError, match=r"another form and prompt"):
        ask_relations(store, endpoint(server), "births", form="text")
    other = ask_relations(store, endpoint(server), "births", reasoned=False, name="bare")
    assert other.n_read == 6
    assert [a.name for a in chosen_askings(store, ["births"])] == ["small", "bare"]
    with pytest.raises(ValueError, match="nobody called 'x' was asked; there are: small, bare"):
        chosen_askings(store, names=["x"])


def test_repeats_are_further_draws(store: Store, server: FaultServer) -> None:
    ask_relations(store, endpoint(server), "births")
    more = ask_relations(store, endpoint(server), "births", repeats=3)
    assert (more.n_wanted, more.asking.n_known, more.n_read) == (18, 6, 12)
    assert more.made is not None
    asked = asked_set(store, more.made)
    assert len(asked.axis("time").edges) == 18


def test_refused_cut_and_unreadable_replies_have_no_relation(store: Store) -> None:
    def script(seen: Seen) -> Answer | None:
        pair = named(seen, "Subject") + named(seen, "Reference")
        cut = ok("Relation: before", finish="length")
        return {
            "AnnBea": ok(None, refusal="Relation: before"),
            "BeaAnn": cut,
            "AnnCid": ok("Perhaps."),
            "CidAnn": ok("Relation: before and after"),
        }.get(pair)

    with serving(only_role("relation_asker", script)) as server:
        done = ask_relations(store, endpoint(server), "births", form="text")
    assert (done.n_read, done.asking.n_requests) == (2, 6)
    assert sum(done.reasons.values()) == 4
    assert done.made is not None
    rows = {(r.a, r.b): r for r in store.relation_answers(done.made.id)}
    assert {p: r.outcome for p, r in rows.items() if r.relation is None} == {
        (0, 1): "refused",
        (1, 0): "truncated",
        (0, 2): "ok",
        (2, 0): "ok",
    }
    asked = asked_set(store, done.made)
    assert len(asked.axis("time").edges) == 2
    assert all(a.why for a in asked.answers if a.relation is None)


def test_a_dry_run_writes_nothing(store: Store, server: FaultServer) -> None:
    done = ask_relations(store, endpoint(server), "plane", dry_run=True)
    assert done.asking.estimate is not None
    assert (done.asking.estimate.n_to_ask, done.made) == (12, None)
    assert (store.relation_askings(), store.runs(), server.seen) == ((), (), [])


def test_a_budget_stops_and_the_next_run_goes_on(store: Store, server: FaultServer) -> None:
    first = ask_relations(store, endpoint(server), "plane", budget=Budget(max_tokens=1))
    assert first.asking.stopped is not None
    assert first.asking.n_left > 0
    again = ask_relations(store, endpoint(server), "plane")
    assert (again.asking.n_left, again.n_wanted) == (0, 12)
    assert again.made is not None
    assert len(store.relation_answers(again.made.id)) == 12


def test_objects_are_probed_once_each(store: Store, server: FaultServer) -> None:
    done = probe_objects(store, endpoint(server), "births")
    assert (done.n_wanted, done.n_read) == (3, 3)
    assert done.made is not None
    assert (done.made.asks, done.made.prompt_version) == (
        "objects",
        "knowledge_prober-schema-time/1",
    )
    values = {r.object: r.value for r in store.relation_values(done.made.id)}
    assert values == {0: 1900.0 + ord("n"), 1: 1900.0 + ord("a"), 2: 1900.0 + ord("d")}
    assert probe_objects(store, endpoint(server), "births").asking.n_requests == 0
    place = probe_objects(store, endpoint(server), "plane", form="text")
    assert place.made is not None
    assert {r.value for r in store.relation_values(place.made.id)} == {(1.0, 2.0)}
    with pytest.raises(ValueError, match="is a family"):
        probe_objects(store, endpoint(server), "family")


def test_kinship_words_are_those_of_the_reply(store: Store, server: FaultServer) -> None:
    store.save_relation_set(kinship_set("k", [("A", "father", "B"), ("C", "mother", "B")]))
    done = ask_relations(store, endpoint(server), "k")
    assert done.made is not None
    asked = asked_set(store, done.made)
    assert asked.truth[0, 1] == "father"
    assert {a.relation for a in asked.answers} == {"father", "son"}
