"""The in-fold encoder: impute, scale and one-hot, learned from the training rows only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError, ParameterError, Transformer, check_interval, check_option
from assay.base.stored import Array, Count, Integers, Offsets, declared, each, ensure

_KINDS = ("numeric", "ordinal", "nominal")
_NOMINAL = _KINDS.index("nominal")


class Encoder(Transformer):
    r"""Turn a table with missing values and categories into a matrix of finite numbers.

    Parameters
    ----------
    kinds : sequence of {'numeric', 'ordinal', 'nominal'} or None, default=None
        Kind of each column. None: text and categorical columns of a dataframe are nominal,
        everything else is numeric. Nominal columns of an array hold category codes.
    impute : {'median', 'mean', 'constant'}, default='median'
        Replacement for missing values of a numeric or ordinal column: the median or mean of the
        training rows, or `fill_value`.
    scale : {'standard', 'minmax'} or None, default='standard'
        Give numeric and ordinal columns mean 0 and variance 1, or the range [0, 1].
    nominal : {'onehot', 'ordinal'}, default='onehot'
        One 0/1 column per category, or one column with the position of the category.
    min_count : int or 'auto', default='auto'
        Categories with fewer training rows are merged into "other". ``'auto'`` is
        max(2, n_rows / 500), so no column gives more than 500.
    indicator : bool, default=True
        Add a 0/1 column for every numeric or ordinal column with missing values in training.
    fill_value : float, default=0.0
        Replacement for missing values with ``impute='constant'``.

    Attributes
    ----------
    kinds_ : ndarray of int8 of shape (n_features_in_,)
        0 numeric, 1 ordinal, 2 nominal.
    fill_, center_, scale_ : ndarray of shape (n_real,)
        Fill value, offset and divisor of each numeric and ordinal column.
    gaps_ : ndarray of int64
        Indices of those that have an indicator.
    kept_, kept_offsets_ : ndarray
        Categories with a column of their own; nominal column c has
        ``kept_[kept_offsets_[c]:kept_offsets_[c + 1]]``.
    other_, absent_ : ndarray of bool of shape (n_nominal,)
        Whether a nominal column has a column "other", and one for missing values.
    n_features_out_ : int
        Number of columns in the output.

    Notes
    -----
    The output has the numeric and ordinal columns :math:`(x - c) / s`, then the indicators, then
    the nominal columns, each in the order of the input. A missing value of a nominal column is a
    category of its own when training had one. A category unseen in training counts as "other";
    without such a column it is 0 everywhere. Two columns that add up to 1 are written as one, where
    0.5 stands for neither. A column without any value in training is filled with
    `fill_value`; a constant column becomes 0.

    O(nd) apart from medians and categories (O(n log n)). Deterministic. Does not use the target.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 2.0], [2.0, 0.0]])
    >>> Encoder(kinds=("numeric", "nominal"), scale=None, min_count=1).fit_transform(rows)
    array([[1., 0., 1., 0., 0.],
           [2., 1., 0., 1., 0.],
           [3., 0., 0., 0., 1.],
           [2., 0., 1., 0., 0.]])
    """

    model_id = 100
    takes_missing = True
    takes_nominal = True

    #: The base class learns the categories of text columns; this class encodes them.
    categorical_features = "from_dtype"
    stored = declared(
        kinds_=Integers("features", 0, 2),
        **each("fill_ center_", Array("reals")),
        scale_=Array("reals", above=0),
        gaps_=Integers("gaps", 0, "reals-1", ascending=True),
        **each("other_ absent_", Array("nominals", kinds="b")),
        kept_=Array("kept"),
        kept_offsets_=Offsets("nominals", "kept_"),
        n_features_out_=Count(),
    )

    def __init__(
        self,
        *,
        kinds: Sequence[str] | None = None,
        impute: str = "median",
        scale: str | None = "standard",
        nominal: str = "onehot",
        min_count: int | str = "auto",
        indicator: bool = True,
        fill_value: float = 0.0,
    ) -> None:
        self.kinds = kinds
        self.impute = impute
        self.scale = scale
        self.nominal = nominal
        self.min_count = min_count
        self.indicator = indicator
        self.fill_value = fill_value

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Learn fill values, scales and categories from the training rows."""
        check_option("impute", self.impute, ("median", "mean", "constant"))
        check_option("scale", self.scale, ("standard", "minmax", None))
        check_option("nominal", self.nominal, ("onehot", "ordinal"))
        check_option("indicator", self.indicator, (True, False))
        check_interval("min_count", self.min_count, 1, integer=True, options=("auto",))
        check_interval("fill_value", self.fill_value, open_low=True, open_high=True)
        rows = self._fit_data(X)
        self.kinds_ = self._column_kinds()
        self._learn_reals(_columns(rows, self.kinds_ != _NOMINAL))
        self._learn_levels(_columns(rows, self.kinds_ == _NOMINAL))
        self.n_features_out_ = len(self.fill_) + len(self.gaps_) + sum(self._widths())
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the rows as finite numbers."""
        rows = self._predict_data(X)
        found = np.empty((len(rows), self.n_features_out_))
        reals = _columns(rows, self.kinds_ != _NOMINAL)
        missing = np.isnan(reals)
        n_reals = reals.shape[1]
        if missing.any():
            reals = np.where(missing, self.fill_, reals)
        found[:, :n_reals] = self._scaled(reals)
        found[:, n_reals : n_reals + len(self.gaps_)] = missing[:, self.gaps_]
        end = n_reals + len(self.gaps_)
        for c, (j, width) in enumerate(zip(self._nominals(), self._widths(), strict=True)):
            found[:, end : end + width] = self._level_columns(c, rows[:, j])
            end += width
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return a name for every column of the output.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; by default those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of str objects
            ``age``, ``age missing``, ``town=Ulm``, ``town=other``, ``town=missing``.
        """
        check_is_fitted(self)
        inputs = self._input_names(input_features)
        reals = [inputs[j] for j in np.flatnonzero(self.kinds_ != _NOMINAL)]
        names = [*reals, *(f"{reals[c]} missing" for c in self.gaps_)]
        for c, j in enumerate(self._nominals()):
            if self.nominal == "ordinal":
                names.append(inputs[j])
                continue
            own = [f"{inputs[j]}={self._level_name(j, level)}" for level in self._kept(c)]
            own += [f"{inputs[j]}=other"] * int(self.other_[c])
            own += [f"{inputs[j]}=missing"] * int(self.absent_[c])
            names += own[1:] if len(own) == 2 else own
        return np.array(names, dtype=object)

    def _column_kinds(self) -> NDArray[np.int8]:
        kinds = np.zeros(self.n_features_in_, dtype=np.int8)
        kinds[self.categorical_features_] = _NOMINAL
        if self.kinds is None:
            return kinds
        listed = isinstance(self.kinds, (list, tuple, np.ndarray))
        if not listed or len(self.kinds) != self.n_features_in_:
            raise ParameterError(
                f"kinds must name one kind per column of X ({self.n_features_in_}); "
                f"got {self.kinds!r}"
            )
        for kind in self.kinds:
            check_option("kinds", kind, _KINDS)
        asked = np.array([_KINDS.index(kind) for kind in self.kinds], dtype=np.int8)
        wrong = np.flatnonzero((kinds == _NOMINAL) & (asked != _NOMINAL))
        if len(wrong):
            raise DataError(
                f"column {wrong[0]} of X holds text, so its kind must be 'nominal'; "
                f"got {self.kinds[wrong[0]]!r}"
            )
        return asked

    def _learn_reals(self, reals: NDArray[np.float64]) -> None:
        missing = np.isnan(reals)
        gaps = missing.any(axis=0)
        self.gaps_ = np.flatnonzero(gaps) if self.indicator else np.empty(0, dtype=np.int64)
        self.fill_ = np.full(reals.shape[1], float(self.fill_value))
        if self.impute != "constant":
            centre = np.median if self.impute == "median" else np.mean
            if not gaps.all():
                self.fill_[~gaps] = _bounded(centre, reals[:, ~gaps])
            for c in np.flatnonzero(gaps):
                present = reals[~missing[:, c], c]
                if len(present):
                    self.fill_[c] = _bounded(centre, present[:, None])[0]
        full = np.where(missing, self.fill_, reals) if gaps.any() else reals
        self.center_ = np.zeros(reals.shape[1])
        self.scale_ = np.ones(reals.shape[1])
        if self.scale is None or not full.size:
            return
        low, high = full.min(axis=0), full.max(axis=0)
        varies = low < high
        if self.scale == "minmax":
            self.center_ = low
            with np.errstate(over="ignore"):
                self.scale_[varies] = np.minimum(high - low, np.finfo(float).max)[varies]
        else:
            self.center_ = np.where(varies, _bounded(np.mean, full), low)
            spread = _bounded(np.std, full)
            self.scale_ = np.where(varies & (spread > 0), spread, 1.0)

    def _learn_levels(self, codes: NDArray[np.float64]) -> None:
        least = self.min_count
        if isinstance(least, str):
            least = max(2, math.ceil(len(codes) / 500))
        kept, other, absent = [], [], []
        for column in codes.T:
            present = column[~np.isnan(column)]
            levels, counts = np.unique(present, return_counts=True)
            kept.append(levels[counts >= least])
            other.append(bool((counts < least).any()))
            absent.append(len(present) < len(column))
        self.kept_ = np.concatenate([*kept, np.empty(0)])
        self.kept_offsets_ = np.cumsum([0, *map(len, kept)]).astype(np.int64)
        self.other_ = np.array(other, dtype=bool)
        self.absent_ = np.array(absent, dtype=bool)

    def _scaled(self, reals: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            found: NDArray[np.float64] = (reals - self.center_) / self.scale_
            if not np.isfinite(found).all():
                # The difference of two huge numbers could overflow: divide first, and clip.
                again = reals / self.scale_ - self.center_ / self.scale_
                found = np.where(np.isfinite(found), found, again)
                found = np.nan_to_num(found, nan=0.0)
        return found

    def _level_columns(self, c: int, codes: NDArray[Any]) -> NDArray[np.float64]:
        """One nominal column as 0/1 columns, or as the position of its category."""
        kept = self._kept(c)
        place = np.searchsorted(kept, codes)
        known = np.zeros(len(codes), dtype=bool)
        if len(kept):
            known = kept[np.minimum(place, len(kept) - 1)] == codes
        missing = np.isnan(codes)
        # Positions after the kept categories: "other", then "missing", then neither.
        n_other, n_absent = int(self.other_[c]), int(self.absent_[c])
        nothing = len(kept) + n_other + n_absent
        place[~known] = len(kept) if n_other else nothing
        if n_absent:
            place[missing] = len(kept) + n_other
        if self.nominal == "ordinal":
            return place[:, None].astype(np.float64)
        table = np.eye(nothing + 1)[:, :nothing]
        if nothing == 2:
            table = np.array([[0.0], [1.0], [0.5]])
        return table[place]

    def _kept(self, c: int) -> NDArray[np.float64]:
        kept: NDArray[np.float64] = self.kept_[self.kept_offsets_[c] : self.kept_offsets_[c + 1]]
        return kept

    def _nominals(self) -> list[int]:
        return np.flatnonzero(self.kinds_ == _NOMINAL).tolist()

    def _widths(self) -> list[int]:
        """Return the number of columns that each nominal column becomes."""
        if self.nominal == "ordinal":
            return [1] * len(self.other_)
        total = np.diff(self.kept_offsets_) + self.other_ + self.absent_
        return np.where(total == 2, 1, total).tolist()  # type: ignore[no-any-return]

    def _level_name(self, j: int, code: float) -> str:
        where = np.flatnonzero(self.categorical_features_ == j)
        if len(where):
            return str(self.levels_[self.level_offsets_[where[0]] + int(code)])
        return f"{code:g}"

    def _input_names(self, given: Any) -> list[str]:
        seen = getattr(self, "feature_names_in_", None)
        if given is None:
            if seen is not None:
                return [str(name) for name in seen]
            return [f"x{j}" for j in range(self.n_features_in_)]
        names = [str(name) for name in given]
        if seen is not None and names != [str(name) for name in seen]:
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}); got {len(names)}"
            )
        return names

    def _check_more(self) -> None:
        n_nominal, n_reals = len(self.other_), len(self.fill_)
        fits = n_nominal == (self.kinds_ == _NOMINAL).sum() == self.n_features_in_ - n_reals
        ensure(fits, "fill_ or other_ does not fit kinds_")
        ascending = all((np.diff(self._kept(c)) > 0).all() for c in range(n_nominal))
        ensure(ascending, "categories in kept_ are not ascending")
        for c, j in enumerate(self._nominals()):
            where = np.flatnonzero(self.categorical_features_ == j)
            if len(where):
                size = int(np.diff(self.level_offsets_)[where[0]])
                known = np.isin(self._kept(c), np.arange(size)).all()
                ensure(known, "a category in kept_ has no name")
        fits = self.n_features_out_ == n_reals + len(self.gaps_) + sum(self._widths())
        ensure(fits, "n_features_out_ does not fit")


def _columns(rows: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    if chosen.all():
        return rows.astype(np.float64, copy=False)
    return rows[:, chosen].astype(np.float64, copy=False)


def _bounded(statistic: Any, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a statistic per column that scales with its unit, even where plain sums overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.asarray(statistic(columns, axis=0))
    wrong = ~np.isfinite(found)
    if wrong.any():
        unit = np.abs(columns[:, wrong]).max(axis=0)
        found[wrong] = statistic(columns[:, wrong] / unit, axis=0) * unit
    return found
