"""Shared fits are the fits of their own, bit for bit, with less work."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from assay.base import ParameterError, SharedFit, same
from assay.multiclass import AllVsAllClassifier, MultilabelClassifier, OneVsAllClassifier
from assay.svm import SVC
from assay.svm.engine import Kernel
from assay.tree import DecisionTreeClassifier
from assay.tree.engine import Bins
from tests.multiclass.learners import blobs

TREES = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(max_depth=4, max_features=2, random_state=1),
    DecisionTreeClassifier(max_bins=8, criterion="entropy"),
    DecisionTreeClassifier(splitter="random", random_state=2),
    DecisionTreeClassifier(prune="cost_complexity", ccp_alpha=0.01),
    DecisionTreeClassifier(class_weight="balanced", max_bins=8),
    DecisionTreeClassifier(prune="reduced_error", random_state=0),
    DecisionTreeClassifier(ccp_alpha="cv", random_state=0),
    DecisionTreeClassifier(max_leaf_nodes=6),
    DecisionTreeClassifier(categorical_features=[2]),
]
MACHINES = [
    SVC(),
    SVC(kernel="linear", C=0.5),
    SVC(gamma=0.1, class_weight="balanced"),
    SVC(kernel="poly", gamma=0.2, degree=2, coef0=1.0),
]


def own_fits(
    base: Any, X: NDArray[Any], codes: NDArray[Any], weight: NDArray[Any] | None, pairs: bool
) -> list[Any]:
    """Fit every member by itself."""
    n_classes = int(codes.max()) + 1
    problems = (
        [(np.flatnonzero((codes == i) | (codes == j)), j) for i, j in
         combinations(range(n_classes), 2)]
        if pairs
        else [(np.arange(len(codes)), k) for k in range(n_classes)]
    )  # fmt: skip
    return [
        clone(base).fit(
            X[rows],
            (codes[rows] == k).astype(np.int64),
            None if weight is None else weight[rows],
        )
        for rows, k in problems
    ]


@pytest.mark.parametrize("reduction", [OneVsAllClassifier, AllVsAllClassifier])
@pytest.mark.parametrize("base", [*TREES, *MACHINES], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_shared_fit_is_a_fit_of_its_own(reduction: Any, base: Any, weighted: bool) -> None:
    X, y = blobs(4, 160)
    X[:, 2] = np.round(X[:, 2]) % 3 + 1
    codes = np.unique(y, return_inverse=True)[1]
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = reduction(base, n_jobs=2).fit(X, y, sample_weight=weight)
    alone = own_fits(base, X, codes, weight, pairs=reduction is AllVsAllClassifier)
    assert len(alone) == len(model.estimators_)
    assert all(same(a, b) for a, b in zip(model.estimators_, alone, strict=True))


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.svm._shared_gram._FEWEST_COLUMNS", 1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_tables_of_any_kind_are_shared_rightly(kind: Any) -> None:
    X, y = blobs(3)
    codes = np.unique(y, return_inverse=True)[1]
    tables = [X.astype(kind), np.asfortranarray(X.astype(kind)), X.astype(kind)[:, ::-1]]
    for table in tables:
        for base in (DecisionTreeClassifier(), SVC()):
            model = OneVsAllClassifier(base).fit(table, y)
            alone = own_fits(base, table, codes, None, pairs=False)
            assert all(same(a, b) for a, b in zip(model.estimators_, alone, strict=True))


def test_missing_values_and_rows_without_weight_are_fitted_as_ever() -> None:
    X, y = blobs(3)
    codes = np.unique(y, return_inverse=True)[1]
    weight = np.ones(len(y))
    weight[::7] = 0
    holes = X.copy()
    holes[::5, 1] = np.nan
    for table, weights in ((holes, None), (X, weight), (holes, weight)):
        for reduction in (OneVsAllClassifier, AllVsAllClassifier):
            base = DecisionTreeClassifier(max_bins=8)
            model = reduction(base).fit(table, y, sample_weight=weights)
            pairs = reduction is AllVsAllClassifier
            alone = own_fits(base, table, codes, weights, pairs=pairs)
            assert all(same(a, b) for a, b in zip(model.estimators_, alone, strict=True))


def test_table_is_binned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    build = Bins.build

    def counted(*args: Any) -> Any:
        calls.append(args)
        return build(*args)

    monkeypatch.setattr(Bins, "build", counted)
    X, y = blobs(5)
    OneVsAllClassifier(DecisionTreeClassifier()).fit(X, y)
    MultilabelClassifier(DecisionTreeClassifier()).fit(X, y)
    assert len(calls) == 2


def test_kernel_values_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    matrix = Kernel.matrix

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        calls.append(len(args[0]))  # queries go another way
        return matrix(self, *args, **options)

    monkeypatch.setattr(Kernel, "matrix", counted)
    X, y = blobs(5)
    X = np.tile(X, 30)
    OneVsAllClassifier(SVC()).fit(X, y)
    MultilabelClassifier(SVC(gamma=0.1)).fit(X, y)
    assert calls == [len(X), len(X)]


def test_class_may_bring_its_own_sharing() -> None:
    asked: list[int] = []

    class Sharing(SharedFit[None]):
        def prepare(self, model: Any, X: Any, weight: Any) -> None:
            asked.append(len(X))

        def fit(self, model: Any, prepared: None, X: Any, y: Any, weight: Any) -> Any:
            raise AssertionError("nothing was prepared")

    class Shared(GaussianNB):
        assay_path = Sharing()

    X, y = blobs(3)
    OneVsAllClassifier(Shared()).fit(X, y)
    AllVsAllClassifier(Shared()).fit(X, y)  # each pair has rows of its own
    assert asked == [len(X)]


def test_wrong_parameter_of_a_shared_learner_is_named() -> None:
    X, y = blobs(3)
    with pytest.raises(ParameterError, match="max_depth must be an integer >= 1"):
        OneVsAllClassifier(DecisionTreeClassifier(max_depth=0)).fit(X, y)
    with pytest.raises(ParameterError, match="C must be"):
        OneVsAllClassifier(SVC(C=-1)).fit(X, y)
