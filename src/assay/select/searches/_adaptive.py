"""Bayesian and population-based search, run once per outer block of nested cross-validation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier

from assay.base import ParameterError, check_interval, check_option
from assay.evaluate import Interval
from assay.select.choose import Evidence, Outcome
from assay.select.plan import Question, RowPartitions, pair_out
from assay.select.run import Ledger, Progress, Runner
from assay.select.searches._adaptive_bayes import Bayes
from assay.select.searches._adaptive_family import family_of
from assay.select.searches._adaptive_outcome import adaptive_outcome
from assay.select.searches._adaptive_point import Proposer
from assay.select.searches._adaptive_run import Adaptive
from assay.select.searches._best_model import BestModel
from assay.select.searches._nested_search import cv_blocks
from assay.select.searches._population import Population
from assay.select.searches._resources import Resources
from assay.select.searches._space import Space, SpaceLike

SAMPLERS = ("bayes", "population")


@dataclass(frozen=True)
class Price:
    """Number of fits of an adaptive search, beside those of other searches.

    Parameters
    ----------
    fits : int
        Fits behind the result, the final one included.
    fixed : int
        Minimum fits for a fixed set of as many candidates, such as Sobol points.
    naive : int
        Fits of the same searches without shared work.
    """

    fits: int
    fixed: int
    naive: int

    def __str__(self) -> str:
        return (
            f"{self.fits} fits; a fixed set of as many candidates takes {self.fixed}, "
            f"and the same searches without sharing {self.naive}"
        )


class AdaptiveSearch(BestModel, MetaEstimatorMixin, BaseEstimator):
    r"""Let earlier scores propose the next parameters, with a nested estimate of the result.

    Parameters
    ----------
    estimator : estimator, or mapping of str to (estimator, space)
        The model, or a pipeline that ends in one; or several by name, each with its space: then the
        search chooses among them, too.
    space : dict or list of dict, default=None
        By parameter a `Real`, `Integer`, `Choice`, a list of options, or a distribution of
        scipy.stats; several dicts are alternatives.
    sampler : {'bayes', 'population'}, default='bayes'
        Optuna's TPE sampler (extra ``search``), or a small genetic algorithm that recombines the
        parameters of the best candidates.
    n_trials : int, default=50
        Number of candidates that each search tries.
    n_start : int, default=None
        Number of Sobol points that all searches try first, and the size of a generation. None: an
        eighth of `n_trials`, at least 4.
    scoring : str or callable, default=None
        As in scikit-learn; None: accuracy of classes, R² of numbers.
    cv : int, splitter or iterable, default=5
        The blocks: the test folds of any scikit-learn splitter that tests every row once.
    refit : bool, default=True
        Whether the final choice is fitted on all rows.
    random_state : int, default=0
        Seed of the proposals; fills in every ``random_state=None`` of the estimators.
    n_jobs : int, default=None
        Workers; None = 1, -1 = one per core. No effect on the result.
    backend : {'threads', 'processes', 'dask'}, default='threads'
        Kind of worker. No effect on the result.
    scheduler : str, default=None
        Address of a Dask scheduler, such as 'tcp://127.0.0.1:8786', whose workers do the work.
    ledger : Ledger or path, default=None
        File of finished work, from which an interrupted search continues.
    progress : callable, default=None
        Called with (done, total, seconds left or None, text).

    Attributes
    ----------
    score_ : Interval
        The nested score, the mean of `outer_scores_`, with its interval of 95 %.
    outer_scores_ : ndarray of shape (n_blocks,)
        Score of each outer block, of the choice of the search that never saw it.
    outer_params_ : list of dict
        What was chosen for each outer block.
    outer_trials_ : list of list of (dict, float)
        Candidates tried for each outer block, in order, with their inner scores (greater is better;
        NaN if a fit failed).
    trials_ : list of (dict, float)
        The same for the final search.
    best_estimator_ : estimator
        The final choice, fitted on all rows; with `refit` only.
    best_params_ : dict
        Its parameters.
    best_name_ : str
        Its name among several estimators.
    best_score_ : float
        Its plain cross-validated score, which is optimistic; report `score_` instead.
    price_ : Price
        Number of fits, beside those of a fixed set and of a naive search.
    outcome_ : Outcome
        Everything else: leaderboard, baseline, notes.
    classes_ : ndarray
        The labels, of a classifier.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A proposal depends on scores, so one set of candidates cannot serve all outer blocks. For outer
    block i a search of its own scores candidate c by

    .. math:: s_i(c) = \frac{1}{K-1} \sum_{j \ne i} \mathrm{score}(c \text{ fitted without }
              \{i, j\},\ \text{block } j)

    and never sees block i; its best candidate is fitted without block i and scored on it. One more
    search, with plain K-fold scores, makes the final choice. The proposals are functions of
    `random_state`, the block and the earlier scores, so a search that was killed continues from its
    ledger and ends with the same bytes. With n trials of which s are common, K blocks cost about
    :math:`s\,K(K-1)/2 + (n-s)\,K(K-1) + nK` fits; a fixed set costs :math:`n\,K(K-1)/2`.

    See Also
    --------
    NestedSearch : A fixed set of candidates: cheaper, and often as good.
    sobol : Candidates that fill a space evenly.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from assay.neighbors import KNeighborsClassifier
    >>> from assay.select import AdaptiveSearch, Integer
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"n_neighbors": Integer(1, 30), "weights": ["uniform", "distance"]}
    >>> found = AdaptiveSearch(KNeighborsClassifier(), space, sampler="population", n_trials=8)
    >>> found = found.fit(X, y)
    >>> len(found.outer_params_), found.score_.value > 0.9, found.price_.naive
    (5, True, 206)
    """

    def __init__(
        self,
        estimator: Any,
        space: SpaceLike | None = None,
        *,
        sampler: str = "bayes",
        n_trials: int = 50,
        n_start: int | None = None,
        scoring: Any = None,
        cv: Any = 5,
        refit: bool = True,
        random_state: int = 0,
        n_jobs: int | None = None,
        backend: str = "threads",
        scheduler: str | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.sampler = sampler
        self.n_trials = n_trials
        self.n_start = n_start
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
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
        """Run all searches, and fit the final choice on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; missing values as NaN if the estimators take them.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        groups : array-like of shape (n_samples,), default=None
            For splitters that need them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in fits and scores that take them.

        Returns
        -------
        AdaptiveSearch
            This object.
        """
        named = self._named()
        space = Space(tuple(b for _, each in named.values() for b in each.branches))
        owners = [name for name, (_, each) in named.items() for _ in each.branches]
        n_start, proposer = self._sampler()
        classifies = {is_classifier(estimator) for estimator, _ in named.values()}
        if len(classifies) > 1:
            raise ParameterError("estimator must hold only classifiers or only regressors")
        classifier = classifies.pop()
        first = next(estimator for estimator, _ in named.values())
        question = Question.about(first, X, y, scoring=self.scoring, sample_weight=sample_weight)
        if question.classes is not None:
            self.classes_ = np.asarray(question.classes)
        labels = cv_blocks(self.cv, question.X, question.y, groups, classifier)
        plan = pair_out(int(labels.max()) + 1)
        blocks = RowPartitions(question, plan, 1, self.random_state, labels)
        resources = Resources(self.n_jobs, self.backend, self.scheduler, self.ledger)
        with resources.open([], question) as (ledger, n_jobs, cluster):
            runner = Runner(
                question.data,
                [],
                blocks.partitions,
                ledger,
                seed=self.random_state,
                n_jobs=n_jobs,
                backend=self.backend,
                cluster=cluster,
                progress=self.progress,
            )
            searches = Adaptive(
                Evidence(question, blocks, runner),
                space,
                lambda branch, params: family_of(
                    owners[branch], named[owners[branch]][0], [params]
                ),
            )
            searches.run(proposer, self.n_trials, n_start, self.random_state)
            outcome = adaptive_outcome(searches)
        self._keep(searches, outcome, question.X.shape[1])
        if self.refit:
            self._fit_best(named[self.best_name_][0], self.best_params_, X, y, sample_weight)
        return self

    def _keep(self, searches: Adaptive, outcome: Outcome, width: int) -> None:
        nested, chosen = outcome.nested, outcome.chosen
        *outer, final = [
            [(trial.params, trial.score) for trial in quest.trials] for quest in searches.quests
        ]
        n, k = max(map(len, (*outer, final))), searches.evidence.plan.n_blocks
        fixed = n * k * (k - 1) // 2 + k + 1
        self.outcome_ = outcome
        self.n_features_in_ = width
        self.score_: Interval = outcome.score
        self.outer_scores_ = np.array(
            [np.nan if row.outer is None else row.outer for row in nested]
        )
        self.outer_params_ = [dict(row.params) for row in nested]
        self.outer_trials_, self.trials_ = outer, final
        self.best_name_ = chosen.family.name
        self.best_params_ = dict(chosen.params)
        self.best_score_ = chosen.score
        self.price_ = Price(outcome.work.fits, fixed, outcome.work.naive_fits)

    def _sampler(self) -> tuple[int, Proposer]:
        check_option("sampler", self.sampler, SAMPLERS)
        check_interval("n_trials", self.n_trials, 1, integer=True)
        check_interval("random_state", self.random_state, 0, integer=True)
        n_start = max(4, self.n_trials // 8) if self.n_start is None else self.n_start
        check_interval("n_start", n_start, 1, integer=True)
        return n_start, Bayes() if self.sampler == "bayes" else Population(n_start)

    def _named(self) -> dict[str, tuple[Any, Space]]:
        if not isinstance(self.estimator, Mapping):
            space = Space.of({} if self.space is None else self.space)
            return {type(self.estimator).__name__: (self.estimator, space)}
        if self.space is not None:
            raise ParameterError(
                "space belongs to one estimator; with several, give each its own as "
                "{name: (estimator, space)}"
            )
        if not self.estimator:
            raise ParameterError("estimator must name at least one estimator; got none")
        named = {}
        for name, pair in self.estimator.items():
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise ParameterError(
                    f"estimator must map names to pairs (estimator, space); got {pair!r} "
                    f"for {name!r}"
                )
            named[name] = (pair[0], Space.of(pair[1], f"space of {name!r}"))
        return named
