"""How long prompts are, and who else is at the same work: told before and while a stage asks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.requests import Message, Reply, Request
from pipeline.asking import AskSummary
from pipeline.generating import generate
from pipeline.replies import StoreCache, TokenSizes
from store import Store
from tests.judges.faults import FaultServer
from tests.pipeline.scripted import add_questions, endpoint, serving


def asked(text: str, role: str = "generator", model: str = "m") -> Request:
    return Request(role, model, (Message("system", "é"), Message("user", text)))


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


def test_kept_replies_tell_how_many_bytes_a_token_has(store: Store) -> None:
    sizes = TokenSizes(store)
    assert sizes(asked("x")) == 3.0
    cache = StoreCache(store)
    cache.keep_replies(
        [
            (asked("x" * 48), Reply("ok", "y", prompt_tokens=20)),  # 50 bytes
            (asked("x" * 28), Reply("ok", "y", prompt_tokens=12)),  # 30 bytes
            (asked("x" * 98), Reply("ok", "y")),  # its server did not tell
            (asked("x" * 38, role="judge"), Reply("ok", "y", prompt_tokens=8)),  # 40 bytes
        ]
    )
    assert sizes(asked("x")) == 3.0  # looked up once
    fresh = TokenSizes(store)
    assert fresh(asked("x")) == 80 / 32
    assert fresh(asked("x", role="judge")) == 40 / 8
    assert fresh(asked("x", role="decomposer")) == 120 / 40  # the model's own, of any role
    assert fresh(asked("x", model="other")) == 3.0


def test_a_dry_run_takes_the_ratio_of_the_kept_replies(
    store: Store, tmp_path: Path, server: FaultServer
) -> None:
    add_questions(store, tmp_path, 4)
    first = generate(store, endpoint(server), n=1, limit=2)
    dry = generate(store, endpoint(server), n=1, dry_run=True).asking.estimate
    assert dry is not None
    assert dry.n_to_ask == 2
    # Each prompt took 11 tokens by the server's count; two more of about that length follow.
    assert first.asking.prompt_tokens == 2 * 11
    assert dry.prompt_tokens == pytest.approx(2 * 11, abs=2)


def note_of(store: Store, server: FaultServer) -> tuple[AskSummary, list[str]]:
    notes: list[str] = []
    done = generate(store, endpoint(server), n=1, on_note=notes.append)
    return done.asking, notes


def test_another_process_at_the_same_work_is_told(
    store: Store, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_questions(store, tmp_path)
    generate(store, endpoint(server), n=1, limit=1)
    (before,) = store.runs()
    parameters = {**before.parameters, "n": 20}
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", os.getppid)
        run = store.start_run("generate", parameters, "0", 5)
        store.start_run("generate", {**parameters, "pool": "another"}, "0", 5)
    asking, notes = note_of(store, server)
    assert asking.elsewhere is not None
    assert asking.elsewhere.startswith(f"another process (pid {os.getppid()} on ")
    assert "is at generate in the same way since 20" in asking.elsewhere
    assert notes == [asking.elsewhere]
    assert asking.as_json()["elsewhere"] == asking.elsewhere
    store.end_run(run, "done")
    add_questions(store, tmp_path, 3)
    asking, notes = note_of(store, server)
    assert (asking.n_asked, asking.elsewhere, notes) == (1, None, [])
