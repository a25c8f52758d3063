"""The main job: from a table to a model, its honest score and a report."""

from __future__ import annotations

from assay._public import publish
from assay.record import Score
from assay.study._cluster import ClusterJob, ClusterSettings, find_clusters, prepare_clusters
from assay.study._cluster_methods import usual_distance
from assay.study._clustering import Clustering
from assay.study._default_candidates import default_candidates
from assay.study._fit import fit
from assay.study._job import Job, prepare
from assay.study._model import Answers, Model
from assay.study._openings import book_of
from assay.study._progress import Progress
from assay.study._record import table_record
from assay.study._settings import SearchSettings
from assay.study._study import Opening, Study, load

__all__ = [
    "Answers",
    "ClusterJob",
    "ClusterSettings",
    "Clustering",
    "Job",
    "Model",
    "Opening",
    "Progress",
    "Score",
    "SearchSettings",
    "Study",
    "book_of",
    "default_candidates",
    "find_clusters",
    "fit",
    "load",
    "prepare",
    "prepare_clusters",
    "table_record",
    "usual_distance",
]

publish(__name__)
