"""Classification by Bayes' rule with independent columns."""

from __future__ import annotations

__all__: list[str] = []
