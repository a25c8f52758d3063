"""Condensed nearest neighbours: classification by the nearest of a few prototypes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from assay._core import neighbors as kernels
from assay.base import Classifier, check_n_jobs, check_option, check_random_state
from assay.base.stored import Array, Count, Integers, Number, OneOf, declared


class CondensedNeighborsClassifier(Classifier):
    r"""Condensed nearest neighbours: 1-NN on a subset of the training rows.

    Parameters
    ----------
    rule : {'hart', 'all_classes'}, default='hart'
        Stopping rule. 'hart': when the nearest prototype of every training row has its class.
        'all_classes': as soon as every class has a prototype, which is rarely accurate.
    random_state : int, RandomState or None, default=None
        Seed for the order in which rows are visited; the first becomes a prototype.
    n_jobs : int, default=None
        Threads for predictions; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    prototype_indices_ : ndarray of int64 of shape (n_prototypes,)
        Indices of the prototypes among the training rows, in the order they were added.
    prototypes_ : ndarray of shape (n_prototypes, n_features_in_)
        The prototypes.
    codes_ : ndarray of int64 of shape (n_prototypes,)
        Their classes, as positions in `classes_`.
    training_error_ : float
        Share of the training rows whose nearest prototype has another class. With Hart's rule it is
        0, unless duplicate rows have different classes.
    n_passes_ : int
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: P \leftarrow P \cup \{x\} \quad\text{for each } x \in X \setminus P
              \text{ whose nearest } p \in P \text{ has another class}

    The rows are visited in a random order, repeatedly, until a pass adds no prototype. Distances
    are Euclidean; ties go to the prototype added first. The distance of every row to its nearest
    prototype is stored, so a new prototype costs one pass over the rows: O(n d) for each prototype.
    The order matters: another seed gives other prototypes. Deterministic for a seed.

    Source: Hart, The condensed nearest neighbor rule (1968).

    See Also
    --------
    KNeighborsClassifier : Uses all training rows.

    Examples
    --------
    >>> from assay.neighbors import CondensedNeighborsClassifier
    >>> rows = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> model = CondensedNeighborsClassifier(random_state=0).fit(rows, list("aaabbb"))
    >>> len(model.prototypes_), model.training_error_
    (2, 0.0)
    >>> model.predict([[1.5], [8.5]]).tolist()
    ['a', 'b']
    """

    model_id: ClassVar[int | None] = 115
    stored = declared(
        rule=OneOf(("hart", "all_classes")),
        prototypes_=Array("prototypes, features", filled=True),
        codes_=Integers("prototypes", 0, "classes-1"),
        prototype_indices_=Integers("prototypes", 0),
        training_error_=Number(0, 1),
        n_passes_=Count(1),
    )

    def __init__(
        self,
        *,
        rule: str = "hart",
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rule = rule
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        CondensedNeighborsClassifier
            The fitted model.
        """
        check_option("rule", self.rule, ("hart", "all_classes"))
        check_n_jobs(self.n_jobs)
        rng = check_random_state(self.random_state)
        rows, codes, _ = self._fit_data(X, y)
        order = rng.permutation(len(rows))
        wanted = len(self.classes_) if self.rule == "all_classes" else None
        chosen, self.n_passes_, wrong = _condense(
            rows.astype(np.float64, copy=False)[order], codes[order], wanted
        )
        self.prototype_indices_ = order[chosen].astype(np.int64)
        self.prototypes_ = rows[self.prototype_indices_]
        self.codes_ = codes[self.prototype_indices_]
        self.training_error_ = wrong / len(rows)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the nearest prototype of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        rows = self._predict_data(X)
        kind = np.result_type(rows, self.prototypes_)
        distance = np.empty((len(rows), 1))
        index = np.empty((len(rows), 1), dtype=np.int64)
        kernels.brute_force(
            np.ascontiguousarray(rows, dtype=kind),
            np.ascontiguousarray(self.prototypes_, dtype=kind),
            1,
            2.0,
            distance,
            index,
            check_n_jobs(self.n_jobs),
        )
        return self.classes_[self.codes_[index[:, 0]]]

    def _check_more(self) -> None:
        check_n_jobs(self.n_jobs)


def _condense(
    rows: NDArray[np.float64], codes: NDArray[np.int64], wanted: int | None
) -> tuple[list[int], int, int]:
    """Visit the rows in order; return prototypes, number of passes, and misclassified rows.

    With `wanted`, stop when this many classes have a prototype.
    """
    best = np.full(len(rows), np.inf)
    label = np.full(len(rows), -1)
    used = np.zeros(len(rows), dtype=bool)
    chosen: list[int] = []

    def add(i: int) -> None:
        chosen.append(i)
        used[i] = True
        distance = _squares(rows, rows[i])
        nearer = distance < best
        best[nearer], label[nearer] = distance[nearer], codes[i]

    add(0)
    passes, seen = 0, {int(codes[0])}
    while True:
        passes += 1
        before, i = len(chosen), 0
        while True:
            wrong = np.flatnonzero((label[i:] != codes[i:]) & ~used[i:])
            if not wrong.size or len(seen) == wanted:
                break
            i += int(wrong[0])
            add(i)
            seen.add(int(codes[i]))
            i += 1
        if len(chosen) == before or len(seen) == wanted:
            return chosen, passes, int((label != codes).sum())


def _squares(rows: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        gaps = rows - point
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", gaps, gaps)
    return squares
