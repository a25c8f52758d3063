"""The cost of each mistake: a number per true class and predicted class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, ParameterError, did_you_mean

Floats = NDArray[np.float64]

_FORMS = (
    "a matrix (rows: truth, columns: prediction), a mapping such as {('spam', 'ham'): 10}, or "
    "texts such as 'spam,ham=10'"
)


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """The cost of every predicted class, for every true class.

    Parameters
    ----------
    classes : sequence
        The K labels.
    values : ndarray of float64 of shape (K, K)
        ``values[j, k]``: cost of predicting class k when j is true.

    Examples
    --------
    >>> cost = CostMatrix.of("nospam,spam=10", ["nospam", "spam"])
    >>> cost.values.tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    """

    classes: tuple[Any, ...]
    values: Floats

    @classmethod
    def of(cls, cost: Any, classes: Sequence[Any] | NDArray[Any]) -> CostMatrix:
        """Read costs in any form that a user may give.

        Parameters
        ----------
        cost : CostMatrix, array-like, mapping, str or sequence of str
            A matrix with a row per true and a column per predicted class; a mapping from (truth,
            prediction) to a cost; or texts ``truth,prediction=cost``, several of them separated by
            semicolons or as a sequence. Pairs that are not named cost 1, and 0 on the diagonal.
        classes : sequence
            The labels, in the order of rows and columns.

        Returns
        -------
        CostMatrix

        Raises
        ------
        ParameterError
            For an unknown class, a cost that is not a finite number, and a right answer that costs
            more than a wrong one.
        """
        labels = tuple(_plain(label) for label in classes)
        if isinstance(cost, CostMatrix):
            if cost.classes != labels:
                raise ParameterError(
                    f"cost must be a matrix of the classes {_listed(labels)}; "
                    f"got one of {_listed(cost.classes)}"
                )
            return cost
        if isinstance(cost, str):
            cost = [cost]
        if isinstance(cost, Mapping):
            values = _from_pairs(list(cost.items()), labels)
        elif isinstance(cost, Sequence) and cost and all(isinstance(each, str) for each in cost):
            texts = [part for each in cost for part in each.split(";") if part.strip()]
            values = _from_pairs([_parsed(text.strip(), labels) for text in texts], labels)
        else:
            values = _from_matrix(cost, labels)
        _check_right_is_cheapest(values, labels)
        return cls(labels, values)

    def __str__(self) -> str:
        """Return the costs that differ from 1 as text."""
        odd = [
            f"{truth} as {other}: {self.values[j, k]:g}"
            for j, truth in enumerate(self.classes)
            for k, other in enumerate(self.classes)
            if self.values[j, k] != float(j != k)
        ]
        if not odd:
            return "every mistake costs 1"
        wrong = len(self.classes) * (len(self.classes) - 1)
        others = "" if len(odd) >= wrong else "; every other mistake: 1"
        return "; ".join(odd) + others


def check_costs(cost: ArrayLike | CostMatrix, n_classes: int, n_rows: int) -> Floats:
    """Return costs as an array of shape (K, K), or (n, K, K) if they differ from row to row.

    Parameters
    ----------
    cost : CostMatrix or array-like
        The value received.
    n_classes : int
        Number of classes K.
    n_rows : int
        Number of rows n.

    Raises
    ------
    DataError
        If the shape does not fit, or a cost is not finite.
    """
    values = cost.values if isinstance(cost, CostMatrix) else _numbers(cost)
    if values.shape not in ((n_classes, n_classes), (n_rows, n_classes, n_classes)):
        raise DataError(
            f"cost must have shape ({n_classes}, {n_classes}), or ({n_rows}, {n_classes}, "
            f"{n_classes}) for one matrix per row; got {values.shape}"
        )
    return values


def _numbers(cost: Any) -> Floats:
    try:
        values = np.array(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"cost must be {_FORMS}; got {cost!r}") from None
    if not np.isfinite(values).all():
        raise ParameterError("cost must hold finite numbers only; got a value that is not")
    return values


def _from_matrix(cost: Any, labels: tuple[Any, ...]) -> Floats:
    values = _numbers(cost)
    size = len(labels)
    if values.shape != (size, size):
        raise ParameterError(
            f"cost must be {_FORMS}; a matrix needs shape ({size}, {size}) for the classes "
            f"{_listed(labels)}; got {'shape ' + str(values.shape) if values.ndim else repr(cost)}"
        )
    return values


def _from_pairs(pairs: Sequence[tuple[Any, Any]], labels: tuple[Any, ...]) -> Floats:
    values = 1.0 - np.eye(len(labels))
    position = {label: at for at, label in enumerate(labels)}
    seen: set[tuple[int, int]] = set()
    for pair, cost in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterError(f"cost must be {_FORMS}; got the key {pair!r}")
        for label in map(_plain, pair):
            if label not in position:
                hint = did_you_mean(str(label), list(map(str, labels)))
                raise ParameterError(
                    f"cost names the class {label!r}, which is not there; the classes are "
                    f"{_listed(labels)}{hint}"
                )
        at = position[_plain(pair[0])], position[_plain(pair[1])]
        if at in seen:
            raise ParameterError(f"cost names the pair {pair[0]!r}, {pair[1]!r} twice")
        seen.add(at)
        values[at] = float(_numbers(cost))
    return values


def _parsed(text: str, labels: tuple[Any, ...]) -> tuple[tuple[Any, Any], float]:
    """Read ``truth,prediction=cost``; labels may hold commas themselves."""
    pair, mark, number = text.rpartition("=")
    try:
        cost = float(number)
    except ValueError:
        mark = ""
    if not mark or "," not in pair:
        raise ParameterError(
            f"cost as text is truth,prediction=number, for example spam,ham=10; got {text!r}"
        )
    named = {str(label): label for label in labels}
    parts = pair.split(",")
    ways = [
        (",".join(parts[:at]).strip(), ",".join(parts[at:]).strip()) for at in range(1, len(parts))
    ]
    fitting = [(named[a], named[b]) for a, b in ways if a in named and b in named]
    if len(fitting) > 1:
        raise ParameterError(f"cost {text!r} can be read in {len(fitting)} ways; use a mapping")
    return (fitting[0] if fitting else ways[0]), cost


def _check_right_is_cheapest(values: Floats, labels: tuple[Any, ...]) -> None:
    worse = np.argwhere(values < np.diag(values)[:, None])
    if len(worse):
        j, k = worse[0]
        raise ParameterError(
            f"cost must not be lower for a wrong answer than for the right one; {labels[j]!r} "
            f"predicted as {labels[k]!r} costs {values[j, k]:g}, as itself {values[j, j]:g}"
        )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _listed(labels: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, labels[:8]))
    return shown if len(labels) <= 8 else f"{shown} and {len(labels) - 8} more"
