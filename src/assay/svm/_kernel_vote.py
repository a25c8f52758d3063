"""Classification by a vote of all training rows, weighted by a kernel of the distance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from assay.base import Classifier, ParameterError, check_interval, check_option
from assay.base.stored import Array, Count, Integers, Number, declared, ensure
from assay.svm._kernel import CONVENTIONS, resolve

#: Distances held at once while predicting.
_CHUNK = 2_000_000


class KernelVoteClassifier(Classifier):
    r"""Classify by a vote of all training rows, with closer rows weighing more.

    Parameters
    ----------
    kernel : {'inverse', 'rbf'}, default='rbf'
        Weight of a vote: :math:`1/\|x - x_i\|^2` or :math:`e^{-\gamma \|x - x_i\|^2}`.
    gamma : {'scale', 'auto'} or float > 0, default='scale'
        Coefficient of 'rbf'. Larger values let only closer rows count. 'scale': 1 / (n_features *
        variance of X); 'auto': 1 / n_features.
    sigma : float > 0, default=None
        Width of 'rbf', instead of `gamma`. Larger values let more distant rows count.
    sigma_convention : {'2sigma2', 'sigma2'}, default='2sigma2'
        Whether gamma is 1 / (2 sigma^2) or 1 / sigma^2; the literature has both.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array.
    codes_ : ndarray of int64 of shape (n_samples_fit_,)
        The training labels as positions in `classes_`.
    weight_ : ndarray of shape (n_samples_fit_,)
        Sample weights of the votes.
    gamma_ : float
        The value of gamma in use.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat P(c \mid x) = \frac{\sum_{i: y_i = c} s_i d(x_i, x)}{\sum_i s_i d(x_i, x)},
              \qquad d = \frac{1}{\|x - x_i\|^2} \text{ or } e^{-\gamma \|x - x_i\|^2}

    and the class with the largest share wins; for two classes this is
    :math:`\mathrm{sign} \sum_i y_i\, d(x_i, x)`. A tie goes to the first class. With 'inverse',
    rows at distance 0 decide alone. Weights are computed relative to the nearest row, so that they
    do not all underflow to zero for rows far from the training rows. O(1) to fit, O(n d) for each
    row to predict. Deterministic.

    See Also
    --------
    SVC : Learns which rows vote, and with what weight.

    Examples
    --------
    >>> from assay.svm import KernelVoteClassifier
    >>> model = KernelVoteClassifier(kernel="inverse").fit([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    >>> model.predict([[2.0], [3.0]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[2.0], [4.0]]).round(3).tolist()
    [[0.833, 0.167], [0.0, 1.0]]
    """

    model_id: ClassVar[int | None] = 193
    stored = declared(
        n_samples_fit_=Count(1),
        gamma_=Number(above=0),
        rows_=Array("n_samples_fit_, features"),
        codes_=Integers("n_samples_fit_", 0, "classes-1"),
        weight_=Array("n_samples_fit_", 0),
    )

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        sigma: float | None = None,
        sigma_convention: str = "2sigma2",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.sigma_convention = sigma_convention

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Store the training rows, their classes and weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the votes.

        Returns
        -------
        KernelVoteClassifier
            The fitted model.
        """
        self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        params = {**vars(self), "kernel": "rbf", "coef0": 0.0, "degree": 1}
        self.gamma_ = float(resolve(params, rows, weight).gamma)
        self.rows_, self.codes_ = rows, codes
        self.weight_ = np.ones(len(rows)) if weight is None else weight
        self.n_samples_fit_ = len(rows)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest share of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each class's share of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        queries = self._predict_data(X)
        size = max(1, _CHUNK // self.n_samples_fit_)
        refs = self.rows_.astype(np.float64, copy=False)
        ballots = np.zeros((len(refs), len(self.classes_)))
        ballots[np.arange(len(refs)), self.codes_] = self.weight_
        parts = []
        for begin in range(0, len(queries), size):
            block = queries[begin : begin + size].astype(np.float64, copy=False)
            votes = self._votes(cdist(block, refs, "sqeuclidean"))
            # One matrix product per row: the result does not depend on the other rows.
            shares = np.array([vote @ ballots for vote in votes])
            parts.append(shares / shares.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    def _votes(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of each training row for each query, relative to the nearest row."""
        # Distances that overflow are treated as equally far.
        squared = np.minimum(squared, np.finfo(np.float64).max)
        counted = np.where(self.weight_ > 0, squared, np.inf)
        nearest = counted.min(axis=1, keepdims=True)
        if self.kernel == "inverse":
            with np.errstate(divide="ignore", invalid="ignore"):
                votes = np.where(squared == nearest, 1.0, nearest / squared)
            return np.where(self.weight_ > 0, votes, 0.0)
        return np.asarray(np.exp(np.minimum(-self.gamma_ * (squared - nearest), 0.0)))

    def _check_params(self) -> None:
        check_option("kernel", self.kernel, ("inverse", "rbf"))
        check_interval(
            "gamma", self.gamma, 0, open_low=True, open_high=True, options=("scale", "auto")
        )
        check_interval("sigma", self.sigma, 0, open_low=True, open_high=True, options=(None,))
        check_option("sigma_convention", self.sigma_convention, CONVENTIONS)
        if self.sigma is None:
            return
        if self.kernel != "rbf":
            raise ParameterError(f"sigma is the width of kernel='rbf'; got kernel={self.kernel!r}")
        if self.gamma != "scale":
            raise ParameterError(
                f"gamma and sigma say the same thing; give one of them "
                f"(got gamma={self.gamma!r} and sigma={self.sigma!r})"
            )

    def _check_more(self) -> None:
        ensure(self.weight_.any(), "KernelVoteClassifier.weight_ is zero in every row")
