"""Under-sampling of large classes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import as_vector, check_interval, check_n_jobs, check_option, check_random_state
from assay.base.stored import Array, declared
from assay.features._ratio import check_ratio, counts_below
from assay.features._sampler import Integers, Sampler, taken

_METHODS = ("random", "near_miss", "tomek")


class UnderSampler(Sampler):
    r"""Remove rows of large classes from the training table.

    Parameters
    ----------
    ratio : float in (0, 1] or dict, default=1.0
        Minimum size of the smallest class relative to each other class: 1 balances all classes, 0.5
        leaves at most twice as many rows. Or a dict from classes to the numbers of rows that
        remain; other classes stay whole. Not used by 'tomek'.
    method : {'random', 'near_miss', 'tomek'}, default='random'
        Which rows remain: random ones; those nearest to the smallest class (by the mean distance to
        its `n_neighbors` nearest rows); or all except the row of the larger class in every Tomek
        link, which is a pair of rows of different classes that are each other's nearest rows.
    n_neighbors : int, default=3
        Number of rows of the smallest class that 'near_miss' averages over; fewer if it has fewer.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    n_jobs : int, default=None
        Threads of the neighbour search; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random choice.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The rows that remain, ascending; after `fit_resample`.
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
    With the sizes :math:`n_c` of the classes and the ratio r, a class keeps

    .. math:: n_c' = \min(n_c, \lfloor \min_b n_b / r \rfloor)

    rows. Distances are those of `assay.neighbors` for mixed columns. Resample training rows only:
    put sampler and classifier into a `ResampledClassifier`, which does so inside every fold.

    See Also
    --------
    SyntheticSampler : More rows of small classes.

    Examples
    --------
    >>> from assay.features import UnderSampler
    >>> X, y = [[1], [2], [3], [4], [5]], ["many", "many", "many", "few", "few"]
    >>> UnderSampler(random_state=0).fit_resample(X, y)[1].tolist()
    ['many', 'many', 'few', 'few']
    """

    model_id: ClassVar[int | None] = 242
    stored = declared(sample_indices_=Array("kept", 0, "n_samples_-1", kinds="i", optional=True))

    def __init__(
        self,
        ratio: Any = 1.0,
        *,
        method: str = "random",
        n_neighbors: int = 3,
        categorical_features: ArrayLike | str | None = "from_dtype",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ratio = ratio
        self.method = method
        self.n_neighbors = n_neighbors
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_resample(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Any, ...]:
        """Return the rows that remain, in their original order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        X_resampled : ndarray or dataframe
            The same kind of table as X.
        y_resampled : ndarray
            The classes of these rows.
        weight_resampled : ndarray of float64
            Their weights, if weights were given.
        """
        table, rows, classes, codes, weight = self._checked(X, y, sample_weight)
        random = check_random_state(self.random_state)
        if self.method == "tomek":
            kept = self._without_links(rows, codes)
        else:
            counts = np.bincount(codes)
            wanted = counts_below(self.ratio, classes, counts)
            parts = []
            for c in range(len(classes)):
                members = np.flatnonzero(codes == c)
                if wanted[c] < counts[c]:
                    members = members[self._chosen(rows, codes, members, int(wanted[c]), random)]
                parts.append(members)
            kept = np.sort(np.concatenate(parts))
        self.sample_indices_ = kept.astype(np.int64)
        found = taken(table, kept), np.asarray(as_vector(y))[kept]
        return found if weight is None else (*found, weight[kept])

    def _chosen(
        self,
        rows: NDArray[Any],
        codes: Integers,
        members: Integers,
        count: int,
        random: np.random.RandomState,
    ) -> Integers:
        """Return the positions of the rows of one class that remain."""
        if self.method == "random":
            return random.permutation(len(members))[:count]
        smallest = rows[codes == np.bincount(codes).argmin()]
        search = self._search(smallest, min(int(self.n_neighbors), len(smallest)))
        distance, _ = search.near(rows[members])
        return np.argsort(distance.mean(axis=1), kind="stable")[:count]

    def _without_links(self, rows: NDArray[Any], codes: Integers) -> Integers:
        """Return all rows except those of the larger class in a Tomek link."""
        size = np.bincount(codes)[codes]
        small = np.flatnonzero(size < size.max())
        if not len(small):
            return np.arange(len(rows))
        nearest = self._others_near(rows, small, 1)[:, 0]
        larger = size[nearest] > size[small]
        small, nearest = small[larger], nearest[larger]
        if len(small):
            mutual = self._others_near(rows, nearest, 1)[:, 0] == small
            nearest = nearest[mutual]
        return np.setdiff1d(np.arange(len(rows)), nearest)

    def _check_parameters(self) -> None:
        check_ratio(self.ratio)
        check_option("method", self.method, _METHODS)
        check_interval("n_neighbors", self.n_neighbors, 1, integer=True)
        check_n_jobs(self.n_jobs)
        check_random_state(self.random_state)

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(), cls(method="tomek")]
