"""Units on a Dask cluster: the same bytes, and nothing that is finished is ever lost."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from assay.base import ParameterError
from assay.select import Family, NestedSearch
from assay.select.run._dask import Cluster, ClusterError
from tests.select.asked import search
from tests.select.clusters import DaskCluster, dask_cluster
from tests.select.run.test_run import FAMILIES, X, Y, content, facts
from tests.select.spies import Counted, Fragile

GRID = [{"var_smoothing": s} for s in (1e-9, 1e-2)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A cluster that tests may kill; the last one takes the scheduler."""
    with dask_cluster(tmp_path_factory.mktemp("mortal")) as cluster:
        yield cluster


def at(unit: int, act: Callable[[], None]) -> Callable[..., None]:
    """Return a progress callback that acts once, when so many units are done."""
    waiting = [act]

    def progress(done: int, total: int, left: float | None, what: str) -> None:
        if done >= unit and waiting:
            waiting.pop()()

    return progress


def test_results_are_those_of_threads_bit_by_bit(tmp_path: Path, cluster: DaskCluster) -> None:
    here = search(X, Y, FAMILIES, task="binary", n_blocks=4, ledger=tmp_path / "here")
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        there = search(
            X, Y, FAMILIES, task="binary", n_blocks=4, ledger=tmp_path / "there",
            scheduler=cluster.address,
        )  # fmt: skip
    assert [str(each.message) for each in shown] == []
    assert facts(there) == facts(here)
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_nested_search_runs_on_a_cluster(cluster: DaskCluster) -> None:
    here = NestedSearch(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}).fit(X, Y)
    there = NestedSearch(
        GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, scheduler=cluster.address
    ).fit(X, Y)
    assert facts(there.outcome_) == facts(here.outcome_)


def test_rows_and_blocks_are_sent_once_not_with_every_unit(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    scatter = Cluster._scattered

    def counted(self: Cluster, data: Any) -> Any:
        sent.append(type(data).__name__)
        return scatter(self, data)

    monkeypatch.setattr(Cluster, "_scattered", counted)
    search(X, Y, FAMILIES[2:4], task="binary", n_blocks=3, repeats=2, scheduler=cluster.address)
    assert sorted(sent) == ["Data", "Partition", "Partition"]


def test_units_in_flight_are_limited(cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead: list[int] = []
    submit, result = Cluster._submit, Cluster._result
    running = [0]

    def submitted(self: Cluster, task: Any) -> Any:
        running[0] += 1
        ahead.append(running[0])
        return submit(self, task)

    def finished(self: Cluster, *args: Any) -> Any:
        running[0] -= 1
        return result(self, *args)

    monkeypatch.setattr(Cluster, "_submit", submitted)
    monkeypatch.setattr(Cluster, "_result", finished)
    search(X, Y, FAMILIES[2:4], task="binary", scheduler=cluster.address)
    assert len(ahead) >= 20
    assert max(ahead) <= 4  # two workers of one thread each


def test_warnings_of_fits_become_notes(cluster: DaskCluster) -> None:
    family = Family("line", LogisticRegression(max_iter=1), [{"C": 1.0}, {"C": 2.0}])
    here = search(X, Y, [family], task="binary")
    there = search(X, Y, [family], task="binary", scheduler=cluster.address)
    assert there.notes == here.notes
    assert there.notes[0].startswith("line: warning in 20 of 20 fits")


def test_interrupt_leaves_ledger_and_cluster_usable(tmp_path: Path, cluster: DaskCluster) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    log = tmp_path / "fits"
    family = Family("counted", Counted(str(log)), GRID)
    with pytest.raises(KeyboardInterrupt):
        search(
            X, Y, [family], task="binary", ledger=tmp_path / "l", scheduler=cluster.address,
            progress=at(3, interrupt),
        )  # fmt: skip
    kept = content(tmp_path / "l")
    assert len(kept) >= 3
    resumed = search(
        X, Y, [family], task="binary", ledger=tmp_path / "l", scheduler=cluster.address
    )
    assert kept.items() <= content(tmp_path / "l").items()
    assert facts(resumed) == facts(search(X, Y, [family], task="binary"))


def test_worker_with_other_versions_is_named(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.select.run._dask.versions", lambda: {"assay-ml": "0.0.1"})
    with pytest.raises(
        ClusterError,
        match=r"the Dask worker at tcp://127.0.0.1:\d+ has assay-ml [\d.]+, this process has "
        r"assay-ml 0.0.1; install the same version there",
    ):
        search(X, Y, FAMILIES[:1], task="binary", scheduler=cluster.address)
    # And if it joined after the client had asked.
    monkeypatch.setattr(Cluster, "_check_versions", lambda self: None)
    with pytest.raises(ClusterError, match=r"this process has assay-ml 0.0.1"):
        search(X, Y, FAMILIES[:1], task="binary", scheduler=cluster.address)


def test_killed_workers_cost_their_units_only(tmp_path: Path, mortal: DaskCluster) -> None:
    log = tmp_path / "fits"
    families = [Family("counted", Counted(str(log), pause=0.02), [{"var_smoothing": s}])
                for s in (1e-9, 1e-4, 1e-2)]  # fmt: skip
    kept: list[set[str]] = []

    def one() -> None:
        mortal.kill_worker()

    def all_but_a_new_one() -> None:
        # The last holder of the rows goes: they have to be sent again.
        kept.append(set(content(tmp_path / "l")))
        mortal.kill_worker()
        mortal.add_worker()

    first, second = at(4, one), at(12, all_but_a_new_one)

    def both(*call: Any) -> None:
        first(*call)
        second(*call)

    found = search(
        X, Y, families, task="binary", ledger=tmp_path / "l", scheduler=mortal.address,
        progress=both,
    )  # fmt: skip
    fits = len(log.read_text().splitlines())
    assert kept
    assert kept[0] <= set(content(tmp_path / "l"))
    # Besides the 30 and the outer ones, only what was under way when a worker died, and at most
    # what it had finished but not yet handed over.
    whole = len(content(tmp_path / "l"))
    assert whole <= fits <= whole + 2 * 4
    log.unlink()
    assert facts(found) == facts(search(X, Y, families, task="binary", ledger=tmp_path / "whole"))
    assert content(tmp_path / "whole") == content(tmp_path / "l")


def test_lost_scheduler_costs_nothing_that_was_finished(
    tmp_path: Path, mortal: DaskCluster
) -> None:
    log = tmp_path / "fits"
    family = Family("counted", Counted(str(log), pause=0.02), GRID)
    address = mortal.address
    with pytest.raises(ClusterError) as told:
        search(
            X, Y, [family], task="binary", ledger=tmp_path / "l", scheduler=address,
            progress=at(4, mortal.kill_scheduler),
        )  # fmt: skip
    assert str(told.value) == (
        f"the Dask scheduler at {address} is gone; finished units are kept in the ledger, if there "
        f"is one: run the same command again to continue, with the scheduler or without"
    )
    mortal.close()  # a worker without a scheduler may still be at its last unit
    kept = content(tmp_path / "l")
    assert len(kept) >= 4
    log.unlink()
    resumed = search(X, Y, [family], task="binary", ledger=tmp_path / "l", n_jobs=2)
    assert len(log.read_text().splitlines()) == 2 * (10 - len(kept)) + 5
    assert kept.items() <= content(tmp_path / "l").items()
    assert facts(resumed) == facts(search(X, Y, [family], task="binary"))


def test_model_that_kills_its_workers_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.select.run._dask._MAX_KILLED", 1)
    families = [Family("good", GaussianNB(), encoder=None), Family("bad", Fragile("exit"))]
    with (
        dask_cluster(tmp_path, workers=1, allowed_failures=0) as cluster,
        pytest.raises(ClusterError, match=r"workers keep dying while they run '(bad|good)'"),
    ):
        search(
            X, Y, families, task="binary", n_blocks=3, ledger=tmp_path / "l",
            scheduler=cluster.address,
        )  # fmt: skip


def test_scheduler_without_workers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.select.run._dask._CONNECT_SECONDS", 1.0)
    with dask_cluster(tmp_path, workers=0) as cluster:
        message = f"has no workers; start some with 'dask worker {cluster.address}'"
        with pytest.raises(ClusterError, match=message):
            search(X, Y, FAMILIES[:1], task="binary", scheduler=cluster.address)
    level = logging.getLogger("distributed").level
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1 "):
        search(X, Y, FAMILIES[:1], task="binary", scheduler="tcp://127.0.0.1:1")
    assert logging.getLogger("distributed").level == level


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ParameterError, match=r"pip install 'assay-ml\[dask\]'"):
        search(X, Y, FAMILIES[:1], task="binary", scheduler="tcp://127.0.0.1:8786")
