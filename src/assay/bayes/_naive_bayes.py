"""Naive Bayes classification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import clone

from assay._core import cluster as kernels
from assay.base import (
    Classifier,
    DataError,
    Levels,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_weight,
    class_codes,
)
from assay.base.stored import Array as Floats
from assay.base.stored import Integers, Offsets, Plain, declared, each, ensure
from assay.bayes._densities import Densities
from assay.bayes._path import NaiveBayesPath
from assay.bayes._summary import Columns, Summary
from assay.bayes._sums import Sums

Array = NDArray[np.float64]
NUMERIC = ("gaussian", "kde")


class NaiveBayesClassifier(Classifier):
    r"""Naive Bayes classifier for numeric and nominal columns.

    Parameters
    ----------
    numeric : {'gaussian', 'kde'} or sequence of these, default='gaussian'
        Density of numeric columns within a class: Gaussian, or a kernel density estimate. One value
        for all columns, or one per column of X (ignored for nominal columns).
    categorical_features : {'from_dtype'}, array-like or None, default='from_dtype'
        The nominal columns, by name, number or boolean mask; 'from_dtype' takes the text and
        categorical columns of a dataframe.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None = their shares of the training rows.
    alpha : float >= 0, default=1.0
        Laplace smoothing: this many rows are added to each category of a nominal column. Larger
        values pull the probabilities of the categories towards equality.
    var_smoothing : float >= 0, default=1e-09
        This share of the largest variance of a numeric column is added to all variances. Larger
        values smooth more.
    bandwidth : {'scott', 'silverman'} or float > 0, default='scott'
        Bandwidth of the kernel density, as a multiple of the standard deviation of the column in
        the class: :math:`n^{-1/5}`, :math:`(3n/4)^{-1/5}`, or the number. Larger values give
        smoother densities.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probabilities of the classes.
    gaussian_features_, kde_features_ : ndarray of int64
        The numeric columns of each kind.
    theta_, var_ : ndarray of shape (n_classes, n_gaussian)
        Means and smoothed variances of the Gaussian columns.
    epsilon_ : float
        Value added to the variances.
    sums_ : ndarray of shape (5, n_classes, n_gaussian + n_kde)
        Total weight, sums and sums of squares (high and low parts) of the numeric columns.
    categorical_features_ : ndarray of int64
        The nominal columns.
    levels_, level_offsets_ : ndarray
        The categories of the nominal columns, and the start of those of each column.
    level_count_, level_log_prob_ : ndarray of shape (n_classes, n_levels)
        Weight of each category in each class, and the logarithm of its smoothed probability.
    kde_points_, kde_weights_ : ndarray
        Distinct values of the columns with kernel densities, per column and class; their weights.
    kde_offsets_ : ndarray of int64 of shape (n_kde * n_classes + 1,)
        Start of the values of each column and class.
    kde_squares_, kde_bandwidths_ : ndarray of shape (n_kde, n_classes)
        Sums of squared row weights; bandwidths.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \arg\max_c \log P(c) + \sum_{j : x_j \text{ known}} \log p_j(x_j \mid c)

    .. math:: \text{Gaussian} \quad N(x; \mu_{cj}, \sigma_{cj}^2 + \varepsilon), \qquad
              \varepsilon = s \max_j \sigma_j^2

    .. math:: \text{kernel} \quad \frac{1}{W} \sum_i w_i N(x; x_{ij}, h_{cj}^2), \qquad
              h_{cj}^2 = f^2 \sigma_{cj}^2 + \varepsilon

    .. math:: \text{nominal} \quad \frac{N_{cjl} + \alpha}{N_{cj} + \alpha L_j}

    The columns are treated as independent within each class. **Missing values** are skipped, both
    in fit and in prediction, and so are categories not seen in fit. With only Gaussian columns the
    model equals scikit-learn's `GaussianNB`, with only nominal columns its `CategoricalNB`. (With
    sample weights :math:`\varepsilon` uses weighted variances here, unweighted ones there.)

    **Edge cases.** A class without any value in a column uses the density of all classes together;
    a column without any value is ignored. If all numeric columns are constant, :math:`\varepsilon`
    is `var_smoothing` itself. With ``alpha=0`` a category that never occurs in a class has
    probability 0 there; a row with probability 0 in every class gets the priors.

    `partial_fit` adds rows: the model equals one `fit` on all rows, exactly for sums and counts; a
    column with kernel densities stores all its distinct values.

    O(nd) to fit; to predict, O(kd) per row, and O(n) more for each column with kernel densities.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.bayes import NaiveBayesClassifier
    >>> X = [[170.0, 0], [182.0, 1], [165.0, 0], [np.nan, 1]]
    >>> model = NaiveBayesClassifier(categorical_features=[1])
    >>> model = model.fit(X, ["short", "tall", "short", "tall"])
    >>> model.predict([[168.0, 0], [np.nan, 1]]).tolist()
    ['short', 'tall']
    """

    model_id: ClassVar[int | None] = 130
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    assay_path: ClassVar[NaiveBayesPath] = NaiveBayesPath()
    stored = declared(
        gaussian_features_=Integers("gaussian", 0, "features-1"),
        kde_features_=Integers("kde", 0, "features-1"),
        class_count_=Floats("classes", 0),
        class_prior_=Floats("classes", 0, 1.0 + 1e-9),
        theta_=Floats("classes, gaussian"),
        var_=Floats("classes, gaussian", float(np.finfo(np.float64).tiny)),
        sums_=Floats("5, classes, numeric"),
        level_count_=Floats("classes, levels", 0),
        level_log_prob_=Floats("classes, levels", high=0),
        **each("kde_squares_ kde_bandwidths_", Floats("kde, classes", 0)),
        kde_points_=Floats("points"),
        kde_offsets_=Offsets("kde*classes", "kde_points_"),
        kde_weights_=Floats("points", 0),
        epsilon_=Plain(float),
    )

    def __init__(
        self,
        *,
        numeric: str | Sequence[str] = "gaussian",
        categorical_features: ArrayLike | str | None = "from_dtype",
        priors: ArrayLike | None = None,
        alpha: float = 1.0,
        var_smoothing: float = 1e-9,
        bandwidth: str | float = "scott",
        n_jobs: int | None = None,
    ) -> None:
        self.numeric = numeric
        self.categorical_features = categorical_features
        self.priors = priors
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.bandwidth = bandwidth
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        NaiveBayesClassifier
            The fitted model.
        """
        n_threads = self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        columns = self._columns()
        self._learn(
            Summary.of(
                rows, codes.astype(np.int32), weight, len(self.classes_), columns, n_threads
            ),
            columns,
        )
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model with more rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            More rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes; required in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        NaiveBayesClassifier
            The updated model.
        """
        n_threads = self._check_params()
        first = not hasattr(self, "classes_")
        known = self._all_classes(classes, first)
        before = None if first else self._summary(self._columns())
        if first:
            rows = self._fit_rows(X)
        else:
            before = self._with_new_levels(X, before)
            rows = self._rows(X, reset=False)
        labels, codes = class_codes(y)
        if len(codes) != len(rows):
            raise DataError(f"X has {len(rows)} rows but y has {len(codes)}")
        place = np.searchsorted(known, labels)
        strange = (place == len(known)) | (known[np.minimum(place, len(known) - 1)] != labels)
        if strange.any():
            raise DataError(
                f"y has the class {labels[strange][0]!r}, which is not among the classes of the "
                f"first call of partial_fit: {known.tolist()}"
            )
        weight = check_weight(sample_weight, rows)
        columns = self._columns()
        found = Summary.of(
            rows, place[codes].astype(np.int32), weight, len(known), columns, n_threads
        )
        self.classes_ = known
        self._learn(found if before is None else before.plus(found), columns)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        joint = self._joint(self._predict_data(X))
        return self.classes_[joint.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class, given the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        return self._proba(self._predict_data(X))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        joint = self._joint(self._predict_data(X))
        return joint - logsumexp(joint, axis=1, keepdims=True)  # type: ignore[no-any-return]

    def predict_joint_log_proba(self, X: ArrayLike) -> Array:
        """Return log P(c) + log p(x | c) for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        return self._joint(self._predict_data(X))

    def _check_params(self) -> int:
        _check_numeric(self.numeric)
        check_interval("alpha", self.alpha, 0.0, open_high=True)
        check_interval("var_smoothing", self.var_smoothing, 0.0, open_high=True)
        check_interval(
            "bandwidth",
            self.bandwidth,
            0.0,
            open_low=True,
            open_high=True,
            options=("scott", "silverman"),
        )
        _check_priors(self.priors)
        return check_n_jobs(self.n_jobs)

    def _columns(self) -> Columns:
        """Return the kinds of the columns, from the parameters and the table."""
        d = self.n_features_in_
        kinds = np.array([self.numeric] * d if isinstance(self.numeric, str) else self.numeric)
        if len(kinds) != d:
            raise ParameterError(
                f"numeric must be 'gaussian', 'kde' or one of them per column ({d}); "
                f"got {len(kinds)}"
            )
        nominal = np.zeros(d, dtype=bool)
        nominal[self.categorical_features_] = True
        return Columns(
            np.flatnonzero(~nominal & (kinds == "gaussian")).astype(np.int64),
            np.flatnonzero(~nominal & (kinds == "kde")).astype(np.int64),
            self.categorical_features_,
            self.level_offsets_,
        )

    def _learn(self, summary: Summary, columns: Columns) -> None:
        """Compute the model from a summary: priors, smoothing, bandwidths."""
        self.gaussian_features_, self.kde_features_ = columns.gaussian, columns.kde
        self.class_count_ = summary.weight
        self.class_prior_ = self._priors(summary.weight)
        self._learn_numeric(summary, columns)
        self._learn_levels(summary.levels, columns)
        kept = summary.densities
        self.kde_points_, self.kde_weights_ = kept.points, kept.weights
        self.kde_offsets_, self.kde_squares_ = kept.offsets, kept.squares
        self.kde_bandwidths_ = kept.bandwidths(self.bandwidth, self.epsilon_)
        empty = (summary.sums.pooled().count[0] == 0)[len(columns.gaussian) :]
        self._refuse_collapsed((self.kde_bandwidths_ == 0).T & ~empty, columns.kde)

    def _learn_numeric(self, summary: Summary, columns: Columns) -> None:
        n_gaussian = len(columns.gaussian)
        sums = summary.sums
        if not sums.sound:
            raise DataError(
                "a numeric column of X has values whose squares overflow; scale the columns"
            )
        pooled = sums.pooled()
        largest = float(pooled.variance.max(initial=0.0))
        self.epsilon_ = float(self.var_smoothing) * (largest if largest > 0 else 1.0)
        lacking = sums.count == 0
        theta = np.where(lacking, pooled.mean, sums.mean)
        var = np.where(lacking, pooled.variance, sums.variance) + self.epsilon_
        var[:, pooled.count[0] == 0] = 1.0
        self.sums_ = sums.parts
        self.theta_, self.var_ = theta[:, :n_gaussian].copy(), var[:, :n_gaussian].copy()
        self._refuse_collapsed(self.var_ == 0, columns.gaussian)

    def _refuse_collapsed(self, collapsed: NDArray[np.bool_], columns: NDArray[np.int64]) -> None:
        where = np.argwhere(collapsed)
        if len(where):
            c, j = where[0]
            raise DataError(
                f"column {columns[j]} of X is constant in class {self.classes_[c]!r}, which has no "
                f"density; raise var_smoothing (it is {self.var_smoothing:g}) or leave it out"
            )

    def _learn_levels(self, counts: Array, columns: Columns) -> None:
        self.level_count_ = counts
        self.level_log_prob_ = np.zeros_like(counts)
        for c in range(len(columns.nominal)):
            part = slice(columns.offsets[c], columns.offsets[c + 1])
            own = counts[:, part]
            if own.shape[1] == 0 or own.sum() == 0:
                continue
            whole = own.sum(axis=1, keepdims=True)
            own = np.where(whole == 0, own.sum(axis=0), own) + self.alpha
            with np.errstate(divide="ignore"):
                found = np.log(own) - np.log(own.sum(axis=1, keepdims=True))
            self.level_log_prob_[:, part] = np.maximum(found, _IMPOSSIBLE)

    def _priors(self, weight: Array) -> Array:
        if self.priors is None:
            return np.asarray(weight / weight.sum())
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != len(weight):
            raise ParameterError(
                f"priors must hold one number per class ({len(weight)}); got {len(priors)}"
            )
        return np.asarray(priors)

    def _all_classes(self, classes: ArrayLike | None, first: bool) -> NDArray[Any]:
        if first:
            if classes is None:
                raise ParameterError(
                    "classes must be given in the first call of partial_fit: all labels that can "
                    "occur; got None"
                )
            return class_codes(classes)[0]
        if classes is not None and not np.array_equal(class_codes(classes)[0], self.classes_):
            raise ParameterError(
                f"classes must be those of the first call, {self.classes_.tolist()}; "
                f"got {class_codes(classes)[0].tolist()}"
            )
        return np.asarray(self.classes_)

    def _summary(self, columns: Columns) -> Summary:
        if not (
            np.array_equal(columns.gaussian, self.gaussian_features_)
            and np.array_equal(columns.kde, self.kde_features_)
        ):
            raise ParameterError(
                f"numeric must stay as it was in the first call; got {self.numeric!r}"
            )
        return Summary(self.class_count_, Sums(self.sums_), self.level_count_, self._densities())

    def _densities(self) -> Densities:
        return Densities(self.kde_points_, self.kde_weights_, self.kde_offsets_, self.kde_squares_)

    def _with_new_levels(self, X: ArrayLike, before: Summary | None) -> Summary | None:
        """Add categories not seen before; they follow the known ones of their column."""
        if before is None or not len(self.categorical_features_):
            return before
        fresh = clone(self)
        fresh._fit_rows(X)
        old = Levels(self.levels_, self.level_offsets_)
        new = Levels(fresh.levels_, fresh.level_offsets_)
        if not np.array_equal(fresh.categorical_features_, self.categorical_features_):
            raise DataError(
                f"X has the nominal columns {fresh.categorical_features_.tolist()}, the rows "
                f"before had {self.categorical_features_.tolist()}"
            )
        names, counts, offsets = [], [], [0]
        for c in range(len(self.categorical_features_)):
            known = old.of(c).tolist()
            more = [name for name in new.of(c).tolist() if name not in set(known)]
            names += known + more
            part = before.levels[:, old.offsets[c] : old.offsets[c + 1]]
            counts.append(np.pad(part, ((0, 0), (0, len(more)))))
            offsets.append(len(names))
        self.levels_ = np.array(names, dtype=np.str_)
        self.level_offsets_ = np.array(offsets, dtype=np.int64)
        return Summary(before.weight, before.sums, np.hstack(counts), before.densities)

    def _joint(self, rows: NDArray[Any]) -> Array:
        """Return log P(c) + log p(x | c) for checked rows."""
        with np.errstate(divide="ignore"):
            base = np.maximum(np.log(self.class_prior_), _IMPOSSIBLE)
        joint = np.empty((len(rows), len(base)))
        n_threads = check_n_jobs(self.n_jobs)
        known = (self.sums_[0, :, : len(self.gaussian_features_)] > 0).any(axis=0)
        kernels.class_joint(
            rows,
            self.gaussian_features_,
            base,
            self.theta_,
            np.where(known, 0.5 / self.var_, 0.0),
            np.where(known, -0.5 * np.log(2 * np.pi * self.var_), 0.0),
            joint,
            n_threads,
        )
        for c, j in enumerate(self.categorical_features_):
            part = self.level_log_prob_[:, self.level_offsets_[c] : self.level_offsets_[c + 1]]
            log_prob = np.vstack(
                [part.T, np.zeros((1, len(base)))]
            )  # the last row: unseen or missing
            level = np.nan_to_num(rows[:, j], nan=len(log_prob) - 1).astype(np.int64)
            joint += log_prob[level]
        kept = self._densities()
        for column, j in enumerate(self.kde_features_):
            values = rows[:, j].astype(np.float64)
            joint += kept.log_density(column, values, self.kde_bandwidths_, n_threads)
        nowhere = (joint <= _IMPOSSIBLE / 2).all(axis=1)
        joint[nowhere] = base
        joint[joint <= _IMPOSSIBLE / 2] = -np.inf
        return joint

    def _proba(self, rows: NDArray[Any]) -> Array:
        share = self._joint(rows)
        share -= share.max(axis=1, keepdims=True)
        np.exp(share, out=share)
        share /= share.sum(axis=1, keepdims=True)
        return share

    def _check_more(self) -> None:
        self._check_params()
        kinds = [self.gaussian_features_, self.kde_features_, self.categorical_features_]
        columns = np.sort(np.concatenate(kinds))
        ensure(
            np.array_equal(columns, np.arange(self.n_features_in_)),
            "its columns are not of one kind each",
        )
        fits = self.sums_.shape[2] == len(kinds[0]) + len(kinds[1])
        ensure(fits, "sums_ does not have one entry per numeric column")
        shape = self.kde_bandwidths_.shape
        kept = np.diff(self.kde_offsets_).reshape(shape).sum(axis=1) > 0
        ensure((self.kde_bandwidths_[kept] > 0).all(), "kde_bandwidths_ has a bandwidth of 0")


#: Replaces the logarithm of zero: sums of it stay finite and comparable.
_IMPOSSIBLE = -1e200


def _check_numeric(numeric: Any) -> None:
    words = [numeric] if isinstance(numeric, str) else numeric
    sound = isinstance(words, (list, tuple, np.ndarray)) and len(words) > 0
    if not sound or not all(isinstance(word, str) and word in NUMERIC for word in words):
        raise ParameterError(
            f"numeric must be 'gaussian', 'kde' or one of them per column; got {numeric!r}"
        )


def _check_priors(priors: ArrayLike | None) -> None:
    if priors is None:
        return
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise ParameterError(f"priors must be None or one number per class; got {priors!r}")
    if (given < 0).any() or not np.isclose(given.sum(), 1.0):
        raise ParameterError(f"priors must not be negative and sum to 1; got {given.tolist()}")
