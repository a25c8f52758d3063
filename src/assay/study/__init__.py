"""The main job: from a table to a model, its honest score and a report."""

from __future__ import annotations

from assay.study._fit import Progress, fit
from assay.study._model import Model
from assay.study._portfolio import portfolio
from assay.study._study import Score, Study, load

__all__ = ["Model", "Progress", "Score", "Study", "fit", "load", "portfolio"]
