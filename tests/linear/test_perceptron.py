"""The perceptron: its mistakes, its bound, its variants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from assay.base import DataError, ParameterError
from assay.linear import Perceptron
from assay.theory import perceptron_mistake_bound

Floats = NDArray[np.float64]


def separable(
    n: int, margin: float, seed: int, offset: float = 0.0
) -> tuple[Floats, NDArray[np.int64]]:
    """Rows at least `margin` away from a known line."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (6 * n, 3))
    normal = rng.standard_normal(3)
    distance = X @ normal / np.linalg.norm(normal) - offset
    kept = np.flatnonzero(np.abs(distance) >= margin)[:n]
    return X[kept], (distance[kept] > 0).astype(np.int64)


def plain_perceptron(X: Floats, y: NDArray[np.int64]) -> tuple[Floats, int]:
    """The textbook loop, rows in order."""
    rows = np.column_stack([X, np.ones(len(X))])
    w, mistakes = np.zeros(rows.shape[1]), 0
    while True:
        wrong = 0
        for row, label in zip(rows, y, strict=True):
            if (row @ w >= 0) != (label == 1):
                w += (1 if label else -1) * row
                wrong += 1
        mistakes += wrong
        if wrong == 0:
            return w, mistakes


def test_perceptron_is_the_textbook_loop() -> None:
    X, y = separable(60, 0.05, 3, offset=0.2)
    w, mistakes = plain_perceptron(X, y)
    model = Perceptron(shuffle=False, n_iter_no_change=None).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w[:3], rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, w[3:], rtol=1e-12)
    assert model.n_mistakes_.tolist() == [mistakes]
    assert model.mistake_history_.sum() == mistakes


@given(st.integers(0, 2**20), st.floats(0.02, 0.3))
@settings(max_examples=40, deadline=None)
def test_mistakes_never_exceed_the_bound_of_a_known_margin(seed: int, margin: float) -> None:
    X, y = separable(80, margin, seed)
    if len(np.unique(y)) < 2:
        return
    model = Perceptron(fit_intercept=False, n_iter_no_change=None, random_state=seed).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert (model.predict(X) == y).all()
    assert model.n_mistakes_[0] <= perceptron_mistake_bound(model.radius_, margin)
    assert model.n_mistakes_[0] <= model.mistake_bound_[0]


def test_radius_and_margin_are_those_of_the_rows() -> None:
    X, y = separable(50, 0.1, 1, offset=0.3)
    model = Perceptron(n_iter_no_change=None).fit(X, y)
    rows = np.column_stack([X, np.ones(len(X))])
    w = np.append(model.coef_[0], model.intercept_)
    assert model.radius_ == pytest.approx(np.linalg.norm(rows, axis=1).max())
    signs = 2 * y - 1
    assert model.margin_[0] == pytest.approx((signs * (rows @ w)).min() / np.linalg.norm(w))
    assert model.n_mistakes_[0] <= model.mistake_bound_[0]


def test_centring_makes_far_rows_easy() -> None:
    X, y = make_blobs(100, centers=[[-1.0, 0.0], [1.0, 0.0]], cluster_std=0.25, random_state=0)
    far = X + 50.0
    plain = Perceptron(n_iter_no_change=None).fit(far, y)
    centred = Perceptron(center=True, n_iter_no_change=None).fit(far, y)
    near = Perceptron(fit_intercept=False, n_iter_no_change=None).fit(X - X.mean(axis=0), y)
    assert centred.n_mistakes_[0] < plain.n_mistakes_[0]
    np.testing.assert_allclose(centred.coef_, near.coef_, rtol=1e-9)
    assert (centred.predict(far) == y).all()


def test_normalised_weights_have_length_one() -> None:
    X, y = separable(60, 0.05, 5)
    model = Perceptron(normalize=True, n_iter_no_change=None).fit(X, y)
    length = (model.coef_**2).sum() + (model.intercept_**2).sum()
    assert length == pytest.approx(1)
    assert (model.predict(X) == y).all()


def test_a_score_of_zero_is_the_positive_class() -> None:
    model = Perceptron().fit([[1.0], [-1.0]], [1, 0])
    model.coef_[:], model.intercept_[:] = 1.0, 0.0
    assert model.predict([[0.0]]).tolist() == [1]


@pytest.mark.parametrize("center", [False, True])
def test_sparse_rows_give_the_same_model(center: bool) -> None:
    X, y = separable(80, 0.05, 2)
    X[np.abs(X) < 0.3] = 0
    dense = Perceptron(center=center, max_iter=50).fit(X, y)
    sparse = Perceptron(center=center, max_iter=50).fit(csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-9)
    assert dense.radius_ == pytest.approx(sparse.radius_)


def test_partial_fit_is_one_pass_of_fit() -> None:
    X, y = separable(60, 0.02, 4)
    passes = Perceptron(shuffle=False, n_iter_no_change=None)
    for _ in range(3):
        passes.partial_fit(X, y, classes=[0, 1])
    with pytest.warns(ConvergenceWarning, match="still made in pass 3"):
        whole = Perceptron(shuffle=False, n_iter_no_change=None, max_iter=3).fit(X, y)
    np.testing.assert_array_equal(passes.coef_, whole.coef_)
    assert passes.n_mistakes_.tolist() == whole.n_mistakes_.tolist()


def test_several_classes_are_one_against_the_others() -> None:
    X, y = make_blobs(90, centers=3, cluster_std=0.5, random_state=1)
    model = Perceptron(shuffle=False).fit(X, y)
    assert model.coef_.shape == (3, 2)
    for k in range(3):
        binary = Perceptron(shuffle=False).fit(X, y == k)
        np.testing.assert_array_equal(model.coef_[k], binary.coef_[0])
    two = Perceptron(shuffle=False, n_jobs=2).fit(X, y)
    assert two.digest() == model.digest()


def test_inseparable_rows_end_by_patience() -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # exclusive or
    model = Perceptron(n_iter_no_change=5).fit(X, y)
    assert model.stop_reason_ == "no_decrease"
    assert np.isinf(model.mistake_bound_[0])


def test_wrong_parameters_and_labels_are_named() -> None:
    with pytest.raises(ParameterError, match="eta0 must be a finite number > 0; got 0"):
        Perceptron(eta0=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="schedule must be 'constant'"):
        Perceptron(schedule="line_search").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match="one class only"):
        Perceptron().fit([[0.0], [1.0]], [1, 1])
