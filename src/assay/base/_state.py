"""A model as data: state, digest and equality, all from arrays and plain values.

Saving, hashing, comparing and sending a model are generic because of one rule: a fitted attribute
is a NumPy array of numbers, booleans or text, or one plain value.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from assay.base._errors import DataError
from assay.base._targets import as_unicode

Value = NDArray[Any] | int | float | bool | str | None

#: Parameters that say how a model is computed, not what it is: they leave the digest alone.
HOW = frozenset({"n_jobs", "verbose"})


class StateError(TypeError):
    """The model cannot be written as arrays and plain values; the message says what prevents it."""


def plain_value(name: str, value: object) -> Value:
    """Return a fitted attribute as an array or a Python scalar.

    Parameters
    ----------
    name : str
        The attribute, for the message.
    value : object
        What the attribute holds.

    Returns
    -------
    ndarray, int, float, bool, str or None

    Raises
    ------
    StateError
        When the value is neither.

    Examples
    --------
    >>> import numpy as np
    >>> plain_value("names_", np.array(["a", "bc"], dtype=object))
    array(['a', 'bc'], dtype='<U2')
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return value.item()  # type: ignore[no-any-return]
    if value is None or type(value) in (bool, int, float, str):
        return value  # type: ignore[return-value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biufU":
            return value
        if value.dtype.kind == "O" and all(isinstance(item, str) for item in value.ravel()):
            return as_unicode(value, name)
        raise StateError(f"{name} is an array of {value.dtype}, not of numbers, booleans or text")
    raise StateError(f"{name} is a {type(value).__name__}, not an array or a plain value")


def check_plain_params(params: Mapping[str, object]) -> None:
    """Refuse parameters that cannot be written down, such as functions.

    Parameters
    ----------
    params : mapping of str to object
        As `get_params` returns them.

    Raises
    ------
    StateError
        Naming the first such parameter.

    Examples
    --------
    >>> check_plain_params({"kernel": len})
    Traceback (most recent call last):
    assay.base._state.StateError: parameter kernel is the function len: code cannot be saved as data
    """
    for name, value in params.items():
        _Canonical().add(f"parameter {name}", value)


def digest(model: BaseEstimator, state: Mapping[str, Value]) -> str:
    """Return the SHA-256 of a model's class, parameters and state, in canonical order."""
    canonical = _Canonical()
    canonical.add("class", type(model).__name__)
    params = model.get_params(deep=False)
    canonical.add("params", {name: params[name] for name in params.keys() - HOW})
    canonical.add("state", dict(state))
    return canonical.hash.hexdigest()


def same(a: BaseEstimator, b: BaseEstimator) -> bool:
    """Say whether two fitted models are the same, bit for bit.

    Parameters
    ----------
    a, b : Estimator
        Fitted models.

    Returns
    -------
    bool
        True when class, parameters (other than `n_jobs` and `verbose`) and state are equal.

    Examples
    --------
    >>> from assay.neighbors import KNeighborsRegressor
    >>> a = KNeighborsRegressor(1).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> b = KNeighborsRegressor(1, n_jobs=2).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> same(a, b)
    True
    """
    return type(a) is type(b) and bool(a.digest() == b.digest())


def check_array_state(
    model: object,
    name: str,
    kinds: str,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
) -> None:
    """Refuse a restored array that a kernel could not read safely.

    Parameters
    ----------
    model : object
        The estimator whose attribute is checked.
    name : str
        The attribute.
    kinds : str
        Allowed ``dtype.kind`` letters.
    shape : tuple of int or None
        Expected shape; None = any length.
    low, high : float, optional
        Bounds of every element. Floats must be finite in any case.

    Raises
    ------
    DataError
        When the array is missing or does not fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> model = SimpleNamespace(codes_=np.array([0, 7]))
    >>> check_array_state(model, "codes_", "i", (2,), low=0, high=1)
    Traceback (most recent call last):
    assay.base._errors.DataError: ...: SimpleNamespace.codes_ has values outside [0, 1]
    """
    array = getattr(model, name, None)
    where = f"{type(model).__name__}.{name}"
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        raise DataError(f"the model is damaged: {where} is missing or of the wrong type")
    fits = len(shape) == array.ndim and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise DataError(f"the model is damaged: {where} has shape {array.shape}, not {shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError(f"the model is damaged: {where} has values that are not finite")
    outside = (low is not None and array.size and array.min() < low) or (
        high is not None and array.size and array.max() > high
    )
    if outside:
        raise DataError(f"the model is damaged: {where} has values outside [{low}, {high}]")


class _Canonical:
    """Feeds values to SHA-256 so that different values never give the same bytes."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def add(self, where: str, value: object) -> None:
        if isinstance(value, (np.generic, np.ndarray)):
            value = plain_value(where, value)
        if value is None:
            self._put(b"none", b"")
        elif isinstance(value, bool):
            self._put(b"bool", b"1" if value else b"0")
        elif isinstance(value, int):
            self._put(b"int", str(value).encode())
        elif isinstance(value, float):
            self._put(b"float", struct.pack("<d", value))
        elif isinstance(value, str):
            self._put(b"str", value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        elif isinstance(value, (list, tuple)):
            self._put(b"list", str(len(value)).encode())
            for position, item in enumerate(value):
                self.add(f"{where}[{position}]", item)
        elif isinstance(value, Mapping):
            self._put(b"dict", str(len(value)).encode())
            for key in sorted(value):
                self.add(f"{where} key", key)
                self.add(f"{where} {key}", value[key])
        elif isinstance(value, BaseEstimator):
            self.add(where, type(value).__name__)
            self.add(where, value.get_params(deep=False))
        elif callable(value):
            name = getattr(value, "__name__", type(value).__name__)
            raise StateError(f"{where} is the function {name}: code cannot be saved as data")
        else:
            raise StateError(f"{where} is a {type(value).__name__}, not an array or a plain value")

    def _add_array(self, array: NDArray[Any]) -> None:
        if array.dtype.kind == "U":
            # The width of a unicode array is an accident of its longest text.
            self._put(b"text", str(array.shape).encode())
            self.add("", array.ravel().tolist())
            return
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        self._put(little.dtype.str.encode(), str(array.shape).encode())
        self._put(b"", little.tobytes())

    def _put(self, tag: bytes, payload: bytes) -> None:
        self.hash.update(struct.pack("<IQ", len(tag), len(payload)))
        self.hash.update(tag)
        self.hash.update(payload)
