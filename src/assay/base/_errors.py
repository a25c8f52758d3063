"""The two errors a user can cause; the command line has an exit code for each."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class DataError(ValueError):
    """The data cannot be used; the message states where the problem is and what to do."""


class ParameterError(ValueError):
    """A parameter is not allowed; the message names it, the allowed values and the one given."""


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
