"""MODEL-SELECTION of Russell and Norvig: let the model grow until the validation error rises."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr
from sklearn.base import clone

from assay.base import DataError, Predicted, check_interval
from assay.evaluate import Interval, sample_interval
from assay.select.curves._chart import curve_chart
from assay.select.curves._fit import CurveFit, scores_of
from assay.select.curves._question import CurveQuestion
from assay.select.curves._result import curve_of
from assay.select.plan import (
    Partition,
    Question,
    RowPartitions,
    Split,
    make_blocks,
    one_out,
)
from assay.select.run import seeded

# Number of equal parts of the rows from which the test part is made.
_PARTS = 20
# A path fits many sizes at the cost of one, so this many are fitted at once.
_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class SizeSelection:
    """A chosen size, its model, and its error on rows that had no part in the choice.

    Unpacks as the pair (estimator, error) of the book.

    Parameters
    ----------
    estimator : estimator
        Fitted with the best size on the training part.
    error : float
        Its error on the test part.
    interval : Interval
        The same with its interval of 95 %.
    parameter : str
        The parameter that was increased.
    size : object
        Its best value.
    sizes : tuple
        All that were tried, in order.
    metric : str
        "error rate" of classes, else the name of the loss.
    training, validation : tuple of Interval
        Mean errors over the slices at each size, with bands.
    validation_errors : ndarray of shape (n_sizes, rounds * k)
        The errors behind `validation`.
    stopped : str
        Why the search for a size stopped.
    """

    estimator: Any
    error: float
    interval: Interval
    parameter: str
    size: Any
    sizes: tuple[Any, ...]
    metric: str
    training: tuple[Interval, ...]
    validation: tuple[Interval, ...]
    validation_errors: NDArray[np.float64]
    stopped: str

    def __iter__(self) -> Iterator[Any]:
        return iter((self.estimator, self.error))

    def chart(self) -> dict[str, Any]:
        """Return the two curves as a Vega-Lite specification."""
        return curve_chart(
            self.parameter, self.sizes, self.metric, self.training, self.validation, "validation"
        )


def model_selection(
    learner: Any,
    size_parameter: str,
    X: ArrayLike,
    y: ArrayLike,
    k: int = 10,
    *,
    sizes: Sequence[Any] | None = None,
    max_size: int = 100,
    rounds: int = 1,
    significance: float = 0.05,
    test_size: float = 0.2,
    shuffle: bool = True,
    groups: ArrayLike | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> SizeSelection:
    r"""Increase model size until the validation error rises significantly; test the best once.

    Parameters
    ----------
    learner : estimator
        Classifier or regressor, or a pipeline that ends in one.
    size_parameter : str
        The parameter that sets how complex the model may be, as ``set_params`` names it.
    X : array-like of shape (n_samples, n_features)
        Numbers; missing values as NaN if the learner takes them.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    k : int, default=10
        Slices of the cross-validation, at least 3.
    sizes : sequence, default=None
        Values of the parameter from simple to complex; None: 1, 2, 3, ...
    max_size : int, default=100
        Largest of 1, 2, 3, ...
    rounds : int, default=1
        Number of random slicings of the training part.
    significance : float, default=0.05
        Level of the test for a rise.
    test_size : float, default=0.2
        Share of the rows that is kept for the one test at the end, to the nearest twentieth.
    shuffle : bool, default=True
        Whether slices are random and balanced by class. False: consecutive rows, as in the book,
        and the last rows are the test part.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay together; only with `shuffle`.
    seed : int, default=0
        Seed of the slices, and of every ``random_state=None``.
    n_jobs : int, default=None
        Workers; None = 1, -1 = one per core. No effect on the result.

    Returns
    -------
    SizeSelection
        ``h, error = model_selection(...)`` gives the pair of the book.

    Notes
    -----
    The error is the error rate of classes and the mean squared error of numbers. With the
    differences :math:`d_1 \ldots d_J` between the errors of the current size and of the best one so
    far, over the J = rounds x k slices, the error "is starting to increase significantly" when the
    one-sided corrected resampled t-test is significant,

    .. math:: t = \frac{\bar d}{\sqrt{(\frac{1}{J} + \frac{n_{test}}{n_{train}})\,\hat\sigma^2}}
              > t_{J-1,\,1-\alpha}

    It also stops when size has no further effect: the last three sizes have the same training and
    validation error on every slice. The test part takes no part in any of this, so its error is
    unbiased; repeating the whole with other arguments and keeping the best is not.
    A learner of Assay with a path is fitted once per slice for 16 sizes.
    Sources: Russell and Norvig, Artificial Intelligence, MODEL-SELECTION and CROSS-VALIDATION;
    Nadeau and Bengio (2003), Machine Learning 52.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from assay.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = model_selection(DecisionTreeClassifier(), "max_depth", X, y)
    >>> h, error = found
    >>> h.max_depth == found.size, error < 0.15, len(found.sizes) >= found.size
    (True, True, True)
    """
    check_interval("k", k, 3, integer=True)
    check_interval("rounds", rounds, 1, integer=True)
    check_interval("max_size", max_size, 1, integer=True)
    check_interval("significance", significance, 0.0, 1.0)
    check_interval("test_size", test_size, 0.0, 1.0)
    question = CurveQuestion.of(learner, X, y, loss="neg_mean_squared_error", groups=groups)
    kept, tested, clusters = _parts(question.question, test_size, shuffle, seed)
    part = question.part(kept)
    inside = None if clusters is None else clusters[kept]
    partitions = [_slices(part, k, shuffle, inside, seed, repeat) for repeat in range(rounds)]
    fits = [
        CurveFit(repeat, partition, Split(split.train, (*split.tests, *split.train)))
        for repeat, partition in enumerate(partitions)
        for split in one_out(k).splits
    ]
    ratio = float(np.mean([each.ratio for each in fits]))
    wanted = list(range(1, max_size + 1)) if sizes is None else list(sizes)
    step = _AT_ONCE if question.shares_fits(size_parameter) else 1
    training = validation = np.empty((0, len(fits)))
    stopped = "every size was tried"
    for start in range(0, len(wanted), step):
        batch = [{size_parameter: size} for size in wanted[start : start + step]]
        train, test, _, failed = scores_of(part, part.family(batch), partitions, fits, seed, n_jobs)
        training = np.vstack([training, _errors(question, train)])
        validation = np.vstack([validation, _errors(question, test)])
        for size, row, why in zip(wanted[start:], test, failed, strict=False):
            if not np.isfinite(row).all():
                raise DataError(f"{size_parameter} = {size!r} has no error: {why}")
        end, reason = _end(training, validation, ratio, significance)
        if end is not None:
            training, validation, stopped = training[:end], validation[:end], reason
            break
    tried = tuple(wanted[: len(validation)])
    size = tried[_best(validation)]
    model = clone(learner).set_params(**{size_parameter: size})
    return _tested(question, model, kept, tested, size_parameter, size, tried, training,
                   validation, ratio, stopped, seed)  # fmt: skip


def _tested(
    question: CurveQuestion,
    model: Any,
    kept: NDArray[np.int64],
    tested: NDArray[np.int64],
    parameter: str,
    size: Any,
    tried: tuple[Any, ...],
    training: NDArray[np.float64],
    validation: NDArray[np.float64],
    ratio: float,
    stopped: str,
    seed: int,
) -> SizeSelection:
    """Fit the best size on the training part and open the test part."""
    asked, metric = question.question, question.metric
    classes = None if asked.classes is None else np.asarray(asked.classes)
    target = asked.y if classes is None else classes[asked.y]
    fitted = seeded(model, f"{seed}:model selection").fit(asked.X[kept], target[kept])
    said = fitted.predict(asked.X[tested])
    predicted = (
        Predicted(value=np.asarray(said, dtype=np.float64).reshape(-1))
        if classes is None
        else Predicted(label=np.searchsorted(classes, said).astype(np.int64))
    )
    found = sample_interval(metric, asked.y[tested], predicted, seed=seed)
    if metric.greater_is_better:  # accuracy, reported as an error rate
        found = Interval(1 - found.value, 1 - found.high, 1 - found.low, found.level)
    name = "error rate" if metric.greater_is_better else metric.name
    curve = curve_of(question, "complexity", parameter, tried, training, validation, ratio, None, 0)
    return SizeSelection(
        fitted,
        found.value,
        found,
        parameter,
        size,
        tried,
        name,
        curve.train,
        curve.test,
        validation,
        stopped,
    )


def _end(
    training: NDArray[np.float64], validation: NDArray[np.float64], ratio: float, level: float
) -> tuple[int | None, str]:
    """Return the number of sizes after which to stop, and why; None to continue."""
    for count in range(2, len(validation) + 1):
        now, best = validation[count - 1], validation[_best(validation[: count - 1])]
        if _rises(now - best, ratio, level):
            return count, "the validation error rose significantly"
        if count > 2 and all(
            np.array_equal(errors[count - 1], errors[count - back])
            for errors in (training, validation)
            for back in (2, 3)
        ):
            return count, "more size changed nothing"
    return None, ""


def _rises(differences: NDArray[np.float64], ratio: float, level: float) -> bool:
    count, mean = len(differences), float(differences.mean())
    spread = math.sqrt((1 / count + ratio) * float(differences.var(ddof=1)))
    if spread == 0:
        return mean > 0
    return bool(stdtr(count - 1, -mean / spread) < level)


def _best(errors: NDArray[np.float64]) -> int:
    """Return the first size of least mean error; differences by rounding are ties."""
    return int(np.argmin([float(f"{mean:.12g}") for mean in errors.mean(axis=1)]))


def _errors(question: CurveQuestion, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 - scores if question.metric.greater_is_better else scores


def _parts(
    question: Question, share: float, shuffle: bool, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Return the rows of the training part and of the test part, and what must stay together."""
    n, groups = len(question.y), question.groups
    if not shuffle:
        cut = n - round(share * n)
        return np.arange(cut), np.arange(cut, n), None
    count = min(_PARTS, n if groups is None else len(np.unique(groups)))
    blocks = RowPartitions(question, one_out(max(count, 3)), seed=seed)
    tested = blocks.partitions[0].labels < max(1, round(share * count))
    return np.flatnonzero(~tested), np.flatnonzero(tested), blocks.clusters


def _slices(
    part: CurveQuestion, k: int, shuffle: bool, groups: NDArray[Any] | None, seed: int, repeat: int
) -> Partition:
    y, task = part.question.y, part.question.task
    if shuffle:
        return Partition(make_blocks(y, k, task=task, groups=groups, seed=seed + 1, repeat=repeat))
    return Partition(np.searchsorted(np.arange(1, k) * len(y) // k, np.arange(len(y)), "right"))
