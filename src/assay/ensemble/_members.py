"""Named lists of estimators as a parameter: checked, reachable by name, copied, seeded, fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from assay.base import ParameterError

Named = list[tuple[str, Any]]
Result = TypeVar("Result")


class NamedMembers(BaseEstimator):
    """Adds to `get_params` and `set_params` the members of the parameters in `_member_lists`.

    As in scikit-learn, ``set_params(ridge__alpha=2.0)`` reaches a parameter of the member
    'ridge', ``set_params(ridge=Lasso())`` replaces it and ``set_params(ridge="drop")`` leaves
    it out.
    """

    _member_lists: tuple[str, ...] = ("estimators",)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with `deep` also the members by name and their parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include them.

        Returns
        -------
        dict of str to object
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name, member in self._members():
                params[name] = member
                if hasattr(member, "get_params") and not isinstance(member, type):
                    inner = member.get_params(deep=True)
                    params |= {f"{name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, and parameters of members as ``name__parameter``.

        Parameters
        ----------
        **params : object
            The new values.

        Returns
        -------
        Self
        """
        own = super().get_params(deep=False)
        super().set_params(**{name: params.pop(name) for name in [*params] if name in own})
        names = {name for name, _ in self._members()}
        for name in [name for name in params if name in names]:
            self._replace(name, params.pop(name))
        members = dict(self._members())
        for name in [name for name in params if name.partition("__")[0] in members]:
            member, _, inner = name.partition("__")
            if hasattr(members[member], "set_params"):
                members[member].set_params(**{inner: params.pop(name)})
        super().set_params(**params)  # what is left is unknown, or of the final estimator
        return self

    def _members(self, *parameters: str) -> Named:
        """Return the (name, estimator) pairs of all lists; other items are skipped."""
        found: Named = []
        for parameter in parameters or self._member_lists:
            for group in _groups(getattr(self, parameter, None)):
                found += [pair for pair in group if is_pair(pair)]
        return found

    def _replace(self, name: str, member: Any) -> None:
        for parameter in self._member_lists:
            value = getattr(self, parameter)
            if value is None:
                continue
            groups = [
                [(key, member if key == name else old) for key, old in group]
                for group in _groups(value)
            ]
            setattr(self, parameter, groups if _is_nested(value) else groups[0])


def check_members(parameter: str, value: Any, kind: str, taken: Iterable[str] = ()) -> Named:
    """Check a list of members and return those that are not 'drop'.

    Parameters
    ----------
    parameter : str
        The parameter, for the message.
    value : list of (str, estimator)
        The value to check. The string 'drop' in place of an estimator leaves the member out.
    kind : {'classifier', 'regressor'}
        The required kind of the members.
    taken : iterable of str
        Names that no member may have.

    Returns
    -------
    list of (str, estimator)
    """
    if not isinstance(value, (list, tuple)) or not value or not all(map(is_pair, value)):
        raise ParameterError(
            f"{parameter} must be a list of (name, estimator) pairs, at least one; got {value!r}"
        )
    names = [name for name, _ in value]
    for position, name in enumerate(names):
        if name in names[:position] or name in set(taken) or "__" in name:
            raise ParameterError(
                f"{parameter} must have names that are unique, without '__' and not a parameter "
                f"of the model; got {name!r}"
            )
    members = [(name, member) for name, member in value if not _is_drop(member)]
    if not members:
        raise ParameterError(f"{parameter} must keep at least one estimator; all are 'drop'")
    for name, member in members:
        check_kind(f"{parameter} {name!r}", member, kind)
    return members


def check_kind(what: str, member: Any, kind: str) -> None:
    """Raise unless an estimator is a classifier or a regressor, as required.

    Parameters
    ----------
    what : str
        The parameter, for the message.
    member : object
        The value to check.
    kind : {'classifier', 'regressor'}
        The required kind.
    """
    fits = hasattr(member, "fit") and hasattr(member, "predict") and not isinstance(member, type)
    if not fits or not (is_classifier if kind == "classifier" else is_regressor)(member):
        raise ParameterError(f"{what} must be a {kind}; got {member!r}")


def fit_member(member: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None) -> Any:
    """Fit an estimator, with weights if it takes them.

    Parameters
    ----------
    member : estimator
        Fitted in place.
    X : table
        Rows.
    y : ndarray
        Targets.
    weight : ndarray of float64 or None
        Weights of the rows; not given to an estimator whose fit has no `sample_weight`.

    Returns
    -------
    estimator
        The same one.
    """
    if weight is not None and has_fit_parameter(member, "sample_weight"):
        return member.fit(X, y, sample_weight=weight)
    return member.fit(X, y)


def common_tag(members: Iterable[Any], name: str) -> bool:
    """Return whether an input tag such as ``"sparse"`` holds for every member.

    Parameters
    ----------
    members : iterable of estimator
        Other objects are skipped.
    name : str
        The tag.

    Returns
    -------
    bool
    """
    known = [m for m in members if isinstance(m, BaseEstimator) or hasattr(m, "__sklearn_tags__")]
    return bool(known) and all(getattr(get_tags(m).input_tags, name) for m in known)


def is_pair(item: Any) -> bool:
    """Return whether an item is a (name, object) pair."""
    return isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)


def _is_drop(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and not is_pair(value[0])


def _groups(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return []
    groups = value if _is_nested(value) else [value]
    return [group for group in groups if isinstance(group, (list, tuple))]
