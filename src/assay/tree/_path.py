"""Every depth and every price of a leaf from one tree (a path for `assay.select`).

A tree grown with ``max_depth=d`` is the deeper tree cut at depth d, since every choice in a node
depends on the node alone; and the trees for all prices are nested in one another. So candidates
that differ in `max_depth`, `ccp_alpha`, `prune` and its levels share one growth, and the columns
are sorted once for all training sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Answer, Candidates, Path, Predicted, TrainingSet
from assay.tree._growth import grow_tree, nodes_of, pruned_leaves
from assay.tree._parameters import check_parameters
from assay.tree._shared_bins import SharedBins
from assay.tree._tree_view import TreeView
from assay.tree.engine._bins import Ranks

#: Parameters that a grown tree can be cut by afterwards.
_CUTS = ("max_depth", "ccp_alpha", "prune", "significance", "confidence")
#: Parameters that a tree without cross-validated or held-out pruning does not look at.
_IDLE = ("validation_fraction", "n_folds", "standard_errors")


class _Grown:
    """The deepest tree of a group, and where the test rows arrive in it."""

    def __init__(self, model: Any, training: TrainingSet) -> None:
        self.model = model
        seed, n_threads = model._checked()
        own = model._training(*training.data())
        if not len(model.categorical_features_):  # else levels come from the training rows alone
            rows = np.asarray(training.train, dtype=np.int64)
            if own.rows is not None:  # those that count
                rows = rows[own.rows]
            own = replace(own, ranks=training.shared, rows=rows)
        params = vars(model)
        bins = own.table(params, n_threads)
        self.tree = grow_tree(bins, own, params, seed, n_threads)
        queries = model._predict_data(training.test_rows())
        self.leaf = nodes_of(self.tree).apply(queries, n_threads)[:, 0]

    def cut(self, params: Mapping[str, Any]) -> tuple[NDArray[np.float64], int]:
        """Return the answers to the test rows and the number of nodes of one candidate."""
        tree = self.tree
        if params["max_depth"] is not None and params["max_leaf_nodes"] is None:
            tree = tree.cut_at(params["max_depth"])
        stand_in, size = _stand_ins(tree.is_leaf | pruned_leaves(tree, params), self.tree)
        return tree.answer[stand_in[self.leaf]], size


class TreePath(SharedBins, Path[_Grown | TrainingSet]):
    """The path of decision trees: one growth for each group of candidates, then cuts."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks:  # noqa: ARG002
        """Sort every column once for all training sets."""
        kind = X.dtype if X.dtype == np.float32 else np.float64
        return Ranks.build(np.ascontiguousarray(X, dtype=kind))

    def group(self, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Return what candidates of one growth have in common.

        None: the candidate needs rows of its own for pruning, or its own way to predict.
        """
        if _is_alone(params):
            return None
        cuts = _CUTS if params.get("max_leaf_nodes") is None else _CUTS[1:]
        named = sorted(params.items())
        return tuple((name, repr(value)) for name, value in named if name not in (*cuts, *_IDLE))

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the parameters."""
        check_parameters(vars(model), model.task)

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Grown | TrainingSet:
        """Grow the deepest tree."""
        if _is_alone(vars(models[0])):
            return training
        depths = [model.max_depth for model in models]
        deepest = None if None in depths else max(depths)
        return _Grown(clone(models[0]).set_params(max_depth=deepest), training)

    def read(self, run: _Grown | TrainingSet, model: Any) -> Answer:
        """Cut the tree; the size is the number of nodes."""
        if isinstance(run, _Grown):
            answers, size = run.cut(vars(model))
            model = run.model
        else:
            model.fit(*run.data())
            answers, size = model._answers(run.test_rows()), model.tree_.node_count
        classes = getattr(model, "classes_", None)
        if classes is not None:
            return Answer(Predicted(probability=answers), size, classes)
        return Answer(Predicted(value=answers[:, 0] if answers.shape[1] == 1 else answers), size)


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


def _is_text(value: object, text: str) -> bool:
    return isinstance(value, str) and value == text
