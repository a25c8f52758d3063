"""The record of a clustering as lines of text for a terminal."""

from __future__ import annotations

from assay.record import ClusterRecord, Trait
from assay.report._format import clean, count, notes_to_show, share, short
from assay.report._text import _block

_MAX_CLUSTERS = 12
_MAX_NOTES = 10
_MAX_TRAITS = 3


def cluster_text(record: ClusterRecord) -> str:
    """Return the clusters, what sets each apart, and how method and number were chosen.

    Parameters
    ----------
    record : ClusterRecord
        The record of a clustering.

    Examples
    --------
    >>> import assay
    >>> found = assay.study.find_clusters(
    ...     assay.datasets.path("penguins"), method="kmeans", n_clusters=1, columns=["island"]
    ... )
    >>> print(cluster_text(found.record))
    Clusters   1 by k-means
                0  344 rows  100%
    Method     k-means: as requested
    """
    data = clean(record)
    method, number = data.method, data.number
    head = f"{data.n_clusters} by {method.text}"
    if data.silhouette is not None:
        head += f", mean silhouette {data.silhouette:.2f}"
    blocks = [
        ("Clusters", [head, *_clusters(data)]),
        ("Number", [] if number is None else [f"{number.n_clusters}: {number.reason}"]),
        ("Method", [f"{method.text}: {method.reason}"]),
        ("Notes", notes_to_show(data.notes)[:_MAX_NOTES]),
    ]
    return "\n".join(_block(name, lines) for name, lines in blocks if lines)


def _clusters(data: ClusterRecord) -> list[str]:
    entries, rows = data.clusters, data.rows.used
    sizes = [f"{entry.size:,}" for entry in entries[:_MAX_CLUSTERS]]
    if data.unassigned:
        sizes.append(f"{data.unassigned:,}")
    digits = max(map(len, sizes), default=0)
    width = len(str(max((entry.label for entry in entries), default=0)))
    lines = []
    for entry in entries[:_MAX_CLUSTERS]:
        traits = ", ".join(_trait(trait) for trait in entry.traits[:_MAX_TRAITS])
        lines.append(
            f" {entry.label:>{width}}  {entry.size:>{digits},} rows  "
            f"{share(entry.size, rows):>4}{'  ' if traits else ''}{traits}"
        )
    rest = data.n_clusters - len(entries[:_MAX_CLUSTERS])
    if rest > 0:
        lines.append(f" and {count(rest, 'more cluster')}")
    if data.unassigned:
        none = data.unassigned
        lines.append(
            f" {'-':>{width}}  {none:>{digits},} rows  {share(none, rows):>4}  in no cluster"
        )
    return lines


def _trait(trait: Trait) -> str:
    if trait.share:
        return f"{trait.name} {trait.mean:.0%} ({trait.overall:.0%})"
    return f"{trait.name} {short(trait.mean)} ({short(trait.overall)})"
