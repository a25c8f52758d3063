"""Seeds that belong to a key: open ``random_state`` parameters filled in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from assay.base import is_random_state, with_seeds


def seeded(estimator: Any, key: str) -> Any:
    """Return a clone whose open ``random_state`` parameters, nested ones too, come from the key.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(), "key").random_state
    705236000
    >>> seeded(DecisionTreeClassifier(random_state=3), "key").random_state
    3
    """
    return with_seeds(estimator, lambda name: seed_of(key, name))


def seeded_candidate(candidate: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the candidate with its own estimators seeded, and no ``random_state`` opened again."""
    return {
        name: seeded(value, f"{key}:{name}") if _is_estimator(value) else value
        for name, value in candidate.items()
        if value is not None or not is_random_state(name)
    }


def seed_of(key: str, name: str) -> int:
    """Return a seed in the range every scikit-learn estimator accepts."""
    return int.from_bytes(hashlib.sha256(f"{key}:{name}".encode()).digest()[:4], "big") >> 1


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)
