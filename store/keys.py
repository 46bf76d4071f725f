"""Stable text keys of items (DESIGN, Identity)."""

from __future__ import annotations

import re
from dataclasses import dataclass


def encode_part(part: str) -> str:
    """Percent-encode what would break a key: ``%`` and ``/``.

    >>> encode_part("a/b 50%")
    'a%2Fb 50%25'
    """
    return part.replace("%", "%25").replace("/", "%2F")


def decode_part(part: str) -> str:
    """Undo `encode_part`.

    >>> decode_part("a%2Fb 50%25")
    'a/b 50%'
    """
    return re.sub(r"%(2[Ff]|25)", lambda m: "/" if m[1].lower() == "2f" else "%", part)


_NO_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_name(text: str) -> bool:
    """Return whether a text can be part of a key: not blank, UTF-8, without control characters.

    >>> is_name("gsm8k"), is_name("a\\tb"), is_name(" ")
    (True, False, False)
    """
    return bool(text.strip()) and _NO_NAME.search(text) is None


def path_key(dataset: str, question: str, pool: str, sample: str) -> str:
    """Return the key of a path item.

    >>> path_key("own", "yn-1", "qwen@own-1", "0")
    'path:own/yn-1/qwen@own-1/0'
    """
    return "path:" + "/".join(encode_part(p) for p in (dataset, question, pool, sample))


def split_path_key(key: str) -> tuple[str, str, str, str]:
    """Return dataset, question, pool and sample of a path key.

    Raises
    ------
    ValueError
        When the key is not ``path:DATASET/QUESTION/POOL/SAMPLE``.
    """
    kind, _, rest = key.partition(":")
    parts = [decode_part(p) for p in rest.split("/")]
    if kind != "path" or len(parts) != 4 or not all(parts):
        raise ValueError(f"item {key!r} is not path:DATASET/QUESTION/POOL/SAMPLE")
    return parts[0], parts[1], parts[2], parts[3]


CRITERIA = ("atomic", "nothing_invented", "dependencies_kept")
"""What a decomposition is judged by, one item each."""

FORMS = {
    "path": "path:DATASET/QUESTION/POOL/SAMPLE",
    "step": "step:DATASET/QUESTION/POOL/SAMPLE/STEP",
    "criterion": "criterion:DATASET/QUESTION/POOL/SAMPLE/DECOMPOSITION/CRITERION",
    "counterfactual": "counterfactual:DATASET/QUESTION/POOL/SAMPLE/STEP[/EDITING]",
    "pair": "pair:SET/MODEL/A/B",
    "cycle": "cycle:SET/MODEL/AXIS/HASH",
    "deduction": "deduction:PROBLEM/MODEL/MUTATION/K",
}
"""What the key of each kind of item looks like."""

_TRACE_KINDS = ("path", "step", "criterion", "counterfactual")

FIRST_EDITING = "default"
"""The editing whose items are named without it; those of any other have its name at the end."""


@dataclass(frozen=True, slots=True)
class TraceItemKey:
    """The parts of the key of a path, a step, a criterion of a trace's decomposition, or an edit.

    `editing` is None for what is no edit.
    """

    kind: str
    trace: tuple[str, str, str, str]
    step: int | None = None
    decomposition: str | None = None
    criterion: str | None = None
    editing: str | None = None

    def __str__(self) -> str:
        editing = None if self.editing == FIRST_EDITING else self.editing
        last = [
            p for p in (self.decomposition, self.criterion, self.step, editing) if p is not None
        ]
        return f"{self.kind}:" + "/".join(encode_part(str(p)) for p in (*self.trace, *last))

    @classmethod
    def parse(cls, key: str) -> TraceItemKey:
        """Read a key.

        Raises
        ------
        ValueError
            When it is none of these.
        """
        kind, _, rest = key.partition(":")
        if kind not in _TRACE_KINDS:
            forms = ", ".join(FORMS[k] for k in _TRACE_KINDS)
            raise ValueError(f"item {key!r} is none of {forms}")
        *parts, last = [decode_part(p) for p in rest.split("/")]
        if kind == "path":
            parts.append(last)
        wanted = f"item {key!r} is not {FORMS[kind]}"
        editing = FIRST_EDITING if kind == "counterfactual" else None
        if kind == "counterfactual" and len(parts) == 5:
            editing, last = last, parts.pop()
        if len(parts) != (5 if kind == "criterion" else 4) or not all(parts):
            raise ValueError(wanted)
        trace = (parts[0], parts[1], parts[2], parts[3])
        if kind == "path":
            return cls(kind, trace)
        if kind == "criterion":
            if last not in CRITERIA:
                raise ValueError(f"{wanted}; a criterion is one of {', '.join(CRITERIA)}")
            return cls(kind, trace, decomposition=parts[4], criterion=last)
        if not re.fullmatch("0|[1-9][0-9]{0,8}", last):
            raise ValueError(f"{wanted}; a step is a number from 0")
        if editing == "":
            raise ValueError(wanted)
        return cls(kind, trace, step=int(last), editing=editing)


RELATION_KINDS = ("pair", "cycle")


@dataclass(frozen=True, slots=True)
class RelationItemKey:
    """The parts of the key of a stated pair, or of a cycle of statements.

    `asking` is MODEL: the name under which the set was asked about. `rest` is A, B of a pair, and
    AXIS, HASH of a cycle.
    """

    kind: str
    set: str
    asking: str
    rest: tuple[str, str]

    def __str__(self) -> str:
        parts = (self.set, self.asking, *self.rest)
        return f"{self.kind}:" + "/".join(encode_part(p) for p in parts)

    @classmethod
    def parse(cls, key: str) -> RelationItemKey:
        """Read a key.

        Raises
        ------
        ValueError
            When it is none of a pair or cycle.
        """
        kind, _, rest = key.partition(":")
        parts = [decode_part(p) for p in rest.split("/")]
        if kind not in RELATION_KINDS or len(parts) != 4 or not all(parts):
            forms = (kind,) if kind in RELATION_KINDS else RELATION_KINDS
            raise ValueError(f"item {key!r} is not {' or '.join(FORMS[k] for k in forms)}")
        return cls(kind, parts[0], parts[1], (parts[2], parts[3]))


def split_cluster(cluster: str) -> tuple[str, str]:
    """Return both parts of a cluster, e.g. a relation set and the name it was asked under.

    >>> split_cluster("us%2Fcities/m@free")
    ('us/cities', 'm@free')
    """
    first, _, second = cluster.partition("/")
    return decode_part(first), decode_part(second)


def sample_order(sample: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key in which ``10`` follows ``9`` and names sort as people expect.

    >>> sorted(["10", "9", "b2", "b10"], key=sample_order)
    ['9', '10', 'b2', 'b10']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", sample)
    digits = [p.lstrip("0") for p in parts]
    return tuple(
        (0, len(d), d) if "0" <= p[0] <= "9" else (1, 0, p)
        for p, d in zip(parts, digits, strict=True)
    )
