"""Numbers as intervals."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from assay.base import (
    DataError,
    ParameterError,
    Transformer,
    as_vector,
    check_interval,
    check_option,
    class_codes,
    did_you_mean,
)
from assay.base.stored import Array, Offsets, OneOf, declared, ensure
from assay.features._interval_cuts import Floats, mdl_cuts, quantile_cuts, uniform_cuts
from assay.features._interval_labels import interval_labels
from assay.features._names import names_in

_METHODS = ("quantile", "uniform", "mdl", None)
_OUTPUTS = ("ordinal", "onehot", "label")
_EDGES = (
    "None, an ascending sequence of at least 2 numbers for every column, or a dict from column "
    "names or numbers to such sequences"
)


class IntervalBuilder(Transformer):
    r"""Turn numeric columns into intervals: given, cut from the data, or cut by class.

    Parameters
    ----------
    edges : sequence of float, dict or None, default=None
        Boundaries from domain knowledge, ascending, infinite ones allowed at the ends: for all
        columns, or a dict from column names or numbers to boundaries. Values outside all intervals
        become missing.
    method : {'quantile', 'uniform', 'mdl', None}, default='quantile'
        How columns without given edges are cut: equal shares of the rows, equal widths, or by class
        with minimum description length. None leaves them as they are.
    n_intervals : int, default=5
        Number of intervals for 'quantile' and 'uniform'; fewer where values repeat.
    output : {'ordinal', 'onehot', 'label'}, default='ordinal'
        The index of the interval, from 0; one column of 0 and 1 per interval; or text such as
        10-30.
    closed : {'left', 'right'}, default='left'
        Which boundary belongs to an interval: 10 <= x < 30 or 10 < x <= 30. Finite outermost
        boundaries of given edges always belong.

    Attributes
    ----------
    edges_ : list of ndarray of float64
        Boundaries of each column; empty for a column left as it is.
    labels_ : list of list of str
        The intervals as text.
    boundaries_ : ndarray of float64
        The boundaries of all columns, one after another.
    boundary_offsets_ : ndarray of int64 of shape (n_features_in_ + 1,)
        Index in `boundaries_` of the first boundary of each column.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    Intervals lose detail but are readable: a linear model on their indicators fits a step function
    of each column. Learned outer boundaries are infinite, so every number falls into an interval; a
    constant column has one. Cuts are computed from the values that are not missing; missing values
    stay missing (NaN in all columns of 'onehot').

    Minimum description length (Fayyad and Irani 1993): with the entropy :math:`H` of the classes
    of N rows, of which k classes occur (:math:`k_1, k_2` in the parts), the best cut is made if

    .. math:: H - \frac{N_1}{N} H_1 - \frac{N_2}{N} H_2 >
              \frac{\log_2(N - 1) + \log_2(3^k - 2) - (k H - k_1 H_1 - k_2 H_2)}{N}

    and then each part is cut in the same way. A column that alone is not informative about the
    classes stays one interval.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.features import IntervalBuilder
    >>> ages = IntervalBuilder([0, 10, 30, 60, np.inf], closed="right", output="label")
    >>> ages.fit_transform([[4], [30], [31], [75]]).ravel().tolist()
    ['0-10', '10-30', '30-60', '>60']
    >>> X, y = [[1], [2], [3], [7], [8], [9]] * 2, [0, 0, 0, 1, 1, 1] * 2
    >>> cut = IntervalBuilder(method="mdl").fit(X, y)
    >>> cut.edges_[0].tolist(), cut.labels_
    ([-inf, 5.0, inf], [['<5', '>=5']])
    """

    model_id: ClassVar[int | None] = 241
    takes_missing: ClassVar[bool] = True
    stored = declared(
        output=OneOf(_OUTPUTS),
        closed=OneOf(("left", "right")),
        boundaries_=Array("boundaries", dtype=np.float64, finite=False),
        boundary_offsets_=Offsets("features", "boundaries_"),
    )

    def __init__(
        self,
        edges: Any = None,
        *,
        method: str | None = "quantile",
        n_intervals: int = 5,
        output: str = "ordinal",
        closed: str = "left",
    ) -> None:
        self.edges = edges
        self.method = method
        self.n_intervals = n_intervals
        self.output = output
        self.closed = closed

    @property
    def edges_(self) -> list[Floats]:
        """Boundaries of each column."""
        ends = self.boundary_offsets_
        return [self.boundaries_[ends[j] : ends[j + 1]] for j in range(self.n_features_in_)]

    @property
    def labels_(self) -> list[list[str]]:
        """The intervals of each column as text."""
        return [interval_labels(edges, self.closed) for edges in self.edges_]

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the boundaries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library; numbers only.
        y : array-like of shape (n_samples,), default=None
            Their classes, for ``method='mdl'``; not used otherwise.

        Returns
        -------
        IntervalBuilder
            The fitted transformer.
        """
        self._check_parameters()
        rows = self._fit_data(X)
        given = self._given_edges()
        codes = None
        if self.method == "mdl" and len(given) < rows.shape[1]:
            codes = _classes(y, len(rows))
        found = []
        for j in range(rows.shape[1]):
            if j in given:
                found.append(given[j])
            elif self.method is None:
                found.append(np.empty(0))
            else:
                found.append(self._learned_edges(rows[:, j], codes))
        self.boundaries_ = np.concatenate(found)
        self.boundary_offsets_ = np.cumsum([0, *map(len, found)]).astype(np.int64)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the interval of each value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            float64; for ``output='label'`` text, with NaN for missing values.
        """
        rows = self._predict_data(X)
        parts: list[NDArray[Any]] = []
        for j, edges in enumerate(self.edges_):
            column = rows[:, j].astype(np.float64)
            if not len(edges):
                parts.append(column[:, None])
                continue
            codes = _interval_of(column, edges, self.closed)
            if self.output == "onehot":
                shown = (codes[:, None] == np.arange(len(edges) - 1)).astype(np.float64)
                shown[np.isnan(codes)] = np.nan
                parts.append(shown)
            else:
                parts.append(codes[:, None])
        table = np.hstack(parts)
        return self._labelled(table) if self.output == "label" else table

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns; None: those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of object
            With ``output='onehot'`` such as ``"age: 10-30"``.
        """
        names = names_in(self, input_features)
        if self.output != "onehot":
            return names
        out = []
        for name, labels in zip(names, self.labels_, strict=True):
            out += [f"{name}: {label}" for label in labels] if labels else [name]
        return np.array(out, dtype=object)

    def _check_parameters(self) -> None:
        check_option("method", self.method, _METHODS)
        check_interval("n_intervals", self.n_intervals, 2, integer=True)
        check_option("output", self.output, _OUTPUTS)
        check_option("closed", self.closed, ("left", "right"))
        _check_edges(self.edges)

    def _given_edges(self) -> dict[int, Floats]:
        """Return the given boundaries by column number."""
        if self.edges is None:
            return {}
        if not isinstance(self.edges, Mapping):
            return dict.fromkeys(range(self.n_features_in_), _as_edges(self.edges))
        names = np.asarray(getattr(self, "feature_names_in_", np.empty(0))).tolist()
        found = {}
        for key, given in self.edges.items():
            found[_column(key, names, self.n_features_in_)] = _as_edges(given)
        return found

    def _learned_edges(self, column: NDArray[Any], codes: NDArray[np.int64] | None) -> Floats:
        present = ~np.isnan(column)
        values = column[present].astype(np.float64)
        if not len(values):
            cuts = np.empty(0)  # no values: one interval
        elif self.method == "quantile":
            cuts = quantile_cuts(values, self.n_intervals)
        elif self.method == "uniform":
            cuts = uniform_cuts(values, self.n_intervals)
        else:
            assert codes is not None
            cuts = mdl_cuts(values, codes[present])
        return np.concatenate([[-np.inf], cuts, [np.inf]])

    def _labelled(self, table: Floats) -> NDArray[Any]:
        out = table.astype(object)
        for j, labels in enumerate(self.labels_):
            if labels:
                present = ~np.isnan(table[:, j])
                names = np.array(labels, dtype=object)
                out[present, j] = names[table[present, j].astype(np.int64)]
        return out

    def _check_more(self) -> None:
        ascending = all(not len(column) or _are_edges(column) for column in self.edges_)
        ensure(ascending, "boundaries_ does not ascend")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(),
            cls(method="uniform", output="onehot", n_intervals=3),
            cls({0: [-np.inf, 0.0, np.inf]}, closed="right"),
        ]


def _interval_of(column: Floats, edges: Floats, closed: str) -> Floats:
    """Return the index of each value's interval; NaN if missing or outside all intervals."""
    inner = edges[1:-1]
    codes = np.searchsorted(inner, column, side="right" if closed == "left" else "left")
    outside = np.isnan(column) | (column < edges[0]) | (column > edges[-1])
    return np.where(outside, np.nan, codes.astype(np.float64))


def _classes(y: Any, n_rows: int) -> NDArray[np.int64]:
    if y is None:
        raise DataError(
            "method='mdl' requires y to be passed (the classes), but the target y is None"
        )
    values = as_vector(y)
    if type_of_target(values, input_name="y").startswith("continuous"):
        raise DataError(
            "method='mdl' needs classes, but y holds real numbers (continuous); cut y into classes "
            "first, or use method='quantile'"
        )
    codes = class_codes(values)[1]
    if len(codes) != n_rows:
        raise DataError(
            f"X has {n_rows} rows but y has {len(codes)}; each row needs one target "
            "(inconsistent numbers of samples)"
        )
    return codes


def _check_edges(edges: Any) -> None:
    lists = edges.values() if isinstance(edges, Mapping) else [] if edges is None else [edges]
    for given in lists:
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"edges must be {_EDGES}; got {edges!r}") from None
        if not _are_edges(numbers):
            raise ParameterError(f"edges must be {_EDGES}; got {edges!r}")


def _are_edges(numbers: Floats) -> bool:
    if numbers.ndim != 1 or len(numbers) < 2 or np.isnan(numbers).any():
        return False
    return bool((numbers[1:] > numbers[:-1]).all())


def _as_edges(given: Any) -> Floats:
    return np.array(given, dtype=np.float64)


def _column(key: Any, names: list[str], n_columns: int) -> int:
    if isinstance(key, str):
        if key not in names:
            raise ParameterError(
                f"edges names column {key!r}, which X does not have{did_you_mean(key, names)}"
            )
        return names.index(key)
    if not isinstance(key, Integral) or isinstance(key, bool) or key not in range(n_columns):
        raise ParameterError(
            f"edges as a dict takes column names or numbers in [0, {n_columns - 1}]; got {key!r}"
        )
    return int(key)
