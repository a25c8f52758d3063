"""Base class of the lasso and the elastic net."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from assay.base import (
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Array, Integers, OneOf, declared, ensure
from assay.linear._least_lasso import (
    LassoPath,
    LassoSettings,
    lasso_solutions,
    warn_unless_converged,
)
from assay.linear._least_lasso_path import LassoCandidates
from assay.linear._least_model import LinearModel

STOPPED = ("converged", "max_iter")


class SparseLinearModel(LinearModel):
    """A linear model with sparse weights."""

    assay_path: ClassVar[LassoCandidates] = LassoCandidates()

    alpha: float
    fit_intercept: bool
    precompute: bool | ArrayLike
    copy_X: bool
    max_iter: int
    tol: float
    warm_start: bool
    positive: bool
    random_state: int | np.random.RandomState | None
    selection: str
    n_jobs: int | None
    stored = declared(
        dual_gap_=Array("| targets"), n_iter_=Integers("| targets", 0), stop_reason_=OneOf(STOPPED)
    )

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn weights and intercept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets; each is fitted separately.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row's squared error; only their ratios matter.

        Returns
        -------
        SparseLinearModel
            The fitted model.
        """
        self._check_params()
        before = self._start()
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        self._check_precompute(rows.shape[1])
        targets = values[:, None] if values.ndim == 1 else values
        if before is not None and before.shape != (targets.shape[1], rows.shape[1]):
            before = None
        parts = [
            lasso_solutions(
                rows,
                np.ascontiguousarray(targets[:, t]),
                weight,
                np.array([float(self.alpha)]),
                self._settings(),
                None if before is None else before[t],
            )
            for t in range(targets.shape[1])
        ]
        self._keep(parts)
        return self

    @property
    def sparse_coef_(self) -> Any:
        """The weights as a sparse matrix of shape (n_targets, n_features)."""
        return csr_matrix(np.atleast_2d(self.coef_))

    @property
    def duality_gap_(self) -> float | NDArray[np.float64]:
        """Same as `dual_gap_`."""
        return self.dual_gap_

    def _ratio(self) -> float:
        """Return the share of the L1 norm in the penalty."""
        return 1.0

    def _settings(self) -> LassoSettings:
        return LassoSettings(
            self._ratio(),
            self.fit_intercept,
            self.positive,
            float(self.tol),
            int(self.max_iter),
            check_n_jobs(self.n_jobs),
        )

    def _start(self) -> NDArray[np.float64] | None:
        if self.warm_start and hasattr(self, "coef_"):
            return np.atleast_2d(self.coef_)
        return None

    def _keep(self, parts: list[LassoPath]) -> None:
        """Store one solution per target."""
        coef, offset, gap, n_iter = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("coef", "intercept", "gap", "n_iter")
        )
        flat = len(parts) == 1
        self._store(coef, offset, flat=flat)
        self.dual_gap_ = float(gap[0]) if flat else gap
        self.n_iter_ = int(n_iter[0]) if flat else n_iter
        done = all(part.converged.all() for part in parts)
        self.stop_reason_ = "converged" if done else "max_iter"
        name = type(self).__name__
        warn_unless_converged(name, parts, self.max_iter, self.tol, stacklevel=3)

    def _check_params(self) -> None:
        check_interval("alpha", self.alpha, 0, open_high=True)
        check_interval("l1_ratio", self._ratio(), 0, 1)
        check_option("fit_intercept", self.fit_intercept, [True, False])
        check_option("copy_X", self.copy_X, [True, False])
        check_interval("max_iter", self.max_iter, 1, 2**31 - 1, integer=True)
        check_interval("tol", self.tol, 0)
        check_option("warm_start", self.warm_start, [True, False])
        check_option("positive", self.positive, [True, False])
        check_random_state(self.random_state)
        check_option("selection", self.selection, ["cyclic", "random"])
        check_n_jobs(self.n_jobs)
        if not isinstance(self.precompute, np.ndarray):
            check_option("precompute", self.precompute, [True, False])

    def _check_precompute(self, n_features: int) -> None:
        if isinstance(self.precompute, np.ndarray) and self.precompute.shape != (
            n_features,
            n_features,
        ):
            raise ParameterError(
                "precompute must be True, False or the products of the columns, shape "
                f"({n_features}, {n_features}); got shape {self.precompute.shape}"
            )

    def _check_more(self) -> None:
        fits = np.ndim(self.dual_gap_) == np.ndim(self.n_iter_) == self.coef_.ndim - 1
        ensure(fits, f"{type(self).__name__}.dual_gap_ or n_iter_ does not fit coef_")
