"""Bayesian search: points proposed by a sampler of Optuna, through ask and tell."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from assay.base import ParameterError
from assay.select.run import seed_of
from assay.select.searches._adaptive_point import Point, Trial
from assay.select.searches._space import Space


class Bayes:
    """Optuna's tree-structured Parzen estimator (TPE), as a pure function of the earlier trials.

    Notes
    -----
    For every step a new sampler is made whose seed comes from the key of the step, and a new study
    is filled with all earlier trials: no state is carried over, so a search that was killed
    proposes again what it proposed before. Ranges are coordinates of [0, 1] to Optuna, choices are
    categories, and the branch of a space is one more category. A trial without a score counts as
    the worst one seen. Source: Bergstra, Bardenet, Bengio and Kegl (2011), NeurIPS 24.
    """

    def __init__(self) -> None:
        self._optuna = _optuna()

    def propose(self, space: Space, trials: Sequence[Trial], n: int, key: str) -> list[Point]:
        """Return the next point.

        Parameters
        ----------
        space : Space
            The parameters and their ranges.
        trials : sequence of Trial
            All earlier trials of this search.
        n : int
            Maximum number of points; one is returned.
        key : str
            Identifies the seed, the search and the step.
        """
        if n < 1:
            return []
        with _quiet(self._optuna):
            sampler = self._optuna.samplers.TPESampler(
                n_startup_trials=1, seed=seed_of(key, "bayes")
            )
            study = self._optuna.create_study(direction="maximize", sampler=sampler)
            known = [each.score for each in trials if np.isfinite(each.score)]
            worst = min(known, default=0.0)
            for each in trials:
                score = each.score if np.isfinite(each.score) else worst
                study.add_trial(self._told(space, each.point, score))
            return [self._asked(space, study.ask())]

    def _told(self, space: Space, point: Point, score: float) -> Any:
        spread = self._optuna.distributions
        params: dict[str, Any] = {"branch": point.branch}
        distributions: dict[str, Any] = {
            "branch": spread.CategoricalDistribution(range(len(space.branches)))
        }
        for (name, each), u in zip(space.branches[point.branch].items(), point.place, strict=True):
            label = f"{point.branch}.{name}"
            if each.n_options is None:
                params[label] = u
                distributions[label] = spread.FloatDistribution(0.0, 1.0)
            else:
                params[label] = min(int(u * each.n_options), each.n_options - 1)
                distributions[label] = spread.CategoricalDistribution(range(each.n_options))
        return self._optuna.trial.create_trial(
            params=params, distributions=distributions, value=score
        )

    def _asked(self, space: Space, trial: Any) -> Point:
        branch = int(trial.suggest_categorical("branch", range(len(space.branches))))
        place = []
        for name, each in space.branches[branch].items():
            label = f"{branch}.{name}"
            if each.n_options is None:
                place.append(float(trial.suggest_float(label, 0.0, 1.0)))
            else:
                option = int(trial.suggest_categorical(label, range(each.n_options)))
                place.append((option + 0.5) / each.n_options)
        return Point(branch, tuple(place))


def _optuna() -> ModuleType:
    try:
        return import_module("optuna")
    except ImportError as error:
        raise ParameterError(
            "sampler='bayes' needs Optuna: pip install 'assay-ml[search]'; or use "
            "sampler='population', which needs nothing"
        ) from error


@contextmanager
def _quiet(optuna: ModuleType) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(before)
