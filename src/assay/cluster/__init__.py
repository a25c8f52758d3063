"""Clustering: groups of similar rows."""

from __future__ import annotations

from assay._public import publish
from assay.cluster._agglomerative import AgglomerativeClustering
from assay.cluster._choose import ClusterCount, ClusterCountRow, choose_n_clusters
from assay.cluster._criteria import ClusterCriteria, cluster_criteria
from assay.cluster._dbscan import DBSCAN
from assay.cluster._describe import ClusterSummary, describe_clusters
from assay.cluster._fuzzy import FuzzyKMeans
from assay.cluster._gaussian_mixture import GaussianMixture
from assay.cluster._graph import normalized_cut
from assay.cluster._kmeans import KMeans
from assay.cluster._mini_batch import MiniBatchKMeans
from assay.cluster._spectral import SpectralClustering

__all__ = [
    "DBSCAN",
    "AgglomerativeClustering",
    "ClusterCount",
    "ClusterCountRow",
    "ClusterCriteria",
    "ClusterSummary",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "MiniBatchKMeans",
    "SpectralClustering",
    "choose_n_clusters",
    "cluster_criteria",
    "describe_clusters",
    "normalized_cut",
]

publish(__name__)
