"""The checks, each a claim about one estimator."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from assay.base import DataError, Estimator, ParameterError, Value, learned, same
from assay.testing._data import answers, assert_same_answers, fitted, table
from assay.testing._docstring import documented_parameters, signature_parameters

Check = Callable[[Estimator], None]


def contract_checks() -> list[Check]:
    """Return the checks, to be called with an unfitted estimator each.

    Returns
    -------
    list of callable
        A check raises AssertionError when the estimator breaks the contract.

    Examples
    --------
    >>> from assay.testing import contract_checks
    >>> [check.__name__ for check in contract_checks()][0]
    'check_docstring_tells_the_parameters'
    """
    return [
        check_docstring_tells_the_parameters,
        check_wrong_parameter_is_named,
        check_clone_is_unfitted_and_fits_the_same,
        check_state_is_plain,
        check_state_restores_the_model,
        check_damaged_state_is_refused,
        check_digest_tells_models_apart,
        check_n_jobs_changes_no_bit,
        check_dataframes_give_the_same_model,
        check_tables_are_not_written_to,
        check_model_id_is_in_range,
    ]


def check_estimator_contract(estimator: Estimator) -> None:
    """Run every check that the class does not declare as an expected failure.

    Parameters
    ----------
    estimator : Estimator
        Unfitted; its class may declare `expected_failures`.

    Raises
    ------
    AssertionError
        By the first check that fails.

    Examples
    --------
    >>> from assay.neighbors import KNeighborsClassifier
    >>> from assay.testing import check_estimator_contract
    >>> check_estimator_contract(KNeighborsClassifier())
    """
    for check in contract_checks():
        if check.__name__ not in estimator.expected_failures:
            check(estimator)


def check_docstring_tells_the_parameters(estimator: Estimator) -> None:
    """Document the parameters with the names, order and defaults of the constructor."""
    cls = type(estimator)
    documented = list(documented_parameters(cls).items())
    real = list(signature_parameters(cls).items())
    assert documented == real, f"the docstring has {documented}, the constructor has {real}"


def check_wrong_parameter_is_named(estimator: Estimator) -> None:
    """Raise a ParameterError that names the parameter for a senseless value."""
    X, y = table(estimator)
    for name in estimator.get_params(deep=False):
        message = None
        try:
            fitted(estimator, X, y, **{name: _Nonsense()})
        except ParameterError as error:
            message = str(error)
        assert message is not None, f"{name} accepts anything"
        assert name in message, f"the message does not name {name}: {message}"
        assert "nonsense" in message, f"the message does not show the value received: {message}"


def check_clone_is_unfitted_and_fits_the_same(estimator: Estimator) -> None:
    """Copy parameters only, and become the same model on the same data."""
    X, y = table(estimator)
    model = fitted(estimator, X, y)
    copy = clone(model)
    try:
        copy.state()
    except NotFittedError:
        pass
    else:
        raise AssertionError("a clone must not be fitted")
    assert same(model, copy.fit(X, y))


def check_state_is_plain(estimator: Estimator) -> None:
    """Hold only arrays of numbers, booleans or text, plain values, and models of these."""
    X, y = table(estimator)
    _assert_plain(fitted(estimator, X, y).state())


def check_state_restores_the_model(estimator: Estimator) -> None:
    """Predict the same, bit for bit, after a model is rebuilt from parameters and state."""
    X, y = table(estimator)
    model = fitted(estimator, X, y)
    copied = {name: _copy(value) for name, value in model.state().items()}
    restored = type(model).from_state(model.get_params(deep=False), copied)
    assert same(model, restored)
    assert_same_answers(model, restored, X, "after a round trip of the state")


def check_damaged_state_is_refused(estimator: Estimator) -> None:
    """Raise a DataError for a state with an attribute missing or cut short."""
    X, y = table(estimator)
    model = fitted(estimator, X, y)
    params, state = model.get_params(deep=False), model.state()
    for name, value in state.items():
        for damaged, what in _damages(name, value):
            try:
                type(model).from_state(params, {**_without(state, name), **damaged})
            except DataError:
                continue
            raise AssertionError(f"a state with {name} {what} is accepted")


def check_digest_tells_models_apart(estimator: Estimator) -> None:
    """Keep the digest on a second fit; change it with the data and parameters but `n_jobs`."""
    X, y = table(estimator)
    model = fitted(estimator, X, y)
    digest = model.digest()
    assert digest == fitted(estimator, X, y).digest(), "two equal fits differ"
    assert digest != fitted(estimator, X[:-1] + 1.0, y[:-1]).digest(), "other data, same digest"
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, (int, float)):
            changed = model.set_params(**{name: value + 1}).digest()
            assert (changed == digest) is (name in ("n_jobs", "verbose")), (
                f"the digest does not follow {name}"
            )
            model.set_params(**{name: value})


def check_n_jobs_changes_no_bit(estimator: Estimator) -> None:
    """Give the same model and predictions with one thread and with two."""
    if "n_jobs" in estimator.get_params(deep=False):
        X, y = table(estimator)
        one, two = (fitted(estimator, X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
        assert same(one, two)
        assert_same_answers(one, two, X, "n_jobs=1 and n_jobs=2")


def check_dataframes_give_the_same_model(estimator: Estimator) -> None:
    """Predict for pandas, Polars and Arrow tables, as far as installed, as for arrays."""
    X, y = table(estimator)
    expected = answers(fitted(estimator, X, y), X)
    for frame, target in _frames(X, y):
        model = fitted(estimator, frame, target)
        kind = type(frame).__module__
        assert list(model.feature_names_in_) == ["a", "b", "c", "d"], f"{kind}: names are lost"
        for method, values in answers(model, frame).items():
            assert np.array_equal(values, expected[method]), f"{kind}: {method} differs"


def check_tables_are_not_written_to(estimator: Estimator) -> None:
    """Accept read-only tables, and never change the others."""
    X, y = table(estimator)
    for params, rows in _tables(estimator, X):
        given = rows.copy()
        answers(fitted(estimator, given, y, **params), given)
        assert np.array_equal(given, rows), "fit or a prediction has changed the table"
        given.flags.writeable = False
        answers(fitted(estimator, given, y, **params), given)


def check_model_id_is_in_range(estimator: Estimator) -> None:
    """Have None or an integer from 100 up as the id in model files."""
    number = estimator.model_id
    assert number is None or (type(number) is int and number >= 100)


def _tables(
    estimator: Estimator, X: NDArray[np.float64]
) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
    """Tables of numbers and, for models that take categories, with a column of codes."""
    yield {}, X
    params = estimator.get_params(deep=False)
    if estimator.takes_nominal and "categorical_features" in params and "metric" not in params:
        coded = X.copy()
        coded[:, 3] = np.arange(len(X)) % 3
        yield {"categorical_features": [3]}, coded


class _Nonsense:
    def __repr__(self) -> str:
        return "<nonsense>"


def _assert_plain(state: Mapping[str, Value]) -> None:
    for name, value in state.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, BaseEstimator):
                _assert_plain(learned(name, item) or {})
            elif isinstance(item, np.ndarray):
                assert item.dtype.kind in "biufU", f"{name} is an array of {item.dtype}"
            else:
                assert item is None or type(item) in (bool, int, float, str), (
                    f"{name} is a {type(item).__name__}"
                )


def _copy(value: Value) -> Value:
    """Return a copy that shares nothing; nested models are rebuilt from their state."""
    if isinstance(value, list):
        return [_copy(model) for model in value]
    if isinstance(value, Estimator):
        state = learned("", value)
        if state is None:
            return clone(value)
        copied = {name: _copy(item) for name, item in state.items()}
        return type(value).from_state(value.get_params(deep=False), copied)
    return deepcopy(value)


def _without(state: dict[str, Value], name: str) -> dict[str, Value]:
    return {key: value for key, value in state.items() if key != name}


def _damages(name: str, value: Value) -> list[tuple[dict[str, Value], str]]:
    damages: list[tuple[dict[str, Value], str]] = [({}, "missing")]
    if (isinstance(value, np.ndarray) and value.ndim and len(value)) or isinstance(value, list):
        damages.append(({name: value[:-1]}, "cut short"))
    return damages


def _frames(X: NDArray[np.float64], y: NDArray[Any]) -> list[tuple[Any, Any]]:
    """Return the table in each dataframe library that is installed."""
    columns = dict(zip("abcd", X.T, strict=True))
    frames: list[tuple[Any, Any]] = []
    if importlib.util.find_spec("pandas"):
        import pandas as pd  # noqa: PLC0415

        frames.append((pd.DataFrame(columns), pd.Series(y)))
    if importlib.util.find_spec("polars"):
        import polars as pl  # noqa: PLC0415

        frames.append((pl.DataFrame(columns), pl.Series(y)))
    if importlib.util.find_spec("pyarrow"):
        import pyarrow as pa  # noqa: PLC0415

        frames.append((pa.table(columns), pa.chunked_array([y])))
    return frames
