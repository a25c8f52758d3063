"""The default candidates: fixed by the shape of the table, within a budget of work units."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest

from assay.study import default_candidates
from assay.study._candidate_groups import Group, classifiers, regressors
from assay.study._cost_model import Shape, UnitCost, budget
from assay.study._default_candidates import DefaultCandidates
from assay.table import prepare, read

EFFORTS = ["quick", "normal", "thorough"]
EVERY = {
    "naive Bayes", "decision tree", "decision list", "logistic regression", "linear discriminant",
    "linear support vector machine", "support vector machine", "k-nearest neighbours",
    "random forest", "extra-trees", "AdaBoost", "gradient boosting",
}  # fmt: skip
NUMBERS = {
    "linear regression", "ridge regression", "elastic net", "k-nearest neighbours",
    "support vector machine", "decision tree", "random forest", "extra-trees", "gradient boosting",
}  # fmt: skip


def shaped(n_rows: int, n_columns: int, n_levels: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=n_rows) for j in range(n_columns)}
    levels = {"level": [f"l{i % n_levels}" for i in range(n_rows)]} if n_levels else {}
    return pl.DataFrame({**table, **levels, "y": [f"c{i % 2}" for i in range(n_rows)]})


def tried(
    n_rows: int, n_columns: int, effort: str = "normal", n_levels: int = 0
) -> DefaultCandidates:
    return default_candidates(prepare(read(shaped(n_rows, n_columns, n_levels)), "y"), effort)


def spent(found: DefaultCandidates) -> float:
    return float(sum(rule.work for rule in found.rules))


@pytest.mark.parametrize("effort", EFFORTS)
def test_small_table_is_tried_with_every_family_once_and_no_candidate_twice(effort: str) -> None:
    families, notes, _ = tried(300, 3, effort)
    assert notes == []
    assert {family.name for family in families} == EVERY
    assert len(families) == len(EVERY)
    for family in families:
        seen = [tuple(sorted(candidate.items(), key=str)) for candidate in family.candidates]
        assert len(set(map(str, seen))) == len(seen)


def test_numbers_are_tried_with_every_family_that_predicts_them() -> None:
    frame = shaped(300, 3).with_columns(y=pl.Series(np.random.default_rng(1).normal(size=300)))
    families, notes, _ = default_candidates(prepare(read(frame), "y"))
    assert notes == []
    assert {family.name for family in families} == NUMBERS


def test_effort_buys_candidates() -> None:
    counts = [sum(len(family.candidates) for family in tried(300, 3, e).families) for e in EFFORTS]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("shape", [(300, 3), (20_000, 5), (60, 500)])
def test_candidates_stay_within_the_budget(effort: str, shape: tuple[int, int]) -> None:
    found = tried(*shape, effort)
    assert found.families
    assert spent(found) <= budget(effort, shape[0]) * 1.001


def test_what_is_too_expensive_is_left_out_and_says_what_would_include_it() -> None:
    found = tried(60_000, 1, n_levels=100)
    names = [family.name for family in found.families]
    assert "support vector machine" not in names
    assert "gradient boosting" in names
    (note,) = [note for note in found.notes if note.startswith("support vector machine")]
    assert "60,000 rows in 102 columns it would take about" in note
    assert "of one core, and effort 'normal' allows about 4 min for all" in note


def test_time_limit_thins_the_candidates_only_where_it_must() -> None:
    dataset = prepare(read(shaped(300, 3)), "y")
    plain = default_candidates(dataset)
    roomy = default_candidates(dataset, limit=spent(plain) * 1.01)
    assert [f.digest() for f in roomy.families] == [f.digest() for f in plain.families]
    assert roomy.notes == plain.notes
    tight = default_candidates(dataset, limit=spent(plain) / 5)
    assert spent(tight) <= spent(plain) / 5
    assert "gradient boosting" in [family.name for family in tight.families]
    assert any(note.startswith("the time limit allows about") for note in tight.notes)
    none = default_candidates(dataset, limit=1e-6)
    assert len(none.families) == 1


def test_long_tables_split_families_so_that_each_part_can_be_dropped() -> None:
    found = tried(20_000, 5)
    boosts = [family for family in found.families if family.name == "gradient boosting"]
    assert len(boosts) > 1
    for family in boosts:
        others = [{k: v for k, v in c.items() if k != "n_estimators"} for c in family.candidates]
        assert all(other == others[0] for other in others)  # one run serves them all


def test_first_family_is_the_cheapest_and_the_order_is_told() -> None:
    found = tried(20_000, 5)
    works = [family.work(12_000, 8_000) for family in found.families if family.work]
    assert len(works) == len(found.families)
    assert works[0] <= 2 * min(works)
    assert [rule.family for rule in found.rules] == list(
        dict.fromkeys(family.name for family in found.families)
    )
    assert all(rule.why for rule in found.rules)


def test_models_without_probabilities_are_left_out_where_the_score_needs_them() -> None:
    found = default_candidates(prepare(read(shaped(300, 3)), "y"), probabilities=True)
    assert found.notes == [
        "support vector machine left out: it has no probabilities, which the metric needs",
        "linear support vector machine left out: it has no probabilities, which the metric needs",
    ]
    assert {family.name for family in found.families} == {
        name for name in EVERY if "vector" not in name
    }


def test_candidates_ask_for_no_more_neighbours_than_rows() -> None:
    families = {family.name: family for family in tried(12, 2).families}
    candidates = families["k-nearest neighbours"].candidates
    assert max(candidate["n_neighbors"] for candidate in candidates) <= 6


@pytest.mark.parametrize("classes", [True, False])
def test_halvings_make_groups_cheaper_and_keep_their_number(classes: bool) -> None:
    def made(halvings: int) -> list[Group]:
        shape = Shape(500_000, 50, 50, 7 if classes else 1)
        if classes:
            return list(classifiers("normal", shape, halvings))
        return list(regressors("normal", shape, 1.0, halvings))

    full, halved = made(0), made(3)
    assert [group.family for group in full] == [group.family for group in halved]
    costs = [(a.cost(1000, 500), b.cost(1000, 500)) for a, b in zip(full, halved, strict=True)]
    assert all(less <= more for more, less in costs)
    assert any(less < 0.3 * more for more, less in costs)


def test_wide_tables_are_also_tried_with_selected_columns() -> None:
    names = [family.name for family in tried(60, 120, "quick").families]
    assert "k-nearest neighbours on selected columns" in names
    encoders = {
        family.encoder_digest
        for family in tried(60, 120).families
        if family.name.endswith("on selected columns")
    }
    assert len(encoders) == 1  # fitted once for all of them
    assert not any("selected" in family.name for family in tried(300, 120).families)


def test_prices_add_up_and_travel_to_other_processes() -> None:
    price = UnitCost(1.0, train=2.0, both=0.5) + UnitCost(2.0, test=3.0, square=0.1)
    assert price(10, 4) == 3.0 + 20.0 + 12.0 + 0.5 * 40 + 0.1 * 100
    assert pickle.loads(pickle.dumps(price)) == price
