"""Hypothesis settings for the whole suite."""

from __future__ import annotations

import os

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
