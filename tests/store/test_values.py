from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from assay.store._frame import DTYPES, canonical
from assay.store._values import TEXT_LIMIT, Malformed, Unstorable, decode, encode, pack, unpack

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(
            st.text() | st.integers() | st.tuples(st.text(), st.integers()), inner, max_size=4
        )
    ),
    max_leaves=10,
)


def _identical(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)  # tells 0.0 from -0.0, and NaN is NaN
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_identical, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_identical(a[key], b[key]) for key in a)
    return bool(a == b)


@given(values)
def test_decode_is_the_reverse_of_encode(value: Any) -> None:
    assert _identical(decode(json.loads(canonical(encode(value)))), value)


def test_encode_keeps_arrays() -> None:
    array = np.array([[0.1, np.inf], [np.nan, -0.0]], dtype=np.float32)
    found = decode(json.loads(canonical(encode(array))))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("value", [np.float64(0.1), np.int32(3), np.bool_(True), np.str_("a")])
def test_encode_takes_numpy_scalars_as_plain_values(value: Any) -> None:
    assert _identical(encode(value), value.item())


@given(
    st.sampled_from(sorted(DTYPES.values(), key=str)).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
    ),
    st.sampled_from("CF"),
    st.booleans(),
)
def test_unpack_is_the_reverse_of_pack(array: Any, order: Any, big: bool) -> None:
    given_array = np.asarray(array, order=order)
    if big:
        given_array = given_array.astype(array.dtype.newbyteorder(">"))
    entry, stored = pack(given_array)
    found = unpack(json.loads(canonical(entry)), stored)
    assert stored is not None
    assert stored.flags.c_contiguous
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    assert found.flags.c_contiguous == given_array.flags.c_contiguous
    assert found.flags.f_contiguous == given_array.flags.f_contiguous


def test_pack_makes_a_slice_compact_in_its_own_order() -> None:
    wide = np.arange(24.0).reshape(4, 6)
    for piece in (wide[:, :4], wide.T[:4], wide[::-1], wide[::2, ::3]):
        entry, stored = pack(piece)
        np.testing.assert_array_equal(unpack(entry, stored), piece)
    assert pack(wide[:, :4])[0] == "array"
    assert pack(wide.T[:4])[0] == "transposed"


@pytest.mark.parametrize("dtype", [np.str_, object])
def test_text_comes_back_with_its_type(dtype: type) -> None:
    array: Any = np.array(["a", "höher", "", "日本"], dtype=dtype)
    entry, stored = pack(array)
    assert stored is None
    found = unpack(json.loads(canonical(entry)), None)
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()


def test_numpy_scalar_comes_back_as_numpy_scalar() -> None:
    found = unpack(*pack(np.float32(0.1)))
    assert type(found) is np.float32
    assert found == np.float32(0.1)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (len, "is the function len"),
        (np.zeros(3, dtype=complex), "is a NumPy array of type complex128"),
        (1j, "is an object of type complex"),
    ],
)
def test_encode_says_what_it_cannot_hold(value: Any, why: str) -> None:
    with pytest.raises(Unstorable) as caught:
        encode(value)
    assert str(caught.value) == f"{why}, and a model file holds only numbers, text and arrays"


def test_estimator_comes_back_as_a_template() -> None:
    value = [("a", Ridge(alpha=2.0)), ("b", LogisticRegression(n_jobs=2))]
    found = decode(json.loads(canonical(encode(value))))
    assert repr(found) == repr([("a", Ridge(alpha=2.0)), ("b", LogisticRegression())])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (SVC(), "is a SVC, and a model file holds no models of that class"),
        (
            Ridge(solver=len),
            "is a Ridge whose solver is the function len, and a model file holds only numbers, "
            "text and arrays",
        ),
    ],
)
def test_encode_says_which_estimator_it_cannot_hold(value: Any, why: str) -> None:
    with pytest.raises(Unstorable) as caught:
        encode(value)
    assert str(caught.value) == why


def _tower(height: int) -> Ridge:
    return Ridge() if height == 0 else Ridge(solver=_tower(height - 1))


def test_templates_are_limited_in_depth() -> None:
    entry = encode(_tower(7))
    assert repr(decode(entry)) == repr(_tower(7))
    with pytest.raises(Unstorable, match=r"has models nested more than 8 deep$"):
        encode(_tower(8))
    deeper = {"estimator": {"class": 2, "params": {"solver": entry}}}
    with pytest.raises(Malformed, match="a nested model has an unknown form"):
        decode(deeper)


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.zeros(2, dtype=complex), "is an array of type complex128, which a model file does"),
        (np.zeros(2, dtype="M8[s]"), "is an array of type datetime64[s], which a model file does"),
        (np.array([b"a"]), "is an array of type |S1, which a model file does not hold"),
        (np.array([1, "a"], dtype=object), "is an array of Python objects, and a model file holds"),
        (np.array([["a"]]), "is an array of Python objects, and a model file holds"),
        (np.array(["x" * TEXT_LIMIT, ""], dtype=object), "is an array of strings with more than"),
    ],
)
def test_pack_says_what_it_cannot_hold(array: Any, why: str) -> None:
    with pytest.raises(Unstorable) as caught:
        pack(array)
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize(
    "entry",
    [{}, {"float": "1"}, {"float": 1}, {"tuple": 1}, {"dict": [1]}, {"dict": [[[], 1]]},
     {"dict": [["a"]]}, {"tuple": [], "more": 1}, {"a": 1}, {"F64": [[1], [1, 2]]}, {"U8": [256]},
     {"I64": ["x"]}, {"F64": [None, {}]}, {"estimator": 2}, {"estimator": {"class": 2}},
     {"estimator": {"class": "Ridge", "params": {}}}, {"estimator": {"class": 2, "params": []}},
     {"estimator": {"class": 2, "params": {}, "state": {}}}],
)  # fmt: skip
def test_decode_refuses_what_encode_does_not_write(entry: Any) -> None:
    with pytest.raises(Malformed):
        decode(entry)


@pytest.mark.parametrize(
    ("entry", "array"),
    [
        ("array", None),
        ("transposed", None),
        ("scalar", None),
        ("scalar", np.zeros(1)),
        ({"value": 1}, np.zeros(1)),
        ({"text": ["a"]}, np.zeros(1)),
        ({"text": [1]}, None),
        ({"text": "a"}, None),
        ({"text": ["x" * TEXT_LIMIT, ""]}, None),
        ({"objects": [None]}, None),
        ({}, None),
        ("pickle", np.zeros(1)),
    ],
)
def test_unpack_refuses_what_pack_does_not_write(entry: Any, array: Any) -> None:
    with pytest.raises(Malformed):
        unpack(entry, array)
