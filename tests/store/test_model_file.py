from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, Ridge

from assay.base import DataError
from assay.store import FORMAT, digest, inspect, load, save
from assay.store._frame import HEADER_LIMIT

from .conftest import FITTED, QUERIES, Opened, X

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(manifest=st.dictionaries(st.text(), json_values, max_size=4))
def test_manifest_comes_back_as_it_was(manifest: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    saved = save(path, manifest, {})
    assert load(path) == (manifest, {})
    assert inspect(path) == manifest
    assert digest(manifest, {}) == saved


def test_several_parts_come_back_under_their_names(tmp_path: Path) -> None:
    parts = {"encoder": None, "model": FITTED["ridge"](), "other": FITTED["lda-words"]()}
    save(tmp_path / "m.assay", {}, parts)
    again = load(tmp_path / "m.assay")[1]
    assert list(again) == ["encoder", "model", "other"]
    assert again["encoder"] is None
    for name in ("model", "other"):
        expected = parts[name].predict(QUERIES).tolist()
        assert again[name].predict(QUERIES).tolist() == expected


def test_saving_a_loaded_model_gives_the_same_bytes(fitted: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "1.assay", tmp_path / "2.assay"
    saved = save(first, {"a": 1}, {"model": fitted})
    manifest, parts = load(first)
    assert save(second, manifest, parts) == saved
    assert first.read_bytes() == second.read_bytes()


def test_safetensors_library_reads_the_arrays_of_a_model_file(tmp_path: Path) -> None:
    model = FITTED["ridge-several"]()
    model.coef_ = np.asfortranarray(model.coef_)  # as some versions of scikit-learn have it
    save(tmp_path / "m.assay", {}, {"model": model})
    arrays = load_file(tmp_path / "m.assay")
    # Fortran order is kept by storing the transpose.
    np.testing.assert_array_equal(arrays["model/coef_"].T, model.coef_)
    np.testing.assert_array_equal(arrays["model/intercept_"], model.intercept_)


_PROGRAM = """
import sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from assay.store import save
X = np.random.default_rng(0).normal(size=(40, 3))
y = np.array(["no", "maybe", "yes"])[np.arange(40) % 3]
manifest = {name: {"z": 1, "a": [2.5, None]} for name in {"one", "two", "three", "four"}}
print(save(sys.argv[1], manifest, {"model": LogisticRegression().fit(X, y), "encoder": None}))
"""


def test_bytes_are_the_same_in_every_process(tmp_path: Path) -> None:
    seen = set()
    for seed in ("1", "77"):
        path = tmp_path / f"{seed}.assay"
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add((done.stdout, path.read_bytes()))
    assert len(seen) == 1


def test_digest_changes_with_anything_in_the_file() -> None:
    model = FITTED["ridge"]()
    digests = {
        digest({}, {"model": model}),
        digest({"a": 1}, {"model": model}),
        digest({}, {"other": model}),
        digest({}, {"model": model, "more": None}),
        digest({}, {"model": FITTED["ridge-several"]()}),
        digest({}, {"model": Ridge(alpha=0.3, tol=1e-5).fit(X, X[:, 0])}),
    }
    assert len(digests) == 6
    assert all(len(text) == 64 for text in digests)


def test_inspect_does_not_read_the_arrays(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    save(path, {"a": 1}, {"model": FITTED["ridge"]()})
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert inspect(path) == {"a": 1}
    with pytest.raises(DataError, match="its SHA-256 does not fit its arrays"):
        load(path)


def test_loaded_arrays_can_be_written_to(small: Path) -> None:
    model = load(small)[1]["model"]
    model.coef_[0, 0] = 0.0
    assert model.coef_.flags.aligned


def test_wide_model_is_read_without_a_second_copy(tmp_path: Path) -> None:
    model = LinearRegression()
    model.n_features_in_, model.coef_, model.intercept_ = 10**6, np.ones(10**6), 0.0
    save(tmp_path / "m.assay", {}, {"model": model})
    again = load(tmp_path / "m.assay")[1]["model"]
    assert again.coef_.base is not None
    assert again.coef_.sum() == 10**6


def test_newer_format_asks_to_upgrade(small: Path) -> None:
    opened = Opened(small)
    opened.content["format"] = FORMAT + 1
    opened.content["unheard_of"] = True
    opened.write(small)
    for read in (load, inspect):
        with pytest.raises(DataError) as caught:
            read(small)
        assert str(caught.value) == (
            f"{small}: model file of format 3, and this version of Assay reads formats up to 2; "
            f"upgrade Assay"
        )


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "1", None])
def test_format_number_must_be_one(small: Path, number: Any) -> None:
    opened = Opened(small)
    opened.content["format"] = number
    with pytest.raises(DataError, match=r"small\.assay: damaged model file: its format number is"):
        load(opened.write(small))


def test_class_of_a_newer_version_asks_to_upgrade(small: Path) -> None:
    opened = Opened(small)
    opened.content["parts"]["model"]["class"] = 98
    with pytest.raises(DataError) as caught:
        load(opened.write(small))
    assert str(caught.value) == (
        f"{small}: holds a model of class id 98, which this version of Assay does not know; "
        f"upgrade Assay, or fit the model again"
    )


def test_error_names_file_part_and_attribute(small: Path) -> None:
    opened = Opened(small)
    opened.arrays["model/coef_"][0, 0] = np.nan
    with pytest.raises(DataError) as caught:
        load(opened.write(small))
    assert str(caught.value) == (
        f"{small}: damaged model file: in its part model, coef_ has values that are not finite; "
        f"restore it from a copy, or fit the model again"
    )


def test_model_that_no_file_can_hold_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^cannot save the model: a model file cannot hold Ran"):
        save(tmp_path / "m.assay", {}, {"model": RandomForestClassifier()})
    with pytest.raises(DataError, match=r"^cannot save the model: Ridge is not fitted; call fit"):
        save(tmp_path / "m.assay", {}, {"model": Ridge()})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("manifest", "where"),
    [
        ({"a": {"b": [1, float("nan")]}}, r"manifest\['a'\]\['b'\]\[1\] must be plain JSON"),
        ({"a": np.int64(1)}, r"manifest\['a'\] must be plain JSON"),
        ({1: 2}, "manifest must be plain JSON"),
        ({"a": {1, 2}}, r"manifest\['a'\] must be plain JSON"),
    ],
)
def test_manifest_must_be_plain_json(manifest: Any, where: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=where):
        save(tmp_path / "m.assay", manifest, {})


@pytest.mark.parametrize("name", ["", "Model", "a/b", "../x", "1", "a" * 33])
def test_part_names_are_words(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a part's name must be a word in lower case"):
        save(tmp_path / "m.assay", {}, {name: None})


def test_record_longer_than_a_header_is_refused_on_saving(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fit again with fewer columns"):
        save(tmp_path / "m.assay", {"a": "x" * HEADER_LIMIT}, {})
    assert list(tmp_path.iterdir()) == []
