"""Classical machine learning whose numbers you can trust.

>>> import assay
>>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
>>> study.score.value > 0.95
True
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.study import Study, fit, load

__version__ = "0.1.0"

__all__ = ["Study", "__version__", "fit", "load"]

_FROM_STUDY = frozenset({"Study", "fit", "load"})


def __getattr__(name: str) -> Any:
    # Imported on first use: `import assay` must not pay for scikit-learn and Polars.
    if name in _FROM_STUDY:
        return getattr(import_module("assay.study"), name)
    if not name.startswith("_") and find_spec(f"assay.{name}") is not None:
        return import_module(f"assay.{name}")
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    rooms = (module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
    return sorted({*globals(), *_FROM_STUDY, *rooms})
