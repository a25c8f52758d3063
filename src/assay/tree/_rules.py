"""A tree as rules: one rule per leaf, or one disjunction of conjunctions per class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError
from assay.tree._boxes import Boxes, simplified
from assay.tree._format import DisplayNames, format_categories, format_number
from assay.tree._tree_view import TreeView


@dataclass(frozen=True)
class Condition:
    """A condition on one column.

    Parameters
    ----------
    column : int
        The column.
    name : str
        Its name.
    low, high : float
        Of a numeric column: low < value <= high; infinite if unbounded.
    levels : tuple of str or None
        Of a nominal column: the categories allowed.
    takes_missing : bool
        Whether a missing value is allowed.
    text : str
        The condition as text.
    """

    column: int
    name: str
    low: float
    high: float
    levels: tuple[str, ...] | None
    takes_missing: bool
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Rule:
    """IF all conditions hold THEN the prediction of one leaf.

    Parameters
    ----------
    conditions : tuple of Condition
        At most one per column; none in a tree of one leaf.
    answer : object
        Class label, number, or tuple of numbers for several targets.
    shares : tuple of float or None
        Share of each class among the training rows of the leaf; None for a regression.
    n_samples : int
        Training rows of the leaf.
    leaf : int
        Index of the leaf, as returned by `apply`.
    text : str
        The rule as text.
    """

    conditions: tuple[Condition, ...]
    answer: Any
    shares: tuple[float, ...] | None
    n_samples: int
    leaf: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Dnf:
    """One class as a disjunction of conjunctions.

    Parameters
    ----------
    label : object
        The class.
    terms : tuple of tuple of Condition
        A row has the class if all conditions of at least one term hold.
    """

    label: Any
    terms: tuple[tuple[Condition, ...], ...]

    def __str__(self) -> str:
        if not self.terms:
            return "never"
        parts = [" and ".join(map(str, term)) or "always" for term in self.terms]
        if len(parts) == 1:
            return parts[0]
        closed = [len(term) == 1 and str(term[0]).startswith("(") for term in self.terms]
        return " or ".join(
            part if is_closed else f"({part})"
            for part, is_closed in zip(parts, closed, strict=True)
        )


@dataclass(frozen=True)
class RuleSet:
    """The rules of a tree, one for each leaf, from left to right.

    Parameters
    ----------
    rules : tuple of Rule
        Exactly one of them applies to a row.
    """

    rules: tuple[Rule, ...]
    _boxes: Boxes
    _labels: tuple[Any, ...]
    _display: DisplayNames

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def dnf(self, label: Any) -> Dnf:
        """Return the condition under which the tree predicts a class, simplified.

        Parameters
        ----------
        label : object
            One of ``classes_``.

        Returns
        -------
        Dnf
            Holds for exactly the rows for which the tree predicts the class. Sibling leaves of the
            same class are merged; conditions that exclude no leaf of another class are dropped;
            terms contained in others are dropped; terms that differ in one column are joined if one
            condition can express both.

        Raises
        ------
        ParameterError
            For a regression, or a label that is not a class of the tree.
        """
        if not self._labels:
            raise ParameterError("dnf needs a tree that predicts classes; got a regression")
        matches = [code for code, known in enumerate(self._labels) if known == label]
        if not matches:
            raise ParameterError(f"label must be one of {list(self._labels)}; got {label!r}")
        boxes = simplified(self._boxes, matches[0])
        terms = tuple(_conditions(boxes, row, self._display) for row in range(len(boxes.low)))
        return Dnf(self._labels[matches[0]], terms)


def rules(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> RuleSet:
    """Return a fitted tree as a set of readable rules.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names, class_names : sequence of str, optional
        Names to show for the columns and the classes in the text.

    Returns
    -------
    RuleSet
        One rule per leaf; conditions on the same column are merged. ``print`` shows the text.

    Examples
    --------
    >>> from assay.tree import DecisionTreeClassifier, rules
    >>> tree = DecisionTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["n", "n", "n", "y"])
    >>> print(rules(tree, feature_names=["rain", "wind"]))
    IF rain <= 0.5 THEN n (2 rows, 100 %)
    IF rain > 0.5 and wind <= 0.5 THEN n (1 row, 100 %)
    IF rain > 0.5 and wind > 0.5 THEN y (1 row, 100 %)
    >>> print(rules(tree, feature_names=["rain", "wind"]).dnf("n"))
    (rain <= 0.5) or (wind <= 0.5)
    """
    display = DisplayNames.of(model, feature_names, class_names)
    tree: TreeView = model.tree_
    boxes = Boxes.of(tree, display.has_missing)
    labels = tuple(model.classes_.tolist()) if tree.classes else ()
    found = [_rule(tree, boxes, row, labels, display) for row in range(len(boxes.leaf))]
    return RuleSet(tuple(found), boxes, labels, display)


def _rule(
    tree: TreeView, boxes: Boxes, row: int, labels: tuple[Any, ...], display: DisplayNames
) -> Rule:
    leaf = int(boxes.leaf[row])
    values = tree.answer[leaf]
    count = int(tree.n_node_samples[leaf])
    conditions = _conditions(boxes, row, display)
    rows = f"{count} row{'s' if count != 1 else ''}"
    shares = None
    if labels:
        answer = labels[int(values.argmax())]
        shares = tuple(values.tolist())
        rows += f", {100 * values.max():.0f} %"
    else:
        answer = values[0].item() if len(values) == 1 else tuple(values.tolist())
    premise = f"IF {' and '.join(map(str, conditions))} THEN" if conditions else "ALWAYS"
    text = f"{premise} {display.prediction(tree, leaf)} ({rows})"
    return Rule(conditions, answer, shares, count, leaf, text)


def _conditions(boxes: Boxes, row: int, display: DisplayNames) -> tuple[Condition, ...]:
    found = []
    for j in np.argsort(boxes.order[row], kind="stable"):
        if boxes.order[row, j] < np.iinfo(np.int64).max:
            found.append(_condition(boxes, row, int(j), display))
    return tuple(found)


def _condition(boxes: Boxes, row: int, j: int, display: DisplayNames) -> Condition:
    low, high = float(boxes.low[row, j]), float(boxes.high[row, j])
    name = display.columns[j]
    levels = None
    if j in display.levels:
        allowed: NDArray[np.bool_] = boxes.levels[j][row]
        levels = tuple(np.array(display.levels[j], dtype=object)[allowed].tolist())
        text = (
            f"{name} is known"
            if allowed.all()
            else f"{name} {format_categories(display.levels[j], allowed)}"
        )
    elif np.isinf(low) and np.isinf(high):
        text = f"{name} is known"
    elif np.isinf(low):
        text = f"{name} <= {format_number(high)}"
    elif np.isinf(high):
        text = f"{name} > {format_number(low)}"
    else:
        text = f"{format_number(low)} < {name} <= {format_number(high)}"
    missing = bool(boxes.missing[row, j])
    if missing and display.has_missing[j]:
        text = f"({text} or missing)"
    return Condition(j, name, low, high, levels, missing, text)
