"""Base class of all kernel machines: input checks, support vectors and kernel values."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from assay.base import DataError, Estimator, ParameterError
from assay.base.stored import Array, Count, Integers, Number, Offsets, declared, ensure
from assay.svm import engine
from assay.svm._binary import PRECOMPUTED, Table
from assay.svm._gram import gram_of_function, is_items
from assay.svm._kernel import check_kernel_params, resolve
from assay.svm._mercer import require_gram

_KEPT = ("vectors_", "vectors_data_", "vectors_indices_", "vectors_indptr_", "items_")


def _is_sparse(model: Any) -> bool:
    return hasattr(model, "vectors_data_") and model.kernel != "precomputed"


def _is_dense(model: Any) -> bool:
    return not hasattr(model, "vectors_data_") and model.kernel != "precomputed"


class KernelMachine(Estimator):
    """Accepts tables, CSR matrices, Gram matrices, or items that are not rows of numbers.

    A subclass has the parameters `kernel`, `degree`, `gamma`, `coef0`, `sigma`,
    `sigma_convention` and `check_kernel`, and the fitted attributes `support_`, `gamma_` and
    `n_samples_fit_`. The support vectors are stored according to the type of X:

    - ``vectors_``: a matrix;
    - ``vectors_data_``, ``vectors_indices_``, ``vectors_indptr_``: the arrays of a CSR matrix;
    - ``items_``: a list, for a kernel that is a function of items;
    - nothing for ``kernel='precomputed'``: `support_` gives the columns to use.
    """

    takes_sparse: ClassVar[bool] = True

    # The parameters, for the type checker; a subclass's __init__ sets them.
    kernel: Any
    check_kernel: bool
    support_: NDArray[np.int32]
    n_samples_fit_: int
    gamma_: float
    stored = declared(
        n_samples_fit_=Count(1),
        gamma_=Number(above=0),
        support_=Integers("support", 0, "n_samples_fit_-1"),
        vectors_=Array("support, features", when=_is_dense),
        vectors_data_=Array("entries", when=_is_sparse),
        vectors_indices_=Integers("entries", 0, "features-1", when=_is_sparse),
        vectors_indptr_=Offsets("support", "vectors_data_", when=_is_sparse),
    )

    @property
    def support_vectors_(self) -> Any:
        """The training rows used in predictions: a matrix, a CSR matrix or a list of items."""
        if hasattr(self, "items_"):
            return self.items_
        if hasattr(self, "vectors_data_"):
            parts = (self.vectors_data_, self.vectors_indices_, self.vectors_indptr_)
            return csr_matrix(parts, shape=(len(self.support_), self.n_features_in_))
        if hasattr(self, "vectors_"):
            return self.vectors_
        if self.kernel == "precomputed" and hasattr(self, "support_"):
            return np.empty((0, 0))
        raise AttributeError(f"{type(self).__name__} has no support_vectors_ before fit")

    @property
    def shape_fit_(self) -> tuple[int, ...]:
        """The shape of the training table."""
        if hasattr(self, "items_"):
            return (self.n_samples_fit_,)
        return (self.n_samples_fit_, self.n_features_in_)

    def _check_kernel_params(self) -> None:
        check_kernel_params(vars(self))
        if not isinstance(self.check_kernel, (bool, np.bool_)):
            raise ParameterError(f"check_kernel must be True or False; got {self.check_kernel!r}")

    def _rows(self, X: Any, *, reset: bool, finite: bool = True) -> NDArray[Any]:
        if callable(self.kernel) and is_items(X):
            items = np.empty(len(X), dtype=object)
            items[:] = list(X)
            if not len(items):
                raise DataError("X has no rows (0 samples); at least 1 is required")
            return items
        if self.kernel == "precomputed" and issparse(X):
            raise DataError(
                "X is sparse: a precomputed kernel matrix must be dense (call X.toarray())"
            )
        return super()._rows(X, reset=reset, finite=finite)

    def _training_table(self, rows: Any, weight: NDArray[np.float64] | None) -> Table:
        """Return the training rows in the engine's form."""
        gram = self._gram(rows)
        if gram is not None:
            return Table(PRECOMPUTED, gram)
        return Table(resolve(vars(self), rows, weight), rows)

    def _gram(self, rows: NDArray[Any]) -> NDArray[Any] | None:
        """Return the checked training Gram matrix, computed by the function or passed in."""
        if callable(self.kernel):
            gram: NDArray[Any] = gram_of_function(self.kernel, rows, rows)
        elif self.kernel == "precomputed":
            gram = rows
            if gram.shape[0] != gram.shape[1]:
                raise DataError(
                    f"the Gram matrix must be square, one row and one column for each of the "
                    f"training rows; got shape {gram.shape}"
                )
        else:
            return None
        if self.check_kernel:
            require_gram(gram)
        return gram

    def _keep(self, rows: Any, index: NDArray[np.int32]) -> None:
        """Store the rows used in predictions."""
        for name in _KEPT:
            if hasattr(self, name):
                delattr(self, name)
        self.support_ = index
        self.n_samples_fit_ = rows.shape[0]
        if self.kernel == "precomputed":
            return
        if rows.dtype.kind == "O":
            self.items_ = rows[index].tolist()
        elif issparse(rows):
            kept = rows[index]
            kept.sort_indices()
            self.vectors_data_ = kept.data
            self.vectors_indices_ = kept.indices.astype(np.int32, copy=False)
            self.vectors_indptr_ = kept.indptr.astype(np.int64, copy=False)
        else:
            self.vectors_ = np.ascontiguousarray(rows[index])

    def _queries(self, X: Any) -> Queries:
        """Check the rows to predict and prepare them."""
        rows = self._predict_data(X)
        if self.kernel == "precomputed":
            # The number of columns was checked against the training rows.
            return Queries(None, rows[:, self.support_], None)
        vectors = self.support_vectors_
        if callable(self.kernel):
            if len(self.support_) == 0:
                return Queries(None, np.empty((rows.shape[0], 0)), None)
            return Queries(None, gram_of_function(self.kernel, rows, vectors), None)
        if issparse(rows) != issparse(vectors):
            dense: Any = rows
            rows = dense.toarray() if issparse(rows) else csr_matrix(rows)
        return Queries(self._engine_kernel(), rows, vectors)

    def _engine_kernel(self) -> engine.Kernel:
        params = vars(self)
        return engine.Kernel(
            params["kernel"],
            gamma=self.gamma_,
            coef0=float(params["coef0"]),
            degree=int(params["degree"]),
        )

    def _check_more(self) -> None:
        self._check_kernel_params()
        if self.kernel == "precomputed":
            square = self.n_features_in_ == self.n_samples_fit_
            ensure(square, "the training Gram matrix was not square")
        elif _is_sparse(self):
            ensure(not hasattr(self, "vectors_"), "its support vectors are both dense and sparse")
            ascending = self.support_vectors_.has_canonical_format
            ensure(ascending, "vectors_indices_ is not ascending in each row")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags


class Queries:
    """Rows to predict: with their kernel values, or with what the engine needs to compute them."""

    def __init__(self, kernel: engine.Kernel | None, rows: Any, vectors: Any) -> None:
        self.kernel = kernel
        self.rows = rows
        self.vectors = vectors

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def sums(
        self, coef: NDArray[np.float64], part: slice = slice(None), n_threads: int = 1
    ) -> NDArray[np.float64]:
        """Return sum_v k(x, v) coef_v over the stored rows of `part`, for each column of `coef`."""
        if not len(coef):
            return np.zeros((len(self), coef.shape[1]))
        if self.kernel is None:
            return np.asarray(self.rows[:, part] @ coef, dtype=np.float64)
        none = np.zeros(coef.shape[1])
        return engine.decide(
            self.kernel,
            self.rows,
            self.vectors[part],
            np.ascontiguousarray(coef),
            none,
            n_threads=n_threads,
        )
