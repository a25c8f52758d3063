"""`KernelVoteClassifier`: the plain sum over all rows, without its overflows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError, ParameterError, same
from assay.svm import KernelVoteClassifier


def rows(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(20, 2)), rng.permutation(20) % 3, rng.normal(size=(7, 2))


@given(seed=st.integers(0, 1000), kernel=st.sampled_from(["inverse", "rbf"]))
def test_shares_are_sums_over_all_rows(seed: int, kernel: str) -> None:
    X, y, queries = rows(seed)
    model = KernelVoteClassifier(kernel=kernel, gamma=0.7).fit(X, y)
    squared = ((queries[:, None] - X) ** 2).sum(axis=2)
    vote = 1 / squared if kernel == "inverse" else np.exp(-0.7 * squared)
    sums = np.stack([vote[:, y == k].sum(axis=1) for k in range(3)], axis=1)
    expected = sums / sums.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=1e-9)
    assert np.array_equal(model.predict(queries), expected.argmax(axis=1))


@given(seed=st.integers(0, 1000), kernel=st.sampled_from(["inverse", "rbf"]))
def test_two_classes_are_the_sign_of_a_sum(seed: int, kernel: str) -> None:
    X, y, queries = rows(seed)
    y = (y > 0).astype(int)
    sigma: dict[str, Any] = {"sigma": 1.3} if kernel == "rbf" else {}
    model = KernelVoteClassifier(kernel=kernel, **sigma).fit(X, y)
    squared = ((queries[:, None] - X) ** 2).sum(axis=2)
    vote = 1 / squared if kernel == "inverse" else np.exp(-squared / (2 * 1.3**2))
    total = vote @ np.where(y == 1, 1.0, -1.0)
    assert np.array_equal(model.predict(queries), (total > 0).astype(int))


@given(seed=st.integers(0, 1000), kernel=st.sampled_from(["inverse", "rbf"]))
def test_weights_are_repetitions(seed: int, kernel: str) -> None:
    X, y, queries = rows(seed)
    counts = np.arange(20) % 3
    weighted = KernelVoteClassifier(kernel=kernel).fit(X, y, counts)
    kept = KernelVoteClassifier(kernel=kernel).fit(X.repeat(counts, axis=0), y.repeat(counts))
    np.testing.assert_allclose(
        weighted.predict_proba(queries), kept.predict_proba(queries), rtol=1e-9
    )


def test_rows_at_distance_zero_decide_alone() -> None:
    X, y = [[0.0], [0.0], [0.0], [1e-9]], ["a", "a", "b", "c"]
    model = KernelVoteClassifier(kernel="inverse").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[2 / 3, 1 / 3, 0.0]])


def test_row_of_weight_zero_decides_nothing_where_it_stands() -> None:
    model = KernelVoteClassifier(kernel="inverse").fit([[0.0], [1.0]], ["a", "b"], [0.0, 1.0])
    assert model.predict_proba([[0.0]]).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("kernel", ["inverse", "rbf"])
@pytest.mark.parametrize("far", [1e3, 1e100, 1e300])
def test_far_rows_still_have_a_class(kernel: str, far: float) -> None:
    model = KernelVoteClassifier(kernel=kernel, gamma=1.0).fit([[-1.0], [1.0]], [0, 1])
    shares = model.predict_proba([[far], [-far]])
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_small_chunks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, queries = rows(0)
    model = KernelVoteClassifier().fit(X, y)
    whole = model.predict_proba(queries)
    monkeypatch.setattr("assay.svm._kernel_vote._CHUNK", 1)
    assert np.array_equal(model.predict_proba(queries), whole)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": "poly"}, "kernel must be 'inverse' or 'rbf'; got 'poly'"),
        ({"gamma": 0}, "gamma must be a finite number > 0, 'scale' or 'auto'; got 0"),
        (
            {"kernel": "inverse", "sigma": 1.0},
            "sigma is the width of kernel='rbf'; got kernel='inverse'",
        ),
        (
            {"gamma": 1.0, "sigma": 1.0},
            "gamma and sigma say the same thing; give one of them (got gamma=1.0 and sigma=1.0)",
        ),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    X, y, _ = rows(0)
    with pytest.raises(ParameterError) as caught:
        KernelVoteClassifier(**params).fit(X, y)
    assert str(caught.value) == message


def test_damaged_state_is_refused() -> None:
    X, y, _ = rows(0)
    model = KernelVoteClassifier().fit(X, y)
    assert same(KernelVoteClassifier.from_state(model.get_params(), model.state()), model)
    for name, value in {"codes_": model.codes_ + 1, "weight_": 0 * model.weight_}.items():
        with pytest.raises(DataError, match="the model is damaged"):
            KernelVoteClassifier.from_state(model.get_params(), {**model.state(), name: value})
