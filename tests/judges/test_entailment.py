"""Entailment scores from a cross-encoder of our own making: tiny, random, and in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judges.embedders import EmbedderError
from judges.entailment import CrossEncoderEntailment, revision_of

pytestmark = pytest.mark.embed

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "dogs", "eat", "kibble", "cats", "no")
PAIRS = [("dogs eat kibble", "dogs eat"), ("cats", "no kibble"), ("dogs", "dogs eat kibble no")]


def model(folder: Path, labels: dict[int, str]) -> Path:
    """Save a cross-encoder with random weights and these labels."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"))
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=32,
        num_labels=len(labels),
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
        initializer_range=1.0,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def logits(folder: Path, pairs: list[tuple[str, str]]) -> Any:
    """Return what the model itself gives, one pair at a time."""
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    bare = BertForSequenceClassification.from_pretrained(str(folder)).eval()
    with torch.no_grad():
        rows = [bare(**tokenizer(a, b, return_tensors="pt")).logits[0].numpy() for a, b in pairs]
    return np.array(rows, dtype=np.float64)


def test_the_probability_of_the_label_called_entailment(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", {0: "contradiction", 1: "entailment", 2: "neutral"})
    judge = CrossEncoderEntailment(str(folder))
    raised = np.exp(logits(folder, PAIRS))
    want = raised[:, 1] / raised.sum(axis=1)
    assert judge(PAIRS) == pytest.approx(want.tolist(), abs=1e-5)
    assert len({round(x, 3) for x in want}) == 3  # the order of the pairs is kept
    assert judge([]) == []
    assert judge.revision == revision_of(str(folder))
    assert judge.revision.startswith("sha256:")


def test_a_single_output_is_a_probability(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", {0: "LABEL_0"})
    want = 1.0 / (1.0 + np.exp(-logits(folder, PAIRS)[:, 0]))
    assert CrossEncoderEntailment(str(folder))(PAIRS) == pytest.approx(want.tolist(), abs=1e-5)


def test_a_model_without_such_a_label_is_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", {0: "good", 1: "bad"})
    with pytest.raises(EmbedderError, match="good, bad: one called entailment"):
        CrossEncoderEntailment(str(folder))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        CrossEncoderEntailment(str(tmp_path))
    assert revision_of(str(tmp_path)) is None
