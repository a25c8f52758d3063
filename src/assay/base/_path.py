"""Paths: how models of one class that learn from the same rows share their work.

The law of the house: shared work gives the same numbers as one fit per model.
`assay.select.assert_path_equals_single_fits` checks it for any family.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base._errors import ParameterError, did_you_mean
from assay.base._predicted import Answer, Fitted

Candidates = Sequence[Mapping[str, Any]]
Rows = NDArray[np.int64]
Weight = NDArray[np.float64] | None
Run = TypeVar("Run")
Prepared = TypeVar("Prepared")

#: Kinds of parameters that models may have in common.
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The rows that candidates learn from, and those whose targets they predict.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The whole table, encoded.
    y : ndarray of shape (n_samples,)
        Class codes (integers) or numbers (floats) of all rows.
    train : ndarray of int64
        Rows to learn from; no others may be looked at before predicting.
    tests : sequence of ndarray of int64
        Blocks of rows to predict.
    weight : ndarray of float64 of shape (n_samples,), optional
        Sample weights.
    n_classes : int, optional
        Number of classes of the whole problem; None for numbers.
    queries : ndarray of int64 of shape (n_samples,), optional
        Query of each row, for a ranking.
    shared : object, optional
        What `Path.share` returned for the table.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    train: Rows
    tests: Sequence[Rows]
    weight: Weight = None
    n_classes: int | None = None
    queries: NDArray[np.int64] | None = None
    shared: Any = None

    @property
    def tested(self) -> Rows:
        """All rows to predict, block after block."""
        return np.concatenate(self.tests)

    def data(self) -> tuple[NDArray[Any], NDArray[Any], Weight]:
        """Return X, y and the weights of the training rows, as the arguments of a fit."""
        weight = None if self.weight is None else self.weight[self.train]
        return self.X[self.train], self.y[self.train], weight

    def test_rows(self) -> NDArray[Any]:
        """Return the rows to predict, block after block."""
        rows: NDArray[Any] = self.X[self.tested]
        return rows

    @cached_property
    def kept(self) -> tuple[NDArray[Any], NDArray[Any], Weight, NDArray[Any]]:
        """What `data` and `test_rows` return, kept for other groups; for runs that are short."""
        return (*self.data(), self.test_rows())


class Path(ABC, Generic[Run]):
    """How the candidates of a family share the work of one training set.

    An instance is the class attribute ``assay_path`` of an estimator, where `assay.select` finds
    it; an estimator without one is fitted once per candidate. A subclass says which candidates
    share one run (`group`), does that run (`run`) and reads each candidate from it (`read`); it may
    prepare what all training sets of a table can use (`share`). The rest is done here: models are
    created, checked and run in the order of the candidates, predictions are cut into blocks, and
    columns are put in the order of all classes.

    Examples
    --------
    Every shrinkage of a mean from one mean:

    >>> from assay.base import Answer, Path, Predicted, Regressor, TrainingSet
    >>> class MeanPath(Path):
    ...     def group(self, params):
    ...         return "mean"  # one run serves all candidates
    ...
    ...     def run(self, models, training):
    ...         _, y, _ = training.data()
    ...         return y.mean(), len(training.test_rows())
    ...
    ...     def read(self, run, model):
    ...         mean, n_rows = run
    ...         return Answer(Predicted(value=np.full(n_rows, model.factor * mean)), size=1)
    >>> class ShrunkenMean(Regressor):
    ...     assay_path = MeanPath()
    ...
    ...     def __init__(self, factor=1.0):
    ...         self.factor = factor
    ...
    ...     def fit(self, X, y):
    ...         _, values, _ = self._fit_data(X, y)
    ...         self.value_ = self.factor * values.mean()
    ...         return self
    ...
    ...     def predict(self, X):
    ...         return np.full(len(self._predict_data(X)), self.value_)
    >>> X, y = np.arange(6.0)[:, None], np.array([1.0, 2.0, 3.0, 6.0, 0.0, 0.0])
    >>> training = TrainingSet(X, y, train=np.arange(4), tests=[np.array([4]), np.array([5])])
    >>> grid = [{"factor": 1.0}, {"factor": 0.5}]
    >>> fitted = ShrunkenMean.assay_path.fit_predict(ShrunkenMean(), training, grid)
    >>> [[block.value.tolist() for block in each.predictions] for each in fitted]
    [[[3.0], [3.0]], [[1.5], [1.5]]]
    >>> ShrunkenMean.assay_path.n_fits(grid)
    1

    A test of such a path calls `assay.select.assert_path_equals_single_fits`.
    """

    def group(self, params: Mapping[str, Any]) -> Hashable | None:  # noqa: ARG002
        """Return what the candidates of one run have in common; equal values share a run.

        None: the candidate counts as a fit of its own. All such candidates are still passed to one
        `run`, which may take rows out of the table once for all of them.

        Parameters
        ----------
        params : mapping
            Parameters of the candidate; when fits are counted, without those of the template.
        """
        return None

    def share(self, X: NDArray[Any], candidates: Candidates) -> Any:  # noqa: ARG002
        """Prepare what all training sets of a table can use: sort orders, products, distances.

        Called at most once per table; found as `TrainingSet.shared`. Nothing in it may depend on
        which rows are held out.
        """
        return None

    def check(self, model: Any, training: TrainingSet) -> None:
        """Raise what a fit of the model would raise about its parameters.

        A candidate that is refused has no part in the run of its group.
        """

    @abstractmethod
    def run(self, models: Sequence[Any], training: TrainingSet) -> Run:
        """Do the work that the models of a group share on one training set.

        Parameters
        ----------
        models : sequence of estimator
            Unfitted and checked, in the order of the candidates; `read` gets the same objects.
        training : TrainingSet
            The rows.
        """

    @abstractmethod
    def read(self, run: Run, model: Any) -> Answer:
        """Return the predictions of one model of the group; called once for each model."""

    def model(self, template: Any, candidate: Mapping[str, Any]) -> Any:
        """Return an unfitted copy of the template with the parameters of a candidate."""
        params = template.get_params(deep=False)
        if not candidate.keys() <= params.keys():
            for name in candidate:
                if name.partition("__")[0] not in params:
                    raise ParameterError(
                        f"{type(template).__name__} has no parameter {name!r}"
                        f"{did_you_mean(name, params)}"
                    )
            return clone(template).set_params(**candidate)
        # As above, without looks at the signature: a grid may have hundreds of candidates.
        own = {
            name: value if type(value) in _PLAIN else clone(value, safe=False)
            for name, value in params.items()
            if name not in candidate
        }
        return type(template)(**own, **candidate)

    def n_fits(self, candidates: Candidates) -> int:
        """Return how many fits these candidates cost on one training set."""
        groups = [self.group(each) for each in candidates]
        return groups.count(None) + len({group for group in groups if group is not None})

    def fit_predict(
        self, template: Any, training: TrainingSet, candidates: Candidates
    ) -> Iterator[Fitted]:
        """Yield, for each candidate in order, its predictions for each block of test rows.

        Parameters
        ----------
        template : estimator
            Unfitted; a candidate overrides its parameters.
        training : TrainingSet
            The rows.
        candidates : sequence of mapping
            Parameter settings.

        Raises
        ------
        Exception
            In its turn, what a fit of the candidate would raise.
        """
        params = template.get_params(deep=False)
        groups = [self.group({**params, **each}) for each in candidates]
        models = [self._checked(template, training, each) for each in candidates]
        left = Counter(groups)
        runs: dict[Hashable, Run] = {}
        sizes = [len(test) for test in training.tests]
        for place, group in enumerate(groups):
            model, error = models[place]
            if error is not None:
                raise error
            if group not in runs:
                members = [
                    m
                    for (m, wrong), g in zip(models, groups, strict=True)
                    if wrong is None and g == group
                ]
                runs[group] = self.run(members, training)
                del members
            answer = self.read(runs[group], model)
            # Neither models nor runs are kept longer than they are needed.
            models[place], model = (None, None), None
            left[group] -= 1
            if not left[group]:
                del runs[group]
            whole = answer.complete(training.n_classes)
            yield Fitted(whole.blocks(sizes), float(answer.size))

    def _checked(
        self, template: Any, training: TrainingSet, candidate: Mapping[str, Any]
    ) -> tuple[Any, Exception | None]:
        """Return the model of a candidate, or the error to be raised in its turn."""
        try:
            model = self.model(template, candidate)
            self.check(model, training)
        except Exception as error:
            return None, error
        return model, None


class SharedFit(ABC, Generic[Prepared]):
    """How fits on the same rows share work when the fitted models themselves are needed.

    The targets or the parameters differ: members of a reduction from many classes to two, or
    encoders of one training set. An instance is the class attribute ``assay_path`` of the
    estimator; it may be a `Path`, too.
    """

    @abstractmethod
    def prepare(self, model: Any, X: NDArray[Any], weight: Weight) -> Prepared | None:
        """Prepare what fits on the rows can use; None if these models are to be fitted alone.

        Nothing in it may depend on targets.
        """

    @abstractmethod
    def fit(
        self, model: Any, prepared: Prepared, X: NDArray[Any], y: NDArray[Any], weight: Weight
    ) -> Any:
        """Return the model, fitted to the bit as by its own ``fit``.

        Called for several models on the same rows, perhaps from several threads at once.
        """
