"""The page of a clustering: the same frame as a study's report, other sections."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.report._cluster_page import cluster_page
from assay.report._render import framed, saved


def render_clusters(record: Mapping[str, Any]) -> str:
    """Return the report of a clustering as one self-contained HTML page.

    Parameters
    ----------
    record : dict
        The plain record of a clustering (``Clustering.record``).

    Returns
    -------
    str
        HTML that needs no network and sends nothing.

    Raises
    ------
    DataError
        If the record has another format or lacks a part.

    Examples
    --------
    >>> render_clusters({"format": 0})
    Traceback (most recent call last):
    assay.base.DataError: the record has format 0 and task None; this shows clusters of ...
    """
    return framed(cluster_page(record), "clusters.html.j2", "clusters.css")


def write_clusters(record: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the report of a clustering; the file is there completely or not at all.

    Parameters
    ----------
    record : dict
        The plain record of a clustering (``Clustering.record``).
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
