"""Check that a path equals one fit per candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import Predicted
from assay.select.plan import (
    Data,
    Partition,
    make_blocks,
    pair_out,
)
from assay.select.run._encode import Encodings
from assay.select.run._family import Family
from assay.select.run._path import DefaultPath, path_of
from assay.select.run._unit import Unit, run_unit, unit_key


def assert_path_equals_single_fits(
    family: Family,
    X: ArrayLike,
    y: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    n_blocks: int = 5,
    n_splits: int = 3,
    seed: int = 0,
    rtol: float = 1e-9,
    atol: float = 1e-9,
) -> None:
    """Check that a family's path predicts what fitting each candidate alone predicts.

    Parameters
    ----------
    family : Family
        Its estimator class has ``assay_path``; the candidates and the encoder are used as given.
    X, y, weight
        Rows; class codes (integers) or numbers (floats); weights.
    n_blocks : int, default=5
        Blocks of the pair-out plan the training sets come from.
    n_splits : int, default=3
        Number of pairs to try, besides one fit without a single block.
    seed : int, default=0
        Seed of blocks and fits.
    rtol, atol : float, default=1e-9
        Tolerance for probabilities, decisions and values. Labels must be equal, except between
        classes whose probabilities tie within the tolerance.

    Raises
    ------
    AssertionError
        Naming the family, the candidate, the training set and what differs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> assert_path_equals_single_fits(Family("bayes", GaussianNB()), X, y)
    """
    target = np.asarray(y)
    is_class = target.dtype.kind in "iu"
    n_classes = int(target.max()) + 1 if is_class else None
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    data = Data(np.asarray(X), target, weights, n_classes)
    task = "multiclass" if is_class else "regression"
    partition = Partition(make_blocks(target, n_blocks, task=task, seed=seed))
    plan = pair_out(n_blocks)
    chosen = tuple(range(len(family.candidates)))
    compared = 0
    for split in (*plan.splits[:n_splits], plan.outers[0].fit):
        key = unit_key(data, partition, family, chosen, split, seed)
        unit = Unit(0, chosen, 0, split, key, seed)
        ours, single = (
            run_unit(data, partition, family, unit, Encodings(), path=path)
            for path in (path_of(family.estimator), DefaultPath())
        )
        for index, (got, expected) in enumerate(zip(ours, single, strict=True)):
            where = f"{family.name}, candidate {dict(family.candidates[index])}, {split}"
            if got.fitted is None or expected.fitted is None:
                assert (got.fitted is None) == (expected.fitted is None), (
                    f"{where}: path says {got.failed!r}, single fit says {expected.failed!r}"
                )
                continue
            compared += 1
            assert got.fitted.size >= 0, f"{where}: size {got.fitted.size}"
            pairs = zip(got.fitted.predictions, expected.fitted.predictions, strict=True)
            for left, right in pairs:
                _assert_same(left, right, where, rtol, atol)
    assert compared, f"{family.name}: every fit failed, last with {single[-1].failed!r}"


def _assert_same(got: Predicted, expected: Predicted, where: str, rtol: float, atol: float) -> None:
    for name in ("probability", "decision", "value"):
        left, right = getattr(got, name), getattr(expected, name)
        if name == "decision" and left is None and got.probability is not None:
            continue  # a path with probabilities need not give decisions too
        assert (left is None) == (right is None), f"{where}: only one of them gives {name}"
        if left is not None:
            message = f"{where}: {name} differs"
            np.testing.assert_allclose(left, right, rtol=rtol, atol=atol, err_msg=message)
    if got.label is not None and expected.label is not None:
        differ = np.flatnonzero(got.label != expected.label)
        tied = [row for row in differ if _ties(got, expected, int(row), rtol, atol)]
        assert len(differ) == len(tied), f"{where}: {len(differ) - len(tied)} labels differ"


def _ties(got: Predicted, expected: Predicted, row: int, rtol: float, atol: float) -> bool:
    scores: NDArray[Any] | None = expected.probability
    if scores is None or got.label is None or expected.label is None:
        return False
    left, right = scores[row, got.label[row]], scores[row, expected.label[row]]
    return bool(np.isclose(left, right, rtol=rtol, atol=atol))
