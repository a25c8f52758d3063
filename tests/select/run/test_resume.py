"""Kill -9 at any moment: finished units stay, and the result is that of an undisturbed run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

KILLS = 8

SUPERVISOR = """
import hashlib, json, os, random, signal, sys, time
from sklearn.datasets import make_classification
from tests.select.asked import search
from assay.select import Family, Ledger
from tests.select.spies import Counted

folder, kills = sys.argv[1], int(sys.argv[2])
X, y = make_classification(120, 6, random_state=0)


def run(log, ledger):
    grid = [{"var_smoothing": s} for s in (1e-9, 1e-3)]
    families = [Family("a", Counted(log, pause=0.01), grid),
                Family("b", Counted(log, pause=0.01, var_smoothing=0.5))]
    return search(X, y, families, task="binary", ledger=ledger)


def digest(log, ledger):
    outcome = run(log, ledger)
    with Ledger(ledger) as opened:
        keys = sorted(key for (key,) in opened._units._connection.execute("SELECT key FROM unit"))
        units = hashlib.sha256(b"".join(opened.get(key) for key in keys)).hexdigest()
    return [repr(outcome.score), repr(outcome.nested), repr(outcome.leaderboard), units, len(keys)]


log = folder + "/log"
open(log, "w").close()


def fits():
    return len(open(log).read().splitlines())


random.seed(0)
for _ in range(kills):
    child = os.fork()
    if child == 0:
        run(log, folder + "/killed")
        os._exit(0)
    goal = fits() + random.randint(1, 4)
    while fits() < goal:
        time.sleep(0.001)
    time.sleep(random.uniform(0.0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
first = digest(log, folder + "/killed")
killed_fits = fits()
os.remove(log)
second = digest(log, folder + "/whole")
print(json.dumps([first == second, killed_fits, fits(), first[-1]]))
"""


def test_killed_search_goes_on_where_it_was(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISOR, str(tmp_path), str(KILLS)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    same, killed_fits, whole_fits, units = json.loads(done.stdout)
    assert same
    assert units == 2 * 10 + 5
    assert whole_fits == 3 * 10 + 5
    # Each kill costs at most the unit under way, which has at most two candidates.
    assert whole_fits <= killed_fits <= whole_fits + 2 * KILLS
    assert killed_fits > whole_fits  # the kills did hit
