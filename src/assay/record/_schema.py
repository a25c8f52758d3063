"""The JSON schema of a record, made from the types of its fields."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Union, cast, get_args, get_origin

from assay.record._base import MAX_ITEMS, NOT_FINITE, Record, types_of

_PLAIN = {str: "string", bool: "boolean", int: "integer"}


def json_schema(cls: type[Record]) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a class of records.

    Parameters
    ----------
    cls : type
        A class of `assay.record`, such as `StudyRecord`.

    Examples
    --------
    >>> from assay.record import Rows
    >>> json_schema(Rows)["required"]
    ['read', 'used', 'dropped']
    """
    parts: dict[str, Any] = {}
    whole = _object(cls, parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": cls.__name__,
        **whole,
        "$defs": {name: parts[name] for name in sorted(parts)},
    }


def _object(cls: type[Record], parts: dict[str, Any]) -> dict[str, Any]:
    hints = types_of(cast("Any", cls))
    own = fields(cast("Any", cls))
    return {
        "description": (cls.__doc__ or "").strip().splitlines()[0],
        "type": "object",
        "properties": {each.name: _schema(hints[each.name], parts) for each in own},
        "required": [each.name for each in own if each.default is not None],
    }


def _schema(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint is type(None):
        return {"type": "null"}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is float:
        # JSON has no word for numbers that are not finite.
        parts["number"] = {"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]}
        return {"$ref": "#/$defs/number"}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, parts) for each in args]}
    if origin is tuple:
        return {"type": "array", "items": _schema(args[0], parts), "maxItems": MAX_ITEMS}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(args[1], parts)}
    if hint.__name__ not in parts:
        parts[hint.__name__] = {}  # a class that holds itself would come back here
        parts[hint.__name__] = _object(hint, parts)
    return {"$ref": f"#/$defs/{hint.__name__}"}
