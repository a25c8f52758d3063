"""Multiclass classification with one binary problem per class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from assay.base import Classifier
from assay.base.stored import Models, declared, ensure
from assay.multiclass._reduction import Problem, Reduction, has_probabilities


class OneVsAllClassifier(Classifier, Reduction):
    r"""Classify by the most confident of one binary classifier per class (one vs rest).

    Parameters
    ----------
    estimator : classifier
        The binary classifier, of Assay or scikit-learn; one copy is fitted for each class.
    n_jobs : int, default=None
        Threads over the classes; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    estimators_ : list of classifier
        The fitted classifiers, in the order of `classes_`: label 1 is the class, 0 all others. For
        two classes there is only one, for the second class.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the confidence :math:`f_k(x)` of the classifier of class k, positive for this class,

    .. math:: \hat y(x) = \arg\max_k f_k(x):

    the most confident positive prediction or, if all are negative, the least confident negative
    one. Ties go to the first class. The confidence is the decision function; without one 2p - 1 of
    the probability p; without that -1 or 1, which gives many ties.

    Probabilities are those of the members divided by their sum (equal if all are 0). The members
    are fitted independently: calibrate the probabilities before using them with costs.

    K fits on all rows; compared with all pairs, fewer models that can err, but each problem is
    unbalanced (1 to K - 1).

    See Also
    --------
    AllVsAllClassifier : One binary problem per pair of classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from assay.multiclass import OneVsAllClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsAllClassifier(LogisticRegression()).fit(X, y)
    >>> len(model.estimators_), round(model.score(X, y), 2)
    (3, 0.95)
    """

    model_id: ClassVar[int | None] = 200
    stored = declared(estimators_=Models("problems", classes=(0, 1)))

    def __init__(self, estimator: Any, *, n_jobs: int | None = None) -> None:
        super().__init__(estimator, n_jobs=n_jobs)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one classifier per class.

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
        OneVsAllClassifier
            The fitted model.
        """
        self._check_member()
        table, codes, weight = self._fit_classes(X, y, sample_weight)
        singled_out = range(1, 2) if self.n_classes_ == 2 else range(self.n_classes_)
        problems: list[Problem] = [(None, (codes == k).astype(np.int64)) for k in singled_out]
        self._fit_members(table, problems, weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class whose classifier is the most confident.

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
        """Return the confidence of each classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        confidences = self._confidences(X)
        return confidences[:, 0] if confidences.shape[1] == 1 else confidences

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class: those of the members, divided by their sum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        shares = self._second_shares(X)
        if shares.shape[1] == 1:
            return np.column_stack([1.0 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        equal = np.full_like(shares, 1.0 / shares.shape[1])
        return np.asarray(np.divide(shares, total, out=equal, where=total > 0))

    def _check_more(self) -> None:
        ensure(self.n_classes_ >= 2, "classes_ holds fewer than two labels")
