"""Progress: units done, and the estimated time left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: (units done, total units, seconds left or None, last unit in words)
Progress = Callable[[int, int, float | None, str], None]

# Seconds per work unit before anything is measured; soon outweighed by the first units.
SECONDS_PER_WORK = 1e-3
_TRUST = 1000.0  # weight of the guess, in work units


class Clock:
    """Counts units and estimates the time left from the speed of each family so far.

    Before a family's first unit its speed is that of all units so far, and before the first one
    it is the speed of the machine that work units were calibrated on.
    """

    def __init__(self, progress: Progress | None, n_jobs: int) -> None:
        self.progress = progress
        self.n_jobs = n_jobs
        self.total = 0
        self.done = 0
        self.vague = False  # whether no estimate is given before the first unit
        self._expected: dict[int, float] = {}  # cost of units not yet asked for, by family
        self._left: dict[int, float] = {}  # cost of units asked for and still to pay, by family
        self._paid: dict[int, float] = {}
        self._seconds: dict[int, float] = {}

    def expect(self, costs: Sequence[tuple[int, float]], others: int) -> None:
        """Register expected units, plus a number of units whose cost is unknown."""
        self.total = len(costs) + others
        self._expected = {}
        for family, cost in costs:
            self._expected[family] = self._expected.get(family, 0.0) + cost

    def expect_less(self, costs: Sequence[tuple[int, float]]) -> None:
        """Remove registered units that will not run."""
        self.total -= len(costs)
        for family, cost in costs:
            self._expected[family] = max(0.0, self._expected.get(family, 0.0) - cost)

    def add(self, costs: Sequence[tuple[int, float]], there: Sequence[tuple[int, float]]) -> None:
        """Start units, some of which were finished in an earlier run."""
        self.done += len(there)
        self.total = max(self.total, self.done + len(costs))
        for family, cost in (*costs, *there):
            self._expected[family] = max(0.0, self._expected.get(family, 0.0) - cost)
        for family, cost in costs:
            self._left[family] = self._left.get(family, 0.0) + cost
        if there:
            self.report("found in the ledger")

    def forget(self, costs: Sequence[tuple[int, float]]) -> None:
        """Remove units that will not run."""
        for family, cost in costs:
            self._left[family] -= cost

    def keep(self, families: Sequence[int]) -> None:
        """Keep only these families, numbered anew."""
        for costs in (self._expected, self._left, self._paid, self._seconds):
            kept = [costs.get(family, 0.0) for family in families]
            costs.clear()
            costs.update(enumerate(kept))

    def tick(self, cost: tuple[int, float], seconds: float, what: str) -> None:
        family, amount = cost
        self.done += 1
        self._left[family] -= amount
        self._paid[family] = self._paid.get(family, 0.0) + amount
        self._seconds[family] = self._seconds.get(family, 0.0) + seconds
        self.report(what)

    def report(self, what: str) -> None:
        if self.progress is not None:
            self.progress(self.done, self.total, self._seconds_left(), what)

    def _seconds_left(self) -> float | None:
        if not self.total or (self.vague and not self._seconds):
            return None
        left = sum(
            cost * self.speed(family)
            for costs in (self._left, self._expected)
            for family, cost in costs.items()
        )
        return left / self.n_jobs

    def speed(self, family: int) -> float:
        """Return the seconds that a work unit of a family takes one worker."""
        paid = self._paid.get(family)
        if paid:
            return self._seconds[family] / paid
        seconds = sum(self._seconds.values()) + _TRUST * SECONDS_PER_WORK
        return seconds / (sum(self._paid.values()) + _TRUST)

    def known(self, family: int) -> bool:
        """Return whether a unit of the family was timed."""
        return bool(self._paid.get(family))
