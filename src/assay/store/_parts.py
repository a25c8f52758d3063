"""One fitted estimator to its entry in a model file, and back."""

# An estimator is {"class": id, "params": {..}, "state": {..}}, without "state" if it is not fitted.
# A nested model is the attribute {"estimator": <its entry>}, several are
# {"estimators": [<entry>, ..]}. Their arrays are stored with the others, under names such as
# `estimators_/0/coef_`.

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError, Estimator, sklearn_models
from assay.store._classes import (
    FIRST_NATIVE_ID,
    UnknownClass,
    check_param_names,
    class_of,
    classes,
    given_params,
    id_of,
)
from assay.store._values import (
    DEPTH,
    Malformed,
    Unstorable,
    decode,
    decode_template,
    encode,
    encode_template,
    pack,
    unpack,
)

__all__ = ["Part", "UnknownClass", "can_save", "is_nested", "pack_part", "unpack_part"]


class Part(NamedTuple):
    """What a file holds of one estimator: its JSON entry and its arrays by name."""

    entry: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def can_save(estimator: Any) -> str | None:
    """Return why a model file cannot hold an estimator, or None if it can.

    Parameters
    ----------
    estimator : estimator or None
        Fitted or not; if not, only its class and parameters are checked.

    Returns
    -------
    str or None
        The reason, as a sentence for the user.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.svm import SVC
    >>> can_save(Ridge(alpha=2.0)) is None
    True
    >>> print(can_save(SVC()))
    a model file cannot hold SVC, only models whose state is plain arrays: those of Assay and, ...
    """
    if estimator is None:
        return None
    try:
        number = _known_id(estimator)
        _encoded_params(number, estimator, depth=0)
        check_is_fitted(estimator)
        _packed_state(number, estimator, depth=0)
    except NotFittedError:
        return None
    except Unstorable as error:
        return str(error)
    return None


def pack_part(estimator: Any, depth: int = 0) -> Part:
    """Return the entry and the arrays of a fitted estimator, or raise `Unstorable`."""
    number = _known_id(estimator)
    params = _encoded_params(number, estimator, depth)
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise Unstorable(f"{type(estimator).__name__} is not fitted; call fit first") from error
    state, arrays = {}, {}
    for attribute, part in sorted(_packed_state(number, estimator, depth).items()):
        state[attribute] = part.entry
        for name, array in part.arrays.items():
            arrays[f"{attribute}/{name}" if name else attribute] = array
    return Part({"class": number, "params": params, "state": state}, arrays)


def unpack_part(entry: Any, arrays: Mapping[str, NDArray[Any]], depth: int = 0) -> Any:
    """Return the fitted estimator of an entry and its arrays, all checked; fit is not run."""
    match entry:
        case {"class": int(number), "params": dict(params), "state": dict(state)} if (
            len(entry) == 3 and depth <= DEPTH
        ):
            class_of(number)
            given = {name: decode(value, depth) for name, value in params.items()}
            below = _by_first_name(arrays)
            found = {
                name: _unpacked(value, below.pop(name, {}), depth) for name, value in state.items()
            }
            if below:
                raise Malformed(f"array {min(below)!r} belongs to nothing")
            return _rebuilt(number, given, found)
    raise Malformed("a part has an unknown form")


def is_nested(entry: Any) -> bool:
    """Return whether an entry has nested models, fitted or as parameters."""
    open_entries = [entry]
    while open_entries:
        match open_entries.pop():
            case {"estimator": {"class": _}} | {"estimators": [{"class": _}, *_]}:
                return True
            case dict(inside):
                open_entries += inside.values()
            case list(inside):
                open_entries += inside
    return False


def _known_id(estimator: Any) -> int:
    number = id_of(estimator)
    if number is None:
        name = type(estimator).__name__
        theirs = ", ".join(sorted(stored.name for stored in sklearn_models.STORED_CLASSES.values()))
        ours = [cls for cls in classes().values() if cls.__name__ == name]
        hint = "".join(
            f"; {cls.__module__}.{name} can be held" for cls in ours if issubclass(cls, Estimator)
        )
        raise Unstorable(
            f"a model file cannot hold {name}, only models whose state is plain arrays: those of "
            f"Assay and, of scikit-learn's, {theirs}{hint}"
        )
    return number


def _encoded_params(number: int, estimator: Any, depth: int) -> dict[str, Any]:
    entries = {}
    for name, value in given_params(number, estimator).items():
        try:
            entries[name] = encode(value, depth)
        except Unstorable as error:
            raise Unstorable(_because(estimator, f"its parameter {name} {error}")) from error
    return entries


def _packed_state(number: int, estimator: Any, depth: int) -> dict[str, Part]:
    packed = {}
    name = ""
    try:
        if number < FIRST_NATIVE_ID:
            state = sklearn_models.state_of(sklearn_models.STORED_CLASSES[number], estimator)
        else:
            state = estimator.state()
        for name, value in state.items():
            packed[name] = _packed(value, depth)
    except Unstorable as error:
        raise Unstorable(_because(estimator, f"its attribute {name} {error}")) from error
    except (DataError, TypeError) as error:
        raise Unstorable(_because(estimator, str(error))) from error
    return packed


def _packed(value: Any, depth: int) -> Part:
    if isinstance(value, BaseEstimator):
        child = _packed_child(value, depth + 1)
        return Part({"estimator": child.entry}, child.arrays)
    if isinstance(value, list):  # of models: an Estimator's state has no other lists
        children = [_packed_child(model, depth + 1) for model in value]
        arrays = {
            f"{position}/{name}": array
            for position, child in enumerate(children)
            for name, array in child.arrays.items()
        }
        return Part({"estimators": [child.entry for child in children]}, arrays)
    entry, array = pack(value)
    return Part(entry, {} if array is None else {"": array})


def _packed_child(model: Any, depth: int) -> Part:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return Part(encode_template(model, depth), {})
    try:
        return pack_part(model, depth)
    except Unstorable as error:
        raise Unstorable(f"cannot be written: {error}") from error


def _unpacked(entry: Any, arrays: dict[str, NDArray[Any]], depth: int) -> Any:
    match entry:
        case {"estimator": child} if len(entry) == 1:
            return _unpacked_child(child, arrays, depth + 1)
        case {"estimators": [*children]} if len(entry) == 1:
            below = _by_first_name(arrays)
            models = [
                _unpacked_child(child, below.pop(str(position), {}), depth + 1)
                for position, child in enumerate(children)
            ]
            if below:
                raise Malformed(f"array {min(below)!r} belongs to nothing")
            return models
    if arrays.keys() - {""}:
        raise Malformed(f"array {min(arrays.keys() - {''})!r} belongs to nothing")
    return unpack(entry, arrays.get(""))


def _unpacked_child(entry: Any, arrays: dict[str, NDArray[Any]], depth: int) -> Any:
    if isinstance(entry, dict) and "state" not in entry and not arrays:
        return decode_template(entry, depth)
    return unpack_part(entry, arrays, depth)


def _by_first_name(arrays: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, NDArray[Any]]]:
    """Return the arrays grouped by the first part of their names."""
    groups: dict[str, dict[str, NDArray[Any]]] = {}
    for name, array in arrays.items():
        first, slash, rest = name.partition("/")
        if slash and not rest:
            raise Malformed(f"array {name!r} belongs to nothing")
        groups.setdefault(first, {})[rest] = array
    return groups


def _rebuilt(number: int, params: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    check_param_names(number, params)
    if number < FIRST_NATIVE_ID:
        return sklearn_models.restore(sklearn_models.STORED_CLASSES[number], params, state)
    cls: Any = class_of(number)
    for name in state:
        # An attribute must not replace a method, or anything else of the class.
        if not name.isidentifier() or name.startswith("_") or hasattr(cls, name):
            raise DataError(f"{name} is not an attribute of {cls.__name__}")
    return cls.from_state(dict(params), dict(state))


def _because(estimator: Any, why: str) -> str:
    return f"a model file cannot hold this {type(estimator).__name__}: {why}"
