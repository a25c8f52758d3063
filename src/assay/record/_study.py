"""The record of a study: everything that was found, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from assay.record._base import Record, omitted, record, same_length
from assay.record._parts import Column, Estimate, Histogram, Rows, Score, check_format


@record
class Target(Record):
    """The column to predict.

    Parameters
    ----------
    name : str
        Its name.
    classes : tuple of str or None
        The classes in the order of their codes; None for numbers.
    positive : str or None
        The positive one of two classes.
    counts : tuple of int or None
        Rows of each class.
    histogram : Histogram or None
        Of numbers.
    """

    name: str
    classes: tuple[str, ...] | None
    positive: str | None
    counts: tuple[int, ...] | None
    histogram: Histogram | None

    def check(self) -> None:
        """Raise unless there is one count per class."""
        if self.classes is not None and self.counts is not None:
            same_length(classes=self.classes, counts=self.counts)


@record
class Plan(Record):
    """How the rows were split.

    Parameters
    ----------
    kind : str
        pair-out, holdout or forward.
    blocks, repeats : int
        Blocks of rows, and how often the rows were split anew.
    stratified, grouped : bool
        Whether blocks are balanced by target, and whether groups stay together.
    duplicates : int
        Rows that repeat another one and stay in its block.
    text : str
        The same in words.
    """

    kind: str
    blocks: int
    repeats: int
    stratified: bool
    grouped: bool
    duplicates: int
    text: str


@record
class Metric(Record):
    """What was optimised.

    Parameters
    ----------
    name : str
        As in scikit-learn.
    greater_is_better : bool
        Whether larger values are better.
    low, high : float or None
        Its range.
    """

    name: str
    greater_is_better: bool
    low: float | None
    high: float | None


@record
class Baseline(Record):
    """The score of the trivial model.

    Parameters
    ----------
    name : str
        What it always predicts.
    metric : str
        What is measured.
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Confidence level of the interval.
    """

    name: str
    metric: str
    value: float
    low: float
    high: float
    level: float


@record
class Verdict(Record):
    """Whether the model is better than the baseline.

    Parameters
    ----------
    code : str
        "better" or "no better".
    text : str
        The same in words.
    """

    code: str
    text: str


@record
class PlainEstimate(Record):
    """The score before it was corrected for the size of the training sets.

    Parameters
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Confidence level of the interval.
    text : str
        How the score was made from it.
    """

    value: float
    low: float
    high: float
    level: float
    text: str


@record
class Chosen(Record):
    """The chosen model.

    Parameters
    ----------
    family : str
        Its family, or "stack of n".
    params : dict
        Its hyperparameters.
    score : float
        Its cross-validated score, by which it was chosen.
    text : str
        The same in words.
    """

    family: str
    params: Mapping[str, Any]
    score: float
    text: str


@record
class StackMember(Record):
    """A model of the chosen stack.

    Parameters
    ----------
    family : str
        Its family.
    params : dict
        Its hyperparameters.
    weight : float
        Its weight.
    """

    family: str
    params: Mapping[str, Any]
    weight: float


@record
class Stack(Record):
    """The chosen stack.

    Parameters
    ----------
    members : tuple of StackMember
        Its models.
    score, single : float
        Scores of the stack and of the best single model on out-of-fold predictions.
    """

    members: tuple[StackMember, ...]
    score: float
    single: float


@record
class Calibration(Record):
    """What was tried to correct probabilities and threshold.

    Parameters
    ----------
    method : str or None
        What was chosen; None to leave them as they are.
    threshold : float or None
        Above which probability the second class is predicted.
    scores : dict of str to float
        The score of each way.
    """

    method: str | None
    threshold: float | None
    scores: Mapping[str, float]


@record
class Rung(Record):
    """The best candidate of a family, compared with the best of all.

    Parameters
    ----------
    name : str
        Family, baseline or stack.
    params : dict
        Hyperparameters.
    size : float or None
        Number of fitted parameters.
    score, lead : float
        Its score, and by how much the best of all is better.
    p_value : float or None
        Of the corrected resampled t-test.
    worse, equal, better : float or None
        Posterior probabilities.
    significantly_worse, chosen : bool
        Whether it is, and whether it was taken.
    """

    name: str
    params: Mapping[str, Any]
    size: float | None
    score: float
    lead: float
    p_value: float | None
    worse: float | None
    equal: float | None
    better: float | None
    significantly_worse: bool
    chosen: bool


@record
class Gap(Record):
    """Training score against the score on new rows.

    Parameters
    ----------
    train, test, gap : float
        Both scores and their difference, positive where training rows score better.
    """

    train: float
    test: float
    gap: float


@record
class Choice(Record):
    """How the model was chosen.

    Parameters
    ----------
    prefer : str
        "best" or "simplest".
    stack : Stack or None
        The stack, if one was chosen.
    stacked_blocks : int
        In how many outer choices a stack was taken.
    calibration : Calibration or None
        What was tried on probabilities.
    ladder : tuple of Rung
        The best candidate of each family, from small to large.
    gap : Gap or None
        Training score against the score on new rows.
    """

    prefer: str
    stack: Stack | None
    stacked_blocks: int
    calibration: Calibration | None
    ladder: tuple[Rung, ...]
    gap: Gap | None


@record
class NestedChoice(Record):
    """The choice that was made without one block, and its score there.

    Parameters
    ----------
    repeat, block, rows : int
        Which block of which split, and its rows.
    family : str
        The chosen family.
    params : dict
        Hyperparameters; of a stack, the weights.
    inner : float
        The score by which it was chosen.
    outer : float or None
        The score on the block; None where the metric is undefined.
    """

    repeat: int
    block: int
    rows: int
    family: str
    params: Mapping[str, Any]
    inner: float
    outer: float | None


@record
class Candidate(Record):
    """A row of the leaderboard.

    Parameters
    ----------
    rank : int or None
        1 is best; None if it failed.
    family : str
        Its family.
    params : dict
        Its hyperparameters.
    score, sd, size : float or None
        Cross-validated score, its standard deviation over blocks, number of fitted parameters.
    failed : str or None
        Why it has no score.
    """

    rank: int | None
    family: str
    params: Mapping[str, Any]
    score: float | None
    sd: float | None
    size: float | None
    failed: str | None


@record
class Work(Record):
    """How much was fitted.

    Parameters
    ----------
    fits : int
        Model fits that were done.
    naive_fits : int
        Those that a naive nested search would have done.
    units : int
        Units of work.
    """

    fits: int
    naive_fits: int
    units: int


@record
class Cost(Record):
    """What mistakes cost.

    Parameters
    ----------
    classes : tuple of str
        The classes.
    matrix : tuple of tuple of float
        A row per true and a column per predicted class.
    text : str
        The same in words.
    """

    classes: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    text: str

    def check(self) -> None:
        """Raise unless the matrix has one row and one column per class."""
        for line in (self.matrix, *self.matrix):
            same_length(classes=self.classes, matrix=line)


@record
class FamilyRule(Record):
    """Why a family was tried.

    Parameters
    ----------
    family : str
        Its name.
    candidates : int
        How many candidates it has.
    work : int
        Work units they may take.
    why : str
        The rule in words.
    """

    family: str
    candidates: int
    work: int
    why: str


@record
class Opening(Record):
    """One opening of the test set.

    Parameters
    ----------
    holdout, when, model : str
        Identity of the rows, time in UTC, digest of the model.
    rows : int
        Rows that were tested.
    scores : tuple of Score
        The study's own metric first.
    """

    holdout: str
    when: str
    model: str
    rows: int
    scores: tuple[Score, ...]


@record
class HoldoutPart(Record):
    """The test set that was set aside.

    Parameters
    ----------
    source : str
        The table it comes from.
    share : float or None
        Share of the rows; None for a table of its own.
    how : str
        How the rows were chosen.
    rows : int
        Number of rows.
    digest, identity : str
        SHA-256 of the rows as this model codes them, and as they are.
    notes : tuple of str
        What else is worth knowing.
    marks : str, optional
        Which rows of the table, packed.
    openings : tuple of Opening, optional
        When it was opened; not part of a model file.
    """

    source: str
    share: float | None
    how: str
    rows: int
    digest: str
    identity: str
    notes: tuple[str, ...]
    marks: str | None = omitted()
    openings: tuple[Opening, ...] | None = omitted()


@record
class Confusion(Record):
    """Rows by true and predicted class.

    Parameters
    ----------
    labels : tuple of str
        The classes.
    counts : tuple of tuple of int
        A row per true and a column per predicted class.
    """

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def check(self) -> None:
        """Raise unless the matrix has one row and one column per class."""
        for line in (self.counts, *self.counts):
            same_length(labels=self.labels, counts=line)


@record
class Roc(Record):
    """The ROC curve.

    Parameters
    ----------
    fpr, tpr : tuple of float
        False-positive and true-positive rates.
    """

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]

    def check(self) -> None:
        """Raise unless there are as many of both."""
        same_length(fpr=self.fpr, tpr=self.tpr)


@record
class CalibrationCurve(Record):
    """Predicted against observed probabilities.

    Parameters
    ----------
    predicted, observed : tuple of float
        Means of each bin.
    count : tuple of int
        Rows of each bin.
    """

    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    count: tuple[int, ...]

    def check(self) -> None:
        """Raise unless there are as many of each."""
        same_length(predicted=self.predicted, observed=self.observed, count=self.count)


@record
class Agreement(Record):
    """Predicted against true numbers, as counts in a grid.

    Parameters
    ----------
    x_edges, y_edges : tuple of float
        Edges of predicted and of true numbers.
    counts : tuple of tuple of int
        A row per bin of predicted and a column per bin of true numbers.
    """

    x_edges: tuple[float, ...]
    y_edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]

    def check(self) -> None:
        """Raise unless the edges fit the grid."""
        same_length(x_edges=self.x_edges[1:], counts=self.counts)
        for line in self.counts:
            same_length(y_edges=self.y_edges[1:], counts=line)


@record
class Places(Record):
    """The mean target at the first places of a ranking.

    Parameters
    ----------
    relevance, best : tuple of float
        As ranked, and in the best order.
    queries : tuple of int
        Queries that have the place.
    mean : float
        Of all rows.
    """

    relevance: tuple[float, ...]
    best: tuple[float, ...]
    queries: tuple[int, ...]
    mean: float

    def check(self) -> None:
        """Raise unless there are as many of each."""
        same_length(relevance=self.relevance, best=self.best, queries=self.queries)


@record
class Diagnostics(Record):
    """Where predictions for new rows were right and wrong; what the task does not have is None.

    Parameters
    ----------
    confusion : Confusion, optional
        Of classes.
    roc : Roc, optional
        Of two classes.
    calibration : CalibrationCurve, optional
        Of two classes.
    residuals : Histogram, optional
        Of numbers: true minus predicted.
    agreement : Agreement, optional
        Of numbers.
    places : Places, optional
        Of a ranking.
    """

    confusion: Confusion | None = omitted()
    roc: Roc | None = omitted()
    calibration: CalibrationCurve | None = omitted()
    residuals: Histogram | None = omitted()
    agreement: Agreement | None = omitted()
    places: Places | None = omitted()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; of classes, also that there is no curve."""
        found = super().to_json()
        if self.confusion is not None:
            for name in {"roc", "calibration"} - self._absent:
                found.setdefault(name, None)
        return found


@record
class TableRecord(Record):
    """What is known of a table before any fit.

    Parameters
    ----------
    format : int
        Number of the format.
    assay : str
        The version that made it.
    source, digest : str
        The table and its SHA-256.
    task : str
        binary, multiclass, regression or rank.
    target : Target
        The column to predict.
    rows : Rows
        Where every row went.
    columns : tuple of Column
        Every column of the table.
    notes : tuple of str
        What is worth knowing.
    """

    format: int
    assay: str
    source: str
    digest: str
    task: str
    target: Target
    rows: Rows
    columns: tuple[Column, ...]
    notes: tuple[str, ...]


@record
class StudyRecord(TableRecord):
    """Everything that a study found.

    Parameters
    ----------
    format, assay, source, digest, task, target, rows, columns, notes
        As in `TableRecord`.
    seed : int
        Seed of all random numbers.
    effort : str
        How many candidates were tried: quick, normal or thorough.
    plan : Plan
        How the rows were split.
    metric : Metric
        What was optimised.
    score : Score
        Of a model built this way on this many rows, for new rows.
    baseline : Baseline
        The score of the trivial model.
    gain : Estimate
        Score minus baseline.
    verdict : Verdict
        Whether the gain is clearly above zero.
    quick : Estimate or None
        The best cross-validated score, corrected for picking the best of many.
    chosen : Chosen
        The chosen model.
    nested : tuple of NestedChoice
        The choices made without each block.
    leaderboard : tuple of Candidate
        Every candidate, best first.
    work : Work
        How much was fitted.
    diagnostics : Diagnostics
        Where predictions for new rows were right and wrong.
    versions : dict of str to str
        Of the libraries.
    plain : PlainEstimate, optional
        The score before it was corrected for the size of the training sets.
    scores : tuple of Score, optional
        By every usual metric.
    choice : Choice, optional
        How the model was chosen.
    cost : Cost, optional
        What mistakes cost.
    portfolio : tuple of FamilyRule, optional
        Why each default family was tried.
    holdout : HoldoutPart, optional
        The test set that was set aside.
    """

    seed: int
    effort: str
    plan: Plan
    metric: Metric
    score: Score
    baseline: Baseline
    gain: Estimate
    verdict: Verdict
    quick: Estimate | None
    chosen: Chosen
    nested: tuple[NestedChoice, ...]
    leaderboard: tuple[Candidate, ...]
    work: Work
    diagnostics: Diagnostics
    versions: Mapping[str, str]
    plain: PlainEstimate | None = None
    scores: tuple[Score, ...] | None = None
    choice: Choice | None = None
    cost: Cost | None = omitted()
    portfolio: tuple[FamilyRule, ...] | None = omitted()
    holdout: HoldoutPart | None = omitted()

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the record that plain JSON values hold; see `Record.from_json`.

        Parameters
        ----------
        data : dict
            As `to_json` returned it.
        """
        check_format(data, cluster=False)
        return super().from_json(data)
