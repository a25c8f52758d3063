from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError
from assay.base.sklearn_models import STORED_CLASSES, restore, state_of
from assay.store import load, save
from assay.store._classes import classes

from .conftest import FITTED, QUERIES, X, predictions


def _stored_class(model: Any) -> Any:
    return next(stored for stored in STORED_CLASSES.values() if stored.cls is type(model))


def test_reloaded_model_predicts_bit_for_bit(fitted: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.assay"
    save(path, {}, {"model": fitted})
    again = load(path)[1]["model"]
    assert type(again) is type(fitted)
    check_is_fitted(again)
    for queries in (QUERIES, QUERIES[:1], QUERIES.astype(np.float32), np.asfortranarray(QUERIES)):
        for before, after in zip(
            predictions(fitted, queries), predictions(again, queries), strict=True
        ):
            assert before.dtype == after.dtype
            assert before.shape == after.shape
            assert before.tolist() == after.tolist()  # exact, and NaN nowhere


def test_reloaded_model_has_the_parameters(fitted: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.assay"
    save(path, {}, {"model": fitted})
    before, after = fitted.get_params(), load(path)[1]["model"].get_params()
    assert before.keys() == after.keys()
    for name, value in before.items():
        if isinstance(value, BaseEstimator | list):  # templates
            assert repr(after[name]) == repr(value)
        else:
            np.testing.assert_array_equal(after[name], value)


def test_every_class_has_a_fitted_example() -> None:
    assert {type(make()) for make in FITTED.values()} == set(classes().values())


def test_ids_stay_below_those_of_native_classes() -> None:
    assert all(0 < number < 100 for number in STORED_CLASSES)


def test_column_names_are_kept(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = Ridge().fit(frame, X[:, 0])
    save(tmp_path / "m.assay", {}, {"model": model})
    again = load(tmp_path / "m.assay")[1]["model"]
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "z"}))


CHANGES: list[tuple[str, dict[str, Any], str]] = [
    ("ridge", {"coef_": np.zeros(5)}, "coef_ has shape (5,), not (4,) or (targets, 4)"),
    ("ridge", {"coef_": np.zeros((2, 5))}, "coef_ has shape (2, 5), not (4,)"),
    ("ridge", {"coef_": np.array([1, 2, 3, 4])}, "coef_ is missing or of the wrong type"),
    ("ridge", {"coef_": "abcd"}, "coef_ is missing or of the wrong type"),
    ("ridge", {"coef_": np.array([1.0, 2.0, np.nan, 4.0])}, "coef_ has values that are not fi"),
    ("ridge", {"coef_": np.array([1.0, 2.0, np.inf, 4.0])}, "coef_ has values that are not fi"),
    ("ridge", {"intercept_": np.zeros(2)}, "intercept_ holds several values for one target"),
    ("ridge", {"intercept_": float("nan")}, "intercept_ has values that are not finite"),
    ("ridge", {"intercept_": None}, "intercept_ is missing or of the wrong type"),
    ("ridge-several", {"intercept_": np.zeros(2)}, "intercept_ has shape (2,), not a number or "),
    ("ridge", {"n_features_in_": 5}, "coef_ has shape (4,), not (5,)"),
    ("ridge", {"n_features_in_": 0}, "n_features_in_ is not a count of columns"),
    ("ridge", {"n_features_in_": True}, "n_features_in_ is not a count of columns"),
    ("ridge", {"n_features_in_": "4"}, "n_features_in_ is not a count of columns"),
    ("ridge", {"feature_names_in_": np.array(["a"])}, "feature_names_in_ holds 1 names for 4"),
    ("ridge", {"feature_names_in_": np.zeros(4)}, "feature_names_in_ is not a list of names"),
    ("ridge", {"predict": 1}, "predict is not an attribute of this model"),
    ("logistic-three", {"classes_": np.array([0, 1])}, "coef_ has shape (3, 4), not (1, 4)"),
    ("logistic-three", {"classes_": np.array([0, 1, 1])}, "classes_ holds a duplicate label"),
    ("logistic-three", {"classes_": np.array([0, 1, np.nan])}, "classes_ holds something oth"),
    ("logistic-three", {"classes_": np.zeros((3, 1))}, "classes_ is not a list of labels"),
    ("logistic-three", {"classes_": np.zeros(0)}, "classes_ is not a list of labels"),
    ("logistic-two", {"classes_": np.array([7])}, "classes_ holds fewer than two labels"),
    ("bayes-two", {"var_": np.full((2, 4), -1.0)}, "var_ has values below 0.0"),
    ("bayes-two", {"epsilon_": np.zeros(3)}, "epsilon_ has shape (3,), not a number"),
    ("dummy-prior", {"class_prior_": np.array([0.5, 0.5, 0.5])}, "class_prior_ does not add up"),
    ("dummy-mean", {"constant_": np.zeros((2, 1))}, "constant_ has shape (2, 1), not (1, targets)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "why"), CHANGES)
def test_restore_refuses_a_state_no_fit_could_leave(
    name: str, change: dict[str, Any], why: str
) -> None:
    model = FITTED[name]()
    state = {**state_of(_stored_class(model), model), **change}
    with pytest.raises(DataError) as caught:
        restore(_stored_class(model), {}, state)
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize("name", ["ridge", "logistic-two", "lda-two", "bayes-two", "dummy-prior"])
def test_restore_refuses_a_missing_attribute(name: str) -> None:
    model = FITTED[name]()
    stored = _stored_class(model)
    for attribute in stored.attributes:
        state = state_of(stored, model)
        del state[attribute]
        with pytest.raises(DataError, match=f"{attribute} is missing"):
            restore(stored, {}, state)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"strategy": "else"}, "strategy is 'else' and must be one of most_frequent, prior, "),
        ({"strategy": "constant", "constant": 9}, "constant is not one of the classes"),
        ({"random_state": -1}, "random_state is not a seed"),
        ({"random_state": [1]}, "random_state is not a seed"),
    ],
)
def test_restore_refuses_parameters_that_predict_reads(params: dict[str, Any], why: str) -> None:
    model = FITTED["dummy-prior"]()
    with pytest.raises(DataError) as caught:
        restore(_stored_class(model), params, state_of(_stored_class(model), model))
    assert str(caught.value).startswith(why)


def test_several_targets_of_a_classifier_are_refused() -> None:
    model = DummyClassifier().fit(X, np.zeros((len(X), 2), dtype=int))
    with pytest.raises(DataError, match="a model file holds one target"):
        state_of(_stored_class(model), model)


def test_sparse_coefficients_are_refused() -> None:
    model = LogisticRegression().fit(X, X[:, 0] > 0).sparsify()
    with pytest.raises(DataError, match="coef_ is missing or of the wrong type"):
        state_of(_stored_class(model), model)
