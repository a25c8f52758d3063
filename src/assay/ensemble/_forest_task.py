"""Base classes of forest classifiers and forest regressors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score

from assay.base import Classifier, DataError, Regressor
from assay.base.stored import Array, Count, OneOf, declared, ensure
from assay.ensemble._forest_base import Forest
from assay.ensemble._forest_grow import Callback
from assay.ensemble._forest_plan import COMBINATIONS
from assay.ensemble._oob import Combine, covered_score
from assay.tree._decision_tree import class_factors

#: A bootstrap draws rows regardless of weight: a row of weight 2 is two rows only on average.
BOOTSTRAP_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a bootstrap sample of weighted rows is not one of repeated rows"
    ),
}


class ForestClassifier(Classifier, Forest):
    """A forest for classification."""

    stored = declared(
        combine=OneOf(COMBINATIONS),
        # NaN where every tree saw the row.
        oob_decision_function_=Array(
            "rows, classes", dtype=np.float64, finite=False, when="oob_score"
        ),
    )

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN = missing.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; rows of weight 0 are ignored.
        callback : callable, default=None
            Called as ``callback(trees_grown, trees_wanted)`` after every ten trees; returning True
            stops the growing. The trees do not depend on it.

        Returns
        -------
        Forest
            The fitted model.
        """
        return self._fit(X, y, sample_weight, callback)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class for each row, combined over the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return self._answers(X)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(n_estimators=10)]

    def _target(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        factor = self._class_factor(codes)
        if factor is not None:
            weight = factor if weight is None else weight * factor
            if not weight.any():
                raise DataError("sample_weight times class_weight is zero in every row")
        return rows, codes.astype(np.int32), weight

    def _class_factor(self, codes: NDArray[Any]) -> NDArray[np.float64] | None:
        given = self.class_weight
        if given == "balanced_subsample":
            if self.bootstrap:
                return None
            given = "balanced"
        factor = class_factors(given, self.classes_, codes)
        return None if factor is None else factor[codes]

    def _n_classes(self) -> int | None:
        return len(self.classes_)

    def _n_outputs(self) -> int:
        return len(self.classes_)

    def _combine(self) -> Combine:
        return self.combine  # type: ignore[no-any-return]

    def _oob_error(self, answers: NDArray[np.float64], target: NDArray[Any]) -> float:
        covered = ~np.isnan(answers[:, 0])
        return float(np.mean(answers[covered].argmax(axis=1) != target[covered]))

    def _keep_oob(self, answers: NDArray[np.float64], target: NDArray[Any]) -> None:
        covered = ~np.isnan(answers[:, 0])
        labels = self.classes_[np.where(covered, answers.argmax(axis=1), 0)]
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_decision_function_ = answers
        self.oob_score_ = covered_score(self.classes_[target], labels, covered, score)

    def _check_more(self) -> None:
        enough = not self.oob_score or len(self.oob_decision_function_) >= self.n_samples_
        ensure(enough, "oob_decision_function_ has fewer rows than n_samples_")


class ForestRegressor(Regressor, Forest):
    """A forest for regression."""

    stored = declared(
        n_outputs_=Count(1),
        # NaN where every tree saw the row.
        oob_prediction_=Array(
            "rows, n_outputs_?", dtype=np.float64, finite=False, when="oob_score"
        ),
    )

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN = missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; rows of weight 0 are ignored.
        callback : callable, default=None
            Called as ``callback(trees_grown, trees_wanted)`` after every ten trees; returning True
            stops the growing. The trees do not depend on it.

        Returns
        -------
        Forest
            The fitted model.
        """
        return self._fit(X, y, sample_weight, callback)

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of the trees' values for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._shaped(self._answers(X))

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(n_estimators=10)]

    def _target(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        if self.criterion == "poisson" and (values < 0).any():
            raise DataError(
                f"criterion='poisson' needs targets that are not negative; got {values.min()}"
            )
        self.n_outputs_ = 1 if values.ndim == 1 else values.shape[1]
        return rows, values.reshape(len(values), -1), weight

    def _shaped(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        return answers[:, 0] if self.n_outputs_ == 1 else answers

    def _n_classes(self) -> int | None:
        return None

    def _n_outputs(self) -> int:
        return self.n_outputs_

    def _oob_error(self, answers: NDArray[np.float64], target: NDArray[Any]) -> float:
        covered = ~np.isnan(answers[:, 0])
        truth = target[covered]
        spread = ((truth - truth.mean(axis=0)) ** 2).sum()
        wrong = ((truth - answers[covered]) ** 2).sum()
        return float(wrong / spread) if spread > 0 else 0.0

    def _keep_oob(self, answers: NDArray[np.float64], target: NDArray[Any]) -> None:
        covered = ~np.isnan(answers[:, 0])
        score = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_prediction_ = self._shaped(answers)
        self.oob_score_ = covered_score(self._shaped(target), self.oob_prediction_, covered, score)

    def _check_more(self) -> None:
        enough = not self.oob_score or len(self.oob_prediction_) >= self.n_samples_
        ensure(enough, "oob_prediction_ has fewer rows than n_samples_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
