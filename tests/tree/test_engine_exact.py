"""Trees on columns without bins: the tree of one bin per value, and scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import tree as sk

from assay._core import tree as kernels
from assay.select import Family, assert_path_equals_single_fits
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from assay.tree._growth import Training
from assay.tree._parameters import grow_options
from assay.tree.engine import Bins, grow
from assay.tree.engine._exact import Columns, can_grow_exact, grow_exact

LEVELS = np.zeros(4, dtype=np.int32)


def fine_table(seed: int, n: int = 3000, kind: Any = np.float64) -> NDArray[Any]:
    """Columns with more values than a byte has, two of them with ties."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    X[:, 2:] = X[:, 2:].round(2)
    return X.astype(np.float32).astype(kind)  # as scikit-learn sees it


def labels_of(X: NDArray[Any], n_classes: int, seed: int = 1) -> NDArray[np.int64]:
    noisy = X[:, 0] + X[:, 2] * X[:, 1] + 0.5 * np.random.default_rng(seed).normal(size=len(X))
    cuts = np.quantile(noisy, np.arange(1, n_classes) / n_classes)
    codes: NDArray[np.int64] = np.searchsorted(cuts, noisy, side="right").astype(np.int64)
    return codes


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_exact_tree_is_the_tree_of_one_bin_per_value(
    n_classes: int, weighted: bool, kind: Any
) -> None:
    X = fine_table(0, kind=kind)
    y: NDArray[Any] = labels_of(X, n_classes) if n_classes else X[:, 0] * X[:, 1] + X[:, 2]
    weight = np.random.default_rng(2).random(len(X)) + 0.5 if weighted else None
    model: Any = DecisionTreeClassifier() if n_classes else DecisionTreeRegressor()
    columns, bins = Columns(X), Bins.build(X, 65535, None, weight)
    options = grow_options(vars(model), n_classes, columns)
    assert can_grow_exact(options)
    expected = grow(bins, y, weight, options, 0)
    for n_threads in (1, 2):
        found = grow_exact(columns, y, weight, options, n_threads)
        for name in ("node_left", "node_feature", "node_threshold", "node_slot", "leaf_value"):
            a, b = getattr(found.nodes, name), getattr(expected.nodes, name)
            assert a.tobytes() == b.tobytes(), name
        assert found.importance.tobytes() == expected.importance.tobytes()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_large_tables_get_the_splits_of_scikit_learn(n_classes: int) -> None:
    X = fine_table(3, n=70_000)  # more values than bins of two bytes
    y = labels_of(X, n_classes)
    ours = DecisionTreeClassifier(max_depth=8).fit(X, y).tree_
    theirs = sk.DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, y).tree_
    assert ours.impurity[0] == pytest.approx(theirs.impurity[0])
    assert ours.feature[0] == theirs.feature[0]
    assert ours.threshold[0] == pytest.approx(theirs.threshold[0])
    leaves, peers = ours.children_left < 0, theirs.children_left < 0
    assert leaves.sum() == peers.sum()
    mine = (ours.weighted_n_node_samples * ours.impurity)[leaves].sum()
    assert mine == pytest.approx((theirs.weighted_n_node_samples * theirs.impurity)[peers].sum())


def test_threshold_lies_between_neighbours_that_a_bin_would_join() -> None:
    X = np.linspace(0, 1, 140_000)[:, None]
    y = (np.arange(140_000) >= 70_001).astype(int)
    model = DecisionTreeClassifier().fit(X, y)
    assert model.get_n_leaves() == 2
    assert X[70_000, 0] < model.tree_.threshold[0] < X[70_001, 0]


@pytest.mark.parametrize("n", [4_000, 70_000])
def test_path_keeps_the_law_on_columns_of_many_values(n: int) -> None:
    X = fine_table(4, n)
    family = Family(
        "tree", DecisionTreeClassifier(), [{"max_depth": 2}, {"max_depth": 5}, {"ccp_alpha": 0.01}]
    )
    assert_path_equals_single_fits(family, X, labels_of(X, 2), n_splits=1, rtol=0.0, atol=0.0)


def test_bins_are_left_out_where_every_column_is_fine() -> None:
    X = fine_table(5)
    training = Training(labels_of(X, 2), None, 2, LEVELS, X)

    def chosen(training: Training = training, **params: Any) -> bool:
        model = DecisionTreeClassifier(**params)
        return isinstance(training.table(vars(model), 1), Columns)

    assert chosen()
    assert not chosen(max_bins=255)
    assert not chosen(max_features="sqrt")
    assert not chosen(splitter="random")
    assert not chosen(max_leaf_nodes=5)
    assert not chosen(monotonic_cst=[1, 0, 0, 0])
    assert not chosen(missing="fractional")
    assert not chosen(training.sorted_once(1))  # bins from ranks cost little, and lose nothing
    coarse = np.column_stack([X[:, :3], X[:, 3].round(0)])
    missing = X.copy()
    missing[7, 1] = np.nan
    for other in (coarse, missing, X[:1000]):
        assert not Columns.suit(other, LEVELS)
    assert not Columns.suit(X, np.array([0, 0, 3, 0], dtype=np.int32))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.array([[np.nan], [1.0]])}, "X must be finite"),
        ({"X": np.empty((0, 1))}, "X needs a row and a column"),
        ({"weight": np.array([1.0, 0.0])}, "weight must be finite and positive"),
        ({"labels": np.array([0, 2], dtype=np.int32)}, "labels must be between 0 and n_classes"),
        ({"labels": np.array([0], dtype=np.int32)}, "labels needs one entry per row"),
        ({"criterion": 3}, "classes need the criterion gini, entropy or error"),
        ({"max_depth": 0}, "max_depth must be at least 1"),
    ],
)
def test_kernel_refuses_what_it_cannot_grow(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "X": np.array([[0.0], [1.0]]),
        "labels": np.array([0, 1], dtype=np.int32),
        "values": np.empty((0, 1)),
        "weight": np.empty(0),
        "criterion": 0,
        "n_classes": 2,
        "max_depth": 5,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_weight_fraction_leaf": 0.0,
        "min_impurity_decrease": 0.0,
        "n_threads": 1,
    }
    with pytest.raises(ValueError, match=message):
        kernels.grow_exact(**(arguments | changes))
