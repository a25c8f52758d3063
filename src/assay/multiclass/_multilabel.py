"""Multilabel classification: any number of labels per row, one binary problem each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from assay.base import Classifier, DataError, check_weight
from assay.base.stored import Integers, Models, declared, ensure
from assay.multiclass._label_sets import label_matrix
from assay.multiclass._members import check_same_length
from assay.multiclass._reduction import Problem, Reduction, has_probabilities
from assay.tree import DecisionTreeClassifier

_LEARNED = -1
_SETS = "the answer is a set of labels per row, not one class"


class MultilabelClassifier(Classifier, Reduction):
    r"""Predict any number of labels per row, with one binary classifier per label.

    Parameters
    ----------
    estimator : classifier
        The binary classifier, of Assay or scikit-learn; one copy is fitted for each label.
    n_jobs : int, default=None
        Threads over the labels; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels: sorted, or column numbers if y was a matrix.
    estimators_ : list of classifier
        The fitted classifiers, one per label that some but not all training rows have.
    constant_ : ndarray of int64 of shape (n_labels,)
        1 or 0 for a label that all or none of the training rows have, which is then always
        predicted; -1 for the others.
    n_classes_ : int
        Number of labels.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    The labels are learned independently: label l is predicted if the confidence :math:`f_l(x) > 0`.
    Correlations between labels are ignored.

    Examples
    --------
    >>> from assay.multiclass import MultilabelClassifier
    >>> from assay.tree import DecisionTreeClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> model = MultilabelClassifier(DecisionTreeClassifier())
    >>> model = model.fit(X, [[], ["high"], ["wide"], ["high", "wide"]])
    >>> model.predict_sets([[0.1, 0.2], [0.9, 1.2]])
    [(), ('high', 'wide')]
    >>> model.predict([[0.1, 0.9]]).tolist()
    [[1, 0]]
    """

    model_id: ClassVar[int | None] = 202
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_classifiers_classes": _SETS,
        "check_classifiers_train": _SETS,
        "check_supervised_y_2d": "a column must hold 0 and 1, whether a row has the label",
    }
    stored = declared(
        constant_=Integers("classes", _LEARNED, 1), estimators_=Models("members", classes=(0, 1))
    )

    def __init__(self, estimator: Any, *, n_jobs: int | None = None) -> None:
        super().__init__(estimator, n_jobs=n_jobs)

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one classifier per label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, a sparse matrix or a dataframe, as the classifier accepts.
        y : array-like of shape (n_samples, n_labels), or sequence of sets
            A matrix of 0 and 1; a set (or list, or tuple) of labels per row; or one label per row.
            Equally long lists of 0 and 1 are a matrix.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for a classifier that accepts weights.

        Returns
        -------
        MultilabelClassifier
            The fitted model.
        """
        self._check_member()
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        table = self._table(X, reset=True, accept_sparse=self._takes_sparse_rows())
        self.classes_, matrix = label_matrix(y)
        check_same_length(table, len(matrix))
        weight = check_weight(sample_weight, table)
        # Rows of weight 0 are left out: a label that only such rows have counts as absent.
        shares = (matrix if weight is None else matrix[weight > 0]).mean(axis=0)
        self.constant_ = np.where(shares == 0, 0, np.where(shares == 1, 1, _LEARNED))
        learned = np.flatnonzero(self.constant_ == _LEARNED)
        if not len(learned):
            raise DataError(
                "y has no label that some but not all rows have (one class only); at least one "
                "is needed"
            )
        problems: list[Problem] = [(None, np.ascontiguousarray(matrix[:, at])) for at in learned]
        self._fit_members(table, problems, weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return for each row and label whether the row has it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of int64 of shape (n_samples, n_labels)
            0 and 1, in the order of `classes_`.
        """
        return (self.decision_function(X) > 0).astype(np.int64)

    def predict_sets(self, X: ArrayLike) -> list[tuple[Any, ...]]:
        """Return the labels of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        list of tuple
            Labels in the order of `classes_`; an empty tuple for none.
        """
        names = self.classes_.tolist()
        return [tuple(names[at] for at in np.flatnonzero(row)) for row in self.predict(X)]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the confidence that a row has each label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_labels)
            Positive if the row has the label; 1 and -1 for labels that all or no training rows had.
        """
        return self._spread(self._confidences(X), 2.0 * self.constant_ - 1.0)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a row has each label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_labels)
            Each label on its own: rows do not sum to 1.
        """
        return self._spread(self._second_shares(X), self.constant_.astype(np.float64))

    def score(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose labels are all correct.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples, n_labels), or sequence of sets
            Their labels, in any form that `fit` accepts.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        right = (predicted == label_matrix(y, self.classes_)[1]).all(axis=1)
        return float(np.average(right, weights=check_weight(sample_weight, predicted)))

    def _spread(
        self, columns: NDArray[np.float64], constant: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Combine the columns of the members with those of constant labels."""
        whole = np.tile(constant, (len(columns), 1))
        whole[:, self.constant_ == _LEARNED] = columns
        return whole

    def _check_more(self) -> None:
        n, learned = len(self.estimators_), (self.constant_ == _LEARNED).sum()
        ensure(n == learned, f"estimators_ holds {n} models, not {learned}")

    @classmethod
    def _examples(cls) -> list[Self]:
        # scikit-learn asks for probabilities of several labels that are neither 0 nor 1.
        return [cls(DecisionTreeClassifier(max_depth=1, min_weight_fraction_leaf=0.2))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags
