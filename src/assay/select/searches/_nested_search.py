"""Nested grid search with scikit-learn's interface, at about the cost of a plain one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline

from assay.base import DataError, ParameterError, Task, as_frame, class_codes, real_values
from assay.evaluate import Interval
from assay.select.choose import Outcome
from assay.select.estimate import recentred
from assay.select.plan import Question
from assay.select.run import Family, Progress
from assay.select.searches._best_model import BestModel
from assay.select.searches._given_rows import GivenRows
from assay.select.searches._nested_results import cv_results, inner_scores, outer_metrics
from assay.select.searches._resources import Resources
from assay.select.searches._rules import Rules
from assay.select.searches._search import search
from assay.select.searches._sobol import fixed_set
from assay.select.searches._space import SpaceLike


class NestedSearch(BestModel, MetaEstimatorMixin, BaseEstimator):
    r"""Choose parameters by cross-validation, with a nested estimate of the chosen model's score.

    What ``cross_validate(GridSearchCV(estimator, param_grid), X, y)`` computes: for every block of
    rows, the parameters chosen without it and the score of that choice on it; and what
    ``GridSearchCV(estimator, param_grid).fit(X, y)`` leaves: the best model, fitted on all rows.

    Parameters
    ----------
    estimator : estimator, or mapping of str to (estimator, grid)
        The model, or a pipeline that ends in one; or several by name, each with its grid.
    param_grid : dict or list of dict, default=None
        Lists of values by parameter, as for `GridSearchCV`, or ranges: `Real`, `Integer`, `Choice`
        or distributions of scipy.stats. None: the estimator as it is.
    search : {'grid', 'sobol', 'random'}, default='grid'
        Which candidates are tried: all combinations, ranges cut into 5 levels; or `n_iter` points
        of each grid, evenly spread or random. The set is fixed before any score is seen.
    n_iter : int, default=32
        Number of points, except of a grid.
    scoring : str, callable, list or dict, default=None
        As in scikit-learn; None: accuracy of classes, R² of numbers. Of several metrics, `refit`
        names the one that chooses.
    cv : int, splitter or iterable, default=5
        The blocks: the test folds of any scikit-learn splitter that tests every row once.
    refit : bool or str, default=True
        Whether the final choice is fitted on all rows; with several metrics, the name of the one
        that chooses.
    error_score : nan or 'raise', default=nan
        Whether a candidate that cannot be fitted is left out (nan) or stops the search.
    random_state : int, default=0
        Seed of the points and of every ``random_state=None`` of the estimators.
    n_jobs : int, default=None
        Workers; None = 1, -1 = one per core. No effect on the result.
    backend : {'threads', 'processes', 'dask'}, default='threads'
        Kind of worker. No effect on the result.
    scheduler : str, default=None
        Address of a Dask scheduler, such as 'tcp://127.0.0.1:8786', whose workers do the work.
    ledger : path, default=None
        File of finished work, from which an interrupted search continues.
    progress : callable, default=None
        Called with (done, total, seconds left or None, text).

    Attributes
    ----------
    score_ : Interval
        The nested score, the mean of `outer_scores_`, with its interval of 95 %. The same over
        all rows together is ``outcome_.score``.
    outer_scores_ : ndarray of shape (n_blocks,)
        Score of each outer block, of the choice that was made without it.
    outer_params_ : list of dict
        What was chosen for each outer block.
    outer_names_ : list of str
        The estimator that was chosen for each outer block, if there are several.
    outer_metrics_ : dict of str to ndarray of shape (n_blocks,)
        With several metrics: the scores of the same choices by each of them. As in scikit-learn,
        greater is better: losses are negative.
    inner_scores_ : ndarray of shape (n_blocks, n_candidates)
        Mean scores without the outer block, by which the choices were made; greater is better.
        Candidates are in the order of the grids.
    cv_results_ : dict
        As of `GridSearchCV`, over all K(K-1) scores of a candidate.
    n_splits_ : int
        Number of blocks K.
    best_estimator_ : estimator
        The final choice, fitted on all rows; with `refit` only.
    best_params_ : dict
        Its parameters.
    best_name_ : str
        Its name among several estimators.
    best_score_ : float
        Its plain cross-validated score, which is optimistic; report `score_` instead.
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
    Assay share further work between their candidates. The steps of a pipeline before the last are
    fitted once per training set for all candidates that agree in them. The numbers are those of the
    naive search, and so are the choices: the greatest mean of the folds, to its last bit, and of
    equal ones the first.

    See Also
    --------
    search : The same with several families, plans and costs.
    AdaptiveSearch : Candidates proposed by earlier scores, once per outer block.

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
        param_grid: SpaceLike | None = None,
        *,
        search: str = "grid",
        n_iter: int = 32,
        scoring: Any = None,
        cv: Any = 5,
        refit: bool | str = True,
        error_score: Any = np.nan,
        random_state: int = 0,
        n_jobs: int | None = None,
        backend: str = "threads",
        scheduler: str | None = None,
        ledger: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.search = search
        self.n_iter = n_iter
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.error_score = error_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.backend = backend
        self.scheduler = scheduler
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
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Anything the estimators accept. Candidates share work only on numeric matrices, given
            or made by the first steps of a pipeline.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        groups : array-like of shape (n_samples,), default=None
            For splitters that need them.
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
        scorings, metric = self._scorings(classifier)
        rows, given = _rows(X, [estimator for estimator, _ in named.values()])
        target: NDArray[Any]
        if classifier:
            self.classes_, target = class_codes(y)
        else:
            target = real_values(y)
        parts: dict[str, _Part] = {}
        count = 0
        for name, (estimator, grid) in named.items():
            candidates = fixed_set(
                {} if grid is None else grid, self.search, self.n_iter, self.random_state
            )
            for number, part in enumerate(_parts(name, estimator, candidates, count)):
                parts[name if number == 0 else f"{name} ({number + 1})"] = part
                count += len(part.candidates)
        task = Task.of_classes(int(target.max()) + 1 if classifier else None)
        self.outcome_: Outcome = search(
            Question.of(rows, target, task=task, metric=metric, weight=sample_weight),
            [part.family(named[part.name][0], shown, given) for shown, part in parts.items()],
            Rules(
                blocks=cv_blocks(self.cv, rows, target, groups, classifier),
                priority=[place for part in parts.values() for place in part.order],
                bootstrap=False,
                seed=self.random_state,
            ),
            Resources(
                self.n_jobs,
                self.backend,
                self.scheduler,
                self.ledger,
                progress=self.progress,
            ),
        )
        nested, chosen = self.outcome_.nested, self.outcome_.chosen
        places = np.array([place for part in parts.values() for place in part.order])
        tried: list[dict[str, Any]] = [{}] * count
        for part in parts.values():
            for place, candidate in zip(part.order, part.candidates, strict=True):
                tried[place] = part.params(candidate)
        self._refuse_failures(tried, places)
        self.n_features_in_ = int(np.shape(X)[1])
        self.n_splits_ = self.outcome_.plan.blocks
        score, plain = self.outcome_.score, self.outcome_.plain
        self.score_: Interval = (
            score if plain is None else recentred(score, plain.value, self.outcome_.metric)
        )
        self.outer_scores_ = np.array(
            [np.nan if row.outer is None else row.outer for row in nested]
        )
        self.outer_params_ = [parts[row.family].params(row.params) for row in nested]
        self.outer_names_ = [parts[row.family].name for row in nested]
        self.inner_scores_ = inner_scores(self.outcome_, places)
        self.cv_results_ = cv_results(self.outcome_, places, tried)
        if scorings:
            n_classes = len(self.classes_) if classifier else None
            self.outer_metrics_ = outer_metrics(
                self.outcome_, scorings, target, sample_weight, n_classes
            )
        best = parts[chosen.family.name]
        self.best_name_ = best.name
        self.best_params_ = best.params(chosen.params)
        self.best_score_ = chosen.score
        if self.refit:
            self._fit_best(named[best.name][0], self.best_params_, X, y, sample_weight)
        return self

    def _scorings(self, classifier: bool) -> tuple[dict[str, Any], Any]:
        """Return the metrics by name (empty if there is only one), and the one that chooses."""
        if isinstance(self.scoring, Mapping):
            scorings = dict(self.scoring)
        elif isinstance(self.scoring, list | tuple | set):
            scorings = {name: name for name in self.scoring}
        else:
            return {}, self.scoring or ("accuracy" if classifier else "r2")
        if not isinstance(self.refit, str) or self.refit not in scorings:
            raise ParameterError(
                f"refit must name the metric that chooses, one of {', '.join(map(str, scorings))}; "
                f"got {self.refit!r}"
            )
        return scorings, scorings[self.refit]

    def _refuse_failures(
        self, tried: Sequence[Mapping[str, Any]], places: NDArray[np.int64]
    ) -> None:
        if not (isinstance(self.error_score, str) or np.isnan(self.error_score)):
            raise ParameterError(f"error_score must be nan or 'raise'; got {self.error_score!r}")
        table = self.outcome_.table
        if self.error_score == "raise" and table is not None and table.failed:
            (_, _, column), why = next(iter(table.failed.items()))
            raise DataError(f"candidate {dict(tried[places[column]])} could not be fitted: {why}")

    def _named(self) -> dict[str, tuple[Any, SpaceLike | None]]:
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

    def family(self, estimator: Any, shown: str, given: GivenRows | None) -> Family:
        model, encoder = clone(estimator).set_params(**self.constant), None
        if given is not None:
            if self.prefix and not issparse(given.table):
                before = given.before(model.steps[:-1])
                return Family(shown, model.steps[-1][1], self.candidates, before)
            # Only the model itself can read these rows: it is fitted one candidate at a time.
            steps = model.steps if isinstance(model, Pipeline) else [("model", model)]
            prefix = self.prefix or ("" if isinstance(model, Pipeline) else "model__")
            named = [{f"{prefix}{k}": v for k, v in each.items()} for each in self.candidates]
            return Family(shown, given.before(steps), named)
        if self.prefix:
            encoder, model = model[:-1], model.steps[-1][1]
        return Family(shown, model, self.candidates, encoder)

    def params(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a candidate as the grid names them."""
        mine = {key.removeprefix(self.prefix or "model__"): v for key, v in candidate.items()}
        return dict(self.constant) | {f"{self.prefix}{key}": v for key, v in mine.items()}


def _parts(name: str, estimator: Any, grid: Sequence[Mapping[str, Any]], first: int) -> list[_Part]:
    """Split candidates into parts; `first` is the position of the first one among all."""
    cut = isinstance(estimator, Pipeline) and len(estimator.steps) > 1
    prefix = f"{estimator.steps[-1][0]}__" if cut else ""
    parts: list[_Part] = []
    for place, candidate in enumerate(grid, first):
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


def _rows(X: Any, estimators: Sequence[Any]) -> tuple[NDArray[Any], GivenRows | None]:
    """Return the matrix of a search; if X is not numeric, row numbers and the rows."""
    if issparse(X):
        given = GivenRows(X)
    else:
        rows = np.asarray(X)
        by_name = as_frame(X) is not None and any(_picks_columns(each) for each in estimators)
        if rows.ndim != 2 or (rows.dtype.kind in "fiub" and not by_name):
            return rows, None
        given = GivenRows(rows if as_frame(X) is None else X)
    return np.arange(given.table.shape[0], dtype=np.float64)[:, None], given


def _picks_columns(estimator: Any) -> bool:
    """Return whether a step of a pipeline may select columns by name."""
    steps = [step for _, step in getattr(estimator, "steps", ())]
    return any(hasattr(step, "transformers") or hasattr(step, "steps") for step in steps)


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.keys() == b.keys() and all(a[k] is b[k] or _equal(a[k], b[k]) for k in a)


def _equal(a: Any, b: Any) -> bool:
    # Other types are equal only if identical; an unnecessary split is harmless.
    return isinstance(a, str | int | float | bool) and type(a) is type(b) and bool(a == b)


def cv_blocks(
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
