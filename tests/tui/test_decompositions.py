"""Labelling decompositions: steps beside facts, three criteria, a sample, resume, undo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from store import Store, open_store
from store.records import SchemaSpec
from tests.tui.conftest import GOLD, HOSTILE_SHOWN
from tests.tui.conftest import JUDGE as PATH_JUDGE
from tests.tui.conftest import RATIONALE as PATH_RATIONALE
from tests.tui.decomposed import (
    JUDGE,
    RATIONALE,
    build_split,
    facts_of,
    judge_all,
    samples_of,
    shown,
    split,
    stands,
)
from tests.tui.running import workbench
from tui.factlines import QUESTIONS, fact_rows, heads
from tui.samplelist import find_start
from tui.screens.help import HelpScreen
from tui.screens.overview import OverviewScreen
from tui.text import cells
from tui.widgets.lines import MAX_WIDTH

Size = tuple[int, int]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("split") / "ready.db"
    made = build_split(path)
    with open_store(path) as store:
        store.make_decomposition_sample(made, 50, 0)
        judge_all(store)
    return path


@pytest.fixture
def db(ready: Path, tmp_path: Path) -> Path:
    path = tmp_path / "audit.db"
    path.write_bytes(ready.read_bytes())
    return path


@pytest.fixture
def store(db: Path) -> Iterator[Store]:
    with open_store(db) as opened:
        yield opened


def trace_id(store: Store, question: str) -> int:
    pool = next(p for p in store.pools() if p.question_id == question)
    return store.pool_traces(pool.id)[0].id


def order(store: Store) -> list[str]:
    rows = store.decomposition_rows(1, store.rater("ana").id).rows
    return [r.question_id for r in rows]


# --- what is drawn -----------------------------------------------------------------------------


async def test_each_step_stands_beside_its_facts(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("d")
        await facts_of(desk).open(trace_id(store, "s0"))
        await desk.settle()
        lines = desk.text.splitlines()
        at = next(i for i, line in enumerate(lines) if "There are 7 rows of 6" in line)
        assert lines[at].startswith("▸ 0 There are 7 rows of 6 jars.")
        assert lines[at].split("│")[1].strip() == "• There are 7 rows."
        assert lines[at + 1].split("│")[1].strip() == "• A row has 6 jars."
        left, right = lines[at + 2].split("│")[:2]
        assert left.split() == ["1", "It", "rains.", "⟵0"]
        assert right.strip() == "∅ DROPPED: no fact of this step"
        left, right = lines[at + 3].split("│")[:2]
        assert left.split() == ["2", "So", "42", "jars.", "⟵?"]
        assert right.strip() == "• 42 jars."
        left, right = lines[at + 4].split("│")[:2]
        assert (left.strip(), right.strip()) == ("(no such step)", "⊕ INVENTED: cats purr")
        assert lines[at - 1].split("│")[0].strip() == "3 steps · ∅ 1 dropped"
        assert lines[at - 1].split("│")[1].split("╭")[0].strip() == "3 facts · ⊕ 1 invented"
        assert "▸atomic: – nothing invented: – dependencies kept: –" in desk.flat
        assert "atomic: does every fact say one thing? 1 yes 2 no 3 unsure" in desk.flat
        assert ("guideline" in desk.text) is (size[0] >= 110)


@pytest.mark.parametrize("width", [34, 55, 56, 78, 100])
def test_no_line_is_too_wide_and_nothing_is_lost(store: Store, width: int) -> None:
    for question in ("s0", "s1", "s2"):
        view = store.decomposition_view(1, trace_id(store, question), store.rater("ana").id)
        rows = [*heads(view, width), *fact_rows(view, width)]
        assert max(cells(r.content) for r in rows) <= width <= MAX_WIDTH
        for row in rows:
            assert not any(ord(c) < 32 for c in row.content.plain)
        items = list(dict.fromkeys(r.item for r in fact_rows(view, width)))
        assert items == list(range(len(view.steps) + len(view.invented)))
        firsts = [r.item for r in fact_rows(view, width) if r.first]
        assert firsts == items
        squeezed = "".join("".join(r.content.plain for r in rows).split())
        n_dropped = squeezed.count("∅DROPPED")
        assert n_dropped == sum(s.dropped for s in view.steps)
        assert squeezed.count("⊕INVENTED") == len(view.invented)
        if width < 56:  # one below the other: the facts can be read in one piece
            for step in view.steps:
                for fact in step.facts:
                    if fact.isprintable():
                        assert "".join(fact.split()) in squeezed


async def test_hostile_and_long_facts_come_out_as_typed(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("d")
        await facts_of(desk).open(trace_id(store, "s1"))
        await desk.settle()
        seen = [desk.text]
        for _ in range(60):
            await desk.press("pagedown")
            if desk.text == seen[-1]:
                break
            seen.append(desk.text)
        rights = "".join(
            "".join(line.split("│")[1].split())
            for text in seen
            for line in text.splitlines()
            if line.count("│") >= 1
        )
        wanted = "".join(HOSTILE_SHOWN.split())
        assert f"•{wanted}" in rights
        assert f"⊕INVENTED:{wanted}" in rights
        assert "•thelast" in rights
        for text in seen:
            assert not any(ord(c) < 32 and c != "\n" for c in text)
            assert "\u202e" not in text


async def test_thirty_steps_scroll_and_the_cursor_stays_in_view(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await desk.press("d")
        await facts_of(desk).open(trace_id(store, "s2"))
        await desk.settle()
        await desk.press(*"jjjjjjj")
        assert any(line.startswith("▸ ") and " 7 Step" in line for line in desk.text.splitlines())
        await desk.press("end")
        assert "29 Step number 29." in desk.text
        at = facts_of(desk).lines().scroll_offset.y
        await desk.press("1")
        assert facts_of(desk).lines().scroll_offset.y == at
        await desk.press("home")
        assert "▸  0 Step number 0." in desk.text
        assert "30 steps · ∅ 10 dropped" in desk.text


async def test_a_trace_without_facts_says_why(db: Path, store: Store, size: Size) -> None:
    pool = next(p for p in store.pools() if p.question_id == "s0")
    none = store.pool_traces(pool.id)[1].id
    async with workbench(db, size) as desk:
        await desk.press("d")
        assert await facts_of(desk).open(none)
        await desk.settle()
        assert f"no facts (refused reply): it said {HOSTILE_SHOWN}"[:60] in desk.flat
        assert "trace outside the list" in desk.text
        assert "1 step │ 0 facts" in desk.flat


async def test_the_question_in_full_and_how_facts_were_made(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("d", "r")
        for told in ("split/a", "m, prompt decomposer-schema/1", "form schema", "path:own/s"):
            assert told in desk.text
        await desk.press("escape")
        facts_of(desk)


# --- labelling -----------------------------------------------------------------------------------


async def test_three_keys_label_a_trace_and_the_next_one_comes(
    db: Path, store: Store, size: Size
) -> None:
    questions = order(store)
    assert sorted(questions) == ["s0", "s1", "s2", "s3"]
    async with workbench(db, size) as desk:
        await desk.press("d")
        assert shown(desk) == questions[0]
        assert "trace 1 of 4 to label · 0 of 4 done" in desk.text
        await desk.press("1")
        assert facts_of(desk).at == 1
        assert "saved: atomic yes" in desk.text
        assert QUESTIONS["nothing_invented"] in desk.text
        await desk.press("2", "3")
        assert stands(store, 1, trace_id(store, questions[0])) == ["yes", "no", "unsure"]
        assert shown(desk) == questions[1]
        assert "saved: dependencies kept unsure u: back there" in desk.flat
        assert "trace 2 of 4 to label · 1 of 4 done" in desk.text
        assert "3 of 12" in desk.text
        await desk.press(*"111222111")
        assert [stands(store, 1, trace_id(store, q)) for q in questions[1:]] == [
            ["yes"] * 3,
            ["no"] * 3,
            ["yes"] * 3,
        ]
        assert shown(desk) == questions[3]
        assert "that was the last trace: esc goes back" in desk.text
        assert "all 3 labelled" in desk.text
        await desk.press("2")
        assert stands(store, 1, trace_id(store, questions[3])) == ["yes"] * 3
        assert "enter goes on; tab or u to change one" in desk.text


async def test_every_label_carries_seconds_seal_and_schema_version(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("d", "1")
        view = facts_of(desk).view
        assert view is not None
        label = view.criteria[0].label
    assert label is not None
    assert label.seal == "full"
    assert label.before_reveal is True
    assert (label.schema, label.schema_version) == ("decomposition", 1)
    seconds = store.pace(store.rater("ana").id, schema="decomposition")
    assert seconds is not None
    assert 0 <= seconds < 60


async def test_a_label_after_the_reveal_of_its_path_still_counts(db: Path, store: Store) -> None:
    ana, path = store.rater("ana"), store.schema()
    first = order(store)[0]
    case_id = next(r.case_id for r in store.cases(ana.id).rows if r.question_id == first)
    for one in store.case(case_id, ana.id, path).paths:
        store.commit_label(ana.id, one.item_id, path, category="faithful")
    store.reveal(case_id, ana.id, path)
    async with workbench(db, (120, 40)) as desk:
        await desk.press("d", "1")
        assert shown(desk) == first
        assert "saved: atomic yes" in desk.flat
        assert "leaves it out" not in desk.flat
        view = facts_of(desk).view
        assert view is not None
        label = view.criteria[0].label
        # Gold and the verdicts on paths were seen; what a judge says of the criterion was not.
        assert label is not None
        assert (label.seal, label.before_reveal) == ("judge", True)


async def test_a_label_without_the_seal_says_that_kappa_leaves_it_out(
    db: Path, store: Store
) -> None:
    open_one = replace(store.schema("decomposition"), seal="open")
    store.version_schema(SchemaSpec(**{n: getattr(open_one, n) for n in SchemaSpec.__slots__}))
    async with workbench(db, (120, 40)) as desk:
        await desk.press("d", "1")
        told = "saved: atomic yes △ labelled without the seal: κ leaves it out"
        assert told in desk.flat


async def test_undo_goes_back_to_the_trace_and_criterion(db: Path, store: Store) -> None:
    questions = order(store)
    first = trace_id(store, questions[0])
    async with workbench(db) as desk:
        await desk.press("d", "1", "2", "1")
        assert shown(desk) == questions[1]
        await desk.press("u")
        assert (shown(desk), facts_of(desk).at) == (questions[0], 2)
        assert "undone: dependencies kept: yes → not labelled" in desk.flat
        assert stands(store, 1, first) == ["yes", "no", "open"]
        await desk.press("u")
        assert (facts_of(desk).at, stands(store, 1, first)) == (1, ["yes", "open", "open"])
        await desk.press("ctrl+r")
        assert "done again: nothing invented: not labelled → no" in desk.flat
        assert stands(store, 1, first) == ["yes", "no", "open"]
        await desk.press("ctrl+r", "ctrl+r")
        assert stands(store, 1, first) == ["yes", "no", "yes"]
        assert "nothing to redo" in desk.text


async def test_undo_from_the_lists_says_which_criterion(db: Path, store: Store) -> None:
    questions = order(store)
    async with workbench(db, (120, 40)) as desk:
        await desk.press("d", "1", "escape", "u")
        key = f"criterion:own/{questions[0]}/p1/0/split%2Fa/atomic"
        assert f"undone under decomposition: {key}: yes → not labelled" in desk.flat
        assert stands(store, 1, trace_id(store, questions[0])) == ["open", "-", "-"]
        await desk.press("escape", "ctrl+r")
        assert isinstance(desk.app.screen, OverviewScreen)
        assert f"done again under decomposition: {key}: not labelled → yes" in desk.flat


async def test_undo_of_a_path_label_leaves_the_facts_alone(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("enter", "1", "escape", "escape", "d")
        before = shown(desk)
        await desk.press("u")
        assert "undone: " in desk.text
        assert "faithful → not labelled" in desk.flat
        assert shown(desk) == before


async def test_skip_flag_and_comment_are_saved(db: Path, store: Store) -> None:
    questions = order(store)
    first = trace_id(store, questions[0])
    async with workbench(db) as desk:
        await desk.press("d", "exclamation_mark")
        assert "atomic: flagged" in desk.text
        await desk.press("c", *"odd", "enter")
        assert "comment: odd" in desk.text
        assert "▸atomic: – ! ✎" in desk.text
        await desk.press("x")
        assert facts_of(desk).at == 1
        await desk.press("X", *"why", "enter")
        assert facts_of(desk).at == 2
        await desk.press("1")
        assert shown(desk) == questions[1]
        view = store.decomposition_view(1, first, store.rater("ana").id)
        labels = [c.label for c in view.criteria]
        assert [(r.state, r.note, r.flagged) for r in labels if r is not None] == [
            ("skipped", "odd", True),
            ("skipped", "why", False),
            ("labelled", None, False),
        ]
        await desk.press("escape", "f", "f", "f")
        assert samples_of(desk).sample.sample.show == "flagged"
        assert [r.question_id for r in samples_of(desk).sample.rows] == [questions[0]]


async def test_changing_ones_mind_stays_on_the_trace(db: Path, store: Store) -> None:
    questions = order(store)
    async with workbench(db) as desk:
        await desk.press("d", "1", "1", "1", "p")
        assert shown(desk) == questions[0]
        assert "all 3 labelled" in desk.text
        await desk.press("tab", "2")
        assert stands(store, 1, trace_id(store, questions[0])) == ["no", "yes", "yes"]
        assert shown(desk) == questions[0]
        await desk.press("shift+tab", "1")
        assert "unchanged: nothing was saved" in desk.text
        assert stands(store, 1, trace_id(store, questions[0])) == ["no", "yes", "yes"]
        await desk.press("enter")
        assert shown(desk) == questions[1]


async def test_leaving_a_criterion_out_and_going_on(db: Path, store: Store) -> None:
    questions = order(store)
    async with workbench(db) as desk:
        await desk.press("d", "tab", "1")
        assert facts_of(desk).at == 2
        await desk.press("1")
        assert facts_of(desk).at == 0
        await desk.press("enter")
        assert "this criterion has no label yet: n leaves the trace as it is" in desk.text
        await desk.press("n")
        assert shown(desk) == questions[1]
        await desk.press(*"111111111")
        assert shown(desk) == questions[0]
        assert (facts_of(desk).at, facts_of(desk).finished) == (0, False)


async def test_one_goes_on_where_one_stopped(db: Path, store: Store) -> None:
    questions = order(store)
    async with workbench(db) as desk:
        await desk.press("d", "n", "n", "1")
        assert shown(desk) == questions[2]
    async with workbench(db) as desk:
        await desk.press("d")
        assert (shown(desk), facts_of(desk).at) == (questions[2], 1)
        await desk.press("1", "1")
    async with workbench(db) as desk:
        await desk.press("d")
        assert shown(desk) == questions[3]
        await desk.press("escape")
        row = samples_of(desk).sample.row
        assert row is not None
        assert row.question_id == questions[3]
        assert "1 of 4 mine done" in desk.text


# --- the sample ----------------------------------------------------------------------------------


async def test_one_key_draws_the_sample_where_there_is_none(tmp_path: Path, size: Size) -> None:
    path = tmp_path / "fresh.db"
    made = build_split(path)
    async with workbench(path, size) as desk:
        await desk.press("d")
        assert "none is chosen to label yet: m draws 4 of 4 at random (seed 0)" in desk.flat
        await desk.press("enter")
        samples_of(desk)
        await desk.press("m")
        assert "4 of 4 drawn (seed 0)" in desk.text
        assert "● saved" not in desk.text
        rows = samples_of(desk).sample.rows
        with open_store(path) as store:
            assert [r.trace_id for r in rows] == [
                r.trace_id for r in store.decomposition_rows(made, store.rater("ana").id).rows
            ]
            assert len(rows) == 4
        await desk.press("m")
        assert "4 traces are drawn already" in desk.text
        await desk.press("enter")
        assert shown(desk) == rows[0].question_id


async def test_the_list_shows_figures_and_walks_over_decompositions(
    db: Path, store: Store, size: Size
) -> None:
    split(store, "second", only=("s3",))
    questions = order(store)
    async with workbench(db, size) as desk:
        await desk.press("d", "1", "escape")
        line = next(x for x in desk.text.splitlines() if f"Question {questions[0][1]}?" in x)
        told = {"s0": "3 3 1 1", "s1": "2 3 1", "s2": "30 20 10", "s3": "2 2"}[questions[0]]
        assert " ".join(line.split()[5:]).endswith(f"0 {told} 1/3")
        assert "1 of 2 · unlabelled: 4 traces" in desk.flat
        await desk.press("d")
        assert "decompositions ▸ second" in desk.text
        assert "m draws 1 of 1 at random" in desk.text
        await desk.press("d")
        assert "decompositions ▸ split/a" in desk.text


async def test_without_decompositions_it_says_what_to_run(tmp_path: Path) -> None:
    from tests.tui.conftest import build

    build(tmp_path / "none.db")
    async with workbench(tmp_path / "none.db") as desk:
        await desk.press("d")
        assert isinstance(desk.app.screen, OverviewScreen)
        assert "no trace is split into facts yet: run medoid decompose" in desk.flat


def test_where_labelling_starts(store: Store) -> None:
    ana = store.rater("ana").id
    split_b = split(store, "second", only=("s3",))
    store.make_decomposition_sample(split_b, 50, 0)
    schema = store.schema("decomposition")
    first = store.neighbour_decomposed(1, ana)
    start = find_start(store, ana)
    assert start is not None
    assert (start.decomposition.name, start.trace_id) == ("split/a", first)
    three = trace_id(store, "s3")
    refs = store.criterion_items(split_b, three)
    store.commit_label(ana, refs[1].item_id, schema, category="no")
    assert store.last_decomposed(ana) == (split_b, three)
    start = find_start(store, ana)
    assert start is not None
    assert (start.decomposition.name, start.trace_id) == ("second", three)
    for ref in refs:
        store.commit_label(ana, ref.item_id, schema, category="yes")
    start = find_start(store, ana)
    assert start is not None
    assert (start.decomposition.name, start.trace_id) == ("split/a", first)
    assert store.last_decomposed(ana, 1) is None
    assert find_start(store, store.rater("bob").id) == start


# --- seal, keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [(80, 24), (120, 40)])
async def test_no_judge_is_ever_shown(db: Path, store: Store, where: Size) -> None:
    seen = []
    async with workbench(db, where) as desk:
        for key in ("d", "r", "escape", "question_mark", "escape", *"121", "p", "escape", "f"):
            await desk.press(key)
            seen.append(desk.text)
        await desk.press("d", "enter", *"111111111")
        seen.append(desk.text)
        await desk.press("r")
        seen.append(desk.text)
    for text in seen:
        for planted in (JUDGE, RATIONALE, PATH_JUDGE, PATH_RATIONALE, GOLD, "PLANTED-STRATUM"):
            assert planted not in text


async def test_the_labels_do_not_move_when_a_judge_says_otherwise(db: Path, store: Store) -> None:
    """The whole screen is the same whatever the judge said."""
    texts = []
    for no in ((), ("s0", "s1", "s2", "s3")):
        with open_store(db) as other:
            judge_all(other, no=no)
        async with workbench(db) as desk:
            await desk.press("d")
            texts.append(desk.text)
            await desk.press("escape")
            texts.append(desk.text)
    assert texts[:2] == texts[2:]


async def test_help_shows_the_guideline_and_the_keys(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("d", "question_mark")
        assert isinstance(desk.app.screen, HelpScreen)
        assert "Does the decomposition meet this criterion?" in desk.flat
        seen = []
        for _ in range(12):
            seen.append(desk.flat)
            await desk.press("pagedown")
        for told in ("Go to the next criterion.", "a step that the decomposer made no fact of"):
            assert any(told in text for text in seen)


async def test_the_palette_reaches_it_and_labels(db: Path, store: Store) -> None:
    questions = order(store)
    async with workbench(db) as desk:
        await desk.press("ctrl+p", *"decompos")
        assert "decompositions (d)" in desk.text
        await desk.press("down", "enter")
        await desk.settle()
        assert shown(desk) == questions[0]
        await desk.press("ctrl+p", *"label", "space", *"no")
        await desk.press("down", "enter")
        await desk.settle()
        assert stands(store, 1, trace_id(store, questions[0])) == ["no", "-", "-"]


async def test_a_failed_write_is_said_and_the_criterion_stays(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(db) as desk:
        await desk.press("d")

        def fails(*_: object, **__: object) -> None:
            raise RuntimeError("database is locked")

        monkeypatch.setattr(type(desk.app.session.store), "commit_label", fails)
        await desk.press("1")
        assert "NOT DONE: another program is writing to the database" in desk.flat
        assert "○ NOT SAVED" in desk.text
        assert facts_of(desk).at == 0
        assert "▸atomic: –" in desk.text
