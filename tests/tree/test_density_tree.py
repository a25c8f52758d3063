"""Density trees: known densities, brute force for splits and pruning, and what always holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kstest
from sklearn.datasets import load_iris

from assay.base import DataError, ParameterError, same
from assay.tree import DensityTree
from assay.tree._density_grow import BoxLimits, BoxTree, grow
from assay.tree._density_prune import LeafDensity, collapse_index, held_out, log_likelihoods
from assay.tree._density_tree import _folds

Floats = NDArray[np.float64]
LEAVES = ["uniform", "gaussian"]
CRITERIA = ["squared_error", "likelihood"]


def two_steps(n: int, seed: int = 0) -> Floats:
    """Density 0.9 on [0, 1] and 0.1 on [1, 2]."""
    rng = np.random.default_rng(seed)
    return (rng.uniform(size=n) + (rng.uniform(size=n) < 0.1))[:, None]


def clusters(n: int, d: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    which = rng.integers(3, size=(n, 1))
    return 3.0 * which + (0.2 + 0.4 * which) * rng.normal(size=(n, d))


@given(seed=st.integers(0, 10_000), criterion=st.sampled_from(CRITERIA))
def test_split_is_the_best_of_all(seed: int, criterion: str) -> None:
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(25, 2)).round(1), rng.integers(1, 3, size=25).astype(float)
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    tree = grow(X, weight, low, high, BoxLimits(criterion, 1, 3, False))

    def value(n: float, share: float) -> float:
        return n**2 / share if criterion == "squared_error" else n * np.log(n / share)

    best = -np.inf
    for j in range(2):
        values = np.unique(X[:, j])
        for t in (values[1:] + values[:-1]) / 2:
            n, share = weight[X[:, j] <= t].sum(), (t - low[j]) / (high[j] - low[j])
            if min(n, weight.sum() - n) >= 3:
                best = max(best, value(n, share) + value(weight.sum() - n, 1 - share))
    j, t = int(tree.feature[0]), float(tree.threshold[0])
    n, share = weight[X[:, j] <= t].sum(), (t - low[j]) / (high[j] - low[j])
    found = value(n, share) + value(weight.sum() - n, 1 - share)
    assert found == pytest.approx(best, rel=1e-9)
    assert tree.weight[1:].tolist() == [n, weight.sum() - n]


@given(seed=st.integers(0, 10_000))
def test_boxes_hold_the_rows_that_come_to_them(seed: int) -> None:
    X = clusters(60, 3, seed).round(1)
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
    tree = grow(X, np.ones(60), low, high, BoxLimits("squared_error", None, 2, True))
    for row, node in tree.visits(X):
        assert (X[row] > tree.low[node]).all()
        assert (X[row] <= tree.high[node]).all()
        for one in np.unique(node):
            inside = X[row[node == one]]
            assert len(inside) == tree.weight[one] >= 2
            np.testing.assert_allclose(tree.mean[one], inside.mean(axis=0), atol=1e-9)
            np.testing.assert_allclose(tree.deviation[one], inside.std(axis=0), atol=1e-9)
    sizes = np.prod(tree.high - tree.low, axis=1)[tree.left == 0]
    assert sizes.sum() == pytest.approx(np.prod(high - low))


def subtrees(tree: BoxTree, node: int = 0) -> list[frozenset[int]]:
    """All pruned subtrees below a node, as sets of leaves."""
    left = int(tree.left[node])
    found = [frozenset([node])]
    if left:
        found += [a | b for a in subtrees(tree, left) for b in subtrees(tree, left + 1)]
    return found


@given(seed=st.integers(0, 10_000), alpha=st.floats(0, 5))
def test_pruning_finds_the_best_of_all_subtrees(seed: int, alpha: float) -> None:
    X = clusters(40, 1, seed)
    limits = BoxLimits("squared_error", 3, 3, True)
    tree = grow(X, np.ones(40), X.min(axis=0) - 1, X.max(axis=0) + 1, limits)
    for is_gaussian in (False, True):
        density = LeafDensity.of(tree, is_gaussian, np.array([0.01]))
        own = log_likelihoods(tree, density)
        is_leaf = collapse_index(tree, own, np.array([alpha])) == 0
        value, todo, leaves = 0.0, [0], []
        while todo:
            node = todo.pop()
            if is_leaf[node]:
                value += own[node] - alpha
                leaves.append(node)
            else:
                todo += [int(tree.left[node]), int(tree.left[node]) + 1]
        best = max(sum(own[list(leaves)]) - alpha * len(leaves) for leaves in subtrees(tree))
        assert value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("leaf", LEAVES)
def test_cross_validation_is_one_refit_per_fold_and_alpha(leaf: str) -> None:
    X, alphas = clusters(150, 2), np.array([0.0, 1.0, 4.0, 20.0, 1e6])
    weight, fold = np.ones(150), _folds(X, 3)
    low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    limits = BoxLimits("likelihood", None, 5, True)
    floor = np.full(2, 0.01)
    fast = held_out(X, weight, fold, (low, high), limits, alphas, leaf == "gaussian", floor)
    for a, alpha in enumerate(alphas):
        slow = 0.0
        for k in range(3):
            train = X[fold != k]
            tree = grow(train, np.ones(len(train)), low, high, limits)
            density = LeafDensity.of(tree, leaf == "gaussian", floor)
            share, norm = len(train) / 150, density.log_norm()
            own = log_likelihoods(tree, density)
            is_leaf = collapse_index(tree, own, np.array([alpha * share])) == 0
            for x in X[fold == k]:
                node = 0
                while not is_leaf[node]:
                    above = x[tree.feature[node]] > tree.threshold[node]
                    node = int(tree.left[node]) + int(above)
                slow += float(density.log_of_rows(x[None], np.array([node]), norm)[0])
                slow += float(np.log(tree.weight[node] / tree.weight[0]))
        assert fast[a] == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_step_density_is_recovered(criterion: str) -> None:
    model = DensityTree(criterion=criterion).fit(two_steps(4000))
    density = np.exp(model.score_samples([[0.25], [0.75], [1.25], [1.75]]))
    np.testing.assert_allclose(density, [0.9, 0.9, 0.1, 0.1], atol=0.03)
    assert model.get_n_leaves() <= 4


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_density_integrates_to_one(leaf: str, criterion: str) -> None:
    X = clusters(400, 2)
    model = DensityTree(leaf=leaf, criterion=criterion, ccp_alpha=2.0).fit(X)
    assert model.get_n_leaves() > 5
    axes = [np.linspace(-8, 16, 1201)] * 2
    step = (24 / 1200) ** 2
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    assert np.exp(model.score_samples(grid)).sum() * step == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("leaf", LEAVES)
def test_samples_follow_the_density(leaf: str) -> None:
    X = clusters(500, 1)
    model = DensityTree(leaf=leaf, ccp_alpha=0.5).fit(X)
    assert model.get_n_leaves() > 10
    drawn = model.sample(2000, random_state=0)
    assert drawn.shape == (2000, 1)
    assert np.isfinite(model.score_samples(drawn)).all()
    grid = np.linspace(-5, 15, 40_001)
    cdf = np.cumsum(np.exp(model.score_samples(grid[:, None]))) * 20 / 40_000
    assert kstest(drawn[:, 0], lambda x: np.interp(x, grid, cdf)).pvalue > 0.01
    assert not np.isin(drawn, [model.leaf_low_, model.leaf_high_]).any()  # none was pushed back
    assert np.array_equal(drawn, model.sample(2000, random_state=0))


def test_pruning_helps_on_new_rows() -> None:
    X, new = clusters(600, 2), clusters(600, 2, seed=1)
    pruned, full = DensityTree().fit(X), DensityTree(ccp_alpha=0.0).fit(X)
    inside = np.isfinite(pruned.score_samples(new))
    assert pruned.get_n_leaves() < full.get_n_leaves()
    assert pruned.score(new[inside]) > full.score(new[inside])


def test_uniform_rows_have_few_leaves() -> None:
    X = np.random.default_rng(0).uniform(size=(500, 2))
    model = DensityTree().fit(X)
    assert model.get_n_leaves() <= 3
    np.testing.assert_allclose(model.score_samples([[0.5, 0.5]]), 0.0, atol=0.2)


def test_gaussian_leaf_is_the_normal_density() -> None:
    X = np.random.default_rng(0).normal(size=(300, 1))
    model = DensityTree(leaf="gaussian", ccp_alpha=1e9).fit(X)
    x = np.array([[-9.0], [0.3]])
    z = (x[:, 0] - X.mean()) / X.std()
    expected = -0.5 * z**2 - np.log(X.std() * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(model.score_samples(x), expected)


def test_outside_the_box_the_density_is_zero() -> None:
    model = DensityTree().fit(two_steps(50))
    assert model.score_samples([[-1.0], [5.0]]).tolist() == [-np.inf, -np.inf]


def test_far_columns_lose_no_digits() -> None:
    X = clusters(300, 2).round(6)
    near = DensityTree(leaf="gaussian", ccp_alpha=3.0).fit(X)
    far = DensityTree(leaf="gaussian", ccp_alpha=3.0).fit(X + 1e7)
    np.testing.assert_allclose(far.score_samples(X + 1e7), near.score_samples(X), atol=1e-5)


def test_columns_may_have_any_scale() -> None:
    X = clusters(300, 2)
    one = DensityTree().fit(X).score_samples(X)
    scaled = X * [1e-8, 1e8]
    two = DensityTree(ccp_alpha=DensityTree().fit(X).ccp_alpha_).fit(scaled).score_samples(scaled)
    np.testing.assert_allclose(one, two, atol=1e-6)


@given(seed=st.integers(0, 1000), leaf=st.sampled_from(LEAVES))
def test_weights_are_duplicated_rows_in_any_order(seed: int, leaf: str) -> None:
    rng = np.random.default_rng(seed)
    X, weight = clusters(60, 2, seed), rng.integers(0, 3, size=60)
    weight[0] = 1
    model = DensityTree(leaf=leaf)
    weighted = model.fit(X, sample_weight=weight).score_samples(X)
    rows = rng.permutation(np.repeat(np.arange(60), weight))
    np.testing.assert_allclose(model.fit(X[rows]).score_samples(X), weighted, atol=1e-8)


def test_real_table_as_a_dataframe() -> None:
    X, _ = load_iris(return_X_y=True)
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    model = DensityTree(leaf="gaussian").fit(frame)
    assert model.get_n_leaves() > 1
    assert model.score(frame) > -3


def test_constant_column_is_refused() -> None:
    with pytest.raises(DataError) as error:
        DensityTree().fit(pl.DataFrame({"x": [1.0, 2.0], "k": [3.0, 3.0]}))
    assert str(error.value) == (
        "column 'k' runs from 3.0 to 3.0: such a column has no density; leave it out or rescale it"
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "x"}, "criterion must be 'squared_error' or 'likelihood'; got 'x'"),
        ({"leaf": None}, "leaf must be 'uniform' or 'gaussian'; got None"),
        ({"ccp_alpha": -1}, "ccp_alpha must be a finite number >= 0 or 'cv'; got -1"),
        ({"n_folds": 1}, "n_folds must be an integer >= 2; got 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a finite number >= 1; got 0"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        DensityTree(**params).fit(two_steps(20))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("node_left_", 0, 3),
        ("node_left_", 1, 1),
        ("node_feature_", 0, 2),
        ("node_feature_", 0, -1),
        ("node_slot_", -1, 0),
        ("node_threshold_", 0, np.nan),
        ("leaf_share_", 0, 0.0),
        ("leaf_low_", 0, 100.0),
        ("leaf_scale_", 0, 0.0),
        ("leaf_mean_", 0, np.inf),
    ],
)
def test_damaged_nodes_are_refused(name: str, index: Any, value: Any) -> None:
    params = {"leaf": "gaussian", "ccp_alpha": 0.0}
    model = DensityTree(**params).fit(clusters(60, 2))  # type: ignore[arg-type]
    state: dict[str, Any] = copy.deepcopy(model.state())
    assert same(model, DensityTree.from_state(params, state))
    state[name][index] = value
    with pytest.raises(DataError, match="the model is damaged"):
        DensityTree.from_state(params, state)
