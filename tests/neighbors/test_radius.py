"""Estimators that ask all rows within a radius: scikit-learn's answers, and rows that are alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import RadiusNeighborsClassifier as PeerClassifier
from sklearn.neighbors import RadiusNeighborsRegressor as PeerRegressor

from assay.base import DataError, ParameterError
from assay.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor

WEIGHTS = ["uniform", "distance", lambda d: 1 / (1 + d) ** 2]


def peer_weights(weights: Any) -> Any:
    """scikit-learn hands an array of arrays to a function."""
    return (lambda d: np.array([weights(x) for x in d], object)) if callable(weights) else weights


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_classifier_matches_scikit_learn(weights: Any, algorithm: str) -> None:
    X, y = load_iris(return_X_y=True)
    ours = RadiusNeighborsClassifier(1.5, weights=weights, algorithm=algorithm).fit(X[::2], y[::2])
    theirs = PeerClassifier(1.5, weights=peer_weights(weights)).fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_regressor_matches_scikit_learn(weights: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, X[:, 2]])
    for target in (y, both):
        ours = RadiusNeighborsRegressor(0.2, weights=weights).fit(X[::2], target[::2])
        theirs = PeerRegressor(0.2, weights=peer_weights(weights)).fit(X[::2], target[::2])
        np.testing.assert_allclose(ours.predict(X[:50]), theirs.predict(X[:50]), rtol=1e-9)


@pytest.mark.parametrize(
    ("weights", "kernel"),
    [
        ("gaussian", lambda u: np.exp(-u * u / 2)),
        ("epanechnikov", lambda u: 1 - u * u),
        ("triangular", lambda u: 1 - u),
    ],
)
def test_kernels_take_distances_by_the_radius(weights: str, kernel: Any) -> None:
    model = RadiusNeighborsRegressor(4.0, weights=weights).fit([[0], [1], [3], [9]], [1, 2, 3, 99])
    w = kernel(np.array([0, 1, 3]) / 4)
    np.testing.assert_allclose(model.predict([[0]]), [w @ [1, 2, 3] / w.sum()], rtol=1e-12)


def test_row_at_the_edge_alone_decides_alone() -> None:
    model = RadiusNeighborsRegressor(4.0, weights="triangular").fit([[4.0]], [7.0])
    assert model.predict([[0.0]]).tolist() == [7.0]


def test_rows_without_a_neighbour_get_the_outlier_label() -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    far = [[0.0], [50.0]]
    plain = RadiusNeighborsClassifier(0.5).fit(X, y)
    with pytest.raises(DataError) as caught:
        plain.predict(far)
    assert str(caught.value) == (
        "row 1 of X has no training row within radius 0.5; use a larger radius, or set "
        "outlier_label"
    )
    most = RadiusNeighborsClassifier(0.5, outlier_label="most_frequent").fit(X, y)
    assert most.predict(far).tolist() == ["a", "b"]
    assert most.predict_proba(far).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    new = RadiusNeighborsClassifier(0.5, outlier_label="elsewhere").fit(X, y)
    assert new.predict(far).tolist() == ["a", "elsewhere"]
    with pytest.warns(UserWarning, match="is not a class of y"):
        assert new.predict_proba(far).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    restored = RadiusNeighborsClassifier.from_state(new.get_params(), new.state())
    assert restored.predict(far).tolist() == ["a", "elsewhere"]


def test_regressor_answers_nan_with_a_warning_where_no_row_is_near() -> None:
    model = RadiusNeighborsRegressor(0.5).fit([[0.0], [1.0]], [1.0, 2.0])
    with pytest.warns(UserWarning, match="1 rows have no training row within radius"):
        predicted = model.predict([[0.0], [9.0]])
    assert predicted[0] == 1.0
    assert np.isnan(predicted[1])


def test_leave_one_out_leaves_the_row_out() -> None:
    X, y = load_iris(return_X_y=True)
    ours = RadiusNeighborsClassifier(0.8, outlier_label=0).fit(X, y)
    theirs = PeerClassifier(0.8, outlier_label=0).fit(X, y)
    assert np.array_equal(ours.predict(None), theirs.predict(None))


@pytest.mark.parametrize("label", [["a"], 1.5, "b"])
def test_outlier_label_of_another_kind_is_refused(label: Any) -> None:
    with pytest.raises(ParameterError, match="outlier_label"):
        RadiusNeighborsClassifier(outlier_label=label).fit([[0.0], [1.0]], [0, 1])


def test_negative_radius_is_refused() -> None:
    for cls in (RadiusNeighborsClassifier, RadiusNeighborsRegressor):
        with pytest.raises(ParameterError, match="radius must be a number >= 0; got -1"):
            cls(-1.0).fit([[0.0], [1.0]], [0, 1])
