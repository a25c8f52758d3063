"""Which columns matter, and tables made fit to learn from."""

from __future__ import annotations

__all__: list[str] = []
