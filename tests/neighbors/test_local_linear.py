"""Lines through neighbours: NumPy's least squares, and neighbourhoods that are no line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from assay.base import DataError, ParameterError
from assay.neighbors import KNeighborsRegressor, LocalLinearRegressor
from assay.neighbors._local_linear_fit import smoother_weights


def by_least_squares(
    X: NDArray[np.float64], y: NDArray[np.float64], queries: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    found = []
    for q in queries:
        near = np.argsort(cdist([q], X)[0], kind="stable")[:k]
        centre = X[near].mean(axis=0)
        slope = np.linalg.lstsq(X[near] - centre, y[near] - y[near].mean(axis=0), rcond=1e-9)[0]
        found.append(y[near].mean(axis=0) + (q - centre) @ slope)
    return np.array(found)


@given(seed=st.integers(0, 1000), k=st.integers(1, 25), d=st.integers(1, 5), several=st.booleans())
def test_prediction_is_minimum_norm_least_squares(seed: int, k: int, d: int, several: bool) -> None:
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(size=(25, d)), rng.normal(size=(6, d))
    y = rng.normal(size=(25, 2) if several else 25)
    found = LocalLinearRegressor(k).fit(X, y).predict(queries)
    np.testing.assert_allclose(found, by_least_squares(X, y, queries, k), rtol=1e-6, atol=1e-6)


@given(seed=st.integers(0, 1000), k=st.integers(5, 30))
def test_a_plane_is_reproduced_everywhere(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(size=(30, 2)), 3 * rng.normal(size=(5, 2))
    found = LocalLinearRegressor(k).fit(X, X @ [2.0, -1.0] + 3).predict(queries)
    np.testing.assert_allclose(found, queries @ [2.0, -1.0] + 3, rtol=1e-7, atol=1e-7)


def test_a_strong_ridge_leaves_the_mean_of_the_neighbours() -> None:
    rng = np.random.default_rng(0)
    X, y, queries = rng.normal(size=(40, 3)), rng.normal(size=40), rng.normal(size=(9, 3))
    found = LocalLinearRegressor(7, ridge=1e12).fit(X, y).predict(queries)
    mean = KNeighborsRegressor(7).fit(X, y).predict(queries)
    np.testing.assert_allclose(found, mean, rtol=1e-8, atol=1e-8)


def test_ridge_solves_the_penalised_problem() -> None:
    rng = np.random.default_rng(1)
    X, y, q = rng.normal(size=(12, 2)), rng.normal(size=12), np.array([0.3, -0.2])
    found = LocalLinearRegressor(12, ridge=0.5).fit(X, y).predict([q])
    C = X - X.mean(axis=0)
    S = C.T @ C
    slope = np.linalg.solve(S + 0.5 * np.trace(S) / 2 * np.eye(2), C.T @ (y - y.mean()))
    np.testing.assert_allclose(found, [y.mean() + (q - X.mean(axis=0)) @ slope])


def test_equal_neighbours_give_their_mean() -> None:
    model = LocalLinearRegressor(3).fit([[1.0, 2.0]] * 3, [1.0, 2.0, 6.0])
    assert model.predict([[5.0, 5.0]]).tolist() == [3.0]


def test_across_missing_directions_the_line_is_flat() -> None:
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    model = LocalLinearRegressor(3).fit(X, [0.0, 1.0, 2.0])
    np.testing.assert_allclose(model.predict([[1.5, 9.0]]), [1.5], rtol=1e-9)


def test_shares_sum_to_one_and_scale_with_nothing() -> None:
    rng = np.random.default_rng(2)
    gaps, weights = rng.normal(size=(4, 9, 3)), rng.uniform(size=(4, 9))
    shares = smoother_weights(gaps, weights, 0.0, 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(smoother_weights(1e80 * gaps, 1e-9 * weights, 0.0, 1), shares)


def test_threads_and_batches_change_no_byte() -> None:
    rng = np.random.default_rng(3)
    X, y, queries = rng.normal(size=(300, 4)), rng.normal(size=300), rng.normal(size=(50, 4))
    one = LocalLinearRegressor(9).fit(X, y).predict(queries)
    two = LocalLinearRegressor(9, n_jobs=2).fit(X, y)
    assert np.array_equal(one, two.predict(queries))
    assert np.array_equal(one, np.concatenate([two.predict(q[None]) for q in queries]))


def test_more_neighbours_than_rows_are_refused() -> None:
    message = r"at most the number of training rows \(n_samples = 2\); got 5"
    with pytest.raises(ParameterError, match=message):
        LocalLinearRegressor().fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_negative_ridge_is_refused() -> None:
    with pytest.raises(ParameterError, match="ridge must be a finite number >= 0; got -1"):
        LocalLinearRegressor(1, ridge=-1).fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_hostile_state_is_refused() -> None:
    model = LocalLinearRegressor(2).fit([[0.0], [1.0]], [0.0, 1.0])
    state = {**model.state(), "values_": np.zeros(3)}
    with pytest.raises(DataError, match="damaged"):
        LocalLinearRegressor.from_state(model.get_params(), state)
