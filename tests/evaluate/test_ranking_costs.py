"""Costs of misordered pairs keep their rules, and what breaks them is named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import ParameterError
from assay.evaluate.ranking_costs import check_omega, cost_of

NAMES = ("misordered", "distance", "discount", "top_k")
i, j = (index.ravel() + 1 for index in np.indices((12, 12)))


def test_named_costs_have_their_formulas() -> None:
    assert (cost_of("misordered")(i, j) == (i != j)).all()
    assert (cost_of("distance")(i, j) == abs(i - j)).all()
    assert (cost_of("top_k", 4)(i, j) == ((np.minimum(i, j) <= 4) & (i != j))).all()
    swap = abs(1 / np.log2(1 + i) - 1 / np.log2(1 + j))
    assert np.allclose(cost_of("discount")(i, j), swap)


@pytest.mark.parametrize("name", NAMES)
@given(n=st.integers(1, 120), k=st.integers(1, 30))
def test_named_costs_keep_the_rules(name: str, n: int, k: int) -> None:
    check_omega(name, n, k=k)


@given(exponent=st.floats(0.1, 1.0))
def test_concave_functions_of_the_distance_keep_the_rules(exponent: float) -> None:
    check_omega(lambda i, j: abs(i - j) ** exponent, 20)


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        (
            lambda i, j: (i - j) ** 2,
            r"omega breaks the triangle inequality at positions 1, 2, 3: omega\(1, 3\) = 4 > "
            r"omega\(1, 2\) \+ omega\(2, 3\) = 2",
        ),
        (
            lambda i, j: np.maximum(i - j, 0),
            r"omega is not symmetric at positions 1, 2: omega\(1, 2\) = 0, but omega\(2, 1\) = 1",
        ),
        (
            lambda i, j: (i != j) * (20.0 - abs(i - j)),
            r"omega is not monotone at positions 1, 2, 3: omega\(1, 2\) = 19 > "
            r"omega\(1, 3\) = 18, though 2 lies between the others",
        ),
        (
            # Only backwards from the last position does it fall.
            lambda i, j: (i != j) * (1.0 + ((i * j == 9 * 8) | (i * j == 9 * 7))),
            r"omega is not monotone at positions 9, 7, 6: omega\(9, 7\) = 2 > omega\(9, 6\) = 1",
        ),
        (lambda i, j: i * 0.0 + 1, r"omega must be 0 for equal positions; got omega\(1, 1\) = 1"),
        (lambda i, j: -abs(i - j), r"omega must return numbers >= 0; got omega\(1, 2\) = -1"),
        (lambda i, j: i / (i != 3), r"omega must return numbers >= 0; got omega\(3, 1\) = inf"),
        (lambda i, j: "dear", "omega must return a number for two positions; got .*which fails"),
    ],
)
def test_broken_costs_are_refused_with_the_positions(
    omega: Callable[[int, int], float], message: str
) -> None:
    with np.errstate(all="ignore"), pytest.raises(ParameterError, match=message):
        check_omega(omega, 9)


def test_a_cost_of_single_numbers_is_called_one_by_one() -> None:
    check_omega(lambda i, j: 1.0 if min(i, j) <= 3 and i != j else 0.0, 9)
