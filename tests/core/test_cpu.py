"""The vector level is detected, can be capped, and is read from the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from assay._core import cpu

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(autouse=True)
def _level() -> Iterator[None]:
    yield
    cpu.limit(None)


def in_a_new_process(level: str) -> str:
    code = "from assay._core import cpu; print(cpu.level())"
    env = os.environ | {"ASSAY_CPU": level}
    return subprocess.check_output([sys.executable, "-c", code], env=env, text=True).strip()


def test_level_is_one_of_the_known_ones() -> None:
    assert cpu.level() in LEVELS


@pytest.mark.parametrize("cap", LEVELS)
def test_limit_caps_the_level_and_none_lifts_the_cap(cap: str) -> None:
    best = cpu.level()
    cpu.limit(cap)
    assert LEVELS.index(cpu.level()) == min(LEVELS.index(cap), LEVELS.index(best))
    cpu.limit(None)
    assert cpu.level() == best


def test_environment_caps_the_level() -> None:
    assert in_a_new_process("baseline") == "baseline"


def test_environment_ignores_an_unknown_level() -> None:
    assert in_a_new_process("sse9") in LEVELS


def test_limit_refuses_an_unknown_level() -> None:
    message = "^level must be 'baseline', 'avx2', 'avx512' or None$"
    with pytest.raises(ValueError, match=message):
        cpu.limit("sse9")


def test_threads_are_the_cores_of_the_process() -> None:
    assert cpu.threads() == len(os.sched_getaffinity(0))
