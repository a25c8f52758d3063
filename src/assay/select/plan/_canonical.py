"""Canonical forms: equal values have equal texts, whatever the process or the day.

A key must be the same in every process and on every day, so it is built from values only: never
from addresses, insertion order, time or ``hash``.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from assay.base import ParameterError


def canonical(value: Any, where: str = "value") -> Any:
    """Return a JSON-safe form that is equal exactly when the meaning is.

    Parameters
    ----------
    value : object
        Plain values, containers, arrays, estimators, functions and classes that can be imported.
    where : str
        Name of the value in an error message.

    Returns
    -------
    object
        Made of None, bool, int, float, str, list and dict.

    Raises
    ------
    ParameterError
        If another process could not rebuild the same form.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> canonical(Ridge(alpha=2.0))["params"]["alpha"]
    2.0
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if np.isfinite(number) else {"float": str(number)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, np.ndarray):
        return _array(value, where)
    if isinstance(value, Mapping):
        items = [[canonical(k, where), canonical(v, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"map": sorted(items, key=_text)}
    if isinstance(value, set | frozenset):
        return {"set": sorted((canonical(item, where) for item in value), key=_text)}
    if isinstance(value, Sequence | range):
        return [canonical(item, f"{where}[{i}]") for i, item in enumerate(value)]
    return _object(value, where)


def digest(value: Any, where: str = "value") -> str:
    """Return the SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(_text(canonical(value, where)).encode()).hexdigest()


def stream(*parts: Any) -> np.random.Generator:
    """Return the counter-based random stream that belongs to `parts` and to nothing else.

    Examples
    --------
    >>> int(stream(0, "blocks").integers(100)) == int(stream(0, "blocks").integers(100))
    True
    """
    return np.random.Generator(np.random.Philox(key=int(digest(list(parts))[:32], 16)))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def array_digest(array: np.ndarray[Any, Any]) -> str:
    """Return the SHA-256 of the values of a numeric array, whatever its memory layout."""
    shape = ",".join(map(str, array.shape))
    hasher = hashlib.sha256(f"{array.dtype.str}:{shape}:".encode())
    hasher.update(np.ascontiguousarray(array).data)
    return hasher.hexdigest()


def _array(array: np.ndarray[Any, Any], where: str) -> Any:
    if array.dtype.hasobject:
        return {"array": "object", "shape": list(array.shape), "items": canonical(array.tolist())}
    if array.dtype.names is not None or array.dtype.kind in "Mm":
        raise _no_form(array, where)
    return {"array": array_digest(array)}


def _object(value: Any, where: str) -> Any:
    if isinstance(value, functools.partial):
        parts = [value.func, list(value.args), dict(value.keywords)]
        return {"partial": canonical(parts, where)}
    if isinstance(value, slice):
        return {"slice": canonical([value.start, value.stop, value.step], where)}
    if isinstance(value, np.ufunc):
        return {"name": f"numpy:{value.__name__}"}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if inspect.ismethod(value):  # its name does not identify the object it is bound to
        raise _no_form(value, where)
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return {"name": _importable(value, where)}
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = value.get_params(deep=False)
        return {
            "class": _importable(type(value), where),
            "version": _version(type(value)),
            "params": {
                name: canonical(params[name], f"{where}.{name}" if where else name)
                for name in sorted(params)
            },
        }
    if is_dataclass(value) or (hasattr(value, "split") and hasattr(value, "get_n_splits")):
        # A dataclass or a cross-validation splitter is what its attributes are.
        attributes = {
            name: canonical(item, f"{where}.{name}") for name, item in sorted(vars(value).items())
        }
        return {"class": _importable(type(value), where), "attributes": attributes}
    raise _no_form(value, where)


def _importable(value: Any, where: str) -> str:
    module, name = getattr(value, "__module__", None), value.__qualname__
    if module is None or "<" in name:
        raise _no_form(value, where)
    return public_name(value)


def public_name(value: Any) -> str:
    """Return the name under which a class or function is imported, private files left out.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> Ridge.__module__, public_name(Ridge)
    ('sklearn.linear_model._ridge', 'sklearn.linear_model:Ridge')
    """
    parts = value.__module__.split(".")
    private = [part.startswith("_") and not part.startswith("__") for part in parts]
    shown = parts[: private.index(True)] if any(private) else parts
    return f"{'.'.join(shown or parts)}:{value.__qualname__}"


def _version(cls: type) -> str | None:
    """Return the version of the defining package: another may compute other numbers."""
    root = sys.modules.get(cls.__module__.partition(".")[0])
    version = getattr(root, "__version__", None)
    return version if isinstance(version, str) else None


def _no_form(value: Any, where: str) -> ParameterError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    name = getattr(value, "__qualname__", None)
    shown = f"{kind} {name}" if name else kind
    return ParameterError(
        f"{where} is a {shown}, which another process could not recognise; "
        "use numbers, text, arrays, estimators with get_params, an integer random_state, "
        "or functions and classes defined at the top of a module"
    )
