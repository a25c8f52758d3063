"""The bridge to SciPy's BLAS: right results, one thread at a time, loaded on first use."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay._core import blas

PRECISIONS = [(np.float64, 1e-12), (np.float32, 1e-4)]


def matrix(rows: int, cols: int, dtype: Any) -> NDArray[Any]:
    return np.random.default_rng([rows, cols]).normal(size=(rows, cols)).astype(dtype)


@pytest.mark.parametrize(("dtype", "rtol"), PRECISIONS)
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_gemm_equals_numpy(dtype: Any, rtol: float, transpose_a: bool, transpose_b: bool) -> None:
    a, b, out = matrix(1300, 7, dtype), matrix(7, 5, dtype), matrix(1300, 5, dtype)
    expected = 2 * a @ b + 3 * out
    blas.gemm(
        np.ascontiguousarray(a.T) if transpose_a else a,
        np.ascontiguousarray(b.T) if transpose_b else b,
        out, transpose_a, transpose_b, 2, 3, 2,
    )  # fmt: skip
    np.testing.assert_allclose(out, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), PRECISIONS)
def test_gemv_and_syrk_equal_numpy(dtype: Any, rtol: float) -> None:
    a, x = matrix(9, 4, dtype), matrix(4, 1, dtype)[:, 0].copy()
    y = np.zeros(9, dtype=dtype)
    blas.gemv(a, x, y)
    np.testing.assert_allclose(y, a @ x, rtol=rtol)
    back = np.ones(4, dtype=dtype)
    blas.gemv(a, y, back, True, 1, 2)
    np.testing.assert_allclose(back, a.T @ y + 2, rtol=rtol)
    for transpose, gram in ((True, a.T @ a), (False, a @ a.T)):
        out = np.zeros_like(gram)
        blas.syrk(a, out, transpose)
        np.testing.assert_allclose(out, np.tril(gram), rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), PRECISIONS)
def test_potrf_and_trsm_solve_a_system(dtype: Any, rtol: float) -> None:
    a = matrix(6, 6, dtype)
    system = a @ a.T + 6 * np.eye(6, dtype=dtype)
    factor, x = system.copy(), matrix(6, 2, dtype)
    right = x.copy()
    assert blas.potrf(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(system), rtol=10 * rtol)
    blas.trsm(factor, x)
    blas.trsm(factor, x, True)
    np.testing.assert_allclose(system @ x, right, rtol=100 * rtol, atol=rtol)


def test_potrf_reports_a_matrix_that_is_not_positive_definite() -> None:
    assert not blas.potrf(np.array([[1.0, 0.0], [0.0, -1.0]]))


def test_gemm_has_the_same_bytes_for_any_number_of_threads() -> None:
    a, b = matrix(3000, 40, np.float64), matrix(40, 30, np.float64)
    results = []
    for n_threads in (1, 2, 5):
        out = np.empty((3000, 30))
        blas.gemm(a, b, out, n_threads=n_threads)
        results.append(out.tobytes())
    assert len(set(results)) == 1


def test_blas_runs_on_one_thread_inside_our_calls_and_on_its_own_outside() -> None:
    outside = blas.threads()
    assert outside >= 1, "the BLAS behind SciPy's wheels can be told its number of threads"
    assert blas.threads(inside=True) == 1
    assert blas.threads() == outside


def test_operands_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^the shapes of the BLAS operands do not fit$"):
        blas.gemm(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)))


def test_scipy_is_imported_on_first_use_only() -> None:
    code = (
        "import sys, numpy as np\n"
        "from assay._core import blas, neighbors\n"
        "assert not [m for m in sys.modules if m.startswith('scipy')], 'imported too early'\n"
        "blas.gemm(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)))\n"
        "assert 'scipy.linalg.cython_blas' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
