"""Multiclass classification with one binary problem per pair of classes."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from assay.base import Classifier, check_option
from assay.base.stored import Models, OneOf, declared, ensure
from assay.multiclass._coupling import coupled
from assay.multiclass._reduction import Problem, Reduction, has_probabilities

_VOTES = ("majority", "weighted")


class AllVsAllClassifier(Classifier, Reduction):
    r"""Classify by the votes of one binary classifier per pair of classes (one vs one).

    Parameters
    ----------
    estimator : classifier
        The binary classifier, of Assay or scikit-learn; one copy is fitted for each pair.
    vote : {'majority', 'weighted'}, default='majority'
        Whether each vote counts as one, or is weighted by the classifier's confidence.
    n_jobs : int, default=None
        Threads over the pairs; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    estimators_ : list of classifier
        The K(K - 1)/2 fitted classifiers, for the pairs (0, 1), (0, 2), ..., (1, 2), ... of
        positions i < j in `classes_`, each on the rows of its two classes: label 1 is class j, 0 is
        class i.
    n_classes_ : int
        Number K of classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the output :math:`F_{ij}(x)` of a pair, positive for class i and negative for class j,

    .. math:: s_i \leftarrow s_i + y, \quad s_j \leftarrow s_j - y, \qquad
              y = F_{ij}(x) \text{ (weighted)} \quad\text{or}\quad
              y = \operatorname{sign} F_{ij}(x) \text{ (majority)}

    for all pairs, and the class with the largest :math:`s_k` wins. Majorities are often tied (of
    three classes, each may beat one other): then the larger sum of confidences decides, then the
    first class. The confidence is the decision function; without one 2p - 1 of the probability p;
    without that -1 or 1. 'weighted' needs comparable confidences such as probabilities: a pair that
    has never seen the class of a row still votes, and its unbounded margins may dominate (iris with
    linear support vector machines: 61 % correct instead of 98 %).

    Probabilities are those of the pairs, coupled by least squares (Wu, Lin and Weng, 2004). The
    most probable class may differ from the predicted one.

    Each fit uses the rows of two classes only: faster than one-vs-all if the learner needs more
    than linear time and the classes are balanced; slower to predict, with more classifiers that can
    err.

    See Also
    --------
    OneVsAllClassifier : One binary problem per class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> from assay.multiclass import AllVsAllClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AllVsAllClassifier(LinearSVC(random_state=0)).fit(X, y)
    >>> len(model.estimators_), round(model.score(X, y), 2)
    (3, 0.98)
    """

    model_id: ClassVar[int | None] = 201
    stored = declared(vote=OneOf(_VOTES), estimators_=Models("pairs", classes=(0, 1)))

    def __init__(
        self, estimator: Any, *, vote: str = "majority", n_jobs: int | None = None
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs)
        self.vote = vote

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one classifier per pair of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, a sparse matrix or a dataframe, as the classifier accepts.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, for a classifier that accepts weights.

        Returns
        -------
        AllVsAllClassifier
            The fitted model.
        """
        self._check_member()
        check_option("vote", self.vote, _VOTES)
        table, codes, weight = self._fit_classes(X, y, sample_weight)
        problems: list[Problem] = []
        for i, j in combinations(range(self.n_classes_), 2):
            rows = np.flatnonzero((codes == i) | (codes == j))
            problems.append((rows, (codes[rows] == j).astype(np.int64)))
        self._fit_members(table, problems, weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        best = (decision > 0).astype(np.int64) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the sum of the votes for and against each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes), or (n_samples,) for two classes
            For 'majority', wins minus losses, plus less than 1/3 from the confidences: enough to
            break ties, too little to overrule a majority.
        """
        confidences = self._confidences(X)
        scores = self._tally(confidences)
        if self.vote == "majority":
            wins = self._tally(np.where(confidences > 0, 1.0, -1.0))
            scores = wins + scores / (3.0 * (1.0 + np.abs(scores)))
        return scores[:, 1] if self.n_classes_ == 2 else scores

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, coupled from those of the pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        return coupled(1.0 - self._second_shares(X), self.n_classes_)

    def _tally(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up votes, positive for the second class of each pair."""
        scores = np.zeros((len(votes), self.n_classes_))
        for pair, (i, j) in enumerate(combinations(range(self.n_classes_), 2)):
            scores[:, i] -= votes[:, pair]
            scores[:, j] += votes[:, pair]
        return scores

    def _check_more(self) -> None:
        k = self.n_classes_
        ensure(k >= 2, "classes_ holds fewer than two labels")
        n, pairs = len(self.estimators_), k * (k - 1) // 2
        ensure(n == pairs, f"estimators_ holds {n} models, not {pairs}")
