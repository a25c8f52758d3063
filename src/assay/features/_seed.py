"""The parameter `random_state`, checked."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from assay.base import ParameterError


def generator(random_state: object) -> np.random.RandomState:
    """Return the generator that `random_state` stands for.

    Parameters
    ----------
    random_state : int, RandomState or None
        None: another one at each call.

    Returns
    -------
    RandomState

    Raises
    ------
    ParameterError
        When it is none of these.
    """
    try:
        return check_random_state(random_state)  # type: ignore[no-any-return]
    except ValueError:
        raise ParameterError(
            "random_state must be None, an integer in [0, 4294967295] or a RandomState; "
            f"got {random_state!r}"
        ) from None
