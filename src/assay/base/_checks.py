"""Parameter checks with one form of message: the name, the allowed values, the value received."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from functools import cache
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay._core import cpu
from assay.base._errors import DataError, ParameterError, did_you_mean


def check_interval(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    integer: bool = False,
    options: Iterable[object] = (),
) -> None:
    """Raise unless a value lies in the interval or is one of `options`.

    Parameters
    ----------
    name : str
        The parameter, as the user wrote it.
    value : object
        The value received. Booleans and NaN are never accepted as numbers.
    low, high : float, default=-inf and inf
        The bounds.
    open_low, open_high : bool, default=False
        Whether a bound itself is excluded.
    integer : bool, default=False
        Whether only integers are allowed.
    options : iterable, default=()
        Further values that are allowed, such as ``"sqrt"`` or None.

    Raises
    ------
    ParameterError
        Naming the parameter, the allowed values and the value received.

    Examples
    --------
    >>> check_interval("n_neighbors", 0, 1, integer=True, options=["sqrt"])
    Traceback (most recent call last):
    assay.base.ParameterError: n_neighbors must be an integer >= 1 or 'sqrt'; got 0
    """
    options = tuple(options)
    if any(value is option or _equal_text(value, option) for option in options):
        return
    inside = False
    if isinstance(value, Integral if integer else Real) and not isinstance(value, bool):
        number: Any = value
        inside = (number > low if open_low else number >= low) and (
            number < high if open_high else number <= high
        )
    if not inside:
        words = [_interval_text(low, high, open_low, open_high, integer)]
        words += [repr(option) for option in options]
        raise ParameterError(f"{name} must be {_either(words)}; got {value!r}")


def check_option(name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise unless a value is one of the allowed ones.

    Parameters
    ----------
    name : str
        The parameter, as the user wrote it.
    value : object
        The value received.
    allowed : iterable
        The allowed values: strings, None or booleans.

    Raises
    ------
    ParameterError
        Naming the parameter, the allowed values, the value received and the nearest allowed string.

    Examples
    --------
    >>> check_option("vote", "hart", ["hard", None])
    Traceback (most recent call last):
    assay.base.ParameterError: vote must be 'hard' or None; got 'hart'; did you mean 'hard'?
    """
    allowed = tuple(allowed)
    if any(value is option or _equal_text(value, option) for option in allowed):
        return
    hint = ""
    if isinstance(value, str):
        hint = did_you_mean(value, [option for option in allowed if isinstance(option, str)])
    raise ParameterError(
        f"{name} must be {_either([repr(option) for option in allowed])}; got {value!r}{hint}"
    )


def check_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    None means 1; a negative number counts down from all usable cores (-1 = all of them).

    Parameters
    ----------
    n_jobs : int or None
        The parameter, as the user gave it.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> check_n_jobs(None), check_n_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ParameterError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, _cores(cpu.threads(), os.environ.get("LOKY_MAX_CPU_COUNT")) + 1 + int(n_jobs))


@cache
def _cores(_affinity: int, _limit: str | None) -> int:
    """Return the number of usable cores, cached per argument: joblib reads files to find it."""
    return int(joblib.cpu_count())


def check_weight(sample_weight: ArrayLike | None, X: object) -> NDArray[np.float64] | None:
    """Return the sample weights as a float64 vector, or None when there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        Finite and not negative, not all zero. A number stands for equal weights.
    X : sized
        The rows that are weighted; only their number is used.

    Returns
    -------
    ndarray of float64 of shape (n_samples,) or None

    Raises
    ------
    DataError
        Naming the wrong weight and its row.

    Examples
    --------
    >>> check_weight([1, 2], [[0.0], [1.0]])
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]
    try:
        weight = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must hold numbers only") from None
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.shape != (n_samples,):
        raise DataError(
            f"sample_weight must hold one number per row, shape ({n_samples},); "
            f"got shape {weight.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise DataError(
            f"sample_weight must be finite and not negative; got {weight[bad[0]]} in row {bad[0]}"
        )
    if not weight.any():
        raise DataError("sample_weight is zero in every row: no row is left to learn from")
    return weight


def _interval_text(low: float, high: float, open_low: bool, open_high: bool, integer: bool) -> str:
    what = "an integer" if integer else "a number"
    if math.isinf(low) and math.isinf(high):
        return what if integer or not (open_low or open_high) else "a finite number"
    if math.isinf(high):
        finite = "finite " if open_high and not integer else ""
        what = f"a {finite}number" if finite else what
        return f"{what} {'>' if open_low else '>='} {low:g}"
    if math.isinf(low):
        return f"{what} {'<' if open_high else '<='} {high:g}"
    return f"{what} in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _equal_text(value: object, option: object) -> bool:
    # Only strings are compared by value: an array or a NaN has no truth value to test.
    return isinstance(value, str) and isinstance(option, str) and value == option
