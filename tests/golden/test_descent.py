"""Gradient descent and the perceptron against worked examples."""

from __future__ import annotations

import numpy as np

from assay.linear import Perceptron, learning_rate


def test_27_the_slow_schedule_is_one_at_first_and_a_half_after_a_thousand_steps() -> None:
    assert learning_rate("slow", 0) == 1.0
    assert learning_rate("slow", 1000) == 0.5
    assert learning_rate("slow", 3000) == 0.25


def test_28_the_earthquake_boundary_is_found_and_holds_its_own_side() -> None:
    # h(x) = 1 if -4.9 + 1.7 x1 - x2 >= 0 else 0, the line of the earthquake data.
    rng = np.random.default_rng(0)
    X = rng.uniform([4.5, 2.5], [7.0, 7.5], (400, 2))
    score = -4.9 + 1.7 * X[:, 0] - X[:, 1]
    X, score = X[np.abs(score) > 0.3], score[np.abs(score) > 0.3]
    y = (score >= 0).astype(np.int64)
    model = Perceptron(center=True, n_iter_no_change=None).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert (model.predict(X) == y).all()
    line = np.append(model.intercept_, model.coef_[0])
    golden = np.array([-4.9, 1.7, -1.0])
    cosine = line @ golden / np.linalg.norm(line) / np.linalg.norm(golden)
    assert cosine > 0.99
    # With the golden weights themselves, a row on the line is on the positive side.
    model.coef_[:], model.intercept_[:] = golden[1:], golden[0]
    assert model.predict([[4.9 / 1.7, 0.0], [3.0, 0.3], [3.0, 0.1]]).tolist() == [1, 0, 1]
