"""Kernel parameters: what they mean, and that weights are repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from assay.svm._kernel import resolve

USUAL: dict[str, Any] = {
    "kernel": "rbf",
    "gamma": "scale",
    "coef0": 0.0,
    "degree": 3,
    "sigma": None,
    "sigma_convention": "2sigma2",
}
X = np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 2.0, 0.0, 5.0]


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, csr_array])
def test_scale_is_one_over_columns_and_variance(kind: Any) -> None:
    expected = 1 / (4 * X.var())
    assert resolve(USUAL, kind(X)).gamma == pytest.approx(expected, rel=1e-12)
    counts = np.arange(30) % 3
    repeated = 1 / (4 * X.repeat(counts, axis=0).var())
    found = resolve(USUAL, kind(X), counts.astype(float)).gamma
    assert found == pytest.approx(repeated, rel=1e-12)


def test_scale_of_a_constant_table_is_one() -> None:
    assert resolve(USUAL, np.full((3, 2), 7.0)).gamma == 1.0


@pytest.mark.parametrize(
    ("changed", "gamma"),
    [
        ({"gamma": "auto"}, 0.25),
        ({"gamma": 3}, 3.0),
        ({"sigma": 2.0}, 0.125),
        ({"sigma": 2.0, "sigma_convention": "sigma2"}, 0.25),
    ],
    ids=str,
)
def test_gamma_in_other_words(changed: dict[str, Any], gamma: float) -> None:
    assert resolve({**USUAL, **changed}, X).gamma == gamma


def test_functions_and_matrices_have_no_kernel_of_ours() -> None:
    for kernel in (min, "precomputed"):
        assert resolve({**USUAL, "kernel": kernel}, X).kind == "precomputed"
