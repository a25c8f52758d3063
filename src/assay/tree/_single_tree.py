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
from assay.base import Estimator, check_n_jobs, draw_seed
from assay.base.stored import Array, Count, Integers, Plain, declared, each, ensure
from assay.tree._growth import Fit, Training, fit_tree, nodes_of
from assay.tree._parameters import check_parameters, feature_count
from assay.tree._prune_cost import AlphaPath
from assay.tree._tree_view import TreeView
from assay.tree.engine._nodes import Nodes, levels_of

_CHOICE = ("cv_alphas_", "cv_errors_", "cv_standard_errors_")


def _has_path(model: Any) -> bool:
    return hasattr(model, "ccp_alphas_") or hasattr(model, "cv_alphas_")


def _has_choice(model: Any) -> bool:
    return _has_path(model) and any(hasattr(model, name) for name in _CHOICE)


class SingleTree(Estimator):
    """One fitted tree, its state and its inspection methods."""

    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    task: ClassVar[str]
    stored = declared(
        node_impurity_=Array("nodes", 0),
        node_samples_=Integers("nodes", 0),
        node_weight_=Array("nodes", 0),
        has_missing_=Array("features", 0, 1, kinds="u"),
        max_features_=Count(1, "features"),
        ccp_alpha_=Plain(float, when=_has_path),
        ccp_alphas_=Array("alphas", 0, when=_has_path),
        ccp_impurities_=Array("alphas", when=_has_path),
        **each(" ".join(_CHOICE), Array("choices", 0, when=_has_choice)),
    )

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

    def _check_more(self) -> None:
        n_nodes = len(self.node_weight_)
        Nodes.from_state(self).check(self.n_features_in_, self._n_classes() or self.n_outputs_)
        fits = list(self.tree_start_) == [0, n_nodes] and len(self.leaf_value_) == n_nodes
        ensure(fits, "tree_start_ or leaf_value_ does not describe one tree")
