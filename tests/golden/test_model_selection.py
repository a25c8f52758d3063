"""Model selection on a textbook example: a tree of the restaurant table overfits below depth 7."""

from __future__ import annotations

import numpy as np

from assay.select import complexity_curve, model_selection
from assay.tree import DecisionTreeClassifier
from tests.golden.test_adaboost import restaurant

TREE = DecisionTreeClassifier(categorical_features=tuple(range(10)))
DEPTHS = range(1, 14)


def test_restaurant_tree_overfits_above_depth_seven() -> None:
    # The document does not print its examples; without some wrong answers no depth overfits.
    validation, training, sizes = [], [], []
    for seed in range(4):
        X, y = restaurant(seed, 500)
        wrong = np.random.default_rng(100 + seed).random(500) < 0.1
        answers = np.where(wrong, ~y, y)
        curve = complexity_curve(TREE, "max_depth", DEPTHS, X, answers, n_blocks=10, seed=seed)
        validation.append([1 - band.value for band in curve.test])
        training.append([1 - band.value for band in curve.train])
        found = model_selection(TREE, "max_depth", X, answers, seed=seed)
        assert found.stopped == "the validation error rose significantly"
        sizes.append((found.size, found.sizes[-1]))
    unseen, seen = np.mean(validation, axis=0), np.mean(training, axis=0)
    assert DEPTHS[int(np.argmin(unseen))] <= 7
    assert (unseen[7:] > unseen.min() + 0.05).all()  # deeper than 7: worse on new guests ...
    assert (np.diff(seen) <= 0).all()  # ... although the known ones are learned ever better
    assert seen[-1] < 0.02
    assert all(size <= last <= 7 for size, last in sizes)
