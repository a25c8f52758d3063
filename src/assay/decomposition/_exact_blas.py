"""LAPACK whose result does not depend on the number of cores."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()  # looking for the libraries takes milliseconds


def one_blas_thread() -> Any:
    """Return a context in which BLAS uses one thread, since its results depend on their number."""
    return _pools().limit(limits=1, user_api="blas")
