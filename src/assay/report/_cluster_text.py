"""The record of a clustering as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.report._format import clean, count, notes_to_show, share, short
from assay.report._text import _block

_MAX_CLUSTERS = 12
_MAX_TRAITS = 3


def cluster_text(record: Mapping[str, Any]) -> str:
    """Return the clusters, what sets each apart, and how method and number were chosen.

    Parameters
    ----------
    record : dict
        The plain record of a clustering.

    Examples
    --------
    >>> print(cluster_text({
    ...     "rows": {"used": 10}, "n_clusters": 1, "unassigned": 0, "silhouette": None,
    ...     "method": {"text": "k-means", "reason": "as asked for"}, "number": None,
    ...     "clusters": [{"label": 0, "size": 10, "traits": []}], "notes": [],
    ... }))
    Clusters   1 by k-means
                0  10 rows  100%
    Method     k-means: as asked for
    """
    data = clean(record)
    method = data["method"]
    head = f"{data['n_clusters']} by {method['text']}"
    if data.get("silhouette") is not None:
        head += f", mean silhouette {data['silhouette']:.2f}"
    lines = [_block("Clusters", [head, *_clusters(data)])]
    if data.get("number"):
        number = data["number"]
        lines.append(_block("Number", [f"{number['n_clusters']}: {number['reason']}"]))
    lines.append(_block("Method", [f"{method['text']}: {method['reason']}"]))
    if notes_to_show(data):
        lines.append(_block("Notes", notes_to_show(data)[:10]))
    return "\n".join(lines)


def _clusters(data: Mapping[str, Any]) -> list[str]:
    entries: Sequence[Mapping[str, Any]] = data.get("clusters") or []
    rows = data["rows"]["used"]
    sizes = [f"{entry['size']:,}" for entry in entries[:_MAX_CLUSTERS]]
    if data["unassigned"]:
        sizes.append(f"{data['unassigned']:,}")
    digits = max(map(len, sizes), default=0)
    width = len(str(max((entry["label"] for entry in entries), default=0)))
    lines = []
    for entry in entries[:_MAX_CLUSTERS]:
        traits = ", ".join(_trait(trait) for trait in entry["traits"][:_MAX_TRAITS])
        lines.append(
            f" {entry['label']:>{width}}  {entry['size']:>{digits},} rows  "
            f"{share(entry['size'], rows):>4}{'  ' if traits else ''}{traits}"
        )
    rest = data["n_clusters"] - len(entries[:_MAX_CLUSTERS])
    if rest > 0:
        lines.append(f" and {count(rest, 'more cluster')}")
    if data["unassigned"]:
        none = data["unassigned"]
        lines.append(
            f" {'-':>{width}}  {none:>{digits},} rows  {share(none, rows):>4}  in no cluster"
        )
    return lines


def _trait(trait: Mapping[str, Any]) -> str:
    if trait["share"]:
        return f"{trait['name']} {trait['mean']:.0%} ({trait['overall']:.0%})"
    return f"{trait['name']} {short(trait['mean'])} ({short(trait['overall'])})"
