"""A classifier fitted on resampled training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from assay.base import (
    Classifier,
    DataError,
    ParameterError,
    check_option,
    check_random_state,
    check_weight,
    class_codes,
    with_seeds,
)
from assay.base.stored import Array, Models, declared, ensure
from assay.features._synthetic_sampler import SyntheticSampler
from assay.features._under_sampler import UnderSampler

Floats = NDArray[np.float64]


def _has(method: str) -> Any:
    """Return the test for `available_if`: whether the classifier has a method."""

    def check(model: ResampledClassifier) -> bool:
        fitted = getattr(model, "estimators_", None)
        return hasattr(fitted[0] if fitted else model.estimator, method)

    return check


class ResampledClassifier(Classifier):
    r"""Fit a classifier on resampled training rows; predict without resampling.

    Parameters
    ----------
    estimator : classifier
        The classifier to fit.
    sampler : sampler, default=None
        An `UnderSampler`, a `SyntheticSampler`, or anything with `fit_resample`; None = a
        `SyntheticSampler`.
    correct_prior : bool, default=False
        Whether to correct probabilities, and so predictions, to the class shares before resampling.
    random_state : int, RandomState or None, default=None
        Seed of a sampler or classifier without a seed of its own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    estimators_ : list of one classifier
        The fitted classifier, on class codes.
    prior_ : ndarray of float64 of shape (n_classes,)
        Class shares before resampling, by weight if there are weights.
    resampled_prior_ : ndarray of float64 of shape (n_classes,)
        Class shares after resampling.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    Synthetic rows made from test rows leak their labels into training. Here resampling is part of
    `fit`, so within any cross-validation it uses training rows only.

    A model fitted on shares :math:`\pi'_c` instead of the true :math:`\pi_c` overestimates rare
    classes; its probabilities p' are corrected by

    .. math:: p(c \mid x) \propto p'(c \mid x)\, \frac{\pi_c}{\pi'_c}

    (Elkan 2001; Saerens and others 2002). This is exact for random under-sampling, and an
    approximation for synthetic rows. With it, decisions are about the same as without resampling;
    use it if you decide by costs (`assay.multiclass.CostClassifier`) or need probabilities. Without
    it, predictions treat classes as being as frequent as after resampling.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.features import ResampledClassifier, UnderSampler
    >>> random = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], [950, 50])
    >>> X = random.normal(size=(1000, 1)) + 1.5 * (y == "ill")[:, None]
    >>> model = ResampledClassifier(GaussianNB(), UnderSampler(), random_state=0).fit(X, y)
    >>> (model.predict(X) == "ill")[y == "ill"].mean().round(2).item()
    0.76
    >>> (GaussianNB().fit(X, y).predict(X) == "ill")[y == "ill"].mean().round(2).item()
    0.04
    """

    model_id: ClassVar[int | None] = 244
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "rows drawn from, or synthesised from, weighted rows are not those of repeated rows"
        ),
    }
    stored = declared(
        prior_=Array("classes", 0, 1),
        resampled_prior_=Array("classes", 0, 1, above=0),
        estimators_=Models("1", classes="all"),
    )

    def __init__(
        self,
        estimator: Any,
        sampler: Any = None,
        *,
        correct_prior: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.sampler = sampler
        self.correct_prior = correct_prior
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Resample the rows and fit the classifier on them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array or a dataframe, as sampler and classifier accept.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, for a sampler and a classifier that accept weights.

        Returns
        -------
        ResampledClassifier
            The fitted model.
        """
        self._check_parameters()
        if y is None:
            raise DataError("ResampledClassifier requires y to be passed, but the target y is None")
        table = self._table(X, reset=True)
        self.classes_, codes = class_codes(y)
        if len(codes) != table.shape[0]:
            raise DataError(
                f"X has {table.shape[0]} rows but y has {len(codes)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        weight = check_weight(sample_weight, table)
        self.prior_ = _shares(codes, weight, len(self.classes_))
        if not self.prior_.all():
            label = self.classes_[self.prior_.argmin()].item()
            raise DataError(
                f"class {label!r} has no row with a positive sample_weight; leave its rows out"
            )
        random = check_random_state(self.random_state)
        sampler = _seeded(SyntheticSampler() if self.sampler is None else self.sampler, random)
        model = _seeded(self.estimator, random)
        # The sampler gets the user's labels, since its `ratio` may name them.
        given, share = (table, self.classes_[codes]), None
        if weight is None:
            rows, labels = sampler.fit_resample(*given)
        else:
            self._check_takes_weight(sampler)
            rows, labels, share = sampler.fit_resample(*given, sample_weight=weight)
        codes = np.searchsorted(self.classes_, labels)
        weights = {} if share is None else {"sample_weight": share}
        self.estimators_ = [model.fit(rows, codes, **weights)]
        self.resampled_prior_ = _shares(codes, share, len(self.classes_))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row, without resampling.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        table = self._table(X, reset=False)
        if self.correct_prior:
            return np.asarray(self.classes_[self._corrected(table).argmax(axis=1)])
        codes = np.asarray(self.estimators_[0].predict(table)).astype(np.int64)
        return np.asarray(self.classes_[codes])

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability of each class, corrected for the true shares if `correct_prior`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        table = self._table(X, reset=False)
        return self._corrected(table) if self.correct_prior else self._uncorrected(table)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))  # type: ignore[no-any-return]

    def _uncorrected(self, table: Any) -> Floats:
        return np.asarray(self.estimators_[0].predict_proba(table), dtype=np.float64)

    def _corrected(self, table: Any) -> Floats:
        shares = self._uncorrected(table) * (self.prior_ / self.resampled_prior_)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _check_parameters(self) -> None:
        able = hasattr(self.estimator, "fit") and hasattr(self.estimator, "predict")
        if not able or isinstance(self.estimator, type) or not is_classifier(self.estimator):
            raise ParameterError(f"estimator must be a classifier; got {self.estimator!r}")
        if self.sampler is not None and (
            isinstance(self.sampler, type) or not hasattr(self.sampler, "fit_resample")
        ):
            raise ParameterError(
                "sampler must be None or an object with fit_resample, such as SyntheticSampler; "
                f"got {self.sampler!r}"
            )
        check_option("correct_prior", self.correct_prior, (True, False))
        check_random_state(self.random_state)
        if self.correct_prior and not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(
                f"estimator must give probabilities when correct_prior=True; got {self.estimator!r}"
            )

    def _check_takes_weight(self, sampler: Any) -> None:
        for part, takes in (
            (self.estimator, has_fit_parameter(self.estimator, "sample_weight")),
            (sampler, isinstance(sampler, (UnderSampler, SyntheticSampler))),
        ):
            if not takes:
                raise DataError(f"sample_weight cannot be used: {type(part).__name__} takes none")

    def _check_more(self) -> None:
        fits = hasattr(self.estimators_[0], "predict_proba") or not self.correct_prior
        ensure(fits, "estimators_[0] has no method predict_proba")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(GaussianNB()),
            cls(GaussianNB(), UnderSampler(0.5), correct_prior=True),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, BaseEstimator):
            inside = get_tags(self.estimator)
            tags.input_tags.allow_nan = inside.input_tags.allow_nan
            tags.input_tags.categorical = inside.input_tags.categorical
            tags.classifier_tags = inside.classifier_tags
        return tags


def _seeded(estimator: Any, random: np.random.RandomState) -> Any:
    return with_seeds(estimator, lambda _: int(random.randint(np.iinfo(np.int32).max)))


def _shares(codes: NDArray[Any], weight: Floats | None, n_classes: int) -> Floats:
    sums = np.bincount(codes, weight, n_classes).astype(np.float64)
    return np.asarray(sums / sums.sum())
