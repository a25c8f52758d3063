"""Approximate nearest neighbours by locality-sensitive hashing."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay._core import neighbors as kernels
from assay.base import (
    DataError,
    Estimator,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Array, Count, Number, Plain, declared, each, ensure
from assay.neighbors._graph import GraphOfNeighbors
from assay.neighbors._hashing_tuning import (
    Choices,
    Frame,
    Layout,
    Sample,
    choose,
    learn_frame,
)

#: Sample sizes: rows to learn how neighbours differ, queries to choose by, queries to measure
#: recall.
_SHOWN, _QUERIES, _MEASURED = 256, 128, 512
_OTHERS = 20_000
_TABLES = (4, 16)
_STABLE = {"n_projections": (6, 8, 10, 12), "width": (4.0, 6.0)}
_SIGN = {"n_projections": (8, 12, 16, 20), "width": (1.0,)}
_HITS = (1, 2, 3)
#: Maximum number of bins per query while choosing a layout; one that needs more would be slow.
_MOST_BINS = 512


class HashedNeighbors(GraphOfNeighbors, Estimator):
    r"""Approximate nearest-neighbour search by locality-sensitive hashing.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours to find; the layout is tuned for it.
    metric : {'euclidean', 'cosine'}, default='euclidean'
        The distance.
    target_recall : float in (0, 1], default=0.95
        Share of the true neighbours to find. Larger values make searches slower. The cheapest
        layout that reaches it on a sample is used, with candidates added until it also holds on
        other rows.
    n_tables : int or 'auto', default='auto'
        Number of hash tables, at most 255.
    n_projections : int or 'auto', default='auto'
        Number m of projections per hash code, at most 32.
    width : float or 'auto', default='auto'
        Width of a bin, in standard deviations of the difference between neighbours along a
        projection. Not used by sign hashing.
    min_hits : int or 'auto', default='auto'
        Minimum number of visited bins that must contain a row for it to be examined; 1 is the union
        of the bins.
    n_candidates : int or 'auto', default='auto'
        Number of rows to examine. Bins are visited, the query's own first and then the closest
        ones, until this many rows are found. Larger values increase recall and time.
    n_probes : int, default=2000
        Maximum number of bins visited per query, over all tables.
    hashing : {'auto', 'stable', 'sign'}, default='auto'
        Hash by intervals of the projection ('stable') or by its sign; 'auto' takes signs for
        the cosine.
    directions : {'adapted', 'random'}, default='adapted'
        'adapted': random directions that favour those along which rows differ more than neighbours
        do; 'random': Gaussian directions.
    random_state : int, RandomState or None, default=None
        Seed for directions and samples.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array.
    n_samples_fit_ : int
        Number of training rows.
    n_tables_, n_projections_, min_hits_, n_candidates_ : int
        The layout in use.
    width_ : float
        The bin width in use.
    sign_ : bool
        Whether hash codes consist of signs.
    recall_ : float
        Share of the true neighbours found, measured on training rows that were not used to choose
        the layout (if there are enough rows); a row is not its own neighbour. 1.0 for a single row.
    examined_share_ : float
        Share of the training rows examined (with an exact distance) for these queries.
    centre_ : ndarray of float64 of shape (n_features_in_,)
        Vector subtracted before projecting.
    scale_ : float
        Factor applied to the centred rows.
    directions_ : ndarray of float32 of shape (n_features_in_, n_columns)
        The projections, m per table, padded with zeros.
    shifts_ : ndarray of float32 of shape (n_columns,)
        Offsets of the bins, in bin widths.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: h(x) = \Bigl(\Bigl\lfloor \frac{a_j \cdot x}{w} + b_j \Bigr\rfloor\Bigr)_{j=1}^m
              \quad\text{or}\quad h(x) = (\operatorname{sign}(a_j \cdot x))_{j=1}^m

    Near rows fall into the same bin of a table more often than far ones. A query visits the bins of
    all tables in the order of the distance to their borders; rows found `min_hits` times are
    examined, that is, their exact distance is computed. It stops when `n_candidates` are found, so
    a query in a sparse region visits more bins. A query with fewer than `n_neighbors` candidates
    after `n_probes` bins is compared with all rows.

    O(n d L m) to fit with L tables; to search O(d (L m + rows examined)). Deterministic for a
    given seed. A model file holds rows and directions; the tables are rebuilt from them.

    Sources: Datar and others, p-stable hashing (2004); Charikar, sign hashing (2002); Lv and
    others, multi-probe (2007); Gan and others, counting collisions (2012).

    See Also
    --------
    NearestNeighbors : Exact search.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.neighbors import HashedNeighbors
    >>> rows = np.random.default_rng(0).normal(size=(500, 8))
    >>> model = HashedNeighbors(n_neighbors=3, random_state=0).fit(rows)
    >>> model.kneighbors(rows[:2], return_distance=False)[:, 0].tolist()
    [0, 1]
    >>> model.recall_ >= 0.9, model.examined_share_ < 0.5
    (True, True)
    """

    model_id: ClassVar[int | None] = 119
    stored = declared(
        n_samples_fit_=Count(1, 2**32),
        rows_=Array("n_samples_fit_, features"),
        centre_=Array("features", dtype=np.float64),
        directions_=Array("features, 16*blocks", dtype=np.float32),
        shifts_=Array("16*blocks", 0, 1, dtype=np.float32),
        n_tables_=Count(1, 255),
        n_projections_=Count(1, 32),
        n_candidates_=Count(1, 2**31),
        min_hits_=Count(1, "n_tables_"),
        **each("scale_ width_", Number(1e-300, float(np.finfo(np.float32).max))),
        sign_=Plain(bool),
        **each("recall_ examined_share_", Number(0, 1)),
    )

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        metric: str = "euclidean",
        target_recall: float = 0.95,
        n_tables: int | str = "auto",
        n_projections: int | str = "auto",
        width: float | str = "auto",
        min_hits: int | str = "auto",
        n_candidates: int | str = "auto",
        n_probes: int = 2000,
        hashing: str = "auto",
        directions: str = "adapted",
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.target_recall = target_recall
        self.n_tables = n_tables
        self.n_projections = n_projections
        self.width = width
        self.min_hits = min_hits
        self.n_candidates = n_candidates
        self.n_probes = n_probes
        self.hashing = hashing
        self.directions = directions
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Tune the layout on a sample and hash the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : object, default=None
            Not used.

        Returns
        -------
        HashedNeighbors
            The fitted model.
        """
        n_threads = self._check_params()
        rng = check_random_state(self.random_state)
        self.rows_ = self._fit_rows(X)
        self.n_samples_fit_ = len(self.rows_)
        self._cache: dict[str, Any] = {}
        rows = self._space_rows()
        k = self._count(self.n_neighbors, len(rows))
        self.sign_ = self.hashing == "sign" or (self.hashing == "auto" and self.metric == "cosine")
        seed = int(rng.randint(np.iinfo(np.int32).max))
        drawn = _draw(rows, k, rng, n_threads)
        frame = learn_frame(
            drawn.sample, _means(rows, drawn.sample.others), seed, self.directions == "adapted"
        )
        layout = choose(
            drawn.sample, frame, self._choices(k, len(rows)), self.directions == "adapted",
            self.target_recall, n_threads,
        )  # fmt: skip
        self._keep(frame, layout)
        self._verify(rows, drawn, k, n_threads)
        return self

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the approximate nearest training rows of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            The query rows. None: all training rows, which then are not their own neighbours.
        n_neighbors : int, default=None
            Number of neighbours; None uses the parameter of the model, for which the layout was
            tuned.
        return_distance : bool, default=True
            Whether to also return the distances.

        Returns
        -------
        distance : ndarray of float64 of shape (n_queries, n_neighbors)
            Nearest first. Only if `return_distance`.
        index : ndarray of int64 of shape (n_queries, n_neighbors)
            Indices of training rows; equal distances are in this order.
        """
        check_is_fitted(self)
        n_threads = check_n_jobs(self.n_jobs)
        rows = self._space_rows()
        k = self._count(self.n_neighbors if n_neighbors is None else n_neighbors, len(rows))
        if X is None and k == len(rows):
            raise ParameterError(
                f"n_neighbors must be less than the number of training rows (n_samples = "
                f"{len(rows)}) when a row is not its own neighbour; got {k}"
            )
        queries = rows if X is None else _space(self.metric, self._predict_data(X))
        leave_out = np.arange(len(rows) if X is None else 0)
        distance, index, _ = self._search(queries, rows, k, leave_out, n_threads)
        if self.metric == "cosine":
            distance = distance * distance / 2
        return (distance, index) if return_distance else index

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cache", None)  # rebuilt from the rows and directions
        return state

    def _check_params(self) -> int:
        check_interval("n_neighbors", self.n_neighbors, 1, integer=True)
        check_option("metric", self.metric, ("euclidean", "cosine"))
        check_interval("target_recall", self.target_recall, 0, 1, open_low=True)
        check_interval("n_tables", self.n_tables, 1, 255, integer=True, options=("auto",))
        check_interval("n_projections", self.n_projections, 1, 32, integer=True, options=("auto",))
        check_interval("width", self.width, 0, open_low=True, open_high=True, options=("auto",))
        check_interval("n_candidates", self.n_candidates, 1, integer=True, options=("auto",))
        check_interval("n_probes", self.n_probes, 1, integer=True)
        check_interval("min_hits", self.min_hits, 1, integer=True, options=("auto",))
        check_option("hashing", self.hashing, ("auto", "stable", "sign"))
        check_option("directions", self.directions, ("adapted", "random"))
        most = 16 if isinstance(self.n_tables, str) else self.n_tables
        if not isinstance(self.min_hits, str) and self.min_hits > most:
            raise ParameterError(
                f"min_hits must be at most the number of tables ({most}): a row lies in one bin "
                f"of each; got {self.min_hits}"
            )
        return check_n_jobs(self.n_jobs)

    def _count(self, k: int, n: int) -> int:
        check_interval("n_neighbors", k, 1, integer=True)
        if k > n:
            raise ParameterError(
                f"n_neighbors must be at most the number of training rows (n_samples = {n}); "
                f"got {k}"
            )
        return int(k)

    def _choices(self, k: int, n: int) -> Choices:
        grid = _SIGN if self.sign_ else _STABLE
        width = (1.0,) if self.sign_ else _given(self.width, grid["width"])
        return Choices(
            n_tables=_given(self.n_tables, _TABLES),
            n_projections=_given(self.n_projections, grid["n_projections"]),
            widths=width,
            min_hits=_given(self.min_hits, _HITS),
            n_candidates=_given(self.n_candidates, _budgets(k, n)),
            n_probes=min(int(self.n_probes), _MOST_BINS),
            sign=self.sign_,
        )

    def _keep(self, frame: Frame, layout: Layout) -> None:
        mixed = frame.mix(layout.n_projections, layout.n_tables, self.directions == "adapted")
        self.centre_, self.scale_ = frame.centre, frame.scale
        self.directions_ = frame.directions(mixed)
        self.shifts_ = frame.shifts(mixed.shape[1])
        self.n_tables_ = layout.n_tables
        self.n_projections_ = layout.n_projections
        self.width_ = layout.width
        self.min_hits_ = layout.min_hits
        self.n_candidates_ = layout.n_candidates

    def _verify(self, rows: NDArray[Any], drawn: _Drawn, k: int, n_threads: int) -> None:
        """Measure recall on other rows; add candidates if it is below the target."""
        self.recall_, self.examined_share_ = 1.0, 1.0
        if not len(drawn.measured):
            return
        k = min(k, len(rows) - 1)
        for attempt in range(9):
            _, index, examined = self._search(
                rows[drawn.measured], rows, k, drawn.measured, n_threads
            )
            hits = (index[:, :, None] == drawn.truth[:, None, :]).any(axis=2)
            self.recall_ = float(hits.mean())
            # One standard error of safety margin, since the sample may be optimistic.
            doubt = float(hits.mean(axis=1).std() / np.sqrt(len(hits)))
            self.examined_share_ = float(examined.mean() / len(rows))
            fixed = not isinstance(self.n_candidates, str) or self.n_candidates_ >= len(rows)
            if fixed or self.recall_ - doubt >= self.target_recall or attempt == 8:
                return
            more = self.n_candidates_ + max(1, self.n_candidates_ // 5)
            self.n_candidates_ = min(more, len(rows))

    def _search(
        self,
        queries: NDArray[Any],
        rows: NDArray[Any],
        k: int,
        leave_out: NDArray[np.int64],
        n_threads: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        kind = np.result_type(queries, rows)
        queries = np.ascontiguousarray(queries, dtype=kind)
        rows = np.ascontiguousarray(rows, dtype=kind)
        shape = (
            self.centre_, self.scale_, self.directions_, self.shifts_, self.n_tables_,
            self.n_projections_, 1 / self.width_, self.sign_,
        )  # fmt: skip
        tables = self._cached_tables(rows, shape, n_threads)
        distance = np.empty((len(queries), k))
        index = np.empty((len(queries), k), dtype=np.int64)
        examined = np.empty(len(queries), dtype=np.int64)
        kernels.hash_search(
            queries, rows, *shape, tables["slots"], tables["order"], k, self.n_probes,
            self.min_hits_, self.n_candidates_, leave_out, distance, index, examined, n_threads,
        )  # fmt: skip
        return distance, index, examined

    def _cached_tables(self, rows: NDArray[Any], shape: tuple[Any, ...], n_threads: int) -> Any:
        cache = self.__dict__.setdefault("_cache", {})
        if "tables" not in cache:
            build: Any = kernels.hash_build
            cache["tables"] = build(rows, *shape, n_threads)
        return cache["tables"]

    def _space_rows(self) -> NDArray[Any]:
        cache = self.__dict__.setdefault("_cache", {})
        if self.metric == "euclidean":
            return self.rows_
        if "rows" not in cache:
            cache["rows"] = _space(self.metric, self.rows_)
        return cache["rows"]  # type: ignore[no-any-return]

    def _check_more(self) -> None:
        self._check_params()
        enough = self.n_tables_ * self.n_projections_ <= self.directions_.shape[1]
        ensure(enough, "directions_ has too few columns")
        self._count(self.n_neighbors, len(self.rows_))
        _space(self.metric, self.rows_)


class _Drawn(NamedTuple):
    """A sample to choose by, and other rows with their true neighbours to measure recall."""

    sample: Sample
    measured: NDArray[np.int64]
    truth: NDArray[np.int64]


def _draw(rows: NDArray[Any], k: int, rng: RandomState, n_threads: int) -> _Drawn:
    n = len(rows)
    k = min(k, n - 1)
    order = rng.permutation(n)
    # In a small table all rows are used for all three purposes.
    apart = n >= _SHOWN + _QUERIES + _MEASURED
    shown = order[:_SHOWN]
    tuned = order[_SHOWN if apart else 0 :][:_QUERIES]
    measured = order[_SHOWN + _QUERIES if apart else 0 :][:_MEASURED]
    others = rows[np.sort(rng.permutation(n)[:_OTHERS])]
    share = len(others) / n
    if k == 0:
        none = np.empty((0, rows.shape[1]))
        empty = np.empty((0, 0), dtype=np.int64)
        return _Drawn(
            Sample(none, rows[tuned], none.astype(rows.dtype), others, share), measured[:0], empty
        )
    parts = (shown, tuned, measured)
    near = _true_neighbors(rows, np.concatenate(parts), k, n_threads)
    near_shown, near_tuned, truth = np.split(near, np.cumsum([len(part) for part in parts])[:-1])
    gaps = rows[near_shown.ravel()].astype(np.float64) - np.repeat(rows[shown], k, axis=0)
    return _Drawn(
        Sample(gaps, rows[tuned], rows[near_tuned.ravel()], others, share), measured, truth
    )


def _true_neighbors(
    rows: NDArray[Any], measured: NDArray[np.int64], k: int, n_threads: int
) -> NDArray[np.int64]:
    distance = np.empty((len(measured), k + 1))
    index = np.empty((len(measured), k + 1), dtype=np.int64)
    kernels.brute_force(rows[measured], rows, k + 1, 2.0, distance, index, n_threads)
    keep = index != measured[:, None]
    keep[keep.all(axis=1), -1] = False  # with many duplicates a row may not find itself
    near: NDArray[np.int64] = index[keep].reshape(-1, k)
    return near


def _budgets(k: int, n: int) -> tuple[int, ...]:
    """Return values of `n_candidates` to choose from, each about 1.2 times the previous one."""
    most = min(n, max(20 * k, n // 16))
    sizes = [round(2 * k * 2 ** (step / 4)) for step in range(64)]
    return tuple(sorted({min(size, most) for size in sizes}))


def _means(rows: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Return the centre of the rows; of a sample if the table is large."""
    part = others if len(rows) > len(others) else rows
    largest = max(float(np.abs(part).max(initial=0.0)), 1.0)
    return (part / largest).mean(axis=0, dtype=np.float64) * largest  # type: ignore[no-any-return]


def _space(metric: str, rows: NDArray[Any]) -> NDArray[Any]:
    if metric == "euclidean":
        return rows
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
    if not largest.all():
        row = int(np.flatnonzero(largest[:, 0] == 0)[0])
        raise DataError(
            f"metric='cosine' is not defined for a row of zeros, as row {row} of X is; leave it out"
        )
    scaled = rows / largest  # so that no square overflows or underflows
    return scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))  # type: ignore[no-any-return]


def _given(value: Any, choices: Any) -> Any:
    return choices if isinstance(value, str) else (value,)
