"""Targets of a selection, and stratified folds for classes or numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from assay.base import as_vector, class_codes, real_values


class FoldTarget(NamedTuple):
    """Targets, and the values that the folds are stratified by.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Labels or numbers.
    order : ndarray of shape (n_rows,)
        Class codes or numbers.
    is_number : bool
        Whether it is a regression.
    """

    values: NDArray[Any]
    order: NDArray[Any]
    is_number: bool

    @classmethod
    def of(cls, y: Any) -> FoldTarget:
        """Treat text, booleans and whole numbers as classes, other values as numbers."""
        given = as_vector(y)
        if type_of_target(given, input_name="y").startswith("continuous"):
            numbers = real_values(given)
            return cls(numbers, numbers, True)
        labels, codes = class_codes(given)
        return cls(labels[codes], codes, False)


def stratified_folds(order: NDArray[Any], n_folds: int, seed: tuple[int, ...]) -> NDArray[np.int64]:
    """Assign rows to folds at random, stratified by class or by range of values.

    Parameters
    ----------
    order : ndarray of shape (n_rows,)
        Class codes or numbers.
    n_folds : int
        Number of folds.
    seed : tuple of int
        Seed of the assignment.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        Fold of each row.
    """
    random = np.random.default_rng(seed)
    sequence = np.lexsort((random.permutation(len(order)), order))
    rounds = -(-len(order) // n_folds)
    deal = random.permuted(np.tile(np.arange(n_folds), (rounds, 1)), axis=1).ravel()
    folds = np.empty(len(order), dtype=np.int64)
    folds[sequence] = deal[: len(order)]
    return folds
