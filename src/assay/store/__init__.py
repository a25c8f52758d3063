"""The model file: fitted estimators as arrays and JSON in one file that cannot run code."""

from __future__ import annotations

from assay._public import publish
from assay.store._model_file import FORMAT, digest, inspect, load, save
from assay.store._parts import can_save
from assay.store._write import write_file

__all__ = ["FORMAT", "can_save", "digest", "inspect", "load", "save", "write_file"]

publish(__name__)
