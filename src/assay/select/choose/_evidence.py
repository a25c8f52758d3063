"""Everything a conclusion rests on: the question, the blocks, the fits and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.select.choose._score import Candidate, ScoreTable
from assay.select.plan import Partition, Plan, Question, RowPartitions
from assay.select.run import Entry, Family, Runner, Unit


@dataclass(eq=False)
class Evidence:
    """A question and what the fits of its plan predicted.

    Parameters
    ----------
    question : Question
        What is asked.
    blocks : RowPartitions
        How the rows are split, and the plan.
    runner : Runner
        Runs units and reads them from the ledger.
    priority : ndarray of shape (n_candidates,), optional
        A tie between candidates goes to the lowest; without it to the smaller model.
    """

    question: Question
    blocks: RowPartitions
    runner: Runner
    priority: NDArray[np.int64] | None = None

    @property
    def plan(self) -> Plan:
        """Which fits answer the question."""
        return self.blocks.plan

    @property
    def families(self) -> Sequence[Family]:
        """What competes."""
        return self.runner.families

    @property
    def partitions(self) -> Sequence[Partition]:
        """The blocks, one partition per repeat."""
        return self.blocks.partitions

    @property
    def repeats(self) -> range:
        """Numbers of the partitions."""
        return range(len(self.blocks.partitions))

    @property
    def seed(self) -> int:
        """Seed of the search."""
        return self.runner.seed

    @cached_property
    def table(self) -> ScoreTable:
        """Scores of all candidates on all blocks; read when all units of the plan are there."""
        return _score_table(self)

    def unit(self, family: int, repeat: int, split: int) -> Unit:
        """Return the unit with all candidates of a family for a split of the plan."""
        return self.runner.unit(family, repeat, self.plan.splits[split])

    def predictions(self, repeat: int, split: int) -> Iterator[tuple[int, list[Entry]]]:
        """Yield (first column of the table, entries) of each family for one split."""
        column = 0
        for number, family in enumerate(self.families):
            yield column, self.runner.entries(self.unit(number, repeat, split))
            column += len(family.candidates)


def _score_table(evidence: Evidence) -> ScoreTable:
    """Score every candidate on every block that one of its fits did not see."""
    question, splits = evidence.question, evidence.plan.splits
    names = [
        Candidate(number, index)
        for number, family in enumerate(evidence.families)
        for index in range(len(family.candidates))
    ]
    places = [
        (repeat, split, block)
        for repeat in evidence.repeats
        for split in range(len(splits))
        for block in splits[split].tests
    ]
    shape = (len(places), len(names))
    table = ScoreTable(names, places, np.full(shape, np.nan), np.full(shape, np.nan))
    table.priority = evidence.priority
    row = 0
    for repeat, partition in enumerate(evidence.partitions):
        for split, fit in enumerate(splits):
            rows = [partition.rows(block) for block in fit.tests]
            for first, entries in evidence.predictions(repeat, split):
                for column, entry in enumerate(entries, first):
                    for note in entry.notes:
                        key = (names[column].family, note)
                        table.notes[key] = table.notes.get(key, 0) + 1
                    if entry.fitted is None:
                        table.failed[repeat, split, column] = entry.failed or "failed"
                        continue
                    for step, predicted in enumerate(entry.fitted.predictions):
                        score, reason = question.score(rows[step], predicted)
                        table.score[row + step, column] = score
                        table.size[row + step, column] = entry.fitted.size
                        if reason is not None:
                            table.reason[row + step, column] = reason
            row += len(rows)
    return table
