"""Seeds of fits: open ``random_state`` parameters filled in.

What a unit *is* (data, code, versions) is its key in the ledger. What it *draws* depends only on
the study's seed, on the repeat and split, and on the public name of the estimator's class: so a
release of Assay or NumPy, a renamed file or other display names leave every number as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from assay.base import is_random_state, with_seeds
from assay.select.plan import digest, public_name


def fit_seed(estimator: Any, seed: int, *place: Any) -> str:
    """Return the text from which all random states of one fit are derived.

    Candidates of one family share it within a split: differences between them are then differences
    of their parameters, and a path can serve them all from one run.

    Parameters
    ----------
    estimator : estimator
        What is fitted; only the public name of its class counts.
    seed : int
        Seed of the study.
    *place
        Which fit of the study: repeat and blocks, or a word such as "refit".

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> one = fit_seed(DecisionTreeClassifier(max_depth=1), 0, "refit")
    >>> one == fit_seed(DecisionTreeClassifier(max_depth=2), 0, "refit")
    True
    """
    return digest([seed, *place, public_name(type(estimator))])


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
