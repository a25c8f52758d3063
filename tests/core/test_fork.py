"""A process forked after the pool was used can use it too, and nothing hangs."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from assay._core import blas, neighbors

# Python 3.12 warns of any fork beside threads; that it works here is the claim.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def search_works() -> bool:
    rows = np.random.default_rng(0).normal(size=(2000, 8))
    distance = np.empty((500, 3))
    index = np.empty((500, 3), dtype=np.int64)
    neighbors.brute_force(rows[:500], rows, 3, 2.0, distance, index, 3)
    return bool((index[:, 0] == np.arange(500)).all())


def product_works() -> bool:
    a = np.random.default_rng(0).normal(size=(1500, 8))
    out = np.empty((1500, 1500))
    blas.gemm(a, a, out, transpose_b=True, n_threads=3)
    return bool(np.allclose(out, a @ a.T))


def exit_code_of_child(seconds: float = 30) -> int | None:
    """Fork, search in the child, and return its exit code; None if it hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if search_works() and product_works() else 1
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def test_forked_child_can_search_after_the_parent_did() -> None:
    assert search_works()
    assert product_works()
    for _ in range(3):
        assert exit_code_of_child() == 0
    assert search_works()


def test_child_of_a_child_can_search() -> None:
    assert search_works()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if search_works() and exit_code_of_child() == 0 else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
