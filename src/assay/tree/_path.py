"""Every depth and every price of a leaf from one tree (a path for `assay.select`).

A tree grown with ``max_depth=d`` is the deeper tree cut at depth d, since every choice in a node
depends on the node alone; and the trees for all prices are nested in one another. So candidates
that differ in `max_depth`, `ccp_alpha`, `prune` and its levels share one growth, and the columns
are sorted once for all training sets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, ParameterError, Predicted, did_you_mean
from assay.tree._growth import grow_tree, nodes_of, pruned_leaves
from assay.tree._parameters import check_parameters
from assay.tree._tree_view import TreeView
from assay.tree.engine._bins import Ranks

Candidates = Sequence[Mapping[str, Any]]
#: Parameters that a grown tree can be cut by afterwards.
_CUTS = ("max_depth", "ccp_alpha", "prune", "significance", "confidence")
#: Parameters that a tree without cross-validated or held-out pruning does not look at.
_IDLE = ("validation_fraction", "n_folds", "standard_errors")


class TreePath(ABC):
    """What both paths share: one growth for each group of candidates, then cuts."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks:  # noqa: ARG002
        """Sort every column once for all training sets."""
        return Ranks.build(np.ascontiguousarray(X, dtype=_kind(X)))

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of trees that are grown for these candidates.

        Settings of the template are not known here: a candidate that leaves `prune`, `missing` or
        `max_leaf_nodes` to the template counts as if the template had the default.
        """
        alone, groups = 0, set()
        for candidate in candidates:
            if _is_alone(candidate):
                alone += 1
            else:
                groups.add(_key(candidate))
        return alone + len(groups)

    def fit_predict(
        self,
        estimator: Any,
        shared: Ranks,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.integer[Any]],
        tests: Sequence[NDArray[np.integer[Any]]],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, per candidate and in their order, the predictions for each block of `tests`.

        Parameters
        ----------
        estimator : DecisionTreeClassifier or DecisionTreeRegressor
            Unfitted template; a candidate overrides its parameters.
        shared : Ranks
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1, or target values.
        weight : ndarray or None
            Weights of the rows.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = number of nodes.
        """
        known = estimator.get_params(deep=False)
        settings = [{**known, **candidate} for candidate in candidates]
        depths = _depths(settings)
        grown: dict[Any, _Grown] = {}
        whole = np.concatenate(tests)
        ends = np.cumsum([len(test) for test in tests])[:-1]
        n_classes = int(y.max()) + 1 if y.dtype.kind in "iu" else 0
        for candidate, params in zip(candidates, settings, strict=True):
            for name in candidate:
                if name not in known:
                    raise ParameterError(
                        f"{type(estimator).__name__} has no parameter {name!r}"
                        f"{did_you_mean(name, known)}"
                    )
            check_parameters(params, estimator.task)
            if _is_alone(params):
                model = clone(estimator).set_params(**candidate)
                _fit(model, X[train], y[train], None if weight is None else weight[train])
                answers, size = model._answers(X[whole]), model.tree_.node_count
            else:
                key = _key(params)
                if key not in grown:
                    model = clone(estimator).set_params(**{**candidate, "max_depth": depths[key]})
                    grown[key] = _Grown(model, shared, X, y, weight, train, whole)
                answers, size = grown[key].cut(params)
                model = grown[key].model
            codes = model.classes_.astype(np.int64) if n_classes else None
            parts = np.split(answers, ends)
            yield Fitted([self._predicted(part, codes, n_classes) for part in parts], float(size))

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return _fit(clone(estimator).set_params(**candidate), X, y, weight)

    @abstractmethod
    def _predicted(
        self, answers: NDArray[np.float64], codes: NDArray[np.int64] | None, n_classes: int
    ) -> Predicted: ...


class ClassifierPath(TreePath):
    """The path of `DecisionTreeClassifier`."""

    def _predicted(
        self, answers: NDArray[np.float64], codes: NDArray[np.int64] | None, n_classes: int
    ) -> Predicted:
        assert codes is not None
        label = codes[answers.argmax(axis=1)]
        if len(codes) == n_classes:
            return Predicted(label=label, probability=answers)
        probability = np.zeros((len(answers), n_classes))
        probability[:, codes] = answers
        return Predicted(label=label, probability=probability)


class RegressorPath(TreePath):
    """The path of `DecisionTreeRegressor`."""

    def _predicted(
        self,
        answers: NDArray[np.float64],
        codes: NDArray[np.int64] | None,  # noqa: ARG002
        n_classes: int,  # noqa: ARG002
    ) -> Predicted:
        return Predicted(value=answers[:, 0] if answers.shape[1] == 1 else answers)


class _Grown:
    """The deepest tree of a group, and where the test rows arrive in it."""

    def __init__(
        self,
        model: Any,
        ranks: Ranks,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.integer[Any]],
        tests: NDArray[np.integer[Any]],
    ) -> None:
        self.model = model
        seed, n_threads = model._checked()
        training = model._training(X[train], y[train], None if weight is None else weight[train])
        if not len(model.categorical_features_):  # else levels come from the training rows alone
            rows = np.asarray(train, dtype=np.int64)
            if training.rows is not None:  # those that count
                rows = rows[training.rows]
            training = replace(training, ranks=ranks, rows=rows)
        params = vars(model)
        bins = training.table(params, n_threads)
        self.tree = grow_tree(bins, training, params, seed, n_threads)
        queries = model._predict_data(X[tests])
        self.leaf = nodes_of(self.tree).apply(queries, n_threads)[:, 0]

    def cut(self, params: Mapping[str, Any]) -> tuple[NDArray[np.float64], int]:
        """Return the answers to the test rows and the number of nodes of one candidate."""
        tree = self.tree
        if params["max_depth"] is not None and params["max_leaf_nodes"] is None:
            tree = tree.cut_at(params["max_depth"])
        stand_in, size = _stand_ins(tree.is_leaf | pruned_leaves(tree, params), self.tree)
        return tree.answer[stand_in[self.leaf]], size


def _stand_ins(make_leaf: NDArray[np.bool_], tree: TreeView) -> tuple[NDArray[np.int64], int]:
    """For each node the one that answers in its place, and the number of nodes that stay."""
    stand_in = np.arange(tree.node_count)
    size = 1
    for level in tree.levels[:-1]:
        nodes = level[tree.left[level] > 0]
        above = stand_in[nodes]
        ends = make_leaf[nodes] | (above != nodes)
        for child in (tree.left[nodes], tree.left[nodes] + 1):
            stand_in[child] = np.where(ends, above, child)
        size += 2 * int((~ends).sum())
    return stand_in, size


def _is_alone(params: Mapping[str, Any]) -> bool:
    """Whether a candidate needs rows of its own for pruning, or its own way to predict."""
    return (
        params.get("prune") == "reduced_error"
        or _is_text(params.get("ccp_alpha"), "cv")
        or params.get("missing") == "fractional"
    )


def _key(params: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what candidates of one growth have in common."""
    cuts = _CUTS if params.get("max_leaf_nodes") is None else _CUTS[1:]
    named = sorted(params.items())
    return tuple((name, repr(value)) for name, value in named if name not in (*cuts, *_IDLE))


def _depths(settings: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], int | None]:
    """Return the deepest tree of each group; None = no limit."""
    deepest: dict[tuple[Any, ...], int | None] = {}
    for params in settings:
        key, depth = _key(params), params["max_depth"]
        known = deepest.get(key, 0)
        if depth is None or known is None:
            deepest[key] = None
        elif isinstance(depth, Integral) and int(depth) >= 1:
            deepest[key] = max(known, int(depth))
    return deepest


def _is_text(value: object, text: str) -> bool:
    return isinstance(value, str) and value == text


def _fit(model: Any, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Any:
    return model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)


def _kind(X: NDArray[Any]) -> Any:
    return X.dtype if X.dtype == np.float32 else np.float64
