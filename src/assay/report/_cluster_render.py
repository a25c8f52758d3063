"""The page of a clustering: the same frame as a study's report, other sections."""

from __future__ import annotations

import os
from pathlib import Path

from assay.record import ClusterRecord
from assay.report._cluster_page import cluster_page
from assay.report._render import framed, saved


def render_clusters(record: ClusterRecord) -> str:
    """Return the report of a clustering as one self-contained HTML page.

    Parameters
    ----------
    record : ClusterRecord
        The record of a clustering (``Clustering.record``).

    Returns
    -------
    str
        HTML that needs no network and sends nothing.

    Examples
    --------
    >>> import assay
    >>> found = assay.study.find_clusters(
    ...     assay.datasets.path("penguins"), method="kmeans", n_clusters=3
    ... )
    >>> render_clusters(found.record)[:15]
    '<!doctype html>'
    """
    return framed(cluster_page(record), "clusters.html.j2", "clusters.css")


def write_clusters(record: ClusterRecord, path: str | os.PathLike[str]) -> Path:
    """Write the report of a clustering; the file is there completely or not at all.

    Parameters
    ----------
    record : ClusterRecord
        The record of a clustering (``Clustering.record``).
    path : path
        Where to write; an existing file is replaced.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    OSError
        If the file cannot be written; an existing one is then left as it was.
    """
    return saved(render_clusters(record), path)
