"""Deadlines: what does not fit is not begun, and what was not hit changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from assay.base import ParameterError
from assay.select import Deadline, Family, Outcome, holdout, pair_out, seconds_of
from assay.select.choose._stages import _Stages
from assay.select.run._unit import Unit
from tests.select.asked import search
from tests.select.spies import Counted

X, Y = make_classification(200, 5, random_state=0)


@pytest.mark.parametrize(
    ("given_time", "seconds"),
    [(5, 5.0), ("5", 5.0), ("90s", 90.0), ("10m", 600.0), ("1.5h", 5400.0), (" 2 M ", 120.0)],
)
def test_times_are_read(given_time: float | str, seconds: float) -> None:
    assert seconds_of(given_time) == seconds


@pytest.mark.parametrize("wrong", ["", "soon", "-5", 0, "0m", "5d", "1h30m", True, float("nan")])
def test_times_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"budget must be a positive time such as '90s'"):
        seconds_of(wrong)


class FakeRunner:
    """A runner whose units take the time they are told, on a clock of its own."""

    def __init__(self, guess: Sequence[float], truth: Sequence[float], n_jobs: int) -> None:
        self.families = [Family(f"f{i}", GaussianNB()) for i in range(len(guess))]
        self.guess, self.truth, self.n_jobs = guess, truth, n_jobs
        self.now = 0.0
        self.done: set[str] = set()
        self.begun_late = 0
        self.kept = list(range(len(guess)))
        self.ledger = SimpleNamespace(present=lambda keys: self.done.intersection(keys))

    def unit(self, family: int, repeat: int, split: Any, chosen: Any = (0,)) -> Unit:
        return Unit(self.kept[family], tuple(chosen), repeat, split, f"{family}{repeat}{split}")

    def expect(self, units: Iterable[Unit], others: int) -> None:
        pass

    def expect_less(self, units: Iterable[Unit]) -> None:
        pass

    def timed(self, family: int) -> bool:
        return any(key.startswith(f"{family}0") for key in self.done)

    def seconds(self, units: Iterable[Unit]) -> float:
        return sum((self.truth if self.timed(u.family) else self.guess)[u.family] for u in units)

    def seconds_of_one(self, unit: Unit) -> float:
        return self.seconds([unit])

    def run(self, units: Iterable[Unit], deadline: Deadline | None = None) -> bool:
        pending = [unit for unit in units if unit.key not in self.done]
        for start in range(0, len(pending), self.n_jobs):
            if deadline is not None and deadline.passed():
                return False
            batch = pending[start : start + self.n_jobs]
            self.now += max(self.truth[unit.family] for unit in batch)
            self.done.update(unit.key for unit in batch)
        return True

    def leave_out(self, units: Iterable[Unit], why: str) -> None:
        pass

    def keep(self, families: Sequence[int]) -> None:
        self.families = [self.families[family] for family in families]


def told(
    seconds: float,
    guess: Sequence[float],
    truth: Sequence[float],
    n_jobs: int = 2,
    plan: Any = None,
) -> tuple[FakeRunner, Any]:
    runner = FakeRunner(guess, truth, n_jobs)
    chosen = plan or pair_out(5)
    evidence: Any = SimpleNamespace(
        runner=runner,
        plan=chosen,
        repeats=range(1),
        families=runner.families,
        unit=lambda family, repeat, split: runner.unit(family, repeat, chosen.splits[split]),
    )
    deadline = Deadline(seconds, lambda: runner.now)
    stages = _Stages(evidence, False, deadline, False)
    return runner, stages.run()


def names(runner: FakeRunner) -> list[str]:
    return [family.name for family in runner.families]


def test_everything_runs_when_there_is_time() -> None:
    runner, ran = told(1000.0, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert names(runner) == ["f0", "f1", "f2"]
    assert ran.notes == []
    assert len(ran.units) == 30


def test_what_cannot_finish_is_not_begun_and_is_named() -> None:
    runner, ran = told(60.0, [1.0, 50.0, 2.0], [1.0, 50.0, 2.0])
    assert names(runner) == ["f0", "f2"]
    assert not any(key.startswith("1") for key in runner.done)
    assert ran.notes == [
        "the time limit left no room for f1 (candidates: 1); run again with more time and "
        "the same ledger to add them"
    ]


def test_one_unit_per_worker_corrects_a_wrong_guess() -> None:
    runner, _ = told(100.0, [0.1, 0.5], [0.1, 20.0])  # forty times as slow as thought
    assert names(runner) == ["f0"]
    assert sum(key.startswith("1") for key in runner.done) == 2
    assert runner.now < 100.0


def test_a_doubt_is_settled_by_the_units_that_are_timed_first() -> None:
    # Five rounds of 7 s and 34.6 s for the choice: there is no room for twice as long, but it
    # takes what was thought.
    runner, _ = told(100.0, [0.1, 7.0], [0.1, 7.0])
    assert names(runner) == ["f0", "f1"]
    # A single unit cannot be timed before it is risked.
    runner, _ = told(100.0, [0.1, 30.0], [0.1, 30.0], plan=holdout(5))
    assert names(runner) == ["f0"]


def test_first_family_runs_however_short_the_time() -> None:
    runner, ran = told(0.5, [10.0, 1.0], [10.0, 1.0])
    assert names(runner) == ["f0"]
    assert len(ran.units) == 10


@settings(deadline=None, max_examples=60)
@given(
    truth=st.lists(st.floats(0.01, 30.0), min_size=1, max_size=8),
    error=st.floats(0.5, 2.0),
    seconds=st.floats(10.0, 500.0),
    n_jobs=st.integers(1, 3),
    single=st.booleans(),
)
def test_fits_end_before_the_deadline_with_time_for_the_rest(
    truth: list[float], error: float, seconds: float, n_jobs: int, single: bool
) -> None:
    plan = holdout(5) if single else pair_out(5)
    first, *others = truth
    guess = [first, *(cost * error for cost in others)]
    runner, _ = told(seconds, guess, truth, n_jobs, plan)
    alone = -(-len(plan.splits) // n_jobs) * first
    # Then comes the fit of the choice for each outer block, on slightly more rows, and on all.
    slowest = max(truth[int(name[1:])] for name in names(runner))
    end = runner.now + slowest * (-(-len(plan.outers) // n_jobs) + 1)
    assert end <= 1.05 * seconds or len(names(runner)) == 1 or runner.now <= alone


FAMILIES = [
    Family("bayes", GaussianNB()),
    Family("tree", DecisionTreeClassifier(random_state=0), [{"max_depth": d} for d in (1, 3)]),
]


def facts(outcome: Outcome) -> tuple[Any, ...]:
    return (
        outcome.score, outcome.quick, outcome.gain, outcome.nested, outcome.leaderboard,
        outcome.chosen.params, outcome.work, outcome.notes,
    )  # fmt: skip


@pytest.mark.parametrize("stages", [False, True])
def test_deadline_that_is_not_hit_changes_nothing(stages: bool) -> None:
    plain = search(X, Y, FAMILIES, task="binary", stages=stages)
    timed = search(X, Y, FAMILIES, task="binary", stages=stages, deadline="10h")
    assert facts(plain) == facts(timed)


def test_cut_search_goes_on_from_its_ledger_with_more_time(tmp_path: Path) -> None:
    log = tmp_path / "fits"
    slow = Family("slow", Counted(str(log)), work=lambda train, tests: 1e9)
    families = [*FAMILIES, slow]
    priority = [2, 1, 0, 3]
    cut = search(
        X, Y, families, task="binary", deadline=30, ledger=tmp_path / "l", priority=priority
    )
    assert {row.family for row in cut.leaderboard} == {"bayes", "tree"}
    assert any("left no room for slow" in note for note in cut.notes)
    assert not log.exists()
    whole = search(X, Y, families, task="binary", ledger=tmp_path / "l", priority=priority)
    assert len(log.read_text().splitlines()) == 10
    assert facts(whole) == facts(search(X, Y, families, task="binary", priority=priority))


def test_work_that_families_declare_is_in_the_first_time_left() -> None:
    calls: list[tuple[int, int, float | None, str]] = []
    priced = [Family("bayes", GaussianNB(), work=lambda train, tests: 60.0 + train - tests)]
    search(X, Y, priced, task="binary", progress=lambda *call: calls.append(call), n_jobs=2)
    done, total, left, text = calls[0]
    assert (done, total, text) == (0, 15, "starting")
    # Ten units of 60 + 120 - 80 milliseconds on two workers.
    assert left == pytest.approx(0.5)
    assert calls[-1][:2] == (15, 15)
    np.testing.assert_allclose(calls[-1][2] or 0.0, 0.0, atol=1e-9)
