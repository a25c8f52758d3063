"""Kill -9 at random moments: ``assay fit`` itself, and workers of a Dask cluster it runs on.

``python -m benchmarks.kills [--table german_credit] [--fits 50] [--workers 20] [--effort quick]``

What is counted: units in the ledger just before a kill and just after it (none may be missing), and
the bytes of the model file and of every unit at the end, compared with those of a fit that nobody
disturbed. With ``--folder``, a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.select.clusters import DaskCluster, dask_cluster

from benchmarks import tables


class Trial:
    """One command, its undisturbed result, and what happened so far."""

    def __init__(self, table: str, effort: str, folder: Path, seconds: float) -> None:
        self.folder, self.out = folder, folder / "kills.json"
        self.end = time.monotonic() + seconds
        self.fit = [
            sys.executable, "-m", "assay", "fit", str(tables.path_of(table)), "--target",
            tables.described(table)["target"], "--effort", effort, "--quiet", "--force",
        ]  # fmt: skip
        for name in tables.described(table)["exclude"]:
            self.fit += ["--drop", name]
        self.state: dict[str, Any] = {"table": table, "effort": effort, "seconds": None}
        self.state |= {"fits": counts(), "workers": counts()}
        if self.out.exists():
            self.state = json.loads(self.out.read_text())
        if not (folder / "whole.assay").exists():
            start = time.perf_counter()
            self.start("whole").wait()
            self.state["seconds"] = round(time.perf_counter() - start, 1)
        self.whole = self.result("whole")
        self.note()

    def wants(self, kind: str, kills: int) -> bool:
        """Say whether more kills are wanted, and there is time for them."""
        return self.state[kind]["kills"] < kills and time.monotonic() < self.end

    def start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self.fit, "--out", str(self.folder / name), *options])

    def units(self, name: str) -> dict[str, str]:
        """Return the digest of every unit in a ledger, whoever may be writing to it."""
        path = self.folder / f"{name}.ledger"
        if not path.exists():
            return {}
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)
        try:
            found = connection.execute("SELECT key, payload FROM unit").fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # killed before it was made
                return {}
            raise
        finally:
            connection.close()
        return {key: hashlib.sha256(payload).hexdigest() for key, payload in found}

    def count(self, name: str) -> int:
        """Return how many units are in a ledger."""
        path = self.folder / f"{name}.ledger"
        if not path.exists():
            return 0
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)
        try:
            return int(connection.execute("SELECT count(*) FROM unit").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
        finally:
            connection.close()

    def result(self, name: str) -> tuple[str, dict[str, str]]:
        model = (self.folder / f"{name}.assay").read_bytes()
        return hashlib.sha256(model).hexdigest(), self.units(name)

    def finished(self, kind: str, name: str) -> None:
        """Count a fit that came to its end, compare it with the whole one, and clear it away."""
        mine = self.state[kind]
        mine["finished"] += 1
        model, units = self.result(name)
        mine["other model"] += model != self.whole[0]
        mine["other units"] += units != self.whole[1]
        for path in self.folder.glob(f"{name}.*"):
            path.unlink()
        self.note()

    def note(self) -> None:
        self.out.write_text(json.dumps(self.state, indent=1) + "\n")


def counts() -> dict[str, int]:
    """Return nothing yet."""
    names = ("kills", "units at kills", "units lost", "finished", "other model", "other units")
    return dict.fromkeys(names, 0)


def kill_fits(trial: Trial, kills: int, chance: random.Random) -> None:
    """Kill the command itself, start it again, and so on until it comes to its end."""
    mine = trial.state["fits"]
    while trial.wants("fits", kills) or (
        mine["kills"] >= kills and (trial.folder / "killed.ledger").exists()
    ):
        child = trial.start("killed")
        if trial.wants("fits", kills) and _reached(trial, child, chance):
            before = trial.units("killed")
            child.kill()
            child.wait()
            after = trial.units("killed")
            mine["kills"] += 1
            mine["units at kills"] += len(before)
            mine["units lost"] += sum(after.get(key) != value for key, value in before.items())
            trial.note()
            continue
        assert child.wait() == 0, f"assay fit ended with {child.returncode}"
        trial.finished("fits", "killed")


def _reached(trial: Trial, child: subprocess.Popen[bytes], chance: random.Random) -> bool:
    """Wait for a random moment; False if the command came to its end before."""
    there = trial.count("killed")
    left = len(trial.whole[1]) - there
    # Now and then while it loads or reads, else after some more units, or while it ends.
    goal = 0 if chance.random() < 0.1 else there + chance.randint(1, max(1, left // 2))
    while child.poll() is None and trial.count("killed") < goal:
        time.sleep(0.005)
    time.sleep(chance.uniform(0.0, 0.5))
    return child.poll() is None


def kill_workers(trial: Trial, kills: int, chance: random.Random) -> None:
    """Kill one of two workers, start another in its place, and so on while the fit goes on."""
    mine = trial.state["workers"]
    while trial.wants("workers", kills):
        with tempfile.TemporaryDirectory() as own, dask_cluster(Path(own)) as cluster:
            fit = trial.start("dask", "--scheduler", cluster.address)
            while fit.poll() is None:
                goal = trial.count("dask") + chance.randint(1, 30)
                while fit.poll() is None and trial.count("dask") < goal:
                    time.sleep(0.01)
                if fit.poll() is None and trial.wants("workers", kills):
                    _kill_one(trial, cluster, mine)
            assert fit.returncode == 0, f"assay fit ended with {fit.returncode}"
        trial.finished("workers", "dask")


def _kill_one(trial: Trial, cluster: DaskCluster, mine: dict[str, int]) -> None:
    before = trial.units("dask")
    cluster.kill_worker()
    cluster.add_worker()
    after = trial.units("dask")
    mine["kills"] += 1
    mine["units at kills"] += len(before)
    mine["units lost"] += sum(after.get(key) != value for key, value in before.items())
    trial.note()


def main() -> None:
    """Run both trials and print what was counted."""
    parser = argparse.ArgumentParser(prog="benchmarks.kills")
    parser.add_argument("--table", default="german_credit")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--fits", type=int, default=50)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin no kill later")
    parser.add_argument("--folder", type=Path, help="kept; a temporary one if not given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        trial = Trial(args.table, args.effort, folder, args.seconds)
        chance = random.Random(f"{args.seed} {trial.state['fits']} {trial.state['workers']}")
        kill_fits(trial, args.fits, chance)
        kill_workers(trial, args.workers, chance)
    print(json.dumps({**trial.state, "units": len(trial.whole[1])}, indent=1))


if __name__ == "__main__":
    main()
