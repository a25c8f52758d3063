"""The ladder: the t-test by hand, the order, and the rule for the simplest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from assay.evaluate import get_metric
from assay.select import Family
from assay.select.choose._ladder import Step, climb
from assay.select.choose._significance import correlated_t
from tests.select.asked import search
from tests.select.halves import Columns, halves


def _steps(*rows: tuple[str, list[float], float | None]) -> list[Step]:
    return [
        Step(name, np.array(scores), size, None if size is None else at)
        for at, (name, scores, size) in enumerate(rows)
    ]


def test_the_test_is_students_with_the_corrected_variance() -> None:
    differences = np.array([0.03, 0.01, 0.02, 0.05, 0.0])
    found = correlated_t(differences, 0.25, 0.01)
    scale = np.sqrt((1 / 5 + 0.25) * differences.var(ddof=1))
    t = differences.mean() / scale
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 4))
    assert found.p_above == pytest.approx(stats.t.sf(t, 4))
    posterior = stats.t(4, loc=differences.mean(), scale=scale)
    assert found.above == pytest.approx(posterior.sf(0.01))
    assert found.below == pytest.approx(posterior.cdf(-0.01))
    assert found.above + found.within + found.below == pytest.approx(1.0)


def test_scores_of_one_fit_are_one_observation() -> None:
    steps = _steps(
        ("small", [0.5, 0.7, 0.6, 0.6, 0.5, 0.7], 1.0),
        ("large", [0.9, 0.7, 0.8, 0.9, 0.8, 0.9], 9.0),
    )
    _, rungs, _ = climb(get_metric("accuracy", "binary"), steps, [0, 0, 1, 1, 2, 2], 2 / 3)
    means = np.array([0.8 - 0.6, 0.85 - 0.6, 0.85 - 0.6])
    assert rungs[0].p_value == pytest.approx(correlated_t(means, 2 / 3, 0.01).p_above)


def test_rungs_go_from_small_to_large_and_the_simplest_good_one_is_found() -> None:
    best = [0.90, 0.91, 0.89, 0.90]
    steps = _steps(
        ("forest", best, 900.0),
        ("line", [0.90, 0.905, 0.895, 0.90], 5.0),
        ("stump", [0.60, 0.61, 0.60, 0.59], 3.0),
        ("guess", [0.5, 0.5, 0.5, 0.5], None),
    )
    order, rungs, simplest = climb(get_metric("accuracy", "binary"), steps, range(4), 1 / 3)
    assert [rung.name for rung in rungs] == ["guess", "stump", "line", "forest"]
    assert order[simplest].name == "line"
    assert [rung.significantly_worse for rung in rungs] == [True, True, False, False]
    assert rungs[3].lead == 0.0


def test_what_is_probably_worse_is_not_preferred_though_the_test_is_weak() -> None:
    steps = _steps(("small", [0.2, 0.85, 0.5], 1.0), ("large", [0.9, 0.9, 0.9], 9.0))
    _, rungs, simplest = climb(get_metric("accuracy", "binary"), steps, range(3), 0.5)
    assert not rungs[0].significantly_worse
    assert rungs[0].worse is not None
    assert rungs[0].worse > 0.5
    assert simplest == 1


def test_one_score_tells_nothing_and_the_best_is_taken() -> None:
    steps = _steps(("small", [0.899], 1.0), ("large", [0.9], 9.0))
    _, rungs, simplest = climb(get_metric("accuracy", "binary"), steps, [0], 0.25)
    assert rungs[0].p_value is None
    assert simplest == 1


def test_a_loss_is_led_by_the_least() -> None:
    steps = _steps(("small", [-2.0, -2.1, -1.9], 1.0), ("large", [-1.0, -1.1, -0.9], 9.0))
    _, rungs, _ = climb(get_metric("mean_absolute_error", "regression"), steps, range(3), 0.25)
    assert [rung.score for rung in rungs] == [2.0, 1.0]
    assert rungs[0].lead == pytest.approx(1.0)


def _lines_and_trees() -> list[Family]:
    return [
        Family("tree", DecisionTreeRegressor(random_state=0), [{"max_depth": 2}, {"max_depth": 6}]),
        Family("all", Ridge(), ({},)),
        Family("one", Ridge(), ({},), Columns((0,))),
    ]


def _line(n: int, noise: float) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 6))
    return X, X[:, 0] + 0.1 * X[:, 1] + noise * random.normal(size=n)


def test_simplest_is_chosen_inside_every_block_too() -> None:
    X, y = _line(400, 0.5)
    given: dict[str, Any] = {"task": "regression"}
    best = search(X, y, _lines_and_trees(), **given)
    simple = search(X, y, _lines_and_trees(), prefer="simplest", **given)
    assert best.chosen.family.name == "all"
    assert simple.chosen.family.name == "one"
    assert [row.family for row in simple.nested] == ["one"] * 5
    assert [rung.name for rung in simple.ladder] == ["always the mean", "one", "all", "tree"]
    assert [rung.chosen for rung in simple.ladder] == [False, True, False, False]
    assert [rung.chosen for rung in best.ladder] == [False, False, True, False]
    assert simple.prefer == "simplest"


@pytest.mark.parametrize("plan", ["holdout", "forward"])
def test_simplest_works_with_every_plan(plan: str) -> None:
    X, y = _line(200, 0.5)
    time: dict[str, Any] = {"time": np.arange(200)} if plan == "forward" else {}
    outcome = search(
        X, y, _lines_and_trees(), task="regression", plan=plan, prefer="simplest", **time
    )
    assert outcome.chosen.family.name in ("one", "all")
    assert all(rung.p_value is not None for rung in outcome.ladder)


def test_the_simplest_may_be_calibrated() -> None:
    X, y = _line(300, 2.0)
    label = (y > 0).astype(np.int64)
    outcome = search(
        X[:, :4], label, halves((1.0,)), task="binary", metric="log_loss", prefer="simplest",
        stack=True, calibrate=True,
    )  # fmt: skip
    assert outcome.calibration is not None
    assert outcome.stack is None
