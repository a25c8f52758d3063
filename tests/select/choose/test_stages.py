"""Stages: what is dropped early is clearly worse, and never by a look at the block it is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from assay.select import Family, Ledger, Outcome, forward, holdout, pair_out
from assay.select.choose import Evidence
from assay.select.choose._eliminate import ERROR_RATE, Elimination, beaten_candidates, first_splits
from assay.select.choose._stages import run_plan
from assay.select.plan import Plan, Question, RowPartitions
from assay.select.plan._plan import make_plan
from assay.select.run._run import Runner
from tests.select.asked import search
from tests.select.spies import Counted

X, Y = make_classification(800, 8, n_informative=4, random_state=0)
FAMILIES = [
    Family("bayes", GaussianNB()),
    Family("line", LogisticRegression(), [{"C": 0.1}, {"C": 10.0}]),
    Family("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
    Family("guess", DummyClassifier(strategy="uniform", random_state=0)),
]


@pytest.mark.parametrize("k", [5, 6, 8])
def test_first_stage_is_a_cycle_with_every_block_in_two_pairs(k: int) -> None:
    plan = pair_out(k)
    pairs = [plan.splits[index].tests for index in first_splits(plan)]
    assert len(pairs) == k
    assert np.bincount(np.ravel(pairs)).tolist() == [2] * k


@pytest.mark.parametrize("plan", [pair_out(3), pair_out(4), forward(5), holdout(5)])
def test_plans_with_few_fits_have_one_stage(plan: Any) -> None:
    assert first_splits(plan) == list(range(len(plan.splits)))


def staged(y: NDArray[Any], families: list[Family] = FAMILIES, n_blocks: int = 5) -> Any:
    labels = np.arange(len(y)) % n_blocks
    plan = make_plan("pair-out", n_blocks, has_time=False, repeats=1)
    with Ledger() as ledger:
        return run_plan(asked(y, families, plan, ledger, labels), stages=True).dropped


def asked(
    y: NDArray[Any],
    families: list[Family],
    plan: Plan,
    ledger: Ledger,
    labels: NDArray[np.int64] | None = None,
) -> Evidence:
    question = Question.of(X, y, task="binary", metric="roc_auc")
    blocks = RowPartitions(question, plan, blocks=labels)
    return Evidence(question, blocks, Runner(question.data, families, blocks.partitions, ledger))


def test_what_clearly_loses_is_dropped_for_every_block() -> None:
    dropped = staged(Y)
    assert {(block, family) for _, block, family in dropped} >= {(i, 3) for i in range(5)}
    assert not any(family in (0, 1) for *_, family in dropped)  # anchor and winner


def test_what_is_dropped_for_a_block_does_not_depend_on_its_targets() -> None:
    plain = staged(Y)
    for block in range(5):
        rows = np.flatnonzero(np.arange(len(Y)) % 5 == block)
        other = Y.copy()
        other[rows] = 1 - other[rows]  # as wrong as can be
        mine = {place for place in plain if place[1] == block}
        assert mine
        assert {place for place in staged(other) if place[1] == block} == mine


def test_the_choice_for_a_block_does_not_depend_on_its_targets() -> None:
    blocks = np.arange(len(Y)) % 5
    plain = search(X, Y, FAMILIES, task="binary", blocks=blocks, stages=True)
    for block in (0, 3):
        other = Y.copy()
        other[blocks == block] = 1 - other[blocks == block]
        found = search(X, other, FAMILIES, task="binary", blocks=blocks, stages=True)
        assert found.nested[block].family == plain.nested[block].family
        assert found.nested[block].inner == plain.nested[block].inner


def facts(outcome: Outcome) -> tuple[Any, ...]:
    return outcome.score, outcome.nested, outcome.chosen.params, outcome.leaderboard[0]


def test_stages_do_fewer_fits_and_find_the_same(tmp_path: Path) -> None:
    log = tmp_path / "fits"
    families = [*FAMILIES[:2], Family("slow", Counted(str(log), var_smoothing=1e30))]
    counts = {}
    for stages in (False, True):
        log.write_text("")
        outcome = search(X, Y, families, task="binary", stages=stages)
        counts[stages] = len(log.read_text().splitlines()), outcome
    assert counts[False][0] == 10
    assert counts[True][0] == 5
    assert facts(counts[False][1]) == facts(counts[True][1])
    assert counts[True][1].work.fits == counts[False][1].work.fits - 5
    assert counts[True][1].work.naive_fits == counts[False][1].work.naive_fits
    last = counts[True][1].leaderboard[-1]
    assert last.family == "slow"
    assert last.failed == "stopped early: clearly worse than others after half of the fits"
    notes = [note for note in counts[True][1].notes if "candidates were stopped early" in note]
    assert len(notes) == 1
    assert notes[0].endswith("; whole families: slow")
    assert not any("failed" in note for note in counts[True][1].notes)


def test_small_tables_have_one_stage_unless_asked() -> None:
    few = search(X, Y, FAMILIES, task="binary", stages=None)
    assert facts(few) == facts(search(X, Y, FAMILIES, task="binary", stages=False))
    assert few.work.fits > search(X, Y, FAMILIES, task="binary", stages=True).work.fits


def test_staged_search_gives_the_same_on_any_workers_and_after_a_stop(tmp_path: Path) -> None:
    one = search(X, Y, FAMILIES, task="binary", stages=True, ledger=tmp_path / "a")
    two = search(X, Y, FAMILIES, task="binary", stages=True, n_jobs=2, ledger=tmp_path / "b")
    again = search(X, Y, FAMILIES, task="binary", stages=True, ledger=tmp_path / "b")
    full = search(X, Y, FAMILIES, task="binary", stages=False, ledger=tmp_path / "b")
    after = search(X, Y, FAMILIES, task="binary", stages=True, ledger=tmp_path / "b")
    assert facts(one) == facts(two) == facts(again) == facts(after)
    assert one.leaderboard == after.leaderboard  # what else the ledger holds makes no difference
    assert full.work.fits > one.work.fits


def test_best_candidate_is_dropped_no_more_often_than_the_error_rate_says() -> None:
    # Batches of equals, correlated as candidates on the same rows are: whoever is dropped is
    # dropped by mistake.
    random = np.random.default_rng(0)
    draws, count = 2000, 10
    mistakes = 0
    for _ in range(draws):
        places = [random.normal(size=(10, 1)) + random.normal(size=(10, count)) for _ in range(2)]
        mistakes += int(beaten_candidates(places, 0.0, count)[0])
    assert mistakes / draws < ERROR_RATE + 3 * np.sqrt(ERROR_RATE / draws)


def test_beaten_is_the_t_test_it_claims_to_be() -> None:
    from scipy.stats import t as student  # noqa: PLC0415

    random = np.random.default_rng(1)
    for shift in np.linspace(0, 4, 30):
        a, b = random.normal(size=(2, 2, 10))
        places = [np.column_stack([a[j], b[j] + shift]) for j in range(2)]
        d = b + shift - a
        variance = np.mean(d.var(axis=1, ddof=1))
        value = d.mean() / np.sqrt(variance / 10 * (1 / 2 + 1 / 3))
        expected = bool(value > student.ppf(1 - ERROR_RATE / 2, 18))
        assert beaten_candidates(places, 1 / 3, 2).tolist() == [expected, False]


def test_batches_without_a_score_and_failed_candidates_are_passed_over() -> None:
    random = np.random.default_rng(2)
    places = [random.normal(size=(10, 3)) * 0.1 + [0.0, 5.0, np.nan] for _ in range(2)]
    places[0][3] = np.nan
    assert beaten_candidates(places, 1 / 3, 3).tolist() == [True, False, False]
    assert beaten_candidates([np.full((10, 2), np.nan)] * 2, 1 / 3, 2).tolist() == [False, False]


def test_a_family_is_beaten_only_with_all_its_candidates() -> None:
    family = Family(
        "mixed", LogisticRegression(), [{"C": 1e-9, "fit_intercept": False}, {"C": 1.0}]
    )
    guess = Family(
        "guess", DummyClassifier(strategy="uniform", random_state=0), [{}, {"constant": 1}]
    )
    dropped = staged(Y, [FAMILIES[0], family, guess])
    assert {family for *_, family in dropped} == {2}


def test_elimination_without_the_first_stage_drops_nobody() -> None:
    with Ledger() as ledger:
        assert Elimination(asked(Y, FAMILIES, pair_out(5), ledger)).beaten(0, 0) == set()
