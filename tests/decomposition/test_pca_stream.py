"""PCA by blocks of rows: the model of all rows so far."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError, ParameterError, same
from assay.decomposition import PCA
from assay.decomposition._factor import factor_of, merged

from .tables import correlated
from .test_pca import assert_same_model


@pytest.mark.parametrize("sizes", [(200,), (2, 198), (50, 50, 50, 50), (3, 7, 100, 1, 89)])
@pytest.mark.parametrize("k", [None, 2, 0.9, "mle"])
def test_blocks_give_the_model_of_all_rows(sizes: tuple[int, ...], k: object) -> None:
    X = correlated(200, 6, shift=100.0)
    stream = PCA(k)  # type: ignore[arg-type]
    if k in (2, "mle") and sizes[0] < 6:
        sizes = (6, sizes[0] + sizes[1] - 6, *sizes[2:])
    first = 0
    for size in sizes:
        stream.partial_fit(X[first : first + size])
        first += size
    assert stream.n_samples_ == 200
    whole = PCA(k, svd_solver="full").fit(X)  # type: ignore[arg-type]
    assert_same_model(stream, whole, tol=1e-10)


@given(st.integers(0, 10_000), st.lists(st.integers(1, 12), min_size=1, max_size=6))
def test_any_blocks_give_the_scatter_of_all_rows(seed: int, sizes: list[int]) -> None:
    X = correlated(sum(sizes), 4, seed, shift=50.0)
    parts = np.split(X, np.cumsum(sizes)[:-1])
    mean, count = parts[0].mean(axis=0), len(parts[0])
    factor = factor_of(parts[0], mean)
    for part in parts[1:]:
        own = part.mean(axis=0)
        factor, mean = merged(factor, mean, count, factor_of(part, own), own, len(part))
        count += len(part)
    assert len(factor) <= max(4, len(parts[0]))
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(factor.T @ factor, centred.T @ centred, atol=1e-9)


def test_small_variances_survive_the_stream() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3)) * np.array([1e6, 1.0, 1e-3])
    stream = PCA()
    for part in np.split(X, 10):
        stream.partial_fit(part)
    np.testing.assert_allclose(
        stream.singular_values_, PCA(svd_solver="full").fit(X).singular_values_, rtol=1e-7
    )


def test_a_stream_goes_on_after_a_whole_fit_and_after_a_saved_state() -> None:
    X = correlated(90, 5)
    expected = PCA(svd_solver="full").fit(X)
    assert_same_model(PCA().fit(X[:40]).partial_fit(X[40:]), expected, tol=1e-10)
    stream = PCA().partial_fit(X[:40])
    again = PCA.from_state(stream.get_params(), stream.state())
    assert same(stream.partial_fit(X[40:]), again.partial_fit(X[40:]))


def test_fit_forgets_the_stream() -> None:
    X = correlated(60, 4)
    model = PCA(2).partial_fit(X[:30])
    assert same(model.fit(X), PCA(2).fit(X))


def test_a_stream_cannot_go_on_from_a_part_of_the_components() -> None:
    X = correlated(30, 4)
    with pytest.raises(DataError, match="cannot continue a fit that left components out"):
        PCA(2).fit(X).partial_fit(X)


def test_unusable_streams_are_refused() -> None:
    X = correlated(30, 4)
    with pytest.raises(ParameterError, match="svd_solver must be 'auto' or 'full'"):
        PCA(2, svd_solver="arpack").partial_fit(X)
    with pytest.raises(DataError, match="features"):
        PCA().partial_fit(X).partial_fit(X[:, :3])
    with pytest.raises(DataError, match="at least 2 rows"):
        PCA().partial_fit(X[:1])
