"""Memory limits: how much a search may use, and the number of workers that fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from assay.base import ParameterError
from assay.select.run._family import Family

_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
# Default share of the free memory that a search may use.
_SHARE = 0.8
# Bytes of the program itself; copies of the table that always exist, and per worker.
_PROGRAM = 3e8
_ANYWAY, _PER_WORKER = 4.0, 8.0


def bytes_of(memory: float | str) -> float:
    """Return an amount of memory in bytes.

    Parameters
    ----------
    memory : float or str
        Bytes, or a number with a unit: "500MB", "4GB" (powers of ten; "GiB" counts as "GB").

    Raises
    ------
    ParameterError
        If it is not a positive amount.

    Examples
    --------
    >>> bytes_of("4GB"), bytes_of("1.5 g")
    (4000000000.0, 1500000000.0)
    """
    found = re.fullmatch(
        r"([0-9]*\.?[0-9]+(?:e[0-9]+)?) *([kmgt]?)i?b?", str(memory).lower().strip()
    )
    amount = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if isinstance(memory, bool) or not amount > 0:
        raise ParameterError(
            f"memory must be a positive amount such as '500MB' or '4GB'; got {memory!r}"
        )
    return amount


def available_memory() -> float | None:
    """Return the bytes that a new process may use now; None if the system does not report it."""
    found = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(float(line.split()[1]) * 1024)
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")
        if limit != "max":
            found.append(float(limit) - float(used))
    except (OSError, ValueError):
        pass  # no Linux, or no control group: what was found before is all there is
    return min(found) if found else None


def workers_within(
    n_jobs: int, memory: float | None, table: float, families: Sequence[Family], n_rows: int
) -> int:
    """Return the number of workers that fit: at least one, at most `n_jobs`.

    Parameters
    ----------
    n_jobs : int
        Workers asked for.
    memory : float or None
        Bytes that may be used; None for a share of what the machine has free.
    table : float
        Bytes of the rows themselves.
    families : sequence of Family
        Each may say how many bytes a unit of it holds; every unit is taken to hold eight tables:
        the encoded rows, the training part, its columns sorted, and what the model makes of them.
    n_rows : int
        Rows of the table.

    Notes
    -----
    The number of workers has no effect on the result.

    Examples
    --------
    >>> workers_within(8, 2e9, 5e7, [], 1000)
    3
    """
    if memory is None:
        free = available_memory()
        if free is None:
            return n_jobs
        memory = _SHARE * free
    asked = [family.memory(n_rows) for family in families if family.memory is not None]
    each = max([_PER_WORKER * table, *asked])
    spare = memory - _PROGRAM - _ANYWAY * table
    return max(1, min(n_jobs, int(spare // max(each, 1.0))))
