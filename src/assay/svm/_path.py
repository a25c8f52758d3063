"""Every C from one kernel matrix per kernel, sliced per fold (a path for `assay.select`).

A kernel value depends on its two rows alone, so a slice of the matrix of the whole table has the
bits that a fit on these rows computes, and the solver takes the same steps on it. What a candidate
costs beyond it is its own solve, from its own start: alpha seeding (from another C, or another
fold) ends at another point within the tolerance, and a path must give the numbers of a fit alone.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, ParameterError, Predicted
from assay.svm._fitting import class_weights
from assay.svm._machine import Queries
from assay.svm._pair_path import Known, answers, groups_of
from assay.svm.engine import Kernel, squared_distances

Candidates = Sequence[Mapping[str, Any]]
Rows = NDArray[np.int64]

#: Most bytes of kernel values kept for one table, and for one training set.
_MOST_BYTES = 256 * 2**20


class Grams:
    """Kernel matrices of a whole table, made when a second training set asks for them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        kind = np.float32 if X.dtype == np.float32 else np.float64
        self.rows = np.ascontiguousarray(X, dtype=kind)
        self._lock = threading.Lock()
        self._asked: set[Kernel] = set()
        self._made: dict[Kernel, NDArray[np.float32]] = {}

    def matrix(self, kernel: Kernel, n_threads: int) -> NDArray[np.float32] | None:
        """Return the kernel values of all pairs of rows; None when that is not worth it."""
        with self._lock:
            room = 4 * len(self.rows) ** 2 * (len(self._made) + 1) <= _MOST_BYTES
            if kernel not in self._made and kernel in self._asked and room:
                self._made[kernel] = kernel.matrix(self.rows, n_threads=n_threads, dtype=np.float32)
            self._asked.add(kernel)
            return self._made.get(kernel)


class KernelPath(ABC):
    """What both paths share: one kernel matrix for all candidates that have the same kernel."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Grams:  # noqa: ARG002
        """Prepare a place for kernel matrices of the whole table."""
        return Grams(X)

    def n_fits(self, candidates: Candidates) -> int:
        """Return one fit per candidate: only kernel values are shared."""
        return len(candidates)

    def fit_predict(
        self,
        estimator: Any,
        shared: Grams,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: Rows,
        tests: Sequence[Rows],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, per candidate and in their order, the predictions for each block of `tests`.

        Parameters
        ----------
        estimator : SVC or SVR
            Unfitted template; a candidate overrides its parameters.
        shared : Grams
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1, or target values.
        weight : ndarray or None
            Sample weights.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = numbers in the kept rows and their coefficients.
        """
        usual = estimator.get_params(deep=False)
        shares = Counter(_kernel_key(usual, candidate) for candidate in candidates)
        unit = _Unit(shared, train, np.concatenate(tests), n_kernels=len(shares))
        checked = _Checked(estimator, X[train], y[train], None if weight is None else weight[train])
        sizes = [len(test) for test in tests]
        together = self._together(unit, checked, estimator, y, candidates)
        for index, candidate in enumerate(candidates):
            ready = together(index)
            if ready is not None:
                yield Fitted(ready.predictions[0].blocks(sizes), ready.size)
                continue
            model = _candidate(estimator, usual, candidate)
            settings = model._check_params()
            rows, targets, weights = checked.for_model(model)
            table = model._training_table(rows, weights)
            known = _Known()
            if table.kernel.kind != "precomputed":
                alone = shares[_kernel_key(usual, candidate)] == 1
                known = unit.ask(
                    table.kernel, settings.n_threads, alone=alone, fixed=_is_fixed(model)
                )
                table = replace(table, values=known.values, exact=known.exact)
            model._learn(rows, table, targets, weights, settings)
            if known.cross is None:
                queries = model._queries(X[unit.test])
            else:
                queries = Queries(None, known.cross[model.support_].T, None)
            whole = self._predicted(model, queries, y)
            size = len(model.support_) * (X.shape[1] + len(model.dual_coef_))
            yield Fitted(whole.blocks(sizes), float(size))

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return clone(estimator).set_params(**candidate).fit(X, y, weight)

    def _together(
        self,
        unit: _Unit,  # noqa: ARG002
        checked: _Checked,  # noqa: ARG002
        estimator: Any,  # noqa: ARG002
        y: NDArray[Any],  # noqa: ARG002
        candidates: Candidates,  # noqa: ARG002
    ) -> Callable[[int], Fitted | None]:
        """Return what gives the candidates that are solved together; None for the others."""
        return lambda _: None

    @abstractmethod
    def _predicted(self, model: Any, queries: Queries, y: NDArray[Any]) -> Predicted: ...


class ClassifierPath(KernelPath):
    """The path of `SVC`."""

    def _together(
        self,
        unit: _Unit,
        checked: _Checked,
        estimator: Any,
        y: NDArray[Any],
        candidates: Candidates,
    ) -> Callable[[int], Fitted | None]:
        return _Pairs(unit, checked, estimator, int(y.max()) + 1, candidates)

    def _predicted(self, model: Any, queries: Queries, y: NDArray[Any]) -> Predicted:
        decisions = model._decisions(queries)
        label = model.classes_[model._codes(decisions)].astype(np.int64)
        n_classes = int(y.max()) + 1
        return Predicted(
            label, decision=_aligned(model._shaped(decisions), model.classes_, n_classes)
        )


class _Pairs:
    """The candidates of one unit that differ in C only, where there are many classes."""

    def __init__(
        self, unit: _Unit, checked: _Checked, estimator: Any, n_classes: int, candidates: Candidates
    ) -> None:
        self._unit, self._checked, self._estimator = unit, checked, estimator
        self._n_classes, self._candidates = n_classes, candidates
        self._usual = estimator.get_params(deep=False)
        groups = groups_of(self._usual, candidates) if n_classes > 2 else []
        self._group = {index: group for group in groups for index in group}
        self._found: dict[int, Fitted] = {}
        self._sorted: _Unit | None = None

    def __call__(self, index: int) -> Fitted | None:
        group = self._group.get(index)
        if group is not None and index == group[0]:
            self._found |= self._solved(group)
        return self._found.pop(index, None)

    def _solved(self, group: Sequence[int]) -> dict[int, Fitted]:
        """Return the candidates that could be solved; the others are left to a fit of their own."""
        members: list[tuple[int, Any]] = []
        for index in group:
            model = _candidate(self._estimator, self._usual, self._candidates[index])
            try:
                settings = model._check_params()
            except ParameterError:
                continue
            if np.isfinite(model.C):
                members.append((index, model))
        if not members:
            return {}
        model = members[0][1]
        rows, codes, weights = self._checked.for_model(model)
        n_classes = len(model.classes_)
        used = weights is None or bool((weights > 0).all())
        if n_classes < 3 or not used or rows.dtype != np.float64:
            return {}
        order = np.argsort(codes, kind="stable")
        if self._sorted is None:
            self._sorted = self._unit.ordered(order)
        kernel = model._training_table(rows, weights).kernel
        # Not kept: no other group has this kernel.
        known = self._sorted.made(kernel, settings.n_threads, alone=False, fixed=_is_fixed(model))
        if known.values is None or known.exact is None or known.cross is None:
            return {}
        weight = np.ones(len(codes)) if weights is None else weights
        factors = class_weights(model.class_weight, model.classes_, codes, weight)
        price = (weight * factors[codes])[order]
        uppers = np.stack([float(each.C) * price for _, each in members])
        found = answers(
            rows[order],
            kernel,
            codes[order],
            n_classes,
            uppers,
            Known(known.values, known.exact, known.cross),
            settings,
        )
        fitted = {}
        for (index, _), answer in zip(members, found, strict=True):
            if answer is not None:
                label = model.classes_[answer.code].astype(np.int64)
                decision = _aligned(answer.decision, model.classes_, self._n_classes)
                size = answer.n_support * (rows.shape[1] + n_classes - 1)
                fitted[index] = Fitted([Predicted(label, decision=decision)], float(size))
        return fitted


class RegressorPath(KernelPath):
    """The path of `SVR`."""

    def _predicted(self, model: Any, queries: Queries, y: NDArray[Any]) -> Predicted:  # noqa: ARG002
        return Predicted(value=model._values(queries))


class _Known(NamedTuple):
    """Kernel values of one training set and its test rows.

    Attributes
    ----------
    values : ndarray of float32 of shape (n_train, n_train) or None
        Of training rows with each other: what the solver would compute.
    exact : ndarray of float64 of shape (n_train, n_train) or None
        The same in float64: what the certificate of a solution would compute.
    cross : ndarray of float64 of shape (n_train, n_test) or None
        Of training with test rows. None for float32 tables, whose decisions are sums of float32
        values.
    """

    values: NDArray[np.float32] | None = None
    exact: NDArray[np.float64] | None = None
    cross: NDArray[np.float64] | None = None


class _Unit:
    """The kernel values of one training set, kept for all candidates that ask for them again."""

    def __init__(self, shared: Grams, train: Rows, test: Rows, n_kernels: int = 1) -> None:
        self.shared, self.train, self.test, self._n_kernels = shared, train, test, n_kernels
        self._distances: dict[tuple[bool, type], NDArray[Any]] = {}
        # A grid may go through all kernels for each C: one kept kernel would be made again and
        # again. As many are kept as fit.
        self._size = len(train) * (12 * len(train) + 8 * len(test))
        self._known: OrderedDict[Kernel, _Known] = OrderedDict()

    def ordered(self, order: NDArray[np.intp]) -> _Unit:
        """Return the same unit with its training rows in another order."""
        return _Unit(self.shared, self.train[order], self.test, self._n_kernels)

    def ask(self, kernel: Kernel, n_threads: int, *, alone: bool, fixed: bool) -> _Known:
        """Return the values of a kernel.

        A kernel of one candidate (`alone`) is left to the solver, unless the matrix of the whole
        table is there; it cannot be for one that depends on the training rows (not `fixed`).
        """
        if kernel not in self._known:
            while self._known and (len(self._known) + 1) * self._size > _MOST_BYTES:
                self._known.popitem(last=False)
            self._known[kernel] = self.made(kernel, n_threads, alone=alone, fixed=fixed)
        self._known.move_to_end(kernel)
        return self._known[kernel]

    def made(self, kernel: Kernel, n_threads: int, *, alone: bool, fixed: bool) -> _Known:
        """Make the values of a kernel."""
        whole = self.shared.matrix(kernel, n_threads) if fixed else None
        if (whole is None and alone) or self._size > _MOST_BYTES:
            return _Known()
        rows = self.shared.rows[self.train]
        if whole is not None:
            values = whole[np.ix_(self.train, self.train)]
        else:
            values = self._matrix(kernel, rows, None, n_threads, np.float32)
        if rows.dtype != np.float64 or alone:
            return _Known(values)
        exact = self._matrix(kernel, rows, None, n_threads, np.float64)
        tests = self.shared.rows[self.test]
        return _Known(values, exact, self._matrix(kernel, rows, tests, n_threads, np.float64))

    def _matrix(
        self,
        kernel: Kernel,
        rows: NDArray[Any],
        tests: NDArray[Any] | None,
        n_threads: int,
        dtype: type[np.floating[Any]],
    ) -> NDArray[Any]:
        """Return kernel values; rbf kernels of several gammas are made from the same distances."""
        if kernel.kind != "rbf" or self._n_kernels == 1:
            return kernel.matrix(rows, tests, n_threads=n_threads, dtype=dtype)
        key = (tests is None, dtype)
        if key not in self._distances:
            self._distances[key] = squared_distances(rows, tests, n_threads, dtype)
        return kernel.of_distances(self._distances[key], n_threads)


def _is_fixed(model: Any) -> bool:
    return model.kernel == "linear" or model.gamma != "scale" or model.sigma is not None


class _Checked:
    """Training data, checked once for all candidates as a fit checks it."""

    def __init__(
        self, estimator: Any, X: NDArray[Any], y: NDArray[Any], weight: NDArray[Any] | None
    ) -> None:
        self._probe = clone(estimator)
        self._given = (X, y, weight)
        self._data: Any = None
        self._learned: dict[str, Any] = {}

    def for_model(self, model: Any) -> Any:
        """Return rows, targets and weights; give the model what checking them learned."""
        if self._data is None:
            self._data = self._probe._fit_data(*self._given)
            self._learned = {
                name: value for name, value in vars(self._probe).items() if name.endswith("_")
            }
        vars(model).update(self._learned)
        return self._data


def _candidate(estimator: Any, usual: Mapping[str, Any], candidate: Mapping[str, Any]) -> Any:
    if candidate.keys() <= usual.keys():
        return type(estimator)(**{**usual, **candidate})
    return clone(estimator).set_params(**candidate)  # tells which parameter there is not


def _kernel_key(usual: Mapping[str, Any], candidate: Mapping[str, Any]) -> str:
    names = ("kernel", "gamma", "sigma", "sigma_convention", "coef0", "degree")
    return repr([candidate.get(name, usual[name]) for name in names])


def _aligned(
    decision: NDArray[np.float64], classes: NDArray[Any], n_classes: int
) -> NDArray[np.float64] | None:
    """Return decisions with one column for each class of the whole problem."""
    if n_classes == 2:
        return decision
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    if decision.shape[1] != len(classes):  # one against one: no column per class
        return None
    # The lowest number for classes that the training rows lack.
    whole = np.full((len(decision), n_classes), np.finfo(np.float64).min)
    whole[:, classes.astype(np.int64)] = decision
    return whole
