"""Locally weighted regression: NumPy's least squares, and leaving out one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from assay.base import DataError, ParameterError
from assay.neighbors import LocallyWeightedRegressor
from assay.neighbors._kernels import KERNELS, kernel_weights

Array = NDArray[np.float64]


def by_least_squares(X: Array, y: Array, q: Array, weights: Array, degree: int) -> Any:
    if degree == 0:
        return np.average(y, axis=0, weights=weights)
    root = np.sqrt(weights)[:, None]
    design = root * np.column_stack([np.ones(len(X)), X - q])
    return np.linalg.lstsq(design, root * y.reshape(len(y), -1), rcond=None)[0][0]


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_prediction_is_weighted_least_squares(kernel: str, degree: int) -> None:
    rng = np.random.default_rng(0)
    X, y, queries = rng.normal(size=(80, 2)), rng.normal(size=80), rng.normal(size=(15, 2))
    model = LocallyWeightedRegressor(kernel=kernel, width=6.0, degree=degree).fit(X, y)
    weights = kernel_weights(kernel, cdist(queries, X), 6.0)
    wanted = [
        float(np.ravel(by_least_squares(X, y, q, w, degree))[0])
        for q, w in zip(queries, weights, strict=True)
    ]
    np.testing.assert_allclose(model.predict(queries), wanted, rtol=1e-8, atol=1e-8)


def test_document_example_uses_width_ten() -> None:
    x = np.arange(0.0, 20.0)
    y = np.sin(x / 3)
    model = LocallyWeightedRegressor().fit(x[:, None], y)
    weights = np.maximum(0, 1 - (2 * np.abs(x - 7.3) / 10) ** 2)
    wanted = by_least_squares(x[:, None], y, np.array([7.3]), weights, 1)
    np.testing.assert_allclose(model.predict([[7.3]]), wanted)
    assert model.width_ == 10.0


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", ["quadratic", "gaussian", "uniform"])
def test_leave_one_out_errors_are_those_of_refitting(kernel: str, degree: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + 0.1 * rng.normal(size=40)
    model = LocallyWeightedRegressor(kernel=kernel, width="loo", degree=degree).fit(X, y)
    keep = ~np.eye(40, dtype=bool)
    for width, error in list(zip(model.widths_, model.loo_errors_, strict=True))[::4]:
        again = LocallyWeightedRegressor(kernel=kernel, width=width, degree=degree)
        left_out = [again.fit(X[k], y[k]).predict(X[~k])[0] for k in keep]
        np.testing.assert_allclose(error, np.mean((y - left_out) ** 2), rtol=1e-5)
    assert model.width_ == model.widths_[model.loo_errors_.argmin()]


def test_chosen_width_beats_the_extremes() -> None:
    rng = np.random.default_rng(2)
    X = np.sort(rng.uniform(0, 10, size=(200, 1)), axis=0)
    truth = np.sin(X[:, 0])
    y = truth + 0.3 * rng.normal(size=200)
    errors = [
        np.mean((LocallyWeightedRegressor(width=w).fit(X, y).predict(X) - truth) ** 2)
        for w in ("loo", 0.1, 40.0)
    ]
    assert errors[0] < min(errors[1:])


def test_width_by_neighbours_reaches_to_the_next_one() -> None:
    rng = np.random.default_rng(3)
    X, y, queries = rng.normal(size=(60, 2)), rng.normal(size=60), rng.normal(size=(9, 2))
    model = LocallyWeightedRegressor(width="neighbors", n_neighbors=12, kernel="tricube")
    distance = cdist(queries, X)
    width = 2 * np.sort(distance, axis=1)[:, 12:13]
    weights = kernel_weights("tricube", distance, width)
    wanted = [by_least_squares(X, y, q, w, 1)[0] for q, w in zip(queries, weights, strict=True)]
    np.testing.assert_allclose(model.fit(X, y).predict(queries), wanted, rtol=1e-7, atol=1e-7)


def test_a_row_without_anyone_inside_gets_the_nearest_target() -> None:
    model = LocallyWeightedRegressor(width=1.0).fit([[0.0], [1.0], [10.0]], [1.0, 2.0, 3.0])
    assert model.predict([[7.0], [4.0]]).tolist() == [3.0, 2.0]


@given(seed=st.integers(0, 500), degree=st.integers(0, 1))
def test_integer_weights_are_copies(seed: int, degree: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(15, 2)), rng.normal(size=15), rng.integers(0, 3, size=15)
    weight[0] = 1
    queries = rng.normal(size=(4, 2))
    weighted = LocallyWeightedRegressor(width=8.0, degree=degree).fit(X, y, weight)
    copied = LocallyWeightedRegressor(width=8.0, degree=degree)
    copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.predict(queries), copied.predict(queries), rtol=1e-6, atol=1e-6
    )


def test_several_targets_are_predicted_together() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    both = LocallyWeightedRegressor(width="loo").fit(X, y)
    one = LocallyWeightedRegressor(width=both.width_).fit(X, y[:, 0])
    np.testing.assert_allclose(both.predict(X)[:, 0], one.predict(X), rtol=1e-12)


@pytest.mark.parametrize("width", [3.0, "neighbors"])
def test_threads_and_batches_change_no_byte(width: float | str) -> None:
    rng = np.random.default_rng(5)
    X, y, queries = rng.normal(size=(200, 3)), rng.normal(size=200), rng.normal(size=(30, 3))
    one = LocallyWeightedRegressor(width=width).fit(X, y).predict(queries)
    two = LocallyWeightedRegressor(width=width, n_jobs=2).fit(X, y)
    assert np.array_equal(one, two.predict(queries))
    assert np.array_equal(one, np.concatenate([two.predict(q[None]) for q in queries]))


def test_equal_rows_have_any_width() -> None:
    model = LocallyWeightedRegressor(width="loo").fit([[1.0]] * 4, [1.0, 2.0, 3.0, 6.0])
    np.testing.assert_allclose(model.predict([[1.0], [5.0]]), [3.0, 1.0])


ERRORS: list[tuple[dict[str, Any], str]] = [
    (
        {"width": 0},
        "width must be a finite number > 0, 'loo' or 'neighbors'; got 0",
    ),
    ({"degree": 2}, "degree must be an integer in [0, 1]; got 2"),
    (
        {"width": "neighbors", "n_neighbors": 9},
        "n_neighbors must be at most the number of training rows (n_samples = 3); got 9",
    ),
]


@pytest.mark.parametrize(("params", "message"), ERRORS, ids=["width", "degree", "n_neighbors"])
def test_a_wrong_parameter_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        LocallyWeightedRegressor(**params).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert str(error.value) == message


def test_two_rows_cannot_choose_a_width() -> None:
    with pytest.raises(DataError, match="width='loo' needs at least 3 rows"):
        LocallyWeightedRegressor(width="loo").fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_hostile_state_is_refused() -> None:
    model = LocallyWeightedRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    state = model.state()
    for name, value in [("width_", -1.0), ("weights_", np.zeros(2)), ("values_", np.zeros(5))]:
        with pytest.raises(DataError, match="damaged"):
            LocallyWeightedRegressor.from_state(model.get_params(), {**state, name: value})
