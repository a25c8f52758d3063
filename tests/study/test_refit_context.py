"""Hand tuning: one candidate more, its own units and no others."""

from __future__ import annotations

import copy
import gc
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import assay
from assay.base import DataError, ParameterError
from assay.select import Family
from assay.study import Study
from tests.select.spies import Counted


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + random.normal(size=150) > 1).astype(int)
    return pl.DataFrame({**{f"x{i}": X[:, i] for i in range(4)}, "y": np.where(y, "yes", "no")})


def fitted(table: pl.DataFrame, log: Path, **more: Any) -> Study:
    models = {"first": Counted(str(log)), "second": Counted(str(log), var_smoothing=0.5)}
    return assay.fit(
        table, "y", models=models, defaults=False, effort="quick", n_jobs=1, metric="accuracy",
        stack=False, calibrate=False, **more,
    )  # fmt: skip


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_only_the_new_candidate_is_fitted(table: pl.DataFrame, tmp_path: Path) -> None:
    study = fitted(table, tmp_path / "old")
    before = lines(tmp_path / "old")
    more = study.try_(Counted(str(tmp_path / "new"), var_smoothing=0.1), "third")
    # Ten pairs of blocks; then one fit per outer block that it wins, and one if it wins it all.
    wins = sum(row.family == "third" for row in more.record.nested)
    final = more.record.chosen.family == "third"
    assert lines(tmp_path / "new") == 10 + wins + final
    # Of the old ones, nothing but the final fit, and outer fits of choices that are new.
    assert lines(tmp_path / "old") - before <= 1 + 5


@pytest.mark.parametrize("kept", ["memory", "file"])
def test_a_try_is_the_fit_with_the_candidate_from_the_start(
    table: pl.DataFrame, tmp_path: Path, kept: str
) -> None:
    more = {"ledger": tmp_path / "fit.ledger"} if kept == "file" else {}
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    tried = fitted(table, tmp_path / "log", **more).try_(tree, "tree")
    models = {
        "first": Counted(str(tmp_path / "log")),
        "second": Counted(str(tmp_path / "log"), var_smoothing=0.5),
        "tree": tree,
    }
    whole = assay.fit(
        table, "y", models=models, defaults=False, effort="quick", n_jobs=1, metric="accuracy",
        stack=False, calibrate=False,
    )  # fmt: skip
    (note,) = [text for text in tried.record.notes if "added by hand" in text]
    assert "added by hand after seeing scores: tree;" in note
    assert tried.record.score == whole.record.score
    assert tried.record.nested == whole.record.nested
    assert tried.record.leaderboard == whole.record.leaderboard
    assert tried.record.chosen == whole.record.chosen
    assert {"first", "second", "tree"} == set(tried.table()["family"])
    np.testing.assert_array_equal(tried.predict(table), whole.predict(table))


def test_the_first_study_stays_as_it_was_and_tries_go_on(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    study = fitted(table, tmp_path / "log")
    board = study.table()
    second = study.try_(GaussianNB())
    del study
    gc.collect()  # the ledger belongs to both
    third = second.try_(GaussianNB(var_smoothing=0.3))
    assert third.table().height == board.height + 2
    names = set(third.table()["family"])
    assert {"GaussianNB", "GaussianNB (2)"} < names
    assert any("GaussianNB, GaussianNB (2);" in text for text in third.record.notes)


def test_a_family_with_candidates_may_be_tried(table: pl.DataFrame, tmp_path: Path) -> None:
    family = Family(
        "trees", DecisionTreeClassifier(random_state=0), [{"max_depth": d} for d in (1, 2)]
    )
    more = fitted(table, tmp_path / "log").try_(family)
    assert (more.table()["family"] == "trees").sum() == 2
    assert copy.deepcopy(more).score == more.score


def test_a_study_from_a_file_says_that_it_cannot(table: pl.DataFrame, tmp_path: Path) -> None:
    study = assay.fit(table, "y", effort="quick", n_jobs=1)
    digest = study.digest
    study.save(tmp_path / "model.assay")
    again = assay.load(tmp_path / "model.assay")
    assert again.digest == digest
    with pytest.raises(DataError, match="try_ needs the rows and the finished work of a fit"):
        again.try_(GaussianNB())


def test_a_name_must_be_new(table: pl.DataFrame, tmp_path: Path) -> None:
    study = fitted(table, tmp_path / "log")
    with pytest.raises(ParameterError, match="name must be new; 'first' is in this study already"):
        study.try_(GaussianNB(), "first")


def test_rows_set_aside_stay_aside(table: pl.DataFrame, tmp_path: Path) -> None:
    study = fitted(table, tmp_path / "log", holdout=0.2)
    more = study.try_(GaussianNB())
    assert more.record.holdout == study.record.holdout
    assert more.record.rows == study.record.rows


def test_sobol_candidates_are_as_many_as_those_of_the_grids(table: pl.DataFrame) -> None:
    boards = [
        assay.fit(table, "y", effort="quick", n_jobs=1, search=search).table()
        for search in ("grid", "sobol")
    ]
    counts = [dict(board["family"].value_counts().iter_rows()) for board in boards]
    assert counts[0] == counts[1]
    assert boards[0]["params"].to_list() != boards[1]["params"].to_list()
    with pytest.raises(ParameterError, match="search must be 'grid' or 'sobol'; got 'bayes'"):
        assay.fit(table, "y", search="bayes")
