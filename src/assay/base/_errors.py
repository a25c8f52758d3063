"""The two errors a user can cause, told apart because the command line exits differently."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class DataError(ValueError):
    """The data cannot be used as asked; the message says where and what to do."""


class ParameterError(ValueError):
    """A parameter is out of its range; the message names it, what is allowed and what came."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known name nearest to `name`, or nothing.

    Examples
    --------
    >>> did_you_mean("Survved", ["Survived", "Sex"])
    "; did you mean 'Survived'?"
    >>> did_you_mean("zzz", ["Survived"])
    ''
    """
    known = list(known)
    folded = {text.casefold(): text for text in known}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""
