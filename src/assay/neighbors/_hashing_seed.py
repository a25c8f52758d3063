"""The generator that `random_state` stands for."""

from __future__ import annotations

from numpy.random import RandomState
from sklearn.utils import check_random_state

from assay.base import ParameterError


def generator(random_state: int | RandomState | None) -> RandomState:
    """Return the generator, or refuse what is none in the words of the house."""
    try:
        found: RandomState = check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            "random_state must be None, an integer in [0, 4294967295] or a numpy RandomState; "
            f"got {random_state!r}"
        ) from None
    return found
