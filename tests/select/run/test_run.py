"""The runner: same bytes however it runs, failures named, warnings kept, interrupts survived."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.base import DataError
from assay.select import Family, Ledger, Outcome
from tests.select.asked import search
from tests.select.spies import Counted, Fragile, outer_scores

X, Y = make_classification(150, 8, n_informative=4, random_state=0)

FAMILIES = [
    Family("forest", RandomForestClassifier(8), [{"max_depth": 2}, {"max_depth": None}]),
    Family("line", make_pipeline(StandardScaler(), SGDClassifier()), encoder=StandardScaler()),
    Family("wide", LogisticRegression(), [{"C": 0.1}, {"C": 10.0}], encoder=StandardScaler()),
    Family("clusters", make_pipeline(KMeans(5, n_init=1), LogisticRegression())),
    Family("fragile", Fragile(), [{"fault": None}, {"fault": "raise"}]),
]


def content(path: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(path)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM unit")]
    with Ledger(path) as ledger:
        return {key: ledger.get(key) or b"" for key in keys}


def facts(outcome: Outcome) -> tuple[Any, ...]:
    return (
        outcome.score, outcome.quick, outcome.gain, outcome.nested, outcome.leaderboard,
        outcome.chosen.params, outcome.work, outcome.notes,
    )  # fmt: skip


def test_results_are_bit_equal_on_one_worker_threads_and_processes(tmp_path: Path) -> None:
    modes = {"one": (1, "threads"), "threads": (2, "threads"), "processes": (2, "processes")}
    found = {}
    for name, (n_jobs, backend) in modes.items():
        outcome = search(
            X, Y, FAMILIES, task="binary", n_jobs=n_jobs, backend=backend,
            ledger=tmp_path / name, n_blocks=4,
        )  # fmt: skip
        found[name] = facts(outcome), content(tmp_path / name)
    assert found["one"] == found["threads"]
    assert found["one"] == found["processes"]


def test_finished_units_are_not_computed_again(tmp_path: Path) -> None:
    log = tmp_path / "fits"
    family = Family("counted", Counted(str(log)), [{"var_smoothing": s} for s in (1e-9, 1e-2)])
    first = search(X, Y, [family], task="binary", ledger=tmp_path / "l")
    fits = len(log.read_text().splitlines())
    assert fits == 2 * 10 + 5
    second = search(X, Y, [family], task="binary", ledger=tmp_path / "l")
    assert len(log.read_text().splitlines()) == fits
    assert facts(first) == facts(second)
    more = Family("more", GaussianNB(var_smoothing=0.1))
    search(X, Y, [family, more], task="binary", metric="accuracy", ledger=tmp_path / "l")
    assert len(log.read_text().splitlines()) <= fits + 5  # only new outer choices


def test_failed_candidates_are_named_and_the_others_go_on() -> None:
    faults = [None, "raise", "sometimes", "nan"]
    family = Family("fragile", Fragile(), [{"fault": fault} for fault in faults])
    outcome = search(X, Y, [family], task="binary", metric="accuracy")
    able, *failed = outcome.leaderboard
    assert able.params == {"fault": None}
    assert able.rank == 1
    assert [row.params["fault"] for row in failed] == ["raise", "sometimes", "nan"]
    assert failed[0].failed == "RuntimeError: told to fail (10 of 10 fits)"
    assert failed[1].failed is not None
    assert failed[1].failed.startswith("RuntimeError: did not like the rows (")
    assert failed[2].failed == "ValueError: predictions are not finite (10 of 10 fits)"
    assert all(row.rank is None and row.score is None for row in failed)
    assert "3 of 4 candidates failed; the leaderboard shows the reasons" in outcome.notes


def test_when_everything_fails_the_first_reason_is_told() -> None:
    family = Family("fragile", Fragile("raise"))
    with pytest.raises(DataError, match=r"no candidate could be .*RuntimeError: told to fail"):
        search(X, Y, [family], task="binary")


class Outcast(Fragile):
    """Fails only when it is fitted on many rows, as the fits without one block are."""

    def fit(self, X: Any, y: Any) -> Self:
        if self.fault == "many" and len(X) > 100:
            raise RuntimeError("too many rows")
        return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), int(self.fault == "many"))


def test_next_best_is_taken_when_the_fit_of_an_outer_choice_fails() -> None:
    y = np.ones(150, int)
    y[::4] = 0
    family = Family("outcast", Outcast(), [{"fault": None}, {"fault": "many"}])
    outcome = search(X, y, [family], task="binary", metric="accuracy")
    assert [row.params["fault"] for row in outcome.nested] == [None] * 5
    assert outcome.leaderboard[0].params == {"fault": "many"}
    assert sum("the next best was taken" in note for note in outcome.notes) == 5


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "threads"), (2, "threads")])
def test_warnings_of_fits_become_notes(n_jobs: int, backend: str) -> None:
    family = Family("line", LogisticRegression(max_iter=1), [{"C": 1.0}, {"C": 2.0}])
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        outcome = search(X, Y, [family], task="binary", n_jobs=n_jobs, backend=backend)
        warnings.warn("still works", ConvergenceWarning, stacklevel=1)
    assert [str(each.message) for each in shown] == ["still works"]
    assert len(outcome.notes) == 1
    assert outcome.notes[0].startswith(
        "line: warning in 20 of 20 fits: ConvergenceWarning: lbfgs failed"
    )


def test_progress_starts_before_the_first_unit_and_ends_complete() -> None:
    calls: list[tuple[int, int, float | None, str]] = []
    search(X, Y, FAMILIES[2:3], task="binary", progress=lambda *call: calls.append(call))
    assert calls[0] == (0, 15, None, "starting")
    assert [call[0] for call in calls] == list(range(16))
    assert {call[1] for call in calls} == {15}
    assert all(call[2] is not None and call[2] >= 0 for call in calls[1:])
    assert calls[1][3] == "wide"


def test_progress_tells_what_was_found_in_the_ledger(tmp_path: Path) -> None:
    search(X, Y, FAMILIES[2:3], task="binary", ledger=tmp_path / "l")
    calls: list[tuple[int, int, float | None, str]] = []
    search(
        X, Y, FAMILIES[2:3], task="binary", ledger=tmp_path / "l",
        progress=lambda *call: calls.append(call),
    )  # fmt: skip
    assert calls == [
        (0, 15, None, "starting"),
        (10, 15, None, "found in the ledger"),
        (15, 15, None, "found in the ledger"),
    ]


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "threads"), (2, "threads"), (2, "processes")])
def test_interrupt_leaves_the_ledger_usable(tmp_path: Path, n_jobs: int, backend: str) -> None:
    def interrupt(done: int, total: int, left: float | None, what: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    log = tmp_path / "fits"
    family = Family("counted", Counted(str(log)))
    with pytest.raises(KeyboardInterrupt):
        search(
            X, Y, [family], task="binary", ledger=tmp_path / "l", n_jobs=n_jobs, backend=backend,
            progress=interrupt,
        )  # fmt: skip
    assert len(content(tmp_path / "l")) >= 3
    log.unlink()
    resumed = search(X, Y, [family], task="binary", ledger=tmp_path / "l")
    assert len(log.read_text().splitlines()) <= 12
    assert facts(resumed) == facts(search(X, Y, [family], task="binary"))


def test_dying_workers_are_reported_and_finished_units_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.select.run._run._MAX_DEATHS", 2)
    families = [Family("good", GaussianNB()), Family("bad", Fragile("exit"))]
    with pytest.raises(RuntimeError, match="worker processes keep dying"):
        search(
            X, Y, families, task="binary", n_jobs=2, backend="processes", ledger=tmp_path / "l",
            n_blocks=3,
        )  # fmt: skip
    assert len(content(tmp_path / "l")) >= 1


class CountingScaler(TransformerMixin, BaseEstimator):
    """Scales, and counts its fits."""

    fits = 0

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any = None) -> Self:
        type(self).fits += 1
        self.scale_ = self.factor / np.abs(X).max(axis=0)
        return self

    def transform(self, X: Any) -> Any:
        return X * self.scale_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_encoder_is_fitted_once_per_training_set_for_all_families(n_jobs: int) -> None:
    CountingScaler.fits = 0
    families = [
        Family("a", GaussianNB(), [{"var_smoothing": s} for s in (1e-9, 1e-3)], CountingScaler()),
        Family("b", LogisticRegression(), [{"C": 0.1}], CountingScaler()),
        Family("c", LogisticRegression(), [{"C": 0.2}], CountingScaler(factor=2.0)),
    ]
    search(X, Y, families, task="binary", n_jobs=n_jobs)
    # A thread that is held up may find that what it needs was dropped meanwhile.
    assert 25 <= CountingScaler.fits <= (25 if n_jobs == 1 else 27)


class Nervous(TransformerMixin, BaseEstimator):
    """An encoder that cannot be fitted."""

    def fit(self, X: Any, y: Any = None) -> Self:
        raise ValueError("will not")

    def transform(self, X: Any) -> Any:
        return X


def test_failing_encoder_is_named() -> None:
    families = [Family("a", GaussianNB(), encoder=Nervous()), Family("b", GaussianNB())]
    outcome = search(X, Y, families, task="binary")
    assert outcome.leaderboard[1].failed == "encoder: ValueError: will not (10 of 10 fits)"


def test_weights_reach_fits_and_scores() -> None:
    rows, target = make_regression(60, 3, noise=20.0, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    blocks = np.arange(60) % 3
    family = Family("ridge", make_pipeline(StandardScaler(with_std=False), Ridge()), encoder=None)
    outcome = search(
        rows, target, [family], task="regression", weight=weight, groups=blocks, n_blocks=3,
        metric="mean_absolute_error",
    )  # fmt: skip
    assert not any("does not support weights" in note for note in outcome.notes)
    expected = []
    for row in outcome.nested:
        held = np.zeros(60, bool)
        held[outcome.outer.row[outcome.outer.block == row.block]] = True
        model = make_pipeline(StandardScaler(with_std=False), Ridge())
        model.fit(rows[~held], target[~held], ridge__sample_weight=weight[~held])
        error = np.abs(model.predict(rows[held]) - target[held])
        expected.append(np.average(error, weights=weight[held]))
    np.testing.assert_allclose(outer_scores(outcome), expected, rtol=1e-9)


def test_families_and_metrics_without_weights_are_told() -> None:
    outcome = search(
        X, Y, [Family("fragile", Fragile())], task="binary", weight=np.ones(150),
        metric=lambda model, X, y: float(np.mean(model.predict(X) == y)),
    )  # fmt: skip
    assert "fragile does not support weights; it was fitted without them" in outcome.notes
    assert "<lambda> does not support weights; it was computed without them" in outcome.notes


LEAVING = """
import numpy as np
from assay.neighbors import KNeighborsClassifier
from assay.select import Family, Ledger, Question, Resources, search

class Full(Ledger):
    def put(self, key, payload):
        raise OSError(28, "the disk is full")

rng = np.random.default_rng(0)
X, y = rng.normal(size=(12_000, 20)), rng.integers(0, 2, 12_000)
quick = Family("quick", KNeighborsClassifier(1), [{}])
slow = Family("slow", KNeighborsClassifier(500), [{"p": 3.0}])
search(Question.of(X, y, task="binary"), [quick, slow],
       resources=Resources(n_jobs=2, ledger=Full()))
"""


def test_an_error_waits_for_threads_that_are_inside_a_kernel() -> None:
    # Left alone, such a thread takes the process down when the interpreter ends (SIGABRT).
    ended = subprocess.run(
        [sys.executable, "-c", LEAVING], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.endswith("OSError: [Errno 28] the disk is full\n")
