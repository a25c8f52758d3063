from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from assay.base import DataError, ParameterError, same
from assay.table import Encoder

Matrix = NDArray[np.float64]


def mixed(n: int = 60, seed: int = 0) -> Matrix:
    """Three numeric columns with gaps, one ordinal, two nominal, one of them with gaps."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack(
        [
            rng.normal(5, 3, n),
            rng.exponential(2, n),
            rng.integers(0, 9, n),
            rng.integers(0, 4, n),
            rng.integers(0, 5, n),
            rng.integers(0, 3, n),
        ]
    ).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[:, 5] = np.nan_to_num(rows[:, 5])
    return rows


KINDS = ("numeric", "numeric", "numeric", "ordinal", "nominal", "nominal")


@parametrize_with_checks([Encoder(), Encoder(impute="mean", scale=None, indicator=False)])  # type: ignore[untyped-decorator]
def test_encoder_is_a_scikit_learn_transformer(estimator: Any, check: Any) -> None:
    check(estimator)


# --- oracle ---


@pytest.mark.parametrize("impute", ["median", "mean", "constant"])
@pytest.mark.parametrize("scale", ["standard", "minmax", None])
def test_numbers_are_those_of_scikit_learn(impute: str, scale: str | None) -> None:
    rows, new = mixed()[:, :4], mixed(seed=1)[:, :4]
    steps: list[Any] = [SimpleImputer(strategy=impute, fill_value=7.0, add_indicator=False)]
    if scale is not None:
        steps.append(StandardScaler() if scale == "standard" else MinMaxScaler())
    oracle = make_pipeline(*steps).fit(rows)
    encoder = Encoder(impute=impute, scale=scale, indicator=False, fill_value=7.0).fit(rows)
    np.testing.assert_allclose(
        encoder.transform(new), oracle.transform(new), rtol=1e-12, atol=1e-12
    )


def test_indicators_are_those_of_scikit_learn() -> None:
    rows, new = mixed()[:, 2:4], mixed(seed=1)[:, 2:4]
    oracle = SimpleImputer(strategy="median", add_indicator=True).fit(rows)
    encoder = Encoder(scale=None).fit(rows)
    np.testing.assert_array_equal(encoder.transform(new), oracle.transform(new))


def test_levels_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    rows = rng.choice(6, size=(80, 2), p=[0.4, 0.3, 0.2, 0.06, 0.03, 0.01]).astype(float)
    new = rng.integers(0, 8, size=(50, 2)).astype(float)
    oracle = OneHotEncoder(
        min_frequency=5, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(rows)
    encoder = Encoder(kinds=("nominal", "nominal"), min_count=5).fit(rows)
    np.testing.assert_array_equal(encoder.transform(new), oracle.transform(new))


def test_two_levels_are_one_column_as_in_scikit_learn() -> None:
    rows = np.array([[0.0], [1.0], [0.0], [1.0]])
    oracle = OneHotEncoder(drop="if_binary", sparse_output=False).fit(rows)
    encoder = Encoder(kinds=("nominal",)).fit(rows)
    np.testing.assert_array_equal(encoder.transform(rows), oracle.transform(rows))
    assert encoder.transform([[2.0]]).tolist() == [[0.5]]


def test_level_places_are_those_of_scikit_learn() -> None:
    pd_rows = pd.DataFrame({"a": ["x", "y", "z", "y"], "b": ["u", "u", "v", "v"]})
    encoder = Encoder(nominal="ordinal", min_count=1).fit(pd_rows)
    assert encoder.transform(pd_rows).tolist() == [[0, 0], [1, 0], [2, 1], [1, 1]]
    new = pd.DataFrame({"a": ["w", None], "b": ["v", "u"]})
    assert encoder.transform(new).tolist() == [[3, 1], [3, 0]]


# --- what the fit may see ---


@given(st.integers(0, 10_000))
def test_rows_outside_training_never_change_the_fit(seed: int) -> None:
    rows = mixed(seed=seed)
    rng = np.random.default_rng(seed)
    train = rng.permutation(len(rows))[:40]
    first = Encoder(kinds=KINDS).fit(rows[train])
    changed = rows.copy()
    others = np.setdiff1d(np.arange(len(rows)), train)
    changed[others] = rng.choice([np.nan, -1e6, 3.0, 77.0], size=(len(others), rows.shape[1]))
    assert same(first, Encoder(kinds=KINDS).fit(changed[train]))
    part = first.transform(changed[others[:5]])
    np.testing.assert_array_equal(first.transform(changed[others])[:5], part)


@given(st.permutations(range(30)))
def test_order_of_training_rows_does_not_matter(order: list[int]) -> None:
    rows = mixed(30)
    first, second = (Encoder(kinds=KINDS).fit(part) for part in (rows, rows[order]))
    np.testing.assert_allclose(first.transform(rows), second.transform(rows), atol=1e-12)


def test_output_is_finite_for_any_input_rows() -> None:
    encoder = Encoder(kinds=KINDS).fit(mixed())
    new = np.full((3, 6), np.nan)
    new[1] = 99.0
    new[2] = -1.0
    found = encoder.transform(new)
    assert np.isfinite(found).all()
    assert found.shape == (3, encoder.n_features_out_)
    assert len(encoder.get_feature_names_out()) == encoder.n_features_out_


# --- edges ---


def test_missing_levels_are_a_level_of_their_own() -> None:
    rows = np.array([[0.0], [1.0], [np.nan], [0.0], [1.0], [np.nan]])
    encoder = Encoder(kinds=("nominal",)).fit(rows)
    assert encoder.transform([[np.nan], [1.0], [5.0]]).tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_missing_value_without_example_counts_as_unknown() -> None:
    encoder = Encoder(kinds=("nominal",), min_count=2).fit([[0.0], [0.0], [1.0], [1.0], [2.0]])
    assert encoder.get_feature_names_out().tolist() == ["x0=0", "x0=1", "x0=other"]
    assert encoder.transform([[np.nan], [9.0]]).tolist() == [[0, 0, 1], [0, 0, 1]]


def test_rare_levels_follow_the_number_of_rows() -> None:
    codes = np.repeat(np.arange(3.0), [2000, 5, 1])[:, None]
    kept = Encoder(kinds=("nominal",)).fit(codes).kept_
    assert kept.tolist() == [0.0, 1.0]  # 2006 / 500 rows are needed
    assert Encoder(kinds=("nominal",), min_count=6).fit(codes).kept_.tolist() == [0.0]


def test_column_without_values_and_constant_column_are_zero() -> None:
    rows = np.array([[np.nan, 0.1], [np.nan, 0.1], [np.nan, 0.1]])
    found = Encoder(indicator=False).fit_transform(rows)
    assert found.tolist() == [[0.0, 0.0]] * 3


def test_huge_numbers_do_not_overflow() -> None:
    rows = np.array([[1.7e308, -1e308], [-1.7e308, 1e308], [1.0, 1e308], [np.nan, -1e308]])
    for scale in ("standard", "minmax"):
        for impute in ("mean", "median"):
            assert np.isfinite(Encoder(scale=scale, impute=impute).fit_transform(rows)).all()


def test_single_precision_comes_out_double() -> None:
    rows = mixed()[:, :3].astype(np.float32)
    found = Encoder().fit_transform(rows)
    assert found.dtype == np.float64
    expected = Encoder().fit_transform(rows.astype(np.float64))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_dataframes_are_encoded_by_their_types(library: Any) -> None:
    frame = library(
        {"age": [20.0, None, 40.0], "town": ["Ulm", "Bonn", None], "old": [True, False, True]}
    )
    encoder = Encoder(scale=None, min_count=1).fit(frame)
    names = ["age", "old", "age missing", "town=Bonn", "town=Ulm", "town=missing"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.transform(frame).tolist() == [
        [20, 1, 0, 0, 1, 0],
        [30, 0, 1, 1, 0, 0],
        [40, 1, 0, 0, 0, 1],
    ]


def test_columns_can_come_out_as_a_dataframe() -> None:
    frame = pl.DataFrame({"age": [20.0, None], "town": ["Ulm", "Bonn"]})
    found = Encoder(min_count=1).set_output(transform="polars").fit_transform(frame)
    assert found.columns == ["age", "age missing", "town=Ulm"]


# --- state ---


@pytest.mark.parametrize("nominal", ["onehot", "ordinal"])
def test_restored_encoder_is_the_same(nominal: str) -> None:
    encoder = Encoder(kinds=KINDS, nominal=nominal).fit(mixed())
    again = Encoder.from_state(encoder.get_params(), encoder.state())
    assert same(encoder, again)
    new = mixed(seed=3)
    np.testing.assert_array_equal(again.transform(new), encoder.transform(new))


def test_restored_encoder_of_a_dataframe_is_the_same() -> None:
    frame = pl.DataFrame({"n": [1.0, 2.0, 3.0], "t": ["a", "b", "a"]})
    encoder = Encoder(min_count=1).fit(frame)
    again = Encoder.from_state(encoder.get_params(), encoder.state())
    assert again.transform(frame).tolist() == encoder.transform(frame).tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"kinds_": np.array([0, 0, 0, 1, 2, 7], dtype=np.int8)},
        {"kinds_": np.array([0, 0, 0, 1, 0, 0], dtype=np.int8)},
        {"fill_": np.array([0.0, np.nan, 0.0, 0.0])},
        {"scale_": np.array([1.0, 0.0, 1.0, 1.0])},
        {"scale_": np.ones(3)},
        {"gaps_": np.array([0, 9])},
        {"gaps_": np.array([1, 0])},
        {"kept_": np.zeros(3)},
        {"kept_offsets_": np.array([0, 99, 8])},
        {"kept_offsets_": np.array([0, 6, 5])},
        {"other_": np.array([True])},
        {"absent_": np.array([0, 1])},
        {"n_features_out_": 3},
        {"n_features_out_": None},
    ],
    ids=str,
)
def test_damaged_state_is_refused(change: dict[str, Any]) -> None:
    encoder = Encoder(kinds=KINDS, min_count=1).fit(mixed())
    with pytest.raises(DataError, match="the model is damaged"):
        Encoder.from_state(encoder.get_params(), encoder.state() | change)


def test_level_without_name_is_refused() -> None:
    encoder = Encoder(min_count=1).fit(pl.DataFrame({"t": ["a", "b", "c"]}))
    with pytest.raises(DataError, match="a category in kept_ has no name"):
        Encoder.from_state(
            encoder.get_params(), encoder.state() | {"kept_": np.array([0.0, 1.0, 5.0])}
        )


# --- errors ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"impute": "mode"}, "impute must be 'median', 'mean' or 'constant'; got 'mode'"),
        ({"scale": "log"}, "scale must be 'standard', 'minmax' or None; got 'log'"),
        ({"nominal": "hot"}, "nominal must be 'onehot' or 'ordinal'; got 'hot'"),
        ({"min_count": 0}, "min_count must be an integer >= 1 or 'auto'; got 0"),
        ({"fill_value": np.inf}, "fill_value must be a finite number; got inf"),
        ({"kinds": ("numeric",)}, r"kinds must name one kind per column of X \(2\)"),
        ({"kinds": ("numeric", "text")}, "kinds must be 'numeric', 'ordinal' or 'nominal'"),
    ],
)
def test_bad_parameter_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Encoder(**options).fit([[1.0, 2.0], [3.0, 4.0]])


def test_text_cannot_be_numeric() -> None:
    with pytest.raises(DataError, match="column 0 of X holds text, so its kind must be 'nominal'"):
        Encoder(kinds=("numeric",)).fit(pl.DataFrame({"t": ["a", "b"]}))
