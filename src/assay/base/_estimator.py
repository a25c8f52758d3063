"""The estimator contract, on scikit-learn's public base classes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from assay.base._checks import check_weight
from assay.base._errors import DataError, ParameterError, did_you_mean
from assay.base._frames import as_frame, check_finite, check_finite_sparse, float_matrix
from assay.base._names import check_names, learn_names
from assay.base._nominal import Levels, nominal_columns
from assay.base._state import (
    StateError,
    Value,
    check_depth,
    check_plain_params,
    digest,
    plain_value,
)
from assay.base._targets import class_codes, real_values
from assay.base.stored import (
    Array,
    Count,
    Integers,
    Offsets,
    Rule,
    check_more,
    check_stored,
    declared,
)

#: Number types that models use without conversion.
_FLOATS = (np.float64, np.float32)


@cache
def _parameters(cls: type) -> tuple[str, ...]:
    """Return the names of the parameters of a class, in alphabetical order."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    own = inspect.signature(cls).parameters.values()
    return tuple(sorted(each.name for each in own if each.kind not in kinds))


class Estimator(BaseEstimator):
    """Base of every estimator: checks its input, and keeps its fitted state in plain arrays.

    Attributes
    ----------
    model_id : int or None
        Unique number of the class in model files; None = cannot be saved.
    takes_missing : bool
        Whether NaN is accepted as a missing value; otherwise it raises an error.
    takes_nominal : bool
        Whether nominal columns are accepted without encoding. Such a class has a parameter
        `categorical_features`; its columns arrive as codes 0..L-1 (L = unseen in fit), and the
        fitted model has `categorical_features_`, `levels_` and `level_offsets_`.
    takes_sparse : bool
        Whether SciPy's sparse matrices are accepted; they arrive as CSR with sorted columns and
        without duplicates. Not together with `takes_nominal`.
    expected_failures : mapping of str to str
        Checks of the contract suite that cannot pass, each with the reason.
    stored : mapping of str to rule
        Rules for fitted attributes that a model file holds, besides those of the base classes; a
        method `_check_more` checks what rules cannot state.

    Examples
    --------
    >>> from assay.base import Regressor
    >>> class Mean(Regressor):
    ...     def fit(self, X, y):
    ...         _, values, _ = self._fit_data(X, y)
    ...         self.mean_ = values.mean()
    ...         return self
    ...
    ...     def predict(self, X):
    ...         return np.full(len(self._predict_data(X)), self.mean_)
    >>> model = Mean().fit([[0.0], [1.0]], [1.0, 2.0])
    >>> model.state()
    {'mean_': 1.5, 'n_features_in_': 1}
    >>> Mean.from_state({}, model.state()).predict([[7.0]])
    array([1.5])
    """

    model_id: ClassVar[int | None] = None
    takes_missing: ClassVar[bool] = False
    takes_nominal: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False
    expected_failures: ClassVar[Mapping[str, str]] = {}
    stored: ClassVar[Mapping[str, Rule]] = declared(
        n_features_in_=Count(1, 2**31 - 1),
        feature_names_in_=Array("features", kinds="O", optional=True),
        categorical_features_=Integers(
            "nominal", 0, "features-1", ascending=True, when="takes_nominal"
        ),
        levels_=Array("levels", kinds="U", when="takes_nominal"),
        level_offsets_=Offsets("nominal", "levels_", when="takes_nominal"),
    )

    n_features_in_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of nested models.

        Returns
        -------
        dict
        """
        # As scikit-learn's, but with cached signatures: a search calls this thousands of times.
        cls: type = type(self)
        found: dict[str, Any] = {}
        for name in _parameters(cls):
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inside = value.get_params(deep=True)
                found.update((f"{name}__{key}", each) for key, each in inside.items())
            found[name] = value
        return found

    def state(self) -> dict[str, Value]:
        """Return the fitted attributes: arrays, plain values, and models made of these.

        Returns
        -------
        dict of str to ndarray, int, float, bool, str, None, estimator or list of estimators
            By attribute name, in alphabetical order. Nothing is copied. Nested models are those
            of Assay, and those of scikit-learn that a model file can hold.

        Raises
        ------
        StateError
            If a parameter or an attribute cannot be stored as plain data.
        """
        check_is_fitted(self)
        check_plain_params(self.get_params(deep=False))
        check_depth(self)
        return {
            name: plain_value(name, value)
            for name, value in sorted(vars(self).items())
            if name.endswith("_") and not name.startswith("_")
        }

    @classmethod
    def from_state(cls, params: Mapping[str, Any], state: Mapping[str, Value]) -> Self:
        """Build a fitted model from its parameters and state, without running `fit`.

        Parameters
        ----------
        params : mapping of str to object
            As `get_params` returned them.
        state : mapping of str to value
            As `state` returned it.

        Returns
        -------
        Estimator
            Predicts bit for bit like the model that the state came from.

        Raises
        ------
        DataError
            If the state is not valid for this class.
        """
        known = inspect.signature(cls).parameters
        for name in params:
            if name not in known:
                raise DataError(
                    f"{cls.__name__} has no parameter {name!r}{did_you_mean(name, known)}"
                )
        model = cls(**params)
        for name, value in state.items():
            if not (name.isidentifier() and name.endswith("_") and not name.startswith("_")):
                raise DataError(f"the model is damaged: {name!r} is not a fitted attribute")
            if isinstance(getattr(cls, name, None), property):
                raise DataError(f"the model is damaged: {name!r} follows from other attributes")
            try:
                setattr(model, name, plain_value(name, value))
            except StateError as error:
                raise DataError(f"the model is damaged: {error}") from None
        names = getattr(model, "feature_names_in_", None)
        if isinstance(names, np.ndarray) and names.dtype.kind == "U":
            model.feature_names_in_ = names.astype(object)  # as scikit-learn has it
        model._check_state()
        return model

    @classmethod
    def _examples(cls) -> list[Self]:
        """Return the instances that the contract suite runs on."""
        return [cls()]

    def digest(self) -> str:
        """Return the SHA-256 of class, parameters and state.

        Parameters that do not change the model (`n_jobs`, `verbose`) are left out.
        """
        return digest(self, self.state())

    def _check_state(self) -> None:
        """Check a restored state: the rules in `stored`, then every `_check_more` of the class."""
        check_stored(self)
        check_more(self)

    def _fit_rows(self, X: Any, *, finite: bool = True) -> NDArray[Any]:
        """Check the training table and return it as a matrix; learns names and categories.

        Without `finite`, NaN and infinity are not checked here: a model whose first pass over the
        data finds them anyway calls `_check_finite` then, which saves a pass.
        """
        return self._rows(X, reset=True, finite=finite)

    def _check_finite(self, rows: NDArray[Any]) -> None:
        """Raise if training rows hold NaN or infinity, naming row and column."""
        names = getattr(self, "feature_names_in_", None)
        check_finite(rows, names, type(self).__name__, allow_nan=self.takes_missing)

    def _predict_data(self, X: Any) -> NDArray[Any]:
        """Check a table against the one seen in fit and return it as a matrix."""
        check_is_fitted(self)
        return self._rows(X, reset=False)

    def _table(self, X: Any, *, reset: bool, accept_sparse: bool = False) -> Any:
        """Check shape and names only and return the table for nested models, which check the rest.

        A dataframe stays as it is, so that a nested model still sees names and categories;
        anything else becomes an array of its own type, or a CSR matrix when `accept_sparse`.
        """
        if not reset:
            check_is_fitted(self)
        frame = as_frame(X)
        if frame is not None:
            (learn_names if reset else check_names)(self, frame.columns)
            if not len(frame):
                raise DataError("X has no rows (0 samples); at least 1 is required")
            return X
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                dtype=None,
                accept_sparse="csr" if accept_sparse else False,
                ensure_all_finite=False,
            )
        except ValueError as error:
            raise DataError(str(error)) from None

    def _rows(self, X: Any, *, reset: bool, finite: bool = True) -> NDArray[Any]:
        frame = as_frame(X)
        settings: dict[str, Any] = {
            "dtype": _FLOATS,
            "order": "C",
            "accept_sparse": "csr" if self.takes_sparse else False,
        }
        try:
            if frame is None and not self.takes_nominal:
                rows = self._validated(X, reset, **settings)
            else:
                rows = self._coded(X, frame, reset)
                if frame is not None:
                    rows = check_array(
                        rows, estimator=self, input_name="X", ensure_all_finite=False, **settings
                    )
            if issparse(rows):
                rows = _sorted_rows(rows)
                check_finite_sparse(rows, type(self).__name__, allow_nan=self.takes_missing)
            elif finite:
                names = None if frame is None else frame.columns
                check_finite(rows, names, type(self).__name__, allow_nan=self.takes_missing)
        except ParameterError:
            raise
        except ValueError as error:
            raise DataError(str(error)) from None
        return rows  # type: ignore[no-any-return]

    def _validated(self, X: Any, reset: bool, **settings: Any) -> Any:
        """Return X as scikit-learn's `validate_data` does, but without testing for finite values.

        A matrix that kernels can read directly skips the call: a search fits small tables
        thousands of times, and the checks would take longer than the fits.
        """
        is_matrix = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
        if (
            is_matrix
            and X.flags.c_contiguous
            and X.dtype in _FLOATS
            and not hasattr(self, "feature_names_in_")  # scikit-learn then compares names
            and (reset or X.shape[1] == self.n_features_in_)
        ):
            if reset:
                self.n_features_in_ = X.shape[1]
            return X
        return validate_data(self, X, reset=reset, ensure_all_finite=False, **settings)

    def _coded(self, X: Any, frame: nw.DataFrame[Any] | None, reset: bool) -> NDArray[Any]:
        """Return a dataframe, or an array with nominal columns, as numbers and category codes."""
        if frame is None:
            X = self._validated(X, reset, dtype=None)
        else:
            (learn_names if reset else check_names)(self, frame.columns)
        columns = self._nominal(X, frame, reset)
        if not columns:
            return self._matrix(X, frame, columns)
        levels = Levels(self.levels_, self.level_offsets_)
        is_own = frame is None and X.dtype == np.float64 and X.flags.c_contiguous
        if is_own and levels.are_codes(X, columns):
            return X  # type: ignore[no-any-return]  # nothing to replace: no copy
        rows = self._matrix(X, frame, columns)
        numbers = frame is None and X.dtype in _FLOATS  # they are in `rows` already
        for c in levels.put_codes(rows, columns) if numbers else range(len(columns)):
            rows[:, columns[c]] = levels.codes(c, _values(X, frame, columns[c]))
        return rows

    def _nominal(self, X: Any, frame: nw.DataFrame[Any] | None, reset: bool) -> list[int]:
        if not self.takes_nominal:
            return []
        if reset:
            columns = nominal_columns(self.categorical_features, self.n_features_in_, frame)
            levels = Levels.learn([_values(X, frame, j) for j in columns])
            self.categorical_features_ = columns
            self.levels_, self.level_offsets_ = levels.names, levels.offsets
        return self.categorical_features_.tolist()  # type: ignore[no-any-return]

    def _matrix(self, X: Any, frame: nw.DataFrame[Any] | None, columns: list[int]) -> NDArray[Any]:
        if frame is not None:
            return float_matrix(frame, frozenset(columns), type(self).__name__)
        if X.dtype in _FLOATS:
            if columns:  # the caller replaces its values
                return X.astype(np.float64, order="C")  # type: ignore[no-any-return]
            return np.ascontiguousarray(X)
        rows = np.full(X.shape, np.nan)
        others = np.setdiff1d(np.arange(X.shape[1]), columns)
        for j in others:
            rows[:, j] = _numbers(X[:, j], j)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        tags.input_tags.categorical = self.takes_nominal
        tags.input_tags.sparse = self.takes_sparse
        return tags


class Classifier(ClassifierMixin, Estimator):
    """Base of all classifiers: class codes 0..K-1 inside, the user's labels outside."""

    stored = declared(classes_=Array("classes", kinds="biufU", ascending=True, filled=True))

    def _fit_data(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64] | None]:
        """Check training data; set `classes_`; return rows, class codes and weights."""
        _need_target(self, y)
        rows = self._fit_rows(X)
        self.classes_, codes = class_codes(y)
        _same_length(rows, codes)
        return rows, codes, check_weight(sample_weight, rows)


class Regressor(RegressorMixin, Estimator):
    """Base of all regressors."""

    def _fit_data(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        multi_output: bool = False,
        finite: bool = True,
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64] | None]:
        """Check training data; return rows, target values and weights; see `_fit_rows`."""
        _need_target(self, y)
        rows = self._fit_rows(X, finite=finite)
        values = real_values(y, multi_output=multi_output)
        _same_length(rows, values)
        return rows, values, check_weight(sample_weight, rows)


class Transformer(TransformerMixin, Estimator):
    """Base of all transformers; `set_output` works once `get_feature_names_out` is there."""

    def _fit_data(self, X: Any) -> NDArray[Any]:
        """Check a training table without a target; return its rows."""
        return self._fit_rows(X)


class Clusterer(ClusterMixin, Estimator):
    """Base of all clusterers: `labels_` are 0..K-1, and -1 for rows without a cluster."""

    def _fit_data(
        self, X: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Check a training table without a target; return its rows and weights."""
        rows = self._fit_rows(X)
        return rows, check_weight(sample_weight, rows)


def _need_target(estimator: Estimator, y: object) -> None:
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )


def _same_length(rows: NDArray[Any], targets: NDArray[Any]) -> None:
    try:
        check_consistent_length(rows, targets)
    except ValueError:
        raise DataError(
            f"X has {rows.shape[0]} rows but y has {len(targets)}; each row needs one target "
            "(inconsistent numbers of samples)"
        ) from None


def _sorted_rows(rows: Any) -> Any:
    """Return a CSR matrix as kernels need it; the caller's matrix is never changed."""
    if rows.has_canonical_format:
        return rows
    rows = rows.copy()
    rows.sum_duplicates()  # sorts the columns, too
    return rows


def _numbers(column: NDArray[Any], j: int) -> NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except ValueError:
        text = next(item for item in column.tolist() if not _is_number(item))
        raise DataError(
            f"column {j} of X holds {text!r}, which is not a number (could not convert string to "
            "float); name nominal columns in categorical_features, or pass a dataframe"
        ) from None


def _is_number(item: object) -> bool:
    try:
        float(item)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _values(X: Any, frame: nw.DataFrame[Any] | None, j: int) -> NDArray[Any]:
    if frame is None:
        return X[:, j]  # type: ignore[no-any-return]
    return list(frame.iter_columns())[j].to_numpy()
