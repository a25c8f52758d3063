"""Feature selection by differences between neighbouring rows (Relief)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import (
    DataError,
    ParameterError,
    Transformer,
    as_frame,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Array, Count, OneOf, declared
from assay.features._counts import as_count, check_count_or_share
from assay.features._names import names_in
from assay.features._relief_problem import Problem
from assay.features._relief_table import Floats, Integers

_TASKS = ("auto", "classification", "regression")


class ReliefF(Transformer):
    r"""Select columns that differ between neighbours of different classes, not of the same class.

    Parameters
    ----------
    n_neighbors : int or 'multisurf', default=10
        Number of nearest rows of each class (of all rows in a regression); fewer if a class has
        fewer. Few neighbours detect interactions, many give steadier main effects. 'multisurf': all
        rows nearer than mean - sd/2 of the distances from the row.
    n_features_to_select : int, float or None, default=None
        Number or fraction of columns to keep, by best score. None: all with positive score.
    task : {'auto', 'classification', 'regression'}, default='auto'
        Kind of target. 'auto' treats text, booleans and whole numbers as classes.
    sigma : float or None, default=None
        Decay of a neighbour's weight with its rank r: exp(-(r / sigma)^2). None: equal weights.
    max_samples : int, float or None, default=None
        Number or fraction of rows whose neighbours are searched, drawn at random; None: all. Fewer
        are faster and less precise.
    n_rounds : int, default=1
        Number of scoring rounds (TuRF). Before each further round the columns with the lowest
        scores are dropped, so that noise has less influence on the distances.
    drop : float, default=0.5
        Fraction of the columns dropped after each round.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the rows drawn for `max_samples`.

    Attributes
    ----------
    scores_ : ndarray of float64 of shape (n_features_in_,)
        Score of each column, between -1 and 1, in its last round.
    feature_importances_ : ndarray of float64 of shape (n_features_in_,)
        The same, under scikit-learn's name.
    rounds_ : ndarray of int64 of shape (n_features_in_,)
        Number of rounds that each column took part in.
    ranking_ : ndarray of int64 of shape (n_features_in_,)
        Rank of each column, 1 for the best: by rounds, then by score, then by position.
    n_selected_ : int
        Number of columns kept.
    task_ : str
        'classification' or 'regression'.
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the k nearest rows of every row i in its own class (hits H) and in each other class (misses
    :math:`M_c`),

    .. math:: W_a = \frac{1}{n} \sum_i ( \sum_{c \ne c_i} \frac{P(c)}{1 - P(c_i)}
              \frac{1}{k} \sum_{j \in M_c(i)} d_a(i, j) - \frac{1}{k} \sum_{j \in H(i)} d_a(i, j) )

    where :math:`d_a` is the difference in column a: :math:`|x_{ia} - x_{ja}|` over the range of a
    numeric column, 0 or 1 of a nominal one, and where a value is missing the mean difference to a
    value drawn from the row's class. The sum of all :math:`d_a` is the distance between rows. In a
    regression, with :math:`\tau` the difference of the targets over their range,

    .. math:: W_a = \frac{\sum \tau d_a}{\sum \tau} - \frac{\sum (1 - \tau) d_a}{\sum (1 - \tau)}

    summed over each row and its k nearest. A column without influence has an expected score of 0 or
    slightly less, so columns with a positive score are kept. Columns that act only together (as in
    an exclusive or) are found too, since neighbours agree in the other columns.

    Sample weights enter all means and P. Constant and all-missing columns have score 0. Ties in
    distance go to the first rows. :math:`O(n^2 p)` time; float32 differences, sums in an order that
    does not depend on `n_jobs`.

    Kononenko (1994); Robnik-Sikonja and Kononenko (2003); Moore and White (2007) for TuRF;
    Urbanowicz and others (2018) for MultiSURF.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.features import ReliefF
    >>> X = np.random.default_rng(0).integers(0, 2, size=(200, 6))
    >>> y = X[:, 1] ^ X[:, 4]  # neither column is informative alone
    >>> model = ReliefF().fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [1, 4]
    >>> model.transform(X).shape
    (200, 2)
    """

    model_id: ClassVar[int | None] = 240
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "neighbours are counted as rows: two duplicates of a row are two neighbours"
        ),
    }
    stored = declared(
        feature_importances_=Array("features", -1.001, 1.001),
        rounds_=Array("features", 1, kinds="i"),
        n_selected_=Count(0, "features"),
        task_=OneOf(_TASKS[1:]),
    )

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        n_features_to_select: float | None = None,
        task: str = "auto",
        sigma: float | None = None,
        max_samples: float | None = None,
        n_rounds: int = 1,
        drop: float = 0.5,
        categorical_features: ArrayLike | str | None = "from_dtype",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.sigma = sigma
        self.max_samples = max_samples
        self.n_rounds = n_rounds
        self.drop = drop
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def scores_(self) -> Floats:
        """Score of each column."""
        return self.feature_importances_

    @property
    def ranking_(self) -> Integers:
        """Rank of each column, 1 for the best."""
        order = np.lexsort((np.arange(len(self.scores_)), -self.scores_, -self.rounds_))
        ranking = np.empty(len(order), dtype=np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        return ranking

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Score the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights. Rows of weight 0 are left out.

        Returns
        -------
        ReliefF
            The fitted selector.
        """
        n_threads = self._check_parameters()
        if y is None:
            raise DataError("ReliefF requires y to be passed, but the target y is None")
        rows = self._fit_rows(X)
        problem = Problem.of(rows, y, sample_weight, self.task, self.categorical_features_)
        queries = self._queries(len(problem.codes))
        self.task_ = "regression" if problem.target is not None else "classification"
        self.feature_importances_ = np.zeros(rows.shape[1])
        self.rounds_ = np.zeros(rows.shape[1], dtype=np.int64)
        wanted = self._wanted(rows.shape[1])
        columns = np.arange(rows.shape[1])
        k = 0 if self.n_neighbors == "multisurf" else int(self.n_neighbors)
        sigma = 0.0 if self.sigma is None else float(self.sigma)
        for number in range(self.n_rounds):
            if number:
                columns = self._survivors(columns, 1 if wanted is None else wanted)
            self.feature_importances_[columns] = problem.scores(
                columns, queries, k, sigma, n_threads
            )
            self.rounds_[columns] = number + 1
        positive = int((self.scores_[columns] > 0).sum())
        self.n_selected_ = positive if wanted is None else wanted
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Return the columns that are kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or dataframe of shape (n_samples, n_selected)
            A dataframe stays a dataframe of the same library.
        """
        table = self._table(X, reset=False)
        kept = self.get_support(indices=True)
        if not len(kept):
            raise DataError(
                "no column has a positive score, so none is kept; set n_features_to_select to "
                "keep the best ones anyway"
            )
        frame = as_frame(table)
        return table[:, kept] if frame is None else frame[:, kept.tolist()].to_native()

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return column numbers instead of one boolean per column.

        Returns
        -------
        ndarray of bool of shape (n_features,), or of int64
        """
        kept = np.asarray(self.ranking_ <= self.n_selected_)
        return np.flatnonzero(kept) if indices else kept

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the columns that are kept.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns; None: those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of object
        """
        return np.asarray(names_in(self, input_features)[self.get_support()])

    def _check_parameters(self) -> int:
        check_interval("n_neighbors", self.n_neighbors, 1, integer=True, options=["multisurf"])
        for name in ("n_features_to_select", "max_samples"):
            check_count_or_share(name, getattr(self, name))
        check_option("task", self.task, _TASKS)
        check_interval("sigma", self.sigma, 0, open_low=True, open_high=True, options=[None])
        check_interval("n_rounds", self.n_rounds, 1, integer=True)
        check_interval("drop", self.drop, 0, 1, open_low=True, open_high=True)
        if self.sigma is not None and self.n_neighbors == "multisurf":
            raise ParameterError(
                "sigma must be None with n_neighbors='multisurf', whose neighbours have no rank; "
                f"got {self.sigma!r}"
            )
        check_random_state(self.random_state)
        return check_n_jobs(self.n_jobs)

    def _queries(self, n_rows: int) -> Integers:
        """Return the rows whose neighbours are searched."""
        if self.max_samples is None:
            return np.arange(n_rows)
        count = as_count("max_samples", self.max_samples, n_rows, "rows")
        random = check_random_state(self.random_state)
        return np.sort(random.permutation(n_rows)[:count]).astype(np.int64)

    def _wanted(self, n_columns: int) -> int | None:
        chosen = self.n_features_to_select
        return (
            None
            if chosen is None
            else as_count("n_features_to_select", chosen, n_columns, "columns")
        )

    def _survivors(self, columns: Integers, least: int) -> Integers:
        """Return the columns with the best scores, at least `least` of them."""
        keep = max(int(np.ceil(len(columns) * (1 - self.drop))), min(least, len(columns)))
        order = np.argsort(-self.scores_[columns], kind="stable")
        return np.sort(columns[order[:keep]])

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(n_features_to_select=0.5),
            cls("multisurf", n_features_to_select=0.5, n_rounds=2),
            cls(3, n_features_to_select=0.75, sigma=2.0, max_samples=0.5, random_state=0),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
