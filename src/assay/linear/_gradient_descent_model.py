"""Base class of the gradient descent classifier and regressor."""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from assay.base import DataError, Estimator, check_n_jobs, check_random_state
from assay.base.stored import Array, Count, Plain, declared, each
from assay.linear._gradient_descent_solver import (
    STOPS,
    Binaries,
    Points,
    descend,
    histories,
    warn_if_unfinished,
)
from assay.linear._least_model import scores
from assay.linear._losses import loss_terms

Floats = NDArray[np.float64]

#: With more columns than this, the Hessian of a non-convex loss is not examined.
_MOST_COLUMNS: Final = 1000


class DescentModel(Estimator):
    """Parameters, iterates and histories of a linear model fitted by gradient descent."""

    takes_sparse = True
    coef_: Floats
    intercept_: Any  # a number for a regressor, an array for a classifier
    stored = declared(
        **each("n_iter_ t_", Count()),
        # Losses may be infinite, after a divergence.
        **each(
            "loss_history_ zero_one_history_",
            Array("problems?, n_iter_+1", dtype=np.float64, finite=False),
        ),
        gradient_norm_=Plain(float),
        stop_reason_=Plain(str),
        last_coef_=Array("problems, features", when="average"),
        last_intercept_=Array("problems", when="average"),
    )

    def _settings(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        return {**params, "n_threads": check_n_jobs(params["n_jobs"])}

    def _descend(
        self,
        rows: Any,
        problems: Binaries,
        coef_init: ArrayLike | None,
        intercept_init: ArrayLike | None,
    ) -> None:
        """Fit from a fresh start and store the results."""
        params = self._settings()
        generator = check_random_state(params["random_state"])
        seed = int(generator.randint(np.iinfo(np.int32).max))
        shape = (problems.count, rows.shape[1])
        if params["init"] == "normal":
            coef, intercept = generator.standard_normal(shape), np.zeros(shape[0])
        else:
            coef, intercept = np.zeros(shape), np.zeros(shape[0])
        if coef_init is not None:
            coef = _start("coef_init", coef_init, shape)
        if intercept_init is not None:
            intercept = _start("intercept_init", intercept_init, shape[:1])
        at = Points.start(coef, intercept)
        found = descend(rows, problems, params, at, seed=seed, first_step=0)
        self._keep(at, found)
        lengths = found["n_iter"] + 1
        self.loss_history_ = histories(found["loss_history"], lengths)
        self.zero_one_history_ = histories(found["zero_one_history"], lengths)
        self.n_iter_ = int(found["n_iter"].max())
        self.stop_reason_ = STOPS[int(found["stop"].max())]
        warn_if_unfinished(type(self).__name__, found, params)
        if params["loss"] == "squared_logistic" and rows.shape[1] <= _MOST_COLUMNS:
            self._examine_curvature(rows, problems)

    def _descend_further(self, rows: Any, problems: Binaries, *, first: bool) -> None:
        """Run one more iteration from the current weights."""
        params = {**self._settings(), "one_pass": True}
        generator = check_random_state(params["random_state"])
        seed = int(generator.randint(np.iinfo(np.int32).max))
        if first:
            shape = (problems.count, rows.shape[1])
            coef = generator.standard_normal(shape) if params["init"] == "normal" else None
            at = Points.start(np.zeros(shape) if coef is None else coef, np.zeros(shape[0]))
            self.t_, self.n_iter_ = 0, 0
        elif params["average"]:
            at = Points(
                self.last_coef_.copy(),
                self.last_intercept_.copy(),
                np.array(self._coef_rows()),
                np.array(self._intercept_rows()),
            )
        else:
            at = Points.start(np.array(self._coef_rows()), np.array(self._intercept_rows()))
        found = descend(rows, problems, params, at, seed=seed + self.t_, first_step=self.t_)
        self._keep(at, found)
        for name in ("loss_history", "zero_one_history"):
            part = histories(found[name], found["n_iter"] + 1)
            if not first:  # the start is the end of the previous call
                part = np.concatenate([getattr(self, name + "_"), part[..., -1:]], axis=-1)
            setattr(self, name + "_", part)
        self.n_iter_ += 1
        self.stop_reason_ = "diverged" if found["stop"].max() == 3 else "max_iter"
        if self.stop_reason_ == "diverged":
            warn_if_unfinished(type(self).__name__, found, params)

    def _keep(self, at: Points, found: dict[str, Any]) -> None:
        if self.average:
            self.last_coef_, self.last_intercept_ = at.coef, at.intercept
            self._set_coefficients(at.mean_coef, at.mean_intercept)
        else:
            self._set_coefficients(at.coef, at.intercept)
        self.t_ = int(found["n_steps"].max())
        self.gradient_norm_ = float(found["gradient_norm"].max())

    def _set_coefficients(self, coef: Floats, intercept: Floats) -> None:
        self.coef_, self.intercept_ = coef, intercept

    def _coef_rows(self) -> Floats:
        return np.atleast_2d(self.coef_)

    def _intercept_rows(self) -> Floats:
        return np.atleast_1d(self.intercept_)

    def _scores(self, X: ArrayLike) -> Floats:
        """Return the scores of rows, one column per problem."""
        rows = self._predict_data(X)
        return scores(rows, self._coef_rows(), self._intercept_rows(), check_n_jobs(self.n_jobs))

    def _examine_curvature(self, rows: Any, problems: Binaries) -> None:
        """Warn if the stationary point is a saddle point or a maximum, not a minimum."""
        lowest = np.inf
        table = rows.toarray() if issparse(rows) else rows
        columns = np.column_stack([table, np.ones(len(table))] if self.fit_intercept else [table])
        smooth = 2.0 * self.alpha if self.penalty == "l2" else 0.0
        stuck = False
        for k in range(problems.count):
            signs, weight = problems.signed(k)
            score = columns[:, : rows.shape[1]] @ self._coef_rows()[k] + self._intercept_rows()[k]
            bend = loss_terms("squared_logistic", signs, score)[2] * weight
            hessian = columns.T @ (columns * bend[:, None])
            hessian[np.diag_indices(rows.shape[1])] += smooth / 2
            values = np.linalg.eigvalsh(hessian)
            lowest = min(lowest, float(values[0]))
            stuck |= bool(values[0] < -1e-6 * np.abs(values).max())
        self.curvature_ = lowest
        if stuck and self.stop_reason_ in ("converged", "no_decrease"):
            self.stop_reason_ = "saddle"
            warnings.warn(
                f"{type(self).__name__} stopped where the gradient is zero but the Hessian "
                f"has a negative eigenvalue ({lowest:.2g}): a saddle point, a maximum or a "
                "plateau, not a minimum. Start elsewhere (init='normal' or coef_init)",
                ConvergenceWarning,
                stacklevel=4,
            )


def _start(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Floats:
    try:
        start = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must hold numbers only") from None
    if start.size != np.prod(shape):
        raise DataError(f"{name} must have shape {shape}; got {start.shape}")
    if not np.isfinite(start).all():
        raise DataError(f"{name} must hold finite numbers only")
    return np.ascontiguousarray(start.reshape(shape))
