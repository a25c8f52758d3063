"""Selection by lasso: scikit-learn's path as the oracle, the one-standard-error rule, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import linear_model
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.base import DataError, ParameterError, draw_seed, same
from assay.features import LassoSelector
from assay.features._consensus_folds import stratified_folds
from assay.linear import ElasticNet, Lasso, LogisticRegression
from assay.select import NestedSearch
from assay.store import load, save

Matrix = NDArray[np.float64]


def planted(n: int = 120, seed: int = 0, columns: int = 30) -> tuple[Matrix, Matrix]:
    """Columns 4 and 9 make the target; units differ."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns)) * np.geomspace(0.01, 100, columns)
    units = np.geomspace(0.01, 100, columns)
    return X, 3 * X[:, 4] / units[4] - 2 * X[:, 9] / units[9] + random.normal(size=n)


def classes(n: int = 120) -> tuple[Matrix, NDArray[np.str_]]:
    X, y = planted(n)
    return X, np.array(["low", "mid", "top"])[np.digitize(y, [-1.5, 1.5])]


def test_weights_at_a_given_penalty_are_those_of_scikit_learn() -> None:
    X, y = planted()
    rows = StandardScaler().fit_transform(X)
    largest = np.abs(rows.T @ (y - y.mean())).max() / len(y)
    expected = linear_model.Lasso(alpha=0.2 * largest, tol=1e-10).fit(rows, y).coef_
    model = LassoSelector(Lasso(), penalty=0.2).fit(X, y)
    np.testing.assert_allclose(model.weights_, np.abs(expected), atol=1e-6)
    assert np.array_equal(model.support_, expected != 0)


@pytest.mark.parametrize("estimator", [Lasso(), LogisticRegression(l1_ratio=1.0)])
def test_share_one_is_the_smallest_penalty_that_keeps_no_column(estimator: Any) -> None:
    X, y = planted() if isinstance(estimator, Lasso) else classes()
    none = LassoSelector(estimator, penalty=1.0).fit(X, y)
    assert none.weights_.max() < 1e-9
    some = LassoSelector(estimator, penalty=0.99).fit(X, y)
    assert (some.weights_ > 0).sum() == 1
    assert none.support_.sum() == 1  # the fewest that are kept all the same


def test_held_out_losses_are_those_of_single_fits() -> None:
    X, y = planted(60, columns=12)
    model = LassoSelector(Lasso(), n_penalties=4, n_folds=3, random_state=0).fit(X, y)
    rows = StandardScaler().fit_transform(X)
    largest = np.abs(rows.T @ (y - y.mean())).max() / len(y)
    folds = stratified_folds(y, 3, (draw_seed(0),))
    for share, loss in zip(model.penalties_, model.losses_, strict=True):
        by_fold = []
        for fold in range(3):
            held = folds == fold
            one = Lasso(alpha=share * largest).fit(rows[~held], y[~held])
            by_fold.append(np.mean((one.predict(rows[held]) - y[held]) ** 2))
        assert loss == pytest.approx(np.mean(by_fold))


def test_one_standard_error_keeps_fewer_columns_than_the_best() -> None:
    X, y = planted(50)
    best = LassoSelector(Lasso(), rule="best", random_state=0).fit(X, y)
    strict = LassoSelector(Lasso(), random_state=0).fit(X, y)
    assert strict.penalty_ > best.penalty_
    assert {4, 9} <= set(strict.get_support(indices=True).tolist())
    assert strict.support_.sum() <= best.support_.sum()
    at = strict.penalties_.tolist().index(strict.penalty_)
    limit = strict.losses_.min() + strict.errors_[strict.losses_.argmin()]
    assert strict.losses_[at] <= limit < strict.losses_[at - 1]


def test_columns_of_several_classes_are_found() -> None:
    X, y = classes()
    model = LassoSelector(LogisticRegression(l1_ratio=1.0), n_penalties=8, random_state=0)
    assert {4, 9} <= set(model.fit(X, y).get_support(indices=True).tolist())


@given(seed=st.integers(0, 50))
def test_units_of_the_columns_change_nothing(seed: int) -> None:
    X, y = planted(40, seed, columns=12)
    model = LassoSelector(Lasso(), penalty=0.3)
    one = model.fit(X, y).support_
    scale = np.random.default_rng(seed).uniform(0.1, 50, size=12)
    assert np.array_equal(one, model.fit(X * scale + 3.0, y).support_)


def test_threads_change_no_bit() -> None:
    X, y = planted(60)
    one = LassoSelector(Lasso(), random_state=0).fit(X, y)
    assert same(one, LassoSelector(Lasso(), random_state=0, n_jobs=2).fit(X, y))


def test_frames_stay_frames_and_columns_as_they_went_in() -> None:
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(30)])
    out = LassoSelector(Lasso(), penalty=0.5).fit(frame, y).transform(frame)
    assert out.columns.tolist() == ["c4", "c9"]
    assert np.array_equal(out.to_numpy(), X[:, [4, 9]])


def test_penalties_compete_in_a_nested_search() -> None:
    X, y = classes(90)
    chosen = LassoSelector(LogisticRegression(l1_ratio=1.0), penalty=0.5)
    grid = {"lassoselector__penalty": [0.9, 0.3, 0.05]}
    nested = NestedSearch(make_pipeline(chosen, GaussianNB()), grid, cv=3).fit(X, y)
    assert nested.best_params_["lassoselector__penalty"] in (0.3, 0.9)
    assert nested.score_.value > 0.6


def test_model_file_holds_the_selector(tmp_path: Path) -> None:
    X, y = planted()
    model = LassoSelector(Lasso(), random_state=0).fit(X, y)
    save(tmp_path / "lasso.assay", {}, {"model": model})
    assert same(model, load(tmp_path / "lasso.assay")[1]["model"])


def test_constant_columns_are_never_kept() -> None:
    X, y = planted()
    X[:, 0] = 7.1
    assert not LassoSelector(Lasso(), penalty=0.01).fit(X, y).support_[0]


def test_lasso_selector_rejects_what_has_no_l1_penalty() -> None:
    X, y = planted()
    for wrong in (LogisticRegression(), ElasticNet(l1_ratio=0.5)):
        with pytest.raises(ParameterError, match="estimator must have an L1 penalty"):
            LassoSelector(wrong).fit(X, y)
    with pytest.raises(ParameterError, match="estimator must be a linear model with a penalty"):
        LassoSelector(GaussianNB()).fit(X, y)
    with pytest.raises(ParameterError, match=r"penalty must be .*in \(0.*1\]"):
        LassoSelector(Lasso(), penalty=1.5).fit(X, y)
    with pytest.raises(DataError, match="no column varies with y"):
        LassoSelector(Lasso()).fit(np.ones((20, 2)), np.arange(20.0))
    with pytest.raises(DataError, match=r"3 rows \(n_samples = 3\) are too few for 5 folds"):
        LassoSelector(Lasso()).fit(X[:3], y[:3])
