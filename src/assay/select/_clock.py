"""How much work is done, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: (units done, units in all, seconds left or None, what was done last)
Progress = Callable[[int, int, float | None, str], None]


class Clock:
    """Counts units and estimates the time left from the speed of each family so far."""

    def __init__(self, progress: Progress | None, n_jobs: int) -> None:
        self.progress = progress
        self.n_jobs = n_jobs
        self.total = 0
        self.done = 0
        self._left: dict[int, float] = {}  # cost still to pay, by family
        self._paid: dict[int, float] = {}
        self._seconds: dict[int, float] = {}
        self._count = 0

    def add(self, costs: Sequence[tuple[int, float]], there: int) -> None:
        self.done += there
        self.total = max(self.total, self.done + len(costs))
        for family, cost in costs:
            self._left[family] = self._left.get(family, 0.0) + cost
        if there:
            self.report("found in the ledger")

    def tick(self, cost: tuple[int, float], seconds: float, what: str) -> None:
        family, amount = cost
        self.done += 1
        self._count += 1
        self._left[family] -= amount
        self._paid[family] = self._paid.get(family, 0.0) + amount
        self._seconds[family] = self._seconds.get(family, 0.0) + seconds
        self.report(what)

    def report(self, what: str) -> None:
        if self.progress is not None:
            self.progress(self.done, self.total, self._seconds_left(), what)

    def _seconds_left(self) -> float | None:
        if not self._count:
            return None
        overall = sum(self._seconds.values()) / sum(self._paid.values())
        left = 0.0
        for family, cost in self._left.items():
            paid = self._paid.get(family)
            left += cost * (self._seconds[family] / paid if paid else overall)
        return left / self.n_jobs
