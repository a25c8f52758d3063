"""Every public estimator keeps scikit-learn's contract and ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from assay.base import Estimator
from assay.testing import contract_checks, public_estimators

CLASSES = public_estimators()
EXAMPLES = [example for cls in CLASSES for example in cls._examples()]


def expected_failures(estimator: Estimator) -> dict[str, str]:
    return dict(estimator.expected_failures)


@parametrize_with_checks(EXAMPLES, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_contract_holds(estimator: Estimator, check: Callable[..., None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", contract_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", EXAMPLES, ids=repr)
def test_assay_contract_holds(
    estimator: Estimator, check: Callable[[Estimator], None], request: pytest.FixtureRequest
) -> None:
    reason = estimator.expected_failures.get(check.__name__)
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason))
    check(estimator)


def test_discovery_finds_the_first_family() -> None:
    names = {cls.__name__ for cls in CLASSES}
    assert {"KNeighborsClassifier", "KNeighborsRegressor"} <= names


def test_model_ids_are_unique() -> None:
    counts = Counter(cls.model_id for cls in CLASSES if cls.model_id is not None)
    assert not [number for number, count in counts.items() if count > 1]
