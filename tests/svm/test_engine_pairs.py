"""One-vs-one machines in one call: each is the machine of its two classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

from assay.base import DataError, ParameterError
from assay.svm.engine import (
    Kernel,
    decide_pairs,
    solve,
    solve_pairs,
    solve_pairs_path,
    squared_distances,
)


def test_pairs_match_libsvm_on_digits() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    model = SVC(gamma=0.001, C=2.0, decision_function_shape="ovo", tol=1e-5).fit(X, y)
    kernel = Kernel("rbf", gamma=0.001)
    pairs = solve_pairs(X, kernel, y, 10, 2.0, tol=1e-5, n_threads=2)
    assert set(pairs.stop_reason) == {"converged"}
    assert pairs.kkt_residual.max() <= 1.1e-5
    support = np.flatnonzero((pairs.coef != 0).any(axis=1))
    support = support[np.argsort(y[support], kind="stable")]
    counts = np.bincount(y[support], minlength=10)
    found = decide_pairs(kernel, X, X[support], pairs.coef[support].T, counts, pairs.bias)
    np.testing.assert_allclose(found, model.decision_function(X), atol=2e-4)


def test_every_pair_is_the_machine_of_its_two_classes_for_any_threads() -> None:
    X, y = load_iris(return_X_y=True)
    kernel, upper = Kernel("rbf", gamma=0.5), np.linspace(0.5, 2.0, len(X))
    pairs = solve_pairs(X, kernel, y, 3, upper)
    again = solve_pairs(X, kernel, y, 3, upper, n_threads=2)
    known = solve_pairs(X, kernel, y, 3, upper, values=kernel.matrix(X, dtype=np.float32))
    assert np.array_equal(pairs.coef, again.coef)
    assert np.array_equal(pairs.coef, known.coef)
    assert np.array_equal(pairs.bias, known.bias)
    exact = solve_pairs(X, kernel, y, 3, upper, exact=kernel.matrix(X))
    assert np.array_equal(pairs.coef, exact.coef)
    assert np.array_equal(pairs.duality_gap, exact.duality_gap)
    for p, (a, b) in enumerate(combinations(range(3), 2)):
        rows = np.concatenate([np.flatnonzero(y == a), np.flatnonzero(y == b)])
        signs = np.where(y[rows] == a, 1.0, -1.0)
        alone = solve(X[rows], kernel, signs, -np.ones(len(rows)), upper[rows])
        own = np.where(y[rows] == a, pairs.coef[rows, b - 1], pairs.coef[rows, a])
        assert np.array_equal(own, signs * alone.alpha)
        assert pairs.objective[p] == pytest.approx(alone.objective, rel=1e-9)


def test_a_start_at_the_solution_takes_no_step_and_a_bad_one_is_dropped() -> None:
    X, y = load_iris(return_X_y=True)
    kernel = Kernel("rbf", gamma=0.5)
    first = solve_pairs(X, kernel, y, 3, 1.0)
    again = solve_pairs(X, kernel, y, 3, 1.0, start=first.coef)
    assert again.n_iter.sum() <= first.n_iter.sum()
    bad = solve_pairs(X, kernel, y, 3, 1.0, start=np.ones_like(first.coef))
    assert np.array_equal(bad.coef, first.coef)


def test_a_precomputed_matrix_gives_the_same_machines() -> None:
    X, y = load_iris(return_X_y=True)
    kernel = Kernel("rbf", gamma=0.5)
    pairs = solve_pairs(X, kernel, y, 3, 1.0, tol=1e-8)
    given = solve_pairs(kernel.matrix(X), Kernel("precomputed"), y, 3, 1.0, tol=1e-8)
    np.testing.assert_allclose(given.coef, pairs.coef, atol=1e-4)


def test_classes_without_rows_are_named() -> None:
    with pytest.raises(DataError, match="codes must be 0 to 2, each at least once"):
        solve_pairs(np.eye(3), Kernel("linear"), [0, 1, 1], 3, 1.0)


def test_every_price_of_a_path_is_a_run_of_its_own_to_the_bit() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16.0, y[:400]
    kernel = Kernel("rbf", gamma=0.05)
    values, exact = kernel.matrix(X, dtype=np.float32), kernel.matrix(X)
    uppers = np.outer([0.1, 1.0, 100.0], np.linspace(0.5, 2.0, len(X)))
    path = solve_pairs_path(X, kernel, y, 10, uppers, n_threads=2, values=values, exact=exact)
    for upper, pairs in zip(uppers, path, strict=True):
        alone = solve_pairs(X, kernel, y, 10, upper)
        assert np.array_equal(pairs.coef, alone.coef)
        assert np.array_equal(pairs.bias, alone.bias)
        assert np.array_equal(pairs.n_iter, alone.n_iter)
        assert np.array_equal(pairs.kkt_residual, alone.kkt_residual)
        assert pairs.stop_reason == alone.stop_reason


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_of_every_gamma_come_from_one_set_of_distances(dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(90, 70))
    Z = X[::3].copy()
    for gamma in (0.001, 0.3):
        kernel = Kernel("rbf", gamma=gamma)
        for other in (None, Z):
            distances = squared_distances(X, other, 2, dtype)
            expected = kernel.matrix(X, other if other is not None else X.copy(), dtype=dtype)
            assert np.array_equal(kernel.of_distances(distances), expected)
    with pytest.raises(ParameterError, match="kind must be 'rbf' to use squared distances"):
        Kernel("linear").of_distances(distances)
