"""Prepare, then fit: the same study as in one call, from a table that is prepared once."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import assay
from assay.base import DataError, ParameterError
from assay.cli import main
from assay.study import (
    ClusterSettings,
    SearchSettings,
    Study,
    find_clusters,
    prepare,
    prepare_clusters,
)
from assay.study import _holdout as holdouts
from assay.table import Dataset, Encoder
from assay.table import prepare as prepare_table

CHEAP: dict[str, Any] = {
    "effort": "quick", "n_jobs": 1, "defaults": False,
    "models": {"line": LogisticRegression(max_iter=200)},
}  # fmt: skip


@pytest.fixture(scope="module")
def numbers(penguins: pl.DataFrame) -> pl.DataFrame:
    columns = ["bill_length_mm", "bill_depth_mm", "body_mass_g", "species"]
    return penguins.select(columns).drop_nulls()


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the number of rows each time a table is prepared."""
    seen: list[int] = []

    def counted(raw: Any, *args: Any, **roles: Any) -> Dataset:
        seen.append(raw.frame.height)
        return prepare_table(raw, *args, **roles)

    monkeypatch.setattr(holdouts, "prepare", counted)
    return seen


def test_two_steps_give_the_same_bytes_as_one(numbers: pl.DataFrame, tmp_path: Path) -> None:
    job = prepare(numbers, "species", seed=3, holdout=0.2)
    two = job.fit(SearchSettings(**CHEAP))
    one = assay.fit(numbers, "species", seed=3, holdout=0.2, **CHEAP)
    by_name = job.fit(**CHEAP)
    names = ("two", "one", "by_name")
    for name, study in zip(names, (two, one, by_name), strict=True):
        study.save(tmp_path / name)
    assert len({(tmp_path / name).read_bytes() for name in names}) == 1


def test_a_table_is_prepared_once(prepared: list[int], numbers: pl.DataFrame) -> None:
    study = assay.fit(numbers, "species", **CHEAP)
    assert prepared == [len(numbers)]
    study.try_(LogisticRegression(C=0.1, max_iter=200))
    assert prepared == [len(numbers)]


def test_a_table_with_a_test_table_of_its_own_is_prepared_once(
    prepared: list[int], numbers: pl.DataFrame
) -> None:
    assay.fit(numbers[40:], "species", holdout=numbers[:40], **CHEAP)
    assert prepared == [len(numbers) - 40]


def test_kinds_are_found_without_the_rows_set_aside(
    prepared: list[int], numbers: pl.DataFrame
) -> None:
    """All rows balance the two sides; what is learned from is prepared from its own rows only."""
    job = prepare(numbers, "species", holdout=0.2)
    assert prepared == [len(numbers), len(job.dataset.y)]
    job.fit(**CHEAP)
    assert len(prepared) == 2


def test_the_command_prepares_the_table_once(
    prepared: list[int], numbers: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    numbers.write_csv("p.csv")
    assert main(["fit", "p.csv", "-t", "species", "--effort", "quick", "--no-ledger"]) == 0
    assert prepared == [len(numbers)]


def test_table_and_findings_are_known_before_any_fit(numbers: pl.DataFrame) -> None:
    holes = numbers.with_columns(same=pl.lit(1))
    job = prepare(holes, "species", holdout=numbers.head(10).with_columns(same=pl.lit(1)))
    assert job.table.target.name == "species"
    assert (
        list(job.table.notes)
        == job.findings[:-1]
        == ["set aside, has the same value in every row: 'same'"]
    )
    assert job.findings[-1].startswith("10 of the 10 rows of the test set are also in the")
    record = job.fit(**CHEAP).record
    assert record.rows == job.table.rows
    assert record.columns == job.table.columns
    assert record.target == job.table.target


def test_candidates_added_in_hindsight_are_named(numbers: pl.DataFrame) -> None:
    job = prepare(numbers, "species")
    study = job.fit(**CHEAP, extra={"mine": LogisticRegression(C=0.1, max_iter=200)})
    assert set(study.table()["family"]) == {"line", "mine"}
    assert "added by hand after seeing scores: mine;" in study.record.notes[-1]


def test_fit_and_settings_have_the_same_defaults() -> None:
    signature = inspect.signature(assay.fit).parameters
    for field in fields(SearchSettings):
        assert signature[field.name].default == field.default, field.name
    of_table = inspect.signature(prepare).parameters
    both = {field.name for field in fields(SearchSettings)} | set(of_table)
    assert set(signature) == both | {"progress"}
    assert all(signature[name].default == of_table[name].default for name in of_table)


def test_find_clusters_and_settings_have_the_same_defaults() -> None:
    signature = inspect.signature(find_clusters).parameters
    for field in fields(ClusterSettings):
        assert signature[field.name].default == field.default, field.name


def test_clusters_in_two_steps_are_the_same_as_in_one(numbers: pl.DataFrame) -> None:
    job = prepare_clusters(numbers, drop=["species"])
    assert job.findings == list(job.table.notes)
    two = job.fit(method="kmeans", n_clusters=3)
    one = find_clusters(numbers, drop=["species"], method="kmeans", n_clusters=3)
    assert one.digest == two.digest


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"effort": "heroic", "source": "no.csv"}, ParameterError, "effort must be 'quick', "),
        ({"budget": "soon", "source": "no.csv"}, ParameterError, "budget must be a positive time"),
        ({"search": "bayes", "source": "no.csv"}, ParameterError, "search must be 'grid' or"),
        ({"holdout": 0.9}, ParameterError, r"holdout must be a share of the rows from 0\.05"),
        ({"target": "specis"}, DataError, "did you mean 'species'"),
        ({"metric": "acuracy", "models": None}, ParameterError, "did you mean 'accuracy'"),
        ({"models": None}, ParameterError, "models must name at least one model when defaults"),
    ],
)
def test_wrong_settings_are_refused_before_the_table_is_read(
    numbers: pl.DataFrame, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        assay.fit(**{"source": numbers, "target": "species", **CHEAP, **options})


def test_an_unknown_setting_is_refused(numbers: pl.DataFrame) -> None:
    with pytest.raises(TypeError, match="efort"):
        prepare(numbers, "species").fit(efort="quick")


def test_answers_encode_a_table_once_and_agree_with_predict(
    study: Study, penguins: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    original = Encoder.transform

    def counted(self: Encoder, X: Any) -> Any:
        calls.append(len(X))
        return original(self, X)

    encoder = study.model.encoder
    assert isinstance(encoder, Encoder)
    labels, shares = study.predict(penguins), study.predict_proba(penguins)
    monkeypatch.setattr(Encoder, "transform", counted)
    found = study.answers(penguins, proba=True)
    assert calls == [len(penguins)]
    assert found.prediction.tolist() == labels.tolist()
    assert found.probability is not None
    assert found.probability.tobytes() == shares.tobytes()
    assert (found.rank, found.rows, found.blank) == (None, len(penguins), 0)
    assert study.answers(penguins).probability is None


def test_answers_of_clusters_agree_with_predict(numbers: pl.DataFrame) -> None:
    made = find_clusters(numbers, drop=["species"], method="mixture", n_clusters=3, n_jobs=1)
    found = made.answers(numbers, proba=True)
    np.testing.assert_array_equal(found.prediction, made.predict(numbers))
    np.testing.assert_array_equal(found.probability, made.predict_proba(numbers))
