"""How differently the members of an ensemble predict the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc
from sklearn.base import is_regressor

from assay.base import (
    DataError,
    ParameterError,
    as_frame,
    check_interval,
    check_option,
    class_codes,
)
from assay.ensemble._heat_map import heat_map
from assay.ensemble._members import is_pair

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Diversity:
    """Pairwise comparisons of the members of an ensemble; made by `diversity`.

    Parameters
    ----------
    names : ndarray of str of shape (n_members,)
        The members.
    statistic, p_value : ndarray of shape (n_members, n_members)
        Pearson's chi-square of the contingency table of two members, and its p-value under
        independence.
    freedom : ndarray of int64 of shape (n_members, n_members)
        Degrees of freedom; 0 where a member predicts the same label for every row.
    dependent : ndarray of bool of shape (n_members, n_members)
        Whether independence is rejected at `alpha`.
    cramer_v : ndarray of shape (n_members, n_members)
        Strength of the dependence, from 0 to 1.
    disagreement : ndarray of shape (n_members, n_members)
        Share of the rows for which two members differ.
    kappa : ndarray of shape (n_members, n_members)
        Cohen's kappa: agreement beyond chance, 1 = perfect, 0 = chance level. NaN where both
        predict one and the same class for every row.
    q_statistic : ndarray of shape (n_members, n_members) or None
        Yule's Q of correct and wrong predictions, from -1 (errors on different rows) over 0
        (independent errors) to 1; NaN where it is 0/0. None without the true labels.
    of : str
        What the chi-square compares, 'predictions' or 'errors'.
    alpha : float
        Significance level.
    n_rows : int
        Number of rows compared.

    Examples
    --------
    >>> from assay.ensemble import diversity
    >>> found = diversity([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
    >>> found.disagreement.tolist()
    [[0.0, 0.0, 0.5], [0.0, 0.0, 0.5], [0.5, 0.5, 0.0]]
    >>> found.dependent.tolist()
    [[True, True, False], [True, True, False], [False, False, True]]
    """

    names: NDArray[np.str_]
    statistic: Matrix
    p_value: Matrix
    freedom: NDArray[np.int64]
    dependent: NDArray[np.bool_]
    cramer_v: Matrix
    disagreement: Matrix
    kappa: Matrix
    q_statistic: Matrix | None
    of: str
    alpha: float
    n_rows: int

    @property
    def mean_disagreement(self) -> float:
        """Share of the rows for which two members differ, on average over all pairs."""
        pairs = np.triu_indices(len(self.names), 1)
        return float(self.disagreement[pairs].mean()) if len(self.names) > 1 else 0.0

    @property
    def share_dependent(self) -> float:
        """Share of all pairs of members for which independence is rejected."""
        pairs = np.triu_indices(len(self.names), 1)
        return float(self.dependent[pairs].mean()) if len(self.names) > 1 else 0.0

    def chart(self, measure: str = "cramer_v") -> dict[str, Any]:
        """Return a heat-map of all pairs as a Vega-Lite specification.

        Parameters
        ----------
        measure : str, default='cramer_v'
            What the colour shows: 'cramer_v', 'p_value', 'disagreement', 'kappa' or
            'q_statistic'. Pairs without significant dependence have a dot.

        Returns
        -------
        dict
            Plain values only; any Vega-Lite renderer draws it.
        """
        check_option("measure", measure, tuple(_TITLES))
        values = getattr(self, measure)
        if values is None:
            raise ParameterError(f"measure {measure!r} needs the true labels y; got None")
        title, domain, scheme = _TITLES[measure]
        return heat_map(
            self.names.tolist(),
            values,
            dotted=~self.dependent,
            title=title,
            domain=domain,
            scheme=scheme,
            subtitle=f"{self.n_rows:,} rows; a dot: no dependence found (p ≥ {self.alpha:g})",
        )


_TITLES: dict[str, tuple[str, tuple[float, float], str]] = {
    "cramer_v": ("Dependence (Cramér's V)", (0.0, 1.0), "blues"),
    "p_value": ("p-value of independence", (0.0, 1.0), "blues"),
    "disagreement": ("Disagreement", (0.0, 1.0), "blues"),
    "kappa": ("Agreement beyond chance (kappa)", (-1.0, 1.0), "blueorange"),
    "q_statistic": ("Q statistic of errors", (-1.0, 1.0), "blueorange"),
}


def diversity(
    members: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    of: str = "predictions",
    alpha: float = 0.05,
    names: Sequence[str] | None = None,
) -> Diversity:
    r"""Compare every pair of members of an ensemble on the same rows.

    Parameters
    ----------
    members : array-like of shape (n_rows, n_members), fitted ensemble, or list of estimators
        Predicted labels, one column per member; or a fitted forest or other model with
        `estimators_`; or fitted classifiers, alone or as (name, estimator) pairs.
    X : table, default=None
        Rows to predict, preferably not training rows; None if `members` are predictions.
    y : array-like of shape (n_rows,), default=None
        The true labels; needed for `q_statistic` and for ``of='errors'``.
    of : {'predictions', 'errors'}, default='predictions'
        What the chi-square test compares: the predicted labels, or whether they are correct. Good
        members agree on the labels because they agree with the truth; their errors should still be
        independent.
    alpha : float in (0, 1), default=0.05
        Significance level of each single test.
    names : list of str, default=None
        Names of the members; None = those of the ensemble, or numbers.

    Returns
    -------
    Diversity

    Raises
    ------
    DataError
        When the members are regressors, or the numbers of rows and labels differ.

    Notes
    -----
    For two members, :math:`O_{ab}` is the number of rows that the first labels a and the second b,
    and :math:`E_{ab} = O_{a \cdot} O_{\cdot b} / n`. With r and c labels in use,

    .. math:: \chi^2 = \sum_{ab} \frac{(O_{ab} - E_{ab})^2}{E_{ab}}, \quad
              V = \sqrt{\frac{\chi^2}{n \min(r - 1, c - 1)}}, \quad
              Q = \frac{N_{11} N_{00} - N_{01} N_{10}}{N_{11} N_{00} + N_{01} N_{10}}

    with (r - 1)(c - 1) degrees of freedom, no continuity correction, and :math:`N_{11}` the rows
    both predict correctly. The tests are not corrected for their number: of 100 independent pairs,
    about five are reported as dependent at the default `alpha`. One product of indicator matrices
    serves all pairs: O(n (m K)²) for m members and K labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.ensemble import diversity
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("logistic", LogisticRegression(max_iter=1000))]
    >>> fitted = [(name, model.fit(X[::2], y[::2])) for name, model in members]
    >>> found = diversity(fitted, X[1::2], y[1::2])
    >>> found.names.tolist(), round(found.mean_disagreement, 3)
    (['bayes', 'logistic'], 0.027)
    """
    check_option("of", of, ("predictions", "errors"))
    check_interval("alpha", alpha, 0, 1, open_low=True, open_high=True)
    labels, found_names = _predictions(members, X)
    n, m = labels.shape
    shown = found_names if names is None else [str(name) for name in names]
    if len(shown) != m:
        raise ParameterError(f"names must hold one name per member, {m}; got {len(shown)}")
    classes, codes = class_codes(labels.ravel())
    predicted = codes.reshape(n, m)
    right = None if y is None else _right(predicted, classes, y)
    if of == "errors" and right is None:
        raise ParameterError("of='errors' needs the true labels y; got None")
    tables = _tables(predicted, len(classes))
    compared = tables if right is None or of == "predictions" else _tables(right, 2)
    statistic, freedom, strength = _chi_square(compared, n)
    p_value = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), statistic), 1.0)
    agreement = np.trace(tables, axis1=2, axis2=3) / n
    return Diversity(
        names=np.array(shown),
        statistic=statistic,
        p_value=p_value,
        freedom=freedom,
        dependent=p_value < alpha,
        cramer_v=strength,
        disagreement=1.0 - agreement,
        kappa=_kappa(tables, agreement, n),
        q_statistic=None if right is None else _q(_tables(right, 2)),
        of=of,
        alpha=float(alpha),
        n_rows=n,
    )


def _predictions(members: Any, X: Any) -> tuple[NDArray[Any], list[str]]:
    """Return the predicted labels, one column per member, and the members' names."""
    models, names = _models(members)
    if models is None:
        if X is not None:
            raise ParameterError("X must be None when members are predictions; got a table")
        frame = as_frame(members)
        labels = np.asarray(members if frame is None else frame.to_numpy())
        if labels.ndim != 2 or 0 in labels.shape:
            raise DataError(
                "members must be predictions of shape (n_rows, n_members), a fitted ensemble, or "
                f"a list of fitted classifiers; got shape {labels.shape}"
            )
        named = range(labels.shape[1]) if frame is None else frame.columns
        return labels, [str(name) for name in named]
    if X is None:
        raise ParameterError("X must be the rows to predict; got None")
    for model in models:
        if is_regressor(model) or not hasattr(model, "predict"):
            raise DataError(f"members must be classifiers; got {model!r}")
    predicted = [np.asarray(model.predict(X)) for model in models]
    classes = getattr(members, "classes_", None)
    if classes is not None and all(_are_numbers_of(classes, model) for model in models):
        predicted = [np.asarray(classes)[labels.astype(np.int64)] for labels in predicted]
    return np.column_stack(predicted), names


def _models(members: Any) -> tuple[list[Any] | None, list[str]]:
    if hasattr(members, "estimators_"):
        models = np.ravel(np.asarray(members.estimators_, dtype=object)).tolist()
        named = getattr(members, "named_estimators_", None)
        names = list(named) if named is not None and len(named) == len(models) else None
        return models, names or [str(number) for number in range(len(models))]
    if hasattr(members, "tree") and hasattr(members, "n_estimators_"):  # one of our forests
        trees = [members.tree(number) for number in range(members.n_estimators_)]
        return trees, [str(number) for number in range(len(trees))]
    if isinstance(members, (list, tuple)) and members:
        if all(is_pair(item) and hasattr(item[1], "predict") for item in members):
            return [model for _, model in members], [name for name, _ in members]
        if all(hasattr(item, "predict") for item in members):
            return list(members), [str(number) for number in range(len(members))]
    return None, []


def _are_numbers_of(classes: Any, model: Any) -> bool:
    """Return whether a member was fitted on the ensemble's class codes, not on labels."""
    own = np.asarray(getattr(model, "classes_", ()))
    numbers = np.arange(len(classes))
    return own.dtype.kind in "iuf" and bool(np.isin(own, numbers).all() and own.size)


def _right(predicted: NDArray[np.int64], classes: NDArray[Any], y: ArrayLike) -> NDArray[np.int64]:
    truth, codes = class_codes(y)
    if len(codes) != len(predicted):
        raise DataError(
            f"X has {len(predicted)} rows but y has {len(codes)}; each row needs one label"
        )
    number = {label: code for code, label in enumerate(classes.tolist())}
    own = np.array([number.get(label, -1) for label in truth.tolist()])[codes]
    right: NDArray[np.int64] = (predicted == own[:, None]).astype(np.int64)
    return right


def _tables(codes: NDArray[np.int64], n_labels: int) -> Matrix:
    """Return the contingency table of every pair: [i, j, a, b] counts rows."""
    n, m = codes.shape
    counts = np.zeros((m * n_labels, m * n_labels))
    step = max(1, 2**22 // (m * n_labels))
    for start in range(0, n, step):
        part = codes[start : start + step]
        indicators = (part[:, :, None] == np.arange(n_labels)).reshape(len(part), -1)
        indicators = indicators.astype(np.float64)
        counts += indicators.T @ indicators
    return counts.reshape(m, n_labels, m, n_labels).transpose(0, 2, 1, 3)


def _chi_square(tables: Matrix, n: int) -> tuple[Matrix, NDArray[np.int64], Matrix]:
    first, second = tables.sum(axis=3), tables.sum(axis=2)
    expected = first[:, :, :, None] * second[:, :, None, :] / n
    terms = np.divide(
        (tables - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0
    )
    statistic = terms.sum(axis=(2, 3))
    rows, columns = (first > 0).sum(axis=2), (second > 0).sum(axis=2)
    freedom = (rows - 1) * (columns - 1)
    most = n * (np.minimum(rows, columns) - 1)
    share = np.divide(statistic, most, out=np.zeros_like(statistic), where=most > 0)
    return statistic, freedom, np.sqrt(share.clip(0.0, 1.0))


def _kappa(tables: Matrix, agreement: Matrix, n: int) -> Matrix:
    first, second = tables.sum(axis=3), tables.sum(axis=2)
    chance = (first * second).sum(axis=2) / n**2
    unknown = np.full_like(agreement, np.nan)
    kappa: Matrix = np.divide(agreement - chance, 1.0 - chance, out=unknown, where=chance < 1.0)
    return kappa


def _q(tables: Matrix) -> Matrix:
    same = tables[:, :, 1, 1] * tables[:, :, 0, 0]
    other = tables[:, :, 0, 1] * tables[:, :, 1, 0]
    unknown = np.full_like(same, np.nan)
    return np.divide(same - other, same + other, out=unknown, where=same + other > 0)
