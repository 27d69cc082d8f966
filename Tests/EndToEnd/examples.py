"""The number of histories that hypothesis tries: a few that are always the same, or with LIFED_EXAMPLES=N as many others."""

import os

from hypothesis import HealthCheck, settings

COUNT = os.environ.get("LIFED_EXAMPLES")
SETTINGS = settings(
    derandomize=COUNT is None,
    max_examples=int(COUNT or 12),
    stateful_step_count=40,
    # The machine may be busy; each step has guards of its own.
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
