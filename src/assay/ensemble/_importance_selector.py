"""Feature selection by permutation importance on out-of-bag rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import type_of_target

from assay.base import (
    DataError,
    ParameterError,
    as_vector,
    check_interval,
    check_n_jobs,
    check_random_state,
    draw_seed,
    seeded,
)
from assay.base.stored import Array, declared, each
from assay.ensemble._forest import RandomForestClassifier, RandomForestRegressor
from assay.ensemble._forest_base import Forest
from assay.ensemble._importance import permutation_importance_oob
from assay.features._counts import as_count, check_count_or_share
from assay.features._kept_columns import KeptColumns, best_columns


class ImportanceSelector(KeptColumns):
    r"""Select columns by their permutation importance in a forest, on out-of-bag rows.

    Parameters
    ----------
    estimator : forest, default=None
        A forest of `assay.ensemble` with ``bootstrap=True``; None: a random forest of 200 trees,
        for classes or numbers as y is.
    n_features_to_select : int, float or None, default=None
        Number or fraction of columns to keep, by largest mean importance. None: all whose interval
        lies above 0.
    confidence : float in (0, 1), default=0.95
        Confidence of the intervals.
    min_features : int, default=1
        Minimum number of columns to keep; if fewer are selected, those of the largest mean are
        added.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of a forest without a seed of its own.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept.
    feature_importances_ : ndarray of float64 of shape (n_features_in_,)
        Mean decrease of a tree's accuracy or R2 when the column is permuted on its out-of-bag rows.
    low_, high_ : ndarray of float64 of shape (n_features_in_,)
        The interval of each mean.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    Kept are the columns j with :math:`\bar d_j - q \sqrt{(1/T + \rho) s_j^2} > 0`, see
    `permutation_importance_oob`. With hundreds of columns each tree uses few of them, and hardly
    any interval lies above 0: set `n_features_to_select` then. Nominal and missing values are
    accepted.

    It uses the target: put it into a pipeline with the model, so that it is fitted inside each
    fold. For the importances or weights of any other model use scikit-learn's `SelectFromModel`.

    See Also
    --------
    permutation_importance_oob : The importances.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.ensemble import ImportanceSelector
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = X[:, 1] + X[:, 4] > 0
    >>> ImportanceSelector(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [1, 4]
    """

    model_id: ClassVar[int | None] = 159
    takes_missing: ClassVar[bool] = True
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "a bootstrap draws rows, so duplicates of a row are drawn separately"
        ),
    }
    stored = declared(**each("feature_importances_ low_ high_", Array("features")))

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: float | None = None,
        confidence: float = 0.95,
        min_features: int = 1,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.confidence = confidence
        self.min_features = min_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the forest and permute each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        ImportanceSelector
            The fitted selector.
        """
        self._check_parameters()
        if y is None:
            raise DataError("ImportanceSelector requires y to be passed, but the target y is None")
        table = self._table(X, reset=True)
        if table.shape[0] < 2:
            raise DataError("X has one row (n_samples = 1): no tree can have a row out of its bag")
        forest = seeded(self._forest(y), draw_seed(self.random_state)).set_params(
            n_jobs=self.n_jobs
        )
        forest.fit(table, y, sample_weight=sample_weight)
        found = permutation_importance_oob(
            forest, table, y, sample_weight, confidence=self.confidence, n_jobs=self.n_jobs
        )
        self.feature_importances_ = found.mean
        self.low_, self.high_ = found.low, found.high
        clear = (found.low > 0).astype(np.int64)
        if self.n_features_to_select is None:
            count = max(int(clear.sum()), min(self.min_features, len(clear)))
            self.support_ = best_columns(clear, found.mean, count)
        else:
            count = as_count(
                "n_features_to_select", self.n_features_to_select, len(clear), "columns"
            )
            self.support_ = best_columns(np.zeros_like(clear), found.mean, count)
        return self

    def _forest(self, y: Any) -> Any:
        if self.estimator is not None:
            return self.estimator
        kind = type_of_target(as_vector(y), input_name="y")
        numbers = kind.startswith("continuous")
        return RandomForestRegressor(200) if numbers else RandomForestClassifier(200)

    def _check_parameters(self) -> None:
        if self.estimator is not None and not isinstance(self.estimator, Forest):
            raise ParameterError(
                f"estimator must be None or a forest of assay.ensemble; got {self.estimator!r}"
            )
        check_count_or_share("n_features_to_select", self.n_features_to_select)
        check_interval("confidence", self.confidence, 0, 1, open_low=True, open_high=True)
        check_interval("min_features", self.min_features, 1, integer=True)
        check_random_state(self.random_state)
        check_n_jobs(self.n_jobs)

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(RandomForestRegressor(20), n_features_to_select=0.5)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags
