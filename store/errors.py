"""What the store refuses with."""

from __future__ import annotations


class StoreError(Exception):
    """The database cannot be used; the message says why and what would help."""


class SealedError(Exception):
    """Something the seal hides was asked for before its time."""
