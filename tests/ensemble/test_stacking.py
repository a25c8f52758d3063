"""Stacking: the same as by hand, held-out rows only, and nothing that a row knows of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from assay import store
from assay.base import DataError, ParameterError, same
from assay.ensemble import StackingClassifier, StackingRegressor
from assay.ensemble._folds import fold_numbers
from assay.neighbors import KNeighborsClassifier
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.learners import ByHeart, NotesFits, NotesWeights, TakesNoWeights

IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
MEMBERS: list[tuple[str, Any]] = [("bayes", GaussianNB()), ("near", KNeighborsClassifier(7))]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X @ [1.0, -2.0, 0.0] + np.abs(X[:, 2]) + 0.1 * RNG.normal(size=90)
VALUES: list[tuple[str, Any]] = [
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]


def _pairs(n: int, n_folds: int = 4) -> list[tuple[Any, Any]]:
    return list(KFold(n_folds, shuffle=True, random_state=1).split(np.zeros(n)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("method", ["auto", "predict_proba"])
def test_stacking_classifier_matches_scikit_learn(
    n_classes: int, passthrough: bool, method: str
) -> None:
    rows, labels = IRIS[3 - n_classes <= SPECIES], WORDS[3 - n_classes <= SPECIES]
    final = LogisticRegression(solver="newton-cholesky", tol=1e-10)
    settings: dict[str, Any] = {
        "cv": _pairs(len(rows)),
        "passthrough": passthrough,
        "stack_method": method,
    }
    ours = StackingClassifier(MEMBERS, final, **settings).fit(rows, labels)
    theirs = sklearn.ensemble.StackingClassifier(MEMBERS, final, **settings).fit(rows, labels)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-9)
    assert ours.predict(rows).tolist() == theirs.predict(rows).tolist()


def test_stacking_classifier_matches_scikit_learn_on_decision_functions() -> None:
    final = LogisticRegression(solver="newton-cholesky")
    members = [("ridge", RidgeClassifier()), ("logistic", final)]
    settings: dict[str, Any] = {"cv": _pairs(150), "stack_method": "decision_function"}
    ours = StackingClassifier(members, final, **settings).fit(IRIS, WORDS)
    theirs = sklearn.ensemble.StackingClassifier(members, final, **settings).fit(IRIS, WORDS)
    np.testing.assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-6)


@pytest.mark.parametrize("passthrough", [False, True])
def test_stacking_regressor_matches_scikit_learn(passthrough: bool) -> None:
    settings: dict[str, Any] = {"cv": _pairs(90), "passthrough": passthrough}
    ours = StackingRegressor(VALUES, Ridge(), **settings).fit(X, Y)
    theirs = sklearn.ensemble.StackingRegressor(VALUES, Ridge(), **settings).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-12)


def test_oof_is_what_each_member_says_about_rows_it_was_not_fitted_on() -> None:
    pairs = _pairs(150)
    model = StackingClassifier(MEMBERS, cv=pairs).fit(IRIS, WORDS)
    expected = [
        cross_val_predict(member, IRIS, SPECIES, cv=pairs, method="predict_proba")
        for _, member in MEMBERS
    ]
    np.testing.assert_array_equal(model.oof_, np.hstack(expected))


def test_second_level_learns_from_fits_without_pairs_of_folds() -> None:
    fold = np.arange(90) % 4
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    upper = [("ridge", Ridge()), ("small", DecisionTreeRegressor(max_depth=2, random_state=0))]
    model = StackingRegressor(VALUES, Ridge(alpha=0.5), levels=[upper], cv=pairs).fit(X, Y)

    def said(members: Any, rows: Any, inputs: Any, asked: Any) -> Any:
        return np.column_stack([clone(m).fit(inputs, Y[rows]).predict(asked) for _, m in members])

    first, second = np.empty((90, 2)), np.empty((90, 2))
    for k in range(4):
        train = fold != k
        first[fold == k] = said(VALUES, train, X[train], X[fold == k])
        learned = np.empty((90, 2))
        for other in set(range(4)) - {k}:
            rows = train & (fold != other)
            learned[fold == other] = said(VALUES, rows, X[rows], X[fold == other])
        second[fold == k] = said(upper, train, learned[train], first[fold == k])
    np.testing.assert_allclose(model.oof_, second, atol=1e-12)
    final = Ridge(alpha=0.5).fit(second, Y)
    whole = np.ones(90, dtype=bool)
    above = said(upper, whole, first, said(VALUES, whole, X, X))
    np.testing.assert_allclose(model.predict(X), final.predict(above), atol=1e-10)
    assert list(model.named_estimators_) == ["line", "tree", "ridge", "small"]


def test_levels_cost_the_fits_that_are_told() -> None:
    NotesFits.count = 0
    levels = [[("b", LinearRegression())], [("c", LinearRegression())]]
    StackingRegressor([("a", NotesFits())], levels=levels, cv=5).fit(X, Y)
    assert NotesFits.count == 1 + 5 + 10 + 10


def test_usual_final_regressor_has_no_negative_weight() -> None:
    members = [("good", LinearRegression()), ("bad", DecisionTreeRegressor(random_state=0))]
    negative = StackingRegressor(members, random_state=0).fit(X, -Y)
    assert negative.final_estimator_.positive
    assert (negative.final_estimator_.coef_ >= 0).all()


# ------------------------------------------------------------------ nothing leaks


def _coin_flips(n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.normal(size=(n, 2)), rng.integers(0, 2, size=n)


def test_learning_by_heart_gives_no_optimism() -> None:
    rows, labels = _coin_flips()
    model = StackingClassifier([("heart", ByHeart())], random_state=0).fit(rows, labels)
    assert model.estimators_[0].score(rows, labels) == 1.0
    assert (model.oof_ == 0.0).all()  # it knows nothing about rows held out
    assert abs(model.score(rows, labels) - 0.5) < 0.1


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_own_label_never_changes_what_is_held_out(n_levels: int) -> None:
    rows, labels = _coin_flips(40)
    members = [("heart", ByHeart()), ("near", KNeighborsClassifier(1))]
    levels = [[(f"near{i}", KNeighborsClassifier(3))] for i in range(n_levels - 1)]
    fold = fold_numbers(5, np.zeros(40, dtype=np.int64), None, seed=0)
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    model = StackingClassifier(members, levels=levels, cv=pairs, passthrough=True)
    model.fit(rows, labels)
    for row in range(0, 40, 9):
        other = labels.copy()
        other[row] = 1 - other[row]
        again = clone(model).fit(rows, other)
        mates = fold == fold[row]
        np.testing.assert_array_equal(again.oof_[mates], model.oof_[mates])


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_duplicates_in_one_fold_give_no_optimism(kind: str) -> None:
    rows, labels = _coin_flips()
    twice, same_labels = np.vstack([rows, rows]), np.tile(labels, 2)
    if kind != "array":
        # A learner that knows equal rows of a dataframe: the nearest neighbour.
        frame = pd.DataFrame if kind == "pandas" else pl.DataFrame
        table: Any = frame({"a": twice[:, 0], "b": twice[:, 1]})
        members: list[tuple[str, Any]] = [("near", KNeighborsClassifier(1))]
    else:
        table, members = twice, [("heart", ByHeart())]
    model = StackingClassifier(members, random_state=0)
    apart = model.fit(table, same_labels).oof_[:, 0] == same_labels
    together = model.fit(table, same_labels, groups="duplicates").oof_[:, 0] == same_labels
    assert apart.mean() > 0.75
    assert abs(together.mean() - 0.5) < 0.1


def test_groups_stay_in_one_fold() -> None:
    rows, labels = _coin_flips(60)
    groups = np.array([f"patient {i // 4}" for i in range(60)])
    shared = np.repeat(rows[::4], 4, axis=0)  # all rows of a patient are equal
    model = StackingClassifier([("heart", ByHeart())], random_state=0)
    assert (model.fit(shared, labels, groups=groups).oof_ == 0.0).all()


# ------------------------------------------------------------------ folds


@given(
    st.lists(st.integers(0, 3), min_size=5, max_size=60),
    st.integers(2, 5),
    st.integers(0, 2**31 - 2),
)
def test_folds_share_every_class(labels: list[int], n_folds: int, seed: int) -> None:
    codes = np.array(labels)
    fold = fold_numbers(n_folds, codes, None, seed)
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1
    for code in set(labels):
        assert np.ptp(np.bincount(fold[codes == code], minlength=n_folds)) <= 1


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=20, max_size=60),
    st.integers(0, 2**31 - 2),
)
def test_folds_never_divide_a_group(rows: list[tuple[int, int]], seed: int) -> None:
    codes = np.array([code for code, _ in rows])
    groups = np.unique([group for _, group in rows], return_inverse=True)[1]
    n_folds = min(3, groups.max() + 1)
    if n_folds < 2:
        return
    fold = fold_numbers(n_folds, codes, groups, seed)
    assert set(fold) == set(range(n_folds))
    assert all(len(set(fold[groups == group])) == 1 for group in set(groups))


def test_folds_of_groups_are_nearly_balanced() -> None:
    rng = np.random.default_rng(0)
    codes, groups = rng.integers(0, 2, 3000), rng.integers(0, 300, 3000)
    fold = fold_numbers(5, codes, groups, seed=1)
    shares = [np.bincount(fold[codes == code]) / (codes == code).sum() for code in (0, 1)]
    assert np.abs(np.array(shares) - 0.2).max() < 0.03


def test_random_state_decides_the_folds_and_nothing_else_does() -> None:
    members = [("tree", DecisionTreeClassifier(splitter="random", max_features=1))]
    first = StackingClassifier(members, random_state=1).fit(IRIS, WORDS)
    assert same(first, StackingClassifier(members, random_state=1, n_jobs=2).fit(IRIS, WORDS))
    other = StackingClassifier(members, random_state=2).fit(IRIS, WORDS)
    assert not np.array_equal(first.oof_, other.oof_)
    assert first.estimators_[0].random_state is not None
    assert members[0][1].random_state is None


# ------------------------------------------------------------------ edges


def test_class_missing_in_a_fold_gets_probability_zero() -> None:
    labels = np.append(WORDS[:100], "rare")
    model = StackingClassifier(MEMBERS, random_state=0).fit(IRIS[:101], labels)
    assert model.classes_.tolist() == ["rare", "setosa", "versicolor"]
    rare = model.oof_[-1].reshape(2, 3)
    np.testing.assert_allclose(rare.sum(axis=1), 1.0)
    assert (rare[:, 0] == 0.0).all()


def test_fold_with_one_class_left_says_that_class() -> None:
    rows, labels = IRIS[:52], np.append(np.repeat("a", 51), "b")
    members = [("l", LogisticRegression(solver="newton-cholesky"))]
    model = StackingClassifier(members, random_state=0).fit(rows, labels)
    assert model.oof_[-1, 0] == 0.0
    scores = StackingClassifier(members, stack_method="decision_function", random_state=0)
    scores.fit(rows, labels)
    assert scores.oof_[-1, 0] == -1.0


def test_class_missing_in_a_fold_gets_the_lowest_score() -> None:
    labels = np.append(WORDS[:100], "rare")
    model = StackingClassifier(
        [("ridge", RidgeClassifier())], stack_method="decision_function", random_state=0
    ).fit(IRIS[:101], labels)
    assert model.oof_[-1, 0] == model.oof_[-1].min()
    assert np.isfinite(model.oof_).all()


def test_predicted_labels_become_indicators() -> None:
    model = StackingClassifier(MEMBERS, stack_method="predict", random_state=0).fit(IRIS, WORDS)
    assert model.oof_.shape == (150, 6)
    assert set(np.unique(model.oof_)) == {0.0, 1.0}
    assert (model.oof_.reshape(150, 2, 3).sum(axis=2) == 1).all()


def test_weights_go_to_members_that_take_them() -> None:
    weight = np.linspace(0.5, 2.0, 90)
    members = [("takes", NotesWeights()), ("not", TakesNoWeights())]
    model = StackingRegressor(members, NotesWeights(), random_state=0)
    model.fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.estimators_[0].weight_, weight)
    assert model.estimators_[1].weight_ is None
    np.testing.assert_array_equal(model.final_estimator_.weight_, weight)
    np.testing.assert_allclose(model.estimators_[0].mean_, np.average(Y, weights=weight))


def test_nominal_and_missing_values_reach_members_that_take_them() -> None:
    frame = pd.DataFrame({"size": IRIS[:, 0], "kind": np.where(SPECIES == 0, "round", "long")})
    frame.loc[::9, "size"] = np.nan
    members = [("tree", DecisionTreeClassifier(random_state=0))]
    for table in (frame, pl.from_pandas(frame)):
        model = StackingClassifier(members, random_state=0).fit(table, WORDS)
        assert model.feature_names_in_.tolist() == ["size", "kind"]
        assert model.score(table, WORDS) > 0.7
        with pytest.raises(DataError, match="feature names should match"):
            model.predict(table[["kind", "size"]])


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("groups", [None, "duplicates"])
def test_sparse_rows_give_the_same_numbers(passthrough: bool, groups: str | None) -> None:
    rows = np.vstack([np.where(np.abs(X) > 0.7, X, 0.0)] * 2)
    values = np.tile(Y, 2)
    settings: dict[str, Any] = {"passthrough": passthrough, "random_state": 0}
    exact = Ridge(tol=1e-12)
    members = [("ridge", exact), ("more", clone(exact).set_params(alpha=3.0))]
    dense = StackingRegressor(members, exact, **settings).fit(rows, values, groups=groups)
    thin = StackingRegressor(members, exact, **settings)
    thin.fit(sp.csr_array(rows), values, groups=groups)
    np.testing.assert_allclose(thin.oof_, dense.oof_, atol=1e-6)
    np.testing.assert_allclose(thin.predict(sp.csc_array(rows)), dense.predict(rows), atol=1e-6)
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        StackingRegressor(VALUES).fit(sp.csr_array(rows), values)


def test_member_is_dropped_replaced_and_set_by_name() -> None:
    model = StackingRegressor(VALUES, levels=[[("upper", Ridge())]], random_state=0)
    model.set_params(tree="drop", upper__alpha=3.0)
    assert model.get_params()["upper__alpha"] == 3.0
    assert list(model.fit(X, Y).named_estimators_) == ["line", "upper"]
    model.set_params(line=Ridge(alpha=9.0))
    assert model.get_params()["line__alpha"] == 9.0
    assert VALUES[0][1].get_params() == LinearRegression().get_params()


def test_stack_can_leave_out_the_held_out_outputs() -> None:
    kept = StackingRegressor(VALUES, random_state=0).fit(X, Y)
    spared = StackingRegressor(VALUES, random_state=0, keep_oof=False).fit(X, Y)
    assert kept.oof_.shape == (90, 2)
    assert spared.oof_.shape == (90, 0)
    assert kept.predict(X).tolist() == spared.predict(X).tolist()


def test_stack_in_a_stack_comes_back_from_a_file(tmp_path: Any) -> None:
    inner = StackingClassifier(MEMBERS, random_state=0, cv=3)
    model = StackingClassifier(
        [("inner", inner), ("tree", DecisionTreeClassifier(max_depth=2))], random_state=0, cv=3
    ).fit(IRIS, WORDS)
    store.save(tmp_path / "m.assay", {}, {"model": model})
    again = store.load(tmp_path / "m.assay")[1]["model"]
    assert same(model, again)
    assert again.predict_proba(IRIS).tolist() == model.predict_proba(IRIS).tolist()


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"estimators": []},
            "estimators must be a list of (name, estimator) pairs, at least one; got []",
        ),
        (
            {"estimators": [("a", GaussianNB()), ("a", GaussianNB())]},
            "estimators must have names that are unique, without '__' and not a parameter of the "
            "model; got 'a'",
        ),
        (
            {"estimators": [("cv", GaussianNB())]},
            "estimators must have names that are unique, without '__' and not a parameter of the "
            "model; got 'cv'",
        ),
        (
            {"estimators": [("a", "drop")]},
            "estimators must keep at least one estimator; all are 'drop'",
        ),
        (
            {"estimators": [("a", Ridge())]},
            "estimators 'a' must be a classifier; got Ridge()",
        ),
        ({"final_estimator": Ridge()}, "final_estimator must be a classifier; got Ridge()"),
        (
            {"levels": [("a", GaussianNB())]},
            "levels must be a list of (name, estimator) pairs, at least one; got "
            "('a', GaussianNB())",
        ),
        (
            {"cv": 2, "levels": [[("a", GaussianNB())]]},
            "cv must make more folds than there are levels below the final estimator, 2; got 2 "
            "folds",
        ),
        ({"cv": 1}, "cv must be an integer >= 2; got 1"),
        (
            {"cv": "prefit"},
            "cv must be an integer >= 2, a splitter with a method split, or (train, test) pairs; "
            "got 'prefit'; a fitted model has already seen the rows it would have to predict",
        ),
        (
            {"stack_method": "decision_function"},
            "stack_method must be one that every estimator has, or 'auto'; 'bayes', GaussianNB(), "
            "has no 'decision_function'",
        ),
        ({"passthrough": 1}, "passthrough must be True or False; got 1"),
        (
            {"random_state": "x"},
            "random_state must be None, an integer in [0, 2**32) or a RandomState; got 'x'",
        ),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    model = StackingClassifier(MEMBERS).set_params(**params)
    with pytest.raises(ParameterError) as caught:
        model.fit(IRIS, WORDS)
    assert str(caught.value) == message


def test_splitter_must_hold_out_every_row_once() -> None:
    for cv in (ShuffleSplit(3, random_state=0), [(np.arange(100), np.arange(100, 150))]):
        with pytest.raises(ParameterError, match="cv must hold out every row exactly once; got"):
            StackingClassifier(MEMBERS, cv=cv).fit(IRIS, WORDS)
    leaking = [(np.arange(150), np.arange(75)), (np.arange(75), np.arange(75, 150))]
    with pytest.raises(ParameterError, match="cv must train on rows other than those held out"):
        StackingClassifier(MEMBERS, cv=leaking).fit(IRIS, WORDS)


@pytest.mark.parametrize(
    ("rows", "labels", "more", "message"),
    [
        (IRIS, WORDS[:60], {}, "X has 150 rows but y has 60; each row needs one target"),
        (IRIS[:50], WORDS[:50], {}, "StackingClassifier needs at least two classes in y; got 1"),
        (IRIS[48:52], WORDS[48:52], {}, "5 folds need at least 5 rows; got n_samples=4"),
        (
            IRIS,
            WORDS,
            {"groups": np.repeat([0, 1, 2], 50)},
            "5 folds need at least 5 groups; got n_samples=150 in 3 groups",
        ),
        (IRIS, WORDS, {"groups": [1, 2]}, "groups must hold one label per row, shape (150,); got"),
        (IRIS, WORDS, {"groups": "x"}, "groups must be one label per row, 'duplicates' or None;"),
        (IRIS, WORDS, {"sample_weight": -np.ones(150)}, "sample_weight must be finite and not n"),
        (
            IRIS,
            WORDS,
            {"sample_weight": (SPECIES == 0) * 1.0},
            "StackingClassifier needs at least two classes in y; only 1 class has rows with",
        ),
    ],
)
def test_wrong_data_are_named(rows: Any, labels: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        StackingClassifier(MEMBERS).fit(rows, labels, **more)
    assert str(caught.value).startswith(message)


def test_passthrough_needs_numbers() -> None:
    frame = pd.DataFrame({"size": IRIS[:, 0], "kind": np.where(SPECIES == 0, "round", "long")})
    members = [("tree", DecisionTreeClassifier(random_state=0))]
    with pytest.raises(DataError, match="passthrough=True needs a table of numbers"):
        StackingClassifier(members, passthrough=True).fit(frame, WORDS)


class _Overflows(GaussianNB):
    def predict_proba(self, X: Any) -> Any:
        said = super().predict_proba(X)
        said[-1] = np.nan
        return said


def test_member_that_is_not_finite_is_named() -> None:
    with pytest.raises(DataError) as caught:
        StackingClassifier([("o", _Overflows())], random_state=0).fit(IRIS, WORDS)
    assert str(caught.value) == (
        "predict_proba of _Overflows is not finite in row 29; the model above it needs finite "
        "numbers"
    )


def test_file_with_a_class_number_out_of_range_is_refused() -> None:
    model = StackingClassifier(MEMBERS, random_state=0).fit(IRIS, WORDS)
    for wrong in ([0, 1, -(2**63)], [0, 1, 3], [0, 2, 1], [-1, 0, 1], [0.0, 1.0, 2.5]):
        model.estimators_[0].classes_ = np.array(wrong)
        with pytest.raises(DataError, match=r"estimators_\[0\] has other classes than the model"):
            StackingClassifier.from_state(model.get_params(deep=False), vars_of(model))


def vars_of(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("level_sizes_", np.array([3]), "level_sizes_ does not add up"),
        ("level_sizes_", np.array([1, 1]), "columns, not 3"),
        ("stack_method_", np.array(["predict", "fit"]), r"estimators_\[1\] has no method 'fit'"),
        ("passthrough_", True, "final_estimator_.* has 6 columns, not 10"),
        ("passthrough_", 1, "passthrough_ is missing or of the wrong type"),
        ("classes_", np.array(["a", "b"]), "has other classes than the model"),
        ("oof_", np.zeros((150, 5)), "shape"),
        ("oof_", np.full((150, 6), np.nan), "not finite"),
        ("n_samples_fit_", 149, "shape"),
        ("final_estimator_", GaussianNB().fit(IRIS, SPECIES), "has 4 columns, not 6"),
        ("final_estimator_", GaussianNB(), "is not fitted"),
    ],
)
def test_damaged_stacks_are_refused(name: str, value: Any, words: str) -> None:
    model = StackingClassifier(MEMBERS, random_state=0).fit(IRIS, WORDS)
    state = {**model.state(), name: value}
    with pytest.raises(DataError, match=words):
        StackingClassifier.from_state(model.get_params(deep=False), state)
