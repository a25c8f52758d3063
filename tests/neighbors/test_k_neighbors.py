"""The two estimators: scikit-learn's predictions, and what holds for any table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier as PeerClassifier
from sklearn.neighbors import KNeighborsRegressor as PeerRegressor

from assay.base import DataError, ParameterError, StateError, same
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor

EXPONENTS = [1, 1.5, 2, 3, math.inf]
WEIGHTS = ["uniform", "distance", lambda d: 1 / (1 + d) ** 2]


def peer(cls: Any, k: int, p: float, weights: Any) -> Any:
    metric: dict[str, Any] = {"metric": "chebyshev"} if math.isinf(p) else {"p": p}
    return cls(k, algorithm="brute", weights=weights, **metric)


def no_ties(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move every value a little: among tied rows the two libraries choose differently."""
    return X + np.random.default_rng(0).uniform(0, 1e-3, size=X.shape)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_classifier_matches_scikit_learn(load: Any, p: float, weights: Any) -> None:
    X, y = load(return_X_y=True)
    X = no_ties(X)
    ours = KNeighborsClassifier(7, p=p, weights=weights).fit(X[::2], y[::2])
    theirs = peer(PeerClassifier, 7, p, weights).fit(X[::2], y[::2])
    np.testing.assert_allclose(
        ours.predict_proba(X[1::2]), theirs.predict_proba(X[1::2]), atol=1e-9
    )
    assert np.array_equal(ours.predict(X[1::2]), theirs.predict(X[1::2]))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("p", EXPONENTS)
def test_regressor_matches_scikit_learn(p: float, weights: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = no_ties(X)
    both = np.column_stack([y, X[:, 2]])
    for target in (y, both):
        ours = KNeighborsRegressor(9, p=p, weights=weights).fit(X[::2], target[::2])
        theirs = peer(PeerRegressor, 9, p, weights).fit(X[::2], target[::2])
        np.testing.assert_allclose(ours.predict(X[1::2]), theirs.predict(X[1::2]), rtol=1e-9)


def test_leave_one_out_matches_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    X = no_ties(X)
    ours, theirs = KNeighborsClassifier(5).fit(X, y), PeerClassifier(5).fit(X, y)
    assert np.array_equal(ours.predict(None), theirs.predict(None))
    assert ours.score(None, y) == theirs.score(None, y)


@given(seed=st.integers(0, 1000), k=st.integers(1, 20), weights=st.sampled_from(WEIGHTS[:2]))
def test_shares_sum_to_one_and_row_order_does_not_matter(seed: int, k: int, weights: Any) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.integers(3, size=20)
    order = rng.permutation(20)
    queries = rng.normal(size=(5, 2))
    shares = KNeighborsClassifier(k, weights=weights).fit(X, y).predict_proba(queries)
    shuffled = KNeighborsClassifier(k, weights=weights).fit(X[order], y[order])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(shuffled.predict_proba(queries), shares, rtol=1e-12)


@given(seed=st.integers(0, 1000), k=st.integers(1, 10), copies=st.integers(1, 3))
def test_copies_of_all_rows_with_as_many_neighbours_change_nothing(
    seed: int, k: int, copies: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y, queries = rng.normal(size=(10, 2)), rng.normal(size=10), rng.normal(size=(5, 2))
    once = KNeighborsRegressor(k).fit(X, y).predict(queries)
    many = KNeighborsRegressor(k * copies).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(many.predict(queries), once, rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 1000), weights=st.sampled_from(WEIGHTS[:2]))
def test_relabelling_permutes_the_shares(seed: int, weights: Any) -> None:
    rng = np.random.default_rng(seed)
    X, y, queries = rng.normal(size=(20, 2)), rng.permutation(20) % 3, rng.normal(size=(5, 2))
    shares = KNeighborsClassifier(5, weights=weights).fit(X, y).predict_proba(queries)
    swapped = KNeighborsClassifier(5, weights=weights).fit(X, 2 - y).predict_proba(queries)
    assert np.array_equal(shares, swapped[:, ::-1])


@given(seed=st.integers(0, 1000), weights=st.sampled_from(WEIGHTS[:2]), k=st.integers(1, 20))
def test_predicted_value_lies_between_those_of_the_neighbours(
    seed: int, weights: Any, k: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y, queries = rng.normal(size=(20, 2)), rng.normal(size=20), rng.normal(size=(5, 2))
    model = KNeighborsRegressor(k, weights=weights).fit(X, y)
    values, slack = y[model.kneighbors(queries)[1]], 1e-12
    predicted = model.predict(queries)
    assert (predicted >= values.min(axis=1) - slack).all()
    assert (predicted <= values.max(axis=1) + slack).all()


def test_one_neighbour_remembers_the_training_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    assert np.array_equal(KNeighborsRegressor(1).fit(X, y).predict(X), y)


def test_rows_at_distance_zero_decide_alone() -> None:
    X, y = [[0.0], [0.0], [1.0], [2.0]], [1.0, 3.0, 100.0, 100.0]
    assert KNeighborsRegressor(4, weights="distance").fit(X, y).predict([[0.0]]).tolist() == [2.0]
    model = KNeighborsClassifier(4, weights="distance").fit(X, ["a", "b", "c", "c"])
    assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e300])
def test_inverse_distances_do_not_overflow(scale: float) -> None:
    X = np.array([[1.0], [2.0], [4.0]]) * scale
    model = KNeighborsRegressor(3, weights="distance", p=1).fit(X, [4.0, 2.0, 1.0])
    expected = (4 + 2 / 2 + 1 / 4) / (1 + 1 / 2 + 1 / 4)
    np.testing.assert_allclose(model.predict([[0.0]]), [expected], rtol=1e-9)


def test_infinite_distances_give_a_plain_mean() -> None:
    X = np.array([[1.7e308], [1.6e308]])
    model = KNeighborsRegressor(2, weights="distance").fit(X, [1.0, 3.0])
    assert model.predict([[-1.7e308]]).tolist() == [2.0]


def test_tied_vote_goes_to_the_first_class() -> None:
    model = KNeighborsClassifier(2).fit([[0.0], [1.0]], ["b", "a"])
    assert model.predict([[0.1]]).tolist() == ["a"]


def test_one_row_and_one_class_are_enough() -> None:
    assert KNeighborsClassifier(1).fit([[0.0]], ["only"]).predict([[5.0]]).tolist() == ["only"]
    assert KNeighborsRegressor("sqrt").fit([[0.0]], [7.0]).predict([[5.0]]).tolist() == [7.0]


def test_many_queries_in_pieces_are_predicted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(5, weights="distance").fit(X, y)
    whole, alone = model.predict_proba(X), model.predict(None)
    monkeypatch.setattr("assay.neighbors._index._CHUNK", 64)
    assert np.array_equal(model.predict_proba(X), whole)
    assert np.array_equal(model.predict(None), alone)


def test_parameters_are_read_at_prediction() -> None:
    model = KNeighborsRegressor(1).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 5.0])
    assert model.set_params(n_neighbors=3).predict([[0.0]]).tolist() == [2.0]


def test_grid_search_of_scikit_learn_works() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5], "weights": WEIGHTS[:2]})
    assert search.fit(X, y).best_score_ > 0.9


def test_names_and_text_classes_survive_the_state() -> None:
    frame = pl.DataFrame({"länge": [0.0, 1.0, 9.0], "b": [1.0, 2.0, 3.0]})
    model = KNeighborsClassifier(1).fit(frame, ["é", "é", "z"])
    restored = KNeighborsClassifier.from_state(model.get_params(), model.state())
    assert same(model, restored)
    assert restored.feature_names_in_.tolist() == ["länge", "b"]
    assert restored.predict(frame).tolist() == ["é", "é", "z"]


def test_model_with_a_function_predicts_but_cannot_be_saved() -> None:
    def closeness(distance: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(-distance)

    model = KNeighborsClassifier(1, weights=closeness).fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.9]]).tolist() == [1]
    with pytest.raises(StateError) as caught:
        model.state()
    assert str(caught.value) == (
        "parameter weights is the function closeness: code cannot be saved as data"
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            lambda d: d[:, :1],
            "the function given as weights must return one weight per distance, shape (1, 2); "
            "got shape (1, 1)",
        ),
        (
            lambda d: 0 * d,
            "the function given as weights must return finite numbers >= 0, and not only zeros "
            "for a row",
        ),
        (
            lambda d: -d,
            "the function given as weights must return finite numbers >= 0, and not only zeros "
            "for a row",
        ),
        (
            lambda d: d * np.nan,
            "the function given as weights must return finite numbers >= 0, and not only zeros "
            "for a row",
        ),
    ],
)
def test_senseless_weight_functions_are_refused(weights: Any, message: str) -> None:
    model = KNeighborsRegressor(2, weights=weights).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(DataError) as caught:
        model.predict([[0.5]])
    assert str(caught.value) == message


def test_several_outputs_are_for_the_regressor_only() -> None:
    with pytest.raises(DataError, match="1d array"):
        KNeighborsClassifier(1).fit([[0.0], [1.0]], [[0, 1], [1, 0]])


def test_failed_fit_leaves_no_fitted_model() -> None:
    model = KNeighborsClassifier(3)
    with pytest.raises(ValueError, match="n_samples = 2"):
        model.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="not fitted"):
        model.predict([[0.0]])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("codes_", np.array([0, 2])),
        ("codes_", np.array([-1, 0])),
        ("codes_", np.array([0.0, 1.0])),
        ("codes_", np.array([0])),
    ],
)
def test_damaged_codes_are_refused(name: str, value: Any) -> None:
    model = KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match="codes_"):
        KNeighborsClassifier.from_state(model.get_params(), {**model.state(), name: value})


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((2, 1, 1)), np.array([1.0, np.inf]), 1.0])
def test_damaged_values_are_refused(values: Any) -> None:
    model = KNeighborsRegressor(1).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(DataError, match="values_"):
        KNeighborsRegressor.from_state(model.get_params(), {**model.state(), "values_": values})


@pytest.mark.parametrize(
    ("weights", "kernel"),
    [
        ("gaussian", lambda u: np.exp(-u * u / 2)),
        ("epanechnikov", lambda u: 1 - u * u),
        ("triangular", lambda u: 1 - u),
    ],
)
def test_kernels_take_distances_by_that_of_the_next_neighbour(weights: str, kernel: Any) -> None:
    X, y = [[0.0], [1.0], [3.0], [4.0], [50.0]], np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    model = KNeighborsRegressor(3, weights=weights).fit(X, y)
    w = kernel(np.array([0, 1, 3]) / 4)
    np.testing.assert_allclose(model.predict([[0.0]]), [w @ y[:3] / w.sum()], rtol=1e-12)
    # Every row a neighbour: the last stands for the next.
    model = KNeighborsRegressor(5, weights=weights).fit(X, y)
    w = kernel(np.array([0, 1, 3, 4, 50]) / 50)
    np.testing.assert_allclose(model.predict([[0.0]]), [w @ y / w.sum()], rtol=1e-12)
    # Copies of one row: no weight is left, all are equal.
    model = KNeighborsRegressor(2, weights=weights).fit([[1.0]] * 3, [1.0, 3.0, 8.0])
    assert model.predict([[0.0]]).tolist() == [2.0]
    assert model.predict([[1.0]]).tolist() == [2.0]


def test_balanced_votes_count_by_the_inverse_size_of_their_class() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]])
    y = ["many", "many", "rare", "many", "many", "rare"]
    plain = KNeighborsClassifier(3).fit(X, y)
    fair = KNeighborsClassifier(3, class_weight="balanced").fit(X, y)
    assert plain.predict([[2.0]]).tolist() == ["many"]
    # Two votes of 6/4 each against one of 6/2: both halves.
    np.testing.assert_allclose(fair.predict_proba([[2.0]]), [[0.5, 0.5]])
    given_weights = KNeighborsClassifier(3, class_weight={"rare": 3.0}).fit(X, y)
    np.testing.assert_allclose(given_weights.predict_proba([[2.0]]), [[0.4, 0.6]])
    with pytest.raises(ParameterError) as caught:
        KNeighborsClassifier(3, class_weight={"none": 3.0}).fit(X, y)
    assert str(caught.value) == "class_weight names class 'none', which y does not have"


def test_one_neighbour_is_a_table_of_cases() -> None:
    """G10: an identical case gets the stored answer, the first of equal cases."""
    X = [["a", "x"], ["b", "x"], ["a", "x"]]
    model = KNeighborsClassifier(1, metric="hamming").fit(np.array(X, object), [5, 6, 7])
    assert model.predict(np.array([["b", "x"], ["a", "x"]], object)).tolist() == [6, 5]


def test_first_neighbour_decides_by_voronoi_cells() -> None:
    """G15: with one neighbour the boundary is where two rows of other classes are equally near."""
    sites = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]])
    model = KNeighborsClassifier(1).fit(sites, [0, 1, 2])
    assert model.predict([[1 - 1e-9, 0], [1 + 1e-9, 0], [0, 2 - 1e-9], [0, 2 + 1e-9]]).tolist() == [
        *(0, 1, 0, 2)
    ]


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_algorithms_predict_the_same_bits(algorithm: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    expected = KNeighborsRegressor(7, weights="distance").fit(X[::2], y[::2]).predict(X)
    model = KNeighborsRegressor(7, weights="distance", algorithm=algorithm, leaf_size=5)
    assert np.array_equal(model.fit(X[::2], y[::2]).predict(X), expected)
    assert model.effective_algorithm_ == algorithm
