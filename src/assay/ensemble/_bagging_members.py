"""Members of a bagging ensemble: their rows and columns, fitting, and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from assay.base import DataError, with_seeds

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Drawing:
    """Rule for drawing the rows and columns of a member.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the table.
    n_draws, n_columns : int
        Rows and columns of a member.
    bootstrap, bootstrap_features : bool
        Whether they are drawn with replacement.
    weight : ndarray of float64 of shape (n_samples,) or None
        Relative probability of each row, when drawn with replacement.
    """

    n_samples: int
    n_features: int
    n_draws: int
    n_columns: int
    bootstrap: bool
    bootstrap_features: bool
    weight: NDArray[np.float64] | None

    def rows(self, seed: int) -> NDArray[np.int64]:
        """Return the rows of the member with this seed, in the order of the table."""
        # RandomState, unlike Generator, promises the same numbers in every version of NumPy.
        rng = np.random.RandomState(seed)
        if not self.bootstrap:
            found = rng.permutation(self.n_samples)[: self.n_draws]
        elif self.weight is None:
            found = rng.randint(self.n_samples, size=self.n_draws)
        else:
            ends = np.cumsum(self.weight)
            found = np.searchsorted(ends / ends[-1], rng.random_sample(self.n_draws), side="right")
        return np.sort(found).astype(np.int64)

    def columns(self, seed: int) -> NDArray[np.int64]:
        """Return the columns of the member with this seed, ascending."""
        rng = np.random.RandomState((seed + 1) % 2**32)
        if self.bootstrap_features:
            found = rng.randint(self.n_features, size=self.n_columns)
        else:
            found = rng.permutation(self.n_features)[: self.n_columns]
        return np.sort(found).astype(np.int64)


def seeded_copy(estimator: Any, seed: int) -> Any:
    """Return a clone whose random states, nested ones too, follow from the seed."""
    rng = np.random.RandomState((seed + 2) % 2**32)
    return with_seeds(estimator, lambda _: int(rng.randint(np.iinfo(np.int32).max)), replace=True)


def fit_member(
    member: Any,
    rows: NDArray[Any],
    target: NDArray[Any],
    drawn: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
) -> Any:
    """Fit a member on the rows drawn for it.

    Parameters
    ----------
    member : estimator
        Unfitted.
    rows, target : ndarray
        The whole table, in the columns of the member.
    drawn : ndarray of int64
        Its rows, repeated as often as they were drawn.
    weight : ndarray of float64 or None
        Weights to pass to the member; None if they were used for drawing.

    Returns
    -------
    estimator
        Fitted: with counts as weights where it takes weights, else on repeated rows.
    """
    if has_fit_parameter(member, "sample_weight"):
        counts = np.bincount(drawn, minlength=len(rows)).astype(np.float64)
        counts = counts if weight is None else counts * weight
        used = np.flatnonzero(counts)
        return member.fit(rows[used], target[used], sample_weight=counts[used])
    if weight is not None:
        raise DataError(
            f"sample_weight cannot be used: {type(member).__name__} takes none, and "
            "bootstrap=False draws rows without regard to weights"
        )
    return member.fit(rows[drawn], target[drawn])


def member_shares(member: Any, rows: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Return class probabilities of a member; without `predict_proba`, 1 for its class."""
    shares = np.zeros((len(rows), n_classes))
    if hasattr(member, "predict_proba"):
        shares[:, np.asarray(member.classes_, dtype=np.int64)] = member.predict_proba(rows)
    else:
        labels = np.asarray(member.predict(rows)).astype(np.int64)
        shares[np.arange(len(rows)), labels] = 1.0
    return shares


def summand(shares: NDArray[np.float64], combine: str) -> NDArray[np.float64]:
    """Return a member's contribution to the sum.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Its probabilities.
    combine : {'mean', 'vote', 'confidence', 'product'}
        Respectively: the probabilities; 1 for the largest; the largest alone; the logarithms.
    """
    if combine == "mean":
        return shares
    if combine == "product":
        return np.log(np.maximum(shares, _TINY))
    best = shares.argmax(axis=1)[:, None]
    votes = np.zeros_like(shares)
    value = np.take_along_axis(shares, best, axis=1) if combine == "confidence" else 1.0
    np.put_along_axis(votes, best, value, axis=1)
    return votes


def normalised(
    sums: NDArray[np.float64], counts: NDArray[np.float64] | float, combine: str
) -> NDArray[np.float64]:
    """Turn sums over members into probabilities; NaN where no member contributed."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if combine == "product":
            means = sums / counts
            shares = np.exp(means - means.max(axis=1, keepdims=True))
        else:
            shares = sums
        return shares / shares.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
