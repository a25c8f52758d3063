from __future__ import annotations

import polars as pl
import pytest

import assay
from assay import datasets
from assay.study import Study


@pytest.fixture(scope="session")
def penguins() -> pl.DataFrame:
    return datasets.load_penguins()


@pytest.fixture(scope="session")
def study(penguins: pl.DataFrame) -> Study:
    return assay.fit(penguins, "species", effort="quick", n_jobs=1)
