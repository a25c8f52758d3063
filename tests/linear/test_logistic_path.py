"""The path: warm-started penalties with the numbers of one fit per candidate."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from assay._core import linear as kernels
from assay.base import ParameterError
from assay.linear import LogisticRegression
from assay.linear import _logistic_solve as border
from assay.linear._logistic_wide import is_wide
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along

PENALTIES = [
    {"C": C, "l1_ratio": ratio} for C, ratio in product((0.01, 1.0, 0.1, 30.0), (0.0, 0.5, 1.0))
]
TABLES = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


@pytest.mark.parametrize("name", TABLES)
def test_path_keeps_the_law_of_the_house(name: str) -> None:
    X, y = TABLES[name](return_X_y=True)
    family = Family("logistic", LogisticRegression(), PENALTIES, StandardScaler())
    assert_path_equals_single_fits(family, X, y, n_splits=2)


def test_path_keeps_the_law_on_unscaled_weighted_and_mixed_candidates() -> None:
    X, y = load_wine(return_X_y=True)
    weight = np.linspace(0.2, 3, len(y))
    candidates: list[dict[str, Any]] = [
        {"C": 1.0},
        {"C": 10.0, "class_weight": "balanced"},
        {"C": 0.001, "penalty": "l1"},
        {"C": 0.1, "class_weight": "balanced"},
        {"fit_intercept": False},
    ]
    family = Family("logistic", LogisticRegression(), candidates)
    assert_path_equals_single_fits(family, X, y, weight=weight, n_splits=1)


def test_path_keeps_the_law_where_conjugate_gradients_are_used() -> None:
    X, y = (part[:400] for part in load_digits(return_X_y=True))
    candidates = [{"C": C} for C in (0.01, 1.0)]
    family = Family("logistic", LogisticRegression(), candidates, StandardScaler())
    assert_path_equals_single_fits(family, X, y, n_splits=1)


def test_path_keeps_the_law_where_it_turns_a_table_and_a_single_fit_does_not() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(265, 1700))  # 159 training rows
    y = (X[:, :4].sum(axis=1) + rng.logistic(size=265) > 0).astype(np.int64)
    candidates = [{"C": C} for C in (0.001, 0.01, 0.1, 1.0)]
    strengths = [border.Strength(0.0, 1 / each["C"]) for each in candidates]
    assert is_wide(X[:159], strengths)
    assert not is_wide(X[:159], strengths[:1])
    family = Family("logistic", LogisticRegression(), candidates, StandardScaler())
    assert_path_equals_single_fits(family, X, y, n_splits=1)


def test_path_packs_the_table_once_for_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    class Counted:
        @staticmethod
        def logistic(*args: Any, **kwargs: Any) -> Any:
            calls.append(len(kwargs["l1"]))
            return kernels.logistic(*args, **kwargs)

    monkeypatch.setattr(border, "kernels", Counted)
    X, y = load_iris(return_X_y=True)
    path = LogisticRegression.assay_path
    candidates = [*PENALTIES, {"C": 2.0, "fit_intercept": False}]
    rows = np.arange(150)
    fitted = fits_along(path)(
        LogisticRegression(), None, X, y, None, rows[::2], [rows[1::2]], candidates
    )
    assert len(list(fitted)) == 13
    assert calls == [12, 1]
    assert path.n_fits(candidates) == 2


def test_path_takes_fewer_steps_than_single_fits() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    models = [LogisticRegression(C=C) for C in np.geomspace(0.01, 100, 13)]
    models[0]._fit_together(models, X, y, None)
    together = sum(int(model.n_iter_[0]) for model in models)
    alone = sum(int(LogisticRegression(C=model.C).fit(X, y).n_iter_[0]) for model in models)
    assert together < 0.75 * alone


def test_path_keeps_the_law_where_the_next_solution_is_extrapolated() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[:600, 10:40]), y[:600]
    even = [{"C": C} for C in np.geomspace(1e-3, 1e4, 12)]
    uneven = [{"C": C} for C in (1e-4, 2e-4, 3.0, 3.3, 3.3, 1e2, 1e4)]
    for candidates in (even, uneven):
        family = Family("logistic", LogisticRegression(), candidates)
        assert_path_equals_single_fits(family, X, y, n_splits=1)


def test_extrapolation_follows_a_parabola_and_stays_where_it_would_be_far() -> None:
    known = [np.array([[at * at + at - 1.0]]) for at in (0.0, 1.0, 3.0)]
    assert border._pointed([0.0, 1.0, 3.0], known, 5.0)[0, 0] == pytest.approx(29.0)
    assert border._pointed([0.0, 1.0, 3.0], known, 9.0)[0, 0] == known[-1][0, 0]
    assert border._pointed([0.0], known[:1], 1.0)[0, 0] == known[0][0, 0]


def test_path_refuses_a_wrong_candidate_in_its_turn() -> None:
    X, y = load_iris(return_X_y=True)
    rows = np.arange(150)
    path = LogisticRegression.assay_path
    for wrong, message in (({"C": -1.0}, "C must be"), ({"c": 1.0}, "no parameter 'c'")):
        fitted = fits_along(path)(
            LogisticRegression(), None, X, y, None, rows, [rows], [{"C": 1.0}, wrong, {"C": 2.0}]
        )
        next(fitted)
        with pytest.raises(ParameterError, match=message):
            next(fitted)


def test_path_gives_absent_classes_probability_zero() -> None:
    X, y = np.arange(12.0)[:, None], np.array([0] + [1, 3] * 5 + [3])
    rows = np.arange(1, 12)
    path = LogisticRegression.assay_path
    (fitted,) = fits_along(path)(
        LogisticRegression(), None, X, y, None, rows, [np.array([0]), rows], [{}]
    )
    probability = fitted.predictions[0].probability
    assert probability is not None
    assert probability.shape == (1, 4)
    assert probability[0, [0, 2]].tolist() == [0, 0]
    assert probability.sum() == pytest.approx(1)
    label = fitted.predictions[1].label
    assert label is not None
    assert set(label.tolist()) <= {1, 3}


def test_candidates_without_penalty_warn_as_single_fits_do() -> None:
    X, y = load_iris(return_X_y=True)
    rows = np.arange(150)
    path = LogisticRegression.assay_path
    with pytest.warns(ConvergenceWarning, match="separated"):
        list(
            fits_along(path)(
                LogisticRegression(), None, X, y, None, rows, [rows], [{"C": 1.0}, {"C": np.inf}]
            )
        )
