"""The scikit-learn classes that a model file can hold, and the checks of their state."""

# Only what `predict` and `predict_proba` read is stored. To add a class: take the next free id (an
# id is never reused), list the attributes, and add fitted examples to tests/store/conftest.py.
# Classes are named by module and imported on use, so that `import assay.base` stays light.

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from assay.base._errors import DataError
from assay.base.stored import Array, Sizes


@dataclass(frozen=True)
class StoredClass:
    """One class: the attributes stored, in the order checked, and what they imply.

    Parameters
    ----------
    module : str
        Public module of the class, below ``sklearn``.
    name : str
        Its name there.
    attributes : mapping of str to Array
        Arrays of finite numbers, besides `n_features_in_`, `feature_names_in_` and `classes_`.
    labels : bool, default=False
        Whether it is a classifier, with `classes_`.
    implied : callable, optional
        Given the estimator, checks what only this class needs and returns the attributes that
        follow from the stored ones.
    """

    module: str
    name: str
    attributes: Mapping[str, Array]
    labels: bool = False
    implied: Callable[[Any], Mapping[str, Any]] = field(default=lambda _: {})

    @property
    def cls(self) -> type:
        """The class itself."""
        found: type = getattr(import_module(f"sklearn.{self.module}"), self.name)
        return found


_STRATEGIES = ("most_frequent", "prior", "stratified", "uniform", "constant")


def _linear(model: Any) -> dict[str, Any]:
    if model.coef_.ndim == 1 and np.size(model.intercept_) != 1:
        raise DataError("intercept_ holds several values for one target")
    return {}


def _linear_classifier(model: Any) -> dict[str, Any]:
    if len(model.classes_) < 2:
        raise DataError("classes_ holds fewer than two labels")
    return {}


def _dummy_classifier(model: Any) -> dict[str, Any]:
    classes, strategy, seed = model.classes_.tolist(), model.strategy, model.random_state
    if strategy not in _STRATEGIES:
        raise DataError(f"strategy is {strategy!r} and must be one of {', '.join(_STRATEGIES)}")
    if strategy == "constant" and model.constant not in classes:
        raise DataError("constant is not one of the classes")
    if seed is not None and not (type(seed) is int and 0 <= seed < 2**32):
        raise DataError("random_state is not a seed")
    if abs(model.class_prior_.sum() - 1.0) > 1e-9:
        raise DataError("class_prior_ does not add up to 1")
    # `_strategy` is what scikit-learn's own fit derives from the parameter of that name.
    return {
        "n_classes_": len(classes),
        "n_outputs_": 1,
        "sparse_output_": False,
        "_strategy": strategy,
    }


def _dummy_regressor(model: Any) -> dict[str, Any]:
    return {"n_outputs_": model.constant_.shape[1]}


_LINEAR = {
    "coef_": Array("features | targets,features"),
    "intercept_": Array("| targets"),
}
_LINEAR_CLASSES = {"coef_": Array("problems,features"), "intercept_": Array("problems")}

STORED_CLASSES: dict[int, StoredClass] = {
    1: StoredClass("linear_model", "LinearRegression", _LINEAR, implied=_linear),
    2: StoredClass("linear_model", "Ridge", _LINEAR, implied=_linear),
    3: StoredClass("linear_model", "Lasso", _LINEAR, implied=_linear),
    4: StoredClass("linear_model", "ElasticNet", _LINEAR, implied=_linear),
    5: StoredClass(
        "linear_model",
        "LogisticRegression",
        _LINEAR_CLASSES,
        labels=True,
        implied=_linear_classifier,
    ),
    6: StoredClass(
        "discriminant_analysis",
        "LinearDiscriminantAnalysis",
        {
            **_LINEAR_CLASSES,
            "means_": Array("classes,features"),
            "priors_": Array("classes", low=0.0),
        },
        labels=True,
        implied=_linear_classifier,
    ),
    7: StoredClass(
        "naive_bayes",
        "GaussianNB",
        {
            "theta_": Array("classes,features"),
            "var_": Array("classes,features", low=0.0),
            "class_prior_": Array("classes", low=0.0),
            "class_count_": Array("classes", low=0.0),
            "epsilon_": Array("", low=0.0),
        },
        labels=True,
    ),
    8: StoredClass(
        "dummy",
        "DummyClassifier",
        {"class_prior_": Array("classes", low=0.0)},
        labels=True,
        implied=_dummy_classifier,
    ),
    9: StoredClass(
        "dummy",
        "DummyRegressor",
        {"constant_": Array("1,targets", kinds="fiu")},
        implied=_dummy_regressor,
    ),
}


def stored_class_of(model: Any) -> StoredClass | None:
    """Return the entry for the class of a model, if any; subclasses have none."""
    named = (stored for stored in STORED_CLASSES.values() if stored.name == type(model).__name__)
    return next((stored for stored in named if stored.cls is type(model)), None)


def state_of(stored: StoredClass, model: Any) -> dict[str, Any]:
    """Return the attributes of a fitted model that a file stores; DataError if they are invalid."""
    names = ["n_features_in_", "feature_names_in_", *stored.attributes]
    if stored.labels:
        names.append("classes_")
    state = {name: vars(model)[name] for name in names if name in vars(model)}
    check(stored, state)
    return state


def restore(stored: StoredClass, params: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Return the fitted model of these parameters and attributes, all checked; fit is not run."""
    check(stored, state)
    model = stored.cls(**params)
    for name, value in state.items():
        setattr(model, name, value)
    for name, value in stored.implied(model).items():
        setattr(model, name, value)
    return model


def check(stored: StoredClass, state: Mapping[str, Any]) -> None:
    """Raise DataError if the attributes are not those of a fitted model of this class."""
    names = {"n_features_in_", "feature_names_in_", *stored.attributes}
    names |= {"classes_"} if stored.labels else set()
    for name in sorted(set(state) - names):
        raise DataError(f"{name} is not an attribute of this model")
    n_features = _n_features(state)
    known = _class_sizes(stored, state)
    if "feature_names_in_" in state:
        _check_names(state["feature_names_in_"], n_features)
    sizes = Sizes(n_features_in_=-1 if n_features is None else n_features, **known)
    for name, rule in stored.attributes.items():
        if name not in state:
            raise DataError(f"{name} is missing")
        value = state[name]
        number = isinstance(value, np.ndarray) and value.ndim == 0
        if damage := rule.damage(value[()] if number else value, sizes):
            raise DataError(f"{name} {damage}")


def _n_features(state: Mapping[str, Any]) -> int | None:
    count = state.get("n_features_in_")
    if count is not None and (type(count) is not int or count < 1):
        raise DataError("n_features_in_ is not a count of columns")
    return count


def _class_sizes(stored: StoredClass, state: Mapping[str, Any]) -> dict[str, int]:
    if not stored.labels:
        return {}
    classes = state.get("classes_")
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) == 0:
        raise DataError("classes_ is not a list of labels (a model file holds one target)")
    finite = classes.dtype.kind != "f" or np.isfinite(classes).all()
    if classes.dtype.kind not in "biufUO" or not finite:
        raise DataError("classes_ holds something other than labels")
    if len(set(classes.tolist())) != len(classes):
        raise DataError("classes_ holds a duplicate label")
    return {"classes": len(classes)}


def _check_names(names: Any, n_features: int | None) -> None:
    if not isinstance(names, np.ndarray) or names.dtype.kind not in "UO":
        raise DataError("feature_names_in_ is not a list of names")
    if names.shape != (n_features,):
        raise DataError(f"feature_names_in_ holds {len(names)} names for {n_features} columns")
