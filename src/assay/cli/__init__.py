"""The command line: parse, call, show. Only click is imported until a command runs."""

from __future__ import annotations

from assay._public import publish
from assay.cli._main import main, run

__all__ = ["main", "run"]

publish(__name__)
