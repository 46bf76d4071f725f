from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judges.endpoint import Endpoint
from pipeline.generating import generate
from pipeline.models import choose_form, endpoints, find_endpoint, look_at, with_findings
from store import Store
from tests.judges.faults import Answer, FaultServer, Seen, error, ok, refusing_keywords
from tests.pipeline.scripted import add_questions, model, role_of

FILE = """
[models.small]
base_url = "http://127.0.0.1:8081/v1"
[models.big]
base_url = ["http://127.0.0.1:8082/v1", "http://127.0.0.1:8083/v1"]
model = "org/big"
key_env = "BIG_KEY"
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEDOID_MODELS", raising=False)


def at(server: FaultServer, **more: str) -> Endpoint:
    given: dict[str, str] = {"structured": "auto", **more}
    return Endpoint("small", "m", (server.url,), **given)  # type: ignore[arg-type]


def test_a_file_is_found_by_option_variable_or_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert endpoints() == {}
    Path("medoid.toml").write_text(FILE)
    assert list(endpoints()) == ["small", "big"]
    named = tmp_path / "named.toml"
    named.write_text('[models.named]\nbase_url = "http://127.0.0.1:1/v1"\n')
    monkeypatch.setenv("MEDOID_MODELS", str(named))
    assert list(endpoints()) == ["named"]
    given = tmp_path / "given.toml"
    given.write_text('[models.given]\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert list(endpoints(given)) == ["given"]


def test_an_endpoint_is_found_by_name_or_url() -> None:
    Path("medoid.toml").write_text(FILE)
    big = find_endpoint("big")
    assert (big.model, len(big.base_urls), big.key_env) == ("org/big", 2, "BIG_KEY")
    bare = find_endpoint("org/m", base_url=["http://127.0.0.1:9/v1"], key_env="K")
    assert (bare.name, bare.model, bare.base_urls, bare.key_env) == (
        "org/m",
        "org/m",
        ("http://127.0.0.1:9/v1",),
        "K",
    )


def test_the_only_one_needs_no_name() -> None:
    Path("medoid.toml").write_text('[models.only]\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert find_endpoint().name == "only"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "--model is missing; medoid.toml has: small, big"),
        ({"model": "none"}, "no model 'none' in medoid.toml; there are: small, big"),
        ({"base_url": ["http://127.0.0.1:9/v1"]}, "--base-url goes with --model NAME"),
        ({"model": "small", "key_env": "K"}, "--key-env goes with --base-url"),
        ({"model": "m", "base_url": ["http://u:p@h/v1"]}, "user or password"),
    ],
)
def test_what_is_unclear_is_told(given: dict[str, object], message: str) -> None:
    Path("medoid.toml").write_text(FILE)
    with pytest.raises(ValueError, match=message):
        find_endpoint(**given)  # type: ignore[arg-type]


def test_without_any_settings_it_is_said_how_to_give_them() -> None:
    with pytest.raises(ValueError, match=r"give --model and --base-url, or describe models in"):
        find_endpoint("m")


def test_a_server_is_looked_at_once(store: Store) -> None:
    with FaultServer(model) as server:
        first = choose_form(store, at(server))
        asked = len(server.seen)
        again = choose_form(store, at(server))
        assert (first.form, first.why) == ("schema", "probed")
        assert (again.form, again.why) == ("schema", "found")
        assert asked == len(server.seen) > 0
        finding = store.finding(server.url, "m")
    assert finding is not None
    assert finding.findings["structured"] is True
    assert finding.findings["reports_usage"] is True


def unbound(seen: Seen) -> Answer:
    return ok("The sea is wide.") if role_of(seen.body) == "probe" else model(seen)


def test_a_server_without_schemas_is_asked_in_text(store: Store) -> None:
    with FaultServer(unbound) as server:
        assert choose_form(store, at(server)).form == "text"


def test_all_servers_must_have_it(store: Store) -> None:
    with FaultServer(model) as good, FaultServer(unbound) as bad:
        both = Endpoint("small", "m", (good.url, bad.url))
        assert choose_form(store, both).form == "text"


def test_what_could_not_be_told_is_not_asked_again(store: Store) -> None:
    with FaultServer(lambda _: error(500, "no")) as server:
        assert choose_form(store, at(server)).form == "text"
        n = len(server.seen)
        assert choose_form(store, at(server)).why == "found"
        assert len(server.seen) == n


def test_no_server_that_answers_is_an_error(store: Store) -> None:
    gone = Endpoint("small", "m", ("http://127.0.0.1:9/v1",))
    with pytest.raises(ValueError, match="no server answers"):
        choose_form(store, gone)
    assert store.finding("http://127.0.0.1:9/v1", "m") is None


def test_settings_and_callers_win_and_work_goes_on_as_it_began(store: Store) -> None:
    gone = Endpoint("small", "m", ("http://127.0.0.1:9/v1",))
    assert choose_form(store, gone, "text").why == "asked"
    assert choose_form(store, gone, before="text").form == "text"
    assert choose_form(store, gone, dry_run=True).why == "unknown"
    bound = Endpoint("small", "m", ("http://127.0.0.1:9/v1",), structured="schema")
    assert choose_form(store, bound, before="text").form == "schema"


def test_looking_without_a_database_keeps_nothing() -> None:
    with FaultServer(model) as server:
        assert look_at(None, at(server), server.url).structured is True


def test_a_server_that_refuses_keywords_is_asked_without_them(store: Store, tmp_path: Path) -> None:
    add_questions(store, tmp_path)
    with FaultServer(refusing_keywords(model, "maxLength", "maxItems")) as server:
        bound = replace(at(server), structured="schema")
        untold = generate(store, bound, n=1, dataset="toy")
        (reason,) = untold.asking.reasons
        assert "is not permitted (medoid doctor finds out" in reason
        assert with_findings(store, bound).schema_keywords is None
        look_at(store, bound, server.url)
        assert with_findings(store, bound).schema_keywords == "plain"
        told = generate(store, bound, n=1, dataset="toy")
        assert told.asking.outcomes == {"ok": 2}
        alone = replace(bound, base_urls=(server.url, "http://127.0.0.1:9/v1"))
        assert with_findings(store, alone).schema_keywords == "plain"
    finding = store.finding(server.url, "m")
    assert finding is not None
    assert finding.findings["schema_keywords"] == "plain"


def test_a_server_nobody_looked_at_is_not_taken_to_know_all(store: Store) -> None:
    with FaultServer(model) as server:
        both = replace(at(server), base_urls=(server.url, "http://127.0.0.1:9/v1"))
        look_at(store, both, server.url)
        assert with_findings(store, at(server)).schema_keywords == "all"
        assert with_findings(store, both).schema_keywords is None
