"""The perceptron, which learns from its mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from assay._core import linear as kernels
from assay.base import (
    Classifier,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
    check_weight,
    draw_seed,
)
from assay.base.stored import Array, Count, Integers, Number, OneOf, declared, each
from assay.linear._gradient_descent_classes import (
    ClassWeight,
    binary_problems,
    check_class_weight,
    continued_codes,
)
from assay.linear._gradient_descent_solver import (
    SCHEDULES,
    Binaries,
    Floats,
    csr_arrays,
    histories,
)
from assay.linear._least_model import scores
from assay.theory import perceptron_mistake_bound


class Perceptron(Classifier):
    r"""Perceptron: a linear classifier that updates its weights after each mistake.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int >= 1, default=1000
        Maximum number of passes over the rows.
    n_iter_no_change : int >= 1 or None, default=20
        Number of passes without a new lowest number of mistakes after which the fit stops, because
        the classes seem not to be separable. None = continue until they are separated.
    shuffle : bool, default=True
        Whether to visit the rows in a new random order in each pass.
    eta0 : float > 0, default=1.0
        Size of the first update.
    schedule : {'constant', 'inverse_time', 'slow', 'inverse_scaling'}, default='constant'
        Size of update t, see `learning_rate`.
    power_t : float >= 0, default=0.5
        Exponent of 'inverse_scaling'.
    normalize : bool, default=False
        Whether to scale weights and intercept to length 1 after each update.
    center : bool, default=False
        Whether to centre the rows and learn no intercept for the centred rows. Makes fewer mistakes
        when the rows are far from the origin.
    class_weight : dict, 'balanced' or None, default=None
        Weight of the updates for each class.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    n_jobs : int, default=None
        Threads, one per binary problem; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    coef_ : ndarray of float64 of shape (1, n_features) or (n_classes, n_features)
        The weights w; one row per class if there are more than two.
    intercept_ : ndarray of float64 of shape (1,) or (n_classes,)
        The intercepts b.
    n_mistakes_ : ndarray of int64 of shape (1,) or (n_classes,)
        Number of mistakes made during the fit.
    mistake_history_ : ndarray of float64 of shape (n_iter_,) or (n_classes, n_iter_)
        Number of mistakes in each pass.
    radius_ : float
        Length R of the longest training row (including the constant 1 of the intercept; centred if
        `center`).
    margin_ : ndarray of float64 of shape (1,) or (n_classes,)
        Distance gamma of the nearest row from the boundary found; negative if a row is on the wrong
        side.
    mean_ : ndarray of float64 of shape (n_features,)
        Mean of the training rows, if `center`.
    n_iter_ : int
        Number of passes (of the slowest class).
    stop_reason_ : str
        'converged' (no mistake in a whole pass), 'no_decrease' or 'max_iter'.
    t_ : int
        Number of updates made; the schedule continues from here.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = +1 \text{ if } w \cdot x + b \ge 0 \text{ else } -1, \qquad
              \text{wrong at } x_i: \; (w, b) \leftarrow (w, b) + \eta_t\, y_i\, (x_i, 1)

    If a hyperplane separates the rows with margin :math:`\gamma`, at most :math:`R^2 / \gamma^2`
    mistakes are made (Novikoff 1962) by the plain perceptron: constant steps, not normalised,
    without weights. `mistake_bound_` is that number for the hyperplane found. More than two
    classes: one binary model per class against the rest; the highest score wins. O(n d) for each
    pass. Deterministic for a `random_state`.

    See Also
    --------
    LinearSVC : The boundary with the widest margin.
    GradientDescentClassifier : Other losses, fitted by similar updates.

    Examples
    --------
    >>> from assay.linear import Perceptron
    >>> model = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])  # AND
    >>> model.predict([[0, 1], [1, 1]]).tolist()
    [0, 1]
    >>> bool(model.n_mistakes_[0] <= model.mistake_bound_[0])
    True
    """

    model_id: ClassVar[int | None] = 179
    takes_sparse: ClassVar[bool] = True
    expected_failures: ClassVar[Mapping[str, str]] = {
        f"check_sample_weight_equivalence_on_{kind}_data": (
            "a weight is the size of an update: a row of weight 2 moves the weights twice as far "
            "when it is wrong, it is not visited twice"
        )
        for kind in ("dense", "sparse")
    }
    stored = declared(
        **each("n_iter_ t_", Count()),
        coef_=Array("problems, features"),
        **each("intercept_ margin_", Array("problems")),
        n_mistakes_=Integers("problems", 0),
        mistake_history_=Array("problems?, n_iter_", 0),
        mean_=Array("features", when="center"),
        radius_=Number(0),
        stop_reason_=OneOf(("converged", "no_decrease", "max_iter")),
    )

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        n_iter_no_change: int | None = 20,
        shuffle: bool = True,
        eta0: float = 1.0,
        schedule: str = "constant",
        power_t: float = 0.5,
        normalize: bool = False,
        center: bool = False,
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.eta0 = eta0
        self.schedule = schedule
        self.power_t = power_t
        self.normalize = normalize
        self.center = center
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the updates.

        Returns
        -------
        Perceptron
            The fitted model.
        """
        self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        problems = binary_problems(self.classes_, codes, weight, self.class_weight)
        problems.check_two_sides()
        shape = (problems.count, rows.shape[1])
        self._reset(shape)
        if self.center:
            self.mean_ = _mean(rows, problems.weight)
        separated = self._learn(rows, problems, self.max_iter, self.n_iter_no_change or 0)
        if separated:
            self.stop_reason_ = "converged"
        elif self.n_iter_ < self.max_iter:
            self.stop_reason_ = "no_decrease"
        else:
            warnings.warn(
                f"Perceptron did not converge: mistakes were still made in pass {self.n_iter_}. "
                "Raise max_iter, or use LinearSVC or LogisticRegression if the classes cannot be "
                "separated",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Make one more pass over these rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes; required in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the updates.

        Returns
        -------
        Perceptron
            The updated model. `radius_` and `margin_` are those of the last rows.
        """
        self._check_params()
        first = not hasattr(self, "coef_")
        rows = self._rows(X, reset=first)
        self.classes_, codes = continued_codes(self, y, classes, rows.shape[0], first=first)
        weight = check_weight(sample_weight, rows)
        problems = binary_problems(self.classes_, codes, weight, self.class_weight, complete=False)
        if first:
            self._reset((problems.count, rows.shape[1]))
            if self.center:  # the mean is only known from the first call
                self.mean_ = _mean(rows, problems.weight)
        separated = self._learn(rows, problems, 1, 0)
        self.stop_reason_ = "converged" if separated else "max_iter"
        return self

    @property
    def mistake_bound_(self) -> Floats:
        """Upper bound R^2 / gamma^2 on the mistakes; infinite if `margin_` is not positive."""
        check_is_fitted(self)
        bounds = [
            perceptron_mistake_bound(self.radius_, float(margin)) if margin > 0 else np.inf
            for margin in self.margin_
        ]
        return np.array(bounds)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the scores w.x + b.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_rows,) or (n_rows, n_classes)
            One column per class if there are more than two.
        """
        check_is_fitted(self)
        found = self._scores(self._predict_data(X))
        return found[:, 0] if found.shape[1] == 1 else found

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted class of each row; a score of 0 is the positive class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        found = self.decision_function(X)
        codes = (found >= 0).astype(np.int64) if found.ndim == 1 else found.argmax(axis=1)
        return self.classes_[codes]  # type: ignore[no-any-return]

    def _check_params(self) -> None:
        for name in ("fit_intercept", "shuffle", "normalize", "center"):
            check_option(name, getattr(self, name), [True, False])
        check_interval("max_iter", self.max_iter, 1, integer=True)
        check_interval("n_iter_no_change", self.n_iter_no_change, 1, integer=True, options=[None])
        check_interval("eta0", self.eta0, 0, open_low=True, open_high=True)
        check_interval("power_t", self.power_t, 0, open_high=True)
        steps = [name for name in SCHEDULES if name != "line_search"]
        check_option("schedule", self.schedule, steps)
        check_class_weight(self.class_weight)
        check_n_jobs(self.n_jobs)
        check_random_state(self.random_state)

    def _reset(self, shape: tuple[int, int]) -> None:
        self.coef_, self.intercept_ = np.zeros(shape), np.zeros(shape[0])
        self.n_mistakes_ = np.zeros(shape[0], dtype=np.int64)
        self.mistake_history_ = np.empty((shape[0], 0) if shape[0] > 1 else 0)
        self.n_iter_, self.t_ = 0, 0
        self.stop_reason_ = "max_iter"

    def _learn(self, rows: Any, problems: Binaries, max_iter: int, patience: int) -> bool:
        """Pass over the rows, continuing from the current weights; return whether it converged."""
        mean = self.mean_ if self.center else np.empty(0)
        seed = draw_seed(self.random_state) + self.n_iter_
        options = kernels.PerceptronOptions(
            schedule=SCHEDULES[self.schedule],
            eta0=float(self.eta0),
            power=float(self.power_t),
            fit_intercept=bool(self.fit_intercept) and not self.center,
            normalize=bool(self.normalize),
            shuffle=bool(self.shuffle),
            max_iter=max_iter,
            patience=patience,
            seed=seed,
            first_step=self.t_,
        )
        offset = np.zeros(problems.count)  # intercept of the centred rows, which is not learned
        intercept = offset if self.center else self.intercept_
        run: Any = kernels.learn_from_mistakes  # the overload is only known at run time
        found = run(
            *csr_arrays(rows),
            *problems.arrays,
            mean,
            options,
            self.coef_,
            intercept,
            n_threads=check_n_jobs(self.n_jobs),
        )
        if self.center:
            self.intercept_ = -self.coef_ @ mean
        passes = found["n_iter"]
        history = histories(found["mistakes"], passes)
        self.mistake_history_ = np.concatenate([self.mistake_history_, history], axis=-1)
        self.n_mistakes_ += found["n_mistakes"]
        self.n_iter_ += int(passes.max())
        self.t_ = int(found["n_steps"].max())
        self._measure(rows, problems, mean)
        return bool(found["separated"].all())

    def _measure(self, rows: Any, problems: Binaries, mean: Floats) -> None:
        """Set radius and margin of the rows with positive weight."""
        counted = problems.weight > 0
        rows = rows if counted.all() else rows[counted]
        constant = 1.0 if self.fit_intercept and not self.center else 0.0
        squares = _square_lengths(rows, mean) + constant
        self.radius_ = float(np.sqrt(squares.max()))
        intercepts = self.intercept_ * constant
        lengths = np.sqrt((self.coef_**2).sum(axis=1) + intercepts**2)
        found = self._scores(rows)
        margins = np.zeros(problems.count)
        for k, positive in enumerate(problems.positives):
            signs = np.where(problems.targets[counted] == positive, 1.0, -1.0)
            if lengths[k] > 0:
                margins[k] = (signs * found[:, k]).min() / lengths[k]
        self.margin_ = margins

    def _scores(self, rows: Any) -> Floats:
        return scores(rows, self.coef_, self.intercept_, check_n_jobs(self.n_jobs))


def _mean(rows: Any, weight: Floats) -> Floats:
    return np.asarray(rows.T @ weight / weight.sum(), dtype=np.float64).ravel()


def _square_lengths(rows: Any, mean: Floats) -> Floats:
    """Return the squared length of each row, minus the mean if there is one."""
    if not issparse(rows):
        moved = rows - mean if len(mean) else rows
        return np.asarray(np.einsum("ij,ij->i", moved, moved, dtype=np.float64))
    squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    shift = mean @ mean - 2 * (rows @ mean) if len(mean) else 0.0
    return np.asarray(squares + shift)
