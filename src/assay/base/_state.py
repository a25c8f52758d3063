"""A model as data: state, digest and equality, all from arrays and plain values.

Saving, hashing, comparing and sending a model are generic because of one rule: a fitted attribute
is a NumPy array of numbers, booleans or text, one plain value, or a model that obeys the same rule
(or a list of such models).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from assay.base import sklearn_models
from assay.base._errors import DataError
from assay.base._targets import as_unicode

Plain: TypeAlias = NDArray[Any] | int | float | bool | str | None
Value: TypeAlias = Plain | BaseEstimator | list[BaseEstimator]

#: Maximum depth of models nested in models.
DEPTH = 8

#: Parameters that change how a model is computed, not the result: not part of the digest.
HOW = frozenset({"n_jobs", "verbose"})


class StateError(TypeError):
    """The model cannot be written as arrays and plain values; the message states why."""


def plain_value(name: str, value: object) -> Value:
    """Return a fitted attribute as an array, a Python scalar, a model or a list of models.

    Parameters
    ----------
    name : str
        Name of the attribute, for the message.
    value : object
        Value of the attribute.

    Returns
    -------
    ndarray, int, float, bool, str, None, estimator or list of estimators

    Raises
    ------
    StateError
        If the value is none of these, or holds an estimator with such an attribute.

    Examples
    --------
    >>> import numpy as np
    >>> plain_value("names_", np.array(["a", "bc"], dtype=object))
    array(['a', 'bc'], dtype='<U2')
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biufU":
            return value
        if value.dtype.kind == "O" and all(isinstance(item, str) for item in value.ravel()):
            return as_unicode(value, name)
        raise StateError(f"{name} is an array of {value.dtype}, not of numbers, booleans or text")
    if isinstance(value, BaseEstimator):
        learned(name, value)
        return value
    if isinstance(value, list) and value and all(isinstance(v, BaseEstimator) for v in value):
        for position, model in enumerate(value):
            learned(f"{name}[{position}]", model)
        return list(value)
    raise StateError(f"{name} is a {type(value).__name__}, not an array or a plain value")


def learned(name: str, model: BaseEstimator) -> Mapping[str, Value] | None:
    """Return the state of a nested model; None when it is not fitted.

    Parameters
    ----------
    name : str
        The attribute that holds the model, for the message.
    model : estimator
        A model of Assay, or of a scikit-learn class whose state is known to be plain arrays;
        of the latter, only what `predict` and `predict_proba` read.

    Returns
    -------
    dict of str to value, or None

    Raises
    ------
    StateError
        If the model is of another class, or its state is not plain.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> learned("final_", Ridge().fit([[0.0], [1.0]], [1.0, 2.0])).keys()
    dict_keys(['n_features_in_', 'coef_', 'intercept_'])
    """
    try:
        check_is_fitted(model)
        stored = sklearn_models.stored_class_of(model)
        if stored is not None:
            found = sklearn_models.state_of(stored, model).items()
            return {attribute: plain_value(attribute, value) for attribute, value in found}
        if hasattr(model, "state"):
            state: Mapping[str, Value] = model.state()
            return state
    except NotFittedError:
        check_plain_params(model.get_params(deep=False))
        return None
    except (DataError, StateError) as error:
        raise StateError(f"{name} is a {type(model).__name__}, where {error}") from None
    raise StateError(
        f"{name} is a {type(model).__name__}, a class whose state is not known to be plain arrays"
    )


def check_depth(model: BaseEstimator, *, left: int = DEPTH) -> None:
    """Raise if models are nested more than `DEPTH` deep, which a model inside itself always is."""
    if left < 0:
        raise StateError(f"models are nested more than {DEPTH} deep")
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            inside = value if isinstance(value, list) else [value]
            for child in inside:
                if isinstance(child, BaseEstimator):
                    check_depth(child, left=left - 1)


def check_plain_params(params: Mapping[str, object]) -> None:
    """Raise on parameters that cannot be stored as data, such as functions.

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
    assay.base.StateError: parameter kernel is the function len: code cannot be saved as data
    """
    for name, value in params.items():
        _Canonical().add(f"parameter {name}", value)


def digest(model: BaseEstimator, state: Mapping[str, Value]) -> str:
    """Return the SHA-256 of a model's class, parameters and state, in canonical order."""
    canonical = _Canonical()
    canonical.add("class", type(model).__name__)
    canonical.add("params", _what(model))
    canonical.add_state("state", state)
    return canonical.hash.hexdigest()


def same(a: BaseEstimator, b: BaseEstimator) -> bool:
    """Return whether two fitted models are the same, bit for bit.

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


def _what(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that determine the model."""
    params = model.get_params(deep=False)
    return {name: params[name] for name in params.keys() - HOW}


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
            self.add(where, _what(value))
        elif callable(value):
            name = getattr(value, "__name__", type(value).__name__)
            raise StateError(f"{where} is the function {name}: code cannot be saved as data")
        else:
            raise StateError(f"{where} is a {type(value).__name__}, not an array or a plain value")

    def add_state(self, where: str, state: Mapping[str, Value]) -> None:
        self._put(b"dict", str(len(state)).encode())
        for name in sorted(state):
            self.add(where, name)
            value = state[name]
            if isinstance(value, BaseEstimator):
                self._add_model(name, value)
            elif isinstance(value, list):
                self._put(b"models", str(len(value)).encode())
                for model in value:
                    self._add_model(name, model)
            else:
                self.add(where, value)

    def _add_model(self, where: str, model: BaseEstimator) -> None:
        # With the package: several libraries may have a class of that name.
        self._put(b"model", type(model).__module__.partition(".")[0].encode())
        self.add(where, model)
        state = learned(where, model)
        if state is None:
            self.add(where, None)
        else:
            self.add_state(where, state)

    def _add_array(self, array: NDArray[Any]) -> None:
        if array.dtype.kind == "U":
            # The width of a unicode array depends on its longest text only.
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
