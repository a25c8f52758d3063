"""A record of a study as one self-contained HTML page, or as a few lines of text."""

from __future__ import annotations

from assay._public import publish
from assay.report._cluster_render import render_clusters, write_clusters
from assay.report._cluster_text import cluster_text
from assay.report._holdout import opening_text
from assay.report._render import render, write
from assay.report._text import HasTable, overview_text, summary_text

__all__ = [
    "HasTable",
    "cluster_text",
    "opening_text",
    "overview_text",
    "render",
    "render_clusters",
    "summary_text",
    "write",
    "write_clusters",
]

publish(__name__)
