"""The oracle: a kernel machine's dual solved slowly and plainly, pair by pair.

min 1/2 a'Qa + p'a   subject to   s'a = delta, 0 <= a <= upper,   Q_ij = s_i s_j K(r_i, r_j)

by exact steps on the pair that violates the optimality conditions most (Keerthi et al., 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """What the oracle found: the dual point, the threshold, the value of the objective."""

    alpha: Vector
    bias: float
    objective: float
    gap: float


def smo(
    gram: NDArray[Any],
    signs: NDArray[Any],
    linear: NDArray[Any],
    upper: NDArray[Any],
    tol: float = 1e-10,
    max_iter: int = 1_000_000,
) -> Answer:
    """Solve the dual to a violation of `tol` of the optimality conditions."""
    s = np.asarray(signs, dtype=float)
    Q = gram * np.outer(s, s)
    alpha = np.zeros(len(s))
    gradient = np.array(linear, dtype=float)
    for _ in range(max_iter):
        score = -s * gradient
        up = np.where(s > 0, alpha < upper, alpha > 0)
        low = np.where(s > 0, alpha > 0, alpha < upper)
        i = int(np.argmax(np.where(up, score, -np.inf)))
        gain = np.where(low, score[i] - score, 0.0)
        curve = np.maximum(gram[i, i] + np.diag(gram) - 2 * gram[i], 1e-12)
        j = int(np.argmax(np.where(gain > 0, gain**2 / curve, -1.0)))
        if not low.any() or score[i] - score[low].min() <= tol:
            break
        step = gain[j] / curve[j]
        step = min(step, upper[i] - alpha[i] if s[i] > 0 else alpha[i])
        step = min(step, alpha[j] if s[j] > 0 else upper[j] - alpha[j])
        for k, delta in ((i, s[i] * step), (j, -s[j] * step)):
            gradient += Q[k] * delta
            alpha[k] = min(max(alpha[k] + delta, 0.0), upper[k])
            if upper[k] - alpha[k] < 1e-15 * upper[k]:
                alpha[k] = upper[k]
    free = (alpha > 0) & (alpha < upper)
    score = -s * gradient
    if free.any():
        bias = float(score[free].mean())
    else:
        up = np.where(s > 0, alpha < upper, alpha > 0)
        low = np.where(s > 0, alpha > 0, alpha < upper)
        ends = [score[up].max() if up.any() else None, score[low].min() if low.any() else None]
        bias = float(np.mean([end for end in ends if end is not None]))
    objective = float(alpha @ (gradient + linear) / 2)
    hinge = np.maximum(0.0, -(gradient + s * bias))
    capped = np.where(hinge > 0, hinge * np.where(np.isinf(upper), 0.0, upper), 0.0)
    gap = float(alpha @ gradient + capped.sum())
    return Answer(alpha, bias, objective, gap)
