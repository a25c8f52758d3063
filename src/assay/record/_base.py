"""Records as typed objects: to and from JSON, checked by the types of their fields."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from inspect import get_annotations
from typing import (
    Any,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from assay.base import DataError

Read = Callable[[Any, str], Any]
C = TypeVar("C", bound=type)

#: JSON has no word for these numbers; a record writes them as text.
NOT_FINITE = ("inf", "-inf", "nan")
MAX_DEPTH = 12
MAX_ITEMS = 1_000_000
_MAX_PATH = 200
_OMIT = {"omit": True}
_HOMES: dict[type, str] = {}


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True)
def record(cls: C) -> C:
    """Make a class a frozen dataclass of keyword fields, compared by its JSON."""
    _HOMES[cls] = cls.__module__  # its public module, later, does not have the names of its types
    return cast("C", dataclass(frozen=True, eq=False, kw_only=True)(cls))


def omitted() -> Any:
    """Return the default of a field that is not written while it is None."""
    return field(default=None, metadata=_OMIT)


class Record:
    """A part of a record: plain values whose types are checked when they are read.

    Keys that this version does not know are kept and written again, so that a file of a later
    version with the same format number stays what it is.
    """

    # Both are set by `from_json` only: what was there beyond the fields, and what was not.
    _unknown: Mapping[str, Any] = types.MappingProxyType({})
    _absent: frozenset[str] = frozenset()

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the record that plain JSON values hold.

        Parameters
        ----------
        data : dict
            As `to_json` returned it, perhaps after a journey through a file.

        Raises
        ------
        DataError
            If a part is missing, of the wrong type, not finite, too deep or too long. The message
            names the part.
        """
        return cast("Self", _read(cls, data, ""))

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values: dicts, lists, texts, finite numbers, None."""
        found = {}
        for each in fields(cast("Any", self)):
            value = getattr(self, each.name)
            if value is None and ("omit" in each.metadata or each.name in self._absent):
                continue
            found[each.name] = plain(value)
        return {**found, **self._unknown}

    def check(self) -> None:
        """Raise a `ValueError` if the fields do not fit together; types are checked before."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]


def plain(value: Any) -> Any:
    """Return a value of a record as JSON can hold it."""
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def same_length(**named: Iterable[Any]) -> None:
    """Raise unless the named sequences have the same length."""
    lengths = {name: len(list(values)) for name, values in named.items()}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"lengths must be equal; got {got}")


def _read(cls: type[Record], data: Any, path: str) -> Record:
    if not isinstance(data, dict):
        raise damaged(path, "a JSON object", data)
    values: dict[str, Any] = {}
    absent = []
    hints: dict[str, Read] = readers(cast("Any", cls))
    for each in fields(cast("Any", cls)):
        where = f"{path}.{each.name}" if path else each.name
        if each.name in data:
            values[each.name] = hints[each.name](data[each.name], where)
        elif each.default is None:
            absent.append(each.name)
        else:
            raise damage(where, "is missing")
    more = {name: value for name, value in data.items() if name not in hints}
    for name, value in more.items():
        _read_json(value, f"{path}.{name}" if path else str(name))
    made = cls(**values)
    object.__setattr__(made, "_absent", frozenset(absent))
    object.__setattr__(made, "_unknown", more)
    try:
        made.check()
    except ValueError as error:
        raise damage(path, f"does not fit together: {error}") from None
    return made


@cache
def types_of(cls: Any) -> dict[str, Any]:
    """Return the types of the fields of a class."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base in _HOMES:
            own = types.SimpleNamespace(__annotations__=get_annotations(base))
            found |= get_type_hints(own, globalns=vars(sys.modules[_HOMES[base]]))
    return found


@cache
def readers(cls: Any) -> dict[str, Read]:
    """Return what reads each field of a class, by the field's type."""
    hints = types_of(cls)
    return {each.name: _reader(hints[each.name]) for each in fields(cls)}


def _reader(hint: Any) -> Read:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return _read_json
    if origin in (Union, types.UnionType):
        return _union(tuple(_reader(each) for each in args if each is not type(None)), args)
    if origin is tuple:
        return _sequence(_reader(args[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_reader(args[1]))
    if isinstance(hint, type) and issubclass(hint, Record):
        return lambda value, path: _read(hint, value, path)
    return _SCALARS[hint]


def _union(choices: tuple[Read, ...], args: tuple[Any, ...]) -> Read:
    optional = type(None) in args

    def read(value: Any, path: str) -> Any:
        if value is None and optional:
            return None
        for choice in choices[:-1]:
            try:
                return choice(value, path)
            except DataError:
                continue
        return choices[-1](value, path)

    return read


def _sequence(item: Read) -> Read:
    def read(value: Any, path: str) -> Any:
        if not isinstance(value, (list, tuple)):
            raise damaged(path, "a list", value)
        _check_length(value, path)
        return tuple(item(each, f"{path}[{at}]") for at, each in enumerate(value))

    return read


def _mapping(item: Read) -> Read:
    def read(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise damaged(path, "a JSON object", value)
        _check_length(value, path)
        return {str(name): item(each, f"{path}.{name}") for name, each in value.items()}

    return read


def _read_text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise damaged(path, "a text", value)
    return value


def _read_bool(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise damaged(path, "true or false", value)
    return value


def _read_int(value: Any, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise damaged(path, "an integer", value)
    return value


def _read_float(value: Any, path: str) -> float:
    if isinstance(value, str) and value in NOT_FINITE:
        return float(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not _finite(value):
        raise damaged(path, "a number", value)
    return value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


def _read_json(value: Any, path: str, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise DataError(
            f"the record is damaged: {path[:_MAX_PATH]} is nested more than {MAX_DEPTH} deep"
        )
    if isinstance(value, dict):
        _check_length(value, path)
        return {str(name): _read_json(each, path, depth + 1) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        _check_length(value, path)
        return [_read_json(each, path, depth + 1) for each in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)) and _finite(value):
        return value
    raise damaged(path, "plain JSON", value)


def _check_length(value: Any, path: str) -> None:
    if len(value) > MAX_ITEMS:
        raise damage(path, f"has {len(value):,} entries; at most {MAX_ITEMS:,} are allowed")


_SCALARS: dict[Any, Read] = {
    str: _read_text,
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
}
_KINDS = {
    dict: "a JSON object", list: "a list", tuple: "a list", str: "a text", bool: "true or false",
    int: "an integer", type(None): "null",
}  # fmt: skip


def damage(path: str, what: str) -> DataError:
    """Return the error for a part of a record."""
    return DataError(f"the record is damaged: {path[:_MAX_PATH] or 'it'} {what}")


def damaged(path: str, wanted: str, value: Any) -> DataError:
    """Return the error for a part of the wrong type."""
    if isinstance(value, float):
        got = f"the number {value!r}"
    else:
        got = _KINDS.get(type(value), f"an object of type {type(value).__name__}")
    return DataError(
        f"the record is damaged: {path[:_MAX_PATH] or 'it'} must be {wanted}; got {got}"
    )
