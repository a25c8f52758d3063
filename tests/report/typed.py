"""The functions of the report, for records that tests write down as plain JSON values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay import report
from assay.record import ClusterRecord, Column, Histogram, StudyRecord
from assay.report import _cluster_page, _columns, _page

Json = dict[str, Any]
COLUMN: Json = {"used": True, "reason": None, "missing": 0, "distinct": 0}


def page(record: Json) -> Json:
    return _page.page(StudyRecord.from_json(record))


def render(record: Json) -> str:
    return report.render(StudyRecord.from_json(record))


def write(record: Json, path: Path) -> Path:
    return report.write(StudyRecord.from_json(record), path)


def summary_text(record: Json) -> str:
    return report.summary_text(StudyRecord.from_json(record))


def overview_text(record: Json) -> str:
    return report.overview_text(StudyRecord.from_json(record))


def cluster_page(record: Json) -> Json:
    return _cluster_page.cluster_page(ClusterRecord.from_json(record))


def render_clusters(record: Json) -> str:
    return report.render_clusters(ClusterRecord.from_json(record))


def write_clusters(record: Json, path: Path) -> Path:
    return report.write_clusters(ClusterRecord.from_json(record), path)


def cluster_text(record: Json) -> str:
    return report.cluster_text(ClusterRecord.from_json(record))


def card(column: Json, n_rows: int) -> Json:
    return _columns.card(Column.from_json({**COLUMN, **column}), n_rows)


def cards(columns: list[Json], n_rows: int) -> Json:
    return _columns.cards([Column.from_json({**COLUMN, **column}) for column in columns], n_rows)


def spark(histogram: Json | None) -> Json | None:
    return _columns.spark(None if histogram is None else Histogram.from_json(histogram))
