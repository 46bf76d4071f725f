"""No program costs more than a bounded number of calls, nor more memory than 50 MB."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.deduction import evaluate, run_program
from tests.scoring.deduction.hostile import COSTLY
from tests.scoring.deduction.test_guards import REFUSED

ROOT = Path(__file__).parents[3]
MAX_CALLS = 300_000
"""Calls of functions, built-in ones too: about twice what the costliest known program makes."""


def calls(act: Callable[[], object]) -> int:
    """Count the calls of functions that an act makes: the same however busy the machine is."""
    n = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal n
        n += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        act()
    finally:
        sys.setprofile(before)
    return n


@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_program_makes_few_calls(name: str) -> None:
    assert calls(lambda: run_program(COSTLY[name], {})) < MAX_CALLS
    assert calls(lambda: evaluate(COSTLY[name], {})) < MAX_CALLS


def test_what_a_statement_reads_is_noted_once_however_often_it_runs() -> None:
    """180 names that rest on 190 others each: noting that on every turn took 0.7 s."""
    program = COSTLY["names on both sides"]
    assert calls(lambda: run_program(program, {})) < 100_000


parts = st.sampled_from(
    ["x=1", "x=x+1", "y=x*x", "x=y=z=1", "x=9e299//7e298", "z=x/3", "x=min(x,2,3)", "break", "pass"]
)
heads = st.sampled_from(
    ["while 1:", "if 1 or a+b+c:", "for i in range(9):", "while x<9e99:", "if x:", "for j in range(x):"]
)  # fmt: skip


@st.composite
def loops(draw: st.DrawFn, depth: int = 4) -> list[str]:
    """Statements in nested loops and conditions, as lines."""
    lines = draw(st.lists(parts, min_size=1, max_size=6))
    if depth:
        for _ in range(draw(st.integers(0, 2))):
            lines += [draw(heads), *(f" {line}" for line in draw(loops(depth - 1)))]
    return lines


@given(loops())
@settings(max_examples=40, deadline=None)
def test_no_nest_of_loops_costs_more(lines: list[str]) -> None:
    source = "x=1\ny=2\nz=3\n" + "\n".join(lines)
    assert calls(lambda: run_program(source, {"a": 1, "b": 2, "c": 3})) < MAX_CALLS


CHILD = """
import resource, sys
from scoring.deduction import evaluate, run_program
from tests.scoring.deduction.hostile import COSTLY
from tests.scoring.deduction.test_guards import REFUSED

sources = [*COSTLY.values(), *(source for source, _ in REFUSED.values())]
run_program("x = 1", {})
with open("/proc/self/statm") as f:
    used = int(f.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, used + 50_000_000))
for source in sources:
    run_program(source, {})
    evaluate(source, {})
print(len(sources), "sources")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
def test_every_hostile_program_fits_into_50_mb() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{len(COSTLY) + len(REFUSED)} sources\n", done.stderr
