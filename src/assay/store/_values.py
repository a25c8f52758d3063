"""Plain Python values and NumPy arrays to JSON entries and back."""

# A parameter is null, a boolean, a number, a string, a list of such, or, tagged so that it comes
# back as what it was, {"float": "inf"}, {"tuple": [..]}, {"dict": [[key, value], ..]} or, for a
# NumPy array, {"F64": [..]} with the name of its type. An estimator among the parameters, which
# is a template and not fitted, is {"estimator": {"class": id, "params": {..}}}.
#
# A fitted attribute is one entry:
#     "array"                   the array `part/attribute` of the file
#     "transposed"              its transpose is in the file: the array was in Fortran order, and
#                               matrix products of either order may differ in the last bit
#     "scalar"                  a NumPy scalar, in the file as an array without dimensions
#     {"text": [..]}            a one-dimensional array of strings ({"objects": [..]}: dtype object)
#     {"value": <parameter>}    a plain Python value

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from assay.store._classes import check_param_names, class_of, given_params, id_of
from assay.store._frame import DTYPES, NAMES

TEXT_LIMIT = 2**24
"""Maximum number of characters in an array of strings; NumPy pads each to the longest one."""

DEPTH = 8
"""Maximum depth of models nested in models."""

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Unstorable(ValueError):
    """A model file cannot hold a value; the message is the end of a sentence that states why."""


class Malformed(ValueError):
    """An entry of a file has a form that `pack` and `encode` do not write."""


def encode(value: Any, depth: int = 0) -> Any:
    """Return the JSON entry of a parameter value, or raise `Unstorable`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, depth) for item in value]}
    if isinstance(value, list):
        return [encode(item, depth) for item in value]
    if isinstance(value, Mapping):
        pairs = value.items()
        if not all(map(_is_key, value)):
            raise Unstorable("has keys that are not text, numbers or tuples of such")
        return {"dict": [[encode(key, depth), encode(item, depth)] for key, item in pairs]}
    if isinstance(value, np.ndarray) and value.dtype in NAMES:
        return {NAMES[value.dtype]: encode(value.tolist())}
    if isinstance(value, BaseEstimator):
        return {"estimator": encode_template(value, depth + 1)}
    raise Unstorable(
        f"is {_described(value)}, and a model file holds only numbers, text and arrays"
    )


def decode(entry: Any, depth: int = 0) -> Any:
    """Return the parameter value of a JSON entry."""
    match entry:
        case None | bool() | int() | float() | str():
            return entry
        case list():
            return [decode(item, depth) for item in entry]
        case {"float": str(name)} if len(entry) == 1 and name in _NOT_FINITE:
            return _NOT_FINITE[name]
        case {"tuple": list(items)} if len(entry) == 1:
            return tuple(decode(item, depth) for item in items)
        case {"dict": list(pairs)} if len(entry) == 1:
            return _mapping(pairs, depth)
        case {"estimator": template} if len(entry) == 1:
            return decode_template(template, depth + 1)
        case dict() if len(entry) == 1 and entry.keys() <= DTYPES.keys():
            [(name, items)] = entry.items()
            return _array(decode(items), DTYPES[name])
    raise Malformed("a value has an unknown form")


def encode_template(estimator: Any, depth: int) -> dict[str, Any]:
    """Return the JSON entry of an estimator as its class and parameters, or raise `Unstorable`."""
    number = id_of(estimator)
    if number is None:
        raise Unstorable(
            f"is a {type(estimator).__name__}, and a model file holds no models of that class"
        )
    if depth > DEPTH:
        raise Unstorable(f"has models nested more than {DEPTH} deep")
    params = {}
    for name, value in given_params(number, estimator).items():
        try:
            params[name] = encode(value, depth)
        except Unstorable as error:
            raise Unstorable(f"is a {type(estimator).__name__} whose {name} {error}") from error
    return {"class": number, "params": params}


def decode_template(entry: Any, depth: int) -> Any:
    """Return the unfitted estimator of a JSON entry."""
    match entry:
        case {"class": int(number), "params": dict(params)} if len(entry) == 2 and depth <= DEPTH:
            check_param_names(number, params)
            cls = class_of(number)
            return cls(**{name: decode(value, depth) for name, value in params.items()})
    raise Malformed("a nested model has an unknown form")


def pack(value: Any) -> tuple[Any, NDArray[Any] | None]:
    """Return the JSON entry of a fitted attribute and the array that goes with it, or raise."""
    if isinstance(value, np.generic):
        return "scalar", _portable(np.asarray(value))
    if not isinstance(value, np.ndarray):
        return {"value": encode(value)}, None
    if value.dtype.kind in "UO":
        return {"text" if value.dtype.kind == "U" else "objects": _strings(value)}, None
    compact = value if value.flags.c_contiguous else np.array(value, order="K")
    if not compact.flags.c_contiguous and compact.flags.f_contiguous:
        return "transposed", _portable(compact.T)
    return "array", _portable(compact)


def unpack(entry: Any, array: NDArray[Any] | None) -> Any:
    """Return the fitted attribute of a JSON entry and its array; the reverse of `pack`."""
    match entry:
        case "array" if array is not None:
            return array
        case "transposed" if array is not None:
            return array.T
        case "scalar" if array is not None and array.ndim == 0:
            return array[()]
        case {"text": list(texts)} if len(entry) == 1 and array is None:
            return np.array(_checked(texts), dtype=np.str_)
        case {"objects": list(texts)} if len(entry) == 1 and array is None:
            return np.array(_checked(texts), dtype=object)
        case {"value": value} if len(entry) == 1 and array is None:
            return decode(value)
    raise Malformed("an attribute has an unknown form")


def _mapping(pairs: list[Any], depth: int) -> dict[Any, Any]:
    result = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Malformed("a value has an unknown form")
        key, value = (decode(item, depth) for item in pair)
        if not _is_key(key):
            raise Malformed("a value has an unknown form")
        result[key] = value
    return result


def _is_key(key: Any) -> bool:
    if isinstance(key, tuple):
        return all(_is_key(item) for item in key)
    return isinstance(key, bool | int | float | str | None)


def _array(items: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.array(items, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed("a value has an unknown form") from error


def _portable(array: NDArray[Any]) -> NDArray[Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    if little.dtype not in NAMES:
        raise Unstorable(f"is an array of type {array.dtype}, which a model file does not hold")
    return little


def _strings(array: NDArray[Any]) -> list[str]:
    texts = array.tolist()
    if array.ndim != 1 or not all(isinstance(text, str) for text in texts):
        raise Unstorable(
            "is an array of Python objects, and a model file holds only numbers and text"
        )
    if _padded(texts) > TEXT_LIMIT:
        raise Unstorable(f"is an array of strings with more than {TEXT_LIMIT:,} characters")
    return [str(text) for text in texts]


def _checked(texts: list[Any]) -> list[str]:
    if not all(isinstance(text, str) for text in texts) or _padded(texts) > TEXT_LIMIT:
        raise Malformed("an array of strings is too large or holds other values")
    return texts


def _padded(texts: list[str]) -> int:
    return len(texts) * max(map(len, texts), default=0)


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a NumPy array of type {value.dtype}"
    if callable(value) and not isinstance(value, type):
        return f"the function {getattr(value, '__name__', type(value).__name__)}"
    return f"an object of type {type(value).__name__}"
