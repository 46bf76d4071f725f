"""Importing the package stays light: scipy is loaded by the functions that need it."""

from __future__ import annotations

import subprocess
import sys


def test_import_and_kappa_leave_scipy_optimize_and_stats_out() -> None:
    code = (
        "import sys; from scoring.agreement import cohen_kappa;"
        "cohen_kappa([1, 2, 2], [1, 2, 1]);"
        "print(*(m in sys.modules for m in ('scipy.optimize', 'scipy.stats', 'sklearn')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]
