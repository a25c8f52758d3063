"""Public names: what a package exports reports that package as its module."""

from __future__ import annotations

import sys
from types import FunctionType

#: Where each published class or function is defined; doctest would look in the package.
SOURCES: dict[object, str] = {}


def publish(package: str) -> None:
    """Let everything in ``__all__`` of a package report the package as its module.

    Users then read ``assay.ensemble.RandomForestClassifier`` in tracebacks and pickles, and a
    private file can be renamed without any effect.

    Parameters
    ----------
    package : str
        Full name of the package, already filled.

    Examples
    --------
    >>> from assay.base import ParameterError
    >>> ParameterError.__module__
    'assay.base'
    """
    module = sys.modules[package]
    for name in module.__all__:
        thing = getattr(module, name)
        if not isinstance(thing, type | FunctionType):
            continue
        if thing.__module__.startswith(f"{package}."):
            SOURCES.setdefault(thing, thing.__module__)
            thing.__module__ = package
