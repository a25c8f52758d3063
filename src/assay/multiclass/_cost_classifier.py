"""Any classifier, deciding by the costs of mistakes."""

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
from assay.base.stored import Array, Models, Offsets, OneOf, declared, ensure
from assay.evaluate import CostMatrix, decide
from assay.multiclass import _calibration as calibrate
from assay.multiclass._members import check_takes_weight, fitted, taken
from assay.multiclass._reduction import Reduction


class CostClassifier(Classifier, Reduction):
    r"""Predict the class with the least expected cost.

    Parameters
    ----------
    estimator : classifier
        The classifier whose probabilities decide.
    cost : array-like of shape (n_classes, n_classes), mapping, str or sequence of str, default=None
        Costs of mistakes: a matrix with a row per true and a column per predicted class in the
        order of `classes_`; a mapping such as ``{("spam", "ham"): 10}`` (truth, prediction); or
        text such as ``"spam,ham=10"``. Mistakes not named cost 1. None: every mistake costs 1.
    calibration : {'sigmoid', 'isotonic'} or None, default='sigmoid'
        Calibration method that turns scores into probabilities, fitted on out-of-fold scores. None:
        the classifier's own probabilities.
    cv : int, splitter of scikit-learn or list of (train, test), default=5
        Folds for the calibration: a number (lowered if the rarest class has fewer rows), a
        splitter, or the splits.
    n_jobs : int, default=None
        Threads over the folds; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    cost_matrix_ : ndarray of float64 of shape (n_classes, n_classes)
        Row: the true class; column: the predicted one.
    estimator_ : classifier
        Fitted on all rows, on class codes.
    sigmoids_ : ndarray of float64 of shape (n_classes, 2)
        Slope and offset for each class, or for the second of two; only for 'sigmoid'.
    knots_, knot_ends_ : ndarray
        Scores and probabilities at the knots of each class, and the ends of the classes; only for
        'isotonic'.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the costs L(truth, prediction),

    .. math:: \hat y(x) = \arg\min_k \sum_j P(j \mid x) \, L(j, k)

    This is the best decision if the probabilities are correct, so they are calibrated first: `cv`
    copies give out-of-fold scores, one function per class (a sigmoid or a step function) turns
    scores into probabilities, and these are divided by their sum. Equal to scikit-learn's
    ``CalibratedClassifierCV(ensemble=False)`` for classifiers with a decision function; for others
    the log-odds of the probabilities are the scores. 'isotonic' needs about a thousand rows.

    The classifier itself is trained without regard to costs.

    See Also
    --------
    assay.evaluate.decide : The decision alone, also with costs that differ from row to row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.multiclass import CostClassifier
    >>> random = np.random.default_rng(0)
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = random.normal(size=(400, 1)) + (y == "spam")[:, None]
    >>> (GaussianNB().fit(X, y).predict(X) == "spam").mean().round(2).item()
    0.47
    >>> careful = CostClassifier(GaussianNB(), cost={("ham", "spam"): 10}).fit(X, y)
    >>> (careful.predict(X) == "spam").mean().round(2).item()
    0.02
    """

    model_id: ClassVar[int | None] = 205
    stored = declared(
        calibration=OneOf((None, *calibrate.METHODS)),
        cost_matrix_=Array("classes, classes"),
        estimator_=Models(single=True, classes="some"),
        sigmoids_=Array("problems, 2", when=lambda model: model.calibration == "sigmoid"),
        knots_=Array("knots, 2", when=lambda model: model.calibration == "isotonic"),
        knot_ends_=Offsets(
            "problems", "knots_", least=1, when=lambda model: model.calibration == "isotonic"
        ),
    )

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = None,
        calibration: str | None = "sigmoid",
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs)
        self.cost = cost
        self.calibration = calibration
        self.cv = cv

    @classmethod
    def of_fitted(cls, estimator: Any, cost: CostMatrix, n_features: int) -> Self:
        """Wrap an already fitted classifier to decide by costs.

        Parameters
        ----------
        estimator : classifier
            Fitted on class codes 0..K-1, possibly not on all of them; its probabilities are used
            unchanged.
        cost : CostMatrix
            The costs.
        n_features : int
            Number of columns it was fitted on.

        Returns
        -------
        CostClassifier
            Its classes are the codes.
        """
        model = cls(clone(estimator), cost=cost.values.tolist(), calibration=None)
        model.classes_ = np.arange(len(cost.classes))
        model.cost_matrix_, model.estimator_ = cost.values, estimator
        model.n_features_in_ = n_features
        return model

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier and calibrate it.

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
        CostClassifier
            The fitted model.
        """
        self._check_parameters()
        table, codes, weight = self._fit_classes(X, y, sample_weight)
        check_takes_weight(self.estimator, weight)
        zero_one: Any = 1.0 - np.eye(self.n_classes_)
        given = zero_one if self.cost is None else self.cost
        self.cost_matrix_ = CostMatrix.of(given, self.classes_).values
        for name in ("sigmoids_", "knots_", "knot_ends_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.calibration is not None:
            self._calibrate(table, codes, weight)
        self.estimator_ = fitted(self.estimator, table, codes, weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of least expected cost for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[decide(shares, self.cost_matrix_)])

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the calibrated probability of each class, regardless of costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        table = self._table(X, reset=False, accept_sparse=self._takes_sparse_rows())
        if self.calibration is None:
            whole = np.zeros((table.shape[0], self.n_classes_))
            whole[:, np.asarray(self.estimator_.classes_)] = self.estimator_.predict_proba(table)
            return whole
        scores = calibrate.scores_of(self.estimator_, table, self.n_classes_)
        if self.calibration == "sigmoid":
            return calibrate.apply_sigmoids(scores, self.sigmoids_)
        return calibrate.apply_isotonics(scores, self.knots_, self.knot_ends_)

    def _check_parameters(self) -> None:
        self._check_member()
        check_option("calibration", self.calibration, (*calibrate.METHODS, None))
        if not (hasattr(self.cv, "split") or isinstance(self.cv, list)):
            check_interval("cv", self.cv, 2, integer=True)
        if self.calibration is None and not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(
                f"estimator must give probabilities when calibration=None; got {self.estimator!r}"
            )

    def _calibrate(
        self, table: Any, codes: NDArray[np.int64], weight: NDArray[np.float64] | None
    ) -> None:
        """Fit the calibration on out-of-fold scores."""
        parts = self._parts(codes)

        def scored(train: NDArray[np.int64], test: NDArray[np.int64]) -> NDArray[np.float64]:
            share = None if weight is None else weight[train]
            model = fitted(self.estimator, taken(table, train), codes[train], share)
            return calibrate.scores_of(model, taken(table, test), self.n_classes_)

        work = [partial(scored, train, test) for train, test in parts]
        found = in_threads(work, check_n_jobs(self.n_jobs))
        tests, scores = np.concatenate([test for _, test in parts]), np.concatenate(found)
        codes, weight = codes[tests], None if weight is None else weight[tests]
        if not np.isfinite(scores).all():
            raise DataError(f"{type(self.estimator).__name__} gives scores that are not finite")
        if self.calibration == "sigmoid":
            self.sigmoids_ = calibrate.fit_sigmoids(scores, codes, weight)
        else:
            self.knots_, self.knot_ends_ = calibrate.fit_isotonics(scores, codes, weight)

    def _parts(self, codes: NDArray[np.int64]) -> list[tuple[Any, Any]]:
        """Return training and test rows of each part."""
        if not isinstance(self.cv, Integral):
            return list(check_cv(self.cv).split(np.zeros(len(codes)), codes))
        rarest = np.bincount(codes).argmin()
        count = int((codes == rarest).sum())
        if count < 2:
            raise DataError(
                "calibration needs 2 rows of each class; class "
                f"{self.classes_[rarest].item()!r} has "
                f"{count}; leave it out, or use calibration=None"
            )
        parts = StratifiedKFold(min(int(self.cv), count))
        return list(parts.split(np.zeros(len(codes)), codes))

    def _check_more(self) -> None:
        if self.calibration is None:
            ensure(hasattr(self.estimator_, "predict_proba"), "estimator_ gives no probabilities")
            return
        knows = len(self.estimator_.classes_) == self.n_classes_
        ensure(knows, "estimator_ does not know all classes")
        if self.calibration == "isotonic":
            shares = self.knots_[:, 1]
            inside = shares.min() >= 0 and shares.max() <= 1
            ensure(inside, "knots_ has probabilities outside [0, 1]")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(GaussianNB()),
            cls(GaussianNB(), calibration="isotonic", cv=2),
            cls(GaussianNB(), calibration=None),
        ]
