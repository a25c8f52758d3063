"""Call the core's logistic regression solver from parameters and checked data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning

from assay._core import linear as kernels
from assay.base import DataError, ParameterError, check_interval, check_option, check_random_state

SOLVERS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
STOPS = ("converged", "max_iter", "separated", "stalled")
# The core's numbers of the methods; 0 chooses by size.
_METHODS = {"newton-cholesky": 1, "newton-cg": 2}


@dataclass(frozen=True)
class Strength:
    """A penalty for the sum of the losses: l1 ||w||_1 + l2/2 ||w||^2."""

    l1: float
    l2: float


@dataclass(frozen=True)
class Solution:
    """Coefficients for one penalty, with their optimality certificate.

    Gradient norm and duality gap refer to the objective divided by the sum of the weights.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    n_iter: int
    gradient_norm: float
    duality_gap: float | None
    stop_reason: str


def strength_of(params: Mapping[str, Any]) -> Strength:
    """Check `penalty`, `C` and `l1_ratio` and return the penalty they define."""
    penalty, C, ratio = params["penalty"], params["C"], params["l1_ratio"]
    check_option("penalty", penalty, ("auto", "l1", "l2", "elasticnet", None, "deprecated"))
    check_interval("C", C, 0.0, open_low=True)
    check_interval("l1_ratio", ratio, 0.0, 1.0, options=[None])
    if penalty is None or np.isinf(C):
        return Strength(0.0, 0.0)
    if penalty in ("l1", "l2"):
        ratio = 1.0 if penalty == "l1" else 0.0
    elif penalty == "elasticnet" and ratio is None:
        raise ParameterError("penalty='elasticnet' needs l1_ratio, a number in [0, 1]; got None")
    ratio = 0.0 if ratio is None else float(ratio)
    return Strength(ratio / float(C), (1.0 - ratio) / float(C))


def check_settings(params: Mapping[str, Any]) -> None:
    """Check the parameters of the solver."""
    check_option("solver", params["solver"], SOLVERS)
    check_interval("tol", params["tol"], 0.0, open_low=True, open_high=True)
    check_interval("max_iter", params["max_iter"], 1, integer=True)
    for name in ("fit_intercept", "dual", "warm_start"):
        check_option(name, params[name], (True, False))
    check_interval("intercept_scaling", params["intercept_scaling"], 0.0, open_low=True)
    check_interval("verbose", params["verbose"], 0, integer=True, options=[True, False])
    check_random_state(params["random_state"])


def class_weights(
    given: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the weight of every row: its own times that of its class.

    'balanced' gives all classes the same total: W / (K W_k), W_k the sum of the weights of class k.
    """
    rows = np.ones(len(codes)) if weight is None else weight
    sums = np.bincount(codes, weights=rows, minlength=len(classes))
    if (sums == 0).any():
        empty = classes[sums == 0][0]
        raise DataError(
            f"all rows of class {empty} have weight 0, so its probability cannot be learned; "
            "leave these rows out of the table"
        )
    if given is None:
        return rows
    if isinstance(given, str):
        check_option("class_weight", given, ("balanced", None))
        factor = sums.sum() / (len(classes) * sums)
    elif isinstance(given, Mapping):
        labels = classes.tolist()
        unknown = [label for label in given if label not in labels]
        if unknown:
            raise ParameterError(
                f"class_weight must name classes of y; got {unknown[0]!r}, which is not one of them"
            )
        factor = np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)
        if not (np.isfinite(factor) & (factor > 0)).all():
            raise ParameterError(f"class_weight must hold finite numbers > 0; got {given!r}")
    else:
        raise ParameterError(f"class_weight must be a dict, 'balanced' or None; got {given!r}")
    scaled: NDArray[np.float64] = rows * factor[codes]
    return scaled


def solve_path(
    rows: Any,
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_classes: int,
    strengths: Sequence[Strength],
    settings: Mapping[str, Any],
    n_threads: int,
    start: NDArray[np.float64] | None = None,
) -> list[Solution]:
    """Return the solution for each penalty, started from an extrapolation of the previous ones.

    Solutions of L2 penalties are a smooth curve over log l2: a parabola through the last three is
    closer to the next one than the last one is. Other penalties start from the last one.
    """
    if len(strengths) < 3 or any(each.l1 > 0 or each.l2 == 0 for each in strengths):
        return solve(rows, codes, weight, n_classes, strengths, settings, n_threads, start)
    found: list[Solution] = []
    at: list[float] = []
    known: list[NDArray[np.float64]] = []
    for strength in strengths:
        where = float(np.log(strength.l2))
        begin = _pointed(at, known, where) if known else start
        one = solve(rows, codes, weight, n_classes, [strength], settings, n_threads, begin)[0]
        found.append(one)
        if where not in at[-1:]:
            at, known = (
                [*at, where][-3:],
                [*known, np.column_stack([one.coef, one.intercept])][-3:],
            )
    return found


def _pointed(
    at: Sequence[float], known: Sequence[NDArray[np.float64]], where: float
) -> NDArray[np.float64]:
    """Extrapolate the polynomial through the known points; if that is far off, the last one."""
    widest = max((abs(b - a) for a, b in pairwise(at)), default=0.0)
    if abs(where - at[-1]) > 1.5 * widest:
        return known[-1]
    total = np.zeros_like(known[0])
    for i, value in enumerate(known):
        others = [at[j] for j in range(len(at)) if j != i]
        total += value * np.prod([(where - other) / (at[i] - other) for other in others])
    return total


def solve(
    rows: Any,
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_classes: int,
    strengths: Sequence[Strength],
    settings: Mapping[str, Any],
    n_threads: int,
    start: NDArray[np.float64] | None = None,
) -> list[Solution]:
    """Return the solution for each penalty, in turn on one packed table.

    `start` holds coefficients and, as the last column, intercepts, one row per output.
    """
    total = float(weight.sum())
    n_features = rows.shape[1]
    rest: dict[str, Any] = {
        "codes": codes.astype(np.int32),
        "weight": weight / total,
        "n_classes": n_classes,
        "l1": np.array([each.l1 / total for each in strengths]),
        "l2": np.array([each.l2 / total for each in strengths]),
        "start": np.empty((0, 0)) if start is None else np.ascontiguousarray(start),
        "intercept": bool(settings["fit_intercept"]),
        "method": _METHODS.get(settings["solver"], 0),
        "max_iter": int(settings["max_iter"]),
        "tol": float(settings["tol"]),
        "n_threads": n_threads,
    }
    if issparse(rows):
        values = np.ascontiguousarray(rows.data, dtype=np.float64)
        found = kernels.logistic_sparse(
            values, rows.indices, rows.indptr, n_features=n_features, **rest
        )
    else:
        found = kernels.logistic(np.ascontiguousarray(rows, dtype=np.float64), **rest)
    n_outputs = 1 if n_classes == 2 else n_classes
    coefs = found["coef"].reshape(len(strengths), n_outputs, n_features)
    intercepts = found["intercept"].reshape(len(strengths), n_outputs)
    return [
        Solution(
            coefs[i],
            intercepts[i],
            int(found["n_iter"][i]),
            float(found["gradient_norm"][i]),
            float(found["gap"][i]) if each.l1 > 0 else None,
            STOPS[found["stop"][i]],
        )
        for i, each in enumerate(strengths)
    ]


def probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each class from log-odds, or from one score per class."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return softmax(scores, axis=1)  # type: ignore[no-any-return]


def warn_if_wide(strength: Strength, n_samples: int, n_features: int) -> None:
    """Warn when a classifier without penalty has as many columns as rows."""
    if strength.l1 == strength.l2 == 0 and n_features >= n_samples:
        warnings.warn(
            f"LogisticRegression has no penalty, but {n_features} columns for {n_samples} rows: "
            "it can fit any labels exactly, and will do poorly on new rows. Set a finite C "
            "(C=1.0 is the default), or fewer columns.",
            UserWarning,
            stacklevel=4,
        )


def warn_if_unfinished(solution: Solution, settings: Mapping[str, Any]) -> None:
    """Warn, with cause and remedy, when the solution is not the minimum."""
    reached = f"largest gradient {solution.gradient_norm:.1e}, tol={settings['tol']:g}"
    if solution.stop_reason == "separated":
        warnings.warn(
            "LogisticRegression without penalty: the classes are separated, perfectly or in some "
            "direction, so the coefficients of the best fit are infinite. The search was stopped "
            f"after {solution.n_iter} steps; the probabilities are overconfident. Set a "
            "finite C (C=1.0 is the default).",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif solution.stop_reason == "max_iter":
        warnings.warn(
            f"LogisticRegression did not converge in max_iter={settings['max_iter']} steps "
            f"({reached}). Raise max_iter, or lower C.",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif solution.stop_reason == "stalled":
        warnings.warn(
            f"LogisticRegression stopped where rounding allows no further step ({reached}). Scale "
            "the columns, drop duplicate columns, or lower C.",
            ConvergenceWarning,
            stacklevel=4,
        )
