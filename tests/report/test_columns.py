from __future__ import annotations

from typing import Any

from assay.report._columns import MAX_CARDS
from tests.report.typed import card, cards, spark

NUMERIC = {
    "name": "age", "kind": "numeric", "role": "feature", "missing": 20, "distinct": 71,
    "min": 0.42, "median": 28.0, "max": 80.0,
    "histogram": {"edges": [0.0, 40.0, 80.0], "counts": [30, 1]},
}  # fmt: skip


def test_card_tells_kind_missing_and_range() -> None:
    found = card(NUMERIC, 100)
    assert found["facts"] == "71 values, 20% missing"
    assert found["range"] == {"min": "0.42", "median": "28", "max": "80"}


def test_bars_are_in_proportion_and_none_is_lost() -> None:
    found = spark({"edges": [0, 1, 2, 3], "counts": [1000, 1, 0]})
    assert found is not None
    assert [bar["height"] for bar in found["bars"]] == [36.0, 1.0]
    assert found["alt"] == (
        "Histogram from 0 to 3; the fullest bin, 0 to 1, holds 1,000 rows."
    )  # fmt: skip


def test_a_histogram_of_nothing_is_not_drawn() -> None:
    assert spark({"edges": [0, 1], "counts": [0]}) is None
    assert spark({"edges": [], "counts": []}) is None
    assert spark(None) is None


def test_levels_show_their_share_of_the_known_values() -> None:
    column = {
        "name": "sex", "kind": "nominal", "role": "feature", "missing": 20, "distinct": 2,
        "top": [{"level": "male", "count": 60}, {"level": "", "count": 20}],
    }  # fmt: skip
    found = card(column, 100)["levels"]
    assert [(level["level"], level["share"], level["width"]) for level in found] == [
        ("male", "75%", 75.0),
        ("(empty)", "25%", 25.0),
    ]


def test_values_of_identifiers_are_not_shown() -> None:
    column = {
        "name": "who", "kind": "identifier", "role": "dropped", "missing": 0, "distinct": 100,
        "top": [{"level": "Ada Lovelace", "count": 1}], "reason": "a different text in every row",
    }  # fmt: skip
    assert "Ada" not in repr(card(column, 100))
    assert card({**NUMERIC, "kind": "identifier"}, 100)["spark"] is None


def test_target_comes_first_and_dropped_columns_last() -> None:
    columns: list[dict[str, Any]] = [
        {"name": "id", "kind": "identifier", "role": "dropped", "reason": "all different"},
        NUMERIC,
        {"name": "y", "kind": "boolean", "role": "target"},
    ]
    shown = cards(columns, 100)
    assert [entry["name"] for entry in shown["cards"]] == ["y", "age", "id"]
    assert shown["more"] is None


def test_columns_beyond_the_cap_are_counted_and_named() -> None:
    columns = [{**NUMERIC, "name": f"c{at}"} for at in range(1000)]
    shown = cards(columns, 100)
    assert len(shown["cards"]) == MAX_CARDS
    assert shown["more"] == (
        "880 more columns not drawn here: c120, c121, c122, c123, c124, c125 and 874 more."
    )
