"""How many components."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA as Peer

from assay.base import ParameterError
from assay.decomposition._dimension import count_components, likeliest_dimension


@given(st.integers(0, 10_000), st.integers(2, 7))
def test_minka_chooses_what_scikit_learn_chooses(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * np.where(np.arange(d) < d // 2, 4.0, 1.0)
    variance = np.asarray(np.linalg.eigvalsh(np.cov(X.T))[::-1], dtype=np.float64)
    expected = Peer("mle", svd_solver="full").fit(X).n_components_
    assert likeliest_dimension(variance, 60) == expected


def test_minka_finds_the_planted_dimension() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8)) * np.array([6, 5, 4, 1, 1, 1, 1, 1])
    assert likeliest_dimension(np.linalg.eigvalsh(np.cov(X.T))[::-1], 500) == 3


def test_minka_needs_two_columns() -> None:
    with pytest.raises(ParameterError, match="needs at least 2 columns"):
        likeliest_dimension(np.array([1.0]), 10)


def test_equal_variances_have_a_dimension() -> None:
    assert likeliest_dimension(np.ones(4), 10) == 1


def test_all_of_the_variance_needs_all_that_vary() -> None:
    variance = np.array([2.0, 1.0, 1e-3])
    assert count_components(0.999999, variance, float(variance.sum()), 10) == 3
