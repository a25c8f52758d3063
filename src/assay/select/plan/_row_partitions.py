"""Rows assigned to blocks: partitions, what stays together, and a summary in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.select.plan._blocks import linked, make_blocks
from assay.select.plan._duplicates import are_copies, duplicate_ids
from assay.select.plan._partition import Partition
from assay.select.plan._plan import Plan, PlanSummary
from assay.select.plan._question import Question


class RowPartitions:
    """The rows of a question in the blocks of a plan.

    Parameters
    ----------
    question : Question
        Rows, targets, groups and times.
    plan : Plan
        Which blocks are needed.
    repeats : int, default=1
        Number of partitions.
    seed : int, default=0
        Seed of the partitions.
    blocks : ndarray of int64, optional
        Block of each row; then groups, time and duplicates do not decide it.

    Attributes
    ----------
    partitions : list of Partition
        One per repeat.
    clusters : ndarray of int64 or None
        Rows that belong together: groups, and duplicates of the same row.
    duplicates : int
        Number of rows with a duplicate in their block.
    notes : list of str
        What was done about duplicate rows.
    """

    def __init__(
        self,
        question: Question,
        plan: Plan,
        repeats: int = 1,
        seed: int = 0,
        blocks: NDArray[np.int64] | None = None,
    ) -> None:
        self.question, self.plan, self.repeats, self.seed = question, plan, repeats, seed
        self.has_blocks = blocks is not None
        self.has_groups = question.groups is not None
        self.has_time = question.time is not None
        self.duplicates = 0
        self.notes: list[str] = []
        self.clusters = linked(question.groups)
        if not self.has_time and blocks is None:
            self._keep_duplicates_together(question.X)
        self.partitions = [
            Partition(
                make_blocks(
                    question.y,
                    plan.n_blocks,
                    task=question.task,
                    groups=self.clusters,
                    time=question.time,
                    seed=seed,
                    repeat=repeat,
                )
                if blocks is None
                else blocks,
                self.clusters if self.has_time else None,
            )
            for repeat in range(repeats)
        ]
        self._check_training_sets()

    @property
    def test_share(self) -> float:
        """Rows tested over rows trained on, where one block is held out; mean over all blocks."""
        sizes = np.concatenate([partition.sizes for partition in self.partitions])
        return float(np.mean(sizes / (len(self.question.y) - sizes)))

    @property
    def is_balanced(self) -> bool:
        """Whether blocks are balanced by target: neither given nor consecutive in time."""
        return not (self.has_time or self.has_blocks)

    def summary(self) -> PlanSummary:
        """Return how the rows were split, as numbers and as one sentence."""
        return PlanSummary(
            self.plan.kind,
            self.plan.n_blocks,
            self.repeats,
            self.is_balanced,
            self.has_groups,
            self.duplicates,
            self._text(),
        )

    def _text(self) -> str:
        n, k, kind = len(self.question.y), self.plan.n_blocks, self.plan.kind
        if kind == "pair-out":
            times = {1: "", 2: ", repeated twice"}.get(self.repeats, f", {self.repeats} times")
            text = (
                f"Nested {k}-fold cross-validation on {n} rows{times}: the block that scores a "
                f"model took no part in fitting or choosing it. Blocks are {self._order}."
            )
        elif kind == "forward":
            text = (
                f"{n} rows in {k} blocks, {self._order}: every model is trained on the rows before "
                "the block that scores it. The interval of the score is for the next period, as "
                "long as a block; that of the gain is for its mean over time."
            )
        else:
            text = (
                f"{n} rows in {k} blocks, {self._order}: candidates are chosen on one block, and "
                "the choice is scored on another, which took no part in it."
            )
        if self._purges:
            text += " Groups of the block that scores are left out of training."
        return text

    @property
    def _order(self) -> str:
        if self.has_blocks:
            return "as given"
        if self.has_time:
            return "consecutive in time"
        return "balanced by target" + (", whole groups in one block" if self.has_groups else "")

    @property
    def _purges(self) -> bool:
        return self.has_groups and self.has_time

    def _keep_duplicates_together(self, X: NDArray[Any]) -> None:
        ids = duplicate_ids(X)
        sizes = np.bincount(ids)
        repeated = int(sizes[sizes > 1].sum())
        if not repeated:
            return
        if not are_copies(X, ids):
            self.notes.append(
                f"{repeated} rows are duplicates; with so few distinct values that is expected, "
                "so they were treated as separate rows"
            )
            return
        joined = linked(self.clusters, ids)
        assert joined is not None
        distinct = int(joined.max()) + 1
        if distinct < 2 * self.plan.n_blocks:
            self.notes.append(
                f"{repeated} rows are duplicates; only {distinct} distinct rows are left, too few "
                "to keep duplicates in one block"
            )
            return
        self.clusters = joined
        self.duplicates = repeated
        self.notes.append(f"{repeated} rows are duplicates; they were kept in one block")

    def _check_training_sets(self) -> None:
        y, names = self.question.y, self.question.classes
        fits = {*self.plan.splits, *(outer.fit for outer in self.plan.outers)}
        for partition in self.partitions:
            for split in fits:
                rows = partition.train_rows(split.train, split.tests)
                if len(rows) < 2:
                    raise DataError(
                        f"only {len(rows)} rows are left to learn from when blocks {split.tests} "
                        "are held out; use more rows, finer groups or fewer blocks"
                    )
                if self.question.task.has_classes and len(np.unique(y[rows])) < 2:
                    code = int(y[rows[0]])
                    shown = repr(code) if names is None else repr(str(names[code]))
                    others = int((y != code).sum())
                    raise DataError(
                        f"only class {shown} is left to learn from when blocks {split.tests} are "
                        f"held out: the other classes have {others} rows in all; "
                        "use more rows of them or fewer blocks"
                    )
