"""A sequence of transformers as one, which a model file can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags

from assay.base import DataError, ParameterError, Transformer, check_random_state, draw_seed, seeded
from assay.base.stored import Models, declared, ensure
from assay.features._names import names_in
from assay.features._relief import ReliefF


class Chain(Transformer):
    r"""Apply several transformers in turn, each fitted on the output of the one before.

    Parameters
    ----------
    steps : sequence of transformers
        At least one, such as an `assay.table.Encoder` and then a `ConsensusSelector`.
    random_state : int, RandomState or None, default=None
        Seed of steps without a seed of their own.

    Attributes
    ----------
    estimators_ : list of transformers
        The fitted steps.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    Like scikit-learn's `Pipeline` without a model at the end. Unlike it, it can be written to a
    model file, so it can be the encoder of a candidate in a study.

    .. math:: z = t_m( \cdots t_2( t_1(x) ) )

    Examples
    --------
    >>> import numpy as np
    >>> from assay.features import Chain, ReliefF
    >>> from assay.table import Encoder
    >>> X = np.random.default_rng(0).normal(size=(100, 6))
    >>> y = X[:, 2] > 0
    >>> chain = Chain([Encoder(), ReliefF(n_features_to_select=1)]).fit(X, y)
    >>> chain.get_feature_names_out().tolist()
    ['x2']
    """

    model_id: ClassVar[int | None] = 247
    stored = declared(estimators_=Models(features="", methods=("transform",)))

    def __init__(
        self,
        steps: Sequence[Any],
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.steps = steps
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the steps in turn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, in any form that the first step accepts.
        y : array-like of shape (n_samples,), default=None
            Their targets, for steps that use them.

        Returns
        -------
        Chain
            The fitted chain.
        """
        self._fit_steps(X, y)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Fit the steps in turn, and return the transformed training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, in any form that the first step accepts.
        y : array-like of shape (n_samples,), default=None
            Their targets, for steps that use them.

        Returns
        -------
        ndarray or dataframe
            With target encoders this differs from the result of `transform`.
        """
        return self._fit_steps(X, y)

    def transform(self, X: ArrayLike) -> Any:
        """Return the output of the last step.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or dataframe
        """
        table = self._table(X, reset=False)
        for step in self.estimators_:
            table = step.transform(table)
        return table

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input columns; None: those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of object
        """
        names = names_in(self, input_features)
        for step in self.estimators_:
            given = None if hasattr(step, "feature_names_in_") else names
            names = np.asarray(step.get_feature_names_out(given), dtype=object)
        return names

    def _fit_steps(self, X: ArrayLike, y: ArrayLike | None) -> Any:
        self._check_parameters()
        if y is None and get_tags(self).target_tags.required:
            raise DataError("Chain requires y to be passed, but the target y is None")
        table = self._table(X, reset=True)
        seed = draw_seed(self.random_state)
        fitted = []
        for number, step in enumerate(self.steps):
            model = seeded(step, (seed, number))
            table = model.fit_transform(table, y)
            fitted.append(model)
        self.estimators_ = fitted
        return table

    def _check_parameters(self) -> None:
        listed = isinstance(self.steps, (list, tuple)) and len(self.steps) > 0
        if not listed or not all(
            hasattr(step, "fit") and hasattr(step, "transform") and not isinstance(step, type)
            for step in self.steps
        ):
            raise ParameterError(
                f"steps must be a list of transformers, at least one; got {self.steps!r}"
            )
        check_random_state(self.random_state)

    def _check_more(self) -> None:
        self._check_parameters()
        fits = len(self.estimators_) == len(self.steps)
        ensure(fits, "estimators_ does not hold one model per step")
        width = self.n_features_in_
        for number, step in enumerate(self.estimators_):
            fits = step.n_features_in_ == width
            ensure(fits, f"step {number} takes {step.n_features_in_} columns, but gets {width}")
            width = len(step.get_feature_names_out())

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls([ReliefF(5, n_features_to_select=0.75), ReliefF(3, n_features_to_select=0.5)]),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        steps = self.steps if isinstance(self.steps, (list, tuple)) else []
        inside = [get_tags(step) for step in steps if hasattr(step, "__sklearn_tags__")]
        if inside:
            tags.input_tags.allow_nan = inside[0].input_tags.allow_nan
            tags.input_tags.categorical = inside[0].input_tags.categorical
            tags.target_tags.required = any(each.target_tags.required for each in inside)
        return tags
