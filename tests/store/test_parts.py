from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from assay.base import DataError, Estimator
from assay.store import can_save
from assay.store._classes import classes
from assay.store._parts import UnknownClass, pack_part, unpack_part
from assay.store._values import Malformed, Unstorable

from .conftest import FITTED, X


def test_can_save_has_nothing_against_the_examples(fitted: Any) -> None:
    assert can_save(fitted) is None


@pytest.mark.parametrize("estimator", [None, Ridge(), LogisticRegression(C=np.float32(0.5))])
def test_can_save_needs_no_fit(estimator: Any) -> None:
    assert can_save(estimator) is None


class _OtherRidge(Ridge):
    pass


@pytest.mark.parametrize(
    ("estimator", "hint"),
    [
        (RandomForestClassifier(), "; assay.ensemble.RandomForestClassifier can be held"),
        (make_pipeline(Ridge()), ""),
        (_OtherRidge(), ""),
        ("text", ""),
    ],
)
def test_can_save_names_what_a_file_holds(estimator: Any, hint: str) -> None:
    assert can_save(estimator) == (
        f"a model file cannot hold {type(estimator).__name__}, only models whose state is plain "
        "arrays: those of Assay and, of scikit-learn's, DummyClassifier, DummyRegressor, "
        "ElasticNet, GaussianNB, Lasso, LinearDiscriminantAnalysis, LinearRegression, "
        f"LogisticRegression, Ridge{hint}"
    )


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (
            LogisticRegression(random_state=np.random.RandomState(0)),
            "a model file cannot hold this LogisticRegression: its parameter random_state is an "
            "object of type RandomState, and a model file holds only numbers, text and arrays",
        ),
        (
            Ridge(alpha=np.ones(2, dtype=complex)),
            "a model file cannot hold this Ridge: its parameter alpha is a NumPy array of type "
            "complex128, and a model file holds only numbers, text and arrays",
        ),
        (
            Ridge(solver=len),
            "a model file cannot hold this Ridge: its parameter solver is the function len, "
            "and a model file holds only numbers, text and arrays",
        ),
        (
            ElasticNet(precompute=SVC()),
            "a model file cannot hold this ElasticNet: its parameter precompute is a SVC, and "
            "a model file holds no models of that class",
        ),
        (
            DummyClassifier().fit(X, np.zeros((len(X), 2), dtype=int)),
            "a model file cannot hold this DummyClassifier: classes_ is not a list of labels "
            "(a model file holds one target)",
        ),
        (
            DummyClassifier().fit(X, np.array([0, 1] * 30, dtype="M8[s]")),
            "a model file cannot hold this DummyClassifier: classes_ holds something other "
            "than labels",
        ),
    ],
)
def test_can_save_gives_the_reason(estimator: Any, why: str) -> None:
    assert can_save(estimator) == why


def test_only_changed_parameters_of_scikit_learn_are_written() -> None:
    assert pack_part(FITTED["ridge"]()).entry["params"] == {"alpha": 0.3}
    assert pack_part(FITTED["logistic-three"]()).entry["params"] == {}


def test_number_of_threads_is_no_part_of_a_model() -> None:
    model = FITTED["linear"]()
    assert pack_part(model).entry == pack_part(model.set_params(n_jobs=2)).entry


def test_unfitted_estimator_is_refused() -> None:
    with pytest.raises(Unstorable, match=r"^Ridge is not fitted; call fit first$"):
        pack_part(Ridge())


def _unpacked(change: Any) -> Any:
    part = pack_part(FITTED["ridge"]())
    change(part.entry, part.arrays)
    return unpack_part(part.entry, part.arrays)


def test_unpack_part_runs_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    part = pack_part(FITTED["ridge"]())
    monkeypatch.delattr(Ridge, "fit")
    assert unpack_part(part.entry, part.arrays).alpha == 0.3


@pytest.mark.parametrize(
    ("change", "error", "why"),
    [
        (lambda e, _: e["state"].update(x_={"value": 1}), DataError, "x_ is not an attribute of"),
        (lambda e, _: e.update({"class": 99}), UnknownClass, "99"),
        (lambda e, _: e.update({"class": "Ridge"}), Malformed, "a part has an unknown form"),
        (lambda e, _: e.update({"class": -1}), UnknownClass, "-1"),
        (lambda e, _: e.update(more=1), Malformed, "a part has an unknown form"),
        (lambda e, _: e.pop("params"), Malformed, "a part has an unknown form"),
        (lambda e, _: e.update(params=[]), Malformed, "a part has an unknown form"),
        (lambda e, _: e["params"].update(x=1), DataError, "x is not a parameter of Ridge"),
        (lambda e, _: e["params"].update(n_jobs=1), DataError, "n_jobs is not a parameter"),
        (lambda e, _: e["state"].pop("coef_"), Malformed, "array 'coef_' belongs to nothing"),
        (lambda _, a: a.pop("coef_"), Malformed, "an attribute has an unknown form"),
    ],
)  # fmt: skip
def test_unpack_part_refuses_other_entries(change: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error) as caught:
        _unpacked(change)
    assert str(caught.value).startswith(why)


class _Native(Estimator):
    model_id: ClassVar[int | None] = 999_999

    def __init__(self, *, level: float = 1.0, n_jobs: int | None = None) -> None:
        self.level = level
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> _Native:
        self._fit_rows(X)
        self.means_ = np.asarray(X).mean(axis=0)
        self.names_ = np.array(["a", "bc"])
        self.count_ = len(X)
        return self

    def predict(self, X: Any) -> Any:
        return self._predict_data(X) @ self.means_ * self.level


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> _Native:
    monkeypatch.setitem(classes(), 999_999, _Native)
    return _Native(level=np.inf).fit(X)


def test_native_estimator_comes_back_the_same(native: _Native) -> None:
    part = pack_part(native)
    assert part.entry["params"] == {"level": {"float": "inf"}}
    again = unpack_part(part.entry, part.arrays)
    assert again.digest() == native.digest()
    assert again.predict(X).tolist() == native.predict(X).tolist()


@pytest.mark.parametrize("name", ["predict", "fit", "__class__", "_x", "a b", "model_id"])
def test_native_attribute_cannot_replace_anything_of_the_class(native: _Native, name: str) -> None:
    part = pack_part(native)
    part.entry["state"][name] = {"value": 1}
    with pytest.raises(DataError, match="is not an attribute of _Native"):
        unpack_part(part.entry, part.arrays)


def test_native_estimator_with_code_inside_is_refused(native: _Native) -> None:
    native.means_ = len
    assert can_save(native) == (
        "a model file cannot hold this _Native: "
        "means_ is a builtin_function_or_method, not an array or a plain value"
    )
