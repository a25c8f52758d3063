"""Projections on few directions."""

from __future__ import annotations

__all__: list[str] = []
