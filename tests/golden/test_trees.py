"""Decision trees and lists against the numbers of textbooks, printed or computed by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from assay.datasets import load_restaurant
from assay.theory import (
    bootstrap_share,
    chi_square_deviation,
    chi_square_threshold,
    entropy,
    information_gain,
    majority_error,
)
from assay.tree import DecisionListClassifier, DecisionTreeClassifier, ID3Classifier

TABLE = load_restaurant()
X, Y = TABLE.drop("WillWait"), TABLE["WillWait"]


def contingency(table: pl.DataFrame, column: str) -> list[list[int]]:
    levels = table[column].unique().sort().to_list()
    return [
        [len(table.filter(pl.col(column) == level, WillWait=answer)) for answer in ("No", "Yes")]
        for level in levels
    ]


def test_golden_1_entropies_of_coins_and_dice() -> None:
    assert entropy([0.5, 0.5]) == 1
    assert entropy([0.25] * 4) == 2
    assert entropy([1.0, 0.0]) == 0
    assert entropy([1] * 6) == pytest.approx(2.585, abs=5e-4)


def test_golden_2_entropy_of_an_unfair_coin() -> None:
    assert entropy([0.99, 0.01]) == pytest.approx(0.080793, abs=5e-7)


def test_golden_3_entropy_of_the_restaurant_table() -> None:
    assert entropy(Y.value_counts()["count"].to_numpy()) == 1


def test_golden_4_gain_of_type_and_patrons() -> None:
    assert information_gain(contingency(TABLE, "Type")) == pytest.approx(0, abs=1e-12)
    assert information_gain(contingency(TABLE, "Patrons")) == pytest.approx(0.540852, abs=5e-7)


def test_golden_5_gains_of_all_attributes() -> None:
    gains = {column: information_gain(contingency(TABLE, column)) for column in X.columns}
    expected = {
        "Alternate": 0,
        "Bar": 0,
        "Fri/Sat": 0.0207,
        "Hungry": 0.1957,
        "Patrons": 0.5409,
        "Price": 0.1957,
        "Raining": 0.0207,
        "Reservation": 0.0207,
        "Type": 0,
        "WaitEstimate": 0.2075,
    }
    assert gains == pytest.approx(expected, abs=5e-5)


def test_golden_6_gains_inside_patrons_full() -> None:
    full = TABLE.filter(Patrons="Full")
    columns = [column for column in X.columns if column != "Patrons"]
    gains = {column: information_gain(contingency(full, column)) for column in columns}
    expected = {
        **dict.fromkeys(["Hungry", "Price", "Reservation", "Type", "WaitEstimate"], 0.2516),
        **dict.fromkeys(["Alternate", "Fri/Sat"], 0.1092),
        "Raining": 0.0441,
        "Bar": 0,
    }
    assert gains == pytest.approx(expected, abs=5e-5)


def test_golden_7_chi_square_thresholds() -> None:
    printed = {2: 3.84, 3: 5.99, 4: 7.82}  # Hungry, Patrons, Type: one degree less each
    thresholds = {n_values: chi_square_threshold(n_values) for n_values in printed}
    assert thresholds == pytest.approx(printed, abs=0.01)


def test_golden_8_chi_square_deviations() -> None:
    deviations = {column: chi_square_deviation(contingency(TABLE, column)) for column in X.columns}
    expected = {
        "Patrons": 6.6667,
        "Hungry": 3.0857,
        "WaitEstimate": 2.6667,
        "Price": 2.4762,
        **dict.fromkeys(["Fri/Sat", "Raining", "Reservation"], 0.3429),
        **dict.fromkeys(["Type", "Alternate", "Bar"], 0),
    }
    assert deviations == pytest.approx(expected, abs=5e-5)
    # What is left at p = .0357 and .079 are the two p-values of the document's data.
    assert chi_square_threshold(3, 0.0357) == pytest.approx(6.6667, abs=0.01)
    assert chi_square_threshold(2, 0.079) == pytest.approx(3.0857, abs=0.01)


def test_restaurant_tree_is_grown_to_the_letter() -> None:
    assert ID3Classifier().fit(X, Y).to_text().splitlines() == [
        "Patrons?",
        "├── Full: Hungry?",
        "│   ├── No: No",
        "│   └── Yes: Type?",
        "│       ├── Burger: Yes",
        "│       ├── French: No",  # no example: a tie in the parent, which the first class wins
        "│       ├── Italian: No",
        "│       └── Thai: Fri/Sat?",
        "│           ├── No: No",
        "│           └── Yes: Yes",
        "├── None: No",
        "└── Some: Yes",
    ]


def test_golden_9_chi_square_pruning_leaves_the_patrons_stump() -> None:
    model = ID3Classifier(prune="chi2", significance=0.05).fit(X, Y)
    assert model.to_text() == "Patrons?\n├── Full: No\n├── None: No\n└── Some: Yes"
    assert model.score(X, Y) == pytest.approx(10 / 12)


def test_golden_9_holds_for_binary_trees_too() -> None:
    model = DecisionTreeClassifier(criterion="entropy", prune="chi2").fit(X, Y)
    assert len(model.node_left_) == 3  # Patrons = Some against the rest
    assert model.score(X, Y) == pytest.approx(10 / 12)


@pytest.mark.parametrize("n_levels", [3, 4, 5])
def test_golden_11_nominal_split_is_the_best_of_all_bipartitions(n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    levels, classes = rng.integers(n_levels, size=200), rng.integers(3, size=200)
    subsets = [s for k in range(1, n_levels) for s in combinations(range(n_levels), k)]
    bipartitions = {frozenset([frozenset(s), frozenset(range(n_levels)) - set(s)]) for s in subsets}
    assert len(bipartitions) == 2 ** (n_levels - 1) - 1

    def gain(side: np.typing.NDArray[np.bool_]) -> float:
        table = [np.bincount(classes[part], minlength=3) for part in (side, ~side)]
        return information_gain(np.array(table))

    best = max(gain(np.isin(levels, list(min(pair, key=sorted)))) for pair in bipartitions)
    model = DecisionTreeClassifier(criterion="entropy", max_depth=1, categorical_features=[0])
    leaf = model.fit(levels[:, None], classes).apply(levels[:, None])
    assert gain(leaf == leaf[0]) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    ("n_voters", "expected", "tolerance"),
    [(11, 0.07822479, 5e-9), (21, 0.02638994, 5e-9), (50, 0.00093318, 5e-9)],
)
def test_golden_12_to_14_majority_error(n_voters: int, expected: float, tolerance: float) -> None:
    assert majority_error(n_voters, 0.3) == pytest.approx(expected, abs=tolerance)


def test_golden_15_share_of_rows_in_a_bootstrap_sample() -> None:
    assert bootstrap_share() == pytest.approx(0.6321, abs=5e-5)
    assert bootstrap_share(10) == pytest.approx(0.6513, abs=5e-5)


def test_xor_shows_why_pruning_comes_after_growing() -> None:
    rows = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
    y = rows[:, 0] ^ rows[:, 1]
    assert chi_square_deviation([[10, 10], [10, 10]]) < chi_square_threshold(2)  # root: by chance
    model = ID3Classifier(prune="chi2", categorical_features=[0, 1]).fit(rows, y)
    assert model.score(rows, y) == 1.0  # yet kept, since below it the splits are significant
    binary = DecisionTreeClassifier(prune="chi2").fit(rows, y)
    assert binary.score(rows, y) == 1.0


def test_decision_list_fits_the_restaurant_table_exactly() -> None:
    assert DecisionListClassifier(max_literals=2).fit(X, Y).score(X, Y) == 1.0
