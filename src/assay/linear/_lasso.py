"""Linear regression with an L1 penalty."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from assay.linear._least_sparse_model import SparseLinearModel


class Lasso(SparseLinearModel):
    r"""Linear regression with an L1 penalty, which sets many weights to zero.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Strength of the penalty. Larger values leave fewer nonzero weights; 0 is ordinary least
        squares.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is not penalised.
    precompute : bool or array of shape (n_features, n_features), default=False
        Accepted for compatibility with scikit-learn; column products are computed when needed.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never modified.
    max_iter : int >= 1, default=1000
        Maximum number of coordinate descent sweeps, summed over all working sets.
    tol : float >= 0, default=0.0001
        Stop when the duality gap is at most `tol` times the mean square of the centred target.
        Solutions are usually exact, see Notes.
    warm_start : bool, default=False
        Whether to start from the weights of the last fit. The result is the same.
    positive : bool, default=False
        Whether to require all weights to be >= 0.
    random_state : int, RandomState instance or None, default=None
        Accepted for compatibility with scikit-learn; the fit is deterministic.
    selection : {'cyclic', 'random'}, default='cyclic'
        Accepted for compatibility with scikit-learn; columns are always visited in turn.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept.
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
        The weights without the zeros.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap: the objective is at most this far above its minimum. Same as `duality_gap_`.
    duality_gap_ : float or ndarray of shape (n_targets,)
        Same as `dual_gap_`.
    n_iter_ : int or ndarray of shape (n_targets,)
        Number of coordinate descent sweeps.
    stop_reason_ : {'converged', 'max_iter'}
        Why the fit ended.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \frac{1}{2 V} \sum_i v_i (y_i - b - x_i^\top w)^2 + \alpha \|w\|_1,
              \qquad V = \sum_i v_i

    with v the sample weights. The problem is solved on a small working set of columns, by sweeps of
    coordinate descent on their products and then, exactly, by the linear equations of the columns
    that have a weight; one pass over the table finds the columns that must be added, and the
    duality gap. The solution does not depend on the start or on `tol`, unless columns are linearly
    dependent: then many solutions exist, and one of them is found. A few passes of O(n d) each, and
    O(n k^2) for the k columns of the working set. Deterministic.

    The penalty treats all weights alike, so scale the columns first.

    See Also
    --------
    ElasticNet : A mix of L1 and L2 penalties.
    lasso_path : Weights for a whole sequence of penalties.

    Examples
    --------
    >>> from assay.linear import Lasso
    >>> model = Lasso(alpha=0.5).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0.0, 2.0, 4.0])
    >>> model.coef_.tolist(), model.intercept_, model.stop_reason_
    ([1.25, 0.0], 0.75, 'converged')
    """

    model_id: ClassVar[int | None] = 172

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool | ArrayLike = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.n_jobs = n_jobs
