"""Learning curves, complexity curves and the choice of a size."""

from __future__ import annotations

from assay.select.curves._complexity import complexity_curve
from assay.select.curves._learning import learning_curve
from assay.select.curves._model_selection import SizeSelection, model_selection
from assay.select.curves._result import Curve

__all__ = [
    "Curve",
    "SizeSelection",
    "complexity_curve",
    "learning_curve",
    "model_selection",
]
