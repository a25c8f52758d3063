"""Are our optima not above those of the peers? ``python benchmarks/objectives.py``.

Ten real tables, up to 1,000 rows each (nominal columns as one column per level, numbers scaled),
dense and sparse: for every loss and penalty the objective that we reach, relative to the one that
the peer reaches with its tolerance turned down. Above 1e-6 is a loss. The linear machines are
tested in the suite, on ten tables too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from sklearn import linear_model as theirs  # noqa: E402
from sklearn import svm as libsvm  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

from assay import linear as ours  # noqa: E402
from assay import svm as machines  # noqa: E402
from assay.linear._losses import LOSSES, loss_terms  # noqa: E402
from assay.linear._penalties import PENALTIES, Penalty  # noqa: E402
from benchmarks import tables  # noqa: E402

TABLES = (
    "adult",
    "ames",
    "california_housing",
    "coimbra",
    "concrete",
    "german_credit",
    "mammography",
    "power_plant",
    "spambase",
    "titanic",
)
ROWS, MOST = 1000, 1e-6
Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """A table for linear models: two classes as -1 and 1, and a number."""

    name: str
    X: Any
    dense: Floats
    sign: Floats
    value: Floats


def main() -> int:
    worst: dict[str, tuple[float, str]] = {}
    for name in TABLES:
        for rows in loaded(name):
            kind = "dense" if isinstance(rows.X, np.ndarray) else "sparse"
            for what, mine, peer in compared(rows):
                excess = (mine - peer) / max(abs(peer), 1e-12)
                if excess > worst.get(what, (-np.inf, ""))[0]:
                    worst[what] = (excess, f"{name}, {kind}")
        print(f"{name} done", flush=True)
    for what, (excess, where) in worst.items():
        mark = "" if excess <= MOST else "   ABOVE"
        print(f"{what:45} at most {excess:+.1e} of the peer ({where}){mark}")
    return int(any(excess > MOST for excess, _ in worst.values()))


def loaded(name: str) -> Iterator[Rows]:
    given = tables.load(name)
    rng = np.random.default_rng(0)
    some = rng.permutation(len(given.X))[:ROWS]
    X, y = given.X[some], given.y[some].astype(np.float64)
    numeric = [f for f in range(X.shape[1]) if f not in given.nominal]
    numbers = X[:, numeric]
    numbers = np.where(np.isnan(numbers), np.nanmedian(numbers, axis=0), numbers)
    parts = [StandardScaler().fit_transform(numbers)]
    if given.nominal:
        parts.append(OneHotEncoder(sparse_output=False).fit_transform(X[:, given.nominal]))
    dense = np.ascontiguousarray(np.hstack(parts))
    sign = np.where(y > np.median(y) if y.max() > 1 else y > 0, 1.0, -1.0)
    value = (y - y.mean()) / y.std()
    yield Rows(name, dense, dense, sign, value)
    yield Rows(name, csr_array(dense), dense, sign, value)


def compared(rows: Rows) -> Iterator[tuple[str, float, float]]:
    """Yield what is minimised, our objective and the peer's."""
    yield from logistic(rows)
    yield from least_squares(rows)
    if isinstance(rows.X, np.ndarray):
        yield from descent(rows)
    yield from kernel_machines(rows)


def logistic(rows: Rows) -> Iterator[tuple[str, float, float]]:
    for C in (0.03, 3.0):
        for penalty, ratio in (("l2", 0.0), ("l1", 1.0), ("elasticnet", 0.5)):

            def value(model: Any, C: float = C, ratio: float = ratio) -> float:
                w, b = model.coef_[0], float(model.intercept_[0])
                loss = np.logaddexp(0, -rows.sign * (rows.dense @ w + b)).sum()
                return float(C * loss + ratio * np.abs(w).sum() + (1 - ratio) / 2 * w @ w)

            mine = ours.LogisticRegression(C=C, l1_ratio=ratio).fit(rows.X, rows.sign)
            solver = "newton-cholesky" if ratio == 0 else "saga"
            most = 200 if ratio == 0 else 3000
            peer = theirs.LogisticRegression(
                C=C, l1_ratio=ratio, solver=solver, tol=1e-9, max_iter=most, random_state=0
            )
            yield f"logistic, {penalty}", value(mine), value(quiet(peer, rows.X, rows.sign))
    codes = np.digitize(rows.value, np.quantile(rows.value, [0.3, 0.6]))
    if len(np.unique(codes)) == 3:

        def cost(model: Any) -> float:
            scores = rows.dense @ model.coef_.T + model.intercept_
            loss = logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes]
            return float(loss.sum() + np.square(model.coef_).sum() / 2)

        mine = ours.LogisticRegression().fit(rows.X, codes)
        peer = theirs.LogisticRegression(solver="newton-cg", tol=1e-9, max_iter=500)
        yield "logistic, three classes, l2", cost(mine), cost(quiet(peer, rows.X, codes))


def least_squares(rows: Rows) -> Iterator[tuple[str, float, float]]:
    n = len(rows.value)
    for alpha in (0.3, 0.01):
        for name, ratio in (("Ridge", 0.0), ("Lasso", 1.0), ("ElasticNet", 0.5)):
            size = alpha * n if name == "Ridge" else alpha

            def value(model: Any, alpha: float = alpha, ratio: float = ratio) -> float:
                w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
                loss = np.square(rows.value - rows.dense @ w - b).mean() / 2
                return float(loss + alpha * (ratio * np.abs(w).sum() + (1 - ratio) / 2 * w @ w))

            mine = getattr(ours, name)(alpha=size).fit(rows.X, rows.value)
            more = {"tol": 1e-10} if name == "Ridge" else {"tol": 1e-12, "max_iter": 100000}
            peer = getattr(theirs, name)(alpha=size, **more)
            yield f"{name}, scikit-learn", value(mine), value(quiet(peer, rows.X, rows.value))


def descent(rows: Rows, alpha: float = 0.03, p: float = 1.5) -> Iterator[tuple[str, float, float]]:
    """Every smooth loss with every penalty, against SciPy."""
    X, y = rows.dense[:300], rows.sign[:300]
    for loss in [each for each in LOSSES if each not in ("hinge", "absolute", "squared_logistic")]:
        for penalty in [each for each in PENALTIES if each is not None]:
            cost = Cost(X, y, loss, penalty, Penalty.of(penalty, alpha, 0.5, p), alpha, p)
            model = ours.GradientDescentClassifier(
                loss, penalty=penalty, alpha=alpha, p=p, tol=1e-9, max_iter=20000
            )
            quiet(model, X, y)
            mine = cost.at(model.coef_[0], model.intercept_[0])
            yield f"descent, {loss}, {penalty}", mine, cost.least()


class Cost(NamedTuple):
    """Mean loss and penalty, as SciPy minimises them: w = positive part - negative part."""

    X: Floats
    y: Floats
    loss: str
    penalty: str
    size: Any
    alpha: float
    p: float

    def at(self, w: Floats, b: float) -> float:
        return float(loss_terms(self.loss, self.y, self.X @ w + b)[0].mean() + self.size.value(w))

    def least(self) -> float:
        d = self.X.shape[1]
        found = minimize(
            self.parts,
            np.full(2 * d + 1, 0.01),
            jac=True,
            bounds=[(0, None)] * (2 * d) + [(None, None)],
            method="L-BFGS-B",
            options={"maxiter": 3000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10},
        )
        return self.at(found.x[:d] - found.x[d : 2 * d], found.x[-1])

    def parts(self, v: Floats) -> tuple[float, Floats]:
        d = self.X.shape[1]
        w = v[:d] - v[d : 2 * d]
        loss, slope = loss_terms(self.loss, self.y, self.X @ w + v[-1])[:2]
        down = self.X.T @ slope / len(self.y)
        share = {"l1": 1.0, "elasticnet": 0.5}.get(self.penalty, 0.0)
        kink = self.alpha * share
        if share > 0:
            smooth = self.alpha * (1 - share) / 2 * (w @ w)
            down += self.alpha * (1 - share) * w
        else:
            smooth = self.size.value(w)
            down += self.slope(w)
        value = loss.mean() + smooth + kink * v[: 2 * d].sum()
        return float(value), np.concatenate([down + kink, kink - down, [slope.mean()]])

    def slope(self, w: Floats) -> Floats:
        """Of a penalty without kinks, by central differences."""
        step = 1e-6 * np.maximum(np.abs(w), 1e-2)
        out = np.empty_like(w)
        for j in range(len(w)):
            up, down = w.copy(), w.copy()
            up[j] += step[j]
            down[j] -= step[j]
            out[j] = (self.size.value(up) - self.size.value(down)) / (2 * step[j])
        return out


def kernel_machines(rows: Rows) -> Iterator[tuple[str, float, float]]:
    """Dual objectives of SVC and SVR against libsvm's, at the same tolerance."""
    kernels: tuple[dict[str, Any], ...] = (
        {"kernel": "rbf", "gamma": 0.05},
        {"kernel": "poly", "degree": 2, "gamma": 0.05, "coef0": 1.0},
        {"kernel": "linear"},
    )
    for params in kernels:
        gram = kernel(rows.dense, params)
        for C in (1.0, 30.0):
            mine: Any = machines.SVC(C=C, tol=1e-6, **params).fit(rows.X, rows.sign)
            peer: Any = libsvm.SVC(C=C, tol=1e-6, **params).fit(rows.X, rows.sign)
            name = f"SVC, {params['kernel']}"
            yield name, dual(mine, gram, rows.sign, 0.0), dual(peer, gram, rows.sign, 0.0)
        mine = machines.SVR(tol=1e-6, **params).fit(rows.X, rows.value)
        peer = libsvm.SVR(tol=1e-6, **params).fit(rows.X, rows.value)
        name = f"SVR, {params['kernel']}"
        yield name, dual(mine, gram, rows.value, 0.1), dual(peer, gram, rows.value, 0.1)


def kernel(X: Floats, params: dict[str, Any]) -> Floats:
    products = X @ X.T
    if params["kernel"] == "linear":
        return products
    if params["kernel"] == "poly":
        return np.asarray((params["gamma"] * products + params["coef0"]) ** params["degree"])
    squares = np.diag(products)
    return np.asarray(np.exp(-params["gamma"] * (squares[:, None] + squares - 2 * products)))


def dual(model: Any, gram: Floats, target: Floats, epsilon: float) -> float:
    coef = model.dual_coef_
    b = np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef)
    at = model.support_
    return float(b @ gram[np.ix_(at, at)] @ b / 2 - b @ target[at] + epsilon * np.abs(b).sum())


def quiet(model: Any, X: Any, y: Any) -> Any:
    fit: Callable[..., Any] = model.fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(X, y)


if __name__ == "__main__":
    sys.exit(main())
