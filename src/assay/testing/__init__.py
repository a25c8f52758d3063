"""The public conformance kit: what every estimator on `assay.base` must do.

For your own estimator::

    from assay.testing import check_estimator_contract

    check_estimator_contract(MyClassifier())

or one test per check, with pytest::

    @pytest.mark.parametrize("check", contract_checks())
    def test_contract(check):
        check(MyClassifier())
"""

from __future__ import annotations

from assay._public import publish
from assay.testing._contract import check_estimator_contract, contract_checks
from assay.testing._discovery import public_estimators

__all__ = ["check_estimator_contract", "contract_checks", "public_estimators"]

publish(__name__)
