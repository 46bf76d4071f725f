"""Stable text keys of items (DESIGN, Identity)."""

from __future__ import annotations

import re


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
