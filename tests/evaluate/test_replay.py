"""Stored predictions answer scikit-learn as an estimator would."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer

from assay.base import Predicted
from assay.evaluate import replay


@pytest.mark.parametrize("name", ["accuracy", "f1", "roc_auc", "neg_log_loss", "neg_brier_score",
                                  "average_precision"])  # fmt: skip
def test_scorer_gives_the_same_for_the_model_and_its_replay(name: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    model = LogisticRegression(max_iter=200).fit(X[:300], y[:300])
    rows = X[300:]
    stored = Predicted(
        model.predict(rows), model.predict_proba(rows), model.decision_function(rows)
    )
    assert get_scorer(name)(replay(stored, 2), rows, y[300:]) == get_scorer(name)(
        model, rows, y[300:]
    )


def test_multiclass_and_regression_replay() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    stored = Predicted(model.predict(X), model.predict_proba(X), model.decision_function(X))
    for name in ("roc_auc_ovo", "roc_auc_ovr", "f1_weighted", "top_k_accuracy", "neg_log_loss"):
        assert get_scorer(name)(replay(stored, 3), X, y) == get_scorer(name)(model, X, y)
    X, y = load_diabetes(return_X_y=True)
    line = LinearRegression().fit(X, y)
    assert get_scorer("r2")(replay(Predicted(value=line.predict(X))), X, y) == line.score(X, y)


def test_replay_is_a_fitted_classifier_or_regressor() -> None:
    stored = Predicted(label=np.array([0, 1]))
    assert is_classifier(replay(stored, 2))
    assert is_regressor(replay(Predicted(value=np.zeros(2))))


def test_replay_lacks_what_was_not_stored() -> None:
    model = replay(Predicted(label=np.array([0, 1])), 2)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "decision_function")


def test_replay_refuses_other_rows() -> None:
    model = replay(Predicted(label=np.array([0, 1])), 2)
    with pytest.raises(ValueError, match="cover 2 rows; got 3"):
        model.predict(np.zeros((3, 1)))
