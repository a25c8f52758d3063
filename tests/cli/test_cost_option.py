"""``assay fit --cost``: the same as in Python, and as the model file says again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import assay
from tests.cli.shop import Run

COSTS = {("yes", "no"): 25.0, ("no", "yes"): 2.0}
ASKED = ("--cost", "yes,no=25", "--cost", "no,yes=2")


def test_command_python_and_model_file_decide_alike(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", "--effort", "quick", *ASKED)
    assert ended.code == 0, ended.err
    assert "Score      Mean cost" in ended.out
    assert "Costs      no as yes: 2; yes as no: 25; each decision is" in ended.out
    assert "always the class that costs the least" in ended.out
    study = assay.fit(table, "sold", effort="quick", cost=COSTS)
    again = assay.load("shop.assay")
    assert again.digest == study.digest
    assert study.digest in ended.out
    predicted = run("predict", "shop.assay", table)
    said = [row["prediction"] for row in csv.DictReader(predicted.out.splitlines())]
    assert said == study.predict(table).tolist() == again.predict(table).tolist()


def test_json_tells_the_costs(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", "--effort", "quick", "--json", *ASKED)
    found = json.loads(ended.out)
    assert found["cost"]["matrix"] == [[0.0, 2.0], [25.0, 0.0]]
    assert found["metric"]["name"] == "cost"


def test_costs_that_cannot_be_read_are_an_error_of_one_line(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", "--cost", "yes=25")
    assert ended.code != 0
    assert ended.err.splitlines()[-1] == (
        "assay: error: cost as text is truth,prediction=number, for example spam,ham=10; "
        "got 'yes=25'"
    )
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["shop.csv"]
