"""Random states: checked, drawn from, and passed to nested models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import utils
from sklearn.base import clone

from assay.base._errors import ParameterError


def check_random_state(random_state: object) -> np.random.RandomState:
    """Return the generator that `random_state` stands for.

    Parameters
    ----------
    random_state : int, RandomState or None
        None: NumPy's global generator, so each call continues its stream.

    Returns
    -------
    RandomState

    Raises
    ------
    ParameterError
        If it is something else.

    Examples
    --------
    >>> check_random_state("seven")
    Traceback (most recent call last):
    assay.base.ParameterError: random_state must be None, an integer in [0, 2**32) or a ...
    """
    try:
        return utils.check_random_state(random_state)  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        raise ParameterError(
            "random_state must be None, an integer in [0, 2**32) or a RandomState; "
            f"got {random_state!r}"
        ) from None


def draw_seed(random_state: object) -> int:
    """Draw the one seed below 2**31 that all random choices of a fit follow from.

    Parameters
    ----------
    random_state : int, RandomState or None
        As in scikit-learn.

    Returns
    -------
    int
    """
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def is_random_state(name: str) -> bool:
    """Return whether a parameter, possibly of a nested model, is a random state."""
    return name == "random_state" or name.endswith("__random_state")


def with_seeds(estimator: Any, draw: Callable[[str], int], *, replace: bool = False) -> Any:
    """Return a clone in which every random state that was None, nested ones too, is a number.

    Parameters
    ----------
    estimator : estimator
        The template.
    draw : callable
        From the name of a parameter to its number; called in alphabetical order.
    replace : bool, default=False
        Whether to replace random states that are not None, too.

    Returns
    -------
    estimator
    """
    copy = clone(estimator)
    params = copy.get_params(deep=True)
    names = sorted(n for n in params if is_random_state(n) and (replace or params[n] is None))
    return copy.set_params(**{name: draw(name) for name in names}) if names else copy


def seeded(estimator: Any, seed: int | tuple[int, ...]) -> Any:
    """Return a clone in which every random state that was None follows from a seed.

    Parameters
    ----------
    estimator : estimator
        The template; seeds set by the user are kept.
    seed : int or tuple of int
        Determines the numbers.

    Returns
    -------
    estimator

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> seeded(Ridge(), 0).random_state == seeded(Ridge(), 0).random_state is not None
    True
    >>> seeded(Ridge(random_state=7), 0).random_state
    7
    """
    stream = np.random.default_rng(seed)
    return with_seeds(estimator, lambda _: int(stream.integers(2**31 - 1)))
