"""Scores that are undefined, and what is done about them."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import LinearSVC

from assay.base import DataError
from assay.select import Family, make_blocks
from assay.select.run._notes import collected, listening
from tests.select.asked import search

X, Y = make_classification(100, 6, random_state=0)
BAYES = Family("bayes", GaussianNB())


def one_sided_groups() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Five groups; one has a single class."""
    groups = np.arange(100) // 20
    y = np.arange(100) % 2
    y[groups == 0] = 0
    return groups, y


def test_blocks_where_the_metric_is_undefined_are_left_out_and_told() -> None:
    groups, y = one_sided_groups()
    outcome = search(X, y, [BAYES], task="binary", groups=groups)
    undefined = [row for row in outcome.nested if row.outer is None]
    assert len(undefined) == 1
    assert any("undefined for 4 of 20 block scores" in note for note in outcome.notes)
    assert any("undefined on 1 of 5 outer blocks" in note for note in outcome.notes)
    defined = [row.outer for row in outcome.nested if row.outer is not None]
    assert outcome.plain is not None
    assert outcome.plain.value == pytest.approx(np.mean(defined))
    assert outcome.leaderboard[0].failed is None


def test_metric_that_is_undefined_everywhere_is_an_error() -> None:
    y = np.repeat([0, 1], 50)
    groups = np.arange(100) // 10
    with pytest.raises(DataError, match="metric 'broken' could not be computed for any candidate"):
        search(X, y, [BAYES], task="binary", groups=groups, metric=broken)


def broken(model: Any, X: Any, y: Any) -> float:
    raise ZeroDivisionError("no")


def test_candidate_without_what_the_metric_needs_is_named() -> None:
    families = [BAYES, Family("margin", LinearSVC())]
    outcome = search(X, Y, families, task="binary", metric="log_loss")
    assert outcome.leaderboard[1].family == "margin"
    assert "needs probabilities, and the model gives none" in str(outcome.leaderboard[1].failed)


def test_outer_blocks_without_defined_inner_scores_are_left_out() -> None:
    y = np.arange(100) % 2
    y[20:40] = 0  # block 1, the only one that chooses for block 2
    outcome = search(X, y, [BAYES], task="binary", time=np.arange(100))
    assert [row.block for row in outcome.nested] == [3, 4]
    assert any(note.startswith("block 2 was left out: roc_auc") for note in outcome.notes)


def test_target_encoder_sees_training_rows_as_in_a_pipeline() -> None:
    rows = np.random.default_rng(0).integers(0, 5, (200, 2)).astype(float)
    y = (rows[:, 0] + np.random.default_rng(1).normal(0, 2, 200) > 2).astype(int)
    encoder = TargetEncoder(cv=KFold(3))
    family = Family("line", LogisticRegression(), encoder=encoder)
    outcome = search(rows, y, [family], task="binary")
    labels = make_blocks(y, 5, task="binary")
    block = np.empty(200, int)
    block[outcome.outer.row] = outcome.outer.block
    assert (block == labels).all()
    model = make_pipeline(encoder, LogisticRegression()).fit(rows[labels != 0], y[labels != 0])
    assert outcome.outer.probability is not None
    mine = outcome.outer.probability[outcome.outer.block == 0]
    np.testing.assert_allclose(mine, model.predict_proba(rows[labels == 0]), rtol=1e-9)


def test_warnings_belong_to_the_thread_that_raised_them() -> None:
    def work(name: int) -> list[str]:
        with collected() as notes:
            for _ in range(200):
                warnings.warn(f"from {name}", UserWarning, stacklevel=1)
        return notes

    with listening(), listening(), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(8)))
    assert found == [[f"UserWarning: from {name}"] for name in range(8)]
    with pytest.warns(UserWarning, match="outside"):
        warnings.warn("outside", stacklevel=1)


def test_warnings_outside_fits_go_their_usual_way_while_listening() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with listening():
            warnings.simplefilter("always")
            warnings.warn(DeprecationWarning("not a fit"), stacklevel=1)
    assert [str(each.message) for each in shown] == ["not a fit"]
    assert shown[0].filename == __file__
