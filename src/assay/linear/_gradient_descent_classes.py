"""Turn class labels into the binary problems that gradient descent solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight

from assay.base import DataError, check_option, class_codes
from assay.linear._gradient_descent_solver import Binaries, Floats

ClassWeight = dict[Any, float] | str | None


def check_class_weight(class_weight: ClassWeight) -> None:
    """Raise unless `class_weight` is a mapping, 'balanced' or None."""
    if not isinstance(class_weight, dict):
        check_option("class_weight", class_weight, ["balanced", None])


def binary_problems(
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weight: Floats | None,
    class_weight: ClassWeight,
    *,
    complete: bool = True,
) -> Binaries:
    """Return one problem for two classes, else one per class against all others.

    The weight of a class scales its rows; with more than two classes, only in the problem of that
    class, as in scikit-learn. `complete`: whether these are all training rows.
    """
    if len(classes) < 2:
        raise DataError(
            f"y has one class only ({classes.tolist()[0]!r}); at least 2 classes are needed"
        )
    if not complete and isinstance(class_weight, str):
        raise DataError(
            "class_weight='balanced' cannot be used in partial_fit, which does not see all rows; "
            "pass the weights of the classes as a dict"
        )
    scale = np.ones(len(classes))
    if class_weight is not None:
        try:
            scale = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        except ValueError as error:
            raise DataError(str(error)) from None
        if not (np.isfinite(scale).all() and (scale >= 0).all()):
            raise DataError(f"class_weight must be finite and not negative; got {class_weight!r}")
    return Binaries.of_codes(codes, weight, scale)


def continued_codes(
    model: Any, y: ArrayLike, classes: ArrayLike | None, n_rows: int, *, first: bool
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes and codes of one call of partial_fit."""
    labels, codes = class_codes(y)
    if len(codes) != n_rows:
        raise DataError(
            f"X has {n_rows} rows but y has {len(codes)}; each row needs one target "
            "(inconsistent numbers of samples)"
        )
    if first and classes is None:
        raise DataError("classes must be passed in the first call of partial_fit")
    known = model.classes_ if classes is None else class_codes(classes)[0]
    if not first and not np.array_equal(known, model.classes_):
        raise DataError(
            f"classes must be those of the first call, {model.classes_.tolist()}; "
            f"got {known.tolist()}"
        )
    strange = np.setdiff1d(labels, known)
    if len(strange):
        raise DataError(f"y holds {strange.tolist()[0]!r}, which is not one of the classes")
    return known, np.searchsorted(known, labels)[codes]
