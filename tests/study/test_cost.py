"""Costs from the command to the saved model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay import store
from assay.base import DataError, ParameterError
from assay.evaluate import decide
from assay.multiclass import CostClassifier
from assay.report import summary_text
from assay.study import Study

COST = {("Adelie", "Chinstrap"): 20.0}
# Truth in rows, prediction in columns: Adelie, Chinstrap, Gentoo.
MATRIX = [[0.0, 20.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]


@pytest.fixture(scope="module")
def careful(penguins: pl.DataFrame) -> Study:
    return assay.fit(penguins, "species", effort="quick", cost=COST)


def test_study_tells_its_costs(careful: Study) -> None:
    assert careful.score.metric == "cost"
    assert careful.record.metric.greater_is_better is False
    assert careful.record.cost is not None
    assert careful.record.cost.to_json()["matrix"] == MATRIX
    assert careful.record.cost.classes == ("Adelie", "Chinstrap", "Gentoo")
    text = summary_text(careful.record)
    assert "Mean cost" in text
    assert "Adelie as Chinstrap: 20; every other mistake: 1; each decision is" in text


def test_study_without_costs_says_nothing_of_them(study: Study) -> None:
    assert "cost" not in study.record.to_json()


def test_predictions_cost_the_least_by_the_models_probabilities(
    careful: Study, penguins: pl.DataFrame
) -> None:
    assert isinstance(careful.estimator, CostClassifier)
    names = np.array(["Adelie", "Chinstrap", "Gentoo"])
    shares = careful.predict_proba(penguins)
    said = careful.predict(penguins)
    assert said.tolist() == names[decide(shares, MATRIX)].tolist()


def test_all_forms_of_the_costs_give_the_same_study(careful: Study, penguins: pl.DataFrame) -> None:
    for form in (MATRIX, "Adelie,Chinstrap=20", ["Adelie,Chinstrap=20"]):
        study = assay.fit(penguins, "species", effort="quick", cost=form)
        assert study.digest == careful.digest


def test_saved_study_decides_by_its_costs(
    careful: Study, penguins: pl.DataFrame, tmp_path: Path
) -> None:
    digest = careful.save(tmp_path / "p.assay")
    again = assay.load(tmp_path / "p.assay")
    assert again.digest == digest
    assert again.record == careful.record
    np.testing.assert_array_equal(again.predict(penguins), careful.predict(penguins))
    np.testing.assert_array_equal(again.predict_proba(penguins), careful.predict_proba(penguins))


def test_report_tells_the_costs(careful: Study, tmp_path: Path) -> None:
    page = careful.report(tmp_path / "p.html").read_text("utf-8")
    assert "Adelie as Chinstrap: 20; every other mistake: 1" in page
    assert "the mean cost of a prediction" in page


def test_costs_of_a_mistake_make_it_rare(penguins: pl.DataFrame) -> None:
    # Two columns only: the classes overlap, and what mistakes cost matters.
    table = penguins.select("species", "bill_depth_mm", "body_mass_g")
    plain = assay.fit(table, "species", effort="quick", metric="accuracy")
    careful = assay.fit(table, "species", effort="quick", cost="Chinstrap,Adelie=20")

    def mistaken(study: Study) -> int:
        assert study.record.diagnostics.confusion is not None
        return study.record.diagnostics.confusion.counts[1][0]

    assert mistaken(careful) < mistaken(plain) / 5


def test_costs_of_an_unknown_class_are_refused(penguins: pl.DataFrame) -> None:
    with pytest.raises(ParameterError, match="cost names the class 'Emperor'"):
        assay.fit(penguins, "species", cost={("Emperor", "Adelie"): 2})


def test_record_with_damaged_costs_is_refused(careful: Study, tmp_path: Path) -> None:
    manifest = careful._manifest()
    manifest["record"]["cost"] = 3
    store.save(tmp_path / "p.assay", manifest, careful._parts())
    with pytest.raises(DataError, match="cost must be a JSON object; got an integer"):
        assay.load(tmp_path / "p.assay")
