"""The elastic net, and its paths of penalties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model as peers
from sklearn.exceptions import ConvergenceWarning

from assay.base import DataError, ParameterError
from assay.linear import ElasticNet, Lasso, Ridge, enet_path, lasso_path
from assay.select import Family, assert_path_equals_single_fits

from .least_tables import alpha_max, bundled, lasso_objective, made, violation

TABLES = bundled()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("ratio", [0.95, 0.5, 0.05])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.001])
def test_elastic_net_is_optimal_and_not_above_scikit_learn(
    name: str, ratio: float, share: float
) -> None:
    table = TABLES[name]
    alpha = share * alpha_max(table, ratio)
    for weighted in (False, True):
        weight = table.weight if weighted else None
        settings: dict[str, Any] = {"alpha": alpha, "l1_ratio": ratio}
        ours = ElasticNet(**settings).fit(table.X, table.y, weight)
        theirs = peers.ElasticNet(**settings, tol=1e-6, max_iter=10_000)
        theirs.fit(table.X, table.y, weight)
        assert violation(table, ours, alpha, ratio, weighted=weighted) < 1e-9
        mine, other = (
            lasso_objective(table, m.coef_, m.intercept_, alpha, ratio, weighted=weighted)
            for m in (ours, theirs)
        )
        assert mine <= other * (1 + 1e-12)


def test_ratio_one_is_the_lasso_and_ratio_zero_is_ridge() -> None:
    table = made()
    lasso = ElasticNet(0.1, l1_ratio=1.0).fit(table.X, table.y)
    assert lasso.coef_.tobytes() == Lasso(0.1).fit(table.X, table.y).coef_.tobytes()
    ridge = ElasticNet(0.1, l1_ratio=0.0).fit(table.X, table.y, table.weight)
    expected = Ridge(0.1 * table.weight.sum()).fit(table.X, table.y, table.weight)
    np.testing.assert_allclose(ridge.coef_, expected.coef_, atol=1e-12)
    positive = ElasticNet(0.1, l1_ratio=0.0, positive=True).fit(table.X, table.y)
    peer = Ridge(0.1 * 120, positive=True).fit(table.X, table.y)
    np.testing.assert_allclose(positive.coef_, peer.coef_, atol=1e-10)


def test_positive_sparse_weighted_is_that_of_scikit_learn() -> None:
    table = made(90, 25, zeros=0.6)
    settings: dict[str, Any] = {"alpha": 0.05, "l1_ratio": 0.3, "positive": True}
    ours = ElasticNet(**settings).fit(table.sparse, table.y, table.weight)
    theirs = peers.ElasticNet(**settings, tol=1e-12, max_iter=100_000)
    theirs.fit(table.X, table.y, table.weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)


def test_equal_columns_get_equal_weights() -> None:
    table = made(50, 4)
    model = ElasticNet(0.1).fit(np.column_stack([table.X, table.X[:, 0]]), table.y)
    assert model.coef_[0] == pytest.approx(model.coef_[4], abs=1e-12)


@pytest.mark.parametrize("name", TABLES)
def test_elastic_net_path_equals_single_fits(name: str) -> None:
    table = TABLES[name]
    top = alpha_max(table)
    grid = [
        {"alpha": share * top, "l1_ratio": ratio}
        for ratio in (0.0, 0.2, 0.9)
        for share in (0.3, 0.01, 0.1)
    ]
    family = Family("elastic net", ElasticNet(), grid)
    assert_path_equals_single_fits(family, table.X, table.y, weight=table.weight)
    assert ElasticNet.assay_path.n_fits(grid) == 3


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("positive", [True, False])
def test_paths_are_those_of_scikit_learn(sparse: bool, positive: bool) -> None:
    table = made(60, 20, zeros=0.3)
    X = table.sparse if sparse else table.X
    alphas = np.geomspace(3.0, 0.01, 8)
    for ratio in (1.0, 0.4):
        settings: dict[str, Any] = {"alphas": alphas, "positive": positive, "l1_ratio": ratio}
        found = enet_path(X, table.y, **settings, return_n_iter=True)
        theirs = peers.enet_path(table.X, table.y, **settings, tol=1e-12, max_iter=100_000)
        np.testing.assert_array_equal(found[0], theirs[0])
        np.testing.assert_allclose(found[1], theirs[1], atol=1e-6)
        assert found[2].shape == found[3].shape == (8,)
        assert (found[2] < 1e-12).all()
    lasso = lasso_path(X, table.y, alphas=alphas, positive=positive)[1]
    whole = enet_path(X, table.y, alphas=alphas, positive=positive, l1_ratio=1.0)[1]
    np.testing.assert_array_equal(lasso, whole)


def test_a_path_chooses_penalties_from_the_first_that_leaves_nothing() -> None:
    table = made()
    Y = np.column_stack([table.y, table.X[:, 1]])
    alphas, coefs, gaps = lasso_path(table.X, Y, n_alphas=5, eps=0.01)
    assert coefs.shape == (2, 15, 5)
    assert gaps.shape == (2, 5)
    np.testing.assert_allclose(alphas, np.abs(table.X.T @ Y).max() / 120 * np.geomspace(1, 0.01, 5))
    assert not coefs[:, :, 0].any()
    assert (np.diff((coefs[0] != 0).sum(axis=0)) >= 0).all()
    assert len(lasso_path(table.X, table.y, alphas=7)[0]) == 7
    assert not lasso_path(table.X, np.zeros(120), alphas=3)[1].any()


def test_a_path_may_start_anywhere() -> None:
    table = made()
    start = np.full(15, 7.0)
    plain, moved = (
        lasso_path(table.X, table.y, alphas=[0.5, 0.1], coef_init=init)[1] for init in (None, start)
    )
    np.testing.assert_allclose(plain, moved, atol=1e-12)


def test_a_path_that_does_not_converge_says_so() -> None:
    table = made(60, 40)
    X = table.X @ np.random.default_rng(0).normal(size=(40, 40))
    with pytest.warns(ConvergenceWarning, match="the path stopped after max_iter=1"):
        lasso_path(X, table.y, alphas=[1e-5], max_iter=1, tol=0)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, np.nan, "half"])
def test_ratio_outside_of_its_interval_is_refused(ratio: Any) -> None:
    table = made(10, 2)
    with pytest.raises(ParameterError, match=r"l1_ratio must be a number in \[0, 1\]; got"):
        ElasticNet(l1_ratio=ratio).fit(table.X, table.y)


def test_bad_arguments_of_paths_are_refused() -> None:
    X, y = np.ones((4, 2)), np.ones(4)
    with pytest.raises(ParameterError, match=r"l1_ratio must be a number in \(0, 1\]; got 0"):
        enet_path(X, y, l1_ratio=0)
    with pytest.raises(ParameterError, match="alphas must be finite numbers >= 0"):
        lasso_path(X, y, alphas=[1.0, -1.0])
    with pytest.raises(ParameterError, match=r"coef_init must hold .* got shape \(1, 3\)"):
        lasso_path(X, y, alphas=[1.0], coef_init=np.ones(3))
    with pytest.raises(ParameterError, match="eps must be a number in"):
        lasso_path(X, y, eps=2.0)
    with pytest.raises(DataError, match="X has 4 rows but y has 3"):
        lasso_path(X, y[:3])
    with pytest.raises(DataError, match="NaN"):
        lasso_path(X * np.nan, y)
