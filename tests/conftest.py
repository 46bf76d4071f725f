"""Settings for the whole suite: hypothesis, and Ctrl-C as a terminal has it."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# The same examples on every run, so that a change is judged by itself; MEDOID_EXPLORE=1 looks
# for new ones. No deadline: how loaded a machine is says nothing about the code.
settings.register_profile(
    "medoid",
    derandomize=not os.environ.get("MEDOID_EXPLORE"),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("medoid")

# A shell that starts tests in the background has them, and what they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
