"""An estimator and its candidates as a family; a pipeline's first steps become the encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from assay.select.run import Family


def family_of(name: str, estimator: Any, candidates: Sequence[Mapping[str, Any]]) -> Family:
    """Return a family, with an encoder if the estimator is a pipeline that allows it.

    Parameters
    ----------
    name : str
        Name of the family.
    estimator : estimator
        Any estimator; the steps of a pipeline before the last are fitted once per training set, for
        all candidates and families, if the candidates do not change them.
    candidates : sequence of dict
        Parameters as ``estimator.set_params`` names them.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> family = family_of("line", make_pipeline(StandardScaler(), Ridge()), [{"ridge__alpha": 2}])
    >>> family.estimator, family.candidates
    (Ridge(), ({'alpha': 2},))
    """
    if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
        prefix = f"{estimator.steps[-1][0]}__"
        if all(key.startswith(prefix) for each in candidates for key in each):
            cut = [{key.removeprefix(prefix): v for key, v in c.items()} for c in candidates]
            copy = clone(estimator)
            return Family(name, copy.steps[-1][1], cut, copy[:-1])
    return Family(name, estimator, candidates)
