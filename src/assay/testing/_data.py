"""Small tables that any estimator can be fitted on, and its predictions for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from assay.base import Estimator

_METHODS = ("predict", "predict_proba", "decision_function", "transform")


def table(estimator: Estimator) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return 60 rows of 4 columns with a target that depends on them, of the right kind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    strength = X[:, 0] - 2 * X[:, 1]
    if is_classifier(estimator):
        many = get_tags(estimator).classifier_tags.multi_class
        cuts = (-1.0, 1.0) if many else (0.0,)
        return X, np.array(["low", "mid", "top"])[np.digitize(strength, cuts)]
    return X, strength + rng.normal(scale=0.1, size=60)


def fitted(estimator: Estimator, X: Any, y: Any, /, **params: Any) -> Estimator:
    """Return a fitted copy; its seed is fixed if it has one."""
    model = clone(estimator).set_params(**params)
    if "random_state" in model.get_params(deep=False) and "random_state" not in params:
        model.set_params(random_state=0)
    return model.fit(X, y)  # type: ignore[no-any-return]


def answers(model: Estimator, X: Any) -> dict[str, NDArray[Any]]:
    """Return the result of each prediction method for X."""
    return {name: np.asarray(getattr(model, name)(X)) for name in _METHODS if hasattr(model, name)}


def assert_same_answers(a: Estimator, b: Estimator, X: Any, what: str) -> None:
    """Fail unless two models predict the same for X, bit for bit."""
    one, two = answers(a, X), answers(b, X)
    assert one.keys() == two.keys(), f"{what}: {set(one) ^ set(two)} exists in only one of them"
    for name, values in one.items():
        assert np.array_equal(values, two[name]), f"{what}: {name} differs"
