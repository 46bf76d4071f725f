"""The label schemas that come with medoid, one TOML file each."""

from __future__ import annotations

from pathlib import Path

SHIPPED = (
    "path",
    "step",
    "counterfactual",
    "decomposition",
    "pair",
    "cycle",
    "cycle-cause",
    "deduction",
)
"""Their names, in the order in which a new database gets them."""


def shipped_text(name: str) -> str:
    """Return a shipped schema as it stands in its file."""
    return (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
