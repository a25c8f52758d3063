"""Every discriminant from one set of sums, and sums of training sets by subtraction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from assay.decomposition import LinearDiscriminantAnalysis
from assay.decomposition import _lda as discriminant
from assay.decomposition._class_blocks import BlockSums
from assay.decomposition._class_scatter import Classes, class_sums
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along

from .tables import classes

CANDIDATES: list[dict[str, Any]] = [
    {"solver": "svd"},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": "auto"},
    *({"solver": "lsqr", "shrinkage": s} for s in (0.01, 0.1, 0.5, 1.0)),
    *({"solver": "eigen", "shrinkage": s} for s in (0.1, "auto")),
]


def family(encoder: Any = None) -> Family:
    return Family("discriminant", LinearDiscriminantAnalysis(), CANDIDATES, encoder)


@pytest.mark.parametrize(
    "table", [load_iris, load_wine, load_breast_cancer], ids=["iris", "wine", "breast_cancer"]
)
@pytest.mark.parametrize("encoded", [True, False])
def test_path_equals_single_fits(table: Any, encoded: bool) -> None:
    X, y = table(return_X_y=True)
    if not encoded:
        X = StandardScaler().fit_transform(X)
    assert_path_equals_single_fits(family(StandardScaler() if encoded else None), X, y)


def test_path_equals_single_fits_with_weights() -> None:
    X, y = classes(300, 6, 4)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=300)
    assert_path_equals_single_fits(family(), X, y, weight=weight)
    weight[::7] = 0.0
    assert_path_equals_single_fits(family(), X, y, weight=weight)


def test_path_equals_single_fits_where_the_scatter_is_singular() -> None:
    X, y = (part[:400] for part in load_digits(return_X_y=True))
    assert_path_equals_single_fits(
        Family("discriminant", LinearDiscriminantAnalysis(), CANDIDATES[3:]), X, y
    )
    X, y = classes(200, 4, 3)
    twins = np.column_stack([X, X[:, 0] + X[:, 1]])
    assert_path_equals_single_fits(
        Family("discriminant", LinearDiscriminantAnalysis(), CANDIDATES[:1]), twins, y
    )


def test_path_equals_single_fits_where_a_class_is_missing() -> None:
    X, y = classes(100, 3, 3)
    y[y == 2] = 0
    y[:3] = 2  # three rows: some training sets have none of them
    assert_path_equals_single_fits(family(), X, y, n_blocks=3)


def test_a_wrong_candidate_fails_in_its_turn_only() -> None:
    X, y = classes(120, 4, 3)
    mixed: list[dict[str, Any]] = [
        {"solver": "svd"},
        {"solver": "svd", "shrinkage": 0.5},
        {"solver": "lsqr"},
    ]
    assert_path_equals_single_fits(Family("mixed", LinearDiscriminantAnalysis(), mixed), X, y)


def test_the_rows_are_summed_once_for_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes(200, 4, 3)
    made = []

    class Counted(Classes):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            made.append(self)

    monkeypatch.setattr(discriminant, "Classes", Counted)
    blocks = np.array_split(np.random.default_rng(0).permutation(200), 5)
    path = LinearDiscriminantAnalysis.assay_path
    shared = path.share(X, CANDIDATES)
    train = np.concatenate(blocks[2:])
    model = LinearDiscriminantAnalysis()
    fitted = list(fits_along(path)(model, shared, X, y, None, train, list(blocks[:2]), CANDIDATES))
    assert len(fitted) == len(CANDIDATES)
    assert len(made) == 1
    assert path.n_fits(CANDIDATES) == 1


@given(st.integers(0, 10_000), st.booleans())
def test_sums_by_subtraction_are_those_of_the_rows(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y = classes(200, 4, 3, seed, apart=2.0)
    weight = rng.uniform(0.5, 2.0, size=200) if weighted else None
    blocks = np.array_split(rng.permutation(200), 5)
    train, tests = np.concatenate(blocks[2:]), list(blocks[:2])
    got = BlockSums(X).without(y, weight, train, tests, 1)
    assert got is not None
    given_weight = None if weight is None else weight[train]
    expected = class_sums(X[train], y[train], given_weight, 3, 1)
    np.testing.assert_allclose(got.totals, expected.totals, rtol=1e-12)
    np.testing.assert_allclose(got.means, expected.means, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(got.within, expected.within, rtol=1e-10, atol=1e-9)


def test_there_is_no_subtraction_where_digits_would_be_lost() -> None:
    X, y = classes(200, 3, 2)
    blocks = np.array_split(np.arange(200), 5)
    train, tests = np.concatenate(blocks[1:]), [blocks[0]]
    usual = BlockSums(X).without(y, None, train, tests, 1)
    assert usual is not None
    spiked = X.copy()
    spiked[:5, 0] += 1e4  # nearly all scatter of the column lies in the block that is left out
    assert BlockSums(spiked).without(y, None, train, tests, 1) is None
    twins = np.column_stack([X, X[:, 0]])
    assert BlockSums(twins).without(y, None, train, tests, 1) is None
    assert BlockSums(X).without(y, None, train[1:], tests, 1) is None  # some rows are nowhere
    rare = np.where(np.arange(200) < 5, 1, 0)
    assert BlockSums(X).without(rare, None, train, tests, 1) is None


def test_sums_of_another_target_are_not_taken_for_those_of_this_one() -> None:
    X, y = classes(200, 3, 2)
    blocks = np.array_split(np.arange(200), 5)
    train, tests = np.concatenate(blocks[1:]), [blocks[0]]
    store = BlockSums(X)
    for target, weight in ((y, None), (1 - y, None), (y, np.full(200, 2.0)), (y.copy(), None)):
        got = store.without(target, weight, train, tests, 1)
        expected = BlockSums(X).without(target, weight, train, tests, 1)
        assert got is not None
        assert expected is not None
        np.testing.assert_array_equal(got.within, expected.within)
        np.testing.assert_array_equal(got.totals, expected.totals)
