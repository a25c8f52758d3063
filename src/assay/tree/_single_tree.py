"""Base class of the decision tree classifier and regressor."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from assay._core import tree as kernels
from assay.base import (
    DataError,
    Estimator,
    check_array_state,
    check_n_jobs,
    draw_seed,
)
from assay.tree._growth import Fit, Training, fit_tree, nodes_of
from assay.tree._parameters import check_parameters, feature_count
from assay.tree._prune_cost import AlphaPath
from assay.tree._tree_view import TreeView
from assay.tree.engine._nodes import Nodes, levels_of


class SingleTree(Estimator):
    """One fitted tree, its state and its inspection methods."""

    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    task: ClassVar[str]

    @property
    def tree_(self) -> TreeView:
        """The tree under scikit-learn's names, with the statistics of every node."""
        check_is_fitted(self, "node_left_")
        return TreeView(
            left=self.node_left_,
            column=self.node_feature_,
            cut=self.node_threshold_,
            missing_left=self.node_missing_left_,
            slot=self.node_slot_,
            words=self.level_words_,
            answer=self.leaf_value_,
            impurity=self.node_impurity_,
            n_node_samples=self.node_samples_,
            weighted_n_node_samples=self.node_weight_,
            n_levels=levels_of(self),
            classes=self._n_classes(),
        )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Total decrease of impurity per column, weighted by node size and scaled to sum to 1."""
        return self.tree_.compute_feature_importances()

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest number of splits above a leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of int64 of shape (n_queries,)
            Node indices in `tree_`. With ``missing='fractional'`` a missing value follows the
            branch with the larger weight here.
        """
        nodes, rows = self._nodes_and_rows(X)
        return nodes.apply(rows, check_n_jobs(self.n_jobs))[:, 0].astype(np.int64)

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Return the nodes on the path of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        sparse matrix of shape (n_queries, node_count)
            1 where the row passes through the node, including its leaf.
        """
        nodes, rows = self._nodes_and_rows(X)
        return nodes.decision_path(rows)

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """Return the path of minimal cost-complexity pruning for these data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        Bunch
            With ``ccp_alphas`` and ``impurities``: the alpha of each step and the total impurity of
            the leaves after it.
        """
        model = clone(self).set_params(prune=None, ccp_alpha=0.0)
        tree = model.fit(X, y, sample_weight=sample_weight).tree_
        path = AlphaPath.of(tree)
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    def _checked(self) -> tuple[int, int]:
        """Check the parameters; return a seed and the number of threads."""
        check_parameters(vars(self), self.task)
        return draw_seed(self.random_state), check_n_jobs(self.n_jobs)

    def _fit_tree(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Check, grow, prune and store: the body of `fit`."""
        seed, n_threads = self._checked()
        training = self._training(X, y, sample_weight)
        self._store(fit_tree(training, vars(self), seed, n_threads))
        self.max_features_ = feature_count(self.max_features, self.n_features_in_)

    @abstractmethod
    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Check the data and learn everything but the tree: names, categories, classes."""

    def _counted(
        self, rows: NDArray[Any], target: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Training:
        """Return the rows of positive weight; rows of weight 0 are ignored."""
        training = Training(target, weight, self._n_classes(), levels_of(self), rows)
        if weight is None or weight.all():
            return training
        counted = np.flatnonzero(weight > 0)
        return replace(training.taken(counted), rows=counted)

    def _store(self, fit: Fit) -> None:
        nodes_of(fit.tree).store_in(self)
        self.node_impurity_ = fit.tree.impurity
        self.node_samples_ = fit.tree.n_node_samples
        self.node_weight_ = fit.tree.weighted_n_node_samples
        self.has_missing_ = fit.has_missing
        for name in ("ccp_alpha_", "ccp_alphas_", "ccp_impurities_", *_CHOICE):
            if hasattr(self, name):
                delattr(self, name)
        if fit.path is not None:
            self.ccp_alpha_ = fit.alpha
            self.ccp_alphas_, self.ccp_impurities_ = fit.path.alphas, fit.path.impurities
        if fit.choice is not None:
            self.cv_alphas_ = fit.choice.alphas
            self.cv_errors_ = fit.choice.errors
            self.cv_standard_errors_ = fit.choice.standard_errors

    def _answers(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return class shares or values of each row."""
        nodes, rows = self._nodes_and_rows(X)
        n_threads = check_n_jobs(self.n_jobs)
        if self.missing != "fractional":
            return nodes.predict(rows, n_threads)
        out = np.empty((len(rows), self.leaf_value_.shape[1]))
        kernels.predict_fractional(
            self.node_left_,
            self.node_feature_,
            self.node_threshold_,
            self.node_missing_left_,
            self.node_slot_,
            self.level_words_,
            levels_of(self),
            self.leaf_value_,
            self.node_weight_,
            rows,
            out,
            n_threads,
        )
        return out

    def _nodes_and_rows(self, X: ArrayLike) -> tuple[Nodes, NDArray[Any]]:
        rows = self._predict_data(X)
        return Nodes.from_state(self), rows

    @abstractmethod
    def _n_classes(self) -> int:
        """Return the number of classes, 0 for a regression."""

    def _check_tree_state(self, n_outputs: int) -> None:
        n = self.n_features_in_
        for name in _ARRAYS:
            if not isinstance(getattr(self, name, None), np.ndarray):
                raise DataError(f"the model is damaged: {name} is missing or not an array")
        Nodes.from_state(self).check(n, n_outputs)
        n_nodes = len(self.node_left_)
        if list(self.tree_start_) != [0, n_nodes] or len(self.leaf_value_) != n_nodes:
            raise DataError(
                "the model is damaged: tree_start_ or leaf_value_ does not describe one tree"
            )
        check_array_state(self, "node_impurity_", "f", (n_nodes,), low=0.0)
        check_array_state(self, "node_samples_", "i", (n_nodes,), low=0)
        check_array_state(self, "node_weight_", "f", (n_nodes,), low=0.0)
        check_array_state(self, "has_missing_", "u", (n,), low=0, high=1)
        count = getattr(self, "max_features_", None)
        if type(count) is not int or not 1 <= count <= n:
            raise DataError("the model is damaged: max_features_ is missing or out of range")
        self._check_path_state()

    def _check_path_state(self) -> None:
        if not hasattr(self, "ccp_alphas_") and not hasattr(self, "cv_alphas_"):
            return
        if type(getattr(self, "ccp_alpha_", None)) is not float:
            raise DataError("the model is damaged: ccp_alpha_ is missing or not a number")
        check_array_state(self, "ccp_alphas_", "f", (None,), low=0.0)
        check_array_state(self, "ccp_impurities_", "f", (len(self.ccp_alphas_),))
        if any(hasattr(self, name) for name in _CHOICE):
            check_array_state(self, "cv_alphas_", "f", (None,), low=0.0)
            for name in _CHOICE[1:]:
                check_array_state(self, name, "f", (len(self.cv_alphas_),), low=0.0)


_ARRAYS = (
    "tree_start_",
    "node_left_",
    "node_feature_",
    "node_threshold_",
    "node_missing_left_",
    "node_slot_",
    "level_words_",
    "leaf_value_",
)
_CHOICE = ("cv_alphas_", "cv_errors_", "cv_standard_errors_")
