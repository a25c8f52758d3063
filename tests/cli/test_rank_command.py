"""``assay fit --task rank`` and predictions of its model."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.shop import Run
from tests.study.test_ranking import made


@pytest.fixture
def ranking(tmp_path: Path) -> Path:
    path = tmp_path / "stars.csv"
    made().write_csv(path)
    return path


def test_a_ranking_is_fitted_and_predicted(run: Run, ranking: Path) -> None:
    ended = run(
        "fit", ranking, "-t", "stars", "--task", "rank", "--group", "shop", "--effort", "quick"
    )
    assert ended.code == 0, ended.err
    assert "NDCG@10" in ended.out
    assert "items in random order" in ended.out
    found = list(csv.DictReader(io.StringIO(run("predict", "stars.assay", ranking).out)))
    assert list(found[0]) == ["prediction", "rank"]
    shops = made()["shop"].to_list()
    for shop in set(shops):
        mine = [row for row, name in zip(found, shops, strict=True) if name == shop]
        best = max(mine, key=lambda row: float(row["prediction"]))
        assert best["rank"] == "1"
    as_json = json.loads(run("predict", "stars.assay", ranking, "--json").out)
    assert [str(rank) for rank in as_json["ranks"]] == [row["rank"] for row in found]
    made().drop("shop").write_csv("bare.csv")
    assert run("predict", "stars.assay", "bare.csv").out.splitlines()[0] == "prediction"


def test_a_ranking_without_a_group_is_refused(run: Run, ranking: Path) -> None:
    ended = run("fit", ranking, "-t", "stars", "--task", "rank")
    assert ended.code != 0
    assert "group must name the column of the query when task='rank'" in ended.err
