from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.table._numbers import fits, read_numbers


@given(
    st.lists(st.floats(-1e15, 1e15), min_size=1),
    st.sampled_from([(".", ","), (",", "."), (",", "\u00a0"), (".", "'"), (",", "\u202f")]),
)
def test_numbers_survive_any_convention(values: list[float], signs: tuple[str, str]) -> None:
    sign, group = signs
    texts = [f"{value:,.6f}".translate({44: group, 46: sign}) for value in values]
    found = read_numbers(pl.Series(texts), sign)
    assert found is not None
    assert found.cast(pl.Float64).to_list() == [float(f"{value:.6f}") for value in values]


@pytest.mark.parametrize("text", ["1,23,456", "1.2.3", "e5", "", "+", "1 23", "1,,2", "--1"])
def test_other_texts_are_no_numbers(text: str) -> None:
    assert not any(fits(pl.Series([text]), sign) for sign in ".,")
