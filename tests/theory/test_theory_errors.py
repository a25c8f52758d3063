"""What the calculators of spaces and neighbourhoods refuse, word for word."""

from __future__ import annotations

import math
from typing import Any

import pytest

from assay.theory import (
    bias_variance,
    count_conjunctions,
    count_dichotomies,
    count_partitions,
    cover_fraction,
    hypothesis_space_size,
    log_decision_lists,
    neighbourhood_edge,
    pac_sample_size,
    perceptron_mistake_bound,
    quadratic_kernel,
)

SHAPES = (
    "predictions must have shape (n_models,) with a number as truth, or (n_models, n_samples) "
    "with (n_samples,); got "
)
ONE_SIZE = "one of n_hypotheses and log_hypotheses must be given, and only one"
NO_MARGIN = "margin must be a finite number > 0 (rows that cannot be separated have no bound); got "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hypothesis_space_size(-1),
            "n_attributes must be an integer in [0, 30]; got -1",
        ),
        (
            lambda: hypothesis_space_size(True),
            "n_attributes must be an integer in [0, 30]; got True",
        ),
        (lambda: count_conjunctions(0, 1), "n_attributes must be an integer >= 1; got 0"),
        (lambda: log_decision_lists(2, -1), "max_literals must be an integer >= 0; got -1"),
        (lambda: count_dichotomies(0, 1), "n_points must be an integer >= 1; got 0"),
        (lambda: cover_fraction(2, 0), "n_dimensions must be an integer >= 1; got 0"),
        (
            lambda: pac_sample_size(0.0, 0.1, n_hypotheses=2),
            "error must be a number in (0, 1]; got 0.0",
        ),
        (
            lambda: pac_sample_size(0.1, math.nan, n_hypotheses=2),
            "delta must be a number in (0, 1]; got nan",
        ),
        (lambda: pac_sample_size(0.1, 0.1), ONE_SIZE),
        (lambda: pac_sample_size(0.1, 0.1, n_hypotheses=2, log_hypotheses=1.0), ONE_SIZE),
        (
            lambda: pac_sample_size(0.1, 0.1, n_hypotheses=0),
            "n_hypotheses must be an integer >= 1; got 0",
        ),
        (
            lambda: pac_sample_size(0.1, 0.1, log_hypotheses=math.inf),
            "log_hypotheses must be a finite number >= 0; got inf",
        ),
        (lambda: count_partitions(2001), "n_samples must be an integer in [0, 2000]; got 2001"),
        (
            lambda: count_partitions(4, -1),
            "n_clusters must be an integer >= 0 or None; got -1",
        ),
        (lambda: neighbourhood_edge(0), "n_dimensions must be an integer >= 1; got 0"),
        (lambda: neighbourhood_edge(2, 9, 8), "n_neighbors must be at most n_points (8); got 9"),
        (lambda: quadratic_kernel(1.0, 0.0), "width must be a finite number > 0; got 0.0"),
        (lambda: quadratic_kernel([math.nan]), "distance must hold numbers; got NaN"),
        (
            lambda: perceptron_mistake_bound(-1.0, 1.0),
            "radius must be a finite number >= 0; got -1.0",
        ),
        (lambda: perceptron_mistake_bound(1.0, 0.0), f"{NO_MARGIN}0.0"),
        (lambda: bias_variance([[1.0, 2.0]], [1.0]), f"{SHAPES}(1, 2) and (1,)"),
        (lambda: bias_variance([], 1.0), f"{SHAPES}(0,) and ()"),
        (
            lambda: bias_variance([math.inf], 1.0),
            "predictions and truth must hold finite numbers only",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole message is compared)
        call()
    assert str(error.value) == message
