"""Calibrated classifiers: scikit-learn as the oracle, temperature by brute force, hostile files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from assay import store
from assay.base import DataError, ParameterError
from assay.multiclass import CalibratedClassifier, ProbabilityMap


def test_isotonic_agrees_with_scikit_learn_on_two_classes() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    cv = list(StratifiedKFold(5).split(X, y))
    ours = CalibratedClassifier(GaussianNB(), method="isotonic", cv=cv).fit(X, y)
    theirs = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=cv, ensemble=False)
    # Log-odds are clipped at 1e-4, and they are what is interpolated between knots.
    difference = np.abs(ours.predict_proba(X) - theirs.fit(X, y).predict_proba(X))
    assert np.quantile(difference, 0.9) < 0.02


def test_temperature_is_the_best_of_a_fine_grid() -> None:
    X, y = load_iris(return_X_y=True)
    shares = cross_val_predict(GaussianNB(), X[:, :2], y, cv=5, method="predict_proba")
    found = ProbabilityMap.fit("temperature", shares, y)

    def loss(temperature: float) -> float:
        powers = np.clip(shares, 1e-4, 1.0) ** (1 / temperature)
        return float(log_loss(y, powers / powers.sum(axis=1, keepdims=True)))

    grid = np.exp(np.linspace(-2.9, 2.9, 2001))
    assert loss(float(found.numbers[0, 0])) <= min(map(loss, grid)) + 1e-9
    assert log_loss(y, found(shares)) == pytest.approx(loss(float(found.numbers[0, 0])))


def test_temperature_keeps_the_order_of_the_classes() -> None:
    random = np.random.default_rng(0)
    shares = random.dirichlet([0.3, 0.3, 0.3], size=50)
    codes = random.integers(0, 3, 50)
    mapped = ProbabilityMap.fit("temperature", shares, codes)(shares)
    assert (mapped.argmax(axis=1) == shares.argmax(axis=1)).all()
    np.testing.assert_allclose(mapped.sum(axis=1), 1.0)


def test_a_threshold_decides() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CalibratedClassifier(GaussianNB(), method=None, threshold=0.9).fit(X, y)
    shares = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), shares)
    assert model.predict(X).tolist() == (shares[:, 1] > 0.9).astype(int).tolist()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_a_class_without_rows_is_no_trouble(method: str) -> None:
    random = np.random.default_rng(0)
    shares = random.dirichlet([1.0, 1.0, 1.0], size=60)
    codes = random.integers(0, 2, 60)
    mapped = ProbabilityMap.fit(method, shares, codes)(shares)
    assert np.isfinite(mapped).all()
    np.testing.assert_allclose(mapped.sum(axis=1), 1.0)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature", None])
def test_a_model_file_keeps_map_and_threshold(method: str | None, tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    fitted = GaussianNB().fit(X, y)
    learned = None
    if method is not None:
        learned = ProbabilityMap.fit(method, fitted.predict_proba(X), y)
    model = CalibratedClassifier.of_fitted(
        fitted, learned, threshold=0.3, n_classes=2, n_features=X.shape[1]
    )
    store.save(tmp_path / "a.assay", {}, {"estimator": model})
    again = store.load(tmp_path / "a.assay")[1]["estimator"]
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("method", "name", "value", "message"),
    [
        ("sigmoid", "map_", np.ones((2, 2)), "has a wrong form"),
        ("sigmoid", "map_", np.array([[np.nan, 1.0]]), "not finite"),
        ("temperature", "map_", np.array([[-1.0, 0.0]]), "not positive"),
        ("isotonic", "map_ends_", np.array([0, 1]), "do not belong to a class"),
        ("isotonic", "map_", np.array([[0.0, 0.5], [1.0, 7.0]]), "outside|belong"),
    ],
)
def test_a_hostile_state_is_refused(method: str, name: str, value: Any, message: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CalibratedClassifier(GaussianNB(), method=method, cv=2).fit(X, y)
    state = {**model.state(), name: value}
    with pytest.raises(DataError, match=message):
        CalibratedClassifier.from_state(model.get_params(deep=False), state)


def test_wrong_parameters_are_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match=r"threshold needs two classes; got 3"):
        CalibratedClassifier(GaussianNB(), threshold=0.3).fit(X, y)
    with pytest.raises(DataError, match=r"calibration needs 2 rows of each class"):
        CalibratedClassifier(GaussianNB()).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
