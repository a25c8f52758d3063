"""The command line: parse, call, show. Only click is imported until a command runs."""

from __future__ import annotations

from assay.cli._main import main

__all__ = ["main"]
