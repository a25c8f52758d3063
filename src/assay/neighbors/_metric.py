r"""Metrics, each as a transformation of the table into one of the two spaces the engine searches.

.. math:: d(a, b) = h\bigl(\|T(a) - T(b)\|_p\bigr)

Every vector metric is a Minkowski distance between transformed rows: weights scale the axes, the
Mahalanobis distance whitens the table, the cosine scales rows to length 1. Distances between codes
(Hamming, mixed) have their own space, see `_mixed`. So one engine supports every metric, each with
an index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, ParameterError, check_interval, check_option, did_you_mean

Metric = str | Callable[..., float]

#: The exponent of each named metric; "minkowski" takes it from the parameter p.
EXPONENTS = {"manhattan": 1.0, "euclidean": 2.0, "chebyshev": math.inf}
_ALIASES = {"cityblock": "manhattan", "l1": "manhattan", "l2": "euclidean"}
#: Metrics between codes: they support nominal columns and missing values.
CODED = ("hamming", "weighted_hamming", "mixed")
METRICS = (
    *("minkowski", "euclidean", "manhattan", "chebyshev", "seuclidean", "mahalanobis", "cosine"),
    *CODED,
)
#: Allowed keys of `metric_params`.
_PARAMS: dict[str, tuple[str, ...]] = {
    "seuclidean": ("V",),
    "mahalanobis": ("V", "VI"),
    "cosine": (),
    "hamming": ("w",),
    "weighted_hamming": ("w", "similarity"),
    "mixed": ("w", "ordinal", "similarity"),
}


class Space(Protocol):
    """A metric, as the transformation of rows before the search."""

    def rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the transformed rows."""

    def outward(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert distances of the engine to those of the metric."""

    def inward(self, radius: float) -> float:
        """Convert a radius of the metric to the engine's."""


@dataclass(frozen=True)
class MetricPlan:
    """A metric by name, with its parameters checked as far as possible without the rows."""

    name: str
    p: float
    params: Mapping[str, Any]
    function: Callable[..., float] | None = None

    @property
    def coded(self) -> bool:
        """Whether the distance is one between codes."""
        return self.name in CODED

    @property
    def key(self) -> tuple[Any, ...]:
        """Return a key that identifies the metric."""
        return (self.name, self.p, self.function, freeze(self.params))


def resolve_metric(metric: Metric, p: float, metric_params: Mapping[str, Any] | None) -> MetricPlan:
    """Check `metric`, `p` and `metric_params`."""
    check_interval("p", p, 1)
    params = {} if metric_params is None else metric_params
    if not isinstance(params, Mapping):
        raise ParameterError(f"metric_params must be a dict or None; got {metric_params!r}")
    if callable(metric):
        return MetricPlan("callable", 2.0, dict(params), metric)
    metric = _ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    check_option("metric", metric, METRICS)
    if metric != "minkowski" and p not in (2, EXPONENTS.get(metric, 2)):
        raise ParameterError(f"p applies to metric='minkowski' only; got p={p!r} with {metric!r}")
    allowed = _PARAMS.get(metric, ("w",))
    for name in params:
        if name not in allowed:
            known = ", ".join(map(repr, allowed)) or "nothing"
            raise ParameterError(
                f"metric_params of {metric!r} may hold {known}; got {name!r}"
                f"{did_you_mean(str(name), allowed)}"
            )
    if "V" in params and "VI" in params:
        raise ParameterError("metric_params of 'mahalanobis' may hold V or VI, not both")
    exponent = float(p) if metric == "minkowski" else EXPONENTS.get(metric, 2.0)
    name = next((n for n, e in EXPONENTS.items() if e == exponent), "minkowski")
    plain = metric == "minkowski" or metric in EXPONENTS
    return MetricPlan(name if plain else metric, exponent, dict(params))


@dataclass(frozen=True)
class VectorSpace:
    """Rows as points: shifted, scaled, rotated or projected on the unit sphere, then Minkowski."""

    p: float
    stretch: NDArray[np.float64] | None = None
    centre: NDArray[np.float64] | None = None
    turn: NDArray[np.float64] | None = None
    unit: bool = False

    def rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the transformed rows; the same array if nothing changes."""
        if self.stretch is not None:
            return X * self.stretch
        if self.turn is not None:
            return _product(X - self.centre, self.turn)
        if self.unit:
            return _unit_rows(X)
        return X

    def outward(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the metric's distances: for unit rows 1 - cos = |a - b|^2 / 2."""
        return distance * distance / 2 if self.unit else distance

    def inward(self, radius: float) -> float:
        """Return the engine's radius."""
        return math.sqrt(2 * radius) if self.unit else radius


def vector_space(plan: MetricPlan, rows: NDArray[Any]) -> VectorSpace:
    """Return the space of a vector metric; missing parameters are estimated from `rows`."""
    width = rows.shape[1]
    if plan.name == "cosine":
        return VectorSpace(2.0, unit=True)
    if plan.name == "mahalanobis":
        centre = rows.mean(axis=0, dtype=np.float64)
        return VectorSpace(2.0, centre=centre, turn=_whitening(plan.params, rows))
    if plan.name == "seuclidean":
        return VectorSpace(2.0, stretch=_inverse_deviations(plan.params, rows))
    if "w" not in plan.params:
        return VectorSpace(plan.p)
    w = column_weights(plan.params["w"], width)
    return VectorSpace(plan.p, stretch=w if math.isinf(plan.p) else w ** (1 / plan.p))


def column_weights(w: Any, width: int) -> NDArray[np.float64]:
    """Return one weight per column, checked."""
    weights = _numbers("w", w)
    if weights.shape != (width,):
        raise ParameterError(
            f"metric_params['w'] must hold one weight per column, shape ({width},); "
            f"got shape {weights.shape}"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ParameterError(
            "metric_params['w'] must hold finite weights >= 0, not all of them zero"
        )
    return weights


def _inverse_deviations(params: Mapping[str, Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    if "V" in params:
        V = _numbers("V", params["V"])
        if V.shape != (rows.shape[1],):
            raise ParameterError(
                f"metric_params['V'] must hold one variance per column, shape "
                f"({rows.shape[1]},); got shape {V.shape}"
            )
        if not (np.isfinite(V) & (V > 0)).all():
            raise ParameterError("metric_params['V'] must hold finite variances > 0")
        return 1 / np.sqrt(V)
    if len(rows) < 2:
        raise DataError("metric='seuclidean' needs 2 rows for variances, or metric_params['V']")
    V = rows.var(axis=0, ddof=1, dtype=np.float64)
    # A constant column does not separate rows: it is left out.
    return np.where(V > 0, 1 / np.sqrt(np.where(V > 0, V, 1)), 0.0)


def _whitening(params: Mapping[str, Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the factor L of the inverse covariance: (a-b)' VI (a-b) = |(a-b) L|^2."""
    width = rows.shape[1]
    if "VI" in params:
        VI = _square("VI", params["VI"], width)
        try:
            return np.linalg.cholesky(VI).astype(np.float64)
        except np.linalg.LinAlgError:
            raise ParameterError("metric_params['VI'] is not positive definite") from None
    if "V" in params:
        V, where = _square("V", params["V"], width), "metric_params['V']"
    else:
        if len(rows) < 2:
            raise DataError("metric='mahalanobis' needs 2 rows for a covariance, or V or VI")
        V = np.atleast_2d(np.cov(rows, rowvar=False, dtype=np.float64))
        where = "the covariance of the training rows"
    deviation = np.sqrt(np.diag(V))
    singular = DataError(
        f"metric='mahalanobis': {where} is singular (a constant column, linearly dependent "
        "columns, or fewer rows than columns); drop such columns or pass metric_params['VI']"
    )
    if not (deviation > 0).all():
        raise singular
    # As correlations, so that the test for singularity does not depend on the units.
    values, vectors = np.linalg.eigh(V / np.outer(deviation, deviation))
    if values[0] <= width * np.finfo(np.float64).eps * values[-1]:
        raise singular
    return np.ascontiguousarray(vectors / np.sqrt(values) / deviation[:, None])


def _square(name: str, given: Any, width: int) -> NDArray[np.float64]:
    matrix = _numbers(name, given)
    if matrix.shape != (width, width):
        raise ParameterError(
            f"metric_params[{name!r}] must have the shape ({width}, {width}); "
            f"got shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise ParameterError(f"metric_params[{name!r}] must be finite and symmetric")
    return matrix


def _numbers(name: str, given: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"metric_params[{name!r}] must hold numbers only") from None


def _product(X: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply without BLAS: the result for a row must not depend on the other rows."""
    out = np.zeros((len(X), matrix.shape[1]))
    for j, row in enumerate(matrix):
        out += X[:, j : j + 1] * row
    return out


def _unit_rows(X: NDArray[Any]) -> NDArray[np.float64]:
    largest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    if not largest.all():
        row = int(np.flatnonzero(largest[:, 0] == 0)[0])
        raise DataError(
            f"metric='cosine' is not defined for a row of zeros, as row {row} of X is; leave it out"
        )
    scaled = X / largest  # so that no square overflows or underflows
    unit: NDArray[np.float64] = scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return unit


def freeze(value: Any) -> Any:
    """Return a hashable stand-in for parameters that may hold arrays."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(name), freeze(item)) for name, item in value.items()))
    try:
        array = np.asarray(value)
    except ValueError:
        return repr(value)
    return (array.shape, array.dtype.str, array.tobytes() if array.dtype != object else repr(value))
