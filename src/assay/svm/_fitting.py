"""Shared by the fits of `SVC` and `SVR`: checks of parameters, weights, warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from assay.base import DataError, ParameterError, check_interval, check_n_jobs, check_option
from assay.svm._binary import Machine, Settings

T = TypeVar("T")


def check_solver_params(params: Mapping[str, Any]) -> Settings:
    """Check the parameters of the solver and return them as `Settings`."""
    check_interval("C", params["C"], 0, open_low=True)
    check_interval("tol", params["tol"], 0, open_low=True, open_high=True)
    check_interval("cache_size", params["cache_size"], 0, open_low=True, open_high=True)
    check_option("shrinking", params["shrinking"], (True, False))
    check_interval("max_iter", params["max_iter"], -1, integer=True)
    check_option("warm_start", params["warm_start"], (True, False))
    if not isinstance(params["verbose"], (bool, int)):
        raise ParameterError(f"verbose must be True, False or a number; got {params['verbose']!r}")
    return Settings(
        tol=float(params["tol"]),
        cache_mb=float(params["cache_size"]),
        shrinking=bool(params["shrinking"]),
        max_iter=int(params["max_iter"]),
        n_threads=check_n_jobs(params["n_jobs"]),
    )


def class_weights(
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Return the factor of C for each class.

    Parameters
    ----------
    class_weight : None, 'balanced' or dict
        Balanced: :math:`n / (K n_k)`, with weighted counts. A dict has a factor for each label;
        other labels have 1.
    classes : ndarray of shape (n_classes,)
        The labels.
    codes, weight : ndarray of shape (n_samples,)
        Classes and sample weights.

    Returns
    -------
    ndarray of float64 of shape (n_classes,)

    Examples
    --------
    >>> codes, weight = np.array([0, 0, 0, 1]), np.ones(4)
    >>> class_weights("balanced", np.array(["a", "b"]), codes, weight).round(3).tolist()
    [0.667, 2.0]
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(codes, weight, len(classes))
        counts = np.maximum(counts, np.finfo(np.float64).tiny)
        return np.asarray(counts.sum() / (len(classes) * counts))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"class_weight must be None, 'balanced' or a dict of labels; got {class_weight!r}"
        )
    for label, factor in class_weight.items():
        check_interval(f"class_weight[{label!r}]", factor, 0, open_low=True, open_high=True)
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown and any(label not in class_weight for label in labels):
        raise ParameterError(
            f"class_weight has {unknown[0]!r}, which is not a class; the classes are {labels}"
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def classes_with_weight(
    owner: str, classes: NDArray[Any], codes: NDArray[np.int64], used: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Drop classes whose rows all have weight 0; raise if fewer than two remain.

    Parameters
    ----------
    owner : str
        Class name for the message.
    classes, codes : ndarray
        The labels, and each row's position among them.
    used : ndarray of int
        Rows with a weight above 0.

    Returns
    -------
    classes, codes : ndarray
        The codes of unused rows are undefined.
    """
    present = np.unique(codes[used])
    if len(present) < 2:
        label = classes[present].tolist()[0]
        raise DataError(
            f"{owner} needs rows of at least two classes; y holds one class only, {label!r}"
        )
    if len(present) == len(classes):
        return classes, codes
    place = np.zeros(len(classes), dtype=np.int64)
    place[present] = np.arange(len(present))
    return classes[present], place[codes]


def check_solution(owner: str, machine: Machine, what: Callable[[], str]) -> None:
    """Raise if the classes cannot be separated without slack, or if results are not finite."""
    if machine.stop_reason == "inseparable":
        raise DataError(
            f"{what()}: C=inf allows no slack; use a finite C, or a more flexible kernel"
        )
    if not (np.isfinite(machine.coef).all() and np.isfinite(machine.bias)):
        raise DataError(
            f"{owner} found no finite solution: X has values too large for this kernel; "
            "scale the columns (StandardScaler)"
        )


def warn_if_stopped(owner: str, machines: Sequence[Machine], settings: Settings) -> str:
    """Return why the solver stopped; warn if it did not converge."""
    bad = [machine for machine in machines if machine.stop_reason != "converged"]
    if not bad:
        return "converged"
    worst = max(bad, key=lambda machine: machine.kkt_residual)
    many = f" in {len(bad)} of {len(machines)} problems" if len(machines) > 1 else ""
    limit = settings.max_iter
    more = f"raise max_iter={limit}" if limit >= 0 else f"set max_iter above {worst.n_iter}"
    warnings.warn(
        f"{owner} did not converge{many} ({worst.stop_reason}, {worst.n_iter} iterations): the KKT "
        f"residual is {worst.kkt_residual:.3g}, above tol={settings.tol:g}. Scale the "
        f"columns (StandardScaler), lower C, or {more}",
        ConvergenceWarning,
        stacklevel=3,
    )
    return worst.stop_reason


def print_certificates(owner: str, machines: Sequence[Machine]) -> None:
    """Print one line per problem, for `verbose`."""
    for number, machine in enumerate(machines):
        print(
            f"[{owner}] problem {number}: {machine.n_iter} iterations, "
            f"gap {machine.duality_gap:.3g}, KKT {machine.kkt_residual:.3g}, "
            f"{np.count_nonzero(machine.coef)} support vectors, {machine.stop_reason}"
        )
