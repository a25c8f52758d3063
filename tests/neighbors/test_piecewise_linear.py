"""Connecting the dots: SciPy's interpolation, ties, and outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import interp1d

from assay.base import DataError, ParameterError
from assay.neighbors import PiecewiseLinearRegressor


@given(seed=st.integers(0, 1000), n=st.integers(2, 30), outputs=st.integers(1, 2))
def test_one_column_is_scipy_interpolation(seed: int, n: int, outputs: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=(n, outputs))
    queries = rng.uniform(x.min(), x.max(), size=20)
    found = PiecewiseLinearRegressor().fit(x[:, None], y).predict(queries[:, None])
    wanted = interp1d(x, y, axis=0)(queries)
    np.testing.assert_allclose(found.reshape(20, -1), wanted, rtol=1e-9, atol=1e-9)


def test_linear_extrapolation_goes_on_along_the_outermost_line() -> None:
    x, y = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0])
    queries = np.array([-2.0, 5.0])
    model = PiecewiseLinearRegressor(extrapolation="linear").fit(x[:, None], y)
    wanted = interp1d(x, y, fill_value="extrapolate")(queries)
    np.testing.assert_allclose(model.predict(queries[:, None]), wanted)


def test_equal_rows_are_averaged_by_weight() -> None:
    X, y = [[0.0], [0.0], [1.0]], [0.0, 4.0, 1.0]
    assert PiecewiseLinearRegressor().fit(X, y).predict([[0.0]]).tolist() == [2.0]
    weighted = PiecewiseLinearRegressor().fit(X, y, sample_weight=[3.0, 1.0, 1.0])
    assert weighted.predict([[0.0]]).tolist() == [1.0]


@pytest.mark.parametrize("d", [2, 3])
def test_several_columns_reproduce_a_plane_inside_and_the_points_themselves(d: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, d))
    plane = X @ np.arange(1.0, d + 1) + 2
    model = PiecewiseLinearRegressor().fit(X, plane)
    queries = rng.uniform(0.4, 0.6, size=(20, d))
    np.testing.assert_allclose(model.predict(queries), queries @ np.arange(1.0, d + 1) + 2)
    np.testing.assert_allclose(model.predict(X), plane)


def test_outside_the_points_the_nearest_one_decides() -> None:
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    model = PiecewiseLinearRegressor().fit(X, [0.0, 1.0, 2.0, 3.0])
    assert model.predict([[5.0, 5.0], [-1.0, 2.0]]).tolist() == [3.0, 1.0]


@pytest.mark.parametrize("d", [2, 9])
def test_points_without_a_triangulation_answer_for_their_surroundings(d: int) -> None:
    line = np.arange(12.0)[:, None] * np.ones(d)
    model = PiecewiseLinearRegressor().fit(line, np.arange(12.0))
    assert model.predict(line + 0.1).tolist() == list(range(12))


def test_one_point_is_a_constant() -> None:
    assert PiecewiseLinearRegressor().fit([[1.0]], [7.0]).predict([[0.0], [9.0]]).tolist() == [7, 7]


def test_far_apart_points_do_not_overflow() -> None:
    model = PiecewiseLinearRegressor().fit([[-1.7e308], [1.7e308]], [0.0, 1.0])
    assert model.predict([[0.0]]).tolist() == [0.5]


def test_linear_extrapolation_needs_one_column() -> None:
    message = "extrapolation='linear' needs one column; X has 2 features"
    with pytest.raises(ParameterError, match=message):
        PiecewiseLinearRegressor(extrapolation="linear").fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])


def test_a_state_out_of_order_is_refused() -> None:
    model = PiecewiseLinearRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    state = {**model.state(), "rows_": np.array([[1.0], [0.0]])}
    with pytest.raises(DataError, match="not ascending"):
        PiecewiseLinearRegressor.from_state({}, state)
