"""Common part of weighted ensembles: members, encoders, and given or learned weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    draw_seed,
    in_threads,
    seeded,
)
from assay.base.stored import Array, Integers, Models, declared, ensure
from assay.ensemble._convex_weights import convex_weights
from assay.ensemble._folds import group_numbers, splits
from assay.ensemble._layers import Layers, Target, Weight
from assay.ensemble._members import Named, check_members, common_tag
from assay.ensemble._outputs import n_rows
from assay.ensemble._pair_out import NONE, Inputs, sets_of_folds

Floats = NDArray[np.float64]


def blended(parts: Sequence[Floats], weights: Sequence[float] | Floats) -> Floats:
    """Return the weighted sum of arrays, always added in the same order."""
    total = np.asarray(parts[0], dtype=np.float64) * float(weights[0])
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total = total + part * float(weight)
    return total


def whole_shares(member: Any, X: Any, n_classes: int) -> Floats:
    """Return a member's class probabilities; without `predict_proba`, 1 for its class."""
    if not hasattr(member, "predict_proba"):
        return np.asarray(np.eye(n_classes)[np.asarray(member.predict(X)).astype(np.int64)])
    output = np.asarray(member.predict_proba(X), dtype=np.float64)
    seen = np.asarray(member.classes_).astype(np.int64)
    if len(seen) == n_classes:
        return output
    whole = np.zeros((len(output), n_classes))
    whole[:, seen] = output
    return whole


#: Rules for the fitted attributes of both.
WEIGHTED = declared(
    weights_=Array("members", 0, 1),
    estimators_=Models("members", features=""),
    encoder_of_=Integers("members", -1),
    encoders_=Models(methods=("transform", "get_feature_names_out"), optional=True),
)


class Weighted(Layers):
    """Members with one weight each, and an encoder in front of each where needed."""

    _member_lists = ("estimators",)

    @classmethod
    def _assembled(
        cls,
        members: Named,
        weights: ArrayLike,
        encoders: Sequence[Any] | None,
        n_features: int,
    ) -> Self:
        """Return an ensemble of fitted members."""
        share = _checked_weights(weights, len(members))
        model = cls([(name, clone(member)) for name, member in members], weights=share.tolist())
        model.estimators_ = [member for _, member in members]
        model.weights_ = share
        found: list[Any] = []
        places = []
        for encoder in encoders if encoders is not None else [None] * len(members):
            if encoder is not None and not any(encoder is each for each in found):
                found.append(encoder)
            places.append(
                -1 if encoder is None else [encoder is each for each in found].index(True)
            )
        model.encoder_of_ = np.array(places, dtype=np.int64)
        if found:
            model.encoders_ = found
        model.n_features_in_ = n_features
        return model

    def _fit_weighted(self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: Any) -> Self:
        members = self._checked_members()
        seed = draw_seed(self.random_state)
        X, target, weight = self._start(X, y, sample_weight, [members])
        copies = [seeded(member, (seed, at)) for at, (_, member) in enumerate(members)]
        if self.weights is None:
            self.weights_ = self._learned(copies, X, target, weight, groups, seed)
        else:
            self.weights_ = _checked_weights(self.weights, len(members))
        self.estimators_ = self._fit_all(copies, X, target, weight)
        self.encoder_of_ = np.full(len(members), -1, dtype=np.int64)
        if hasattr(self, "encoders_"):
            del self.encoders_
        return self

    def _checked_members(self) -> Named:
        members = check_members("estimators", self.estimators, self._kind, self.get_params(False))
        check_n_jobs(self.n_jobs)
        check_interval("ridge", self.ridge, 0.0)
        if not (hasattr(self.cv, "split") or hasattr(self.cv, "__iter__")):
            check_interval("cv", self.cv, 2, integer=True)
        return members

    def _learned(
        self,
        members: Sequence[Any],
        X: Any,
        target: Target,
        weight: Weight,
        groups: Any,
        seed: int,
    ) -> Floats:
        """Return the weights of least loss on out-of-fold predictions."""
        n = n_rows(X)
        codes = target.astype(np.int64) if self._kind == "classifier" else np.zeros(n, np.int64)
        parts = splits(self.cv, X, codes, group_numbers(groups, X, n), seed)
        inputs = Inputs(X, parts, None, False, type(self).__name__)
        output = self._held_out(
            members, self._asked_for(members), inputs, sets_of_folds(len(parts), 1), target, weight
        )
        oof = Inputs(X, parts, output, False, type(self).__name__).outputs(NONE)
        if self._kind == "regressor":
            return convex_weights(oof, target, sample_weight=weight, ridge=self.ridge)
        truth = _true_shares(oof.reshape(n, len(members), -1), codes)
        return convex_weights(truth, loss="log", sample_weight=weight, ridge=self.ridge)

    def _asked_for(self, members: Sequence[Any]) -> list[str]:
        if self._kind == "regressor":
            return ["predict"] * len(members)
        has = [hasattr(member, "predict_proba") for member in members]
        return ["predict_proba" if each else "predict" for each in has]

    def _answers(self, X: Any, ask: Any) -> Floats:
        """Return the weighted mean of ``ask(member, rows)`` over the members."""
        check_is_fitted(self)
        readers = [
            member
            for member, place in zip(self.estimators_, self.encoder_of_, strict=True)
            if place < 0
        ]
        sparse = not hasattr(self, "encoders_") and common_tag(readers, "sparse")
        table = self._table(X, reset=False, accept_sparse=sparse)
        encoded = [encoder.transform(table) for encoder in getattr(self, "encoders_", [])]
        work = [
            partial(ask, member, table if place < 0 else encoded[place])
            for member, place in zip(self.estimators_, self.encoder_of_.tolist(), strict=True)
        ]
        return blended(in_threads(work, check_n_jobs(self.n_jobs)), self.weights_)

    def _check_weighted(self) -> None:
        """Check the structure of a restored ensemble."""
        where = f"the model is damaged: {type(self).__name__}"
        fits = abs(float(self.weights_.sum()) - 1.0) <= 1e-9
        ensure(fits, f"{type(self).__name__}.weights_ does not add up to 1")
        encoders = getattr(self, "encoders_", [])
        ensure(isinstance(encoders, list), "encoders_ is not a list")
        widths = [len(encoder.get_feature_names_out()) for encoder in encoders]
        known = self.encoder_of_.max() < len(widths)
        ensure(known, f"encoder_of_ has values outside [-1, {len(widths) - 1}]")
        for at, place in enumerate(self.encoder_of_.tolist()):
            width = self.n_features_in_ if place < 0 else widths[place]
            member = self.estimators_[at]
            if getattr(member, "n_features_in_", width) != width:
                raise DataError(
                    f"{where}.estimators_[{at}] has {member.n_features_in_} columns, not {width}"
                )
            if not self._knows(member, all_classes=False):
                raise DataError(f"{where}.estimators_[{at}] has other classes than the model")

    def __sklearn_tags__(self) -> Any:
        tags = super(Layers, self).__sklearn_tags__()
        readers = [member for _, member in self._members("estimators")]
        for name in ("sparse", "allow_nan", "categorical"):
            setattr(tags.input_tags, name, common_tag(readers, name))
        return tags


def _checked_weights(weights: Any, count: int) -> Floats:
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != (count,) or not np.isfinite(given).all() or given.min() < 0:
        raise ParameterError(
            f"weights must be {count} numbers, one per member, not negative; got {weights!r}"
        )
    total = float(given.sum())
    if not total > 0:
        raise ParameterError(f"weights must not all be zero; got {weights!r}")
    return given if abs(total - 1.0) < 1e-12 else np.asarray(given / total)


def _true_shares(output: Floats, codes: NDArray[np.int64]) -> Floats:
    """Return each member's probability of the true class, from (rows, members, columns)."""
    if output.shape[2] == 1:  # two classes: the probability of the second
        return np.where(codes[:, None] == 1, output[:, :, 0], 1.0 - output[:, :, 0])
    return np.asarray(output[np.arange(len(codes)), :, codes])
