from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.study import portfolio
from assay.table import prepare, read


def shaped(n_rows: int, n_columns: int, n_levels: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=n_rows) for j in range(n_columns)}
    levels = {"level": [f"l{i % n_levels}" for i in range(n_rows)]} if n_levels else {}
    return pl.DataFrame({**table, **levels, "y": [f"c{i % 2}" for i in range(n_rows)]})


@pytest.mark.parametrize("effort", ["quick", "normal", "thorough"])
def test_portfolio_grows_with_effort_and_repeats_nothing(effort: str) -> None:
    families, notes = portfolio(prepare(read(shaped(300, 3)), "y"), effort)
    assert notes == []
    for family in families:
        seen = [tuple(sorted(candidate.items())) for candidate in family.candidates]
        assert len(set(seen)) == len(seen)


def test_portfolio_leaves_out_what_a_wide_table_makes_slow() -> None:
    families, notes = portfolio(prepare(read(shaped(40, 1001)), "y"))
    assert "linear discriminant" not in [family.name for family in families]
    assert notes == ["linear discriminant left out: 1,001 columns, and it is tried up to 1,000"]


def test_portfolio_counts_the_levels_of_a_long_table() -> None:
    families, notes = portfolio(prepare(read(shaped(100_000, 1, n_levels=100)), "y"))
    assert "k-nearest neighbours" not in [family.name for family in families]
    assert notes == [
        "k-nearest neighbours left out: 100,000 rows of 102 columns take too long to search",
        "support vector machine left out: 100,000 rows of 102 columns take too long to compare",
    ]


def test_portfolio_asks_for_no_more_neighbours_than_rows() -> None:
    families, _ = portfolio(prepare(read(shaped(12, 2)), "y"))
    counts = [candidate["n_neighbors"] for candidate in families[0].candidates]
    assert max(counts) <= 6
