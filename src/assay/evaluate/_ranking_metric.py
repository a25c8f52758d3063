"""Ranking metrics by name, for stored predictions: means over queries, also bootstrapped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, Predicted, did_you_mean
from assay.evaluate._ranking import auc_by_query, ndcg_by_query, precision_by_query, tau_by_query
from assay.evaluate._ranking_queries import Queries

Floats = NDArray[np.float64]
#: (relevance, scores, queries) -> one value per query, NaN where undefined.
ByQuery = Callable[[Floats, Floats, Queries], Floats]


@dataclass(frozen=True)
class QueryMean:
    """A metric that is the mean of a number per query.

    Parameters
    ----------
    by_query : callable
        (relevance, scores, queries) -> array of one number per query, NaN where undefined.

    Notes
    -----
    The truth has two columns: relevance, and the number of the query. The weight of a query is the
    mean weight of its rows, so a query drawn twice in a bootstrap counts twice.

    Examples
    --------
    >>> metric = QueryMean(ndcg_by_query)
    >>> truth = np.array([[2.0, 0], [0, 0], [1, 1], [0, 1]])
    >>> metric(truth, Predicted(value=np.array([9.0, 1.0, 1.0, 9.0])), None).round(3)
    array([0.815])
    """

    by_query: ByQuery

    def __call__(self, y: NDArray[Any], predicted: Predicted, weights: Floats | None) -> Floats:
        """Return one score per row of `weights`; greater is better."""
        if predicted.value is None:
            raise ValueError("the metric needs scores, and the model gives none")
        queries = Queries.of(y[:, 1], len(y))
        values = self.by_query(y[:, 0], predicted.value, queries)
        defined = np.isfinite(values)
        if weights is None:
            return np.array([values[defined].mean() if defined.any() else np.nan])
        ordered = weights[:, queries.order]
        share = np.add.reduceat(ordered, queries.starts[:-1], axis=1) / queries.sizes
        share = share[:, defined]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((share @ values[defined]) / share.sum(axis=1))


def _precision(relevance: Floats, scores: Floats, queries: Queries) -> Floats:
    return precision_by_query(relevance > 0, scores, queries)


def _auc(relevance: Floats, scores: Floats, queries: Queries) -> Floats:
    return auc_by_query(relevance > 0, scores, queries)


_AT_K = re.compile(r"(?P<name>ndcg|ndcg_linear)@(?P<k>[1-9][0-9]{0,8})")
_PLAIN: dict[str, tuple[ByQuery, float]] = {
    "ndcg": (partial(ndcg_by_query, k=None), 0.0),
    "ndcg_linear": (partial(ndcg_by_query, k=None, gain="linear"), 0.0),
    "map": (_precision, 0.0),
    "auc": (_auc, 0.0),
    "kendall_tau": (tau_by_query, -1.0),
}
_ALLOWED = "ndcg@K, ndcg_linear@K (K = 10 or any other number, or none), map, auc or kendall_tau"


def ranking_formula(name: object) -> tuple[QueryMean, float]:
    """Return the formula of a ranking metric and its lowest value; the highest is 1.

    Parameters
    ----------
    name : str
        ``"ndcg@10"``, ``"ndcg_linear@5"``, ``"ndcg"``, ``"map"``, ``"auc"`` or ``"kendall_tau"``.

    Raises
    ------
    ParameterError
        If the name is unknown.

    Examples
    --------
    >>> ranking_formula("ndcg@10")[1]
    0.0
    """
    if isinstance(name, str):
        if name in _PLAIN:
            by_query, low = _PLAIN[name]
            return QueryMean(by_query), low
        found = _AT_K.fullmatch(name)
        if found is not None:
            gain = "exponential" if found["name"] == "ndcg" else "linear"
            return QueryMean(partial(ndcg_by_query, k=int(found["k"]), gain=gain)), 0.0
    hint = did_you_mean(name, [*_PLAIN, "ndcg@10"]) if isinstance(name, str) else ""
    raise ParameterError(f"metric of a ranking must be {_ALLOWED}; got {name!r}{hint}")
