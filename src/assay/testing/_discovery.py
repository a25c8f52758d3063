"""Every public estimator, found by walking the packages rather than kept in a list."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import assay
from assay.base import Estimator


def public_estimators() -> list[type[Estimator]]:
    """Return the estimator classes in the ``__all__`` of every family of Assay.

    Returns
    -------
    list of type
        Sorted by package and name, without the base classes.

    Examples
    --------
    >>> from assay.testing import public_estimators
    >>> "KNeighborsClassifier" in [cls.__name__ for cls in public_estimators()]
    True
    """
    found: dict[type[Estimator], None] = {}
    for info in sorted(pkgutil.iter_modules(assay.__path__), key=lambda info: info.name):
        if info.ispkg and not info.name.startswith("_") and info.name not in ("base", "testing"):
            package = import_module(f"assay.{info.name}")
            for name in sorted(package.__all__):
                thing = getattr(package, name)
                if inspect.isclass(thing) and issubclass(thing, Estimator):
                    found[thing] = None
    return list(found)
