"""Base of searches with scikit-learn's interface: the best model and its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.select.run import weight_parameter


def _best_has(name: str) -> Any:
    def check(self: BestModel) -> bool:
        check_is_fitted(self)
        getattr(self.best_estimator_, name)  # keep its own AttributeError
        return True

    return check


class BestModel:
    """A search with its final choice, fitted on all rows, as `best_estimator_`."""

    best_estimator_: Any

    def _fit_best(
        self,
        estimator: Any,
        params: Mapping[str, Any],
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
    ) -> None:
        model = clone(estimator).set_params(**params)
        takes = None if sample_weight is None else weight_parameter(model)
        weights = {} if takes is None else {takes: sample_weight}
        self.best_estimator_ = model.fit(X, y, **weights)

    @available_if(_best_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predictions of the best model."""
        return self.best_estimator_.predict(X)  # type: ignore[no-any-return]

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities of the best model."""
        return self.best_estimator_.predict_proba(X)  # type: ignore[no-any-return]

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the decision values of the best model."""
        return self.best_estimator_.decision_function(X)  # type: ignore[no-any-return]
