"""The main job: from a table to a model, its honest score and a report."""

from __future__ import annotations

from assay._public import publish
from assay.study._cluster import find_clusters
from assay.study._cluster_methods import usual_distance
from assay.study._clustering import Clustering
from assay.study._default_candidates import default_candidates
from assay.study._fit import Progress, fit
from assay.study._model import Model
from assay.study._openings import book_of
from assay.study._study import Opening, Score, Study, load

__all__ = [
    "Clustering",
    "Model",
    "Opening",
    "Progress",
    "Score",
    "Study",
    "book_of",
    "default_candidates",
    "find_clusters",
    "fit",
    "load",
    "usual_distance",
]

publish(__name__)
