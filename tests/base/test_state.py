"""State, digest and equality: a model is arrays and plain values, and nothing hides in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assay.base import DataError, StateError, same
from tests.base.estimators import Mean, Means

FRAME = pd.DataFrame({"a": [0.0, 1.0, 9.0], "größe": [1.0, 2.0, 3.0]})
LABELS = np.array(["x", "x", "yy"], dtype=object)


def model(**params: Any) -> Means:
    return Means(**params).fit(FRAME, LABELS)


def test_state_has_text_as_unicode_arrays() -> None:
    state = model().state()
    assert list(state) == ["classes_", "feature_names_in_", "means_", "n_features_in_"]
    assert state["classes_"].dtype == "<U2"  # type: ignore[union-attr]
    assert state["feature_names_in_"].tolist() == ["a", "größe"]  # type: ignore[union-attr]
    assert state["feature_names_in_"].dtype.kind == "U"  # type: ignore[union-attr]
    assert type(state["n_features_in_"]) is int


@pytest.mark.parametrize(
    "value", [np.float64(1.5), np.int32(2), np.bool_(True), np.str_("a"), None]
)
def test_state_has_plain_values_for_those_of_numpy(value: Any) -> None:
    fitted = Mean().fit([[0.0]], [0.0])
    fitted.mean_ = value
    got = fitted.state()["mean_"]
    assert got == value
    assert type(got) in (float, int, bool, str, type(None))


def test_restored_model_is_the_same_and_checks_names() -> None:
    fitted = model(scale=2.0)
    restored = Means.from_state(fitted.get_params(), fitted.state())
    assert same(fitted, restored)
    assert restored.scale == 2.0
    assert restored.feature_names_in_.dtype == object
    assert restored.predict(FRAME).tolist() == fitted.predict(FRAME).tolist()
    with pytest.raises(DataError, match="feature names should match"):
        restored.predict(FRAME.rename(columns={"a": "b"}))


def test_digest_ignores_how_and_sees_what() -> None:
    fitted = model()
    assert fitted.digest() == model(n_jobs=2).digest()
    assert fitted.digest() != model(scale=2.0).digest()
    assert fitted.digest() != Means().fit(FRAME + 1, LABELS).digest()
    assert fitted.digest() != Means().fit(FRAME.to_numpy(), LABELS).digest()
    assert not same(fitted, Mean().fit(FRAME, [1.0, 2.0, 3.0]))


def test_digest_does_not_see_width_or_memory_order() -> None:
    one, two = model(), model()
    two.classes_ = two.classes_.astype("<U9")
    two.means_ = np.asfortranarray(two.means_)
    assert one.digest() == two.digest()
    two.means_ = two.means_.astype(np.float32)
    assert one.digest() != two.digest()


def test_digest_is_pinned() -> None:
    # A change of these digits orphans every digest that users have written down.
    fitted = Mean().fit([[0.0], [1.0]], [1.0, 2.0])
    assert fitted.digest() == "d2023507e9bd1f8741ddd6853bcc5971b8036a1c284426c923c979cc5acc1b11"


@given(
    arrays.arrays(np.float64, st.integers(0, 3), elements=st.floats(allow_nan=True)),
    arrays.arrays(np.float64, st.integers(0, 3), elements=st.floats(allow_nan=True)),
)
def test_digest_is_equal_exactly_when_the_bytes_are(a: Any, b: Any) -> None:
    one, two = Mean().fit([[0.0]], [0.0]), Mean().fit([[0.0]], [0.0])
    one.mean_, two.mean_ = a, b
    assert same(one, two) == (a.tobytes() == b.tobytes())


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (["ab"], ["a", "b"]),
        ([1], [1.0]),
        ([True], [1]),
        ([None], ["None"]),
        ([[1], [2]], [[1, 2], []]),
        ({"a": 1}, {"a": 2}),
        (np.array(["a"]), ["a"]),
    ],
)
def test_digest_keeps_like_looking_parameters_apart(one: Any, two: Any) -> None:
    assert model(scale=one).digest() != model(scale=two).digest()


def test_functions_cannot_be_saved() -> None:
    with pytest.raises(StateError) as caught:
        model(scale=len).state()
    assert str(caught.value) == "parameter scale is the function len: code cannot be saved as data"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([1, 2], "means_ is a list, not an array or a plain value"),
        (np.array([object()]), "means_ is an array of object, not of numbers, booleans or text"),
        (np.array([1j]), "means_ is an array of complex128, not of numbers, booleans or text"),
    ],
)
def test_attributes_that_are_no_data_are_named(value: Any, reason: str) -> None:
    fitted = model()
    fitted.means_ = value
    with pytest.raises(StateError) as caught:
        fitted.state()
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("n_features_in_", 0, "n_features_in_"),
        ("n_features_in_", True, "n_features_in_"),
        ("n_features_in_", "2", "n_features_in_"),
        ("n_features_in_", 3, "shape"),
        ("feature_names_in_", np.array(["a"]), "shape"),
        ("feature_names_in_", np.array([1.0, 2.0]), "wrong type"),
        ("classes_", np.array(["y", "x"]), "not ascending"),
        ("classes_", np.array(["x", "x"]), "not ascending"),
        ("classes_", np.array([], dtype="<U1"), "empty"),
        ("means_", np.full((2, 2), np.nan), "not finite"),
        ("means_", np.zeros((2, 2), dtype=np.int64), "wrong type"),
        ("means_", [[1.0, 2.0], [3.0, 4.0]], "means_ is a list"),
        ("__class__", "x", "not a fitted attribute"),
        ("_hidden_", 1, "not a fitted attribute"),
        ("fit", 1, "not a fitted attribute"),
    ],
)
def test_damaged_states_are_refused(name: str, value: Any, words: str) -> None:
    fitted = model()
    with pytest.raises(DataError, match=words):
        Means.from_state(fitted.get_params(), {**fitted.state(), name: value})


def test_unknown_parameters_are_refused() -> None:
    fitted = model()
    with pytest.raises(DataError, match=r"^Means has no parameter 'scal'; did you mean 'scale'\?$"):
        Means.from_state({"scal": 1.0}, fitted.state())
