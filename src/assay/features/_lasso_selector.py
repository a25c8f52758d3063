"""Feature selection by the nonzero weights of a linear model with an L1 penalty."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import Lasso

from assay.base import (
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
    class_codes,
    draw_seed,
    in_threads,
    real_values,
)
from assay.base.stored import Array, Number, declared, ensure
from assay.features._consensus_folds import stratified_folds
from assay.features._kept_columns import KeptColumns, best_columns

Floats = NDArray[np.float64]

#: Smallest penalty tried, as a fraction of the one that keeps no column.
SMALLEST = 0.01


class LassoSelector(KeptColumns):
    r"""Select the columns with nonzero weight in a linear model with an L1 penalty.

    Parameters
    ----------
    estimator : estimator
        A linear model with an L1 penalty called `alpha` or, inverse, `C`: `assay.linear.Lasso`, or
        `assay.linear.LogisticRegression` with ``l1_ratio=1.0``. Its own penalty is not used.
    penalty : float in (0, 1] or None, default=None
        Penalty as a fraction of the smallest one that keeps no column; larger values keep fewer
        columns. None: chosen by cross-validation within the training rows.
    rule : {'one_se', 'best'}, default='one_se'
        Choose the largest penalty whose validation loss is within one standard error of the best,
        or the best itself.
    n_penalties : int, default=20
        Number of penalties tried, from 1 down to 0.01 in equal ratios.
    n_folds : int, default=5
        Number of folds of the cross-validation.
    min_features : int, default=1
        Minimum number of columns to keep; if fewer are selected, those of the largest weight at the
        smallest penalty tried are added.
    n_jobs : int, default=None
        Threads, one fold each; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept.
    weights_ : ndarray of float64 of shape (n_features_in_,)
        Largest absolute weight of each column over the classes, for standardised columns.
    penalties_ : ndarray of float64
        The penalties tried, descending, as fractions.
    losses_, errors_ : ndarray of float64
        Mean validation loss at each penalty, and its standard error; empty if `penalty` is given.
    penalty_ : float
        The fraction in use.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With standardised columns and a loss :math:`\ell` (half the squared error, or the negative log
    likelihood of the classes),

    .. math:: \min_w \frac{1}{n} \sum_i \ell(y_i, x_i^\top w + b) + \lambda \|w\|_1, \qquad
              \lambda = s\, \lambda_{max}, \quad
              \lambda_{max} = \max_j \frac{1}{n} |\sum_i x_{ij} (t_i - \bar t)|

    where t is the target or the 0/1 indicator of a class. At :math:`s = 1` all weights are zero.
    The validation loss is the mean squared error or the log loss.

    It uses the target: put it into a pipeline with the model, so that it is fitted inside each
    fold. To choose the penalty in a search, give several values of `penalty` as candidates. The
    kept columns are returned unchanged.

    See Also
    --------
    ConsensusSelector : Without a model; finds columns that act together.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.features import LassoSelector
    >>> from assay.linear import Lasso
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> y = 3 * X[:, 4] - 2 * X[:, 9]
    >>> LassoSelector(Lasso(), random_state=0).fit(X, y).get_support(indices=True).tolist()
    [4, 9]
    """

    model_id: ClassVar[int | None] = 246
    stored = declared(
        weights_=Array("features", 0),
        penalties_=Array("penalties", 0, 1),
        losses_=Array("losses"),
        errors_=Array("losses", 0),
        penalty_=Number(),
    )

    def __init__(
        self,
        estimator: Any,
        *,
        penalty: float | None = None,
        rule: str = "one_se",
        n_penalties: int = 20,
        n_folds: int = 5,
        min_features: int = 1,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.penalty = penalty
        self.rule = rule
        self.n_penalties = n_penalties
        self.n_folds = n_folds
        self.min_features = min_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose the penalty, fit, and find the columns with nonzero weight.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: numbers, none missing.
        y : array-like of shape (n_samples,)
            Their classes or numbers.

        Returns
        -------
        LassoSelector
            The fitted selector.
        """
        n_threads = self._check_parameters()
        if y is None:
            raise DataError("LassoSelector requires y to be passed, but the target y is None")
        rows = _standard(self._fit_rows(X))
        target: NDArray[Any] = (
            class_codes(y)[1] if is_classifier(self.estimator) else real_values(y)
        )
        if len(target) != len(rows):
            raise DataError(
                f"X has {len(rows)} rows but y has {len(target)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        largest = _largest_penalty(rows, target, is_classifier(self.estimator))
        if largest == 0:
            raise DataError(
                f"no column varies with y (n_samples = {len(rows)}): there is nothing to select"
            )
        given = self.penalty is not None
        self.penalties_ = (
            np.array([float(self.penalty or 1.0)])
            if given
            else np.geomspace(1.0, SMALLEST, self.n_penalties)
        )
        self.losses_, self.errors_ = np.empty(0), np.empty(0)
        chosen = 0
        if not given:
            losses = self._held_out(rows, target, largest, n_threads)
            self.losses_ = losses.mean(axis=0)
            self.errors_ = losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
            chosen = self._chosen()
        self.penalty_ = float(self.penalties_[chosen])
        self.weights_ = _weights(self._model(self.penalty_ * largest, len(rows)).fit(rows, target))
        self.support_ = self.weights_ > 0
        if self.support_.sum() < self.min_features:
            loosest = min(float(self.penalties_[-1]), self.penalty_)
            lax = _weights(self._model(loosest * largest, len(rows)).fit(rows, target))
            self.support_ = best_columns(self.support_.astype(np.int64), lax, self.min_features)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Return the columns that are kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows: numbers, none missing.

        Returns
        -------
        ndarray or dataframe of shape (n_samples, n_selected)
            A dataframe stays a dataframe of the same library.
        """
        self._predict_data(X)
        return super().transform(X)

    def _held_out(
        self, rows: Floats, target: NDArray[Any], largest: float, n_threads: int
    ) -> Floats:
        """Return the validation loss of each fold at each penalty."""
        if len(rows) < self.n_folds:
            raise DataError(
                f"{len(rows)} rows (n_samples = {len(rows)}) are too few for {self.n_folds} folds"
            )
        folds = stratified_folds(target, self.n_folds, (draw_seed(self.random_state),))
        work = [
            partial(self._losses, rows, target, folds == f, largest) for f in range(self.n_folds)
        ]
        return np.array(in_threads(work, n_threads))

    def _losses(
        self, rows: Floats, target: NDArray[Any], held: NDArray[np.bool_], largest: float
    ) -> list[float]:
        found = []
        for share in self.penalties_:
            model = self._model(share * largest, int((~held).sum()))
            model.fit(rows[~held], target[~held])
            if not is_classifier(model):
                found.append(float(np.mean((target[held] - model.predict(rows[held])) ** 2)))
                continue
            # A class missing from the other folds has probability 0; its loss must stay finite.
            shares = np.full((int(held.sum()), int(target.max()) + 1), 1e-15)
            shares[:, model.classes_] = np.maximum(model.predict_proba(rows[held]), 1e-15)
            own = shares[np.arange(len(shares)), target[held]]
            found.append(float(-np.log(own / shares.sum(axis=1)).mean()))
        return found

    def _chosen(self) -> int:
        best = int(np.argmin(self.losses_))
        if self.rule == "best":
            return best
        return int(np.argmax(self.losses_ <= self.losses_[best] + self.errors_[best]))

    def _model(self, penalty: float, n_rows: int) -> Any:
        """Return the estimator with the penalty scaled to the number of rows."""
        if "alpha" in self.estimator.get_params():
            return clone(self.estimator).set_params(alpha=penalty)
        return clone(self.estimator).set_params(C=1 / (n_rows * penalty))

    def _check_parameters(self) -> int:
        known = {} if isinstance(self.estimator, type) else self.estimator
        names = known.get_params() if isinstance(known, BaseEstimator) else {}
        if not {"alpha", "C"} & set(names) or not hasattr(known, "fit"):
            raise ParameterError(
                "estimator must be a linear model with a penalty alpha or C, such as Lasso; "
                f"got {self.estimator!r}"
            )
        if names.get("l1_ratio", 1.0) != 1.0 and names.get("penalty") != "l1":
            raise ParameterError(
                f"estimator must have an L1 penalty (l1_ratio=1.0), or no weight is zero; "
                f"got {self.estimator!r}"
            )
        check_interval("penalty", self.penalty, 0.0, 1.0, open_low=True, options=[None])
        check_option("rule", self.rule, ("one_se", "best"))
        check_interval("n_penalties", self.n_penalties, 2, integer=True)
        check_interval("n_folds", self.n_folds, 2, integer=True)
        check_interval("min_features", self.min_features, 1, integer=True)
        check_random_state(self.random_state)
        return check_n_jobs(self.n_jobs)

    def _check_more(self) -> None:
        n_losses = len(self.penalties_) if self.penalty is None else 0
        ensure(len(self.losses_) == n_losses, "losses_ does not fit penalties_")
        ensure(self.penalty_ in self.penalties_.tolist(), "penalty_ is not one of penalties_")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(Lasso(), n_penalties=5, n_folds=3),
            cls(Lasso(), penalty=0.3, min_features=2),
        ]


def _standard(rows: NDArray[Any]) -> Floats:
    """Return columns of mean 0 and variance 1; constant ones are 0."""
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    spread = np.sqrt(np.mean(centred**2, axis=0))
    flat = spread <= 1e-12 * np.abs(rows).max(axis=0, initial=0)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, spread)))


def _largest_penalty(rows: Floats, target: NDArray[Any], classes: bool) -> float:
    """Return the smallest penalty at which no weight differs from zero."""
    wanted = target[:, None].astype(np.float64)
    if classes:
        wanted = (wanted == np.arange(int(target.max()) + 1)).astype(np.float64)
    return float(np.abs(rows.T @ (wanted - wanted.mean(axis=0))).max(initial=0.0) / len(rows))


def _weights(model: Any) -> Floats:
    weights = np.abs(np.asarray(model.coef_, dtype=np.float64))
    return np.asarray(weights.reshape(-1, weights.shape[-1]).max(axis=0))
