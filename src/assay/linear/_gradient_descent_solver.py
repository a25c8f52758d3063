"""Call the core's gradient descent: settings in, iterates and histories out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from assay._core import linear as kernels
from assay.base import DataError, ParameterError, check_interval, check_option
from assay.linear._losses import CURVATURES, LOSSES
from assay.linear._penalties import PENALTIES, Penalty

METHODS: Final = ("batch", "coordinate", "stochastic", "minibatch")
#: Position in the core's list (core/include/assay/linear/schedule.hpp, ScheduleKind).
SCHEDULES: Final = {
    "constant": 0,
    "inverse_time": 1,
    "slow": 2,
    "inverse_scaling": 3,
    "line_search": 4,
}
#: The core's DescentStop, mildest first.
STOPS: Final = ("converged", "no_decrease", "max_iter", "diverged")

Floats = NDArray[np.float64]


def learning_rate(schedule: str, t: int, *, eta0: float = 1.0, power_t: float = 0.5) -> float:
    r"""Return the step size of a learning-rate schedule at step t = 0, 1, 2, ...

    Parameters
    ----------
    schedule : {'constant', 'inverse_time', 'slow', 'inverse_scaling'}
        :math:`\eta_0`; :math:`\eta_0 / (t + 1)`; :math:`\eta_0 \, 1000 / (1000 + t)`;
        :math:`\eta_0 / (t + 1)^{power\_t}`.
    t : int >= 0
        Number of steps made so far.
    eta0 : float > 0, default=1.0
        Size of the first step.
    power_t : float >= 0, default=0.5
        Exponent of 'inverse_scaling'.

    Returns
    -------
    float

    Examples
    --------
    >>> from assay.linear import learning_rate
    >>> learning_rate("slow", 0), learning_rate("slow", 1000)
    (1.0, 0.5)
    """
    check_option("schedule", schedule, [name for name in SCHEDULES if name != "line_search"])
    check_interval("t", t, 0, integer=True)
    check_interval("eta0", eta0, 0, open_low=True)
    check_interval("power_t", power_t, 0)
    return kernels.schedule_step(SCHEDULES[schedule], eta0, power_t, t)


def check_settings(params: dict[str, Any], losses: tuple[str, ...]) -> None:
    """Raise unless the parameters are valid, alone and together."""
    check_option("loss", params["loss"], losses)
    check_option("penalty", params["penalty"], PENALTIES)
    check_option("method", params["method"], METHODS)
    check_option("schedule", params["schedule"], ["auto", *SCHEDULES])
    check_option("penalty_step", params["penalty_step"], ["proximal", "subgradient"])
    check_option("init", params["init"], ["zeros", "normal"])
    check_interval("alpha", params["alpha"], 0, open_high=True)
    check_interval("l1_ratio", params["l1_ratio"], 0, 1)
    check_interval("p", params["p"], 1, open_high=True)
    check_interval("delta", params["delta"], 0, open_low=True)
    check_interval("eta0", params["eta0"], 0, open_low=True, open_high=True, options=["auto"])
    check_interval("power_t", params["power_t"], 0, open_high=True)
    check_interval("max_iter", params["max_iter"], 1, integer=True)
    check_interval("tol", params["tol"], 0, open_high=True)
    check_interval("n_iter_no_change", params["n_iter_no_change"], 1, integer=True)
    check_interval("batch_size", params["batch_size"], 1, integer=True)
    for name in ("fit_intercept", "shuffle", "average"):
        check_option(name, params[name], [True, False])
    random_rows = params["method"] in ("stochastic", "minibatch")
    if random_rows and params["schedule"] == "line_search":
        raise ParameterError(
            "schedule must not be 'line_search' with method='stochastic' or 'minibatch', whose "
            "steps use a few rows only; use 'inverse_scaling', 'inverse_time', 'slow' or 'constant'"
        )
    if params["average"] and not random_rows:
        raise ParameterError(
            "average must be False unless method is 'stochastic' or 'minibatch'; got True"
        )


def csr_arrays(rows: Any) -> tuple[Any, ...]:
    """Return a table in the form the core expects: one dense matrix, or CSR arrays and a width."""
    if not issparse(rows):
        return (rows,)
    limit = np.iinfo(np.int32).max
    if rows.nnz > limit or rows.shape[1] > limit:
        raise DataError(f"X has {rows.nnz} stored values; at most {limit} can be used")
    indices = rows.indices.astype(np.int32, copy=False)
    return rows.data, indices, rows.indptr.astype(np.int32, copy=False), rows.shape[1]


def transposed(rows: Any) -> Any:
    """Return the transpose with contiguous rows (the columns of the table)."""
    return rows.T.tocsr() if issparse(rows) else np.ascontiguousarray(rows.T)


def mean_square(rows: Any, weight: Floats) -> float:
    """Return the weighted mean of the squared length of a row."""
    squares = (
        rows.multiply(rows).sum(axis=1) if issparse(rows) else np.einsum("ij,ij->i", rows, rows)
    )
    return float(np.average(np.asarray(squares, dtype=np.float64).ravel(), weights=weight))


@dataclass(frozen=True)
class Binaries:
    """The targets of the binary problems over the same rows; without positives: a regression."""

    targets: Floats
    weight: Floats
    positives: Floats
    positive_weight: Floats
    negative_weight: Floats

    @classmethod
    def of_values(cls, values: Floats, weight: Floats | None) -> Binaries:
        """Return the one problem of a regression."""
        none = np.empty(0)
        return cls(values, _weight(weight, len(values)), none, none, none)

    @classmethod
    def of_codes(
        cls, codes: NDArray[np.int64], weight: Floats | None, class_weight: Floats
    ) -> Binaries:
        """Return one problem for two classes, else one per class against all others."""
        n_classes = len(class_weight)
        positives = np.arange(n_classes, dtype=np.float64)
        positive_weight, negative_weight = class_weight, np.ones(n_classes)
        if n_classes == 2:
            positives = positives[1:]
            positive_weight, negative_weight = class_weight[1:], class_weight[:1]
        targets = codes.astype(np.float64)
        return cls(
            targets, _weight(weight, len(codes)), positives, positive_weight, negative_weight
        )

    @property
    def count(self) -> int:
        """Number of problems."""
        return max(1, len(self.positives))

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """The arguments of the core."""
        return (
            self.targets,
            self.weight,
            self.positives,
            self.positive_weight,
            self.negative_weight,
        )

    def check_two_sides(self) -> None:
        """Raise if all weight of a problem is on one class."""
        for positive in self.positives:
            inside = self.weight[self.targets == positive].any()
            outside = self.weight[self.targets != positive].any()
            if not (inside and outside):
                raise DataError(
                    "only one class has rows of positive sample_weight; at least 2 classes are "
                    "needed"
                )

    def rows(self, counted: NDArray[np.bool_]) -> Binaries:
        """Return the problems restricted to some of the rows."""
        return Binaries(
            self.targets[counted],
            self.weight[counted],
            self.positives,
            self.positive_weight,
            self.negative_weight,
        )

    def signed(self, k: int) -> tuple[Floats, Floats]:
        """Return labels -1 and +1 of problem k and its row weights, which sum to 1."""
        positive = self.targets == self.positives[k]
        scale = np.where(positive, self.positive_weight[k], self.negative_weight[k])
        weight = self.weight * scale
        return np.where(positive, 1.0, -1.0), weight / weight.sum()


@dataclass(frozen=True)
class Points:
    """Current weights and intercepts, one row per problem, and their running averages."""

    coef: Floats
    intercept: Floats
    mean_coef: Floats
    mean_intercept: Floats

    @classmethod
    def start(cls, coef: Floats, intercept: Floats) -> Points:
        """Return a starting point with empty averages."""
        return cls(coef, intercept, np.zeros_like(coef), np.zeros_like(intercept))


def descend(
    rows: Any, problems: Binaries, params: dict[str, Any], at: Points, *, seed: int, first_step: int
) -> dict[str, Any]:
    """Run gradient descent from a starting point; `Points` is changed in place."""
    method = params["method"]
    one_pass = params.get("one_pass", False)
    schedule = params["schedule"]
    if schedule == "auto":
        searched = method in ("batch", "coordinate")
        schedule = "line_search" if searched else "inverse_scaling"
    penalty = Penalty.of(params["penalty"], params["alpha"], params["l1_ratio"], params["p"])
    options = kernels.DescentOptions(
        loss=LOSSES[params["loss"]],
        delta=float(params["delta"]),
        penalty=penalty.kind,
        strength=penalty.strength,
        shape=penalty.shape,
        schedule=SCHEDULES[schedule],
        eta0=_first_step_size(rows, problems.weight, params),
        power=float(params["power_t"]),
        fit_intercept=bool(params["fit_intercept"]),
        proximal=params["penalty_step"] == "proximal",
        max_iter=1 if one_pass else params["max_iter"],
        tol=float(params["tol"]),
        min_decrease=float(params["tol"]),
        patience=params["n_iter_no_change"],
        batch_size=params["batch_size"] if method == "minibatch" else 1,
        shuffle=bool(params["shuffle"]),
        average=bool(params["average"]),
        seed=seed,
        first_step=first_step,
    )
    table = transposed(rows) if method == "coordinate" else rows
    run: Any = kernels.descend  # the overload is only known at run time
    found: dict[str, Any] = run(
        *csr_arrays(table),
        {"batch": 0, "coordinate": 1}.get(method, 2),
        *problems.arrays,
        options,
        at.coef,
        at.intercept,
        at.mean_coef,
        at.mean_intercept,
        n_threads=params["n_threads"],
    )
    return found


def histories(flat: Floats, lengths: NDArray[np.int64]) -> Floats:
    """Return the histories of several problems as rows, padded with their last value."""
    if len(lengths) == 1:
        return flat
    table = np.empty((len(lengths), int(lengths.max())))
    for row, part in zip(table, np.split(flat, np.cumsum(lengths)[:-1]), strict=True):
        row[: len(part)], row[len(part) :] = part, part[-1]
    return table


def warn_if_unfinished(owner: str, found: dict[str, Any], params: dict[str, Any]) -> None:
    """Warn when the fit ended early, with the cause and the remedy."""
    stop = STOPS[int(found["stop"].max())]
    if stop == "max_iter":
        warnings.warn(
            f"{owner} did not converge in max_iter={params['max_iter']} iterations: the gradient "
            f"is {found['gradient_norm'].max():.2g} in units of the columns. Scale the columns, "
            "raise max_iter, or raise tol",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif stop == "diverged":
        warnings.warn(
            f"{owner} diverged: the loss overflowed, so the best point before that is kept. "
            "Lower eta0, scale the columns, or use schedule='line_search'",
            ConvergenceWarning,
            stacklevel=4,
        )


def _weight(weight: Floats | None, n: int) -> Floats:
    return np.ones(n) if weight is None else weight


def _first_step_size(rows: Any, weight: Floats, params: dict[str, Any]) -> float:
    """Return eta0; 'auto' is the inverse of the largest curvature that a step can meet."""
    if params["eta0"] != "auto":
        return float(params["eta0"])
    bound = CURVATURES[params["loss"]] * (mean_square(rows, weight) + 1.0)
    return 1.0 / bound
