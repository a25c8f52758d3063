"""Non-negative weights with sum 1 that minimise the loss of a weighted mean of models.

    log loss       f(w) = -sum_i v_i log(sum_m w_m p_im)            p_im: share of the true class
    squared error  f(w) = 1/2 sum_i v_i (y_i - sum_m w_m z_im)^2    one i per row (and class)

each divided by sum v, plus (r / 2) |w - 1/M|^2, which picks the most equal of equally good weights.
Both are convex and the simplex is compact, so a minimum exists; it is unique for r > 0.

Cost    O(n M^2) per step; squared error takes one step, log loss a handful (Newton's method, each
        step a quadratic problem on the simplex, solved exactly by an active set).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, check_interval, check_option

Floats = NDArray[np.float64]

LOSSES = ("log", "squared")
# Probability 0 for the true class of one row would make a model's loss infinite.
_LEAST_SHARE = 1e-6
_MOST_STEPS = 100
_ENOUGH = 1e-13


def convex_weights(
    outputs: ArrayLike,
    target: ArrayLike | None = None,
    *,
    loss: str = "squared",
    sample_weight: ArrayLike | None = None,
    ridge: float = 0.0,
) -> Floats:
    r"""Find non-negative weights with sum 1 for the best weighted mean of several models.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_models)
        For 'squared', the predictions of each model; for 'log', its probabilities of the true
        class. Use out-of-fold predictions: on training rows, a model that overfits would get all
        the weight.
    target : array-like of shape (n_samples,), default=None
        The true values, for 'squared' only.
    loss : {'log', 'squared'}, default='squared'
        The loss to minimise.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    ridge : float, default=0.0
        Penalty on unequal weights; larger values pull the weights towards 1/M.

    Returns
    -------
    ndarray of shape (n_models,)

    Notes
    -----
    With the mean loss :math:`\ell` over the rows, M models and the ridge r,

    .. math:: \min_w \ell(w) + \frac{r}{2} \sum_m (w_m - 1/M)^2, \qquad
              w_m \ge 0, \quad \sum_m w_m = 1

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([0.0, 1.0, 2.0, 3.0])
    >>> high, low = truth + 1.0, truth - 3.0
    >>> convex_weights(np.column_stack([high, low]), truth).round(4)
    array([0.75, 0.25])
    """
    check_option("loss", loss, LOSSES)
    check_interval("ridge", ridge, 0.0)
    values = np.asarray(outputs, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise DataError(
            f"outputs must have at least one row and one column; got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise DataError("outputs must be finite")
    share = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if share.shape != (len(values),) or not share.sum() > 0:
        raise DataError("sample_weight must have one value per row of outputs, not all zero")
    share = share / share.sum()
    if values.shape[1] == 1:
        return np.ones(1)
    if loss == "log":
        return _least_log_loss(np.maximum(values, _LEAST_SHARE), share, ridge)
    if target is None:
        raise DataError("target is needed for loss='squared'")
    truth = np.asarray(target, dtype=np.float64)
    if truth.shape != (len(values),):
        raise DataError(f"target must have shape ({len(values)},); got {truth.shape}")
    # Errors instead of outputs: the same problem while the weights sum to 1, and a mean far from
    # zero costs no precision.
    errors = values - truth[:, None]
    curve = (errors * share[:, None]).T @ errors
    return _least_quadratic(*_with_ridge(curve, np.zeros(len(curve)), ridge))


def _with_ridge(curve: Floats, pull: Floats, ridge: float) -> tuple[Floats, Floats]:
    count = len(pull)
    return curve + ridge * np.eye(count), pull + ridge / count


def _least_log_loss(shares: Floats, share: Floats, ridge: float) -> Floats:
    count = shares.shape[1]
    weights = np.full(count, 1.0 / count)

    def loss(given: Floats) -> float:
        spread = given - 1.0 / count
        return float(-share @ np.log(shares @ given) + 0.5 * ridge * spread @ spread)

    now = loss(weights)
    for _ in range(_MOST_STEPS):
        relative = shares / (shares @ weights)[:, None]
        slope = -(relative.T @ share) + ridge * (weights - 1.0 / count)
        curve = (relative * share[:, None]).T @ relative + ridge * np.eye(count)
        aim = _least_quadratic(curve, curve @ weights - slope)
        step = aim - weights
        fall = float(slope @ step)
        if fall > -_ENOUGH:
            break
        length = 1.0
        while length > 1e-12:
            tried = weights + length * step
            then = loss(tried)
            if then <= now + 1e-4 * length * fall:
                break
            length /= 2
        else:  # converged to rounding: no step lowers the loss
            break
        weights, now = np.maximum(tried, 0.0), then
        weights /= weights.sum()
    return weights


def _least_quadratic(curve: Floats, pull: Floats) -> Floats:
    """Minimise w'Cw / 2 - p'w on the simplex: an active set method from the best corner."""
    count = len(pull)
    # Identical models make the matrix singular; a ridge this small does not change the result.
    scale = float(np.trace(curve)) / count or 1.0
    curve = curve + 1e-12 * scale * np.eye(count)
    weights = np.zeros(count)
    weights[np.argmin(0.5 * np.diag(curve) - pull)] = 1.0
    free = weights > 0
    tolerance = 1e-12 * max(scale, float(np.abs(pull).max()))
    for _ in range(10 * count * count):
        slope = curve @ weights - pull
        level = float(slope @ weights)
        blocked = np.where(free, np.inf, slope)
        if blocked.min() >= level - tolerance:
            break
        free[int(np.argmin(blocked))] = True
        while True:
            aim = np.zeros(count)
            aim[free] = _least_on_plane(curve[np.ix_(free, free)], pull[free])
            if (aim[free] > 0).all():
                weights = aim
                break
            falling = free & (aim <= 0)
            room = weights[falling] / np.maximum(weights[falling] - aim[falling], 1e-300)
            length = min(1.0, float(room.min()))
            weights = weights + length * (aim - weights)
            leaving = np.flatnonzero(falling)[room <= length]
            weights[leaving] = 0.0
            free[leaving] = False
    return np.asarray(weights / weights.sum())


def _least_on_plane(curve: Floats, pull: Floats) -> Floats:
    """Minimise the same over weights of any sign that sum to 1."""
    count = len(pull)
    system = np.ones((count + 1, count + 1))
    system[:count, :count] = curve
    system[count, count] = 0.0
    return np.asarray(np.linalg.solve(system, np.append(pull, 1.0))[:count])
