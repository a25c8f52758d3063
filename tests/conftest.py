"""Shared by all tests: how many examples hypothesis tries."""

from __future__ import annotations

import os

from hypothesis import settings

# Derandomised: a test that passed passes again, so more examples on every run would be the same
# ones each time. `make test-long` asks for the last profile.
settings.register_profile("dev", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("ci", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("long", max_examples=500, derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
