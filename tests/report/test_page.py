from __future__ import annotations

from typing import Any

import pytest

from assay.report._page import MAX_NESTED, MAX_RANKED
from tests.report.typed import page, render

Record = dict[str, Any]


def test_headline_states_score_interval_and_baseline(binary: Record) -> None:
    head = page(binary)["headline"]
    assert (head["metric"], head["value"]) == ("ROC AUC", "0.867")
    assert head["interval"] == "95% interval 0.838 to 0.896"
    assert head["baseline"] == {
        "name": "always the most frequent class",
        "value": "0.500",
        "interval": None,
    }
    assert head["gain"] == {"value": "0.367", "interval": "0.338 to 0.396"}
    assert head["verdict"] == "Better than the baseline"
    assert head["text"] == (
        "A model built this way on 891 rows scores 0.867 in ROC AUC (95% interval 0.838 to 0.896)."
    )
    assert head["reason"] == (
        "Better than the baseline (always the most frequent class): the gain is 0.3672, at least "
        "0.3381 with 95% confidence."
    )


def test_headline_says_so_when_the_model_is_no_better(binary: Record) -> None:
    binary["verdict"] = {"code": "no better", "text": "Guessing does as well."}
    head = page(binary)["headline"]
    assert not head["good"]
    assert head["verdict"] == "No better than the baseline"


def test_headline_speaks_for_itself_without_a_verdict_text(binary: Record) -> None:
    binary["verdict"] = {"code": "better", "text": ""}
    assert page(binary)["headline"]["reason"] == ""


def test_numbers_that_json_cannot_hold_are_shown_as_absent(binary: Record) -> None:
    binary["score"].update(low="-inf", high="inf")
    binary["quick"] = {"value": "nan", "low": "nan", "high": "nan", "level": 0.95}
    binary["leaderboard"][0].update(sd="nan")
    head = page(binary)["headline"]
    assert head["interval"] == "95% interval – to –"
    assert [row[0] for row in head["table"]] == ["This model", "Baseline"]


def test_score_chart_shows_this_model_then_the_quick_estimate_then_the_baseline(
    binary: Record,
) -> None:
    names = [row[0] for row in page(binary)["headline"]["table"]]
    assert names == ["This model", "Quick estimate", "Baseline"]


@pytest.mark.parametrize(
    "far",
    [
        {"value": -7.3, "low": -9.0, "high": 1.0},
        {"value": 0.99, "low": 0.98, "high": 1.0},
        {"value": 0.8672, "low": -7.3, "high": 1.0},
    ],
)
def test_a_quick_estimate_that_is_far_out_is_not_drawn(
    binary: Record, far: dict[str, float]
) -> None:
    binary["quick"].update(far)
    head = page(binary)["headline"]
    assert [row[0] for row in head["table"]] == ["This model", "Baseline"]
    assert not head["has_quick"]


def test_a_baseline_without_an_interval_is_a_dot(regression: Record) -> None:
    regression["baseline"].update(low="nan", high="nan")
    values = page(regression)["headline"]["chart"]["spec"]["data"]["values"]
    assert values[-1]["low"] == values[-1]["high"] == regression["baseline"]["value"]


def test_rows_add_up(record: Record) -> None:
    rows = record["rows"]
    lost = sum(entry["count"] for entry in rows["dropped"])
    assert rows["read"] == rows["used"] + lost
    text = f"{rows['read']:,} rows read = {rows['used']:,} used + {lost:,} dropped"
    if not lost:
        text = f"{rows['read']:,} rows read, all used"
    assert page(record)["rows"]["sum"] == text


def test_every_dropped_column_is_named_with_its_reason(binary: Record) -> None:
    aside = page(binary)["overview"]["aside"]
    assert [(entry["columns"], entry["reason"]) for entry in aside] == [
        ("PassengerId, Name", "every value is different"),
        ("Ticket", "almost every value is different (681 of 893)"),
    ]


def test_failed_candidates_are_named_and_not_drawn(binary: Record) -> None:
    board = page(binary)["ranking"]
    assert board["failed"] == [
        {
            "family": "linear discriminant",
            "params": "shrinkage=auto, solver=lsqr",
            "reason": "ValueError: covariance is singular",
        }
    ]
    assert board["n_scored"] == len(binary["leaderboard"]) - 1


def test_a_record_in_which_every_candidate_failed_still_has_a_page(binary: Record) -> None:
    for row in binary["leaderboard"]:
        row.update(score=None, failed="no")
    assert page(binary)["ranking"]["chart"] is None


def test_leaderboard_lists_at_most_so_many_and_counts_the_rest(binary: Record) -> None:
    row = binary["leaderboard"][0]
    binary["leaderboard"] = [{**row, "rank": rank} for rank in range(1, 1001)]
    board = page(binary)["ranking"]
    assert len(board["rows"]) == MAX_RANKED
    assert board["more"] == f"{1000 - MAX_RANKED} more candidates ranked below are not listed."


def test_leaderboard_of_a_loss_says_smaller_is_better(regression: Record) -> None:
    regression["metric"] = {
        "name": "root_mean_squared_error", "greater_is_better": False, "low": None, "high": None,
    }  # fmt: skip
    board = page(regression)["ranking"]
    assert (board["metric"], board["direction"]) == ("RMSE", "smaller is better")


@pytest.mark.parametrize(
    ("families", "params", "said"),
    [
        (["a", "a"], [{"k": 1}, {"k": 1}], "The same model was chosen in every block"),
        (["a", "a"], [{"k": 1}, {"k": 2}], "The same family was chosen in every block"),
        (["a", "b"], [{}, {}], "2 different families were chosen in 2 blocks"),
    ],
)
def test_stability_of_the_choice_is_told(
    binary: Record, families: list[str], params: list[Any], said: str
) -> None:
    binary["nested"] = [
        {
            "repeat": 0,
            "block": at,
            "rows": 9,
            "family": family,
            "params": settings,
            "inner": 0.9,
            "outer": 0.8,
        }
        for at, (family, settings) in enumerate(zip(families, params, strict=True))
    ]
    chosen = page(binary)["chosen"]
    assert chosen["stability"].startswith(said)
    assert [row["block"] for row in chosen["blocks"]] == [1, 2]


def test_blocks_of_several_splits_are_told_apart(binary: Record) -> None:
    binary["nested"] = [{**row, "repeat": at // 3} for at, row in enumerate(binary["nested"])]
    chosen = page(binary)["chosen"]
    assert chosen["repeated"]
    assert [row["split"] for row in chosen["blocks"]] == [1, 1, 1, 2, 2]


def test_many_blocks_are_cut_and_counted(binary: Record) -> None:
    binary["nested"] = binary["nested"] * 40
    chosen = page(binary)["chosen"]
    assert len(chosen["blocks"]) == MAX_NESTED
    assert chosen["more"] == f"{200 - MAX_NESTED} more blocks not listed."


def test_work_is_compared_with_a_plain_nested_search(binary: Record) -> None:
    facts = dict(page(binary)["measured"]["facts"])
    assert facts["Work"] == "1,170 model fits (a naive nested search: 6,240)"
    assert facts["Seed"] == "0"
    assert facts["Table (SHA-256)"] == binary["digest"]


def test_classes_are_measured_from_the_confusion_counts(binary: Record) -> None:
    found = page(binary)["diagnostics"]["confusion"]
    assert found["classes"] == [
        {"label": "0", "rows": "549", "recall": "89%", "precision": "83%"},
        {"label": "1", "rows": "342", "recall": "71%", "precision": "80%"},
    ]
    assert found["sentence"].startswith("731 of 891 rows (82%)")


def test_predictions_of_two_repeats_are_counted_and_rows_stay_rows(binary: Record) -> None:
    once = page(binary)["diagnostics"]
    assert once["unit"] == "Rows"
    assert "rows (" in once["confusion"]["sentence"]
    counts = binary["diagnostics"]["confusion"]["counts"]
    binary["diagnostics"]["confusion"]["counts"] = [[2 * n for n in line] for line in counts]
    twice = page(binary)["diagnostics"]
    assert twice["unit"] == "Predictions"
    assert "1,462 of 1,782 predictions (82%) are correct" in twice["confusion"]["sentence"]
    assert twice["confusion"]["classes"] == once["confusion"]["classes"]


def test_worst_confusions_come_first(multiclass: Record) -> None:
    mixed = page(multiclass)["diagnostics"]["confusion"]["mixed_up"]
    counts = [int(entry["count"]) for entry in mixed]
    assert counts == sorted(counts, reverse=True)
    assert all(entry["truth"] != entry["predicted"] for entry in mixed)


def test_a_matrix_of_many_classes_is_not_drawn_but_said(multiclass: Record) -> None:
    size = 200
    labels = [f"class {at}" for at in range(size)]
    counts = [[3 if row == column else 0 for column in range(size)] for row in range(size)]
    multiclass["diagnostics"]["confusion"] = {"labels": labels, "counts": counts}
    found = page(multiclass)["diagnostics"]["confusion"]
    assert found["chart"] is None
    assert found["not_drawn"] == "The matrix of 200 classes is not drawn (at most 30)."
    assert found["more"] == "160 rarer classes not listed."


def test_calibration_gap_is_the_mean_distance_weighted_by_rows(binary: Record) -> None:
    binary["diagnostics"]["calibration"] = {
        "predicted": [0.2, 0.8],
        "observed": [0.3, 0.8],
        "count": [100, 300],
    }
    assert page(binary)["diagnostics"]["calibration"]["gap"] == "2.5"


def test_each_task_has_its_own_pictures(
    binary: Record, multiclass: Record, regression: Record
) -> None:
    assert set(page(binary)["charts"]) == {
        "chart-score", "chart-ranking", "chart-confusion", "chart-roc", "chart-calibration",
    }  # fmt: skip
    assert set(page(multiclass)["charts"]) == {"chart-score", "chart-ranking", "chart-confusion"}
    assert set(page(regression)["charts"]) == {
        "chart-score", "chart-ranking", "chart-residuals", "chart-agreement",
    }  # fmt: skip


def test_page_does_not_change_the_record(record: Record) -> None:
    before = repr(record)
    page(record)
    assert repr(record) == before


def test_rows_have_a_section_only_if_some_were_dropped(binary: Record, regression: Record) -> None:
    assert 'id="rows"' in render(binary)
    html = render(regression)
    assert 'id="rows"' not in html
    assert "1,030 rows read, all used" in html


def test_reasons_of_families_are_given_once(binary: Record) -> None:
    rule = {"candidates": 1, "work": 5, "why": "fast, and good when the relation is linear"}
    binary["portfolio"] = [{**rule, "family": "ridge"}, {**rule, "family": "lasso"}]
    assert dict(page(binary)["measured"]["facts"])["Families"] == (
        "Fast, and good when the relation is linear: ridge (1 candidate), lasso (1 candidate)."
    )


def test_axes_of_years_have_no_separator(regression: Record) -> None:
    grid = regression["diagnostics"]["agreement"]
    for name in ("x_edges", "y_edges"):
        grid[name] = [1950 + at for at in range(len(grid[name]))]
    spec = page(regression)["charts"]["chart-agreement"]
    assert spec["layer"][0]["encoding"]["x"]["axis"]["format"] == ".6~g"
