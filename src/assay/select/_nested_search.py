"""A nested grid search with scikit-learn's manners, at about the price of a plain one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError, ParameterError, class_codes, real_values
from assay.evaluate import Interval
from assay.select._clock import Progress
from assay.select._family import Family
from assay.select._outcome import Outcome
from assay.select._path import weight_parameter
from assay.select._search import search

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


def _best_has(name: str) -> Any:
    def check(self: NestedSearch) -> bool:
        check_is_fitted(self)
        getattr(self.best_estimator_, name)  # its own AttributeError says more than ours
        return True

    return check


class NestedSearch(MetaEstimatorMixin, BaseEstimator):
    r"""Choose parameters by cross-validation and say honestly how good the chosen model is.

    What ``cross_validate(GridSearchCV(estimator, param_grid), X, y)`` computes: for every block of
    rows, the parameters chosen without it and the score of that choice on it; and what
    ``GridSearchCV(estimator, param_grid).fit(X, y)`` leaves: the best model, fitted on all rows.

    Parameters
    ----------
    estimator : estimator, or mapping of str to (estimator, grid)
        The model, or a pipeline that ends in one; or several by name, each with its grid.
    param_grid : dict or list of dict, default=None
        Lists of values by parameter, as for `GridSearchCV`. None: the estimator as it is.
    scoring : str or callable, default=None
        As in scikit-learn; None: accuracy of classes, R² of numbers.
    cv : int, splitter or iterable, default=5
        The blocks: the test folds of any splitter of scikit-learn that tests every row once.
    refit : bool, default=True
        Whether the final choice is fitted on all rows.
    random_state : int, default=0
        Fills in every ``random_state=None`` of the estimators.
    n_jobs : int, default=None
        Workers; None = 1, -1 = one per core. No effect on the result.
    backend : {'threads', 'processes'}, default='threads'
        What a worker is. No effect on the result.
    ledger : path, default=None
        File of finished work: a search that was interrupted goes on where it was.
    progress : callable, default=None
        Called with (done, total, seconds left or None, what).

    Attributes
    ----------
    score_ : Interval
        The honest score with its interval of 95 %: mean over the outer blocks.
    outer_scores_ : ndarray of shape (n_blocks,)
        Score of each outer block, of the choice that was made without it.
    outer_params_ : list of dict
        What was chosen for each outer block.
    best_estimator_ : estimator
        The final choice, fitted on all rows; with `refit` only.
    best_params_ : dict
        Its parameters.
    best_name_ : str
        Its name among several estimators.
    best_score_ : float
        Its plain mean score. Optimistic, as every winner's; report `score_`.
    outcome_ : Outcome
        Everything else: leaderboard, baseline, counts of fits, notes.
    classes_ : ndarray
        The labels, of a classifier.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    The inner folds for outer block i are the other blocks. One fit without blocks i and j answers
    for both, so K blocks cost K(K-1)/2 fits per candidate instead of K(K-1), and estimators of
    Assay share further work between their candidates. Of a pipeline, the steps before the last are
    fitted once per training set for all candidates that agree in them. The numbers are those of the
    naive search: ties go to the candidate that comes first, and scores are equal to rounding.

    See Also
    --------
    search : The same with several families, plans and costs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from assay.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> nested = NestedSearch(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}).fit(X, y)
    >>> nested.outer_params_[0], nested.outer_scores_.round(3)
    ({'n_neighbors': 9}, array([0.967, 1.   , 0.933, 0.933, 1.   ]))
    >>> nested.outcome_.work
    Work(fits=16, naive_fits=106, units=15)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Grid | None = None,
        *,
        scoring: Any = None,
        cv: Any = 5,
        refit: bool = True,
        random_state: int = 0,
        n_jobs: int | None = None,
        backend: str = "threads",
        ledger: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.backend = backend
        self.ledger = ledger
        self.progress = progress

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Search, and fit the choice on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; missing values as NaN if the estimators take them.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        groups : array-like of shape (n_samples,), default=None
            For a splitter that asks for them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in fits and scores that take them.

        Returns
        -------
        NestedSearch
            This object.
        """
        named = self._named()
        classifies = {is_classifier(estimator) for estimator, _ in named.values()}
        if len(classifies) > 1:
            raise ParameterError("estimator must hold only classifiers or only regressors")
        classifier = classifies.pop()
        rows = np.asarray(X)
        target: NDArray[Any]
        if classifier:
            self.classes_, target = class_codes(y)
        else:
            target = real_values(y)
        parts: dict[str, _Part] = {}
        count = 0
        for name, (estimator, grid) in named.items():
            for number, part in enumerate(_parts(name, estimator, grid, count)):
                parts[name if number == 0 else f"{name} ({number + 1})"] = part
                count += len(part.candidates)
        self.outcome_: Outcome = search(
            rows,
            target,
            [part.family(named[part.name][0], shown) for shown, part in parts.items()],
            task=_task(classifier, target),
            metric=self.scoring or ("accuracy" if classifier else "r2"),
            weight=sample_weight,
            blocks=_blocks(self.cv, rows, target, groups, classifier),
            priority=[place for part in parts.values() for place in part.order],
            seed=self.random_state,
            n_jobs=self.n_jobs,
            backend=self.backend,
            ledger=self.ledger,
            progress=self.progress,
        )
        nested, chosen = self.outcome_.nested, self.outcome_.chosen
        self.n_features_in_ = rows.shape[1]
        self.score_: Interval = self.outcome_.score
        self.outer_scores_ = np.array(
            [np.nan if row.outer is None else row.outer for row in nested]
        )
        self.outer_params_ = [parts[row.family].params(row.params) for row in nested]
        best = parts[chosen.family.name]
        self.best_name_ = best.name
        self.best_params_ = best.params(chosen.params)
        self.best_score_ = chosen.score
        if self.refit:
            model = clone(named[best.name][0]).set_params(**self.best_params_)
            takes = None if sample_weight is None else weight_parameter(model)
            weights = {} if takes is None else {takes: sample_weight}
            self.best_estimator_ = model.fit(X, y, **weights)
        return self

    @available_if(_best_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predictions of the best model."""
        return self.best_estimator_.predict(X)  # type: ignore[no-any-return]

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities that the best model gives."""
        return self.best_estimator_.predict_proba(X)  # type: ignore[no-any-return]

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the decision values of the best model."""
        return self.best_estimator_.decision_function(X)  # type: ignore[no-any-return]

    def _named(self) -> dict[str, tuple[Any, Grid | None]]:
        if not isinstance(self.estimator, Mapping):
            return {type(self.estimator).__name__: (self.estimator, self.param_grid)}
        if self.param_grid is not None:
            raise ParameterError(
                "param_grid belongs to one estimator; with several, give each its own as "
                "{name: (estimator, grid)}"
            )
        for name, pair in self.estimator.items():
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise ParameterError(
                    f"estimator must map names to pairs (estimator, grid); got {pair!r} "
                    f"for {name!r}"
                )
        if not self.estimator:
            raise ParameterError("estimator must name at least one estimator; got none")
        return dict(self.estimator)


@dataclass(frozen=True)
class _Part:
    """Candidates of one grid that agree in everything before the last step of a pipeline."""

    name: str
    constant: Mapping[str, Any]
    prefix: str
    candidates: list[dict[str, Any]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)

    def family(self, estimator: Any, shown: str) -> Family:
        model, encoder = clone(estimator).set_params(**self.constant), None
        if self.prefix:
            encoder, model = model[:-1], model.steps[-1][1]
        return Family(shown, model, self.candidates, encoder)

    def params(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a candidate as the grid names them."""
        return dict(self.constant) | {f"{self.prefix}{k}": v for k, v in candidate.items()}


def _parts(name: str, estimator: Any, grid: Grid | None, first: int) -> list[_Part]:
    """Cut a grid into parts; `first` is the place of its first candidate among all."""
    cut = isinstance(estimator, Pipeline) and len(estimator.steps) > 1
    prefix = f"{estimator.steps[-1][0]}__" if cut else ""
    parts: list[_Part] = []
    for place, candidate in enumerate(ParameterGrid({} if grid is None else grid), first):
        constant = {key: value for key, value in candidate.items() if not key.startswith(prefix)}
        part = next((each for each in parts if _same(each.constant, constant)), None)
        if part is None:
            part = _Part(name, constant, prefix)
            parts.append(part)
        part.order.append(place)
        part.candidates.append(
            {key.removeprefix(prefix): v for key, v in candidate.items() if key not in constant}
        )
    return parts


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.keys() == b.keys() and all(a[k] is b[k] or _equal(a[k], b[k]) for k in a)


def _equal(a: Any, b: Any) -> bool:
    # Of other types, only an object itself is surely the same: a needless cut costs no truth.
    return isinstance(a, str | int | float | bool) and type(a) is type(b) and bool(a == b)


def _task(classifier: bool, target: NDArray[Any]) -> str:
    if not classifier:
        return "regression"
    return "binary" if int(target.max()) < 2 else "multiclass"


def _blocks(
    cv: Any, X: NDArray[Any], y: NDArray[Any], groups: ArrayLike | None, classifier: bool
) -> NDArray[np.int64]:
    """Return the number of the test fold of each row."""
    labels = np.full(len(X), -1, dtype=np.int64)
    count = 0
    for count, (_, test) in enumerate(
        check_cv(cv, y, classifier=classifier).split(X, y, groups), 1
    ):
        if (labels[test] >= 0).any():
            raise DataError("cv must test every row once; some rows are in two of its test folds")
        labels[test] = count - 1
    if (labels < 0).any():
        raise DataError(
            f"cv must test every row once; {int((labels < 0).sum())} rows are in no test fold"
        )
    if count < 3:
        raise ParameterError(f"cv must give at least 3 folds for a nested search; got {count}")
    return labels
