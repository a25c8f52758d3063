"""``assay fit --holdout`` and ``assay test``: a test set that opens once."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from assay.cli import main
from tests.cli.shop import HEADER, Run, rows

FIT = ("--target", "sold", "--effort", "quick", "--no-ledger")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a model that has a test set, and what its fit said."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "shop.csv").write_text("\n".join([HEADER, *rows()]) + "\n")
    said = io.StringIO()
    with redirect_stdout(said):
        code = main(["fit", str(folder / "shop.csv"), *FIT, "--holdout", "0.2",
                     "--out", str(folder / "shop")])  # fmt: skip
    assert code == 0
    return folder, said.getvalue()


@pytest.fixture
def fitted(run: Run, table: Path, model: tuple[Path, str]) -> Path:
    """The table in an empty folder, with a fresh copy of the model and its report."""
    for name in ("shop.assay", "shop.html"):
        shutil.copy(model[0] / name, name)
    return table


def test_fit_tells_of_the_rows_it_set_aside(model: tuple[Path, str]) -> None:
    said = model[1]
    assert "16 dropped: set aside as the test set" in said
    assert "Test set   16 rows (20% of the table) were set aside before anything else" in said
    assert "not opened yet; open it once, at the very end: assay test MODEL TABLE" in said


def test_test_set_opens_once(run: Run, fitted: Path) -> None:
    first = run("test", "shop.assay", fitted)
    assert first.code == 0, first.err
    lines = first.out.splitlines()
    assert lines[0] == "Test set   16 rows, opened once"
    assert lines[1].startswith("Promised   roc_auc ")
    assert lines[2].startswith("Score      ROC AUC ")
    assert lines[-1] == "Written    shop.opened.json"
    page = Path("shop.html").read_text()
    assert 'id="holdout-title"' in page
    assert "Scores of the first opening" in page
    second = run("test", "shop.assay", fitted)
    assert second.code == 65
    assert second.out == ""
    assert "the test set was already opened on 2" in second.err
    again = run("test", "shop.assay", fitted, "--again")
    assert again.code == 0
    assert again.out.startswith(
        "Test set   16 rows, opened again: these rows are no longer untouched\n"
    )
    assert "only the first score is from" in Path("shop.html").read_text()


def test_inspect_shows_that_the_test_set_was_opened(run: Run, fitted: Path) -> None:
    assert "not opened yet" in run("inspect", "shop.assay").out
    assert run("test", "shop.assay", fitted).code == 0
    assert "not opened yet" not in run("inspect", "shop.assay").out
    found = json.loads(run("inspect", "shop.assay", "--json").out)
    assert len(found["record"]["holdout"]["openings"]) == 1


def test_json_says_whether_the_rows_were_untouched(run: Run, fitted: Path) -> None:
    for untouched in (True, False):
        ended = run("test", "shop.assay", fitted, "--json", *([] if untouched else ["--again"]))
        found = json.loads(ended.out)
        assert found["untouched"] is untouched
        assert found["rows"] == 16
        assert found["scores"][0]["metric"] == found["promised"]["metric"] == "roc_auc"
        assert found["openings"] == 2 - untouched


def test_fit_tells_that_its_test_set_was_opened_before(run: Run, fitted: Path) -> None:
    assert run("test", "shop.assay", fitted).code == 0
    # Another model, but the same rows.
    ended = run("fit", fitted, *FIT, "--holdout", "0.2", "--drop", "color")
    assert ended.code == 0, ended.err
    assert "opened on 2" in ended.out
    refused = run("test", "shop.assay", fitted)
    assert refused.code == 65
    assert "UTC, with another model and gave roc_auc" in refused.err


def test_a_file_of_its_own_is_the_test_set(run: Run, table: Path) -> None:
    Path("later.csv").write_text("\n".join([HEADER, *rows(40, seed=1)]) + "\n")
    ended = run("fit", table, *FIT, "--holdout", "later.csv")
    assert ended.code == 0, ended.err
    assert "40 rows of later.csv, which took no part in choosing" in ended.out
    wrong = run("test", "shop.assay", table)
    assert wrong.code == 65
    assert "shop.csv does not hold the 40 rows that were set aside from later.csv" in wrong.err
    ended = run("test", "shop.assay", "later.csv")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Test set   40 rows, opened once\n")


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--holdout", "0.9"), 64, "holdout must be a share of the rows from 0.05 to 0.5, or a "),
        (("--holdout", "none.csv"), 74, "cannot read 'none.csv': no such file"),
    ],
)
def test_wrong_holdouts_are_named(
    run: Run, table: Path, args: tuple[str, ...], code: int, message: str
) -> None:
    ended = run("fit", table, *FIT, *args)
    assert ended.code == code
    assert message in ended.err


def test_model_without_a_test_set_says_so(run: Run, models: Path) -> None:
    ended = run("test", models / "sold.assay", models / "shop.csv")
    assert ended.code == 65
    assert "no rows were set aside when this model was fitted" in ended.err
