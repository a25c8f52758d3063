"""Turn parameters into a kernel: names, the three conventions for its width, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.base import ParameterError, check_interval, check_option
from assay.svm.engine import Kernel

#: Named kernels.
NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")
#: Meanings of sigma: gamma = 1 / (2 sigma^2), or gamma = 1 / sigma^2.
CONVENTIONS = ("2sigma2", "sigma2")

KernelFunction = Callable[[Any, Any], Any]


def check_kernel_params(params: Mapping[str, Any]) -> None:
    """Raise unless the kernel parameters are valid, alone and together.

    Parameters
    ----------
    params : mapping of str to object
        `kernel`, `degree`, `gamma`, `coef0`, `sigma`, `sigma_convention`.

    Raises
    ------
    ParameterError
        Naming the parameter, the allowed values and the value received.

    Examples
    --------
    >>> check_kernel_params({"kernel": "rbf", "degree": 3, "gamma": 0, "coef0": 0.0,
    ...                      "sigma": None, "sigma_convention": "2sigma2"})
    Traceback (most recent call last):
    assay.base.ParameterError: gamma must be a finite number > 0, 'scale' or 'auto'; got 0
    """
    kernel, sigma = params["kernel"], params["sigma"]
    if not callable(kernel):
        check_option("kernel", kernel, NAMES)
    check_interval("degree", params["degree"], 1, integer=True)
    check_interval(
        "gamma", params["gamma"], 0, open_low=True, open_high=True, options=("scale", "auto")
    )
    check_interval("coef0", params["coef0"], open_low=True, open_high=True)
    check_interval("sigma", sigma, 0, open_low=True, open_high=True, options=(None,))
    check_option("sigma_convention", params["sigma_convention"], CONVENTIONS)
    if sigma is None:
        return
    if kernel != "rbf":
        raise ParameterError(f"sigma is the width of kernel='rbf'; got kernel={kernel!r}")
    if params["gamma"] != "scale":
        raise ParameterError(
            f"gamma and sigma say the same thing; give one of them "
            f"(got gamma={params['gamma']!r} and sigma={sigma!r})"
        )


def resolve(
    params: Mapping[str, Any], rows: Any, weight: NDArray[np.float64] | None = None
) -> Kernel:
    r"""Return the kernel defined by the parameters and these training rows.

    Parameters
    ----------
    params : mapping of str to object
        As checked by `check_kernel_params`.
    rows : ndarray or CSR matrix of shape (n_samples, n_features)
        Training rows; used only for ``gamma='scale'``.
    weight : ndarray of shape (n_samples,), optional
        A row of weight 2 counts as two rows.

    Returns
    -------
    Kernel
        With a number for gamma: :math:`1/(d\,\mathrm{Var}(X))` for 'scale' (1 if all values are
        equal), 1/d for 'auto', :math:`1/(2\sigma^2)` or :math:`1/\sigma^2` when sigma is given.

    Examples
    --------
    >>> import numpy as np
    >>> params = {"kernel": "rbf", "gamma": "scale", "sigma": 2.0, "sigma_convention": "2sigma2",
    ...           "coef0": 0.0, "degree": 3}
    >>> resolve(params, np.zeros((1, 1))).gamma
    0.125
    """
    kernel = params["kernel"]
    if callable(kernel) or kernel == "precomputed":
        return Kernel("precomputed", gamma=1.0, coef0=0.0, degree=1)
    return Kernel(
        kernel,
        gamma=_gamma(params, rows, weight),
        coef0=float(params["coef0"]),
        degree=int(params["degree"]),
    )


def _gamma(params: Mapping[str, Any], rows: Any, weight: NDArray[np.float64] | None) -> float:
    sigma, gamma = params["sigma"], params["gamma"]
    if sigma is not None:
        double = params["sigma_convention"] == "2sigma2"
        return 1.0 / ((2.0 if double else 1.0) * float(sigma) ** 2)
    n_features = int(rows.shape[1])
    if gamma == "auto":
        return 1.0 / n_features
    if gamma == "scale":
        variance = _variance(rows, weight)
        return 1.0 / (n_features * variance) if variance > 0 else 1.0
    return float(gamma)


def _variance(rows: Any, weight: NDArray[np.float64] | None) -> float:
    """Variance over all cells of the table."""
    if weight is None:
        if issparse(rows):
            return float(rows.multiply(rows).mean() - rows.mean() ** 2)
        return float(rows.var(dtype=np.float64))
    share = weight / (weight.sum() * rows.shape[1])
    if issparse(rows):
        return float((share @ rows.multiply(rows)).sum() - (share @ rows).sum() ** 2)
    mean = (share @ rows).sum()
    return float((share @ (rows - mean) ** 2).sum())
