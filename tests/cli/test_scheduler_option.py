"""``assay fit --scheduler``: the same bytes on a Dask cluster, and a lost one costs nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.shop import HEADER, Run, rows
from tests.select.clusters import dask_cluster

FIT = ("--target", "sold", "--effort", "quick")


def units(path: Path) -> int:
    if not path.exists():
        return 0
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM unit").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0
    finally:
        connection.close()


def test_model_file_is_the_same_on_threads_processes_and_a_cluster(
    run: Run, tmp_path: Path
) -> None:
    Path("shop.csv").write_text("\n".join([HEADER, *rows(120)]) + "\n")
    with dask_cluster(tmp_path) as cluster:
        ways = {
            "threads": ("--jobs", "2"),
            "processes": ("--jobs", "2", "--backend", "processes"),
            "dask": ("--scheduler", cluster.address),
        }
        for name, way in ways.items():
            ended = run("fit", "shop.csv", *FIT, *way, "--out", name)
            assert ended.code == 0, ended.err
            assert Path(f"{name}.assay").read_bytes() == Path("threads.assay").read_bytes(), name
            assert units(Path(f"{name}.ledger")) == units(Path("threads.ledger"))
        # The scheduler goes in the middle of a fit.
        fit = subprocess.Popen(
            [sys.executable, "-m", "assay", "fit", "shop.csv", *FIT, "--out", "lost",
             "--scheduler", cluster.address],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while units(Path("lost.ledger")) < 3 and fit.poll() is None:
            time.sleep(0.01)
        cluster.kill_scheduler()
        _, said = fit.communicate(timeout=120)
        address = cluster.address
    kept = units(Path("lost.ledger"))
    assert fit.returncode == 74, said
    assert 3 <= kept < units(Path("threads.ledger"))
    assert "Traceback" not in said
    assert said.splitlines()[-1] == (
        f"assay: error: the Dask scheduler at {address} is gone; finished units are kept in the "
        "ledger, if there is one: run the same command again to continue, with the scheduler "
        "or without"
    )
    resumed = run("fit", "shop.csv", *FIT, "--out", "lost")
    assert resumed.code == 0, resumed.err
    assert "units" in resumed.err
    assert Path("lost.assay").read_bytes() == Path("threads.assay").read_bytes()


def test_address_that_is_none_is_wrong_usage(run: Run, table: Path) -> None:
    ended = run("fit", table, *FIT, "--scheduler", "here")
    assert ended.code == 64
    assert ended.err.endswith(
        "assay: error: scheduler must be the address of a Dask scheduler, such as "
        "'tcp://127.0.0.1:8786'; got 'here'\n"
    )
