from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import vl_convert

from assay.report import _charts
from tests.report.typed import page

Record = dict[str, Any]
HOSTILE = "datum.x) || alert(1) //"


def _walk(part: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(part, dict):
        for name, value in part.items():
            yield name, value
            yield from _walk(value)
    elif isinstance(part, list):
        for value in part:
            yield from _walk(value)


def test_vega_lite_accepts_every_chart(record: Record) -> None:
    for spec in page(record)["charts"].values():
        drawn = vl_convert.vegalite_to_vega(spec)
        assert drawn["marks"]
        assert vl_convert.vegalite_to_svg({**spec, "width": 400}).startswith("<svg")


def test_colours_come_from_the_page_and_follow_its_scheme(record: Record) -> None:
    for spec in page(record)["charts"].values():
        for name, value in _walk(spec):
            if name.lower().endswith("color") or name in ("fill", "stroke"):
                assert isinstance(value, dict) or value is None or value.startswith("var(--"), name


def test_text_of_a_table_never_becomes_an_expression(binary: Record) -> None:
    binary["target"]["name"] = HOSTILE
    binary["diagnostics"]["confusion"]["labels"] = [HOSTILE, "ok"]
    binary["leaderboard"][0]["family"] = HOSTILE
    for spec in page(binary)["charts"].values():
        data = json.dumps(spec.pop("data"))
        rest = json.dumps(spec)
        assert HOSTILE not in rest
        for name, value in _walk(vl_convert.vegalite_to_vega({**spec, "data": json.loads(data)})):
            if name in ("signal", "update", "expr", "test"):
                assert HOSTILE not in json.dumps(value)


def test_confusion_shares_are_of_the_true_class() -> None:
    values = _charts.confusion(["a", "b"], [[30, 10], [0, 0]])["data"]["values"]
    assert [(cell["truth"], cell["predicted"], cell["part"]) for cell in values] == [
        ("a", "a", "75%"),
        ("a", "b", "25%"),
        ("b", "a", "0%"),
        ("b", "b", "0%"),
    ]


def test_classes_that_look_the_same_keep_their_own_cells() -> None:
    values = _charts.confusion(["x", "x", "x (2)"], [[1, 0, 0]] * 3)["data"]["values"]
    assert len({(cell["truth"], cell["predicted"]) for cell in values}) == 9


def test_agreement_draws_only_cells_that_hold_rows() -> None:
    spec = _charts.agreement([0.0, 1.0, 2.0], [0.0, 5.0, 9.0], [[0, 7], [0, 0]])
    assert spec["data"]["values"] == [{"x": 0.0, "x2": 1.0, "y": 5.0, "y2": 9.0, "count": 7}]


@pytest.mark.parametrize("size", [2, 7, 12, 13, 30])
def test_confusion_is_drawn_up_to_its_limit(size: int) -> None:
    labels = [f"class {at}" for at in range(size)]
    counts = [[at + row for at in range(size)] for row in range(size)]
    assert vl_convert.vegalite_to_vega(_charts.confusion(labels, counts))["marks"]
