"""Intervals: given edges, scikit-learn's bins, and minimum description length by brute force."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.preprocessing import KBinsDiscretizer

from assay.base import DataError, ParameterError, same
from assay.features import IntervalBuilder
from assay.features._interval_cuts import mdl_cuts, quantile_cuts
from assay.store import load, save

Matrix = NDArray[np.float64]
AGES = [0, 10, 30, 60, np.inf]


def entropy(labels: list[int]) -> float:
    counts = Counter(labels).values()
    return -sum(n / len(labels) * math.log2(n / len(labels)) for n in counts)


def by_definition_cuts(values: list[float], labels: list[int]) -> list[float]:
    """Fayyad and Irani: every cut tried, the parts cut again."""
    n, best = len(values), None
    distinct = sorted(set(values))
    for low, high in pairwise(distinct):
        cut = (low + high) / 2
        left = [c for v, c in zip(values, labels, strict=True) if v < cut]
        right = [c for v, c in zip(values, labels, strict=True) if v >= cut]
        remaining = (len(left) * entropy(left) + len(right) * entropy(right)) / n
        if best is None or remaining < best[0] - 1e-12:
            best = (remaining, cut, left, right)
    if best is None:
        return []
    remaining, cut, left, right = best
    k, k1, k2 = (len(set(part)) for part in (labels, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if not entropy(labels) - remaining > (math.log2(n - 1) + delta) / n + 1e-12:
        return []
    pairs = list(zip(values, labels, strict=True))
    low_part = [pair for pair in pairs if pair[0] < cut]
    high_part = [pair for pair in pairs if pair[0] >= cut]
    found = [cut]
    for part in (low_part, high_part):
        found += by_definition_cuts([v for v, _ in part], [c for _, c in part])
    return sorted(found)


@given(seed=st.integers(0, 10_000), n_classes=st.integers(1, 4))
def test_mdl_cuts_are_those_of_the_definition(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, size=40)
    values = np.round(codes * rng.uniform(0, 3) + rng.normal(size=40), 1)
    found = mdl_cuts(values, codes)
    np.testing.assert_allclose(found, by_definition_cuts(values.tolist(), codes.tolist()))


def test_mdl_finds_the_planted_intervals_and_leaves_noise_whole() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 90, size=(600, 2))
    y = np.digitize(X[:, 0], [10, 30, 60]) % 2
    model = IntervalBuilder(method="mdl").fit(X, y)
    np.testing.assert_allclose(model.edges_[0][1:-1], [10, 30, 60], atol=0.6)
    assert model.labels_[1] == ["all"]
    assert (model.transform(X)[:, 1] == 0).all()


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_codes_are_those_of_scikit_learn(strategy: str) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 6, size=200)])
    params: dict[str, Any] = {}
    if "quantile_method" in KBinsDiscretizer().get_params():
        params["quantile_method"] = "averaged_inverted_cdf"
    elif strategy == "quantile":
        pytest.skip("this scikit-learn has one kind of quantiles only, another one")
    peer = KBinsDiscretizer(4, encode="ordinal", strategy=strategy, subsample=None, **params)
    model = IntervalBuilder(method=strategy, n_intervals=4)
    assert np.array_equal(model.fit_transform(X), peer.fit_transform(X))
    for ours, theirs in zip(model.edges_, peer.bin_edges_, strict=True):
        np.testing.assert_allclose(ours[1:-1], theirs[1:-1])


def test_given_edges_are_those_of_the_documents() -> None:
    model = IntervalBuilder(AGES, closed="right", output="label")
    values = np.array([[0.0], [10.0], [10.5], [30.0], [60.0], [61.0], [1e9]])
    labels = model.fit_transform(values).ravel().tolist()
    assert labels == ["0-10", "0-10", "10-30", "10-30", "30-60", ">60", ">60"]


def test_the_left_boundary_belongs_by_default() -> None:
    codes = IntervalBuilder(AGES).fit_transform([[0.0], [10.0], [29.9], [30.0], [60.0]])
    assert codes.ravel().tolist() == [0, 1, 1, 2, 3]


def test_values_outside_given_edges_and_missing_ones_are_missing() -> None:
    X = [[-1.0], [np.nan], [0.0], [5.0], [10.0], [10.1]]
    codes = IntervalBuilder([0, 5, 10]).fit_transform(X).ravel()
    assert np.array_equal(codes, [np.nan, np.nan, 0, 1, 1, np.nan], equal_nan=True)
    shown = IntervalBuilder([0, 5, 10], output="onehot").fit_transform(X)
    assert np.array_equal(shown[2:5], [[1, 0], [0, 1], [0, 1]])
    assert np.isnan(shown[[0, 1, 5]]).all()
    labels = IntervalBuilder([0, 5, 10], output="label").fit_transform(X).ravel()
    assert labels[2] == "0-5"
    assert all(isinstance(labels[row], float) and math.isnan(labels[row]) for row in (0, 1, 5))


def test_names_say_column_and_interval() -> None:
    frame = pd.DataFrame({"age": [5.0, 20.0, 70.0], "height": [1.5, 1.6, 1.7]})
    model = IntervalBuilder({"age": AGES}, method=None, output="onehot").fit(frame)
    expected = ["age: 0-10", "age: 10-30", "age: 30-60", "age: >=60", "height"]
    assert model.get_feature_names_out().tolist() == expected
    out = model.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == expected
    assert out["height"].tolist() == [1.5, 1.6, 1.7]
    assert out["age: 10-30"].tolist() == [0.0, 1.0, 0.0]


def test_edges_by_number_go_with_a_method_for_the_rest() -> None:
    X = np.column_stack([np.arange(10.0), np.arange(10.0)])
    model = IntervalBuilder({1: [0, 3, 9]}, method="uniform", n_intervals=3).fit(X)
    assert model.labels_ == [["<3", "3-6", ">=6"], ["0-3", "3-9"]]


def test_labels_keep_near_boundaries_and_negative_ones_apart() -> None:
    model = IntervalBuilder([-2, 0.12341, 0.12342, 5], output="label").fit([[0.0]])
    assert model.labels_ == [["-2 to 0.12341", "0.12341-0.12342", "0.12342-5"]]


@given(seed=st.integers(0, 1000), scale=st.sampled_from([0.25, 1.0, 1024.0]))
def test_codes_do_not_depend_on_units_and_row_order(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 64, size=(50, 2)).astype(float), rng.integers(0, 2, size=50)
    order = rng.permutation(50)
    for method in ("quantile", "uniform", "mdl"):
        codes = IntervalBuilder(method=method, n_intervals=4).fit_transform(X, y)
        again = IntervalBuilder(method=method, n_intervals=4)
        assert np.array_equal(codes[order], again.fit_transform(scale * X[order], y[order]))


def test_missing_values_have_no_part_in_the_cuts() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 1)), rng.integers(0, 2, size=80)
    X[:, 0] += 3 * y
    gaps = np.vstack([X, np.full((20, 1), np.nan)])
    for method in ("quantile", "uniform", "mdl"):
        whole = IntervalBuilder(method=method).fit(X, y)
        with_gaps = IntervalBuilder(method=method).fit(gaps, np.append(y, [0, 1] * 10))
        assert np.array_equal(whole.boundaries_, with_gaps.boundaries_)


@pytest.mark.parametrize("method", ["quantile", "uniform", "mdl"])
def test_constant_and_missing_columns_are_one_interval(method: str) -> None:
    X = np.column_stack([np.full(6, 3.0), np.full(6, np.nan)])
    model = IntervalBuilder(method=method, output="label").fit(X, [0, 1] * 3)
    assert model.labels_ == [["all"], ["all"]]
    assert model.transform(X)[:, 0].tolist() == ["all"] * 6


def test_neighbouring_and_huge_numbers_are_parted() -> None:
    low = 1.0
    high = float(np.nextafter(low, 2.0))
    cuts = mdl_cuts(np.repeat([low, high], 20), np.repeat([0, 1], 20))
    assert cuts.tolist() == [high]
    huge = IntervalBuilder(method="uniform", n_intervals=2).fit([[-1.7e308], [1.7e308]])
    assert huge.edges_[0][1] == 0.0


def test_repeated_values_give_fewer_intervals() -> None:
    assert len(quantile_cuts(np.array([0.0] * 90 + [1.0] * 10), 5)) < 4


@pytest.mark.parametrize("output", ["ordinal", "onehot", "label"])
def test_model_file_holds_the_intervals(output: str, tmp_path: Any) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = IntervalBuilder({0: AGES}, output=output).fit(X)
    save(tmp_path / "a.assay", {}, {"model": model})
    restored = load(tmp_path / "a.assay")[1]["model"]
    assert same(model, restored)
    assert restored.labels_ == model.labels_


def test_a_state_whose_boundaries_fall_is_refused() -> None:
    model = IntervalBuilder().fit(np.arange(10.0)[:, None])
    state = {**model.state(), "boundaries_": model.boundaries_[::-1]}
    with pytest.raises(DataError, match="boundaries_ does not ascend"):
        IntervalBuilder.from_state({}, state)


@pytest.mark.parametrize("edges", [[1], [1, 1], [2, 1], [0, math.nan], "age", {"age": [3]}, 5])
def test_wrong_edges_are_named(edges: Any) -> None:
    with pytest.raises(ParameterError, match="edges must be None, an ascending sequence"):
        IntervalBuilder(edges).fit([[0.0], [1.0]])


def test_unknown_columns_in_edges_are_named() -> None:
    frame = pd.DataFrame({"age": [5.0, 20.0]})
    with pytest.raises(ParameterError, match=r"edges names column 'agee', .* did you mean 'age'"):
        IntervalBuilder({"agee": AGES}).fit(frame)
    with pytest.raises(ParameterError, match=r"column names or numbers in \[0, 0\]; got 1"):
        IntervalBuilder({1: AGES}).fit(frame)


def test_mdl_needs_classes() -> None:
    X = np.arange(6.0)[:, None]
    with pytest.raises(DataError, match="method='mdl' requires y to be passed"):
        IntervalBuilder(method="mdl").fit(X)
    with pytest.raises(DataError, match="method='mdl' needs classes, but y holds real numbers"):
        IntervalBuilder(method="mdl").fit(X, X.ravel() + 0.5)
    with pytest.raises(DataError, match="X has 6 rows but y has 2"):
        IntervalBuilder(method="mdl").fit(X, [0, 1])
