"""In-fold encoding, done once per training set and shared by all families with the same encoder."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from assay.base import Path, SharedFit
from assay.select.plan import (
    Data,
    Partition,
    Split,
    digest,
)
from assay.select.run._family import Family
from assay.select.run._seeds import fit_seed, seeded


class Encodings:
    """The encoded matrices and shared work of the training sets under way.

    Parameters
    ----------
    capacity : int, default=2
        Number of matrices, and of results of ``Path.share``, to keep. Units are run training
        set by training set, so few are alive at any time.
    """

    def __init__(self, capacity: int = 2) -> None:
        self._matrices = _Cache(capacity)
        self._before = _Cache(capacity)
        self._fits = _Cache(capacity)
        self._shared = _Cache(capacity)

    def matrix(
        self,
        data: Data,
        partition: Partition,
        family: Family,
        split: Split,
        train: NDArray[np.int64],
        seeds: tuple[int, int],
    ) -> NDArray[Any]:
        """Return all rows as the family's encoder gives them after a fit on the training rows.

        `seeds` are the seed of the study and the number of the repeat.
        """
        if family.encoder is None:
            return data.X
        # Purged training sets depend on what is tested.
        tests = None if partition.purge is None else split.tests
        where = [data.digest, partition.digest, split.train, tests]
        seed = fit_seed(family.encoder, *seeds, "encoder", split.train, tests)
        made: NDArray[Any] = self._matrices.get(
            digest([*where, seed, family.encoder_digest]),
            lambda: self._encoded(seeded(family.encoder, seed), data, train, where),
        )
        return made

    def _encoded(
        self, encoder: Any, data: Data, train: NDArray[np.int64], where: list[Any]
    ) -> NDArray[Any]:
        """Return all rows encoded; a last step that can share its fit does so.

        The ``assay_path`` of its class is then an `assay.base.SharedFit`: PCA finds every number of
        components in one decomposition.
        """
        pipeline = isinstance(encoder, Pipeline)
        last = encoder.steps[-1][1] if pipeline else encoder
        sharing = getattr(type(last), "assay_path", None)
        if not isinstance(sharing, SharedFit):
            return encoded(encoder, data.X, data.y, train)
        X, before = data.X, None
        if pipeline and len(encoder.steps) > 1:
            # Seeds are part of the digest: steps that draw are not shared.
            before = digest([*where, digest(encoder[:-1], "encoder")])
            X = self._before.get(before, lambda: encoded(encoder[:-1], data.X, data.y, train))
        rows, y = X[train], data.y[train]
        prepared = self._fits.get(
            digest([*where, before, type(last).__qualname__]),
            lambda: sharing.prepare(last, rows, None),
        )
        last = last.fit(rows, y) if prepared is None else sharing.fit(last, prepared, rows, y, None)
        return _dense(last.transform(X))

    def shared(
        self,
        data: Data,
        family: Family,
        X: NDArray[Any],
        path: Path[Any],
        candidates: Sequence[Mapping[str, Any]],
    ) -> Any:
        """Return what the path shares on the matrix."""
        if family.encoder is not None:  # the matrix belongs to one training set
            return path.share(X, candidates)
        key = f"{data.digest}:{family.digest()}"
        return self._shared.get(key, lambda: path.share(X, family.candidates))


def encoded(
    encoder: Any, X: NDArray[Any], y: NDArray[Any], train: NDArray[np.int64]
) -> NDArray[Any]:
    """Fit the encoder on the training rows and return all rows encoded.

    Training rows go through ``fit_transform``, as in a pipeline: for target encoders that is not
    the same as ``fit`` and then ``transform``.
    """
    first = _dense(encoder.fit_transform(X[train], y[train]))
    rest = np.setdiff1d(np.arange(len(X)), train, assume_unique=True)
    whole = np.empty((len(X), first.shape[1]), dtype=first.dtype)
    whole[train] = first
    if len(rest):
        whole[rest] = _dense(encoder.transform(X[rest]))
    return whole


def _dense(matrix: Any) -> NDArray[Any]:
    dense = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
    if dense.ndim != 2:
        raise ValueError(f"the encoder gave an array of shape {dense.shape}, expected two axes")
    return dense


class _Cache:
    """The most recent values; each is computed once, even if several threads need it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > self._capacity:
                self._slots.popitem(last=False)
        with slot.lock:
            if not slot.made:
                slot.value = make()
                slot.made = True
            return slot.value


class _Slot:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made = False
        self.value: Any = None
