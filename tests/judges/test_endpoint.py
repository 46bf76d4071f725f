"""Settings of models: what is read, what is refused, and that no key is ever in sight."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from judges.endpoint import Endpoint, Price, read_models
from judges.redaction import Key, one_line
from judges.requests import Sampling
from tests.judges.asking import endpoint

SECRET = "sk-Planted/7=secret"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "medoid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_full_table_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [project]
        name = "left to others"

        [models.big]
        base_url = ["https://one.example/v1/", "https://two.example/v1"]
        model = "org/Big-70B"
        key_env = "BIG_KEY"
        timeout = 30
        concurrency = 64
        structured = "schema"
        price_in = 0.5
        price_out = 1.5
        currency = "EUR"
        extra = { top_k = 20, chat_template_kwargs = { thinking = false } }

        [models."local-4.1"]
        base_url = "http://127.0.0.1:8080/v1"
        """,
    )
    assert read_models(path) == {
        "big": Endpoint(
            name="big",
            model="org/Big-70B",
            base_urls=("https://one.example/v1", "https://two.example/v1"),
            key_env="BIG_KEY",
            timeout=30,
            concurrency=64,
            structured="schema",
            price=Price(0.5, 1.5, "EUR"),
            extra={"top_k": 20, "chat_template_kwargs": {"thinking": False}},
        ),
        "local-4.1": Endpoint("local-4.1", "local-4.1", ("http://127.0.0.1:8080/v1",)),
    }


def test_defaults_are_those_of_the_class() -> None:
    e = endpoint("http://h/v1")
    assert (e.timeout, e.concurrency, e.structured, e.price, e.key_env) == (
        120.0,
        16,
        "auto",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("model = 'm'", "base_url is missing"),
        ("base_url = 7", "base_url is 7; it must be text"),
        ("base_url = []", "base_url is (); give one URL or a list"),
        ("base_url = 'ftp://h/v1'", "it must start with http:// or https://"),
        ("base_url = 'localhost:8080/v1'", "it must start with http:// or https://"),
        ("base_url = 'http://h/v1?x=1'", "base_url has a query"),
        ("base_url = 'http://h:port/v1'", "cannot be read as a URL"),
        ("base_url = 'http://h/v 1'", "no blanks"),
        ("base_url = ['http://h/v1', 'http://h/v1/']", "names one URL twice"),
        ("base_url = 'http://h'\nmodel = ''", "model is ''"),
        ("base_url = 'http://h'\nmodel = 3", "model is 3"),
        ("base_url = 'http://h'\ntimeout = 0", "timeout is 0; it must be seconds, more than 0"),
        ("base_url = 'http://h'\ntimeout = '9'", "timeout is '9'"),
        ("base_url = 'http://h'\ntimeout = true", "timeout is True"),
        ("base_url = 'http://h'\ntimeout = nan", "timeout is nan"),
        ("base_url = 'http://h'\nconcurrency = 0", "concurrency is 0; it must be from 1 to 1024"),
        ("base_url = 'http://h'\nconcurrency = 2.5", "concurrency is 2.5"),
        ("base_url = 'http://h'\nstructured = 'json'", "must be auto, schema or text"),
        ("base_url = 'http://h'\nprice_in = 1", "price_in is set without price_out"),
        ("base_url = 'http://h'\nprice_in = -1\nprice_out = 1", "price_in is -1; a price is"),
        ("base_url = 'http://h'\nprice_in = 1\nprice_out = inf", "price_out is inf; a price is"),
        ("base_url = 'http://h'\ncurrency = 'EUR'", "currency is set without a price"),
        ("base_url = 'http://h'\nprice_in = 1\nprice_out = 1\ncurrency = ''", "currency is ''"),
        ("base_url = 'http://h'\nextra = 3", "extra is 3; it must be a table"),
        ("base_url = 'http://h'\nextra = { stream = true }", "extra sets stream"),
        ("base_url = 'http://h'\nextra = { at = 2026-01-01 }", "only what JSON can hold"),
        ("base_url = 'http://h'\nurl = 'http://h'", "unknown key url; known are base_url, model"),
        ("base_url = 'http://h'\nmax_tokens = 5", "unknown key max_tokens; known are"),
    ],
)
def test_an_error_names_file_table_key_and_what_is_right(
    tmp_path: Path, table: str, said: str
) -> None:
    path = written(tmp_path, f"[models.m]\n{table}\n")
    with pytest.raises(ValueError, match=r"\[models\.m\]") as caught:
        read_models(path)
    assert str(caught.value).startswith(f"{path}: [models.m]: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no model in it; add a table [models.NAME]"),
        ("models = 3", "no model in it"),
        ("[models]\nm = 'http://h'", "models.m is 'http://h'; it must be a table"),
        ("[models.gpt-4.1]\nbase_url = 'http://h'", '[models."gpt-4.1"]'),
        ("[models.m\n", "not TOML"),
    ],
)
def test_a_file_without_models_is_told_so(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match="medoid") as caught:
        read_models(path)
    assert said in str(caught.value)


def test_a_file_that_is_no_text_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_bytes(b"[models.m]\nmodel = '\xff'")
    with pytest.raises(ValueError, match=r"not UTF-8 \(byte 20\)"):
        read_models(path)


@pytest.mark.parametrize(
    "table",
    [
        f"base_url = 'http://user:{SECRET}@h/v1'",
        f"base_url = '{SECRET}@h/v1'",
        f"base_url = 'http://h/v1?api_key={SECRET}'",
        f"base_url = 'http://h'\nkey_env = '{SECRET}'",
        f"base_url = 'http://h'\nkey_env = '{SECRET.lower().replace('-', '_')}'",
        f"base_url = 'http://h'\napi_key = '{SECRET}'",
        f"base_url = 'http://h'\nAuthorization = '{SECRET}'",
    ],
)
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(tmp_path: Path, table: str) -> None:
    with pytest.raises(ValueError, match=r"models\.m") as caught:
        read_models(written(tmp_path, f"[models.m]\n{table}\n"))
    assert "lanted" not in str(caught.value)


def test_an_endpoint_shows_the_variables_name_and_never_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANTED_KEY", SECRET)
    shown = repr(endpoint("http://h/v1", key_env="PLANTED_KEY"))
    assert "PLANTED_KEY" in shown
    assert SECRET not in shown


def test_extras_enter_the_sampling_that_is_keyed() -> None:
    e = endpoint("http://h/v1", extra={"top_k": 1, "min_p": 0.1})
    assert e.keyed(Sampling(extra={"top_k": 5})).extra == {"top_k": 5, "min_p": 0.1}
    plain = Sampling(temperature=0.5)
    assert endpoint("http://h/v1").keyed(plain) == plain


def test_a_price_is_per_million() -> None:
    assert Price(0.5, 1.5).cost(2_000_000, 1_000_000) == 2.5
    with pytest.raises(ValueError, match="output_per_million is True"):
        Price(1.0, True)


def test_a_key_is_hidden_however_it_is_spelt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", f" {SECRET}\n")
    key = Key.from_environment("PLANTED_KEY")
    assert key.reveal() == SECRET
    assert (repr(key), str(key), f"{key}") == ("[key]",) * 3
    echoed = f"Bearer {SECRET}, key=sk-Planted%2F7%3Dsecret, again {SECRET}"
    assert key.hide(echoed) == "Bearer [key], key=[key], again [key]"
    with pytest.raises(TypeError, match="not stored"):
        pickle.dumps(key)


def test_a_placeholder_is_no_secret_and_maims_no_text() -> None:
    assert Key("EMPTY").hide("the EMPTY set") == "the EMPTY set"
    assert Key(None).hide("none") == "none"


def test_a_missing_or_broken_key_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANTED_KEY", raising=False)
    with pytest.raises(ValueError, match=r"PLANTED_KEY .* is not set"):
        Key.from_environment("PLANTED_KEY")
    monkeypatch.setenv("PLANTED_KEY", f"{SECRET} ü")
    with pytest.raises(ValueError, match="outside ASCII") as caught:
        Key.from_environment("PLANTED_KEY")
    assert SECRET not in str(caught.value)


def test_foreign_text_becomes_one_short_printable_line() -> None:
    assert one_line("a\n\n  b\tc") == "a b c"
    assert one_line("\x1b[31mred\x00\u202e\ud800") == r"\x1b[31mred\x00\u202e\ud800"
    assert one_line("x" * 400) == "x" * 299 + "…"
    assert one_line("\x00" * 400, 10) == r"\x00\x00\…"
