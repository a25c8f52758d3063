from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.record import Estimate, decimals, figure
from assay.report._format import (
    MAX_SENTENCE,
    clean,
    count,
    metric_name,
    safe,
    short,
    span,
)


def between(low: float, value: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, level=0.95)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return []


@given(plain)
def test_cleaned_data_can_always_be_shown(value: Any) -> None:
    for text in _texts(clean(value)):
        assert len(text) <= MAX_SENTENCE
        assert text.encode("utf-8") is not None
        assert not any(unicodedata.category(sign) in ("Cc", "Cs") for sign in text)


@given(st.text(max_size=100))
def test_cleaning_leaves_ordinary_text_alone(text: str) -> None:
    if text.isprintable():
        assert safe(text) == text


def test_directional_overrides_are_made_visible() -> None:
    assert safe("abc\u202egnp.exe") == "abc\ufffdgnp.exe"


def test_a_megabyte_cell_is_cut() -> None:
    assert safe("x" * 10**6) == "x" * 159 + "…"


@given(
    st.floats(-1e9, 1e9, allow_nan=False), st.floats(1e-5, 1e6), st.floats(0.1, 10)
)  # fmt: skip
def test_two_numbers_an_interval_apart_never_read_the_same(
    value: float, width: float, factor: float
) -> None:
    entry = between(value - width, value, value + width * factor)
    if abs(value) < 1e12 * width:
        low, high = span(entry).split(" to ")
        assert low != high


def test_decimals_follow_the_width_of_the_interval() -> None:
    assert decimals(between(0.8995, 0.9, 0.9005)) == 5
    assert decimals(between(0.6, 0.9, 1.2)) == 2
    assert decimals(between(0.5, 0.5, 0.5)) == 4
    assert decimals(between(float("nan"), 0.0, float("nan"))) == 3


def test_numbers_that_are_not_finite_are_a_dash() -> None:
    assert span(between(float("-inf"), 0.5, float("nan")), 2) == "– to –"
    assert figure(float("inf"), 2) == "–"


def test_minus_is_a_minus_sign() -> None:
    assert figure(-1234.5, 1) == "−1,234.5"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("roc_auc", "ROC AUC"), ("roc_auc_ovr", "ROC AUC (one-vs-rest)"), ("f1", "F1"),
        ("f1_micro", "F1 (micro)"), ("accuracy", "Accuracy"), ("neg_brier_score", "Brier score"),
        ("recall", "Recall"), ("precision_macro", "Precision (macro)"), ("ndcg@10", "NDCG@10"),
        ("neg_root_mean_squared_error", "RMSE"), ("top_k_accuracy", "Top k accuracy"),
    ],
)  # fmt: skip
def test_a_metric_has_one_name_everywhere(name: str, shown: str) -> None:
    assert metric_name(name) == shown


def test_years_have_no_separator_and_counts_do() -> None:
    assert (short(1990), short(-9999.0), short(10_000)) == ("1990", "-9999", "10,000")
    assert count(1990, "row") == "1,990 rows"
