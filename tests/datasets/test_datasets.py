from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import sklearn.datasets

from assay import datasets
from assay.base import ParameterError
from assay.table import prepare, read

SHARED = Path(__file__).parents[3] / "shared" / "data"
TARGETS = {"penguins": "species", "titanic": "Survived"}


def test_restaurant_is_the_table_of_the_source_document() -> None:
    table = datasets.load_restaurant()
    assert table.shape == (12, 11)
    # As printed there: whole rows x_4 and x_7, and the splits it computes with.
    assert table.row(3) == (
        "Yes", "No", "Yes", "Yes", "Full", "$", "Yes", "No", "Thai", "10-30", "Yes",
    )  # fmt: skip
    assert table.row(6)[4] == "None"
    by_patrons = table.group_by("Patrons").agg((pl.col("WillWait") == "Yes").sum(), pl.len())
    assert sorted(by_patrons.rows()) == [("Full", 2, 6), ("None", 0, 2), ("Some", 4, 4)]
    by_type = table.group_by("Type").agg((pl.col("WillWait") == "Yes").sum(), pl.len())
    assert sorted(by_type.rows()) == [
        ("Burger", 2, 4), ("French", 1, 2), ("Italian", 1, 2), ("Thai", 2, 4),
    ]  # fmt: skip


def test_restaurant_keeps_its_level_none_through_the_reader() -> None:
    data = prepare(read(datasets.path("restaurant")), "WillWait")
    patrons = next(feature for feature in data.schema.features if feature.name == "Patrons")
    assert patrons.levels == ("Full", "None", "Some")
    assert not np.isnan(data.X).any()
    assert data.X.shape == (12, 10)


def test_pca_example_has_the_covariance_of_the_source_document() -> None:
    covariance = np.cov(datasets.load_pca_example().to_numpy().T)
    expected = [[0.616555556, 0.615444444], [0.615444444, 0.716555556]]
    np.testing.assert_allclose(covariance, expected, atol=5e-10)


@pytest.mark.parametrize("name", ["restaurant", "pca_example", "penguins", "titanic"])
def test_file_and_loader_agree(name: str) -> None:
    loaded = getattr(datasets, f"load_{name}")()
    assert read(datasets.path(name)).digest == read(loaded).digest
    assert read(datasets.path(name)).frame.shape == loaded.shape


@pytest.mark.parametrize("name", ["penguins", "titanic"])
def test_bundled_table_is_the_shared_one(name: str) -> None:
    original = SHARED / f"{name}.parquet"
    if not original.exists():
        pytest.skip("the shared tables are not here")
    assert read(datasets.path(name)).digest == read(original).digest


@pytest.mark.parametrize(
    ("name", "shape", "missing"), [("penguins", (344, 6), 19), ("titanic", (891, 7), 179)]
)
def test_bundled_table_can_be_prepared(name: str, shape: tuple[int, int], missing: int) -> None:
    data = prepare(read(datasets.path(name)), TARGETS[name])
    assert data.X.shape == shape
    assert np.isnan(data.X).sum() == missing


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_table_of_scikit_learn_is_complete(name: str) -> None:
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    table = getattr(datasets, f"load_{name}")()
    assert table.columns[-1] == "target"
    np.testing.assert_array_equal(table.drop("target").to_numpy(), bunch.data)
    if table["target"].dtype == pl.String:
        assert table["target"].to_list() == [str(bunch.target_names[c]) for c in bunch.target]
    else:
        np.testing.assert_array_equal(table["target"].to_numpy(), bunch.target)


def test_unknown_table_names_the_nearest() -> None:
    with pytest.raises(ParameterError, match=r"name must be .*; did you mean 'titanic'"):
        datasets.path("titanik")
