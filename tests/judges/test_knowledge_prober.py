"""What the knowledge prober asks, and how dates and places are read."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.knowledge_prober import (
    ProbeQuestion,
    decimal_year,
    probe_request,
    probe_schema,
    read_date,
    read_probe,
)
from judges.requests import Form, Outcome, Reply
from judges.schemas import longest, max_tokens
from tests.judges.asked import NOT_OK, data, ok, question_of, replies, values

FORMS: tuple[Form, ...] = ("schema", "text")
ART = ProbeQuestion("Stan (Eminem)", "time", "the day of its release")
CITY = ProbeQuestion("Denver", "quadrant")
POINT = ProbeQuestion("Object_0", "quadrant", told=("Object_0 lies 3 units east of Object_1.",))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("q", [ART, CITY, POINT])
def test_a_request_names_the_object_and_what_is_given(form: Form, q: ProbeQuestion) -> None:
    request = probe_request("m", q, form=form)
    user = question_of(request.messages)
    assert user.endswith(f'Name:\n"""\n{q.name}\n"""')
    assert q.about in user
    assert all(line in user for line in q.told)
    assert ("(nothing more is given)" in user) == (q is CITY)
    assert (request.role, request.schema is None) == ("knowledge_prober", form == "text")


@pytest.mark.parametrize("probed", ["time", "quadrant"])
def test_the_longest_reply_fits_its_limit(probed: Any) -> None:
    schema = probe_schema(probed)
    full = {
        "time": {"year": -9999, "month": None, "day": None},
        "quadrant": {"east": "-123456789012/123456%", "north": "-123456789012/123456%"},
    }[probed]
    jsonschema.validate(full, schema)
    assert longest(schema) == len(json.dumps(full)) <= max_tokens(schema)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Date: 2003-01-01", 2003.0),
        ("Date: 2000-12-31", 2000 + 365 / 366),
        ("1947", 1947.0),
        ("Date: c. 1110", 1110.0),
        ("Date: 44 BC", -44.0),
        ("Date: -44", -44.0),
        ("Date: 1947-02", 1947 + 31 / 365),
        ("I think so.\n**Date:** January 1, 1990", 1990.0),
        ("<think>Date: 1</think>Date: 5", 5.0),
    ],
)
def test_a_date_is_read_as_a_decimal_year(text: str, value: float) -> None:
    found = read_probe(ok(text), ART)
    assert found.reason == ""
    assert found.values["time"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("East: -104.9\nNorth: 39.8", -104.9, 39.8),
        ("Longitude: 104.9° W, latitude: 39.8° N", -104.9, 39.8),
        ("x = 3 and y = −4", 3.0, -4.0),
        ("**East:** 1,5\n**North:** 2", 1.5, 2.0),
        ("East: 1\nNorth: 2\nEast: 7\nNorth: 8", 7.0, 8.0),
    ],
)
def test_a_place_is_two_numbers(text: str, x: float, y: float) -> None:
    assert read_probe(ok(text), CITY).values == {"x": x, "y": y}


@pytest.mark.parametrize(
    ("q", "text"),
    [
        (ART, "Date: soon"),
        (ART, "Date: 1990 or 1991"),
        (ART, "It was 1990.\nOr else."),
        (CITY, "East: 3"),
        (CITY, "Denver is in Colorado."),
        (CITY, "3, 4"),
    ],
)
def test_what_gives_no_value_is_missing(q: ProbeQuestion, text: str) -> None:
    found = read_probe(ok(text), q)
    assert (found.values, found.reason[:19]) == ({}, "the reply gives no ")


def test_fields_are_read() -> None:
    assert read_probe(data({"year": 2003, "month": None, "day": None}), ART).values == {
        "time": 2003.0
    }
    bound = data({"east": "-104.5", "north": "79/2"})
    assert read_probe(bound, CITY).values == {"x": -104.5, "y": 39.5}
    assert read_probe(data({"year": 10**6, "month": 1, "day": 1}), ART).values == {}
    assert read_probe(data({"east": "1/0", "north": "2"}), CITY).values == {}


@pytest.mark.parametrize("outcome", NOT_OK)
def test_a_reply_that_is_not_ok_is_not_read(outcome: Outcome) -> None:
    reply = Reply(outcome, "Date: 1990", {"year": 1990, "month": 1, "day": 1}, "no")
    assert read_probe(reply, ART).reason == f"{outcome}: no"
    assert read_probe(reply, ART).values == {}


@given(replies | values, st.sampled_from([ART, CITY]))
def test_nothing_a_model_writes_raises(said: Any, q: ProbeQuestion) -> None:
    for reply in (ok(str(said)), Reply("ok", "", said)):
        found = read_probe(reply, q)
        assert bool(found.values) != bool(found.reason)


@given(st.dates())
def test_dates_keep_their_order(day: Any) -> None:
    value = read_date(day.isoformat())
    assert value is not None
    assert value == pytest.approx(decimal_year(day.year, day.month, day.day))
    assert day.year <= value < day.year + 1


def test_later_days_are_later() -> None:
    days = ["2003-08-01", "2003-08-26", "2003-12-31", "2004-01-01", "2004-02-29", "2004-03-01"]
    found = [read_date(d) for d in days]
    known = [v for v in found if v is not None]
    assert len(known) == len(days)
    assert known == sorted(set(known))
