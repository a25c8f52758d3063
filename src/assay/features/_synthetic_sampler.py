"""Over-sampling of small classes with synthetic rows (SMOTE)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import (
    DataError,
    as_vector,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.features._ratio import check_ratio, counts_above
from assay.features._sampler import Integers, Sampler
from assay.features._synthetic_rows import NewRows

_METHODS = ("smote", "borderline")
#: Neighbours that decide whether a row lies at the border, in multiples of `k_neighbors`.
_BORDER = 2


class SyntheticSampler(Sampler):
    r"""Add synthetic rows to small classes, between a row and one of its neighbours (SMOTE).

    Parameters
    ----------
    ratio : float in (0, 1] or dict, default=1.0
        Minimum size of each class relative to the largest: 1 balances all classes, 0.5 gives at
        least half as many rows. Or a dict from classes to their new numbers of rows; other classes
        stay as they are.
    k_neighbors : int, default=5
        Number of nearest rows of the same class to interpolate towards; fewer if the class has
        fewer. Larger values spread the new rows more widely.
    method : {'smote', 'borderline'}, default='smote'
        Where synthetic rows start: at all rows of the class in turn, or only at border rows, of
        whose 2 k nearest rows at least half, but not all, are of other classes (at all rows if
        there are none).
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    n_jobs : int, default=None
        Threads of the neighbour search; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random choices.

    Attributes
    ----------
    n_samples_ : int
        Number of rows seen.
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    A synthetic row starts at a row x of the class, draws one of its k nearest rows z of that class
    and :math:`\lambda` from [0, 1), and is

    .. math:: x' = x + \lambda\, (z - x)

    in the numeric columns; columns of whole numbers are rounded. A nominal value is the most
    frequent one of the k neighbours (ties go to that of x). A number is missing where it is missing
    in x; where it is missing only in z, that of x is copied. Neighbours are found by the mixed
    distance of `assay.neighbors`: numbers relative to their range in the class, categories 0 or 1,
    missing values skipped. Each row of the class seeds the same number of synthetic rows; the
    remainder is drawn at random.

    A synthetic row depends on two rows; if one of them is a test row, its label leaks into
    training. Resample training rows only: put sampler and classifier into a `ResampledClassifier`,
    which does so inside every fold. A class of one row cannot grow.

    Chawla and others (2002), SMOTE and SMOTE-NC; Han and others (2005) for the border.

    See Also
    --------
    UnderSampler : Fewer rows of large classes.

    Examples
    --------
    >>> from assay.features import SyntheticSampler
    >>> X, y = [[1.0], [2.0], [3.0], [8.0], [9.0]], ["many", "many", "many", "few", "few"]
    >>> more, labels = SyntheticSampler(random_state=0).fit_resample(X, y)
    >>> labels.tolist()
    ['many', 'many', 'many', 'few', 'few', 'few']
    >>> bool(8.0 <= more[-1, 0] <= 9.0)
    True
    """

    model_id: ClassVar[int | None] = 243

    def __init__(
        self,
        ratio: Any = 1.0,
        *,
        k_neighbors: int = 5,
        method: str = "smote",
        categorical_features: ArrayLike | str | None = "from_dtype",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ratio = ratio
        self.k_neighbors = k_neighbors
        self.method = method
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_resample(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Any, ...]:
        """Return the table with the synthetic rows appended.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights. The weight of a synthetic row is interpolated like its numbers.

        Returns
        -------
        X_resampled : ndarray or dataframe
            The same kind of table as X, with the same column types.
        y_resampled : ndarray
            The classes of these rows.
        weight_resampled : ndarray of float64
            Their weights, if weights were given.
        """
        table, rows, classes, codes, weight = self._checked(X, y, sample_weight)
        counts = np.bincount(codes)
        wanted = counts_above(self.ratio, classes, counts)
        random = check_random_state(self.random_state)
        labels = np.asarray(as_vector(y))
        parts = []
        for c in np.flatnonzero(wanted > counts):
            if counts[c] < 2:
                raise DataError(
                    f"class {classes[c].item()!r} has 1 row, but a synthetic row needs two; "
                    "give it more rows, or leave it out of ratio"
                )
            parts.append(self._new_rows(rows, codes, int(c), int(wanted[c] - counts[c]), random))
        if not parts:
            return (table, labels) if weight is None else (table, labels, weight)
        new = NewRows.joined(parts)
        found = new.appended(table), np.concatenate([labels, labels[new.base]])
        if weight is None:
            return found
        between = weight[new.base] * (1 - new.share) + weight[new.other] * new.share
        return (*found, np.concatenate([weight, between]))

    def _new_rows(
        self,
        rows: NDArray[Any],
        codes: Integers,
        c: int,
        count: int,
        random: np.random.RandomState,
    ) -> NewRows:
        """Return new rows of one class."""
        members = np.flatnonzero(codes == c)
        k = min(int(self.k_neighbors), len(members) - 1)
        near = self._search(rows[members], k).near()[1]
        starts = np.arange(len(members))
        if self.method == "borderline":
            at_border = self._at_border(rows, codes, members)
            starts = starts[at_border] if at_border.any() else starts
        drawn = np.concatenate(
            [
                np.repeat(starts, count // len(starts)),
                np.sort(random.permutation(starts)[: count % len(starts)]),
            ]
        )
        return NewRows.between(
            rows,
            self.categorical_features_,
            members[drawn],
            members[near[drawn]],
            random.randint(k, size=count),
            random.uniform(size=count),
        )

    def _at_border(
        self, rows: NDArray[Any], codes: Integers, members: Integers
    ) -> NDArray[np.bool_]:
        """Return which rows of a class lie mostly, but not only, among rows of other classes."""
        k = min(_BORDER * int(self.k_neighbors), len(rows) - 1)
        near = self._others_near(rows, members, k)
        strangers = (codes[near] != codes[members][:, None]).sum(axis=1)
        return np.asarray((2 * strangers >= k) & (strangers < k))

    def _check_parameters(self) -> None:
        check_ratio(self.ratio)
        check_interval("k_neighbors", self.k_neighbors, 1, integer=True)
        check_option("method", self.method, _METHODS)
        check_n_jobs(self.n_jobs)
        check_random_state(self.random_state)

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(), cls(method="borderline", k_neighbors=2)]
