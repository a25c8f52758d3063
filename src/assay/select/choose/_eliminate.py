"""Find families that are clearly beaten, without using the block they would be chosen for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from assay.select.choose._evidence import Evidence
from assay.select.plan import Plan, make_blocks

#: Probability of dropping the best candidate of a block.
ERROR_RATE = 0.01
_BATCHES = 10


def first_splits(plan: Plan) -> list[int]:
    """Return the splits of the first stage: a cycle of pairs, so that each block is in two.

    Parameters
    ----------
    plan : Plan
        Any plan; only pair-out plans with at least five blocks have two stages.

    Examples
    --------
    >>> from assay.select import pair_out
    >>> [pair_out(5).splits[index].tests for index in first_splits(pair_out(5))]
    [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]
    """
    if plan.kind != "pair-out" or plan.n_blocks < 5:
        return list(range(len(plan.splits)))
    near = (1, plan.n_blocks - 1)
    return [
        index for index, split in enumerate(plan.splits) if split.tests[1] - split.tests[0] in near
    ]


class Elimination:
    r"""Scores of the first stage in batches, and the families beaten for each outer block.

    Parameters
    ----------
    evidence : Evidence
        The search; rows that belong together stay in one batch.

    Notes
    -----
    For outer block i the first stage has two places: the block before and the block after it in the
    cycle, each predicted by the fit without that block and without i. The rows of a place are cut
    into B batches. With d the differences of two candidates' batch scores,

    .. math:: t = \frac{\bar d}{\sqrt{\frac{s^2}{B}
              (\frac{1}{J} + \frac{n_{test}}{n_{train}})}}

    where s is the pooled standard deviation of d within the J = 2 places and the second term is
    the correction of Nadeau and Bengio (2003) for training sets that overlap. A candidate is beaten
    if one such t, against any other, exceeds the quantile of Student's distribution with J(B - 1)
    degrees of freedom at 1 - 0.01 / C for C candidates; a family, if all its candidates are.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._n_candidates = sum(len(family.candidates) for family in evidence.families)
        self._parts: dict[tuple[int, int], list[NDArray[np.int64]]] = {}
        # (repeat, outer block) -> place -> family -> scores of shape (batches, candidates)
        self._scores: dict[tuple[int, int], dict[int, dict[int, NDArray[np.float64]]]] = {}

    def add(self, family: int, repeat: int, split: int) -> None:
        """Add a finished unit of the first stage."""
        evidence = self.evidence
        fit = evidence.plan.splits[split]
        entries = evidence.runner.entries(evidence.unit(family, repeat, split))
        for step, block in enumerate(fit.tests):
            rows = evidence.partitions[repeat].rows(block)
            parts = self._batches(repeat, block, rows)
            found = np.full((len(parts), len(entries)), np.nan)
            for column, entry in enumerate(entries):
                if entry.fitted is not None:
                    predicted = entry.fitted.predictions[step]
                    found[:, column] = [
                        evidence.question.score(rows, predicted, taken=part)[0] for part in parts
                    ]
            # This place may choose for the other block of the pair.
            outer = fit.tests[1 - step]
            self._scores.setdefault((repeat, outer), {}).setdefault(block, {})[family] = found

    def beaten(self, repeat: int, outer: int) -> set[int]:
        """Return the families that are clearly beaten on fits without block `outer`."""
        places = list(self._scores.get((repeat, outer), {}).values())
        if not places:
            return set()
        families = sorted(set.intersection(*(set(place) for place in places)))
        owner = np.repeat(families, [places[0][family].shape[1] for family in families])
        table = [np.hstack([place[family] for family in families]) for place in places]
        # All blocks of a partition have the same size, or nearly so.
        lost = beaten_candidates(table, 1.0 / (self.evidence.plan.n_blocks - 2), self._n_candidates)
        return {family for family in families if lost[owner == family].all()}

    def _batches(self, repeat: int, block: int, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        if (repeat, block) not in self._parts:
            question, clusters = self.evidence.question, self.evidence.blocks.clusters
            labels = make_blocks(
                question.y[rows],
                _BATCHES,
                task=question.task,
                groups=None if clusters is None else clusters[rows],
                seed=self.evidence.seed,
            )
            self._parts[repeat, block] = [np.flatnonzero(labels == b) for b in range(_BATCHES)]
        return self._parts[repeat, block]


def beaten_candidates(
    places: Sequence[NDArray[np.float64]], ratio: float, n_candidates: int
) -> NDArray[np.bool_]:
    """Return which columns are clearly worse than some other column.

    Parameters
    ----------
    places : sequence of ndarray of shape (batches, candidates)
        Scores, greater is better; NaN where a candidate has none.
    ratio : float
        Test rows over training rows.
    n_candidates : int
        C of the Bonferroni correction, fixed before any score is seen.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(10, 3))
    >>> beaten_candidates([noise + [0, 0, 9], noise[::-1] + [0, 0, 9]], 1 / 3, 3).tolist()
    [True, True, False]
    """
    count = places[0].shape[1]
    able = np.all([np.isfinite(place).any(axis=0) for place in places], axis=0)
    columns = np.flatnonzero(able)
    # Batches where the metric is undefined are left out.
    used = [place[:, columns][np.isfinite(place[:, columns]).all(axis=1)] for place in places]
    freedom = sum(len(place) - 1 for place in used)
    lost = np.zeros(count, dtype=bool)
    if len(columns) < 2 or min(len(place) for place in used) < 2:
        return lost
    bar = float(student.ppf(1 - ERROR_RATE / max(n_candidates, 2), freedom))
    mean = np.mean([place.mean(axis=0) for place in used], axis=0)
    centred = [place - place.mean(axis=0) for place in used]
    batches = np.mean([len(place) for place in used])
    for column in range(len(columns)):
        # Variance of the difference of this candidate and each other one, pooled over places.
        squares = sum(((part - part[:, [column]]) ** 2).sum(axis=0) for part in centred)
        error = np.sqrt(squares / freedom / batches * (1 / len(used) + ratio))
        ahead = mean - mean[column]
        lost[columns[column]] = bool((ahead > bar * error + 1e-12 * np.abs(mean)).any())
    return lost
