"""One fitted estimator to its entry in a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError
from assay.store import _sklearn
from assay.store._classes import FIRST_NATIVE_ID, classes, defaults, id_of
from assay.store._values import Malformed, Unstorable, decode, encode, pack, unpack

# Parameters that say how a model is computed, not what it is: the same model, the same bytes.
_HOW = frozenset({"n_jobs", "verbose"})


class UnknownClass(LookupError):
    """A class id is not in the table."""


class Part(NamedTuple):
    """What a file holds of one estimator: its JSON entry and its arrays by attribute."""

    entry: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def can_save(estimator: Any) -> str | None:
    """Return why an estimator cannot be put into a model file, or None if it can.

    Parameters
    ----------
    estimator : estimator or None
        Fitted or not; if not, only its class and parameters are looked at.

    Returns
    -------
    str or None
        The reason, in words for a user.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.svm import SVC
    >>> can_save(Ridge(alpha=2.0)) is None
    True
    >>> print(can_save(SVC()))
    a model file cannot hold SVC, only models whose state is plain arrays: DummyClassifier, ...
    """
    if estimator is None:
        return None
    try:
        number = _known_id(estimator)
        _encoded_params(number, estimator)
        check_is_fitted(estimator)
        _packed_state(number, estimator)
    except NotFittedError:
        return None
    except Unstorable as error:
        return str(error)
    return None


def pack_part(estimator: Any) -> Part:
    """Return the entry and the arrays of a fitted estimator, or raise `Unstorable`."""
    number = _known_id(estimator)
    params = _encoded_params(number, estimator)
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise Unstorable(f"{type(estimator).__name__} is not fitted; call fit first") from error
    state, arrays = {}, {}
    for attribute, (entry, array) in sorted(_packed_state(number, estimator).items()):
        state[attribute] = entry
        if array is not None:
            arrays[attribute] = array
    return Part({"class": number, "params": params, "state": state}, arrays)


def unpack_part(entry: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the fitted estimator of an entry and its arrays, all checked; fit is not run."""
    match entry:
        case {"class": int(number), "params": dict(params), "state": dict(state)} if (
            len(entry) == 3
        ):
            if number not in classes():
                raise UnknownClass(number)
            given = {name: decode(value) for name, value in params.items()}
            found = {name: unpack(value, arrays.pop(name, None)) for name, value in state.items()}
            if arrays:
                raise Malformed(f"array {min(arrays)!r} belongs to nothing")
            return _rebuilt(number, given, found)
    raise Malformed("a part is written in no known way")


def _known_id(estimator: Any) -> int:
    number = id_of(estimator)
    if number is None:
        known = ", ".join(sorted(cls.__name__ for cls in classes().values()))
        raise Unstorable(
            f"a model file cannot hold {type(estimator).__name__}, "
            f"only models whose state is plain arrays: {known}"
        )
    return number


def _encoded_params(number: int, estimator: Any) -> dict[str, Any]:
    every = estimator.get_params(deep=False)
    given = {name: value for name, value in every.items() if name not in _HOW}
    if number < FIRST_NATIVE_ID:
        # Only what was changed, so that a file survives a parameter that scikit-learn drops.
        usual = defaults(type(estimator))
        given = {name: value for name, value in given.items() if not _same(value, usual[name])}
    entries = {}
    for name, value in given.items():
        try:
            entries[name] = encode(value)
        except Unstorable as error:
            raise Unstorable(_because(estimator, f"its parameter {name} {error}")) from error
    return entries


def _packed_state(number: int, estimator: Any) -> dict[str, tuple[Any, NDArray[Any] | None]]:
    packed = {}
    name = ""
    try:
        if number < FIRST_NATIVE_ID:
            state = _sklearn.state_of(_sklearn.SPECS[number], estimator)
        else:
            state = estimator.state()
        for name, value in state.items():
            packed[name] = pack(value)
    except Unstorable as error:
        raise Unstorable(_because(estimator, f"its attribute {name} {error}")) from error
    except (DataError, TypeError) as error:
        raise Unstorable(_because(estimator, str(error))) from error
    return packed


def _rebuilt(number: int, params: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    cls: Any = classes()[number]
    for name in sorted(set(params) - (defaults(cls).keys() - _HOW)):
        raise DataError(f"{name} is no parameter of {cls.__name__}")
    if number < FIRST_NATIVE_ID:
        return _sklearn.restore(_sklearn.SPECS[number], params, state)
    for name in state:
        # An attribute must not stand in for a method, or for anything else of the class.
        if not name.isidentifier() or name.startswith("_") or hasattr(cls, name):
            raise DataError(f"{name} is no attribute of {cls.__name__}")
    return cls.from_state(dict(params), dict(state))


def _because(estimator: Any, why: str) -> str:
    return f"a model file cannot hold this {type(estimator).__name__}: {why}"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
