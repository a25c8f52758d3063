"""Pruning: scikit-learn's cost-complexity trees, CART's choice of alpha, tests and error limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, chi2_contingency, f_oneway
from sklearn import tree as sk
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris

from assay.base import ParameterError
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from assay.tree._prune import chi2_leaves, pessimistic_leaves, validated_leaves
from assay.tree._prune_cost import AlphaPath, Fold, choose_alpha

TABLES: list[tuple[Callable[..., Any], Any, Any]] = [
    (load_iris, DecisionTreeClassifier, sk.DecisionTreeClassifier),
    (load_breast_cancer, DecisionTreeClassifier, sk.DecisionTreeClassifier),
    (load_diabetes, DecisionTreeRegressor, sk.DecisionTreeRegressor),
]


def noisy(seed: int, n: int = 300) -> tuple[NDArray[Any], NDArray[Any]]:
    """Classes that follow one column, with every fifth label at random; another is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] > 0).astype(np.int64)
    flip = rng.random(n) < 0.2
    y[flip] = rng.integers(0, 2, size=int(flip.sum()))
    return X, y


def xor(n: int = 40) -> tuple[NDArray[Any], NDArray[Any]]:
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * (n // 4))
    return X, (X[:, 0] != X[:, 1]).astype(np.int64)


def continuous(load: Callable[..., Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A table without ties between columns, in float32 values."""
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    X = X + rng.normal(size=X.shape) * X.std(axis=0) / 100
    y = y + rng.normal(size=len(y)) if load is load_diabetes else y
    return X.astype(np.float32).astype(np.float64), y


# Cost and complexity.


@pytest.mark.parametrize(("load", "ours", "theirs"), TABLES)
def test_pruning_path_is_that_of_scikit_learn(load: Any, ours: Any, theirs: Any) -> None:
    X, y = continuous(load)
    limits = {"min_samples_leaf": 5}  # small nodes tie between columns
    got = ours(**limits).cost_complexity_pruning_path(X, y)
    expected = theirs(random_state=0, **limits).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(got.ccp_alphas, expected.ccp_alphas, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got.impurities, expected.impurities, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("load", "ours", "theirs"), TABLES)
def test_pruned_trees_are_those_of_scikit_learn(load: Any, ours: Any, theirs: Any) -> None:
    X, y = continuous(load)
    limits = {"min_samples_leaf": 5}
    alphas = np.unique(ours(**limits).cost_complexity_pruning_path(X, y).ccp_alphas)
    for alpha in np.concatenate([(alphas[:-1] + alphas[1:]) / 2, alphas[-1:] * 1.01])[::3]:
        a = ours(ccp_alpha=alpha, **limits).fit(X, y)
        b = theirs(ccp_alpha=alpha, random_state=0, **limits).fit(X, y)
        assert a.tree_.node_count == b.tree_.node_count
        np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-12)
        np.testing.assert_allclose(sorted(a.tree_.impurity), sorted(b.tree_.impurity), atol=1e-12)
        assert a.ccp_alpha_ == alpha


@given(seed=st.integers(0, 2**31), alpha=st.floats(0.0, 0.05))
@example(seed=16777216, alpha=0.02)
def test_pruned_tree_is_the_smallest_of_least_cost(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(40, 3)).astype(float), rng.integers(0, 3, size=40)
    tree = DecisionTreeClassifier().fit(X, y).tree_
    risk = tree.weighted_n_node_samples * tree.impurity / len(y)

    def best(node: int, slack: float) -> tuple[float, int]:
        alone = (risk[node] + alpha, 1)
        left = int(tree.left[node])
        if not left:
            return alone
        (cost, n), (other, m) = best(left, slack), best(left + 1, slack)
        return alone if alone[0] <= cost + other + slack else (cost + other, n + m)

    # A price like 0.02 may be that of a link: then rounding decides whether it is cut.
    (cost, fewest), (_, most) = best(0, 1e-12), best(0, -1e-12)
    pruned = DecisionTreeClassifier(prune="cost_complexity", ccp_alpha=alpha).fit(X, y).tree_
    leaf = pruned.is_leaf
    got = (pruned.weighted_n_node_samples * pruned.impurity)[leaf].sum() / len(y)
    assert got + alpha * leaf.sum() == pytest.approx(cost)
    assert fewest <= leaf.sum() <= most


def test_alpha_zero_prunes_idle_splits_only_when_asked() -> None:
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 1, 0, 1]
    grown = DecisionTreeClassifier().fit(X, y)
    asked = DecisionTreeClassifier(prune="cost_complexity").fit(X, y)
    assert grown.get_n_leaves() == 2
    assert asked.get_n_leaves() == 1
    assert not hasattr(grown, "ccp_alphas_")
    assert asked.ccp_alphas_.tolist() == [0.0, 0.0]


def test_price_beyond_the_path_leaves_the_root() -> None:
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(ccp_alpha=10.0).fit(X, y)
    assert model.tree_.node_count == 1
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[1 / 3, 1 / 3, 1 / 3]])


def test_nominal_splits_survive_pruning() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, size=400), rng.integers(0, 3, size=400)])
    y = (X[:, 0] % 7 < 3).astype(int) ^ (X[:, 1] == 1) ^ (rng.random(400) < 0.1)
    full = DecisionTreeClassifier(categorical_features=[0, 1]).fit(X, y)
    model = DecisionTreeClassifier(categorical_features=[0, 1], ccp_alpha=0.004).fit(X, y)
    assert 3 < model.get_n_leaves() < full.get_n_leaves()
    tree, leaf = model.tree_, model.apply(X)
    for node in np.unique(leaf):
        np.testing.assert_allclose(tree.answer[node, 1], y[leaf == node].mean())
        assert tree.n_node_samples[node] == (leaf == node).sum()


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_cross_validated_errors_are_those_of_one_tree_per_fold_and_alpha(kind: Any) -> None:
    X, y = noisy(1, n=120)
    if kind is DecisionTreeRegressor:
        y = y + np.random.default_rng(1).normal(size=120)
    path_tree = kind().fit(X, y).tree_
    path = AlphaPath.of(path_tree)
    number = np.arange(len(X)) % 4
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    folds = []
    for k in range(4):
        model = kind().fit(X[number != k], y[number != k])
        held = number == k
        target = y[held, None].astype(float)
        folds.append(Fold(model.tree_, model.apply(X[held]), target, weight[held]))
    choice = choose_alpha(path, folds, 1.0)
    alphas = np.unique(path.alphas)
    np.testing.assert_array_equal(choice.alphas, alphas)
    prices = [*np.sqrt(alphas[:-1] * alphas[1:]), 1e9]
    errors = []
    for price in prices:
        wrong = np.empty(len(X))
        for k in range(4):
            model = kind(prune="cost_complexity", ccp_alpha=price)
            answer = model.fit(X[number != k], y[number != k]).predict(X[number == k])
            # Of labels 0 and 1 the square is 1 where they differ.
            wrong[number == k] = (answer - y[number == k]) ** 2
        mean = np.average(wrong, weights=weight)
        margin = np.sqrt((weight**2 * (wrong - mean) ** 2).sum()) / weight.sum()
        errors.append((mean, margin))
    np.testing.assert_allclose(choice.errors, [mean for mean, _ in errors], atol=1e-12)
    np.testing.assert_allclose(choice.standard_errors, [m for _, m in errors], atol=1e-12)
    best = int(np.argmin(choice.errors))
    limit = choice.errors[best] + choice.standard_errors[best]
    assert choice.alpha == alphas[choice.errors <= limit + 1e-12].max()


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_alpha_by_cross_validation_finds_the_simple_truth(kind: Any) -> None:
    X, y = noisy(2)
    target = y if kind is DecisionTreeClassifier else y + np.random.default_rng(0).normal(size=300)
    model = kind(ccp_alpha="cv", random_state=0).fit(X, target)
    assert model.get_n_leaves() == 2
    assert model.tree_.feature[0] == 0
    assert abs(model.tree_.threshold[0]) < 0.3
    assert model.ccp_alpha_ in model.cv_alphas_
    assert len(model.cv_errors_) == len(model.cv_standard_errors_) == len(model.cv_alphas_)
    again = kind(ccp_alpha="cv", random_state=0, n_jobs=2).fit(X, target)
    assert again.digest() == model.digest()
    restored = kind.from_state(model.get_params(), model.state())
    assert restored.digest() == model.digest()


def test_more_standard_errors_never_give_a_larger_tree() -> None:
    X, y = noisy(3)
    sizes = [
        DecisionTreeClassifier(ccp_alpha="cv", standard_errors=k, random_state=0)
        .fit(X, y)
        .get_n_leaves()
        for k in (0.0, 0.5, 1.0, 3.0)
    ]
    assert sizes == sorted(sizes, reverse=True)


# Chi-square.


def test_chi2_statistic_is_that_of_the_contingency_table() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    stump = DecisionTreeClassifier(max_depth=1).fit(X, y)
    left = stump.apply(X) == 1
    table = np.array([[(y[side] == c).sum() for c in range(10)] for side in (left, ~left)])
    p_value = chi2_contingency(table, correction=False).pvalue
    for factor, n_leaves in ((0.99, 1), (1.01, 2)):
        significance = p_value * factor
        assert chi2_leaves(stump.tree_, significance)[0] == (n_leaves == 1)


def test_f_statistic_is_that_of_two_groups() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:25, 4:6], y[:25]
    stump = DecisionTreeRegressor(max_depth=1).fit(X, y)
    left = stump.apply(X) == 1
    p_value = f_oneway(y[left], y[~left]).pvalue
    assert chi2_leaves(stump.tree_, p_value * 0.99)[0]
    assert not chi2_leaves(stump.tree_, p_value * 1.01)[0]


def test_pruning_after_growing_keeps_xor_where_an_early_stop_sees_nothing() -> None:
    X, y = xor()
    early = DecisionTreeClassifier(min_impurity_decrease=1e-6).fit(X, y)
    late = DecisionTreeClassifier(prune="chi2").fit(X, y)
    assert early.tree_.node_count == 1
    assert late.get_n_leaves() == 4
    assert late.score(X, y) == 1.0


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_chi2_takes_noise_away_and_keeps_the_signal(kind: Any) -> None:
    X, y = noisy(4)
    if kind is DecisionTreeRegressor:
        y = y + np.random.default_rng(0).normal(size=len(y))
    grown = kind().fit(X, y)
    pruned = kind(prune="chi2", significance=0.001).fit(X, y)
    assert pruned.get_n_leaves() < grown.get_n_leaves() / 4
    assert pruned.tree_.feature[0] == 0


def test_significance_prunes_monotonically() -> None:
    X, y = noisy(5)
    sizes = [
        DecisionTreeClassifier(prune="chi2", significance=level).fit(X, y).get_n_leaves()
        for level in (0.5, 0.05, 0.005, 1e-12, 1e-300)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


def test_two_rows_on_two_sides_prove_nothing() -> None:
    assert DecisionTreeRegressor(prune="chi2").fit([[0.0], [1.0]], [0.0, 9.0]).get_n_leaves() == 1


# Reduced error.


def test_reduced_error_never_predicts_held_out_rows_worse_than_any_other_pruning() -> None:
    X, y = noisy(6, n=80)
    grown = DecisionTreeClassifier(max_depth=3).fit(X[:40], y[:40])
    tree, leaf = grown.tree_, grown.apply(X[40:])
    truth = np.eye(2)[y[40:]]
    best = tree.pruned(validated_leaves(tree, leaf, truth, np.ones(40)))

    def wrong(candidate: Any) -> int:
        node = np.zeros(40, dtype=int)
        for _ in range(4):
            inner = candidate.left[node] > 0
            right = X[40:][np.arange(40), candidate.column[node]] > candidate.cut[node]
            node = np.where(inner, candidate.left[node] + right, node)
        return int((candidate.answer[node].argmax(axis=1) != y[40:]).sum())

    inner = np.flatnonzero(~tree.is_leaf)
    errors = []
    for bits in range(2 ** len(inner)):
        mask = tree.is_leaf.copy()
        mask[inner[[bool(bits >> k & 1) for k in range(len(inner))]]] = True
        candidate = tree.pruned(mask)
        errors.append((wrong(candidate), candidate.node_count))
    assert (wrong(best), best.node_count) == min(errors)


def test_branch_that_no_held_out_row_reaches_goes() -> None:
    tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0]).tree_
    right = int(np.flatnonzero(tree.is_leaf & (tree.n_node_samples == 2))[0])
    leaves = validated_leaves(tree, np.array([right]), np.array([[1.0, 0.0]]), np.ones(1))
    assert leaves.all()


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_reduced_error_prunes_noise(kind: Any) -> None:
    X, y = noisy(7)
    grown, pruned = kind().fit(X, y), kind(prune="reduced_error", random_state=0).fit(X, y)
    assert pruned.get_n_leaves() < grown.get_n_leaves() / 3
    assert pruned.tree_.feature[0] == 0
    assert pruned.tree_.n_node_samples[0] == 225
    again = kind(prune="reduced_error", random_state=0, n_jobs=2).fit(X, y)
    assert again.digest() == pruned.digest()


def test_held_out_rows_have_the_shares_of_the_classes() -> None:
    y = np.repeat([0, 1, 2], [80, 16, 4])
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = DecisionTreeClassifier(prune="reduced_error", random_state=1).fit(X, y)
    np.testing.assert_allclose(model.tree_.answer[0] * 75, [60, 12, 3])


# Pessimistic.


def test_upper_limit_is_that_of_c45() -> None:
    # Quinlan (1993), section 4.2: U(0, 6) = 0.206, U(0, 9) = 0.143, U(0, 1) = 0.750 at 25 %, and
    # U(1, 16) = 0.157 by his approximation.
    wrong, n = np.array([0, 0, 0, 1]), np.array([6, 9, 1, 16])
    limits = beta.ppf(0.75, wrong + 1, n - wrong)
    np.testing.assert_allclose(limits, [0.206, 0.143, 0.750, 0.157], atol=3e-3)


def test_pessimistic_pruning_repeats_the_example_of_quinlan() -> None:
    # Leaves of 6, 9 and 1 rows, all but the last of one class: 3.273 errors are expected below
    # the root and 2.5 in the root as a leaf, so the subtree goes.
    X = np.repeat([0.0, 1.0, 2.0], [6, 1, 9])[:, None]
    y = np.repeat([0, 1, 0], [6, 1, 9])
    grown = DecisionTreeClassifier().fit(X, y)
    assert sorted(grown.tree_.n_node_samples[grown.tree_.is_leaf]) == [1, 6, 9]
    assert pessimistic_leaves(grown.tree_, 0.25, True)[0]
    assert DecisionTreeClassifier(prune="pessimistic").fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_pessimistic_prunes_noise(kind: Any) -> None:
    X, y = noisy(8)
    grown, pruned = kind().fit(X, y), kind(prune="pessimistic").fit(X, y)
    assert pruned.get_n_leaves() < 0.8 * grown.get_n_leaves()
    assert pruned.tree_.feature[0] == 0


def test_smaller_confidence_prunes_more() -> None:
    X, y = noisy(9)
    sizes = [
        DecisionTreeClassifier(prune="pessimistic", confidence=level).fit(X, y).get_n_leaves()
        for level in (0.5, 0.25, 0.05, 0.001)
    ]
    assert sizes == sorted(sizes, reverse=True)


def test_m5_factor_decides_between_leaf_and_subtree() -> None:
    # Four rows on each side, spread 1 within and `gap` between: RMS sqrt(1 + gap^2 / 4) * 9 / 7 as
    # a leaf against 1 * 11 / 5 as a stump (three parameters).
    for gap, n_leaves in ((2.5, 1), (3.0, 2)):
        side = np.array([-1.0, 1.0, -1.0, 1.0])
        y = np.concatenate([side, side + gap])
        model = DecisionTreeRegressor(prune="pessimistic", max_depth=1)
        model.fit(np.repeat([0.0, 1.0], 4)[:, None], y)
        expected = np.sqrt(1 + gap**2 / 4) * 9 / 7 > 11 / 5
        assert expected == (n_leaves == 2)
        assert model.get_n_leaves() == n_leaves


@pytest.mark.parametrize("prune", ["cost_complexity", "chi2", "pessimistic", "reduced_error"])
def test_every_pruning_leaves_a_sound_tree(prune: str) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    params: dict[str, Any] = {"prune": prune, "random_state": 0}
    if prune == "cost_complexity":
        params["ccp_alpha"] = 0.003
    model = DecisionTreeClassifier(**params).fit(X, y)
    restored = DecisionTreeClassifier.from_state(model.get_params(), model.state())
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))
    assert model.score(X, y) > 0.7
    tree = model.tree_
    inner = np.flatnonzero(~tree.is_leaf)
    weight = tree.weighted_n_node_samples
    np.testing.assert_allclose(
        weight[inner], weight[tree.left[inner]] + weight[tree.left[inner] + 1]
    )


def test_chi2_needs_a_variance_to_test() -> None:
    with pytest.raises(ParameterError, match="prune='chi2' tests the variance explained"):
        DecisionTreeRegressor(prune="chi2", criterion="poisson").fit([[0.0], [1.0]], [1.0, 2.0])
