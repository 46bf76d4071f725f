"""The store's cache of replies, used by two processes at once."""

from __future__ import annotations

from judges.client import ask
from judges.requests import Message, Reply, Request
from pipeline.asking import Answered, Job, ask_jobs
from pipeline.replies import StoreCache
from store import Store, open_store
from tests.judges.faults import Answer, FaultServer, Seen, ok
from tests.pipeline.scripted import endpoint

ASKED = Request("generator", "m", (Message("user", "How many?"),))
OTHER = Request("generator", "m", (Message("user", "How few?"),))


def test_the_first_of_two_caches_wins_and_the_second_is_told(store: Store) -> None:
    first, second = Reply("ok", "three", prompt_tokens=5), Reply("ok", "four", prompt_tokens=6)
    assert store.file is not None
    with open_store(store.file) as beside:
        one, two = StoreCache(store), StoreCache(beside)
        assert one.find_replies([ASKED.key]) == two.find_replies([ASKED.key]) == {}
        assert one.keep_replies([(ASKED, first)]) == {}
        found = two.keep_replies([(ASKED, second), (OTHER, second)])
        assert {key: reply.text for key, reply in found.items()} == {
            ASKED.key: "three",
            OTHER.key: "four",
        }
        assert two.keep_replies([]) == {}
        assert one.find_replies([ASKED.key])[ASKED.key].text == "three"


def test_rows_are_made_of_the_reply_that_is_kept(store: Store) -> None:
    """While we wait for the server, another process asks the same and keeps its reply."""
    assert store.file is not None
    with open_store(store.file) as beside:
        other = StoreCache(beside)

        def script(seen: Seen) -> Answer:
            if seen.prompt == "How many?":
                other.keep_replies([(ASKED, Reply("ok", "three", prompt_tokens=500))])
            return ok("four")

        saved: list[Answered[str]] = []
        with FaultServer(script) as server:
            summary = ask_jobs(
                store,
                endpoint(server),
                "generate",
                [Job(ASKED, "a"), Job(OTHER, "b")],
                2,
                saved.extend,
                parameters={},
                how={},
            )
    rows = {a.about: a.reply.text for a in saved}
    assert rows == {"a": "three", "b": "four"}
    kept = StoreCache(store).find_replies([ASKED.key, OTHER.key])
    assert {a.request.key: a.reply.text for a in saved} == {k: r.text for k, r in kept.items()}
    # This process did ask twice, and the server counted 11 tokens each time.
    assert (summary.n_asked, summary.n_cached, summary.prompt_tokens) == (2, 0, 22)


def test_a_kept_reply_needs_no_server(store: Store) -> None:
    StoreCache(store).keep_replies([(ASKED, Reply("ok", "three"))])
    with FaultServer(lambda _: ok("four")) as server:
        tally = ask(endpoint(server), [ASKED], cache=StoreCache(store))
        assert (tally.cached, server.seen) == (1, [])
