"""Real Dask clusters on this machine: a scheduler and workers that can be killed one by one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 60.0


class DaskCluster:
    """A scheduler and its workers, without nannies: what is killed stays dead."""

    def __init__(self, folder: Path, allowed_failures: int = 3) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures),
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "null",  # a busy machine is no dead one
        }
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self._start("dask_scheduler", *options)
        self.workers: list[subprocess.Popen[bytes]] = []
        deadline = time.monotonic() + _SECONDS
        while not self._is_written():
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.02)

    def _is_written(self) -> bool:
        """Return whether the scheduler has written its file, and all of it."""
        try:
            return bool(self.address)
        except (OSError, ValueError):
            return False

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def add_worker(self, threads: int = 1) -> None:
        options = ["--no-nanny", "--no-dashboard", "--nthreads", str(threads)]
        options += ["--memory-limit", "0", "--local-directory", str(self.folder)]
        self.workers.append(self._start("dask_worker", *options))

    def kill_worker(self) -> None:
        """As the system kills a process that wants too much memory: at once."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()

    def kill_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()

    def _start(self, command: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{command}", "--scheduler-file",
             str(self.file), *options],
            env=self.environ, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


@contextmanager
def dask_cluster(
    folder: Path, workers: int = 2, allowed_failures: int = 3
) -> Iterator[DaskCluster]:
    """Start a cluster; it is gone when the context ends, whatever happened."""
    cluster = DaskCluster(folder, allowed_failures)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.close()
