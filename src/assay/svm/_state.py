"""Check the fitted attributes of a restored SVC or SVR."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.base import DataError, check_array_state


def check_certificate(model: Any, n_problems: int) -> None:
    """Raise if the intercepts or certificates of a restored model are invalid.

    Parameters
    ----------
    model : SVC or SVR
        With `intercept_`, `margin_`, `C_`, `kkt_residual_`, `duality_gap_`, one number for each
        problem, `stop_reason_` and `fit_status_`.
    n_problems : int
        Number of binary problems.

    Raises
    ------
    DataError
        Naming the attribute.
    """
    where = f"the model is damaged: {type(model).__name__}"
    check_array_state(model, "intercept_", "f", (n_problems,))
    for name in ("kkt_residual_", "duality_gap_"):
        check_array_state(model, name, "f", (n_problems,))
    for name in ("margin_", "C_"):  # both may be infinite
        array: Any = getattr(model, name, None)
        fits = isinstance(array, np.ndarray) and array.dtype.kind == "f"
        if not fits or array.shape != (n_problems,) or not (array > 0).all():
            raise DataError(f"{where}.{name} is missing or does not hold {n_problems} numbers > 0")
    if not isinstance(getattr(model, "stop_reason_", None), str):
        raise DataError(f"{where}.stop_reason_ is missing or not a string")
    if type(getattr(model, "fit_status_", None)) is not int or model.fit_status_ not in (0, 1):
        raise DataError(f"{where}.fit_status_ is missing or not 0 or 1")
