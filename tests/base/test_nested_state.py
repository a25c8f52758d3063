"""Models inside models: their state is part of the state, and nothing hides in them either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVR

from assay.base import DataError, StateError, same
from assay.base.stored import Models, check_stored, declared
from tests.base.estimators import Halves, Mean

X = np.arange(40.0).reshape(20, 2) ** 2
Y = np.cos(np.arange(20.0)) * 4


def model(estimator: Any = None, **params: Any) -> Halves:
    return Halves(estimator, **params).fit(X, Y)


def test_state_holds_the_models_inside() -> None:
    fitted = model(Mean(), over=Ridge())
    state = fitted.state()
    assert list(state) == ["estimators_", "n_features_in_", "over_"]
    assert state["estimators_"] == fitted.estimators_
    assert state["over_"] is fitted.over_


@pytest.mark.parametrize("estimator", [Mean(), Ridge(), Halves(Ridge()), Halves(Halves(Mean()))])
def test_restored_model_is_the_same(estimator: Any) -> None:
    fitted = model(estimator, over=Ridge())
    restored = Halves.from_state(fitted.get_params(deep=False), fitted.state())
    assert same(fitted, restored)
    assert restored.predict(X).tolist() == fitted.predict(X).tolist()


def test_digest_sees_what_models_inside_have_learned() -> None:
    digests = {
        model(Mean()).digest(),
        model(Ridge()).digest(),
        model(Ridge(alpha=2.0)).digest(),
        model(Mean(), over=Ridge()).digest(),
        model(Halves(Mean())).digest(),
        Halves(Mean()).fit(X, Y + 1).digest(),
    }
    assert len(digests) == 6
    one, two = model(), model()
    two.estimators_ = two.estimators_[::-1]
    assert one.digest() != two.digest()


def test_digest_does_not_see_how_models_inside_were_computed() -> None:
    X_, y_ = X / 1000, Y > 2
    one = model(over=Ridge())
    one.over_ = LogisticRegression(C=2.0).fit(X_, y_)
    two = model(over=Ridge())
    two.over_ = LogisticRegression(C=2.0).fit(X_, y_).set_params(verbose=1)
    two.over_.n_iter_ = two.over_.n_iter_ + 1  # not read by predict, so not held by a model file
    assert one.digest() == two.digest()


def test_unfitted_model_inside_is_its_parameters() -> None:
    one, two = model(), model()
    one.template_, two.template_ = Ridge(alpha=1.0), Ridge(alpha=2.0)
    assert not same(one, two)
    two.template_ = Ridge(alpha=1.0)
    assert same(one, two)


class Other(Ridge):
    pass


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            [SVR().fit(X, Y)],
            "part_[0] is a SVR, a class whose state is not known to be plain arrays",
        ),
        (
            Other().fit(X, Y),
            "part_ is a Other, a class whose state is not known to be plain arrays",
        ),
        ([Ridge(), 3], "part_ is a list, not an array or a plain value"),
        ([], "part_ is a list, not an array or a plain value"),
        ((Ridge(),), "part_ is a tuple, not an array or a plain value"),
        (
            Ridge(solver=len),
            "parameter solver is the function len: code cannot be saved as data",
        ),
    ],
)
def test_models_that_are_no_data_are_named(value: Any, reason: str) -> None:
    fitted = model()
    fitted.part_ = value
    with pytest.raises(StateError) as caught:
        fitted.state()
    assert str(caught.value) == reason


def test_damage_inside_is_named_by_its_place() -> None:
    fitted = model()
    fitted.estimators_[1].mean_ = [1.0]
    with pytest.raises(StateError) as caught:
        fitted.state()
    assert str(caught.value) == (
        "estimators_[1] is a Mean, where mean_ is a list, not an array or a plain value"
    )


def test_functions_in_parameters_of_models_inside_are_named() -> None:
    fitted = model().set_params(estimator=Ridge(solver=len))
    with pytest.raises(StateError) as caught:
        fitted.state()
    assert str(caught.value) == (
        "parameter estimator solver is the function len: code cannot be saved as data"
    )


def test_model_inside_itself_is_refused() -> None:
    fitted = model()
    fitted.estimators_[0] = fitted
    with pytest.raises(StateError, match=r"^models are nested more than 8 deep$"):
        fitted.digest()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "Halves.estimators_ is missing or not a list of models"),
        ([Mean().fit(X, Y)], "Halves.estimators_ holds 1 models, not 2"),
        ([Mean().fit(X, Y), Mean()], r"Halves.estimators_\[1\] is not fitted"),
        ([Mean().fit(X, Y), Ridge().fit(X[:, :1], Y)], r"\[1\] has 1 columns, not 2"),
    ],
)
def test_restored_models_must_fit_the_model_around_them(value: Any, why: str) -> None:
    fitted = model()
    with pytest.raises(DataError, match=f"^the model is damaged: .*{why}$"):
        Halves.from_state({}, {**fitted.state(), "estimators_": value})


def test_restored_models_must_have_the_methods() -> None:
    fitted = model()
    with pytest.raises(DataError, match=r"estimators_\[0\] has no method predict_proba"):
        check_stored(fitted, declared(estimators_=Models(methods=("predict", "predict_proba"))))
