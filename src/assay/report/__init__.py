"""A record of a study as one self-contained HTML page, or as a few lines of text."""

from __future__ import annotations

from assay.report._render import render, write
from assay.report._text import overview_text, summary_text

__all__ = ["overview_text", "render", "summary_text", "write"]
