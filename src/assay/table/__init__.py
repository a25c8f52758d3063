"""Reading tables strictly, column kinds, row accounting, and the in-fold encoder."""

from __future__ import annotations

from assay._public import publish
from assay.table._columns import Column, Feature
from assay.table._dataset import Dataset, RowAccount
from assay.table._encoder import Encoder
from assay.table._kinds import Kind
from assay.table._prepare import prepare
from assay.table._raw import MISSING_MARKERS, RawTable, Where
from assay.table._read import read
from assay.table._schema import Schema
from assay.table._target import Target

__all__ = [
    "MISSING_MARKERS",
    "Column",
    "Dataset",
    "Encoder",
    "Feature",
    "Kind",
    "RawTable",
    "RowAccount",
    "Schema",
    "Target",
    "Where",
    "prepare",
    "read",
]

publish(__name__)
