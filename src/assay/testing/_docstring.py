"""The parameters in a numpydoc docstring."""

from __future__ import annotations

import inspect
import re

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<text>.*)$")
_DEFAULT = re.compile(r"default=(?P<value>.+)$")


def documented_parameters(cls: type) -> dict[str, str | None]:
    """Return the names in the Parameters section, in order, each with its default as written.

    Parameters
    ----------
    cls : type
        A class with a numpydoc docstring.

    Returns
    -------
    dict of str to str or None
        None where no default is written.

    Examples
    --------
    >>> from assay.neighbors import KNeighborsRegressor
    >>> documented_parameters(KNeighborsRegressor)["weights"]
    "'uniform'"
    """
    lines = (inspect.getdoc(cls) or "").splitlines()
    if "Parameters" not in lines:
        return {}
    found: dict[str, str | None] = {}
    for line, following in zip(
        lines[lines.index("Parameters") + 2 :],
        [*lines[lines.index("Parameters") + 3 :], ""],
        strict=True,
    ):
        if following and set(following) == {"-"}:
            break  # the next section
        entry = _ENTRY.match(line)
        if entry:
            default = _DEFAULT.search(entry["text"])
            for name in entry["names"].split(", "):
                found[name] = default["value"] if default else None
    return found


def signature_parameters(cls: type) -> dict[str, str | None]:
    """Return the parameters of the constructor, in order, each with its default as code."""
    parameters = inspect.signature(cls).parameters.values()
    return {
        parameter.name: None if parameter.default is parameter.empty else repr(parameter.default)
        for parameter in parameters
    }
