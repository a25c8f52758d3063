from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay import store
from assay.base import DataError
from assay.study import Study


@pytest.fixture
def saved(tmp_path: Path, study: Study) -> Path:
    study.save(tmp_path / "penguins.assay")
    return tmp_path / "penguins.assay"


def test_a_loaded_study_predicts_bit_for_bit(
    saved: Path, study: Study, penguins: pl.DataFrame
) -> None:
    again = assay.load(saved)
    assert again.predict(penguins).tolist() == study.predict(penguins).tolist()
    assert again.predict_proba(penguins).tobytes() == study.predict_proba(penguins).tobytes()
    assert again.digest == study.digest
    assert again.record == study.record


def test_a_new_process_predicts_bit_for_bit(
    saved: Path, study: Study, penguins: pl.DataFrame
) -> None:
    penguins.write_parquet(saved.with_name("p.parquet"))
    code = (
        "import assay, sys; s = assay.load(sys.argv[1]);"
        "print(s.predict_proba(sys.argv[2]).tobytes().hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, saved, saved.with_name("p.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert bytes.fromhex(run.stdout) == study.predict_proba(penguins).tobytes()


def test_predict_does_not_mind_the_order_of_columns(study: Study, penguins: pl.DataFrame) -> None:
    shuffled = penguins.select(reversed(penguins.columns))
    assert (study.predict(shuffled) == study.predict(penguins)).all()


def test_predict_names_a_missing_column(study: Study, penguins: pl.DataFrame) -> None:
    renamed = penguins.rename({"island": "Islnd"})
    with pytest.raises(DataError, match="island"):
        study.predict(renamed)


def test_probabilities_add_up(study: Study, penguins: pl.DataFrame) -> None:
    probability = study.predict_proba(penguins)
    assert probability.shape == (len(penguins), 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)


def test_integer_classes_come_back_as_integers() -> None:
    table = pl.DataFrame({"x": np.arange(60.0), "y": [0] * 30 + [7] * 30})
    study = assay.fit(table, "y", effort="quick")
    assert set(study.predict(table).tolist()) == {0, 7}


def test_table_lists_candidates_best_first(study: Study) -> None:
    table = study.table()
    assert table["rank"].to_list() == sorted(table["rank"].to_list())
    # Scores that differ by rounding only are ties, ranked by size.
    assert table["score"].diff().drop_nulls().max() <= 1e-12  # type: ignore[operator]


def test_repr_says_what_it_is(study: Study) -> None:
    assert repr(study).startswith("<Study of 'species': ")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("score", {}, "score.metric is missing"),
        ("verdict", {}, "verdict.code is missing"),
        ("columns", None, "columns must be a list; got null"),
        ("format", 99, "has format 99; this version of Assay reads format 1"),
    ],
)
def test_load_refuses_a_damaged_record(
    tmp_path: Path, study: Study, name: str, value: object, message: str
) -> None:
    manifest = study._manifest()
    manifest["record"][name] = value
    store.save(tmp_path / "bad.assay", manifest, study._parts())
    with pytest.raises(DataError, match=f"bad.assay: .*{message}"):
        assay.load(tmp_path / "bad.assay")


def test_load_refuses_parts_that_do_not_fit(tmp_path: Path, study: Study) -> None:
    manifest = study._manifest()
    parts = {**study._parts(), "encoder": None}
    store.save(tmp_path / "bad.assay", manifest, parts)
    with pytest.raises(DataError, match="estimator does not fit its encoder"):
        assay.load(tmp_path / "bad.assay")
