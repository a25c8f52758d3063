"""The best oblique split of a node: directions and thresholds along them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve
from scipy.special import expit, xlogy

Floats = NDArray[np.float64]

_RIDGE = 1e-3  # added to every variance, as a share of the mean variance
_LOGISTIC_RIDGE = 1e-6  # smaller, so that a boundary without errors can become steep
_NEWTON_STEPS = 12
_MOVES = 6  # maximum number of coordinates changed per search
_SEARCH_ROWS = 512  # maximum number of rows used in a search
_BLOCK = 2**18  # values in a block of cumulative sums


class Split:
    """Impurity of the two sides of a split.

    The sums S of a side are its class weights (`criterion` 'gini' or 'entropy') or the sum of its
    targets ('squared_error'). The decrease of impurity times the weight is `merit` summed over both
    sides, minus that of the node.
    """

    def __init__(self, criterion: str, min_samples_leaf: int) -> None:
        self.criterion, self.min_samples_leaf = criterion, min_samples_leaf

    def merit(self, sums: Floats, weight: Floats) -> Floats:
        """Return the merit of each side: sum of S^2 / W, or of S log2 S - W log2 W."""
        if self.criterion == "entropy":
            spread = xlogy(sums, sums).sum(axis=-1) - xlogy(weight, weight)
            return np.asarray(spread / np.log(2))
        square: Floats = np.asarray(np.einsum("...c,...c->...", sums, sums))
        return np.asarray(np.divide(square, weight, out=np.zeros_like(square), where=weight > 0))

    def best_cuts(
        self, scores: Floats, sums: Floats, weight: Floats, gap: float
    ) -> tuple[Floats, Floats]:
        """Return gain and threshold of the best split along each direction.

        Parameters
        ----------
        scores : ndarray of shape (n_directions, n_rows)
            Projection of each row on each direction.
        sums, weight : ndarray of shape (n_rows, n_sums) and (n_rows,)
            Contribution of each row to its side.
        gap : float
            Scores that differ by at most this share of the largest are not separated.

        Returns
        -------
        gain, threshold : ndarray of shape (n_directions,)
            The gain is -1 where no split is possible.
        """
        gains, cuts = np.full(len(scores), -1.0), np.zeros(len(scores))
        step = max(1, _BLOCK // sums.size)
        for begin in range(0, len(scores), step):
            some = slice(begin, begin + step)
            gains[some], cuts[some] = self._best_cuts(scores[some], sums, weight, gap)
        return gains, cuts

    def _best_cuts(
        self, scores: Floats, sums: Floats, weight: Floats, gap: float
    ) -> tuple[Floats, Floats]:
        lines, last = np.arange(len(scores)), self.min_samples_leaf - 1
        order = np.argsort(scores, axis=1, kind="stable")
        x = np.take_along_axis(scores, order, axis=1)
        width = np.where(gap > 0, gap * np.abs(x[:, [0, -1]]).max(axis=1), 0.0)
        possible = x[:, 1:] - x[:, :-1] > width[:, None]
        possible[:, :last] = possible[:, possible.shape[1] - last :] = False
        if not possible.any():
            return np.full(len(scores), -1.0), np.zeros(len(scores))
        gain = np.where(possible, self._gain(sums[order], weight[order]), -np.inf)
        # Ties up to rounding go to the first.
        top = gain.max(axis=1, keepdims=True)
        best = np.argmax(gain >= top - 1e-12 * np.abs(top), axis=1)
        low, high = x[lines, best], x[lines, best + 1]
        middle = low / 2 + high / 2
        cut = np.where((middle >= low) & (middle < high), middle, low)
        found = possible[lines, best]
        return np.where(found, gain[lines, best], -1.0), np.where(found, cut, 0.0)

    def _gain(self, sums: Floats, weight: Floats) -> Floats:
        """Return the gain of a split after each row but the last, for each direction."""
        below, heavy = np.cumsum(sums, axis=1), np.cumsum(weight, axis=1)
        whole, total = below[:, -1:], heavy[:, -1:]
        above, light = whole - below[:, :-1], total - heavy[:, :-1]
        if self.criterion != "squared_error":
            above = np.maximum(above, 0.0)
        light = np.maximum(light, 0.0)
        sides = self.merit(below[:, :-1], heavy[:, :-1]) + self.merit(above, light)
        return sides - self.merit(whole, total)

    def climb(
        self, z: Floats, start: Floats, sums: Floats, weight: Floats, rng: np.random.Generator
    ) -> Floats:
        """Improve directions by changing one coefficient at a time, the best one first.

        With all other coefficients fixed, row i changes sides where coefficient k passes
        (r - sum of the others) / z_ik: one sort per coefficient finds its best value (Murthy, Kasif
        and Salzberg 1994).
        """
        if len(z) > _SEARCH_ROWS:
            some = np.sort(rng.choice(len(z), _SEARCH_ROWS, replace=False))
            z, sums, weight = z[some], sums[some], weight[some]
        directions = [start]
        for direction in start:
            gain, cut = self.best_cuts((z @ direction)[None], sums, weight, 1e-9)
            now, r, w = float(gain[0]), float(cut[0]), direction.copy()
            for _ in range(_MOVES):
                k, value, better = self._best_move(z, w, r, sums, weight)
                if better <= now * (1 + 1e-9):
                    break
                w[k], now = value, better
            directions.append(w[None])
        return np.concatenate(directions)

    def _best_move(
        self, z: Floats, w: Floats, r: float, sums: Floats, weight: Floats
    ) -> tuple[int, float, float]:
        """Return the best coefficient to change, its new value, and the resulting gain."""
        moving = np.abs(z) > 1e-9
        rest = (z @ w)[:, None] - z * w
        passes = np.divide(r - rest, z, out=np.full_like(z, np.inf), where=moving).T
        order = np.argsort(passes, axis=1, kind="stable")
        passes = np.take_along_axis(passes, order, axis=1)
        sign = np.where(moving, -np.sign(z), 0.0).T  # increasing w_k moves rows with z_k > 0 out
        sign_here = np.take_along_axis(sign, order, axis=1)
        first = np.where(moving, z > 0, rest <= r).T.astype(np.float64)
        left = first @ sums
        heavy = first @ weight
        below = left[:, None] + np.cumsum(sums[order] * sign_here[..., None], axis=1)
        below, total = below[:, :-1], sums.sum(axis=0)
        if self.criterion != "squared_error":
            below = np.clip(below, 0.0, total)
        mass = np.maximum(heavy[:, None] + np.cumsum(weight[order] * sign_here, axis=1), 0.0)
        mass = np.minimum(mass[:, :-1], weight.sum())
        sides = self.merit(below, mass) + self.merit(total - below, weight.sum() - mass)
        with np.errstate(invalid="ignore"):
            open_ = (passes[:, 1:] - passes[:, :-1] > 1e-9) & np.isfinite(passes[:, 1:])
        tiny = 1e-9 * weight.sum()
        open_ &= (mass > tiny) & (mass < weight.sum() - tiny)
        gain = np.where(open_, sides - self.merit(total, weight.sum()), -np.inf)
        k, i = np.unravel_index(np.argmax(gain), gain.shape)
        return int(k), float(passes[k, i] / 2 + passes[k, i + 1] / 2), float(gain[k, i])


def informative_directions(z: Floats, sums: Floats, weight: Floats, is_classes: bool) -> Floats:
    """Return directions along which the target changes most.

    Parameters
    ----------
    z : ndarray of shape (n_rows, n_columns)
        Standardised rows.
    sums, weight : ndarray
        Contribution of each row: class weights, or weight times target.
    is_classes : bool
        Classes: Fisher's discriminant of each class against the others, and logistic regression
        when there are two. Otherwise ridge regression of each target, and logistic regression of
        large against small values of it.

    Returns
    -------
    ndarray of shape (n_directions, n_columns)
    """
    mean = weight @ z / weight.sum()
    centred = z - mean
    gram = (centred * weight[:, None]).T @ centred
    ridge = _RIDGE * max(float(np.trace(gram)) / len(gram), 1e-12)
    if not is_classes:
        steps = [
            _logistic(centred, is_large, weight, ridge)
            for is_large in _above_best_cut(sums, weight)
        ]
        return np.concatenate([_solved(gram, ridge, centred.T @ sums), *steps])
    per_class = sums.sum(axis=0)
    sums, per_class = sums[:, per_class > 0], per_class[per_class > 0]
    inner = (sums.T @ centred) / per_class[:, None]  # class means
    within = gram - (inner * per_class[:, None]).T @ inner
    n_directions = len(per_class) if len(per_class) > 2 else 1
    found = [_solved(within, ridge, inner[:n_directions].T)]
    if n_directions == 1:
        found.append(_logistic(centred, sums[:, 0] / weight, weight, ridge))
    return np.concatenate(found)


def _above_best_cut(sums: Floats, weight: Floats) -> Floats:
    """Return, per target, 1 for rows above the best threshold of the target itself, else 0."""
    targets = np.ascontiguousarray((sums / weight[:, None]).T)
    split = Split("squared_error", 1)
    cuts = [
        split.best_cuts(line[None], (line * weight)[:, None], weight, 0.0)[1] for line in targets
    ]
    return (targets > np.array(cuts)).astype(np.float64)


def _logistic(x: Floats, target: Floats, weight: Floats, ridge: float) -> Floats:
    """Run a few Newton steps of logistic regression: enough for a starting direction."""
    x = np.column_stack([x, np.ones(len(x))])
    beta, ridge = np.zeros(x.shape[1]), ridge * _LOGISTIC_RIDGE / _RIDGE
    for _ in range(_NEWTON_STEPS):
        p = expit(np.clip(x @ beta, -30, 30))
        curve = weight * np.maximum(p * (1 - p), 1e-6)
        gradient = x.T @ (weight * (target - p)) - ridge * beta
        step = _solved((x * curve[:, None]).T @ x, ridge, gradient[:, None])
        if not len(step):
            break
        beta += step[0]
        if np.abs(step[0]).max() <= 1e-3 * np.abs(beta).max():
            break
    return beta[None, :-1]


def _solved(gram: Floats, ridge: float, right: Floats) -> Floats:
    """Solve for each right-hand side; those without a solution are left out."""
    try:
        answer = solve(gram + ridge * np.eye(len(gram)), right, assume_a="pos").T
    except (LinAlgError, ValueError):
        return np.empty((0, len(gram)))
    size = np.abs(answer).max(axis=1)
    return answer[np.isfinite(size) & (size > 0)]  # type: ignore[no-any-return]
