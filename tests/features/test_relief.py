"""Relief: the definition word for word, planted columns, gaps, weights, and rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from assay._core import cpu
from assay.base import DataError, ParameterError, same
from assay.features import ReliefF
from assay.store import load, save

Matrix = NDArray[np.float64]
Integers = NDArray[np.int64]


def expected_gap(drawn: Matrix, x: float, nominal: bool) -> float:
    """Return the mean difference between x and the values drawn from a class."""
    return float(np.mean([(v != x) if nominal else abs(v - x) for v in drawn]))


def by_definition_differences(X: Matrix, nominal: list[int], codes: Integers) -> Matrix:
    """All differences d(i, j, a), one by one."""
    n, p = X.shape
    out = np.zeros((n, n, p))
    for a in range(p):
        column = X[:, a].copy()
        present = ~np.isnan(column)
        if a not in nominal and present.any():
            low, high = np.nanmin(column), np.nanmax(column)
            column = (column - low) / (high - low) if high > low else column * 0
        is_nominal = a in nominal
        drawn = {c: column[present & (codes == c)] for c in set(codes.tolist())}
        drawn = {c: values if len(values) else column[present] for c, values in drawn.items()}
        for i in range(n):
            for j in range(n):
                if present[i] and present[j]:
                    gap: float = (
                        column[i] != column[j] if is_nominal else abs(column[i] - column[j])
                    )
                elif not present.any():
                    gap = 0.0
                elif present[i]:
                    gap = expected_gap(drawn[codes[j]], column[i], is_nominal)
                elif present[j]:
                    gap = expected_gap(drawn[codes[i]], column[j], is_nominal)
                else:
                    both = [expected_gap(drawn[codes[i]], x, is_nominal) for x in drawn[codes[j]]]
                    gap = float(np.mean(both))
                out[i, j, a] = gap
    return out


def neighbours(distance: Matrix, i: int, members: Integers, k: int | str) -> list[int]:
    others = [j for j in members.tolist() if j != i]
    if k == "multisurf":
        far = np.delete(distance[i], i)
        return [j for j in others if distance[i, j] < far.mean() - far.std() / 2]
    return sorted(others, key=lambda j: (round(distance[i, j], 6), j))[: int(k)]


def shares(found: list[int], sigma: float | None, weight: Matrix) -> Matrix:
    ranks = np.arange(1, len(found) + 1)
    decay = np.ones(len(found)) if sigma is None else np.exp(-((ranks / sigma) ** 2))
    said = decay * weight[found]
    return np.asarray(said / said.sum())


def by_definition_classes(
    X: Matrix,
    codes: Integers,
    k: int | str,
    nominal: list[int] | None = None,
    sigma: float | None = None,
    weight: Matrix | None = None,
) -> Matrix:
    """Kononenko's scores, one row and one neighbour at a time."""
    weight = np.ones(len(X)) if weight is None else weight
    gaps = by_definition_differences(X, nominal or [], codes)
    distance = gaps.sum(axis=2)
    scores, asked = np.zeros(X.shape[1]), 0.0
    prior = {c: weight[codes == c].sum() / weight.sum() for c in set(codes.tolist())}
    for i in range(len(X)):
        near = {c: neighbours(distance, i, np.flatnonzero(codes == c), k) for c in prior}
        hits = near.pop(int(codes[i]))
        near = {c: rows for c, rows in near.items() if rows}
        if not hits or not near:
            continue
        asked += weight[i]
        scores -= weight[i] * shares(hits, sigma, weight) @ gaps[i, hits]
        total = sum(prior[c] for c in near)
        for c, rows in near.items():
            scores += weight[i] * prior[c] / total * shares(rows, sigma, weight) @ gaps[i, rows]
    return scores / asked


def by_definition_numbers(X: Matrix, y: Matrix, k: int | str, sigma: float | None = None) -> Matrix:
    """Robnik-Sikonja and Kononenko's scores, one row at a time."""
    gaps = by_definition_differences(X, [], np.zeros(len(X), dtype=np.int64))
    distance = gaps.sum(axis=2)
    tau = np.abs(y[:, None] - y) / (y.max() - y.min())
    changed, column, both, asked = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for i in range(len(X)):
        rows = neighbours(distance, i, np.arange(len(X)), k)
        if rows:
            asked += 1
            part = shares(rows, sigma, np.ones(len(X)))
            changed += float(part @ tau[i, rows])
            column += part @ gaps[i, rows]
            both += (part * tau[i, rows]) @ gaps[i, rows]
    return np.asarray(both / changed - (column - both) / (asked - changed))


def mixed_table(seed: int, n: int = 60, n_classes: int = 3) -> tuple[Matrix, Integers]:
    """Three numeric and two nominal columns; one of each kind with gaps."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, size=(n, 2))])
    X[rng.uniform(size=n) < 0.2, 2] = np.nan
    X[rng.uniform(size=n) < 0.2, 4] = np.nan
    return X, rng.integers(0, n_classes, size=n)


@pytest.mark.parametrize("k", [1, 4, 100, "multisurf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_the_definition(n_classes: int, k: int | str) -> None:
    X, y = mixed_table(1, n_classes=n_classes)
    model = ReliefF(k, categorical_features=[3, 4]).fit(X, y)
    np.testing.assert_allclose(model.scores_, by_definition_classes(X, y, k, [3, 4]), atol=1e-6)


@pytest.mark.parametrize("sigma", [0.7, 3.0])
def test_decay_and_weights_are_those_of_the_definition(sigma: float) -> None:
    X, y = mixed_table(2)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(X))
    model = ReliefF(5, sigma=sigma, categorical_features=[3, 4]).fit(X, y, sample_weight=weight)
    expected = by_definition_classes(X, y, 5, [3, 4], sigma, weight)
    np.testing.assert_allclose(model.scores_, expected, atol=1e-6)


@pytest.mark.parametrize(("k", "sigma"), [(1, None), (7, None), (7, 2.0), ("multisurf", None)])
def test_regression_scores_are_those_of_the_definition(k: int | str, sigma: float | None) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 4))
    X[rng.uniform(size=50) < 0.2, 1] = np.nan
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=50)
    model = ReliefF(k, sigma=sigma).fit(X, y)
    assert model.task_ == "regression"
    np.testing.assert_allclose(model.scores_, by_definition_numbers(X, y, k, sigma), atol=1e-6)


def planted(n: int) -> tuple[NDArray[np.float32], Integers]:
    """Two columns with effects of their own and two that act only together, among 1000."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(n, 1000))
    joint = X[:, 20] ^ X[:, 30]
    odds = 4.4 * (joint - 0.5) + 2.4 * (X[:, 10] - 0.5) + 2.4 * (X[:, 40] - 0.5)
    y = rng.uniform(size=n) < 1 / (1 + np.exp(-odds))
    return X.astype(np.float32), y.astype(np.int64)


@pytest.mark.parametrize("k", [10, "multisurf"])
def test_planted_main_effects_and_an_exclusive_or_stand_above_a_thousand_columns(
    k: int | str,
) -> None:
    X, y = planted(1000)
    # Neither of the two tells anything alone.
    assert np.abs(np.corrcoef(X[:, [20, 30]], y, rowvar=False)[2, :2]).max() < 0.06
    model = ReliefF(k, n_features_to_select=4).fit(X, y)
    assert model.get_support(indices=True).tolist() == [10, 20, 30, 40]


def test_rounds_find_them_with_fewer_rows() -> None:
    X, y = planted(400)
    assert ReliefF("multisurf").fit(X, y).ranking_[[20, 30]].min() > 20
    assert ReliefF("multisurf", n_rounds=6).fit(X, y).ranking_[[20, 30]].max() <= 4


def test_a_column_that_matters_in_a_regression_is_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 30))
    y = X[:, 4] * X[:, 9]  # no correlation with either
    assert set(np.argsort(-ReliefF(20).fit(X, y).scores_)[:2].tolist()) == {4, 9}


def test_noise_scores_lie_around_zero() -> None:
    rng = np.random.default_rng(0)
    scores = ReliefF(10).fit(rng.normal(size=(300, 200)), rng.integers(0, 2, size=300)).scores_
    assert abs(scores.mean()) < 3 * scores.std() / np.sqrt(200)


@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-3, 2.0, 1e6]))
def test_scores_do_not_depend_on_units(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, size=40)
    moved = X * [scale, 1, -scale] + [5, 0, -7]
    # Distances that differ by less than the rounding of the moved table may change places.
    spread = np.abs(X[:, None] - X) / np.ptp(X, axis=0)
    nearest = np.sort(spread.sum(axis=2), axis=1)[:, :30]
    assume(np.diff(nearest, axis=1).min() > 1e-6)
    np.testing.assert_allclose(
        ReliefF(3).fit(X, y).scores_, ReliefF(3).fit(moved, y).scores_, atol=2e-5
    )


@given(seed=st.integers(0, 1000))
def test_row_order_labels_and_the_scale_of_weights_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, size=40)
    weight = rng.uniform(0.5, 2.0, size=40)
    order = rng.permutation(40)
    scores = ReliefF(3).fit(X, y, sample_weight=weight).scores_
    names = np.array(["z", "a", "m"])[y[order]]
    again = ReliefF(3).fit(X[order], names, sample_weight=3 * weight[order]).scores_
    np.testing.assert_allclose(scores, again, atol=1e-6)


@given(seed=st.integers(0, 1000))
def test_column_order_changes_nothing(seed: int) -> None:
    X, y = mixed_table(seed, n=40)
    order = np.random.default_rng(seed).permutation(5)
    nominal = np.isin(order, [3, 4])
    scores = ReliefF(3, categorical_features=[3, 4]).fit(X, y).scores_
    again = ReliefF(3, categorical_features=nominal).fit(X[:, order], y).scores_
    np.testing.assert_allclose(scores[order], again, atol=1e-6)


def test_rows_of_weight_zero_are_as_if_they_were_not_there() -> None:
    X, y = mixed_table(5)
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    with_zeros = ReliefF(4, categorical_features=[3, 4]).fit(X, y, sample_weight=weight)
    without = ReliefF(4, categorical_features=[3, 4]).fit(X[weight > 0], y[weight > 0])
    assert np.array_equal(with_zeros.scores_, without.scores_)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_threads_and_cpu_levels_change_no_bit(task: str) -> None:
    X, y = mixed_table(6, n=300)
    target: Any = y if task == "classification" else np.nan_to_num(X[:, 0])
    model = ReliefF(5, categorical_features=[3, 4], task=task)
    one = clone(model).fit(X, target)
    assert same(one, clone(model).set_params(n_jobs=2).fit(X, target))
    for level in ("baseline", "avx2"):
        cpu.limit(level)
        try:
            assert np.array_equal(one.scores_, clone(model).fit(X, target).scores_)
        finally:
            cpu.limit(None)


def test_float32_and_column_order_in_memory_change_no_bit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)).astype(np.float32), rng.integers(0, 2, size=60)
    scores = ReliefF(5).fit(X, y).scores_
    assert np.array_equal(scores, ReliefF(5).fit(np.asfortranarray(X), y).scores_)
    assert np.array_equal(scores, ReliefF(5).fit(X.astype(np.float64), y).scores_)


def test_a_sample_of_rows_is_drawn_by_the_seed_and_near_the_whole() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), rng.integers(0, 2, size=400)
    X[:, 2] += y
    some = ReliefF(5, max_samples=0.5, random_state=1).fit(X, y)
    assert same(
        some, ReliefF(5, max_samples=200, random_state=1).set_params(max_samples=0.5).fit(X, y)
    )
    assert not np.array_equal(
        some.scores_, ReliefF(5, max_samples=0.5, random_state=2).fit(X, y).scores_
    )
    np.testing.assert_allclose(some.scores_, ReliefF(5).fit(X, y).scores_, atol=0.03)


def test_rounds_drop_the_worst_columns_and_rank_them_last() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 8)), rng.integers(0, 2, size=100)
    X[:, 5] += 2 * y
    model = ReliefF(5, n_rounds=3, drop=0.5).fit(X, y)
    assert sorted(model.rounds_.tolist()) == [1] * 4 + [2] * 2 + [3] * 2
    first = ReliefF(5).fit(X, y)
    left = model.rounds_ == 1
    assert np.array_equal(model.scores_[left], first.scores_[left])
    assert first.scores_[left].max() <= first.scores_[~left].min()
    last = np.flatnonzero(model.rounds_ == 3)
    assert np.array_equal(model.scores_[last], ReliefF(5).fit(X[:, last], y).scores_)
    assert set(model.ranking_[last].tolist()) == {1, 2}
    assert model.ranking_[5] == 1


def test_rounds_leave_as_many_columns_as_are_wanted() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 2, size=60)
    model = ReliefF(5, n_rounds=9, n_features_to_select=3).fit(X, y)
    assert (model.rounds_ == 9).sum() == model.get_support().sum() == 3


def test_positive_scores_are_kept_and_names_follow() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    frame["colour"] = rng.choice(["red", "blue", "green"], size=200)
    y = np.where(frame["colour"] == "red", "yes", "no")
    model = ReliefF().fit(frame, y)
    assert np.array_equal(model.get_support(), model.scores_ > 0)
    assert "colour" in model.get_feature_names_out()
    chosen = model.transform(frame)
    assert isinstance(chosen, pd.DataFrame)
    assert chosen.columns.tolist() == model.get_feature_names_out().tolist()
    polars = pl.from_pandas(frame)
    assert isinstance(ReliefF().fit(polars, y).transform(polars), pl.DataFrame)


def test_selector_works_inside_a_pipeline() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 40)), rng.integers(0, 2, size=200)
    X[:, 3] += 2 * y
    pipe = make_pipeline(ReliefF(n_features_to_select=2), GaussianNB())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.75


def test_model_file_holds_the_selector(tmp_path: Any) -> None:
    X, y = mixed_table(1)
    model = ReliefF(3, categorical_features=[3, 4], n_features_to_select=2).fit(X, y)
    save(tmp_path / "relief.assay", {}, {"model": model})
    assert same(model, load(tmp_path / "relief.assay")[1]["model"])


def test_constant_and_missing_columns_score_zero_and_are_not_kept() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 2, size=50)
    X[:, 1], X[:, 2], X[:, 3] = 7.0, np.nan, X[:, 0] + y
    model = ReliefF(3).fit(X, y)
    assert model.scores_[1] == model.scores_[2] == 0.0
    assert not model.get_support()[[1, 2]].any()


def test_huge_numbers_do_not_overflow() -> None:
    X = np.array([[-1.7e308], [1.7e308]] * 10)
    assert ReliefF(3).fit(X, [0, 1] * 10).scores_ == pytest.approx([1.0])


def test_a_class_of_one_row_is_a_miss_but_has_no_hits() -> None:
    X = np.array([[0.0], [0.1], [0.9], [1.0], [0.5]])
    y = np.array([0, 0, 1, 1, 2])
    np.testing.assert_allclose(
        ReliefF(2).fit(X, y).scores_, by_definition_classes(X, y, 2), atol=1e-6
    )


def test_whole_numbers_are_classes_unless_told() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = rng.integers(0, 5, size=60)
    assert ReliefF().fit(X, y).task_ == "classification"
    assert ReliefF(task="regression").fit(X, y).task_ == "regression"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1 or 'multisurf'; got 0"),
        (
            {"max_samples": 1.5},
            r"max_samples must be an integer >= 1, a fraction in \(0, 1\] or None; got 1.5",
        ),
        (
            {"n_features_to_select": 9},
            "n_features_to_select must be at most 2, the columns; got 9",
        ),
        (
            {"n_neighbors": "multisurf", "sigma": 2.0},
            "sigma must be None with n_neighbors='multisurf', whose neighbours have no rank",
        ),
        ({"drop": 1.0}, r"drop must be a number in \(0, 1\); got 1.0"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ParameterError, match=message):
        ReliefF(**params).fit(X, [0, 1] * 10)


def test_one_class_and_one_value_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.raises(DataError, match="y has one class only; Relief needs at least two"):
        ReliefF().fit(X, ["a"] * 4)
    with pytest.raises(DataError, match=r"y has one value only, 1\.5"):
        ReliefF().fit(X, [1.5] * 4)


def test_transform_without_any_positive_score_says_so() -> None:
    X = np.ones((6, 2))
    model = ReliefF().fit(X, [0, 1] * 3)
    with pytest.raises(DataError, match="no column has a positive score"):
        model.transform(X)
