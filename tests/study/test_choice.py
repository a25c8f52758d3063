"""The choice in a study: a stack in the file, in the record, in words and on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import HuberRegressor, Ridge

import assay
from assay import store
from assay.base import DataError, ParameterError
from assay.linear import LogisticRegression
from assay.record import StudyRecord
from assay.report import render, summary_text
from assay.select import Family
from assay.study import Study
from assay.table import Encoder
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    random = np.random.default_rng(0)
    n = 240
    place = random.choice(["north", "south", "west"], n)
    size = random.normal(size=n)
    size[::11] = np.nan
    age, wet = random.normal(size=n), random.normal(size=n)
    signal = 1.5 * (place == "north") + age + 2.0 * (wet > 0) * (np.nan_to_num(size) > 0)
    value = signal + 0.4 * random.normal(size=n)
    return pl.DataFrame(
        {
            "place": place,
            "size": size,
            "age": age,
            "wet": wet,
            "value": value,
            "good": np.where(value > np.median(value), "yes", "no"),
        }
    )


def _models(kinds: tuple[str, ...], *, classes: bool) -> dict[str, Any]:
    line: Any = LogisticRegression() if classes else Ridge()
    tree: Any = DecisionTreeClassifier if classes else DecisionTreeRegressor
    return {
        "line": Family("line", line, ({},), Encoder(kinds=kinds)),
        "tree": Family("tree", tree(categorical_features=(0,)), [{"max_depth": d} for d in (2, 4)]),
    }


KINDS = ("nominal", "numeric", "numeric", "numeric")


@pytest.fixture(scope="module")
def stacked(table: pl.DataFrame) -> Study:
    return assay.fit(
        table, target="value", models=_models(KINDS, classes=False), defaults=False, drop=["good"],
        effort="quick", stack=True, n_jobs=1,
    )  # fmt: skip


def test_a_stack_predicts_bit_for_bit_after_a_model_file(
    stacked: Study, table: pl.DataFrame, tmp_path: Path
) -> None:
    assert stacked.chosen.startswith("stack of ")
    digest = stacked.save(tmp_path / "a.assay")
    again = assay.load(tmp_path / "a.assay")
    assert np.array_equal(again.predict(table), stacked.predict(table))
    assert again.record == stacked.record
    assert again.digest == digest == stacked.digest


def test_words_page_and_record_tell_the_stack(stacked: Study) -> None:
    choice = stacked.record.choice
    assert choice is not None
    assert choice.stack is not None
    weights = [member.weight for member in choice.stack.members]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)
    first = choice.stack.members[0]
    assert f"{first.weight:.2f} {first.family}" in stacked.chosen
    assert stacked.chosen[:30] in summary_text(stacked.record)
    page = render(stacked.record)
    assert "How it was chosen" in page
    assert "Members of the stack" in page
    assert "Training rows and new rows" in page
    assert choice.stacked_blocks >= 1
    assert choice.ladder[0].name == "always the mean"
    assert choice.gap is not None
    assert choice.gap.gap == pytest.approx(choice.gap.train - stacked.score.value)


def test_a_calibrated_stack_decides_by_costs_and_is_stored(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    study = assay.fit(
        table, target="good", models=_models(KINDS, classes=True), defaults=False, drop=["value"],
        effort="quick", stack=True, calibrate=True, cost={("yes", "no"): 3.0}, n_jobs=1,
    )  # fmt: skip
    study.save(tmp_path / "a.assay")
    again = assay.load(tmp_path / "a.assay")
    assert study.record.choice is not None
    assert study.record.choice.calibration is not None
    assert study.record.choice.calibration.scores.keys() >= {"none", "sigmoid"}
    shares = study.predict_proba(table)
    assert np.array_equal(again.predict_proba(table), shares)
    wanted = np.where(3.0 * shares[:, 1] > shares[:, 0], "yes", "no")
    assert again.predict(table).tolist() == wanted.tolist()


def test_quick_does_not_stack_and_simplest_says_so(table: pl.DataFrame) -> None:
    given: dict[str, Any] = {"models": _models(KINDS, classes=False), "defaults": False}
    study = assay.fit(table, "value", drop=["good"], effort="quick", prefer="simplest", **given)
    assert study.record.choice is not None
    assert study.record.choice.stack is None
    assert study.record.choice.prefer == "simplest"
    assert "Rule: the smallest model" in render(study.record)


def test_a_record_without_a_choice_is_still_shown(stacked: Study) -> None:
    data = {name: part for name, part in stacked.record.to_json().items() if name != "choice"}
    old = StudyRecord.from_json(data)
    assert "How it was chosen" not in render(old)
    assert Study(old, stacked.model)._manifest()["record"] == data


def test_a_damaged_choice_is_refused(stacked: Study, tmp_path: Path) -> None:
    damaged: list[Any] = [[], {"ladder": 3}, {"ladder": [], "stack": 1}, {"ladder": [{"name": 1}]}]
    for choice in damaged:
        manifest = stacked._manifest()
        manifest["record"]["choice"] = choice
        store.save(tmp_path / "a.assay", manifest, stacked._parts())
        with pytest.raises(DataError, match=r"the record is damaged: choice"):
            assay.load(tmp_path / "a.assay")


def test_a_stack_with_a_model_that_no_file_holds_says_so(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    models = _models(KINDS, classes=False)
    models["line"] = Family("line", HuberRegressor(), ({},), Encoder(kinds=KINDS))
    study = assay.fit(
        table, "value", models=models, defaults=False, drop=["good"], effort="quick", stack=True
    )
    with pytest.raises(DataError, match=r"cannot be saved"):
        study.save(tmp_path / "a.assay")


def test_a_wrong_preference_is_named(table: pl.DataFrame) -> None:
    with pytest.raises(ParameterError, match=r"prefer must be"):
        assay.fit(table, "value", effort="quick", prefer="small")
