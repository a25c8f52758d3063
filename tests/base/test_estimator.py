"""The base classes: what arrives in an estimator, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from assay.base import DataError, Regressor
from assay.base import _estimator as base
from tests.base.estimators import Coded, Mean, Means

NUMBERS: dict[str, list[float]] = {"a": [0.0, 1.0, 9.0], "b": [1, 2, 3]}
LABELS = ["x", "x", "y"]
FRAMES = [pd.DataFrame(NUMBERS), pl.DataFrame(NUMBERS), pa.table(NUMBERS)]


@parametrize_with_checks([Means(), Coded()])  # type: ignore[untyped-decorator]
def test_base_classes_keep_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__module__)
def test_dataframes_are_like_arrays(frame: Any) -> None:
    rows = np.column_stack([NUMBERS["a"], NUMBERS["b"]])
    from_frame, from_array = Means().fit(frame, LABELS), Means().fit(rows, LABELS)
    assert np.array_equal(from_frame.means_, from_array.means_)
    assert from_frame.feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(from_array, "feature_names_in_")
    assert from_frame.predict(frame).tolist() == LABELS


def test_predict_refuses_other_columns() -> None:
    model = Means().fit(FRAMES[1], LABELS)
    with pytest.raises(DataError, match=r"^The feature names should match"):
        model.predict(FRAMES[1].rename({"a": "z"}))
    with pytest.raises(DataError, match=r"^X has 1 features, but Means is expecting 2"):
        Means().fit(np.zeros((3, 2)), LABELS).predict([[1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_arrays_are_not_copied(dtype: type) -> None:
    rows: NDArray[Any] = np.zeros((3, 2), dtype=dtype)
    assert Means()._fit_rows(rows) is rows


@pytest.mark.parametrize(
    ("rows", "dtype"),
    [
        (np.zeros((2, 2), dtype=np.int8), np.float64),
        (np.zeros((2, 2), dtype=np.float16), np.float64),
        (np.zeros((2, 2), dtype=np.float32, order="F"), np.float32),
        (pl.DataFrame({"a": [1.0]}, schema={"a": pl.Float32}), np.float32),
        (pl.DataFrame({"a": [1.0], "b": [1]}, schema={"a": pl.Float32, "b": pl.Int8}), "f8"),
        (pd.DataFrame({"a": [1.0]}, dtype=np.float32), np.float32),
        ([[True, False]], np.float64),
    ],
)
def test_rows_are_float32_or_float64_in_c_order(rows: Any, dtype: Any) -> None:
    got = Means()._fit_rows(rows)
    assert got.dtype == dtype
    assert got.flags.c_contiguous


def test_weights_reach_the_fit() -> None:
    assert Mean().fit([[0], [0]], [1.0, 4.0], [2, 1]).mean_ == 2.0


def test_unfitted_models_say_so() -> None:
    for use in (
        lambda: Means().predict([[0.0]]),
        lambda: Means().state(),
        lambda: Means().digest(),
    ):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0]], None, "Means requires y to be passed, but the target y is None"),
        (
            [[1.0], [2.0]],
            ["a"],
            "X has 2 rows but y has 1; each row needs one target (inconsistent numbers of samples)",
        ),
        (
            [[1.0], [np.nan]],
            ["a", "b"],
            "X contains NaN in row 1, column 0: Means takes no missing values; fill them in "
            "(assay.table.Encoder does) or leave these rows out",
        ),
        (
            pl.DataFrame({"a": [1, None]}),
            ["a", "b"],
            "X contains NaN in row 1, column 'a': Means takes no missing values; fill them in "
            "(assay.table.Encoder does) or leave these rows out",
        ),
        (
            [[1.0, np.inf]],
            ["a"],
            "X contains infinity or a value too large for float64 in row 0, column 1; "
            "correct it or leave the row out",
        ),
        (
            pl.DataFrame({"when": ["noon", "dusk"]}),
            ["a", "b"],
            "column 'when' is of type String, but Means takes numbers only; turn it into numbers "
            "first (assay.table.Encoder does) or leave it out",
        ),
        (
            pl.LazyFrame({"a": [1.0]}),
            ["a"],
            "X is a lazy frame, whose rows are not computed yet; pass X.collect()",
        ),
    ],
)
def test_fit_says_what_is_wrong_and_where(X: Any, y: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        Means().fit(X, y)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.empty((0, 2)), "0 sample"),
        (np.empty((2, 0)), "0 feature"),
        (pl.DataFrame(), "0 sample"),
        ([1.0, 2.0], "Expected 2D array"),
        ([["a"], ["b"]], "could not convert string to float"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "duplicate column names"),
    ],
)
def test_fit_refuses_what_is_no_table(X: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Means().fit(X, ["a", "b"])


def test_values_whose_sum_overflows_are_finite() -> None:
    rows = np.array([[1e308], [1e308]])
    assert np.array_equal(Means()._fit_rows(rows), rows)


def test_transformers_take_set_output() -> None:
    class Named(Coded):
        def get_feature_names_out(self, input_features: Any = None) -> Any:
            return self.feature_names_in_

    out = Named().set_output(transform="polars").fit(FRAMES[1]).transform(FRAMES[1])
    assert out.columns == ["a", "b"]


def test_tags_follow_what_the_class_takes() -> None:
    tags = Coded().__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.categorical
    assert not Means().__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__module__)
def test_table_for_models_inside_stays_as_it_is(frame: Any) -> None:
    model = Mean()
    assert model._table(frame, reset=True) is frame
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.mean_ = 0.0
    with pytest.raises(DataError, match="feature names should match"):
        model._table(pd.DataFrame({"b": [1.0], "a": [2.0]}), reset=False)
    with pytest.raises(DataError, match="X has no rows"):
        model._table(pd.DataFrame({"a": [], "b": []}), reset=False)


def test_table_for_models_inside_keeps_its_type() -> None:
    model = Mean()
    words = np.array([["a", "b"], ["c", "d"]])
    assert model._table(words, reset=True) is words
    assert model.n_features_in_ == 2
    assert model._table([[1, 2]], reset=True).dtype.kind == "i"
    rows = sp.csr_array(np.eye(3))
    assert sp.issparse(model._table(rows, reset=True, accept_sparse=True))
    with pytest.raises(TypeError, match="parse data"):
        model._table(rows, reset=True)
    with pytest.raises(DataError, match="Expected 2D array"):
        model._table([1.0, 2.0], reset=True)


def test_text_in_an_array_is_refused_with_its_column_and_the_remedy() -> None:
    with pytest.raises(DataError) as error:
        Coded(categorical_features=[0]).fit([["a", "1"], ["b", "two"]])
    assert str(error.value) == (
        "column 1 of X holds 'two', which is not a number (could not convert string to float); "
        "name nominal columns in categorical_features, or pass a dataframe"
    )


class SparseMean(Regressor):
    takes_sparse = True

    def fit(self, X: Any, y: Any) -> SparseMean:
        self.rows_, values, _ = self._fit_data(X, y)
        self.mean_ = values.mean()
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.full(self._predict_data(X).shape[0], self.mean_)


def test_sparse_rows_arrive_sorted_without_duplicates_and_the_callers_matrix_stays() -> None:
    given = sp.csr_matrix(
        (np.array([1.0, 2.0, 4.0]), np.array([1, 0, 0]), np.array([0, 3])), (1, 2)
    )
    before = given.indices.copy()
    rows: Any = SparseMean().fit(given, [1.0]).rows_
    assert rows.indices.tolist() == [0, 1]
    assert rows.data.tolist() == [6.0, 1.0]
    np.testing.assert_array_equal(given.indices, before)


def test_nan_in_a_sparse_matrix_names_row_and_column() -> None:
    given = sp.csr_matrix(np.array([[0.0, 0.0, 1.0], [0.0, np.nan, 0.0]]))
    with pytest.raises(DataError, match="NaN in row 1, column 1: SparseMean takes no missing"):
        SparseMean().fit(given, [1.0, 2.0])


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((0, 2)),
        np.zeros((3, 0)),
        np.zeros(3),
        np.zeros((3, 2, 1)),
        np.zeros((3, 2), dtype=complex),
    ],
    ids=lambda rows: f"{rows.dtype} {rows.shape}",
)
def test_what_is_no_matrix_of_numbers_is_refused_in_scikit_learns_words(rows: Any) -> None:
    with pytest.raises(ValueError, match=r".") as expected:
        validate_data(Means(), rows, dtype=(np.float64, np.float32), order="C")
    with pytest.raises(DataError) as caught:
        Means().fit(rows, LABELS)
    assert str(caught.value) == str(expected.value)


def test_a_plain_matrix_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([[0.0], [1.0], [9.0]])
    expected = Means().fit(rows, LABELS).predict(rows)
    monkeypatch.setattr(base, "validate_data", None)
    model = Means().fit(rows, LABELS)
    assert model.n_features_in_ == 1
    assert model.predict(rows).tolist() == expected.tolist()
    assert model.fit(np.zeros((3, 4)), LABELS).n_features_in_ == 4


def test_names_are_forgotten_in_a_fit_without_and_missed_in_prediction() -> None:
    rows = np.column_stack([NUMBERS["a"], NUMBERS["b"]])
    model = Means().fit(FRAMES[1], LABELS)
    with pytest.warns(UserWarning, match=r"^X does not have valid feature names, but Means was"):
        model.predict(rows)
    assert not hasattr(model.fit(rows, LABELS), "feature_names_in_")


def test_parameters_are_those_that_scikit_learn_finds() -> None:
    for model in (Means(), Coded(), Mean(), Means(scale=Means), Means(scale=Means(scale=Mean()))):
        for deep in (False, True):
            found = model.get_params(deep=deep)
            assert found == BaseEstimator.get_params(model, deep=deep)
        assert list(model.get_params(deep=False)) == sorted(model.get_params(deep=False))
