"""Entailment scores from a cross-encoder, by path or name. Loaded on first use only."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judges.embedders import EmbedderError, readable

EXTRA_MISSING = (
    "an entailment model needs the embed extra: from a clone of medoid, pip install '.[embed]'"
)
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class CrossEncoderEntailment:
    """P(premise entails hypothesis) by a sentence-transformers cross-encoder.

    A model with several labels gives the softmax of the one called "entailment"; a model with a
    single output gives its sigmoid.

    Attributes
    ----------
    name
        The path or name it was asked for by.
    revision
        sha256 of its weights for a folder, the commit for a name, empty where there is none.

    Raises
    ------
    EmbedderError
        When the extra is missing, the model cannot be loaded, or none of its labels is entailment.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._model = _load(name)
        config = self._model.config
        self.revision = revision_of(name) or str(getattr(config, "_commit_hash", None) or "")
        labels = {int(i): str(label) for i, label in (config.id2label or {}).items()}
        self._column: int | None = None
        if len(labels) > 1:
            found = [i for i, label in labels.items() if label.lower().startswith("entail")]
            if len(found) != 1:
                raise EmbedderError(
                    f"{name} has the labels {', '.join(labels.values())}: one called entailment "
                    "is needed"
                )
            self._column = found[0]

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return a score in [0, 1] for every (premise, hypothesis)."""
        import numpy as np

        if not pairs:
            return []
        order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i][0]) - len(pairs[i][1]))
        logits = np.asarray(
            self._model.predict(
                [[readable(text) for text in pairs[i]] for i in order],
                batch_size=32,
                show_progress_bar=False,
                activation_fn=_identity(),
                convert_to_numpy=True,
            ),
            dtype=np.float64,
        ).reshape(len(pairs), -1)
        if self._column is None:
            scores = 1.0 / (1.0 + np.exp(-logits[:, 0]))
        else:
            raised = np.exp(logits - logits.max(axis=1, keepdims=True))
            scores = raised[:, self._column] / raised.sum(axis=1)
        out = np.empty(len(pairs))
        out[order] = np.clip(scores, 0.0, 1.0)
        return [float(x) for x in out]


def revision_of(name: str) -> str | None:
    """Return the sha256 of a model folder's weights, None where `name` is no such folder."""
    for file in WEIGHTS:
        path = Path(name).expanduser() / file
        if path.is_file():
            digest = hashlib.sha256()
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
            return f"sha256:{digest.hexdigest()}"
    return None


@functools.cache
def open_entailment(name: str) -> CrossEncoderEntailment:
    """Load an entailment model, once a process."""
    return CrossEncoderEntailment(name)


def _identity() -> Any:
    import torch

    return torch.nn.Identity()


def _load(name: str) -> Any:
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise EmbedderError(EXTRA_MISSING) from error
    try:
        return CrossEncoder(
            str(Path(name).expanduser()) if Path(name).expanduser().exists() else name
        )
    except (OSError, ValueError) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise EmbedderError(f"the entailment model {name} cannot be loaded: {told}") from error
