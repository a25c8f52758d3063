"""Spaces: what users write, as points of a unit cube."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, norm, randint
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import ParameterGrid

from assay.base import ParameterError
from assay.select import (
    Choice,
    Family,
    Integer,
    NestedSearch,
    Real,
    draws,
    grid,
    sobol,
    sobol_family,
)
from assay.select.searches._space import Space, space_of

SPACE: list[dict[str, Any]] = [
    {"kernel": ["rbf"], "C": Real(1e-3, 1e3, log=True), "degree": Integer(2, 5)},
    {"kernel": ["linear"], "C": loguniform(1e-3, 1e3), "n": randint(2, 9)},
]


@given(st.floats(0, 1), st.integers(1, 50), st.integers(0, 1000), st.booleans())
def test_ranges_hold_their_values(u: float, low: int, more: int, log: bool) -> None:
    whole = Integer(low, low + more, log).at(u)
    assert low <= whole <= low + more
    real = Real(low / 7, low / 7 + more, log).at(u)
    assert low / 7 <= real <= low / 7 + more


def test_every_whole_number_has_an_equal_share() -> None:
    counts = np.bincount([Integer(1, 4).at(u) for u in (np.arange(400) + 0.5) / 400])
    assert counts.tolist() == [0, 100, 100, 100, 100]


def test_grid_of_lists_is_that_of_scikit_learn() -> None:
    lists: list[dict[str, Any]] = [{"b": [1, 2], "a": ["x", "y"]}, {"c": np.array([0.5])}]
    assert grid(lists) == list(ParameterGrid(lists))


def test_grid_cuts_ranges_into_levels() -> None:
    assert grid({"C": Real(0.01, 100.0, log=True)}, 3) == [{"C": 0.01}, {"C": 1.0}, {"C": 100.0}]
    assert grid({"k": Integer(1, 3)}) == [{"k": 1}, {"k": 2}, {"k": 3}]
    assert len(grid({"n": randint(2, 9), "m": norm()}, 4)) == 16
    assert grid({}) == [{}]


@pytest.mark.parametrize("make", [sobol, draws])
def test_a_longer_set_begins_with_the_shorter_and_all_differ(make: Any) -> None:
    long = make(SPACE, 24, seed=3)
    assert make(SPACE, 5, seed=3) == long[:5]
    assert make(SPACE, 24, seed=4) != long
    assert len({str(each) for each in long}) == 24
    for each in long:
        known = {"kernel", "C", "degree"} if each["kernel"] == "rbf" else {"kernel", "C", "n"}
        assert set(each) == known
        assert 1e-3 <= each["C"] <= 1e3
        assert isinstance(each.get("n", 2), int)


def test_sobol_points_fill_every_eighth_of_every_axis() -> None:
    points = sobol({"a": Real(0, 1), "b": Real(0, 1), "c": Real(0, 1)}, 8)
    for name in "abc":
        assert sorted(int(8 * point[name]) for point in points) == list(range(8))


def test_alternatives_get_equal_shares_of_sobol_points() -> None:
    kernels = [each["kernel"] for each in sobol(SPACE, 32)]
    assert kernels.count("rbf") == 16


@pytest.mark.parametrize("make", [sobol, draws])
def test_a_small_space_is_used_up(make: Any) -> None:
    assert len(make({"a": [1, 2, 3], "b": [True, False]}, 50)) == 6
    assert make({}, 3) == [{}]


def test_distributions_are_read_by_their_quantiles() -> None:
    space = Space.of({"a": loguniform(0.01, 100.0), "b": norm(5, 2)})
    point = space.at([0.5, 0.8413447460685429])
    assert point["a"] == pytest.approx(1.0)
    assert point["b"] == pytest.approx(7.0)


def test_a_space_spans_its_grid() -> None:
    lattice = [{"depth": d, "leaf": m} for d in (1, 2, 4, None) for m in (1, 5, 20)]
    (branch,) = space_of(lattice).branches
    assert branch["leaf"] == Integer(1, 20, log=True)
    assert isinstance(branch["depth"], Choice)
    assert branch["depth"].options == (1, 2, 4, None)
    mixed = space_of([{"alpha": a} for a in (0.1, 0.2, 0.5, 0.3)] + [{"solver": "svd"}])
    assert [sorted(each) for each in mixed.branches] == [["alpha"]] * 4 + [["solver"]]


def test_sobol_family_keeps_number_and_range() -> None:
    family = Family("ridge", Ridge(), [{"alpha": a} for a in (0.1, 1.0, 10.0, 100.0, 1000.0)])
    changed = sobol_family(family, seed=1)
    assert len(changed.candidates) == 5
    assert all(0.1 <= each["alpha"] <= 1000.0 for each in changed.candidates)
    single = Family("ridge", Ridge())
    assert sobol_family(single) is single


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real(2.0, 1.0), "low and high must be finite, low <= high; got 2.0 and 1.0"),
        (lambda: Real(0.0, 1.0, log=True), "low must be positive with log=True; got 0.0"),
        (lambda: Choice(), "Choice must have at least one option; got none"),
        (lambda: sobol({"a": []}, 2), r"space\['a'\] must have at least one option; got none"),
        (lambda: sobol({"a": 3}, 2), r"space\['a'\] must be a list of options, Real, Integer, .*3"),
        (lambda: sobol([], 2), "space must hold at least one dict; got none"),
        (lambda: sobol(cast(Any, "C"), 2), "space must be a dict or a list of dicts; got 'C'"),
        (lambda: sobol({"a": [1]}, 0), "n must be"),
    ],
)
def test_mistakes_are_named(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("search", ["sobol", "random"])
def test_nested_search_of_points_is_that_of_the_same_list(search: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    space = {"alpha": Real(1e-3, 10.0, log=True)}
    found = NestedSearch(Ridge(), space, search=search, n_iter=6, random_state=2).fit(X, y)
    points = (sobol if search == "sobol" else draws)(space, 6, seed=2)
    lists = NestedSearch(Ridge(), [{"alpha": [each["alpha"]]} for each in points]).fit(X, y)
    assert found.outer_params_ == lists.outer_params_
    np.testing.assert_array_equal(found.outer_scores_, lists.outer_scores_)
    assert found.outcome_.work == lists.outcome_.work


def test_nested_search_cuts_ranges_of_a_grid() -> None:
    X, y = load_diabetes(return_X_y=True)
    space = {"alpha": Real(1e-3, 10.0, log=True), "fit_intercept": [True, False]}
    found = NestedSearch(Ridge(), space).fit(X, y)
    assert len(found.outcome_.leaderboard) == 10
    with pytest.raises(ParameterError, match="search must be 'grid', 'sobol' or 'random'"):
        NestedSearch(Ridge(), space, search="bayes").fit(X, y)
