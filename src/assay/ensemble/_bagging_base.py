"""Common part of both bagging estimators: drawing, fitting, summing and the state."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from assay.base import (
    DataError,
    Estimator,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    draw_seed,
    in_threads,
)
from assay.base.stored import Array, Count, Integers, Models, Plain, declared
from assay.ensemble._bagging_members import (
    Drawing,
    fit_member,
    seeded_copy,
)
from assay.ensemble._forest_plan import check_count_or_share, is_count
from assay.ensemble._forest_task import BOOTSTRAP_FAILURES

_BOOLEANS = (True, False)


class Bagging(Estimator):
    """Common part of the bagging classifier and regressor."""

    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    expected_failures: ClassVar[Mapping[str, str]] = BOOTSTRAP_FAILURES
    stored = declared(
        member_features_=Integers("members, width", 0, "features-1"),
        estimators_=Models("members", features="width"),
        member_seeds_=Integers("members", 0),
        n_samples_=Count(1),
        draw_weight_=Array("0 | n_samples_", 0),
        oob_score_=Plain(float, when="oob_score"),
    )

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """The columns of each member."""
        return list(self.member_features_)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows drawn for each member, ascending."""
        drawing = self._drawing(self.n_samples_, self.draw_weight_)
        return [drawing.rows(seed) for seed in self.member_seeds_.tolist()]

    @abstractmethod
    def _default(self) -> Any:
        """Return the member used for ``estimator=None``."""

    @abstractmethod
    def _is_valid_member(self, estimator: Any) -> bool:
        """Return whether an estimator can be a member."""

    @abstractmethod
    def _contribution(self, member: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return a member's contribution to the sum, of shape (n_samples, n_outputs)."""

    def _check_parameters(self) -> None:
        kind = "classifier" if is_classifier(self) else "regressor"
        given = self.estimator
        if given is not None and not (is_instance(given) and self._is_valid_member(given)):
            raise ParameterError(f"estimator must be None or a {kind}; got {given!r}")
        check_interval("n_estimators", self.n_estimators, 1, integer=True)
        if self.max_samples is not None:
            check_count_or_share("max_samples", self.max_samples, 1, 1.0, None)
        check_count_or_share("max_features", self.max_features, 1, 1.0)
        for name in ("bootstrap", "bootstrap_features", "oob_score"):
            if not (name == "oob_score" and callable(self.oob_score)):
                check_option(name, getattr(self, name), _BOOLEANS)
        check_n_jobs(self.n_jobs)
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                "oob_score must be False when bootstrap=False, since the score of rows that were "
                f"not drawn needs draws with replacement; got {self.oob_score!r}"
            )

    def _drawing(self, n_samples: int, weight: NDArray[np.float64]) -> Drawing:
        return Drawing(
            n_samples=n_samples,
            n_features=self.n_features_in_,
            n_draws=_number("max_samples", self.max_samples, n_samples, "rows"),
            n_columns=_number("max_features", self.max_features, self.n_features_in_, "columns"),
            bootstrap=bool(self.bootstrap),
            bootstrap_features=bool(self.bootstrap_features),
            weight=weight if len(weight) else None,
        )

    def _fit_members(
        self, rows: NDArray[Any], target: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> None:
        rng = np.random.RandomState(draw_seed(self.random_state))
        seeds = rng.randint(np.iinfo(np.int32).max, size=(self.n_estimators,))
        # With replacement, weights are drawing probabilities; otherwise members get them.
        drawn_by = weight if weight is not None and self.bootstrap else np.empty(0)
        member_weight = None if self.bootstrap else weight
        drawing = self._drawing(len(rows), drawn_by)
        template = self._default() if self.estimator is None else self.estimator
        columns = np.stack([drawing.columns(seed) for seed in seeds.tolist()])

        def fitted(member: int) -> Any:
            seed, chosen = int(seeds[member]), columns[member]
            model = self._with_nominal_columns(seeded_copy(template, seed), chosen)
            own = _subtable(rows, chosen)
            return fit_member(model, own, target, drawing.rows(seed), member_weight)

        work = [partial(fitted, member) for member in range(self.n_estimators)]
        self.estimators_ = in_threads(work, check_n_jobs(self.n_jobs))
        self.member_features_, self.member_seeds_ = columns, seeds.astype(np.int64)
        self.n_samples_, self.draw_weight_ = len(rows), drawn_by

    def _with_nominal_columns(self, model: Any, columns: NDArray[np.int64]) -> Any:
        """Set the nominal columns of a member."""
        nominal = np.flatnonzero(np.isin(columns, self.categorical_features_))
        if not len(nominal):
            return model
        if "categorical_features" not in model.get_params(deep=False):
            raise DataError(
                f"X has nominal columns, but {type(model).__name__} takes numbers only; encode "
                "them first (assay.table.Encoder does)"
            )
        return model.set_params(categorical_features=nominal.tolist())

    def _sums(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Sum over the members, in their order."""
        work = [
            partial(self._contribution, member, _subtable(rows, columns))
            for member, columns in zip(self.estimators_, self.member_features_, strict=True)
        ]
        total: NDArray[np.float64] = sum(in_threads(work, check_n_jobs(self.n_jobs)))  # type: ignore[assignment]
        return total

    def _out_of_bag(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sums over the members not fitted on each row, and the number of these members."""
        drawing = self._drawing(len(rows), self.draw_weight_)

        def contribution(member: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            seen = np.zeros(len(rows), dtype=bool)
            seen[drawing.rows(int(self.member_seeds_[member]))] = True
            out = np.flatnonzero(~seen)
            part = _subtable(rows[out], self.member_features_[member])
            if not len(out):
                return out, part[:, :0]
            return out, self._contribution(self.estimators_[member], part)

        work = [partial(contribution, member) for member in range(len(self.estimators_))]
        sums, counts = np.zeros((len(rows), self._n_outputs())), np.zeros((len(rows), 1))
        for out, answers in in_threads(work, check_n_jobs(self.n_jobs)):
            if len(out):
                sums[out] += answers
                counts[out] += 1
        return sums, counts

    @abstractmethod
    def _n_outputs(self) -> int:
        """Return the number of outputs per row."""

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(n_estimators=5)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_instance(self.estimator):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


def is_instance(estimator: Any) -> bool:
    """Return whether a parameter is an estimator, and not its class."""
    return hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)


def _number(name: str, wanted: Any, available: int, what: str) -> int:
    if wanted is None:
        return available
    if not is_count(wanted):
        return max(1, math.floor(float(wanted) * available + 0.5))
    if wanted > available:
        raise ParameterError(
            f"{name} must be at most the number of {what} ({available}); got {wanted!r}"
        )
    return int(wanted)


def _subtable(rows: NDArray[Any], columns: NDArray[np.int64]) -> NDArray[Any]:
    if len(columns) == rows.shape[1] and (columns == np.arange(len(columns))).all():
        return rows
    return np.ascontiguousarray(rows[:, columns])
