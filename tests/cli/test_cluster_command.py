"""``assay cluster``: files, words, exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.store import inspect
from tests.cli.shop import Run

QUICK = ("--method", "kmeans", "-k", "2")


def names() -> list[str]:
    return sorted(path.name for path in Path.cwd().iterdir())


def test_cluster_writes_the_files_and_tells_the_rules(run: Run, table: Path) -> None:
    ended = run("cluster", table)
    assert ended.code == 0, ended.err
    assert names() == [
        "shop.clusters.assay",
        "shop.clusters.csv",
        "shop.clusters.html",
        "shop.csv",
    ]
    lines = ended.out.splitlines()
    assert lines[0] == "Rows       80 read = 80 used + 0 dropped"
    for head in ("Clusters", "Number", "Method", "Files", "Digest"):
        assert any(line.startswith(head) for line in lines), head
    assert "criteria agree" in ended.out
    assert "Traceback" not in ended.err
    assert "Warning" not in ended.err
    written = Path("shop.clusters.csv").read_text().splitlines()
    assert written[0] == "row,cluster"
    assert len(written) == 81


def test_json_prints_one_object_and_nothing_else(run: Run, table: Path) -> None:
    found = json.loads(run("cluster", table, *QUICK, "--json").out)
    assert found["n_clusters"] == 2
    assert sum(found["sizes"].values()) == 80
    assert found["rows"] == {"read": 80, "used": 80, "dropped": 0, "reasons": []}
    assert found["files"] == {
        "assignments": "shop.clusters.csv",
        "model": "shop.clusters.assay",
        "report": "shop.clusters.html",
    }
    assert found["number"] is None


def test_quiet_prints_nothing(run: Run, table: Path) -> None:
    ended = run("cluster", table, *QUICK, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_same_table_same_bytes(run: Run, table: Path) -> None:
    for out, jobs in (("a", "1"), ("b", "2")):
        assert run("cluster", table, "--out", out, "--jobs", jobs, "--quiet").code == 0
    for ending in (".clusters.assay", ".clusters.html", ".clusters.csv"):
        assert Path(f"a{ending}").read_bytes() == Path(f"b{ending}").read_bytes()


def test_predict_puts_rows_into_the_same_clusters(run: Run, table: Path) -> None:
    assert run("cluster", table, *QUICK, "--quiet").code == 0
    ended = run("predict", "shop.clusters.assay", table)
    assert ended.code == 0, ended.err
    predicted = ended.out.splitlines()
    assigned = Path("shop.clusters.csv").read_text().splitlines()
    assert predicted[1:] == [line.split(",")[1] for line in assigned[1:]]


def test_predict_gives_the_shares_of_a_mixture(run: Run, table: Path) -> None:
    assert run("cluster", table, "--method", "mixture", "-k", "2", "--quiet").code == 0
    lines = run("predict", "shop.clusters.assay", table, "--proba").out.splitlines()
    assert lines[0] == "prediction,probability of 0,probability of 1"
    shares = [float(value) for value in lines[1].split(",")[1:]]
    assert sum(shares) == pytest.approx(1.0)


def test_methods_that_place_no_new_rows_say_so(run: Run, table: Path) -> None:
    ended = run("cluster", table, "--method", "agglomerative", "-k", "2")
    assert "this method does not place new rows" in ended.out
    ended = run("predict", "shop.clusters.assay", table)
    assert ended.code == 65
    assert "groups the rows it has seen and no new ones" in ended.err
    assert "Traceback" not in ended.err


def test_inspect_tells_what_a_cluster_model_holds(run: Run, table: Path) -> None:
    run("cluster", table, *QUICK, "--quiet")
    ended = run("inspect", "shop.clusters.assay")
    assert ended.code == 0, ended.err
    assert "puts rows into clusters" in ended.out
    assert "Clusters   2 by k-means" in ended.out
    assert (
        json.loads(run("inspect", "shop.clusters.assay", "--json").out)["record"]["n_clusters"] == 2
    )
    assert set(inspect("shop.clusters.assay")) == {"clusters", "schema"}


def test_columns_and_drop_choose_what_is_used(run: Run, table: Path) -> None:
    found = json.loads(run("cluster", table, *QUICK, "--columns", "price", "--json").out)
    assert [c["name"] for c in found["columns"] if c["role"] == "feature"] == ["price"]
    found = json.loads(run("cluster", table, *QUICK, "--drop", "price", "--json").out)
    assert "price" not in [c["name"] for c in found["columns"] if c["role"] == "feature"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--columns", "prise"], 65, "no column 'prise' (columns); did you mean 'price'?"),
        (["--method", "kmeens"], 64, "'kmeens' is not one of"),
        (["-k", "0"], 64, "0 is not in the range x>=1"),
        (["--method", "dbscan", "-k", "3"], 64, "n_clusters cannot be given with method='dbscan'"),
        (["--eps", "1"], 64, "eps and min_samples are for method='dbscan'"),
        (["--method", "kmeans", "-k", "500"], 65, "500"),
        (["--out", "nowhere/x"], 74, "no folder 'nowhere'; create it first"),
    ],
)
def test_wrong_use_ends_in_one_line_and_no_files(
    run: Run, table: Path, args: list[str], code: int, message: str
) -> None:
    ended = run("cluster", table, *args)
    assert ended.code == code, ended.err
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert names() == ["shop.csv"]


def test_missing_file_names_the_nearest(run: Run, table: Path) -> None:
    ended = run("cluster", "shp.csv")
    assert ended.code == 74
    assert "did you mean 'shop.csv'?" in ended.err
    assert table.exists()


def test_a_model_of_fit_stays(run: Run, table: Path) -> None:
    for name in ("shop.assay", "shop.html"):
        Path(name).write_text("mine\n")
    assert run("cluster", table, *QUICK).code == 0
    assert run("cluster", table, *QUICK, "--out", "shop.clusters.assay").code == 0
    assert [Path(name).read_text() for name in ("shop.assay", "shop.html")] == ["mine\n"] * 2
    assert not Path("shop.clusters.clusters.csv").exists()


def test_files_of_others_are_not_replaced(run: Run, table: Path) -> None:
    Path("shop.clusters.csv").write_text("mine\n")
    ended = run("cluster", table, *QUICK)
    assert ended.code == 64
    assert "was not written by Assay" in ended.err
    assert Path("shop.clusters.csv").read_text() == "mine\n"
    assert run("cluster", table, *QUICK, "--force").code == 0
    assert run("cluster", table, *QUICK).code == 0  # its own files are


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_told_before_the_work(run: Run, table: Path) -> None:
    Path.cwd().chmod(0o500)
    ended = run("cluster", table, *QUICK)
    Path.cwd().chmod(0o700)
    assert ended.code == 74
