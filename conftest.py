"""Doctest finds examples where they are written, not where their class or function is published."""

from __future__ import annotations

import doctest
from types import FunctionType
from typing import Any

from assay._public import SOURCES

_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _defined_in(self: Any, module: Any, item: Any) -> bool:
    if isinstance(item, type | FunctionType) and module is not None and item in SOURCES:
        return bool(SOURCES[item] == module.__name__)
    return bool(_from_module(self, module, item))


doctest.DocTestFinder._from_module = _defined_in  # type: ignore[attr-defined]
