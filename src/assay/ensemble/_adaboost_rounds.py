"""The rounds of AdaBoost: on stumps in the core, on trees of the engine, on any learner."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from assay._core import tree as kernels
from assay.base import DataError
from assay.ensemble._bagging_members import seeded_copy
from assay.tree import DecisionTreeClassifier
from assay.tree._growth import Training, check_parameters, grow_tree, nodes_of
from assay.tree.engine import Bins, Nodes

#: Smallest error used, since error 0 would give infinite weight; the same as in
#: core/include/assay/tree/adaboost.hpp.
LEAST_ERROR = float(np.finfo(np.float64).eps)

_CRITERIA = {"gini": 0, "entropy": 1, "log_loss": 1, "error": 2}
#: Tree parameters that the stump kernel needs at their defaults.
_PLAIN = (
    "splitter",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "monotonic_cst",
)
#: Tree parameters that the engine needs at their defaults; else each tree is fitted by itself.
_OWN = ("class_weight", "ccp_alpha", "missing", "prune")


@dataclass(frozen=True)
class Rounds:
    """The result of boosting.

    Parameters
    ----------
    errors : ndarray of shape (n_rounds,)
        Weighted error of each learner.
    alphas : ndarray of shape (n_rounds,)
        ``learning_rate * (log((1 - error) / error) + log(n_classes - 1))``.
    nodes : Nodes or None
        The trees, where the learner is a tree of the engine; slot t * n_classes + c of the values
        (which are not set yet) belongs to class c in tree t.
    importance : ndarray of shape (n_rounds, n_features) or None
        Decrease of impurity by column, each row scaled to sum 1 (0 for a single leaf).
    estimators : list of estimator
        The learners, where they are not trees of the engine.
    """

    errors: NDArray[np.float64]
    alphas: NDArray[np.float64]
    nodes: Nodes | None = None
    importance: NDArray[np.float64] | None = None
    estimators: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Boosting:
    """Settings of a boosting run.

    Parameters
    ----------
    n_rounds : int
        Maximum number of rounds.
    learning_rate : float
        Factor on every alpha.
    n_threads : int
        Threads; the result does not depend on it.
    rng : RandomState
        Gives one seed per round.
    """

    n_rounds: int
    learning_rate: float
    n_threads: int
    rng: np.random.RandomState

    def seeds(self) -> Iterator[int]:
        """Yield one seed per round; a longer run starts with the same seeds."""
        for _ in range(self.n_rounds):
            yield int(self.rng.randint(np.iinfo(np.int32).max))


def exact_shares(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights with sum 1 as multiples of 2**-51, at least one each.

    Every sum of them is exact, so splits that divide the rows in the same way tie exactly, for any
    column and any order of the rows.
    """
    units = np.maximum(np.rint(weight / weight.sum() * 2.0**51), 1.0)
    shares: NDArray[np.float64] = units * 2.0**-51
    return shares


def is_native(estimator: Any) -> bool:
    """Return whether the engine can boost the learner directly."""
    if estimator is None:
        return True
    if type(estimator) is not DecisionTreeClassifier:
        return False
    plain = DecisionTreeClassifier()
    return _same(estimator.get_params(deep=False), plain.get_params(deep=False), _OWN)


def boost_native(estimator: Any, bins: Bins, training: Training, plan: Boosting) -> Rounds:
    """Boost trees of the engine on one binned table.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or None
        The learner; None = a stump.
    bins : Bins
        The table.
    training : Training
        Rows, class codes and weights (positive).
    plan : Boosting
        Settings of the run.
    """
    tree = DecisionTreeClassifier(max_depth=1) if estimator is None else estimator
    params = tree.get_params(deep=False)
    check_parameters(params, "classification")
    if training.n_classes == 1:
        return _one_class(bins)
    plain = DecisionTreeClassifier().get_params(deep=False)
    if tree.max_depth == 1 and _same(params, plain, _PLAIN):
        return boost_stumps(bins, training, params["criterion"], plan)
    return _boost_trees(params, bins, training, plan)


def boost_any(
    estimator: Any,
    rows: NDArray[Any],
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_classes: int,
    plan: Boosting,
) -> Rounds:
    """Boost any classifier: with weights if it takes them, else on rows drawn by weight.

    Parameters
    ----------
    estimator : classifier
        The learner; cloned for every round and fitted on class codes.
    rows, codes, weight : ndarray
        Training rows, their class codes and weights (positive).
    n_classes : int
        Number of classes.
    plan : Boosting
        Settings of the run.
    """
    takes_weight = has_fit_parameter(estimator, "sample_weight")
    share = exact_shares(weight)
    record = _Record(n_classes, plan.learning_rate)
    learners: list[Any] = []
    for seed in plan.seeds():
        learner = seeded_copy(estimator, seed)
        if takes_weight:
            learner.fit(rows, codes, sample_weight=share)
        else:
            drawn = np.random.RandomState(seed).choice(len(rows), len(rows), p=share / share.sum())
            learner.fit(rows[drawn], codes[drawn])
        wrong = np.asarray(learner.predict(rows)).astype(np.int64) != codes
        if not record.add(float(share[wrong].sum() / share.sum())):
            break
        learners.append(learner)
        if record.is_over:
            break
        share = record.reweighted(share, wrong)
    return Rounds(record.errors(), record.alphas(), estimators=learners)


def _same(a: dict[str, Any], b: dict[str, Any], names: tuple[str, ...]) -> bool:
    return all(type(a[name]) is type(b[name]) and a[name] == b[name] for name in names)


def boost_stumps(bins: Bins, training: Training, criterion: str, plan: Boosting) -> Rounds:
    """Boost decision stumps in the core.

    Parameters
    ----------
    bins : Bins
        The table.
    training : Training
        Class codes and weights; at least two classes.
    criterion : str
        Split criterion of the stumps.
    plan : Boosting
        Settings of the run.
    """
    found = kernels.boost_stumps(
        bins.codes,
        bins.n_bins,
        bins.nominal,
        bins.has_missing,
        bins.bin_start,
        bins.lower,
        bins.upper,
        bins.level_start,
        bins.level_bin,
        training.target.astype(np.int32),
        training.weights(),
        n_classes=training.n_classes,
        n_rounds=plan.n_rounds,
        learning_rate=float(plan.learning_rate),
        criterion=_CRITERIA[criterion],
        n_threads=plan.n_threads,
    )
    feature, n = found["feature"], len(found["feature"])
    is_split = feature >= 0
    # A stump has three nodes, a stump without a split one.
    start = np.concatenate([[0], np.cumsum(np.where(is_split, 3, 1))]).astype(np.int64)
    root, inner = start[:-1], start[:-1][is_split]
    first = np.arange(n, dtype=np.int32) * training.n_classes
    node_feature = np.full(start[-1], -1, dtype=np.int32)
    node_feature[root] = feature
    left = np.zeros(start[-1], dtype=np.int32)
    left[inner] = 1
    threshold = np.zeros(start[-1])
    threshold[inner] = found["threshold"][is_split]
    missing_left = np.zeros(start[-1], dtype=np.uint8)
    missing_left[root] = found["missing_left"]
    slot = np.empty(start[-1], dtype=np.int32)
    slot[root] = np.where(is_split, found["slot"], first + found["left_class"])
    slot[inner + 1] = (first + found["left_class"])[is_split]
    slot[inner + 2] = (first + found["right_class"])[is_split]
    nodes = Nodes(
        tree_start=start,
        node_left=left,
        node_feature=node_feature,
        node_threshold=threshold,
        node_missing_left=missing_left,
        node_slot=slot,
        level_words=found["words"],
        leaf_value=np.empty((0, training.n_classes)),
        n_levels=bins.n_levels,
    )
    importance = np.zeros((n, bins.n_features))
    importance[np.flatnonzero(is_split), feature[is_split]] = 1
    return Rounds(found["error"], found["alpha"], nodes, importance)


def _boost_trees(params: dict[str, Any], bins: Bins, training: Training, plan: Boosting) -> Rounds:
    n_classes = training.n_classes
    share = exact_shares(training.weights())
    record = _Record(n_classes, plan.learning_rate)
    parts: list[Nodes] = []
    importance: list[NDArray[np.float64]] = []
    n_words = 0
    for seed in plan.seeds():
        member = _tree_seed(params, seed)
        tree = grow_tree(bins, replace(training, weight=share), params, member, plan.n_threads)
        nodes = nodes_of(tree)
        answers = tree.answer.argmax(axis=1)
        predicted = answers[nodes.apply(training.X, plan.n_threads)[:, 0]]
        wrong = predicted != training.target
        if not record.add(float(share[wrong].sum() / share.sum())):
            break
        is_leaf = nodes.node_left == 0
        slot = np.where(is_leaf, len(parts) * n_classes + answers, nodes.node_slot)
        slot[~is_leaf & (nodes.node_slot >= 0)] += n_words
        parts.append(replace(nodes, node_slot=slot.astype(np.int32)))
        n_words += len(nodes.level_words)
        importance.append(tree.compute_feature_importances())
        if record.is_over:
            break
        share = record.reweighted(share, wrong)
    return Rounds(record.errors(), record.alphas(), _joined(parts), np.array(importance))


def _tree_seed(params: dict[str, Any], seed: int) -> int:
    """Return the seed that a tree fitted alone, by `boost_any`, would draw."""
    member = seeded_copy(DecisionTreeClassifier(**params), seed)
    return int(np.random.RandomState(member.random_state).randint(np.iinfo(np.int32).max))


def _joined(parts: list[Nodes]) -> Nodes:
    sizes = [len(part.node_left) for part in parts]
    names = ("node_left", "node_feature", "node_threshold", "node_missing_left", "node_slot")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*names, "level_words")
    }
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(parts[0], tree_start=start, **arrays)


def _one_class(bins: Bins) -> Rounds:
    """Return a single leaf, for a target with one class."""
    nodes = Nodes(
        tree_start=np.array([0, 1]),
        node_left=np.zeros(1, dtype=np.int32),
        node_feature=np.full(1, -1, dtype=np.int32),
        node_threshold=np.zeros(1),
        node_missing_left=np.zeros(1, dtype=np.uint8),
        node_slot=np.zeros(1, dtype=np.int32),
        level_words=np.empty(0, dtype=np.uint32),
        leaf_value=np.empty((0, 1)),
        n_levels=bins.n_levels,
    )
    return Rounds(np.zeros(1), np.ones(1), nodes, np.zeros((1, bins.n_features)))


class _Record:
    """Errors and alphas round by round, with the rules for ending."""

    def __init__(self, n_classes: int, learning_rate: float) -> None:
        self._n_classes = n_classes
        self._learning_rate = learning_rate
        self._errors: list[float] = []
        self._alphas: list[float] = []
        self.is_over = False

    def add(self, error: float) -> bool:
        """Add a learner; return False if it is no better than chance and not the first."""
        if not math.isfinite(error):
            raise DataError("the weights of the rows have overflowed; lower learning_rate")
        useless = self._n_classes > 1 and error >= 1 - 1 / self._n_classes - 1e-10
        if useless and self._errors:
            return False
        bounded = max(error, LEAST_ERROR)
        odds = math.log(max(1 - bounded, LEAST_ERROR) / bounded)
        alpha = self._learning_rate * (odds + math.log(max(self._n_classes - 1, 1)))
        self._errors.append(error)
        self._alphas.append(1.0 if useless or self._n_classes == 1 else alpha)
        self.is_over = useless or error <= 0
        return True

    def reweighted(
        self, share: NDArray[np.float64], wrong: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the weights of the next round: misclassified rows gain, the sum stays 1."""
        return exact_shares(np.where(wrong, share * math.exp(self._alphas[-1]), share))

    def errors(self) -> NDArray[np.float64]:
        """Return the errors so far."""
        return np.array(self._errors)

    def alphas(self) -> NDArray[np.float64]:
        """Return the alphas so far."""
        return np.array(self._alphas)
