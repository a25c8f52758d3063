"""Nodes: every way of walking gives the same leaves; damaged trees are refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from assay.base import DataError, ParameterError
from assay.tree.engine import Nodes, levels_of

FEATURES = 6
N_LEVELS = np.array([0, 0, 40, 0, 3, 0], dtype=np.int32)
BLANK = {"left": 0, "feature": -1, "threshold": 0.0, "missing": 0, "slot": -1}


def random_nodes(
    seed: int, n_trees: int = 5, max_nodes: int = 60, n_outputs: int = 3, nominal: bool = True
) -> Nodes:
    """Grow trees at random, depth first: a leaf becomes a split with probability 0.6."""
    random = np.random.default_rng(seed)
    n_levels = N_LEVELS if nominal else np.zeros(FEATURES, dtype=np.int32)
    start, values = [0], 0
    words: list[int] = []
    columns: dict[str, list[Any]] = {name: [] for name in BLANK}
    for _ in range(n_trees):
        tree: dict[str, list[Any]] = {name: [blank] for name, blank in BLANK.items()}
        stack = [0]
        while stack:
            node = stack.pop()
            size = len(tree["left"])
            if random.random() < 0.6 and size + 2 <= max_nodes:
                tree["left"][node] = size
                feature = tree["feature"][node] = int(random.integers(FEATURES))
                tree["missing"][node] = int(random.integers(2))
                if n_levels[feature]:
                    tree["slot"][node] = len(words)
                    words += random.integers(0, 2**32, -(-n_levels[feature] // 32)).tolist()
                else:
                    tree["threshold"][node] = float(np.round(random.normal(), 1))
                stack += [size + 1, size]
                for name, blank in BLANK.items():
                    tree[name] += [blank, blank]
            else:
                tree["slot"][node] = values
                values += 1
        start.append(start[-1] + len(tree["left"]))
        for name, array in tree.items():
            columns[name] += array
    return Nodes(
        np.array(start, dtype=np.int64),
        np.array(columns["left"], dtype=np.int32),
        np.array(columns["feature"], dtype=np.int32),
        np.array(columns["threshold"]),
        np.array(columns["missing"], dtype=np.uint8),
        np.array(columns["slot"], dtype=np.int32),
        np.array(words, dtype=np.uint32),
        random.dirichlet(np.ones(n_outputs), values),
        n_levels,
    )


def random_rows(seed: int, n: int, missing: float = 0.1, nominal: bool = True) -> NDArray[Any]:
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, FEATURES)), 1)
    if nominal:
        for f in np.flatnonzero(N_LEVELS):
            X[:, f] = random.integers(-1, N_LEVELS[f] + 2, n)
    X[random.random(X.shape) < missing] = np.nan
    return X


def leaf_by_definition(nodes: Nodes, tree: int, x: NDArray[Any]) -> int:
    first = nodes.tree_start[tree]
    at = 0
    while nodes.node_left[first + at]:
        i = first + at
        f = nodes.node_feature[i]
        value, levels = x[f], nodes.n_levels[f]
        if np.isnan(value) or (levels and not 0 <= value < levels):
            goes_left = bool(nodes.node_missing_left[i])
        elif levels:
            word = nodes.level_words[nodes.node_slot[i] + int(value) // 32]
            goes_left = bool(int(word) >> int(value) % 32 & 1)
        else:
            goes_left = bool(value <= nodes.node_threshold[i])
        at = int(nodes.node_left[i]) + (not goes_left)
    return at


def leaves_by_definition(nodes: Nodes, X: NDArray[Any]) -> NDArray[np.int32]:
    return np.array(
        [[leaf_by_definition(nodes, t, x) for t in range(nodes.n_trees)] for x in X],
        dtype=np.int32,
    ).reshape(len(X), nodes.n_trees)


def values_by_definition(nodes: Nodes, X: NDArray[Any]) -> NDArray[np.float64]:
    leaf = leaves_by_definition(nodes, X) + nodes.tree_start[:-1]
    return nodes.leaf_value[nodes.node_slot[leaf]]  # type: ignore[no-any-return]


def in_order(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over trees, one after the other: NumPy's own sum pairs them."""
    total = np.zeros_like(values[:, 0])
    for t in range(values.shape[1]):
        total += values[:, t]
    return total


# 3 rows are walked by trees, 30 flat, 400 packed.
@pytest.mark.parametrize("n", [0, 1, 3, 30, 400])
@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leaves_are_those_of_the_definition(
    n: int, nominal: bool, missing: float, dtype: Any
) -> None:
    for seed, max_nodes in ((0, 60), (1, 3), (2, 1), (3, 2000)):
        nodes = random_nodes(seed, 5, max_nodes, nominal=nominal)
        X = random_rows(seed, n, missing, nominal).astype(dtype)
        expected = leaves_by_definition(nodes, X.astype(np.float64))
        np.testing.assert_array_equal(nodes.apply(X), expected)
        np.testing.assert_array_equal(nodes.apply(X, 2), expected)


@pytest.mark.parametrize("n", [1, 7, 8, 20, 200])
@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_sums_are_taken_in_the_order_of_trees_bit_for_bit(n: int, n_outputs: int) -> None:
    nodes = random_nodes(4, 70, 30, n_outputs)
    X = random_rows(5, n)
    values = values_by_definition(nodes, X)
    for n_threads in (1, 2):
        total = nodes.predict(X, n_threads, "sum")
        np.testing.assert_array_equal(total, in_order(values))
        np.testing.assert_array_equal(nodes.predict(X, n_threads), in_order(values) / 70)


def test_mean_equals_scikit_learns_forest() -> None:
    X, y = make_classification(600, FEATURES, n_informative=4, n_redundant=0, random_state=0)
    X = X.astype(np.float32)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    nodes = from_sklearn(forest)
    nodes.check(FEATURES, 2)
    np.testing.assert_allclose(nodes.predict(X), forest.predict_proba(X), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(nodes.depths(), [e.get_depth() for e in forest.estimators_])


def test_votes_go_to_the_first_of_the_largest() -> None:
    nodes = random_nodes(6, 9, n_outputs=3)
    value = np.round(nodes.leaf_value, 1)
    nodes = replace(nodes, leaf_value=value)
    X = random_rows(7, 100)
    best = values_by_definition(nodes, X).argmax(axis=2)
    shares = (best[:, :, None] == np.arange(3)).mean(axis=1)
    np.testing.assert_allclose(nodes.predict(X, combine="vote"), shares, atol=1e-15)


def test_product_is_the_normalised_geometric_mean() -> None:
    nodes = random_nodes(8, 9)
    X = random_rows(9, 100)
    mean = np.exp(np.log(values_by_definition(nodes, X)).mean(axis=1))
    expected = mean / mean.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nodes.predict(X, combine="product"), expected, rtol=1e-12)
    hard = replace(nodes, leaf_value=np.eye(3)[nodes.leaf_value.argmax(axis=1)])
    assert np.isfinite(hard.predict(X, combine="product")).all()


@pytest.mark.parametrize("combine", ["mean", "sum", "vote", "product"])
@pytest.mark.parametrize("n", [2, 50, 500])
def test_stops_give_what_fewer_trees_give(combine: Any, n: int) -> None:
    nodes = random_nodes(10, 7)
    X = random_rows(11, n)
    stops = [1, 3, 3, 7]
    staged = nodes.predict(X, 2, combine, stops)
    assert staged.shape == (4, n, 3)
    for stop, answer in zip(stops, staged, strict=True):
        np.testing.assert_array_equal(answer, nodes.first(stop).predict(X, 1, combine))


@pytest.mark.parametrize("n", [2, 50, 500])
def test_groups_take_turns(n: int) -> None:
    nodes = random_nodes(12, 7, n_outputs=1)
    X = random_rows(13, n)
    init = np.array([1.0, -2.0, 0.5])
    values = values_by_definition(nodes, X)[:, :, 0]
    expected = np.tile(init, (n, 1))
    for t in range(7):
        expected[:, t % 3] += values[:, t]
    got = nodes.predict(X, 1, "sum", n_groups=3, init=init)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(
        nodes.predict(X, 1, "sum", [0], n_groups=3, init=init)[0], np.tile(init, (n, 1))
    )


@pytest.mark.parametrize("n", [3, 40, 700])
def test_out_of_bag_leaves_out_the_trees_that_saw_the_row(n: int) -> None:
    nodes = random_nodes(14, 9)
    X = random_rows(15, n)
    in_bag = np.random.default_rng(16).random((9, n)) < 0.6
    values = values_by_definition(nodes, X)
    sums, trees = nodes.predict_oob(X, in_bag, 2)
    np.testing.assert_array_equal(trees, (~in_bag).sum(axis=0))
    np.testing.assert_array_equal(sums, in_order(np.where(in_bag.T[:, :, None], 0, values)))


def test_decision_path_holds_the_nodes_from_root_to_leaf() -> None:
    nodes = random_nodes(17, 4)
    X = random_rows(18, 25)
    path = nodes.decision_path(X, 2)
    depth = nodes.node_depths()
    assert path.has_sorted_indices
    for i in range(25):
        passed = set(path.indices[path.indptr[i] : path.indptr[i + 1]].tolist())
        expected = set()
        for t, leaf in enumerate(nodes.apply(X)[i]):
            first = nodes.tree_start[t]
            parent = {
                first + c: n
                for n in range(first, nodes.tree_start[t + 1])
                if nodes.node_left[n]
                for c in (nodes.node_left[n], nodes.node_left[n] + 1)
            }
            at = first + leaf
            steps = 0
            expected.add(at)
            while at != first:
                at = parent[at]
                expected.add(at)
                steps += 1
            assert depth[first + leaf] == steps
        assert passed == expected


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_packed_and_flat_walks_agree(seed: int, max_nodes: int) -> None:
    nodes = random_nodes(seed, 3, max_nodes)
    X = random_rows(seed, 64, 0.2)
    whole = nodes.predict(X)
    for i in (0, 13):
        np.testing.assert_array_equal(nodes.predict(X[i : i + 1]), whole[i : i + 1])


def test_a_state_comes_back_from_an_estimator() -> None:
    nodes = random_nodes(19)
    model = SimpleNamespace(
        n_features_in_=FEATURES,
        categorical_features_=np.array([2, 4]),
        level_offsets_=np.array([0, 40, 43]),
    )
    nodes.store_in(model)
    np.testing.assert_array_equal(levels_of(model), N_LEVELS)
    back = Nodes.from_state(model)
    assert all(
        np.array_equal(getattr(back, name), getattr(nodes, name))
        for name in Nodes.__dataclass_fields__
    )


def damaged(nodes: Nodes, name: str, index: Any, value: Any) -> Nodes:
    array = getattr(nodes, name).copy()
    array[index] = value
    return replace(nodes, **{name: array})


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("tree_start", 0, 1, "tree_start_ does not divide"),
        ("tree_start", 1, 0, "tree_start_ does not divide"),
        ("tree_start", 1, -5, "tree_start_ does not divide"),
        ("tree_start", 1, 10**12, "tree_start_ does not divide"),
        ("tree_start", -1, 3, "tree_start_ does not divide"),
        ("node_left", 0, -1, "not come after its parent"),
        ("node_left", 0, 10**6, "not come after its parent"),
        ("node_left", 1, 1, "not come after its parent"),
        ("node_left", 0, 0, "node_feature_ has a column outside"),
        ("node_left", 1, 2, "exactly one other"),
        ("node_feature", 0, FEATURES, "node_feature_ has a column outside"),
        ("node_feature", 0, -1, "node_feature_ has a column outside"),
        ("node_feature", 2, 0, "node_feature_ has a column outside"),
        ("node_slot", 2, -1, "node_slot_ points outside"),
        ("node_slot", 2, 3, "node_slot_ points outside"),
        ("node_slot", 0, -2, "node_slot_ points outside"),
        ("node_slot", 0, 0, "node_slot_ points outside"),
        ("node_slot", 1, 1, "node_slot_ points outside"),
        ("node_threshold", 0, np.nan, "node_threshold_ has values that are not finite"),
        ("leaf_value", (1, 0), np.inf, "leaf_value_ has values that are not finite"),
    ],
)
def test_check_refuses_damage(name: str, index: Any, value: Any, message: str) -> None:
    # 0: x0 <= 0.5 ? 1 : leaf; 1: level of x2 in the set ? leaf : leaf.
    nodes = Nodes(
        np.array([0, 5]),
        np.array([1, 3, 0, 0, 0], dtype=np.int32),
        np.array([0, 2, -1, -1, -1], dtype=np.int32),
        np.array([0.5, 0, 0, 0, 0]),
        np.zeros(5, dtype=np.uint8),
        np.array([-1, 0, 0, 1, 2], dtype=np.int32),
        np.array([5, 7], dtype=np.uint32),
        np.arange(3.0)[:, None],
        N_LEVELS,
    )
    nodes.check(FEATURES, 1)
    with pytest.raises(DataError, match=message):
        damaged(nodes, name, index, value).check(FEATURES, 1)


def test_check_refuses_wrong_types_and_lengths() -> None:
    nodes = random_nodes(20)
    nodes.check(FEATURES, 3)
    with pytest.raises(DataError, match="leaf_value_ has 3 columns, not 2"):
        nodes.check(FEATURES, 2)
    with pytest.raises(DataError, match="columns and categories differ"):
        nodes.check(FEATURES + 1, 3)
    with pytest.raises(DataError, match="node_left_ is missing or of the wrong type"):
        replace(nodes, node_left=nodes.node_left.astype(np.int64)).check(FEATURES, 3)
    with pytest.raises(DataError, match="node_slot_ is not contiguous"):
        replace(nodes, node_slot=np.repeat(nodes.node_slot, 2)[::2]).check(FEATURES, 3)
    with pytest.raises(DataError, match="the node_ arrays differ in length"):
        replace(nodes, node_slot=nodes.node_slot[:-1]).check(FEATURES, 3)
    with pytest.raises(DataError, match="tree_start_ does not divide"):
        replace(nodes, tree_start=np.array([], dtype=np.int64)).check(FEATURES, 3)


@given(st.integers(0, 2**31))
def test_check_lets_no_crash_through(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = random_nodes(21, 3, 20)
    for _ in range(random.integers(1, 4)):
        name = str(random.choice(["tree_start", "node_left", "node_feature", "node_slot"]))
        index = random.integers(len(getattr(nodes, name)))
        nodes = damaged(nodes, name, index, random.integers(-3, 40))
    try:
        nodes.check(FEATURES, 3)
    except DataError:
        return
    nodes.predict(random_rows(22, 50))


def test_predict_refuses_an_unknown_combination() -> None:
    with pytest.raises(ParameterError, match="combine must be 'mean', 'sum', 'vote' or 'product'"):
        random_nodes(0).predict(random_rows(0, 3), combine="meen")  # type: ignore[arg-type]


def from_sklearn(forest: Any) -> Nodes:
    start, parts, slots = [0], [], 0
    for estimator in forest.estimators_:
        tree = estimator.tree_
        order, left, stack = [0], {}, [0]
        while stack:
            node = stack.pop()
            old = order[node]
            left[node] = 0
            if tree.children_left[old] >= 0:
                left[node] = len(order)
                stack += [len(order) + 1, len(order)]
                order += [tree.children_left[old], tree.children_right[old]]
        is_leaf = np.array([left[i] == 0 for i in range(len(order))])
        slot = np.where(is_leaf, slots + np.cumsum(is_leaf) - 1, -1)
        slots += is_leaf.sum()
        start.append(start[-1] + len(order))
        parts.append(
            (
                [left[i] for i in range(len(order))],
                np.where(is_leaf, -1, tree.feature[order]),
                np.where(is_leaf, 0, tree.threshold[order]),
                slot,
                tree.value[np.array(order)[is_leaf], 0],
            )
        )
    left_, feature, threshold, slot_, value = (
        np.concatenate([part[i] for part in parts]) for i in range(5)
    )
    return Nodes(
        np.array(start, dtype=np.int64),
        left_.astype(np.int32),
        feature.astype(np.int32),
        threshold,
        np.zeros(len(left_), dtype=np.uint8),
        slot_.astype(np.int32),
        np.zeros(0, dtype=np.uint32),
        np.ascontiguousarray(value),
        np.zeros(forest.n_features_in_, dtype=np.int32),
    )
