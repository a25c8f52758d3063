"""The path: every C from one kernel matrix, with the numbers of a fit alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from assay.base import ParameterError, same
from assay.select import Family, assert_path_equals_single_fits
from assay.svm import SVC, SVR
from assay.svm.engine import Kernel, solve_pairs_path, squared_distances
from tests.along import fits_along

PRICES = [{"C": C} for C in (0.1, 1.0, 10.0, 100.0)]
GRID = [
    {**price, **kernel}
    for kernel in ({"gamma": 0.05}, {"kernel": "linear"}, {"gamma": "scale"}, {"gamma": "auto"})
    for price in PRICES[:3]
]


@pytest.fixture
def matrices(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The shapes of all kernel matrices that are computed."""
    shapes: list[tuple[int, int]] = []
    real = Kernel.matrix

    def counted(self: Kernel, X: Any, Z: Any = None, **rest: Any) -> Any:
        found = real(self, X, Z, **rest)
        shapes.append(found.shape)
        return found

    def distances(*given: Any) -> Any:
        found = squared_distances(*given)
        shapes.append(found.shape)
        return found

    monkeypatch.setattr(Kernel, "matrix", counted)
    monkeypatch.setattr("assay.svm._path.squared_distances", distances)
    return shapes


@pytest.mark.parametrize("encoder", [None, StandardScaler()], ids=["plain", "scaled"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_path_keeps_the_law_of_the_house(load: Any, encoder: Any) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X) if encoder is None else X
    family = Family("svm", SVC(), GRID, encoder)
    assert_path_equals_single_fits(family, X, y, n_splits=2)


def test_path_of_a_regression_keeps_the_law_of_the_house() -> None:
    X, y = load_diabetes(return_X_y=True)
    family = Family("svr", SVR(), GRID, StandardScaler())
    assert_path_equals_single_fits(family, X, (y - y.mean()) / y.std(), n_splits=2)


@pytest.mark.parametrize(
    "template",
    [
        SVC(multi_class="ovr"),
        SVC(class_weight="balanced", kernel="poly", degree=2, coef0=1.0),
        SVC(decision_function_shape="ovo"),
        SVC(sigma=2.0),
        SVC(kernel=lambda A, B: A @ B.T),
    ],
    ids=["ovr", "poly", "ovo", "sigma", "function"],
)
def test_path_takes_every_kind_of_machine(template: SVC) -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    weight = np.random.default_rng(0).uniform(0.0, 2.0, size=len(y))
    candidates = PRICES[1:3]
    if callable(template.kernel):
        path, rows = SVC.assay_path, np.arange(0, 178, 2)
        found = fits_along(path)(
            template, path.share(X, candidates), X, y, None, rows, [rows], candidates
        )
        for fitted, price in zip(found, candidates, strict=True):
            alone = clone(template).set_params(**price).fit(X[rows], y[rows])
            label = np.asarray(fitted.predictions[0].label)
            assert np.array_equal(label, alone.predict(X[rows]))
        return
    assert_path_equals_single_fits(
        Family("svm", template, candidates), X, y, weight=weight, n_splits=2
    )


def test_path_of_float32_rows_keeps_the_law() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    assert_path_equals_single_fits(Family("svm", SVC(), PRICES), X, y, n_splits=2)


def test_large_tables_keep_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.svm._path._MOST_BYTES", 1000)
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    family = Family("svm", SVC(), PRICES)
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0, atol=0)


def test_all_prices_and_folds_share_one_matrix(matrices: list[tuple[int, int]]) -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    path = SVC.assay_path
    candidates = [{**price, "gamma": 0.1} for price in PRICES]
    shared = path.share(X, candidates)
    blocks = np.array_split(np.random.default_rng(0).permutation(len(y)), 5)
    for held in range(5):
        train = np.concatenate([block for k, block in enumerate(blocks) if k != held])
        found = fits_along(path)(SVC(), shared, X, y, None, train, [blocks[held]], candidates)
        assert len(list(found)) == len(candidates)
    # The first fold has its own; the second shows that the whole table is worth it.
    sizes = [len(block) for block in blocks]
    crosses = [(178 - size, size) for size in sizes]
    first = 178 - sizes[0]
    # Beside it, each fold has the float64 values that certify its solutions.
    squares = [(178 - size, 178 - size) for size in sizes]
    rest = [each for pair in zip(squares[1:], crosses[1:], strict=True) for each in pair]
    own = [(first, first), squares[0], crosses[0]]
    assert matrices == [*own, (178, 178), *rest]
    assert path.n_fits(candidates) == len(candidates)


def test_kernel_that_depends_on_the_fold_is_shared_by_all_prices(
    matrices: list[tuple[int, int]],
) -> None:
    X, y = load_wine(return_X_y=True)
    path = SVC.assay_path
    train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
    shared = path.share(X, PRICES)
    assert len(list(fits_along(path)(SVC(), shared, X, y, None, train, [test], PRICES))) == 4
    assert matrices == [(89, 89)] * 3  # among the training rows in two precisions, and across


def test_kernels_that_alternate_are_made_once(matrices: list[tuple[int, int]]) -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    candidates = [{"C": C, "gamma": gamma} for C in (0.1, 1.0, 10.0) for gamma in (0.01, 0.1)]
    family = Family("svm", SVC(), candidates)
    train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
    path = SVC.assay_path
    found = fits_along(path)(
        SVC(), path.share(X, candidates), X, y, None, train, [test], candidates
    )
    assert len(list(found)) == 6
    assert matrices == [(89, 89)] * 3  # distances, for every gamma and candidate
    assert_path_equals_single_fits(family, X, y, n_splits=1)


def test_model_of_the_path_is_that_of_a_fit_bit_for_bit() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rows = np.random.default_rng(0).permutation(len(y))[:300]
    whole = Kernel("rbf", gamma=0.05).matrix(X)
    part = Kernel("rbf", gamma=0.05).matrix(X[rows])
    assert np.array_equal(whole[np.ix_(rows, rows)], part)
    path = SVC.assay_path
    model = path.model(SVC(gamma=0.05), {"C": 3.0}).fit(X, y)
    assert same(model, SVC(gamma=0.05, C=3.0).fit(X, y))


def test_classes_absent_from_the_training_rows_have_the_lowest_decision() -> None:
    X, y = load_iris(return_X_y=True)
    train = np.flatnonzero(y != 1)
    path = SVC.assay_path
    (fitted,) = fits_along(path)(SVC(), path.share(X, [{}]), X, y, None, train, [train], [{}])
    decision = fitted.predictions[0].decision
    assert decision is not None
    assert decision.shape == (100, 3)
    assert (decision[:, 1] == np.finfo(np.float64).min).all()


def test_path_refuses_in_its_turn_what_a_fit_would_refuse() -> None:
    X, y = load_iris(return_X_y=True)
    path, rows = SVC.assay_path, np.arange(150)
    steps = fits_along(path)(
        SVC(), path.share(X, []), X, y, None, rows, [rows], [{"C": 1.0}, {"C": -1.0}]
    )
    next(steps)
    with pytest.raises(ParameterError, match="C must be a number > 0; got -1"):
        next(steps)


@pytest.mark.parametrize(
    "template", [SVC(), SVC(class_weight="balanced")], ids=["plain", "weights"]
)
def test_ten_classes_are_solved_pair_by_pair_for_all_prices(
    template: SVC, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500].astype(np.int64)
    candidates = [{"C": C, "gamma": gamma} for C in (0.1, 10.0) for gamma in (0.003, 0.03)]
    family = Family("svm", template, candidates, StandardScaler())
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0, atol=1e-12)
    prices = []

    def counted(*given: Any, **rest: Any) -> Any:
        prices.append(len(given[4]))
        return solve_pairs_path(*given, **rest)

    monkeypatch.setattr("assay.svm._pair_path.solve_pairs_path", counted)
    path, rows = SVC.assay_path, np.arange(300)
    shared = path.share(X, candidates)
    tests = [np.arange(300, 400), np.arange(400, 500)]
    assert len(list(fits_along(path)(template, shared, X, y, None, rows, tests, candidates))) == 4
    assert prices == [2, 2]  # one call for each gamma


def test_a_class_that_is_not_in_the_training_rows_has_the_lowest_decision() -> None:
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:200] / 16.0, y[:200].astype(np.int64)
    rows, test = np.flatnonzero(y != 2), np.flatnonzero(y == 2)
    path, candidates = SVC.assay_path, PRICES[1:3]
    for fitted, price in zip(
        fits_along(path)(SVC(), path.share(X, candidates), X, y, None, rows, [test], candidates),
        candidates,
        strict=True,
    ):
        alone = SVC(C=price["C"]).fit(X[rows], y[rows])
        predicted = fitted.predictions[0]
        assert np.array_equal(np.asarray(predicted.label), alone.predict(X[test]))
        decision = np.asarray(predicted.decision)
        assert (decision[:, 2] == np.finfo(np.float64).min).all()
        expected = alone.decision_function(X[test])
        np.testing.assert_allclose(decision[:, [0, 1, 3]], expected, rtol=0, atol=1e-12)


def test_a_price_without_convergence_warns_as_its_own_fit_does() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    path, rows = SVC.assay_path, np.arange(0, 178, 2)
    template = SVC(max_iter=3)
    found = fits_along(path)(template, path.share(X, PRICES), X, y, None, rows, [rows], PRICES)
    for price in PRICES:
        with pytest.warns(ConvergenceWarning, match="SVC did not converge"):
            fitted = next(found)
        with pytest.warns(ConvergenceWarning, match="SVC did not converge"):
            alone = clone(template).set_params(**price).fit(X[rows], y[rows])
        label = np.asarray(fitted.predictions[0].label)
        assert np.array_equal(label, alone.predict(X[rows]))


def test_a_senseless_price_is_told_in_its_turn() -> None:
    X, y = load_wine(return_X_y=True)
    path, rows = SVC.assay_path, np.arange(0, 178, 2)
    candidates = [{"C": 1.0}, {"C": -1.0}, {"C": 2.0}]
    found = fits_along(path)(SVC(), path.share(X, candidates), X, y, None, rows, [rows], candidates)
    next(found)
    with pytest.raises(ParameterError, match="C must be"):
        next(found)
