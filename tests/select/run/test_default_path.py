"""The default path: any estimator, classes that are missing, weights, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from assay.base import Path, Predicted
from assay.select import DefaultPath
from assay.select.run._path import path_of, predict, weight_parameter
from assay.select.run._size import model_size
from tests.along import fits_along

X, Y = load_iris(return_X_y=True)
EVEN, ODD = np.arange(0, 150, 2), np.arange(1, 150, 2)


def run(estimator: Any, y: Any = Y, train: Any = EVEN, **options: Any) -> list[Predicted]:
    tests = [ODD[:30], ODD[30:]]
    found = fits_along(DefaultPath())(
        estimator, None, X, y, options.get("weight"), train, tests, options.get("candidates", [{}])
    )
    return [each for fitted in found for each in fitted.predictions]


def test_predictions_are_those_of_a_plain_fit() -> None:
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    grid = [{"logisticregression__C": c} for c in (0.1, 10.0)]
    found = run(estimator, candidates=grid)
    for index, candidate in enumerate(grid):
        model = estimator.set_params(**candidate).fit(X[EVEN], Y[EVEN])
        for block, rows in zip(found[2 * index :], (ODD[:30], ODD[30:]), strict=False):
            assert block.label is not None
            assert (block.label == model.predict(X[rows])).all()
            assert block.probability is not None
            assert block.decision is not None
            np.testing.assert_allclose(block.probability, model.predict_proba(X[rows]), rtol=1e-12)
            expected = model.decision_function(X[rows])
            np.testing.assert_allclose(block.decision, expected, rtol=1e-9, atol=1e-12)


def test_template_is_left_unfitted() -> None:
    estimator = GaussianNB()
    run(estimator)
    assert not hasattr(estimator, "classes_")


@pytest.mark.parametrize("estimator", [LogisticRegression(max_iter=500), LinearSVC(), GaussianNB()])
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_class_missing_in_training_keeps_its_column(estimator: Any, missing: int) -> None:
    train = EVEN[Y[EVEN] != missing]
    for block in run(estimator, train=train):
        if block.probability is not None:
            assert block.probability.shape[1] == 3
            assert (block.probability[:, missing] == 0).all()
            np.testing.assert_allclose(block.probability.sum(axis=1), 1.0)
        if block.decision is not None:
            assert block.decision.shape[1] == 3
            assert (block.decision.argmin(axis=1) == missing).all()
            assert (block.decision.argmax(axis=1) == block.label).all()


def test_two_classes_have_one_decision_column_and_one_training_class_none() -> None:
    y = (Y > 0).astype(int)
    for estimator in (LogisticRegression(), RidgeClassifier(), SVC()):
        assert all(
            block.decision is not None and block.decision.ndim == 1 for block in run(estimator, y)
        )
    block = predict(KNeighborsClassifier(3).fit(X[:9], np.ones(9, int)), X, 2)
    assert block.probability is not None
    assert (block.probability[:, 1] == 1).all()


def test_one_against_one_decisions_are_left_out() -> None:
    y = np.arange(150) // 2 % 4
    assert all(block.decision is None for block in run(SVC(decision_function_shape="ovo"), y))
    assert all(block.decision is not None for block in run(SVC(decision_function_shape="ovr"), y))


def test_weights_go_where_fit_takes_them() -> None:
    assert weight_parameter(GaussianNB()) == "sample_weight"
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert weight_parameter(pipeline) == "logisticregression__sample_weight"
    assert weight_parameter(KNeighborsClassifier()) is None
    assert weight_parameter(make_pipeline(KNeighborsClassifier())) is None
    weight = np.where(Y == 1, 100.0, 1e-3)
    labels = [np.asarray(block.label) for block in run(pipeline, weight=weight)]
    assert (np.concatenate(labels) == 1).mean() > 0.9


def test_path_is_found_on_the_class_and_absent_is_default() -> None:
    class Own(GaussianNB):
        assay_path = DefaultPath()

    assert path_of(Own()) is Own.assay_path
    assert isinstance(path_of(GaussianNB()), DefaultPath)
    assert isinstance(DefaultPath(), Path)


class Layers:
    """A fitted network, as far as its size goes."""

    def __init__(self) -> None:
        self.coefs_ = [np.zeros((2, 3)), np.zeros((3, 1))]
        self.intercepts_ = [np.zeros(3), np.zeros(1)]
        self.n_iter_ = 7


def test_size_counts_fitted_numbers() -> None:
    rows, target = make_regression(50, 10, n_informative=2, random_state=0)
    sparse = Lasso(alpha=5.0).fit(rows, target)
    assert model_size(sparse) == np.count_nonzero(sparse.coef_) + 1
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert model_size(tree) == tree.tree_.node_count
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)
    assert model_size(forest) == sum(each.tree_.node_count for each in forest.estimators_)
    boosted = GradientBoostingClassifier(n_estimators=2, max_depth=1, random_state=0).fit(X, Y)
    assert model_size(boosted) == 2 * 3 * 3
    assert model_size(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)) == 15
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}).fit(X, Y)
    assert model_size(search) == 3
    bayes = GaussianNB().fit(X, Y)
    assert model_size(bayes) == 2 * 3 * 4 + 2 * 3  # means, variances, priors, counts
    assert model_size(Layers()) == 2 * 3 + 3 + 3 + 1
    assert model_size(KNeighborsClassifier().fit(X, Y)) == 4
    small, large = (SVC(C=c).fit(X, Y) for c in (100.0, 0.01))
    assert model_size(small) < model_size(large)
