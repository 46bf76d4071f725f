"""Who labels, where nobody was named."""

from __future__ import annotations

import getpass
import os


def default_rater() -> str:
    """Return ``$MEDOID_RATER``, else the login name."""
    named = os.environ.get("MEDOID_RATER", "").strip()
    return named or getpass.getuser()
