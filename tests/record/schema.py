"""A small checker of the part of JSON Schema that records use."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
}  # fmt: skip


def problems(value: Any, schema: dict[str, Any], *, root: Any = None, path: str = "") -> list[str]:
    """Return what does not fit, with its path; nothing for a value that fits."""
    root = schema if root is None else root
    if "$ref" in schema:
        return problems(value, root["$defs"][schema["$ref"].split("/")[-1]], root=root, path=path)
    if "anyOf" in schema:
        every = [problems(value, each, root=root, path=path) for each in schema["anyOf"]]
        return min(every, key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{path}: {value!r} is not allowed"]
    kind = schema.get("type")
    if kind is not None and not _is(value, kind):
        return [f"{path}: {value!r:.40} is not of type {kind}"]
    found: list[str] = []
    if kind == "object":
        own = schema.get("properties", {})
        found += [f"{path}: {name} is missing" for name in schema.get("required", ())
                  if name not in value]  # fmt: skip
        for name, each in value.items():
            inner = own.get(name, schema.get("additionalProperties", {}))
            found += problems(each, inner, root=root, path=f"{path}.{name}")
    if kind == "array":
        if len(value) > schema.get("maxItems", len(value)):
            found.append(f"{path}: too many items")
        for at, each in enumerate(value):
            found += problems(each, schema["items"], root=root, path=f"{path}[{at}]")
    return found


def _is(value: Any, kind: str) -> bool:
    if kind in ("number", "integer"):
        wanted = int if kind == "integer" else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    return isinstance(value, _TYPES[kind])
