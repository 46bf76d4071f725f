"""Text of others on its way to the screen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tui.text import ESCAPE_STYLE, cells, cut, fit, hang, safe, visible, wrap


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("[/x]", "[/x]"),
        ("[CLAIM]", "[CLAIM]"),
        ("[$accent]a[/]", "[$accent]a[/]"),
        ("a lone [", "a lone ["),
        ("\\[b]", "\\[b]"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x1b]8;;http://x\x1b\\y", "\\x1b]8;;http://x\\x1b\\y"),
        ("\x90q\x9c", "\\x90q\\x9c"),
        ("\x00\x7f\x08", "\\x00\\x7f\\x08"),
        ("a\tb\rc\nd", "a\\tb\\rc\\nd"),
        ("\u202etxt\u202c\u2066x\u2069", "<U+202E>txt<U+202C><U+2066>x<U+2069>"),
        ("z\u200bw\u200dj\ufeff\u2060", "z<U+200B>w<U+200D>j<U+FEFF><U+2060>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
        ("line\u2028sep\u2029", "line<U+2028>sep<U+2029>"),
        ("\ud800 \udfff", "<U+D800> <U+DFFF>"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("vs\ufe0f", "vs<U+FE0F>"),
        ("private\ue000", "private<U+E000>"),
        ("naïve e\u0301 日本 ½ ≥", "naïve e\u0301 日本 ½ ≥"),
        ("\u0301x", "<U+0301>x"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "<U+0301><U+0301>"),
    ],
)
def test_what_is_shown(typed: str, shown: str) -> None:
    assert visible(typed) == shown
    assert safe(typed).plain == shown


def test_newlines_are_kept_only_where_asked() -> None:
    assert visible("a\r\nb\nc", newlines=True) == "a\nb\nc"
    assert visible("a\nb") == "a\\nb"


def test_an_escape_is_told_from_the_same_text_as_typed() -> None:
    real, typed = safe("\x1b"), safe("\\x1b")
    assert real.plain == typed.plain
    assert [(s.start, s.end, s.style) for s in real.spans] == [(0, 4, ESCAPE_STYLE)]
    assert typed.spans == []


@given(st.text(max_size=60))
def test_nothing_invisible_is_left(text: str) -> None:
    shown = visible(text)
    assert all(
        unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for c in shown
    )


@given(st.text(max_size=80), st.integers(1, 20), st.integers(1, 20))
def test_wrapping_loses_no_character_but_blanks(text: str, width: int, first: int) -> None:
    content = safe(text, newlines=True)
    lines = wrap(content, width, first=first)
    assert "".join("".join(line.plain.split(" ")) for line in lines) == "".join(
        content.plain.replace("\n", "").split(" ")
    )
    for i, line in enumerate(lines):
        assert cells(line) <= max(first if i == 0 else width, 2)


def test_wrapping_breaks_at_blanks_and_inside_long_words() -> None:
    assert [x.plain for x in wrap(Content("one two threefour"), 7)] == ["one two", "threefo", "ur"]
    assert [x.plain for x in wrap(Content("日本語 x"), 4)] == ["日本", "語 x"]
    assert [x.plain for x in wrap(Content(""), 4)] == [""]
    assert [x.plain for x in wrap(Content("a\n\nb"), 4)] == ["a", "", "b"]


@given(st.text(max_size=40), st.integers(0, 30))
def test_cut_and_fit_keep_to_the_cells(text: str, width: int) -> None:
    line = safe(text)
    assert cells(cut(line, width)) <= width
    assert cells(fit(line, width)) == width


def test_cut_says_that_something_is_missing() -> None:
    assert cut(Content("abcdef"), 4).plain == "abc…"
    assert cut(Content("日本語"), 4).plain == "日…"
    assert cut(Content("abcd"), 4).plain == "abcd"
    assert fit(Content("ab"), 4, right=True).plain == "  ab"


def test_hanging_indent_and_tail() -> None:
    lines = hang(Content("0 "), Content("the first step is long"), 14, tail=Content("⟵1"))
    assert [x.plain for x in lines] == ["0 the first ⟵1", "  step is long"]
    tail = Content("⟵0,1,2,3")
    assert [x.plain for x in hang(Content("4 "), Content("so"), 14, tail=tail)] == [
        "4 so",
        "      ⟵0,1,2,3",
    ]
