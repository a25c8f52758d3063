"""Plans: which fits answer which question, and that no question is answered by its own block."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from assay.base import DataError, ParameterError
from assay.select import Family, Plan, Split, blocks_in_time, forward, holdout, pair_out
from assay.select.plan._partition import Partition
from tests.select.asked import search
from tests.select.spies import Spy, seen_rows


def every_plan() -> list[Plan]:
    return [maker(k) for maker in (pair_out, forward, holdout) for k in (3, 4, 5, 8)]


@pytest.mark.parametrize("plan", every_plan(), ids=lambda plan: f"{plan.kind}-{plan.n_blocks}")
def test_no_choice_and_no_score_saw_its_block(plan: Plan) -> None:
    for split in plan.splits:
        assert not set(split.train) & set(split.tests)
    for outer in plan.outers:
        assert outer.fit.tests == (outer.block,)
        assert outer.block not in outer.fit.train
        for index, block in outer.inner:
            assert block in plan.splits[index].tests
            assert block != outer.block
            assert outer.block not in plan.splits[index].train
        if outer.served_by is not None:
            assert plan.splits[outer.served_by] == outer.fit
    for index, block in plan.final:
        assert block in plan.splits[index].tests


@pytest.mark.parametrize("k", [3, 5, 8])
def test_pair_out_has_one_fit_per_pair_that_serves_both_orders(k: int) -> None:
    plan = pair_out(k)
    assert [split.tests for split in plan.splits] == list(combinations(range(k), 2))
    assert all(len(split.train) == k - 2 for split in plan.splits)
    assert [len(outer.inner) for outer in plan.outers] == [k - 1] * k
    assert all(len(outer.fit.train) == k - 1 for outer in plan.outers)
    assert len(plan.final) == k * (k - 1)


@pytest.mark.parametrize("k", range(3, 22))
def test_forward_trains_on_the_past_only(k: int) -> None:
    plan = forward(k)
    for split in plan.splits:
        assert split == Split(tuple(range(split.tests[0])), split.tests)
    for outer in plan.outers:
        assert outer.served_by is not None
        assert plan.splits[outer.served_by] == outer.fit
        assert outer.fit.tests == (outer.block,)


@pytest.mark.parametrize("k", range(3, 22))
def test_forward_judges_late_and_chooses_by_what_is_like_it(k: int) -> None:
    plan = forward(k)
    judging = [outer.block for outer in plan.outers]
    assert judging == [i for i in range(2, k) if i >= 2 * k / 5]
    choices = [(outer.block, outer.inner) for outer in plan.outers] + [(k, plan.final)]
    for now, inner in choices:
        assert [plan.splits[split].tests for split, _ in inner] == [(m,) for _, m in inner]
        assert [m for _, m in inner] == [m for m in range(1, now) if m >= now / 3]
    used = {split for _, inner in choices for split, _ in inner}
    assert used | {outer.served_by for outer in plan.outers} == set(range(len(plan.splits)))


@pytest.mark.parametrize(
    ("n", "distinct", "blocks"),
    [(10, 10, 5), (119, 119, 5), (120, 120, 6), (200, 200, 10), (9999, 9999, 10), (9999, 7, 7)],
)
def test_blocks_in_time_are_more_where_rows_allow_it(n: int, distinct: int, blocks: int) -> None:
    time = np.arange(n) % distinct
    assert blocks_in_time(time) == blocks
    X = np.random.default_rng(0).normal(size=(n, 2))
    found = search(X, np.arange(n) % 2, [Family("bayes", GaussianNB())], task="binary", time=time)
    assert found.plan.blocks == blocks


def test_a_holdout_in_time_keeps_a_fifth_of_the_rows() -> None:
    X, y = make_classification(300, 5, random_state=0)
    bayes = [Family("bayes", GaussianNB())]
    found = search(X, y, bayes, task="binary", plan="holdout", time=np.arange(300))
    assert found.plan.blocks == 5


def test_naive_fits_are_those_of_a_nested_grid_search() -> None:
    assert pair_out(5).naive_fits(50, 1) == 5 * (4 * 50 + 1) + 5 * 50 + 1
    assert pair_out(5).naive_fits(50, 3) == 3 * 5 * (4 * 50 + 1) + 5 * 50 + 1
    assert holdout(5).naive_fits(50, 1) == 50 + 1 + 1
    assert forward(4).naive_fits(10, 1) == (10 + 1) + (20 + 1) + 20 + 1


def test_purged_training_rows_share_no_group_with_the_test() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    groups = np.array([1, 2, 3, 1, 4, 2])
    partition = Partition(labels, groups)
    assert partition.train_rows((0,), (1,)).tolist() == [1, 2]
    assert partition.train_rows((0, 1), (2,)).tolist() == [0, 2, 3, 4]


def test_forward_search_never_trains_on_the_future_or_on_a_tested_group() -> None:
    X, y = make_classification(120, 5, random_state=0)
    X[:, 0] = np.arange(120)  # the row number travels with the row
    random = np.random.default_rng(0)
    time, groups = random.permutation(120), random.integers(0, 30, 120)
    with seen_rows() as seen:
        outcome = search(
            X, y, [Family("spy", Spy())], task="binary", time=time, groups=groups, n_blocks=5
        )
    assert outcome.plan.kind == "forward"
    assert not outcome.plan.stratified
    assert len(seen) == 4
    for train, test in seen:
        assert time[train].max() < time[test].min()
        assert not set(groups[train]) & set(groups[test])
    assert [row.block for row in outcome.nested] == [2, 3, 4]
    assert outcome.work.units == 4
    without = search(X, y, [Family("spy", Spy())], task="binary", time=time)
    assert without.score != outcome.score


def test_grouped_search_never_trains_on_a_tested_group() -> None:
    X, y = make_classification(120, 5, random_state=0)
    X[:, 0] = np.arange(120)
    groups = np.random.default_rng(0).integers(0, 25, 120)
    with seen_rows() as seen:
        outcome = search(X, y, [Family("spy", Spy())], task="binary", groups=groups)
    assert outcome.plan.grouped
    assert len(seen) == 15
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])


def test_holdout_search_judges_on_rows_that_no_other_fit_saw() -> None:
    X, y = make_classification(300, 5, random_state=0)
    X[:, 0] = np.arange(300)
    families = [Family("spy", Spy(), [{"shift": 0.0}, {"shift": 0.1}])]
    with seen_rows() as seen:
        outcome = search(X, y, families, task="binary", plan="holdout")
    *choosing, (train, test) = seen
    assert len(choosing) == 2
    for earlier_train, earlier_test in choosing:
        assert not set(test) & (set(earlier_train) | set(earlier_test))
        assert set(earlier_train) | set(earlier_test) == set(train)
    assert [row.rows for row in outcome.nested] == [60]
    assert outcome.score.low < outcome.score.value < outcome.score.high
    assert outcome.gain.low < outcome.gain.value < outcome.gain.high
    assert outcome.chosen.params == outcome.nested[0].params


def test_holdout_in_time_judges_on_the_last_block() -> None:
    X, y = make_classification(200, 5, random_state=0)
    time = np.arange(200)
    outcome = search(
        X, y, [Family("bayes", GaussianNB())], task="binary", plan="holdout", time=time
    )
    assert outcome.outer.row.tolist() == list(range(160, 200))


def test_plans_that_contradict_the_data_are_refused() -> None:
    X, y = make_classification(60, 5, random_state=0)
    families = [Family("bayes", GaussianNB())]
    with pytest.raises(ParameterError, match="'pair-out' would train on the future"):
        search(X, y, families, task="binary", time=np.arange(60), plan="pair-out")
    with pytest.raises(ParameterError, match="repeats must be 1 with plan 'forward'"):
        search(X, y, families, task="binary", time=np.arange(60), repeats=2)
    with pytest.raises(ParameterError, match="repeats must be 1 with plan 'holdout'"):
        search(X, y, families, task="binary", plan="holdout", repeats=2)
    with pytest.raises(DataError, match="only 0 rows are left to learn from"):
        search(X, y, families, task="binary", time=np.arange(60), groups=np.zeros(60))
    with pytest.raises(DataError, match=r"groups must have one value per row, shape \(60,\)"):
        search(X, y, families, task="binary", groups=np.zeros(59))
