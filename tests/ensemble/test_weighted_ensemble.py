"""Weighted ensembles: the mean written down, learned weights, encoders inside, hostile files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from assay import store
from assay.base import DataError, ParameterError
from assay.ensemble import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from assay.linear import LogisticRegression, Ridge
from assay.table import Encoder
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor


def test_probabilities_are_the_weighted_mean() -> None:
    X, y = load_iris(return_X_y=True)
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    model = WeightedEnsembleClassifier(members, weights=[1.0, 3.0]).fit(X, y)
    alone = [member.fit(X, y).predict_proba(X) for _, member in members]
    np.testing.assert_allclose(model.predict_proba(X), 0.25 * alone[0] + 0.75 * alone[1])
    assert model.predict(X).tolist() == model.predict_proba(X).argmax(axis=1).tolist()


def test_values_are_the_weighted_mean() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [("line", Ridge(1.0)), ("tree", DecisionTreeRegressor(max_depth=2))]
    model = WeightedEnsembleRegressor(members, weights=[0.5, 1.5]).fit(X, y)
    alone = [member.fit(X, y).predict(X) for _, member in members]
    np.testing.assert_allclose(model.predict(X), 0.25 * alone[0] + 0.75 * alone[1])


def test_a_member_without_probabilities_gives_its_whole_vote() -> None:
    X, y = load_iris(return_X_y=True)
    members = [("line", Perceptron(random_state=0)), ("bayes", GaussianNB())]
    model = WeightedEnsembleClassifier(members, weights=[0.4, 0.6]).fit(X, y)
    votes = np.eye(3)[members[0][1].fit(X, y).predict(X)]
    wanted = 0.4 * votes + 0.6 * GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), wanted)


def test_a_member_that_learns_by_heart_gets_no_more_than_it_is_worth() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 6))
    y = X[:, 0] + random.normal(size=300)
    members = [("line", Ridge(1.0)), ("heart", DecisionTreeRegressor())]
    model = WeightedEnsembleRegressor(members, random_state=0).fit(X, y)
    assert model.weights_[0] > 0.8  # on the training rows the tree would be perfect


def _nominal_rows() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 3, 120), random.normal(size=120)]).astype(float)
    X[::7, 1] = np.nan
    return X, (X[:, 0] > 0).astype(np.int64)


def _with_encoders() -> tuple[Any, Any]:
    X, y = _nominal_rows()
    encoder = Encoder(kinds=("nominal", "numeric"))
    coded = encoder.fit_transform(X, y)
    first, second = LogisticRegression(C=0.1).fit(coded, y), LogisticRegression().fit(coded, y)
    tree = DecisionTreeClassifier(max_depth=2, categorical_features=(0,)).fit(X, y)
    model = WeightedEnsembleClassifier.of_fitted(
        [("a", first), ("b", second), ("tree", tree)],
        [0.2, 0.3, 0.5],
        n_classes=2,
        n_features=2,
        encoders=[encoder, encoder, None],
    )
    return model, X


def test_members_keep_their_own_encoders_in_a_model_file(tmp_path: Path) -> None:
    model, X = _with_encoders()
    assert len(model.encoders_) == 1
    assert model.encoder_of_.tolist() == [0, 0, -1]
    coded = model.encoders_[0].transform(X)
    parts = [model.estimators_[0].predict_proba(coded), model.estimators_[1].predict_proba(coded)]
    parts.append(model.estimators_[2].predict_proba(X))
    wanted = 0.2 * parts[0] + 0.3 * parts[1] + 0.5 * parts[2]
    np.testing.assert_allclose(model.predict_proba(X), wanted)
    store.save(tmp_path / "a.assay", {}, {"estimator": model})
    again = store.load(tmp_path / "a.assay")[1]["estimator"]
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weights_", np.array([0.2, 0.3, 0.6]), "weights_ does not add up to 1"),
        ("weights_", np.array([-0.5, 1.0, 0.5]), "has values outside"),
        ("encoder_of_", np.array([0, 1, -1]), "has values outside"),
        ("encoder_of_", np.array([0, -1, -1]), "has 5 columns, not 2"),
        ("estimators_", [GaussianNB()], "holds 1 models, not 3"),
        ("encoders_", [GaussianNB().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])], "has no method"),
    ],
)
def test_a_hostile_state_is_refused(name: str, value: Any, message: str) -> None:
    model, _ = _with_encoders()
    state = {**model.state(), name: value}
    with pytest.raises(DataError, match=message):
        WeightedEnsembleClassifier.from_state(model.get_params(deep=False), state)


def test_wrong_weights_are_named() -> None:
    X, y = load_iris(return_X_y=True)
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())]
    with pytest.raises(ParameterError, match=r"weights must be 2 numbers, one per member"):
        WeightedEnsembleClassifier(members, weights=[1.0]).fit(X, y)
    with pytest.raises(ParameterError, match=r"weights must not all be zero"):
        WeightedEnsembleClassifier(members, weights=[0.0, 0.0]).fit(X, y)
