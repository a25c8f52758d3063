"""Models inside models in a model file: one flat table of arrays, every class from the table."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.svm import SVR

from assay.base import DataError, same
from assay.neighbors import KNeighborsRegressor
from assay.store import can_save, digest, load, save
from assay.store._classes import classes
from tests.base.estimators import Halves

from .conftest import QUERIES, Opened, X
from .mutate import outcome_of, variant

Y = X[:, 0] - 2 * X[:, 1]


class _Halves(Halves):
    model_id: ClassVar[int | None] = 999_998


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(classes(), 999_998, _Halves)


def _model(estimator: Any = None, **params: Any) -> _Halves:
    return _Halves(KNeighborsRegressor(3) if estimator is None else estimator, **params).fit(X, Y)


@pytest.mark.parametrize(
    "estimator", [Ridge(alpha=2.0), KNeighborsRegressor(3), _Halves(_Halves(Ridge()), over=Ridge())]
)
def test_models_inside_come_back(estimator: Any, tmp_path: Path) -> None:
    model = _model(estimator, over=Ridge())
    assert can_save(model) is None
    saved = save(tmp_path / "m.assay", {}, {"model": model})
    again = load(tmp_path / "m.assay")[1]["model"]
    assert same(model, again)
    assert again.predict(QUERIES).tolist() == model.predict(QUERIES).tolist()
    assert repr(again.estimator) == repr(estimator)
    assert digest({}, {"model": again}) == saved


def test_arrays_stand_in_one_flat_table(tmp_path: Path) -> None:
    inner = _Halves(Ridge(fit_intercept=False))
    save(tmp_path / "m.assay", {}, {"model": _model(inner, over=LinearRegression())})
    assert sorted(load_file(tmp_path / "m.assay")) == [
        "model/estimators_/0/estimators_/0/coef_",
        "model/estimators_/0/estimators_/1/coef_",
        "model/estimators_/1/estimators_/0/coef_",
        "model/estimators_/1/estimators_/1/coef_",
        "model/over_/coef_",
        "model/over_/intercept_",
    ]


def test_unfitted_model_inside_comes_back_unfitted(tmp_path: Path) -> None:
    model = _model()
    model.template_ = Ridge(alpha=3.0)
    save(tmp_path / "m.assay", {}, {"model": model})
    again = load(tmp_path / "m.assay")[1]["model"]
    assert repr(again.template_) == repr(Ridge(alpha=3.0))
    assert not hasattr(again.template_, "coef_")


def test_lowest_format_that_holds_the_content_is_written(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    for model, number in ((Ridge().fit(X, Y), 1), (_model(), 2)):
        save(path, {}, {"model": model})
        assert Opened(path).content["format"] == number
        opened = Opened(path)
        opened.content["format"] = 3 - number
        with pytest.raises(DataError, match="its format number does not fit its parts"):
            load(opened.write(path))


def test_digest_of_a_single_model_is_pinned() -> None:
    # A change of these digits says that files of format 1 have other bytes than before.
    line = LinearRegression()
    line.n_features_in_, line.coef_, line.intercept_ = 2, np.array([1.5, -2.0]), 0.25
    assert digest({"about": "a line"}, {"model": line, "encoder": None}) == (
        "7ef5ae938047fcbbdd476f478c4c304c3f9a4466c5d0a6514069d3915f036e74"
    )


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (
            lambda: _Halves(SVR()),
            "its parameter estimator is a SVR, and a model file holds no models of that class",
        ),
        (
            lambda: _Halves(KNeighborsRegressor(weights=len)),  # type: ignore[arg-type]
            "its parameter estimator is a KNeighborsRegressor whose weights is the function len, "
            "and a model file holds only numbers, text and arrays",
        ),
        (
            lambda: _model(SVR()).set_params(estimator=None),
            "estimators_[0] is a SVR, a class whose state is not known to be plain arrays",
        ),
        (
            lambda: _model(Halves(Ridge())).set_params(estimator=None),
            "its attribute estimators_ cannot be written: a model file cannot hold Halves, only "
            "models whose state is plain arrays: those of Assay and, of scikit-learn's, ",
        ),
    ],
)
def test_can_save_names_the_model_inside(model: Any, why: str) -> None:
    said = can_save(model())
    assert said is not None
    assert said.partition("DummyClassifier")[0] == f"a model file cannot hold this _Halves: {why}"


CHANGES: list[tuple[Any, str]] = [
    (lambda s, _: s["estimators_"].pop("estimators"), "array '0/coef_' belongs to nothing"),
    (lambda s, _: s["estimators_"]["estimators"].pop(), "array '1' belongs to nothing"),
    (lambda s, _: s["estimators_"]["estimators"].append(3), "a part has an unknown form"),
    (lambda _, a: a.pop("model/estimators_/1/coef_"), "an attribute has an unknown form"),
    (lambda _, a: a.update({"model/estimators_/2/coef_": np.ones(4)}), "'2' belongs to nothing"),
    (lambda _, a: a.update({"model/estimators_/": np.ones(4)}), "belongs to nothing"),
    (lambda _, a: a.update({"model/estimators_": np.ones(4)}), "array '' belongs to nothing"),
    (lambda _, a: a.update({"model/over_/coef_": np.ones(4)}), "array 'over_' belongs to nothing"),
    (lambda _, a: a["model/estimators_/0/coef_"].fill(np.nan), "coef_ has values that are not fi"),
    (
        lambda s, _: s["estimators_"]["estimators"][0].pop("state"),
        "a part has an unknown form",
    ),
    (
        lambda s, _: s.update(estimators_=s["estimators_"]["estimators"][0]),
        "array '0/coef_' belongs to nothing",
    ),
]


@pytest.mark.parametrize(("change", "why"), CHANGES)
def test_changed_structure_is_refused(change: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    save(path, {}, {"model": _model(Ridge())})
    opened = Opened(path)
    change(opened.content["parts"]["model"]["state"], opened.arrays)
    opened.content["format"] = 2
    with pytest.raises(DataError, match="damaged model file") as caught:
        load(opened.write(path))
    assert why in str(caught.value)


def test_unknown_class_inside_asks_to_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    save(path, {}, {"model": _model(Ridge())})
    opened = Opened(path)
    opened.content["parts"]["model"]["state"]["estimators_"]["estimators"][1]["class"] = 98
    with pytest.raises(DataError, match="holds a model of class id 98, which this version"):
        load(opened.write(path))
    save(path, {}, {"model": _model(Ridge())})
    opened = Opened(path)
    opened.content["parts"]["model"]["params"]["estimator"]["estimator"]["class"] = 97
    with pytest.raises(DataError, match="holds a model of class id 97, which this version"):
        load(opened.write(path))


def test_what_can_be_saved_can_be_loaded_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    estimator: Any = Ridge()
    for depth in range(1, 12):
        estimator = _Halves(estimator)
        model = _Halves(Ridge()).fit(X, Y).set_params(estimator=estimator)
        for _ in range(depth):
            outer = _Halves(Ridge()).fit(X, Y)
            outer.over_ = model
            model = outer
        if can_save(model) is None:
            save(path, {}, {"model": model})
            assert same(load(path)[1]["model"], model)
        else:
            assert "more than 8 deep" in str(can_save(model))
            assert depth > 3
            return
    raise AssertionError("no depth is too deep")


@pytest.mark.parametrize(("depth", "refused"), [(7, False), (8, True)])
def test_file_with_models_too_deep_is_refused(depth: int, refused: bool, tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    save(path, {}, {"model": _model(Ridge())})
    opened = Opened(path)
    whole = opened.content["parts"]["model"]
    arrays = dict(opened.arrays)
    for _ in range(depth):
        outer = deepcopy(opened.content["parts"]["model"])
        outer["state"]["over_"] = {"estimator": whole}
        whole = outer
        below = {name.replace("model/", "model/over_/", 1): a for name, a in arrays.items()}
        arrays = {**opened.arrays, **below}
    opened.content["parts"]["model"], opened.arrays = whole, arrays
    opened.write(path)
    if refused:
        with pytest.raises(DataError, match="a nested model has an unknown form"):
            load(path)
    else:
        assert load(path)[1]["model"].over_.over_.over_.predict(X[:1]).shape == (1,)


def test_kind_of_the_final_model_is_checked_by_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    model = _model(Ridge())
    model.estimators_[1] = LogisticRegression().fit(X[:, :2], Y > 0)
    save(path, {}, {"model": model})
    with pytest.raises(DataError, match=r"estimators_\[1\] has 2 columns, not 4"):
        load(path)


@pytest.mark.parametrize("seed", range(60))
def test_changed_files_are_refused_or_predict(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    save(path, {}, {"model": _model(Ridge(), over=KNeighborsRegressor(2))})
    variant(path, seed)
    assert outcome_of(path) in {"refused", "predicts"}
