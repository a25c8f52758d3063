"""The tables that ``python -m tests.honesty`` prints."""

from __future__ import annotations

from tests.honesty import tables

OURS = {
    "cell": "numbers mae", "n": 50, "tool": "assay", "loss": True, "draws": 500, "true": 2.0,
    "bias": 0.01, "bias_se": 0.002, "plain_bias": -0.04, "coverage": 0.954, "own": 0.96,
    "width": 0.6, "ideal": 0.4, "called_signal": 0.25,
}  # fmt: skip
GRID = {
    **OURS, "tool": "GridSearchCV", "draws": 20, "bias": -0.05, "coverage": 0.7,
    "plain_bias": float("nan"), "called_signal": float("nan"),
}  # fmt: skip
ALARMS = {"cell": "equal", "n": 50, "tool": "compare", "draws": 2000, "alarms": 0.05}


def test_a_line_of_the_docs_has_all_tools_of_a_cell_in_its_units() -> None:
    # An error of 2.0 that is 0.01 too low flatters by 0.5 percent of it.
    assert tables.page([OURS, GRID, ALARMS]) == "numbers mae,50,500,+0.5,95.4,1.50,25.0,-2.5,70,-,-"


def test_a_number_that_a_tool_could_not_give_is_a_dash() -> None:
    undefined = {**GRID, "bias": float("nan"), "coverage": float("nan")}
    assert tables.page([OURS, undefined]) == "numbers mae,50,500,+0.5,95.4,1.50,25.0,-,-,-,-"


def test_the_text_has_a_line_for_each_tool_and_its_means() -> None:
    lines = tables.text([OURS, GRID, ALARMS]).splitlines()
    assert lines[-5].split()[:6] == ["numbers", "mae", "50", "assay", "500", "2.000"]
    assert lines[-4].split()[-6:] == ["-", "70.0", "96.0", "30.0", "20.0", "-"]
    assert lines[-3].endswith("2000 false alarms 5.0%")
    assert lines[-2] == (
        "assay: printed - true +0.50 points on average, coverage 95.4%, lowest 95.4%"
    )
