"""Format the names and numbers of a fitted tree, for rules and drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Levels, ParameterError
from assay.tree._tree_view import TreeView


@dataclass(frozen=True)
class DisplayNames:
    """Names to show for the columns, categories and classes of a tree.

    Parameters
    ----------
    columns : list of str
        Names of the columns.
    levels : dict of int to list of str
        Categories of each nominal column.
    classes : list of str or None
        Names of the classes; None for a regression.
    has_missing : ndarray of bool
        Whether a column had missing values in fit.
    """

    columns: list[str]
    levels: dict[int, list[str]]
    classes: list[str] | None
    has_missing: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        model: Any,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
    ) -> DisplayNames:
        """Return the given names, or those of the fitted tree."""
        check_is_fitted(model)
        known = getattr(model, "feature_names_in_", None)
        n = model.n_features_in_
        columns = [f"x{j}" for j in range(n)] if known is None else [str(name) for name in known]
        if feature_names is not None:
            columns = _checked("feature_names", feature_names, n, "column")
        table = Levels(model.levels_, model.level_offsets_)
        levels = {
            int(j): [str(name) for name in table.of(c)]
            for c, j in enumerate(model.categorical_features_)
        }
        classes = None
        if model.tree_.classes:
            classes = [str(name) for name in model.classes_]
            if class_names is not None:
                classes = _checked("class_names", class_names, len(classes), "class")
        return cls(columns, levels, classes, model.has_missing_.astype(bool))

    def conditions(self, tree: TreeView, node: int, decimals: int | None = None) -> tuple[str, str]:
        """Return the conditions of the left and the right branch of an inner node."""
        j = int(tree.column[node])
        name = self.columns[j]
        if tree.is_nominal[node]:
            goes_left = tree.level_mask(node)
            sides = [
                format_categories(self.levels[j], goes_left),
                format_categories(self.levels[j], ~goes_left),
            ]
            left, right = (f"{name} {side}" for side in sides)
        else:
            at = format_number(float(tree.cut[node]), decimals)
            left, right = f"{name} <= {at}", f"{name} > {at}"
        if self.has_missing[j]:
            if tree.missing_left[node]:
                left += " or missing"
            else:
                right += " or missing"
        return left, right

    def prediction(self, tree: TreeView, node: int, decimals: int | None = None) -> str:
        """Return the predicted class of a node, or its value."""
        values = tree.answer[node]
        if self.classes is not None:
            return self.classes[int(values.argmax())]
        return ", ".join(format_number(float(value), decimals) for value in values)


def format_number(value: float, decimals: int | None = None) -> str:
    """Return a number with six significant digits, or with `decimals` decimals."""
    return f"{value:.6g}" if decimals is None else f"{value:.{decimals}f}"


def format_categories(levels: Sequence[str], chosen: NDArray[np.bool_]) -> str:
    """Return a set of categories as text: those in it or those not in it, whichever is shorter."""
    inside = [name for name, is_in in zip(levels, chosen, strict=True) if is_in]
    outside = [name for name, is_in in zip(levels, chosen, strict=True) if not is_in]
    if len(inside) == 1:
        return f"= {inside[0]}"
    if inside and len(inside) <= len(outside) + 1:
        return f"in {{{', '.join(inside)}}}"
    if len(outside) == 1:
        return f"!= {outside[0]}"
    return f"not in {{{', '.join(outside)}}}"


def _checked(name: str, given: Sequence[str], n: int, what: str) -> list[str]:
    names = [str(item) for item in given]
    if len(names) != n:
        raise ParameterError(f"{name} needs one name per {what} ({n}); got {len(names)}")
    return names
