"""Any classifier, deciding by costs, with calibrated probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as discriminant
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from assay import store
from assay.base import DataError, ParameterError
from assay.ensemble import RandomForestClassifier
from assay.evaluate import CostMatrix, decide
from assay.multiclass import CostClassifier
from tests.multiclass.learners import Silent, blobs

A7 = {("nospam", "spam"): 10.0}


def mails(n: int = 2000, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.4, "spam", "nospam")
    return random.normal(size=(n, 1)) + 2.0 * (y == "spam")[:, None], y


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_those_of_scikit_learns_calibration(
    method: str, n_classes: int, weighted: bool
) -> None:
    X, y = blobs(n_classes, 200)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    base = LogisticRegression(solver="newton-cholesky") if weighted else discriminant()
    ours = CostClassifier(base, calibration=method).fit(X, y, sample_weight=weight)
    peer = CalibratedClassifierCV(base, method=method, cv=StratifiedKFold(5), ensemble=False)
    peer.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", None])
def test_prediction_is_the_least_expected_cost(calibration: str | None) -> None:
    X, y = blobs(4, 400)
    cost = np.random.default_rng(0).uniform(1, 20, (4, 4)) * (1 - np.eye(4))
    model = CostClassifier(GaussianNB(), cost=cost, calibration=calibration).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    expected = [int(np.argmin([p @ cost[:, k] for k in range(4)])) for p in shares]
    assert model.predict(X).tolist() == model.classes_[expected].tolist()


def test_threshold_of_the_spam_example_is_ten_elevenths() -> None:
    X, y = mails()
    model = CostClassifier(LogisticRegression(), cost=A7).fit(X, y)
    spam = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X) == "spam", spam > 10 / 11)


def test_costs_lower_what_mistakes_cost_on_new_rows() -> None:
    X, y = mails()
    X_new, y_new = mails(4000, 1)
    cost = CostMatrix.of(A7, ["nospam", "spam"])

    def paid(model: Any) -> float:
        said = model.fit(X, y).predict(X_new)
        codes = [(labels == "spam").astype(int) for labels in (y_new, said)]
        return float(cost.values[codes[0], codes[1]].mean())

    careful = paid(CostClassifier(GaussianNB(), cost=A7))
    assert careful < 0.6 * paid(GaussianNB())


def test_calibration_mends_a_classifier_that_is_too_sure() -> None:
    X, y = mails()
    X_new, y_new = mails(4000, 1)
    X, X_new = (np.repeat(each, 8, axis=1) for each in (X, X_new))  # naive Bayes counts all 8
    plain = CostClassifier(GaussianNB(), cost=A7, calibration=None).fit(X, y)
    mended = CostClassifier(GaussianNB(), cost=A7).fit(X, y)

    def off(model: CostClassifier) -> float:
        return float(np.mean((model.predict_proba(X_new)[:, 1] - (y_new == "spam")) ** 2))

    assert off(mended) < 0.85 * off(plain)


def test_classifier_with_neither_decision_nor_extreme_probabilities_is_calibrated() -> None:
    X, y = mails(600)
    forest = RandomForestClassifier(30, random_state=0)
    model = CostClassifier(forest, cost=A7).fit(X, y)
    assert model.sigmoids_.shape == (1, 2)
    assert 0 < model.sigmoids_[0, 0] < 1  # the trees of a full forest are too sure


def test_margin_without_probabilities_is_calibrated() -> None:
    X, y = mails(600)
    model = CostClassifier(LinearSVC(random_state=0), cost=A7).fit(X, y)
    assert ((model.predict_proba(X) > 0) & (model.predict_proba(X) < 1)).all()


def test_constant_score_gives_the_share_of_the_class() -> None:
    X, y = np.zeros((100, 1)), np.repeat(["a", "b"], [75, 25])
    model = CostClassifier(LogisticRegression()).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.75, 0.25]], atol=0.02)


def test_every_mistake_costs_one_unless_told() -> None:
    X, y = blobs(3)
    model = CostClassifier(GaussianNB(), calibration=None).fit(X, y)
    np.testing.assert_array_equal(model.cost_matrix_, 1 - np.eye(3))
    np.testing.assert_array_equal(model.predict(X), GaussianNB().fit(X, y).predict(X))


def test_rare_class_gets_fewer_parts() -> None:
    X, y = blobs(2)
    y[:] = "ant"
    y[:3] = "bee"
    assert CostClassifier(GaussianNB(), cv=5).fit(X, y).sigmoids_.shape == (1, 2)


def test_own_splits_are_used() -> None:
    X, y = mails(300)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    by_list = CostClassifier(GaussianNB(), cv=splits).fit(X, y)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    by_splitter = CostClassifier(GaussianNB(), cv=splitter).fit(X, y)
    np.testing.assert_array_equal(by_list.sigmoids_, by_splitter.sigmoids_)
    assert not np.array_equal(by_list.sigmoids_, CostClassifier(GaussianNB()).fit(X, y).sigmoids_)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", None])
def test_model_file_decides_as_the_model(tmp_path: Any, calibration: str | None) -> None:
    X, y = mails(300)
    model = CostClassifier(GaussianNB(), cost="nospam,spam=10", calibration=calibration).fit(X, y)
    assert store.can_save(model) is None
    store.save(tmp_path / "m.assay", {}, {"model": model})
    again = store.load(tmp_path / "m.assay")[1]["model"]
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_fitted_classifier_that_saw_some_codes_only_decides_among_all() -> None:
    X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    cost = CostMatrix.of([[0, 9, 1], [9, 0, 1], [9, 9, 0]], ["a", "b", "ask"])
    model = CostClassifier.of_fitted(GaussianNB(var_smoothing=1.0).fit(X, y), cost, 1)
    rows = np.array([[0.0], [4.5], [9.0]])
    assert model.predict_proba(rows)[:, 2].tolist() == [0, 0, 0]
    assert model.predict(rows).tolist() == [0, 2, 1]
    assert model.predict(rows).tolist() == decide(model.predict_proba(rows), cost).tolist()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cost": {("spam", "eggs"): 1}}, "cost names the class 'eggs', which is not there; the "
         "classes are 'nospam', 'spam'"),
        ({"calibration": "platt"}, "calibration must be 'sigmoid', 'isotonic' or None; "
         "got 'platt'"),
        ({"cv": 1}, "cv must be an integer >= 2; got 1"),
        ({"estimator": Silent(), "calibration": None}, "estimator must give probabilities when "
         "calibration=None; got Silent()"),
    ],
)  # fmt: skip
def test_wrong_parameter_is_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        CostClassifier(GaussianNB()).set_params(**params).fit(*mails(50))
    assert str(error.value) == message


def test_single_row_of_a_class_cannot_be_calibrated() -> None:
    with pytest.raises(DataError) as error:
        CostClassifier(GaussianNB()).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert str(error.value) == (
        "calibration needs 2 rows of each class; class 'a' has 1; leave it out, or use "
        "calibration=None"
    )


def test_classifier_without_scores_cannot_be_calibrated() -> None:
    with pytest.raises(DataError, match="Silent gives neither probabilities nor one score"):
        CostClassifier(Silent()).fit(*blobs(2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("knot_ends_", np.array([0, 0])),
        ("knots_", np.array([[0.0, 2.0]])),
        ("cost_matrix_", np.array([[0.0, np.nan], [1.0, 0.0]])),
        ("estimator_", GaussianNB().fit([[0.0], [1.0]], ["a", "b"])),
        ("estimator_", GaussianNB().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])),
        ("estimator_", GaussianNB().fit([[0.0], [1.0]], [0, 2])),
    ],
)
def test_damaged_state_is_refused(name: str, value: Any) -> None:
    model = CostClassifier(GaussianNB(), calibration="isotonic").fit(*mails(200))
    with pytest.raises(DataError, match="damaged"):
        CostClassifier.from_state(model.get_params(deep=False), {**model.state(), name: value})
