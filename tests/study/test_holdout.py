"""A test set that nothing sees until it is opened, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, r2_score

import assay
from assay.base import DataError, ParameterError
from assay.record import Dropped
from assay.study import Study
from assay.study._holdout import Holdout, find_rows, split_off
from assay.table import read

NAMES = "species"


def quick(source: Any, target: str = NAMES, **options: Any) -> Study:
    """Fit one cheap model: these tests are not about the choice."""
    models = options.pop("models", {"line": LogisticRegression(max_iter=200)})
    settings = {"effort": "quick", "n_jobs": 1, "defaults": False, "models": models}
    frame = source.drop_nulls() if isinstance(source, pl.DataFrame) else source
    return assay.fit(frame, target, **{**settings, **options})


@pytest.fixture(scope="module")
def numbers(penguins: pl.DataFrame) -> pl.DataFrame:
    columns = ["bill_length_mm", "bill_depth_mm", "body_mass_g", NAMES]
    return penguins.select(columns).drop_nulls()


@pytest.fixture
def study(numbers: pl.DataFrame) -> Study:
    return quick(numbers, holdout=0.2)


def aside(study: Study, numbers: pl.DataFrame) -> pl.DataFrame:
    assert study.holdout is not None
    assert study.holdout.raw is not None
    return study.holdout.raw.frame


def test_score_is_that_of_the_model_on_rows_it_never_saw(
    study: Study, numbers: pl.DataFrame
) -> None:
    rows = aside(study, numbers)
    opening = study.open_holdout()
    assert study.record.holdout is not None
    assert opening.rows == len(rows) == study.record.holdout.rows
    assert opening.scores[0].metric == "accuracy"
    assert opening.scores[0].value == accuracy_score(rows[NAMES], study.predict(rows))
    assert all(score.low <= score.value <= score.high for score in opening.scores)
    assert [score.metric for score in opening.scores[:2]] == ["accuracy", "balanced_accuracy"]


def test_rows_set_aside_change_nothing_in_the_model(numbers: pl.DataFrame) -> None:
    whole = quick(numbers, holdout=0.2)
    assert whole.holdout is not None
    test = aside(whole, numbers)
    rest = numbers.join(test, on=numbers.columns, how="anti", nulls_equal=True)
    alone = quick(rest)
    assert len(rest) + len(test) == len(numbers)
    np.testing.assert_array_equal(whole.predict_proba(numbers), alone.predict_proba(numbers))
    assert whole.score == alone.score
    assert whole.record.rows.used == len(rest)
    aside_rows = Dropped(reason="set aside as the test set", count=len(test))
    assert aside_rows in whole.record.rows.dropped


def test_values_of_test_rows_reach_nothing(numbers: pl.DataFrame) -> None:
    """Change every feature of the rows set aside: not a byte of model or score may change."""
    first = quick(numbers, holdout=0.2)
    held = aside(first, numbers)
    marks = numbers.with_row_index().join(held, on=numbers.columns, how="semi")["index"]
    wild = numbers.with_row_index().with_columns(
        pl.when(pl.col("index").is_in(marks.implode())).then(pl.col("body_mass_g") * -1000)
        .otherwise(pl.col("body_mass_g")).alias("body_mass_g")
    ).drop("index")  # fmt: skip
    second = quick(wild, holdout=0.2)
    assert aside(second, wild)[NAMES].to_list() == held[NAMES].to_list()
    assert first.score == second.score
    np.testing.assert_array_equal(first.predict_proba(numbers), second.predict_proba(numbers))
    assert first.open_holdout().scores != second.open_holdout().scores


def test_a_second_opening_is_refused_and_then_marked(study: Study) -> None:
    first = study.open_holdout()
    with pytest.raises(DataError, match=r"already opened on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC and "
                       r"gave accuracy .* not from untouched rows any more"):  # fmt: skip
        study.open_holdout()
    second = study.open_holdout(again=True)
    assert (first.again, second.again) == (False, True)
    assert first.scores == second.scores
    assert [opening.again for opening in study.openings] == [False, True]


def test_opening_is_written_beside_the_model_and_outlives_a_new_fit(
    tmp_path: Path, study: Study, numbers: pl.DataFrame
) -> None:
    file = tmp_path / "penguins.assay"
    digest = study.save(file)
    before = file.read_bytes()
    loaded = assay.load(file)
    assert loaded.openings == ()
    opening = loaded.open_holdout(numbers)
    assert file.read_bytes() == before
    book = json.loads((tmp_path / "penguins.opened.json").read_text())
    assert [entry["model"] for entry in book["openings"]] == [digest]
    # Neither the same model loaded anew nor another model of the same rows makes them untouched.
    with pytest.raises(DataError, match="already opened"):
        assay.load(file).open_holdout(numbers)
    other = quick(numbers, holdout=0.2, models={"line": LogisticRegression(C=0.01, max_iter=200)})
    other.save(file)
    assert other.openings == (opening,)
    with pytest.raises(DataError, match="UTC, with another model and gave"):
        other.open_holdout()
    # Other rows are another test set.
    fresh = quick(numbers, holdout=0.2, seed=5)
    fresh.save(file)
    assert fresh.open_holdout().again is False
    assert len(json.loads((tmp_path / "penguins.opened.json").read_text())["openings"]) == 2


def test_opening_before_saving_is_written_when_saved(tmp_path: Path, study: Study) -> None:
    opening = study.open_holdout()
    study.save(tmp_path / "m.assay")
    assert assay.load(tmp_path / "m.assay").openings == ()  # read when it is needed
    with pytest.raises(DataError, match="already opened"):
        assay.load(tmp_path / "m.assay").open_holdout("nothing.csv")
    assert study.openings == (opening,)


def test_a_damaged_book_is_not_an_empty_one(tmp_path: Path, study: Study) -> None:
    study.save(tmp_path / "m.assay")
    for content in ("", "{}", '{"format": 1, "openings": [{}]}', '{"format": 2, "openings": []}'):
        (tmp_path / "m.opened.json").write_text(content)
        with pytest.raises(DataError, match=r"m.opened.json is damaged"):
            study.open_holdout()


def test_rows_are_recognised_in_the_whole_table_and_alone_in_any_order(
    tmp_path: Path, study: Study, numbers: pl.DataFrame
) -> None:
    study.save(tmp_path / "m.assay")
    numbers.write_csv(tmp_path / "all.csv")
    aside(study, numbers).sample(fraction=1, shuffle=True, seed=3).write_csv(tmp_path / "t.csv")
    first = assay.load(tmp_path / "m.assay").open_holdout(tmp_path / "all.csv")
    second = assay.load(tmp_path / "m.assay").open_holdout(tmp_path / "t.csv", again=True)
    assert first.rows == second.rows
    for one, two in zip(first.scores, second.scores, strict=True):
        assert one.value == pytest.approx(two.value, abs=1e-12)


def test_other_rows_are_refused(tmp_path: Path, study: Study, numbers: pl.DataFrame) -> None:
    study.save(tmp_path / "m.assay")
    loaded = assay.load(tmp_path / "m.assay")
    for wrong in (numbers.head(50), numbers.reverse(), aside(study, numbers).head(-1)):
        with pytest.raises(DataError, match=r"does not hold the \d+ rows that were set aside"):
            loaded.open_holdout(wrong)
    assert loaded.openings == ()
    assert not (tmp_path / "m.opened.json").exists()


def test_a_table_of_its_own_is_the_test_set(numbers: pl.DataFrame, tmp_path: Path) -> None:
    test = numbers.sample(60, seed=0)
    rest = numbers.join(test, on=numbers.columns, how="anti")
    test.write_csv(tmp_path / "test.csv")
    study = quick(rest, holdout=tmp_path / "test.csv")
    assert study.record.rows.dropped == ()
    assert study.record.holdout is not None
    assert study.record.holdout.notes == ()
    assert "marks" not in study.record.holdout.to_json()
    study.save(tmp_path / "m.assay")
    opening = assay.load(tmp_path / "m.assay").open_holdout(tmp_path / "test.csv")
    assert opening.rows == 60
    assert opening.scores[0].value == accuracy_score(test[NAMES], study.predict(test))


def test_test_rows_that_are_in_the_training_table_are_told(numbers: pl.DataFrame) -> None:
    study = quick(numbers, holdout=numbers.head(10))
    assert study.record.holdout is not None
    assert study.record.holdout.notes[0].startswith("10 of the 10 rows of the test set are")


def test_in_time_the_last_rows_are_set_aside_and_groups_stay_whole(numbers: pl.DataFrame) -> None:
    frame = numbers.with_columns(
        day=pl.int_range(len(numbers)), team=pl.int_range(len(numbers)) % 40
    )
    raw = read(frame)
    rest, held = split_off(raw, 0.2, seed=0, target=NAMES, time="day")
    assert held.raw is not None
    assert rest.frame["day"].max() < held.raw.frame["day"].min()  # type: ignore[operator]
    rest, held = split_off(raw, 0.2, seed=0, target=NAMES, group="team")
    assert held.raw is not None
    assert not set(rest.frame["team"]) & set(held.raw.frame["team"])


def test_numbers_are_tested_too(numbers: pl.DataFrame) -> None:
    study = assay.fit(
        numbers.drop(NAMES), "body_mass_g", effort="quick", n_jobs=1, holdout=0.3, metric="r2"
    )
    rows = aside(study, numbers)
    opening = study.open_holdout()
    assert opening.scores[0].value == pytest.approx(
        r2_score(rows["body_mass_g"], study.predict(rows)), abs=1e-12
    )


def test_study_without_a_test_set_says_so(numbers: pl.DataFrame) -> None:
    with pytest.raises(DataError, match="no rows were set aside when this model was fitted"):
        quick(numbers).open_holdout()


@pytest.mark.parametrize("share", [0.0, 1, 0.7, True, -0.2])
def test_shares_out_of_range_are_refused(numbers: pl.DataFrame, share: float) -> None:
    with pytest.raises(ParameterError, match=r"holdout must be a share of the rows from 0.05 to"):
        quick(numbers, holdout=share)


def test_loaded_model_needs_the_table(study: Study) -> None:
    assert study.holdout is not None
    empty = Holdout(study.holdout.record)
    with pytest.raises(ParameterError, match="a model file does not hold them"):
        find_rows(empty, study.model, None)


def test_same_seed_gives_the_same_bytes(tmp_path: Path, numbers: pl.DataFrame) -> None:
    digests = {quick(numbers, holdout=0.2, n_jobs=n).save(tmp_path / "m.assay") for n in (1, 2)}
    assert len(digests) == 1
