"""The search among rows: the fast way gives the neighbours of the mixed distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.features._row_search import RowSearch
from assay.neighbors import NearestNeighbors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_complete_numbers_have_the_neighbours_of_the_mixed_distance(dtype: type) -> None:
    rng = np.random.default_rng(0)
    rows: NDArray[Any] = (rng.normal(size=(200, 5)) * [1, 100, 1e-3, 5, 0]).astype(dtype)
    queries: NDArray[Any] = (rng.normal(size=(50, 5)) * [1, 100, 1e-3, 5, 0]).astype(dtype)
    none = np.empty(0, dtype=np.int64)
    engine = NearestNeighbors(n_neighbors=7, metric="mixed").fit(rows)
    search = RowSearch(rows, none, 7, None)
    for given in (None, queries):
        distance, index = search.near(given)
        exact, expected = engine.kneighbors(given)
        assert np.array_equal(index, expected)
        np.testing.assert_allclose(distance / 5, exact, rtol=1e-5)


def test_gaps_and_levels_go_to_the_mixed_distance() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=60), rng.integers(0, 3, size=60)])
    for nominal, gap in ((np.array([1]), False), (np.empty(0, dtype=np.int64), True)):
        table = rows.copy()
        if gap:
            table[::5, 0] = np.nan
        engine = NearestNeighbors(
            n_neighbors=3, metric="mixed", categorical_features=nominal.tolist()
        ).fit(table)
        expected = engine.kneighbors(return_distance=False)
        assert np.array_equal(RowSearch(table, nominal, 3, None).near()[1], expected)


def test_ranges_beyond_float64_are_no_trouble() -> None:
    huge = np.array([[-1.7e308], [-1.6e308], [1.7e308], [1.6e308]])
    near = RowSearch(huge, np.empty(0, dtype=np.int64), 1, None).near()[1]
    assert near.ravel().tolist() == [1, 0, 3, 2]
