"""Functions that run on a Dask worker."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from threadpoolctl import threadpool_limits

from assay.select.plan import Data, Partition
from assay.select.run._encode import Encodings
from assay.select.run._family import Family
from assay.select.run._notes import listening
from assay.select.run._task import Result, work
from assay.select.run._unit import Unit

#: Libraries whose versions results depend on.
LIBRARIES = ("assay-ml", "numpy", "scipy", "scikit-learn")


class OtherVersions(Exception):
    """A worker's libraries differ from the client's."""


class _WorkerCache:
    """Cache of a worker process between units."""

    lock = threading.Lock()
    encodings: Encodings | None = None
    limits = threading.local()


def work_on_worker(
    data: Data,
    partition: Partition,
    family: Family,
    unit: Unit,
    expected: Mapping[str, str],
) -> Result:
    """Run one unit."""
    from distributed import get_worker  # noqa: PLC0415 - a worker has it

    worker = get_worker()
    told = difference(versions(), expected, worker.address)
    if told is not None:  # a worker that joined after the check
        raise OtherVersions(told)
    if not hasattr(_WorkerCache.limits, "one"):
        # BLAS counts for the process, OpenMP for each thread: one, so that sums have one order.
        _WorkerCache.limits.one = threadpool_limits(1)
    with _WorkerCache.lock:
        if _WorkerCache.encodings is None:
            _WorkerCache.encodings = Encodings(worker.state.nthreads + 1)
        encodings = _WorkerCache.encodings
    with listening():
        return work((data, partition, family, unit), encodings)


def forget() -> None:
    """Clear the cache of the worker."""
    _WorkerCache.encodings = None


def versions() -> dict[str, str]:
    """Return the versions of `LIBRARIES`."""
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def difference(theirs: Mapping[str, Any], ours: Mapping[str, str], worker: str) -> str | None:
    """Describe the first library whose version differs on the worker; None if all agree.

    Examples
    --------
    >>> difference({"numpy": "2.4.0"}, {"numpy": "2.4.0"}, "tcp://10.0.0.2:40001")
    >>> print(difference({"numpy": None}, {"numpy": "2.4.0"}, "tcp://10.0.0.2:40001"))
    the Dask worker at tcp://10.0.0.2:40001 has no numpy, this process has numpy 2.4.0; install ...
    """
    for name, wanted in ours.items():
        if theirs.get(name) != wanted:
            has = f"{name} {theirs[name]}" if theirs.get(name) else f"no {name}"
            return (
                f"the Dask worker at {worker} has {has}, this process has {name} {wanted}; "
                f"install the same version there, or numbers might differ"
            )
    return None
