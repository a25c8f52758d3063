"""Any classifier with calibrated probabilities and a decision threshold."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.naive_bayes import GaussianNB

from assay.base import (
    Classifier,
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    in_threads,
)
from assay.base.stored import Array, Integers, Models, OneOf, declared, ensure
from assay.multiclass._members import check_takes_weight, fitted, taken
from assay.multiclass._probability_map import MAPS, Floats, ProbabilityMap
from assay.multiclass._reduction import Reduction


class CalibratedClassifier(Classifier, Reduction):
    r"""Calibrate the probabilities of a classifier, and optionally set the decision threshold.

    Parameters
    ----------
    estimator : classifier
        The classifier; it must give probabilities.
    method : {'sigmoid', 'isotonic', 'temperature'} or None, default='sigmoid'
        Calibration method, fitted on out-of-fold probabilities; None leaves them unchanged.
    threshold : float, default=None
        For two classes: the second is predicted where its probability exceeds this. None: the most
        probable class.
    cv : int, splitter of scikit-learn or list of (train, test), default=5
        Folds for the calibration: a number, a splitter, or the splits.
    n_jobs : int, default=None
        Threads over the folds; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    estimator_ : classifier
        Fitted on all rows, on class codes.
    map_ : ndarray of float64 of shape (n, 2)
        Parameters of the calibration: slope and offset of each class, knots, or the temperature;
        absent without a method.
    map_ends_ : ndarray of int64
        End of each class's knots in `map_`, for 'isotonic'.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the log-odds :math:`s_k = \log \frac{p_k}{1 - p_k}` of each class,

    .. math:: \text{sigmoid: } \frac{1}{1 + e^{-(a_k s_k + b_k)}}, \qquad
              \text{temperature: } \frac{p_k^{1/T}}{\sum_j p_j^{1/T}}

    and for 'isotonic' the non-decreasing function of :math:`s_k` with the least squared error; the
    first and the last are divided by their sum. 'isotonic' needs about a thousand rows.
    'temperature' never changes which class is most probable.

    See Also
    --------
    CostClassifier : Decides by the costs of mistakes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.multiclass import CalibratedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> plain = GaussianNB().fit(X, y)
    >>> model = CalibratedClassifier(GaussianNB()).fit(X, y)
    >>> round(log_loss(y, plain.predict_proba(X)), 2), round(log_loss(y, model.predict_proba(X)), 2)
    (0.52, 0.18)
    """

    model_id: ClassVar[int | None] = 206
    stored = declared(
        method=OneOf((*MAPS, None)),
        estimator_=Models(methods=("predict_proba",), single=True, classes="some"),
        map_=Array("knots, 2", when=lambda model: model.method is not None),
        map_ends_=Integers("ends", 0, when=lambda model: model.method is not None),
    )

    def __init__(
        self,
        estimator: Any,
        *,
        method: str | None = "sigmoid",
        threshold: float | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs)
        self.method = method
        self.threshold = threshold
        self.cv = cv

    @classmethod
    def of_fitted(
        cls,
        estimator: Any,
        learned: ProbabilityMap | None,
        *,
        threshold: float | None = None,
        n_classes: int,
        n_features: int,
    ) -> Self:
        """Wrap an already fitted classifier with a probability map and a threshold.

        Parameters
        ----------
        estimator : classifier
            Fitted on class codes 0..K-1, possibly not on all of them.
        learned : ProbabilityMap or None
            The map; None leaves the probabilities unchanged.
        threshold : float, default=None
            As the parameter of the class.
        n_classes, n_features : int
            Number of classes K, and number of columns it was fitted on.

        Returns
        -------
        CalibratedClassifier
            Its classes are the codes.
        """
        method = None if learned is None else learned.method
        model = cls(clone(estimator), method=method, threshold=threshold)
        model.classes_ = np.arange(n_classes)
        model.estimator_ = estimator
        model.n_features_in_ = n_features
        model._keep(learned)
        return model

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier, and the calibration on out-of-fold probabilities.

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
        Self
        """
        self._check_parameters()
        table, codes, weight = self._fit_classes(X, y, sample_weight)
        if self.threshold is not None and self.n_classes_ != 2:
            raise ParameterError(f"threshold needs two classes; got {self.n_classes_}")
        check_takes_weight(self.estimator, weight)
        self._keep(None if self.method is None else self._learned(table, codes, weight))
        self.estimator_ = fitted(self.estimator, table, codes, weight)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the corrected probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        table = self._table(X, reset=False, accept_sparse=self._takes_sparse_rows())
        shares = _shares(self.estimator_, table, self.n_classes_)
        learned = self._map()
        return shares if learned is None else learned(shares)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        if self.threshold is None:
            return np.asarray(self.classes_[shares.argmax(axis=1)])
        return np.asarray(self.classes_[(shares[:, 1] > self.threshold).astype(np.int64)])

    def _keep(self, learned: ProbabilityMap | None) -> None:
        for name in ("map_", "map_ends_"):
            if hasattr(self, name):
                delattr(self, name)
        if learned is not None:
            self.map_, self.map_ends_ = learned.numbers, learned.ends

    def _map(self) -> ProbabilityMap | None:
        if self.method is None:
            return None
        return ProbabilityMap(self.method, self.map_, self.map_ends_)

    def _check_parameters(self) -> None:
        self._check_member()
        check_option("method", self.method, (*MAPS, None))
        if self.threshold is not None:
            check_interval("threshold", self.threshold, 0.0, 1.0)
        if not (hasattr(self.cv, "split") or isinstance(self.cv, list)):
            check_interval("cv", self.cv, 2, integer=True)
        if not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(f"estimator must give probabilities; got {self.estimator!r}")

    def _learned(
        self, table: Any, codes: NDArray[np.int64], weight: NDArray[np.float64] | None
    ) -> ProbabilityMap:
        parts = self._parts(codes)

        def held_out(train: NDArray[np.int64], test: NDArray[np.int64]) -> Floats:
            share = None if weight is None else weight[train]
            model = fitted(self.estimator, taken(table, train), codes[train], share)
            return _shares(model, taken(table, test), self.n_classes_)

        work = [partial(held_out, train, test) for train, test in parts]
        found = np.concatenate(in_threads(work, check_n_jobs(self.n_jobs)))
        rows = np.concatenate([test for _, test in parts])
        if not np.isfinite(found).all():
            raise DataError(
                f"{type(self.estimator).__name__} gives probabilities that are not finite"
            )
        assert self.method is not None
        return ProbabilityMap.fit(
            self.method, found, codes[rows], None if weight is None else weight[rows]
        )

    def _parts(self, codes: NDArray[np.int64]) -> list[tuple[Any, Any]]:
        if not isinstance(self.cv, Integral):
            return list(check_cv(self.cv).split(np.zeros(len(codes)), codes))
        rarest = np.bincount(codes).argmin()
        count = int((codes == rarest).sum())
        if count < 2:
            raise DataError(
                "calibration needs 2 rows of each class; class "
                f"{self.classes_[rarest].item()!r} has {count}; leave it out, or use method=None"
            )
        return list(StratifiedKFold(min(int(self.cv), count)).split(np.zeros(len(codes)), codes))

    def _check_more(self) -> None:
        size, threshold = self.n_classes_, self.threshold
        share = size == 2 and type(threshold) is float and 0 <= threshold <= 1
        ensure(threshold is None or share, f"threshold is {threshold!r}")
        if self.method is not None:
            ProbabilityMap(self.method, self.map_, self.map_ends_).check(size)

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(GaussianNB()),
            cls(GaussianNB(), method="isotonic", cv=2),
            cls(GaussianNB(), method="temperature", cv=3),
        ]


def _shares(model: Any, table: Any, n_classes: int) -> Floats:
    """Return the probabilities of all classes; 0 for those the model was not fitted on."""
    known = np.asarray(model.predict_proba(table), dtype=np.float64)
    if known.shape[1] == n_classes:
        return known
    whole = np.zeros((len(known), n_classes))
    whole[:, np.asarray(model.classes_).astype(np.int64)] = known
    return whole
