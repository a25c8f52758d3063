"""The kit itself: each check fails on an estimator that breaks exactly its claim."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import pytest

from assay.base import DataError, Estimator
from assay.neighbors import KNeighborsRegressor
from assay.testing import check_estimator_contract, contract_checks

CHECKS = {check.__name__: check for check in contract_checks()}
FIRST_LINE = KNeighborsRegressor.__doc__ or ""


class WrongDefault(KNeighborsRegressor):
    __doc__ = FIRST_LINE.replace("default=5", "default=7")


class WrongOrder(KNeighborsRegressor):
    __doc__ = FIRST_LINE.replace("p : float", "metric : float").replace("metric : {", "p : {")


class AcceptsAnything(KNeighborsRegressor):
    def fit(self, X: Any, y: Any) -> Self:
        self.n_jobs = None
        return super().fit(X, y)


class StaysFitted(KNeighborsRegressor):
    def __sklearn_clone__(self) -> Self:
        return self


class HoldsAnObject(KNeighborsRegressor):
    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        self.tree_ = [1, 2]
        return self


class ForgetsState(KNeighborsRegressor):
    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        self._shift = 1.0
        return self

    def predict(self, X: Any) -> Any:
        return super().predict(X) + getattr(self, "_shift", 0.0)


class TrustsAnyState(KNeighborsRegressor):
    def _check_state(self) -> None:
        pass


class DigestOfTheName(KNeighborsRegressor):
    def digest(self) -> str:
        return "same"


class CountsThreads(KNeighborsRegressor):
    def predict(self, X: Any) -> Any:
        return super().predict(X) * (self.n_jobs or 1)


class SeesTheFrame(KNeighborsRegressor):
    def predict(self, X: Any) -> Any:
        return super().predict(X) + (not isinstance(X, np.ndarray))


class WritesIntoTheTable(KNeighborsRegressor):
    def predict(self, X: Any) -> Any:
        answer = super().predict(X)
        if isinstance(X, np.ndarray):
            X[0] = 0.0
        return answer


class WrongNumber(KNeighborsRegressor):
    model_id: ClassVar[int | None] = 7


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        (WrongDefault(), "check_docstring_tells_the_parameters"),
        (WrongOrder(), "check_docstring_tells_the_parameters"),
        (AcceptsAnything(), "check_wrong_parameter_is_named"),
        (StaysFitted(), "check_clone_is_unfitted_and_fits_the_same"),
        (HoldsAnObject(), "check_state_is_plain"),
        (ForgetsState(), "check_state_restores_the_model"),
        (TrustsAnyState(), "check_damaged_state_is_refused"),
        (DigestOfTheName(), "check_digest_tells_models_apart"),
        (CountsThreads(), "check_n_jobs_changes_no_bit"),
        (SeesTheFrame(), "check_dataframes_give_the_same_model"),
        (WritesIntoTheTable(), "check_tables_are_not_written_to"),
        (WrongNumber(), "check_model_id_is_in_range"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_check_finds_its_defect(estimator: Estimator, check: str) -> None:
    with pytest.raises((AssertionError, TypeError, DataError)):
        CHECKS[check](estimator)


def test_every_check_has_a_defect_that_it_finds() -> None:
    mark = test_each_check_finds_its_defect.pytestmark[0]  # type: ignore[attr-defined]
    assert {check for _, check in mark.args[1]} == set(CHECKS)


def test_declared_failures_are_left_out() -> None:
    class Declared(WrongNumber):
        __doc__ = FIRST_LINE
        expected_failures: ClassVar[dict[str, str]] = {"check_model_id_is_in_range": "a test"}

    check_estimator_contract(Declared())
    with pytest.raises(AssertionError):
        check_estimator_contract(WrongNumber())
