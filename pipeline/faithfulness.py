"""Question-level faithfulness of SC and GSC, derived from one rater's path labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.sealing import is_running, known_rater
from store import Store
from store.records import FaithfulnessRow


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a group of questions.

    `n_faithful` and `n_spurious` questions are decided by the labels; `n_tied` have as many
    faithful as spurious ones, `n_unlabelled` none. Of `n_supporters` traces with the side's
    answer, `n_paths` carry a category, `n_sound` of them faithful. `share` is that of faithful
    questions among the decided, `weighted` the same with each question counted by the inverse of
    its inclusion probability; both None when none is decided.
    """

    n_faithful: int
    n_spurious: int
    n_tied: int
    n_unlabelled: int
    n_supporters: int
    n_paths: int
    n_sound: int
    share: float | None
    weighted: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Questions of one kind with both sides."""

    name: str
    n_questions: int
    sc: Side
    gsc: Side


@dataclass(frozen=True, slots=True)
class FaithfulnessReport:
    """What one rater's labels make of SC and GSC.

    `n_held` questions are left out: still sealed for this rater. `rows` are single questions.
    `versions` counts the labelled paths by the schema version they were labelled under.
    """

    rater: str
    schema: str
    groups: tuple[Group, ...]
    n_held: int
    rows: tuple[FaithfulnessRow, ...]
    versions: Mapping[int, int]


def faithfulness_report(
    store: Store, rater: str, schema: str = "path", *, unsealed: bool = False
) -> FaithfulnessReport:
    """Return derived faithfulness with its coverage.

    Which side a path stands for is sealed: while this person has sealed paths left to label, only
    questions count that they have revealed, or labelled elsewhere; and `rows` holds none ever that
    they have not revealed, unless `unsealed`.

    Raises
    ------
    ValueError
        When there is no such rater, or the schema has no category faithful.
    """
    counted, n_held = counted_rows(store, rater, schema, unsealed=unsealed)
    full = store.schema(schema).seal == "full"
    person = known_rater(store, rater).kind == "human"
    listed = [r for r in counted if r.revealed] if person and full and not unsealed else counted
    groups = (
        _group("all", counted),
        _group("disagreement", [r for r in counted if r.disagree]),
        _group("agreement", [r for r in counted if not r.disagree]),
    )
    found = (p.a_version for p in store.label_pairs(schema, rater, rater) if p.a is not None)
    versions = dict(sorted(Counter(v for v in found if v is not None).items()))
    return FaithfulnessReport(rater, schema, groups, n_held, tuple(listed), versions)


def counted_rows(
    store: Store, rater: str, schema: str, *, unsealed: bool
) -> tuple[list[FaithfulnessRow], int]:
    """Return the questions that may count for a rater's figures now, and how many may not."""
    record = known_rater(store, rater)
    rows = store.faithfulness(rater, schema)
    full = store.schema(schema).seal == "full"
    running = not unsealed and full and is_running(store, record, schema)
    counted = [r for r in rows if not running or r.revealed or _is_elsewhere(r)]
    return counted, len(rows) - len(counted)


def _is_elsewhere(row: FaithfulnessRow) -> bool:
    """Return whether a question carries labels of the rater's, none of them made here sealed."""
    return row.sc_labelled + row.gsc_labelled > 0 and not row.held


def _group(name: str, rows: Sequence[FaithfulnessRow]) -> Group:
    sc = _side(
        rows,
        lambda r: r.sc_faithful,
        [(r.sc_supporters, r.sc_labelled, r.sc_sound) for r in rows],
        n_tied=sum(r.sc_faithful is None and r.sc_labelled > 0 for r in rows),
    )
    gsc = _side(
        rows,
        lambda r: r.gsc_faithful,
        [(r.gsc_supporters, r.gsc_labelled, r.gsc_sound) for r in rows],
        n_tied=0,
    )
    return Group(name, len(rows), sc, gsc)


def _side(
    rows: Sequence[FaithfulnessRow],
    faithful: Callable[[FaithfulnessRow], bool | None],
    paths: Sequence[tuple[int, int, int]],
    *,
    n_tied: int,
) -> Side:
    decided = [
        (faithful(r) is True, 1 / r.inclusion_probability) for r in rows if faithful(r) is not None
    ]
    n_faithful = sum(sound for sound, _ in decided)
    weight = sum(w for _, w in decided)
    return Side(
        n_faithful=n_faithful,
        n_spurious=len(decided) - n_faithful,
        n_tied=n_tied,
        n_unlabelled=len(rows) - len(decided) - n_tied,
        n_supporters=sum(n for n, _, _ in paths),
        n_paths=sum(n for _, n, _ in paths),
        n_sound=sum(n for _, _, n in paths),
        share=n_faithful / len(decided) if decided else None,
        weighted=sum(w for sound, w in decided if sound) / weight if decided else None,
    )
