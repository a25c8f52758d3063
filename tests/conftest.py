"""Shared by all tests: how many examples hypothesis tries."""

from __future__ import annotations

import os

from hypothesis import settings

# Derandomised: a test that passed passes again. CI looks longer than a developer waits.
settings.register_profile("dev", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("ci", max_examples=200, derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
