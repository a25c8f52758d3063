"""Every C from one kernel matrix per kernel, sliced per fold (a path for `assay.select`).

A kernel value depends on its two rows alone, so a slice of the matrix of the whole table has the
bits that a fit on these rows computes, and the solver takes the same steps on it. What a candidate
costs beyond it is its own solve, from its own start: alpha seeding (from another C, or another
fold) ends at another point within the tolerance, and a path must give the numbers of a fit alone.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Answer, Candidates, ParameterError, Path, Predicted, TrainingSet
from assay.svm._fitting import class_weights
from assay.svm._machine import Queries
from assay.svm._pair_path import Known, answers, groups_of
from assay.svm._shared_gram import SharedGram
from assay.svm.engine import Kernel, squared_distances

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


class KernelPath(SharedGram, Path["_Unit"]):
    """The path of `SVC` and `SVR`: one kernel matrix for all candidates with the same kernel."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Grams:  # noqa: ARG002
        """Prepare a place for kernel matrices of the whole table."""
        return Grams(X)

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Unit:
        """Prepare a place for kernel values; only these are shared."""
        return _Unit(models, training)

    def read(self, run: _Unit, model: Any) -> Answer:
        """Solve; the size is that of the numbers in the kept rows and their coefficients."""
        ready = run.together(model)
        if ready is not None:
            return ready
        settings = model._check_params()
        rows, targets, weights = run.checked.for_model(model)
        table = model._training_table(rows, weights)
        known = _Values()
        if table.kernel.kind != "precomputed":
            known = run.values.ask(
                table.kernel, settings.n_threads, alone=run.is_alone(model), fixed=_is_fixed(model)
            )
            table = replace(table, values=known.values, exact=known.exact)
        model._learn(rows, table, targets, weights, settings)
        if known.cross is None:
            queries = model._queries(run.training.test_rows())
        else:
            queries = Queries(None, known.cross[model.support_].T, None)
        size = float(len(model.support_) * (run.training.X.shape[1] + len(model.dual_coef_)))
        if run.training.n_classes is None:
            return Answer(Predicted(value=model._values(queries)), size)
        decisions = model._decisions(queries)
        label = model.classes_[model._codes(decisions)]
        predicted = Predicted(label, decision=model._shaped(decisions))
        return Answer(predicted, size, model.classes_)


class _Unit:
    """One training set, and what its candidates share."""

    def __init__(self, models: Sequence[Any], training: TrainingSet) -> None:
        self.training = training
        self.checked = _Checked(models[0], training)
        self._shares = Counter(map(_kernel_key, models))
        n_kernels = len(self._shares)
        self.values = _KernelValues(training.shared, training.train, training.tested, n_kernels)
        # Candidates that differ in C only are solved together where there are many classes.
        groups = groups_of(models) if (training.n_classes or 0) > 2 else []
        self._group = {model: group for group in groups for model in group}
        self._found: dict[Any, Answer] = {}
        self._sorted: _KernelValues | None = None

    def is_alone(self, model: Any) -> bool:
        """Whether no other candidate has this kernel."""
        return self._shares[_kernel_key(model)] == 1

    def together(self, model: Any) -> Answer | None:
        """Return a candidate that is solved with its group; None where it is to be fitted alone."""
        group = self._group.get(model)
        if group is not None:  # the first of its group
            for member in group:  # fitted models are not kept
                del self._group[member]
            self._found |= self._solved(group)
        return self._found.pop(model, None)

    def _solved(self, group: Sequence[Any]) -> dict[Any, Answer]:
        """Return the candidates that could be solved; the others are left to a fit of their own."""
        members: list[Any] = []
        for model in group:
            try:
                settings = model._check_params()
            except ParameterError:
                continue
            if np.isfinite(model.C):
                members.append(model)
        if not members:
            return {}
        model = members[0]
        rows, codes, weights = self.checked.for_model(model)
        n_classes = len(model.classes_)
        used = weights is None or bool((weights > 0).all())
        if n_classes < 3 or not used or rows.dtype != np.float64:
            return {}
        order = np.argsort(codes, kind="stable")
        if self._sorted is None:
            self._sorted = self.values.ordered(order)
        kernel = model._training_table(rows, weights).kernel
        # Not kept: no other group has this kernel.
        known = self._sorted.made(kernel, settings.n_threads, alone=False, fixed=_is_fixed(model))
        if known.values is None or known.exact is None or known.cross is None:
            return {}
        weight = np.ones(len(codes)) if weights is None else weights
        factors = class_weights(model.class_weight, model.classes_, codes, weight)
        price = (weight * factors[codes])[order]
        uppers = np.stack([float(each.C) * price for each in members])
        found = answers(
            rows[order],
            kernel,
            codes[order],
            n_classes,
            uppers,
            Known(known.values, known.exact, known.cross),
            settings,
        )
        solved = {}
        for member, answer in zip(members, found, strict=True):
            if answer is not None:
                predicted = Predicted(model.classes_[answer.code], decision=answer.decision)
                size = answer.n_support * (rows.shape[1] + n_classes - 1)
                solved[member] = Answer(predicted, float(size), model.classes_)
        return solved


class _Values(NamedTuple):
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


class _KernelValues:
    """The kernel values of one training set, kept for all candidates that ask for them again."""

    def __init__(self, shared: Grams, train: Rows, test: Rows, n_kernels: int = 1) -> None:
        self.shared, self.train, self.test, self._n_kernels = shared, train, test, n_kernels
        self._distances: dict[tuple[bool, type], NDArray[Any]] = {}
        # A grid may go through all kernels for each C: one kept kernel would be made again and
        # again. As many are kept as fit.
        self._size = len(train) * (12 * len(train) + 8 * len(test))
        self._known: OrderedDict[Kernel, _Values] = OrderedDict()

    def ordered(self, order: NDArray[np.intp]) -> _KernelValues:
        """Return the same with its training rows in another order."""
        return _KernelValues(self.shared, self.train[order], self.test, self._n_kernels)

    def ask(self, kernel: Kernel, n_threads: int, *, alone: bool, fixed: bool) -> _Values:
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

    def made(self, kernel: Kernel, n_threads: int, *, alone: bool, fixed: bool) -> _Values:
        """Make the values of a kernel."""
        whole = self.shared.matrix(kernel, n_threads) if fixed else None
        if (whole is None and alone) or self._size > _MOST_BYTES:
            return _Values()
        rows = self.shared.rows[self.train]
        if whole is not None:
            values = whole[np.ix_(self.train, self.train)]
        else:
            values = self._matrix(kernel, rows, None, n_threads, np.float32)
        if rows.dtype != np.float64 or alone:
            return _Values(values)
        exact = self._matrix(kernel, rows, None, n_threads, np.float64)
        tests = self.shared.rows[self.test]
        return _Values(values, exact, self._matrix(kernel, rows, tests, n_threads, np.float64))

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

    def __init__(self, model: Any, training: TrainingSet) -> None:
        self._probe = clone(model)
        self._given = training.data()
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


def _kernel_key(model: Any) -> str:
    names = ("kernel", "gamma", "sigma", "sigma_convention", "coef0", "degree")
    return repr([getattr(model, name) for name in names])
