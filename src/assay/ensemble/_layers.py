"""Common part of stacking and blending: layers of models under a final one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    Classifier,
    DataError,
    Estimator,
    ParameterError,
    Regressor,
    check_n_jobs,
    check_option,
    check_weight,
    class_codes,
    in_threads,
    real_values,
)
from assay.base.stored import Array, Integers, Models, Plain, check_stored, declared, ensure
from assay.ensemble._members import (
    Named,
    NamedMembers,
    check_kind,
    check_members,
    common_tag,
    fit_member,
)
from assay.ensemble._outputs import (
    METHODS,
    beside,
    columns,
    constant_columns,
    n_columns,
    n_rows,
    output_method,
)
from assay.ensemble._pair_out import Folds, Inputs

Target = NDArray[np.int64] | NDArray[np.float64]
Weight = NDArray[np.float64] | None


class Layers(NamedMembers, Estimator):
    """Layers of fitted models, each applied to the outputs of the one below, and a final model."""

    _kind = "classifier"
    _stack_method: str = "predict"

    def _classes(self) -> int:
        """Return the number of classes, 0 for a regressor."""
        return len(self.classes_) if self._kind == "classifier" else 0

    def _checked(self) -> tuple[list[Named], Any]:
        """Check what does not need the data; return the layers and the final estimator."""
        names = [*self.get_params(deep=False)]
        members = [check_members("estimators", self.estimators, self._kind, names)]
        levels = getattr(self, "levels", None)
        if levels is not None:
            if not isinstance(levels, (list, tuple)):
                raise ParameterError(
                    f"levels must be a list of lists of (name, estimator) pairs; got {levels!r}"
                )
            for level in levels:
                names += [name for name, _ in members[-1]]
                members.append(check_members("levels", level, self._kind, names))
        if self._kind == "classifier":
            check_option("stack_method", self.stack_method, ("auto", *METHODS))
        check_option("passthrough", self.passthrough, (True, False))
        check_n_jobs(self.n_jobs)
        final = self._usual_final() if self.final_estimator is None else self.final_estimator
        check_kind("final_estimator", final, self._kind)
        return members, final

    def _usual_final(self) -> Any:
        if self._kind == "classifier":
            return LogisticRegression(max_iter=1000)
        return LinearRegression(positive=not self.passthrough)

    def _target(self, X: Any, y: Any) -> Target:
        """Return class numbers or values; learn the classes."""
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        target: Target
        if self._kind == "classifier":
            self.classes_, target = class_codes(y)
            if len(self.classes_) < 2:
                raise DataError(
                    f"{type(self).__name__} needs at least two classes in y; got 1 class"
                )
        else:
            target = real_values(y)
        if len(target) != n_rows(X):
            raise DataError(
                f"X has {n_rows(X)} rows but y has {len(target)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        return target

    def _start(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, levels: list[Named]
    ) -> tuple[Any, Target, Weight]:
        """Check the data and return table, target and weights."""
        sparse = common_tag([member for _, member in levels[0]], "sparse")
        X = self._table(X, reset=True, accept_sparse=sparse)
        target = self._target(X, y)
        weight = None
        if sample_weight is not None:
            weight = check_weight(sample_weight, np.empty((n_rows(X), 0)))
            if weight is not None and self._kind == "classifier" and _is_one(target[weight > 0]):
                raise DataError(
                    f"{type(self).__name__} needs at least two classes in y; only 1 class has "
                    "rows with positive weight"
                )
        return X, target, weight

    def _methods(self, level: Named) -> list[str]:
        if self._kind == "regressor":
            return ["predict"] * len(level)
        return [output_method(name, member, self.stack_method) for name, member in level]

    def _held_out(
        self,
        members: Sequence[Any],
        methods: Sequence[str],
        inputs: Inputs,
        sets: Sequence[Folds],
        target: Target,
        weight: Weight,
    ) -> dict[Folds, NDArray[np.float64]]:
        """Return out-of-fold outputs of the members for some folds; other rows are NaN."""
        width = n_columns(self._classes())
        shape = (len(target), width * len(members))
        outputs = {out: np.full(shape, np.nan) for out in sets}
        tasks = [(at, out) for at in range(len(members)) for out in sets]
        work = [
            partial(self._fit_and_predict, members[at], methods[at], inputs, out, target, weight)
            for at, out in tasks
        ]
        results = in_threads(work, check_n_jobs(self.n_jobs))
        for (at, out), (rows, result) in zip(tasks, results, strict=True):
            outputs[out][rows, at * width : (at + 1) * width] = result
        return outputs

    def _fit_and_predict(
        self,
        member: Any,
        method: str,
        inputs: Inputs,
        out: Folds,
        target: Target,
        weight: Weight,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        train, known_rows = inputs.learned(out)
        rows, asked_rows = inputs.asked(out)
        n_classes, known = self._classes(), target[train]
        if n_classes and _is_one(known):
            return rows, constant_columns(int(known[0]), method, len(rows), n_classes)
        own = None if weight is None else weight[train]
        if own is not None and not own.any():
            raise DataError(
                "sample_weight is zero in every row that a fold learns from; use fewer folds"
            )
        model = fit_member(clone(member), known_rows, known, own)
        return rows, columns(model, method, asked_rows, n_classes)

    def _fit_all(self, members: Sequence[Any], X: Any, target: Target, weight: Weight) -> list[Any]:
        work = [partial(fit_member, clone(member), X, target, weight) for member in members]
        return in_threads(work, check_n_jobs(self.n_jobs))

    def _member_outputs(
        self, members: Sequence[Any], methods: Sequence[str], X: Any
    ) -> NDArray[np.float64]:
        """Return the outputs of fitted members."""
        work = [
            partial(columns, member, method, X, self._classes())
            for member, method in zip(members, methods, strict=True)
        ]
        return np.hstack(in_threads(work, check_n_jobs(self.n_jobs)))

    def _outputs(self, X: Any) -> Any:
        """Return the input of the final estimator for a checked table."""
        below, start = X, 0
        for size in self.level_sizes_.tolist():
            members = self.estimators_[start : start + size]
            methods = self.stack_method_[start : start + size].tolist()
            outputs = self._member_outputs(members, methods, below)
            below = beside(outputs, X, type(self).__name__) if self.passthrough_ else outputs
            start += size
        return below

    def _final_inputs(self, X: Any) -> Any:
        check_is_fitted(self)
        sparse = common_tag(self.estimators_[: self.level_sizes_[0]], "sparse")
        return self._outputs(self._table(X, reset=False, accept_sparse=sparse))

    def _check_layers(self) -> None:
        """Check the structure of restored layers."""
        where = f"the model is damaged: {type(self).__name__}"
        fits = self.level_sizes_.sum() == len(self.estimators_)
        ensure(fits, "level_sizes_ does not add up to the members in estimators_")
        start, n_features = 0, self.n_features_in_
        for size in self.level_sizes_.tolist():
            for at in range(start, start + size):
                self._check_member(where, at, n_features)
            n_features = size * n_columns(self._classes())
            n_features += self.n_features_in_ if self.passthrough_ else 0
            start += size
        check_stored(self, declared(final_estimator_=Models(features=str(n_features), single=True)))
        if not self._knows(self.final_estimator_, all_classes=True):
            raise DataError(f"{where}.final_estimator_ has other classes than the model")

    def _check_member(self, where: str, at: int, n_features: int) -> None:
        member, method = self.estimators_[at], str(self.stack_method_[at])
        if method not in METHODS or not hasattr(member, method):
            raise DataError(f"{where}.estimators_[{at}] has no method {method!r}")
        if getattr(member, "n_features_in_", n_features) != n_features:
            raise DataError(
                f"{where}.estimators_[{at}] has {member.n_features_in_} columns, not {n_features}"
            )
        if not self._knows(member, all_classes=False):
            raise DataError(f"{where}.estimators_[{at}] has other classes than the model")

    def _knows(self, member: Any, *, all_classes: bool) -> bool:
        """Return whether a member's classes are codes of the model's classes."""
        n_classes = self._classes()
        if not n_classes:
            return True
        found = np.asarray(getattr(member, "classes_", ()))
        if all_classes or found.dtype.kind not in "iu" or found.ndim != 1:
            return np.array_equal(found, np.arange(n_classes))
        inside = found.size > 0 and found.min() >= 0 and found.max() < n_classes
        return bool(inside and (found[1:] > found[:-1]).all())

    @property
    def named_estimators_(self) -> dict[str, Any]:
        """The fitted members by name."""
        names = [name for name, member in self._members() if not isinstance(member, str)]
        return dict(zip(names, self.estimators_, strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        readers = [member for _, member in self._members("estimators")]
        if self.passthrough is True:
            readers += [member for _, member in self._members("levels")]
            readers.append(
                self._usual_final() if self.final_estimator is None else self.final_estimator
            )
        for name in ("sparse", "allow_nan", "categorical"):
            setattr(tags.input_tags, name, common_tag(readers, name))
        return tags


def _is_one(target: Target) -> bool:
    """Return whether all rows have the same class."""
    return bool((target == target[0]).all())


def final_has(method: str) -> Any:
    """Return the test for `available_if`: whether the final estimator has a method."""

    def check(model: Layers) -> bool:
        final = getattr(model, "final_estimator_", model.final_estimator)
        if final is None:
            return hasattr(LogisticRegression, method)
        getattr(final, method)  # its own AttributeError is the better message
        return True

    return check


_LAYERS = declared(
    level_sizes_=Integers("layers", 1, filled=True),
    stack_method_=Array("members", kinds="U"),
    estimators_=Models("members", features=""),
    passthrough_=Plain(bool),
    final_estimator_=Models(features="", single=True),
)


class LayersClassifier(Classifier, Layers):
    """The prediction methods of stacked and blended classifiers."""

    _kind = "classifier"
    stored = _LAYERS

    def _check_more(self) -> None:
        self._check_layers()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        inputs = self._final_inputs(X)
        codes = np.asarray(self.final_estimator_.predict(inputs))
        labels: NDArray[Any] = self.classes_[codes.astype(np.int64)]
        return labels

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, if the final estimator gives them.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        inputs = self._final_inputs(X)
        return np.asarray(self.final_estimator_.predict_proba(inputs))

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the final estimator's scores, if it gives them.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        inputs = self._final_inputs(X)
        return np.asarray(self.final_estimator_.decision_function(inputs))


class LayersRegressor(Regressor, Layers):
    """The prediction method of stacked and blended regressors."""

    _kind = "regressor"
    stored = _LAYERS

    def _check_more(self) -> None:
        self._check_layers()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the value of each row.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        inputs = self._final_inputs(X)
        return np.asarray(self.final_estimator_.predict(inputs), dtype=np.float64)
