"""Groups of rows that are alike."""

from __future__ import annotations

__all__: list[str] = []
