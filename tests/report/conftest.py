"""Realistic records, one per task, made without the rest of the house."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Record = dict[str, Any]


def _histogram(values: NDArray[np.float64], bins: int = 20) -> dict[str, Any]:
    counts, edges = np.histogram(values[np.isfinite(values)], bins=bins)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def numeric(name: str, values: NDArray[np.float64], **extra: Any) -> Record:
    known = values[np.isfinite(values)]
    low, q1, median, q3, high = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return {
        "name": name, "kind": "numeric", "used": True, "role": "feature", "reason": None,
        "missing": int(len(values) - len(known)), "distinct": len(np.unique(known)),
        "min": low, "q1": q1, "median": median, "q3": q3, "max": high,
        "mean": float(known.mean()), "sd": float(known.std()), "histogram": _histogram(values),
        **extra,
    }  # fmt: skip


def nominal(name: str, levels: dict[str, int], missing: int = 0, **extra: Any) -> Record:
    top = sorted(levels.items(), key=lambda item: -item[1])[:10]
    return {
        "name": name, "kind": "nominal", "used": True, "role": "feature", "reason": None,
        "missing": missing, "distinct": len(levels),
        "top": [{"level": level, "count": count} for level, count in top],
        **extra,
    }  # fmt: skip


def aside(name: str, kind: str, reason: str, distinct: int) -> Record:
    return {
        "name": name, "kind": kind, "used": False, "role": "dropped", "reason": reason,
        "missing": 0, "distinct": distinct,
    }  # fmt: skip


def _board(rng: np.random.Generator, top: float, sd: float, families: list[str]) -> list[Record]:
    rows: list[Record] = []
    for family in families:
        for at in range(14):
            params = {
                "k-nearest neighbours": {
                    "n_neighbors": 2 * at + 1,
                    "weights": "distance",
                    "p": 2.0,
                },
                "naive Bayes": {"var_smoothing": 10.0 ** (at - 9)},
                "linear regression": {},
            }.get(family, {"C": float(f"{10 ** (at / 2 - 3):.3g}")})
            score = top - abs(rng.normal(0, 1.5 * sd))
            rows.append({"family": family, "params": params, "score": score,
                         "sd": sd * rng.uniform(0.7, 1.3), "size": 9, "failed": None})  # fmt: skip
    rows.sort(key=lambda row: -row["score"])
    for rank, row in enumerate(rows, 1):
        row["rank"] = rank
    return rows


def _record(**parts: Any) -> Record:
    return {
        "format": 1, "assay": "0.1.0", "digest": "9f2c" * 16, "seed": 0, "effort": "normal",
        "notes": [], "work": {"fits": 1170, "naive_fits": 6240, "units": 40},
        "versions": {"assay": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1",
                     "scikit-learn": "1.9.1", "polars": "2.1.0"},
        **parts,
    }  # fmt: skip


def _score(metric: str, value: float, half: float) -> Record:
    return {"metric": metric, "value": value, "low": value - half, "high": value + half,
            "level": 0.95}  # fmt: skip


def _nested(board: list[Record], outer: list[float], rows: int) -> list[Record]:
    return [
        {"repeat": 0, "block": at, "rows": rows // len(outer), "family": board[at % 3]["family"],
         "params": board[at % 3]["params"], "inner": board[at % 3]["score"], "outer": value}
        for at, value in enumerate(outer)
    ]  # fmt: skip


def _text(row: Record) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in row["params"].items())
    return f"{row['family']} with {settings}"


@pytest.fixture
def binary() -> Record:
    rng = np.random.default_rng(0)
    n = 891
    age = np.where(rng.random(n) < 0.2, np.nan, np.clip(rng.normal(30, 14, n), 0.4, 80))
    board = _board(rng, 0.871, 0.014,
                   ["k-nearest neighbours", "logistic regression", "linear discriminant",
                    "naive Bayes"])  # fmt: skip
    board.append({"rank": len(board) + 1, "family": "linear discriminant",
                  "params": {"solver": "lsqr", "shrinkage": "auto"}, "score": None, "sd": None,
                  "size": None, "failed": "ValueError: covariance is singular"})  # fmt: skip
    fpr = np.linspace(0, 1, 100)
    predicted = np.linspace(0.04, 0.96, 10)
    return _record(
        source="titanic.csv", task="binary",
        target={"name": "Survived", "classes": ["0", "1"], "positive": "1",
                "counts": [549, 342], "histogram": None},
        rows={"read": 893, "used": 891,
              "dropped": [{"reason": "the target is missing", "count": 2}]},
        columns=[
            aside("PassengerId", "identifier", "every value is different", 893),
            nominal("Survived", {"0": 549, "1": 342}, missing=2, role="target", kind="boolean"),
            nominal("Pclass", {"3": 491, "1": 216, "2": 184}, kind="ordinal"),
            aside("Name", "identifier", "every value is different", 893),
            nominal("Sex", {"male": 577, "female": 314}),
            numeric("Age", age),
            numeric("SibSp", rng.poisson(0.5, n).astype(float)),
            numeric("Fare", rng.lognormal(3, 1, n)),
            aside("Ticket", "identifier", "almost every value is different (681 of 893)", 681),
            nominal("Cabin", {f"C{at}": 5 - at // 40 for at in range(147)}, missing=687),
            nominal("Embarked", {"S": 644, "C": 168, "Q": 77}, missing=4),
        ],
        notes=["Cabin is missing in 77% of the rows; missing counts as a level of its own."],
        plan={"kind": "pair-out", "blocks": 5, "repeats": 2, "stratified": True, "grouped": False,
              "duplicates": 107,
              "text": "Five stratified blocks, drawn twice; every pair of blocks was left out in "
                      "turn. 107 rows that repeat another stay in its block."},
        metric={"name": "roc_auc", "greater_is_better": True, "low": 0.0, "high": 1.0},
        score=_score("roc_auc", 0.8672, 0.0291),
        baseline={"name": "always the most frequent class", **_score("roc_auc", 0.5, 0.0)},
        gain={"value": 0.3672, "low": 0.3381, "high": 0.3963, "level": 0.95},
        verdict={"code": "better",
                 "text": "better than the baseline (always the most frequent class): the gain "
                         "is 0.3672, at least 0.3381 with 95% confidence"},
        quick={"value": 0.8651, "low": 0.8402, "high": 0.8880, "level": 0.95},
        chosen={"family": board[0]["family"], "params": board[0]["params"],
                "score": board[0]["score"], "text": _text(board[0])},
        nested=_nested(board, [0.861, 0.879, 0.842, 0.894, 0.860], 891),
        leaderboard=board,
        diagnostics={
            "confusion": {"labels": ["0", "1"], "counts": [[487, 62], [98, 244]]},
            "roc": {"fpr": fpr.tolist(), "tpr": (fpr ** 0.16).tolist()},
            "calibration": {"predicted": predicted.tolist(),
                            "observed": np.clip(predicted + 0.06 * np.sin(6 * predicted), 0, 1)
                            .tolist(),
                            "count": [231, 160, 92, 61, 48, 50, 44, 61, 72, 72]},
        },
    )  # fmt: skip


@pytest.fixture
def multiclass() -> Record:
    rng = np.random.default_rng(1)
    labels = ["Adelie", "Chinstrap", "Gentoo", "King", "Emperor", "Rockhopper", "Macaroni"]
    sizes = [152, 68, 124, 90, 44, 31, 12]
    counts = [[0] * len(labels) for _ in labels]
    for at, size in enumerate(sizes):
        wrong = rng.multinomial(size // 8, [1 / len(labels)] * len(labels))
        counts[at] = [int(number) for number in wrong]
        counts[at][at] += size - size // 8
    board = _board(
        rng, 0.934, 0.011, ["logistic regression", "k-nearest neighbours", "naive Bayes"]
    )
    n = sum(sizes)
    return _record(
        source="penguins.parquet", task="multiclass",
        target={"name": "species", "classes": labels, "positive": None, "counts": sizes,
                "histogram": None},
        rows={"read": n, "used": n, "dropped": []},
        columns=[
            nominal("species", dict(zip(labels, sizes, strict=True)), role="target"),
            nominal("island", {"Biscoe": 268, "Dream": 124, "Torgersen": 129}),
            numeric("bill length (mm)", rng.normal(44, 5, n)),
            numeric("bill depth (mm)", rng.normal(17, 2, n)),
            numeric("flipper length (mm)", np.r_[rng.normal(190, 6, n // 2),
                                                 rng.normal(217, 6, n - n // 2)]),
            numeric("body mass (g)", rng.normal(4200, 800, n)),
            nominal("sex", {"male": 262, "female": 248}, missing=11),
            aside("year", "constant", "one value only (2009)", 1),
        ],
        plan={"kind": "pair-out", "blocks": 5, "repeats": 1, "stratified": True, "grouped": False,
              "duplicates": 0,
              "text": "Five stratified blocks; every pair of blocks was left out in turn."},
        metric={"name": "accuracy", "greater_is_better": True, "low": 0.0, "high": 1.0},
        score=_score("accuracy", 0.9271, 0.0238),
        baseline={"name": "always the most frequent class", **_score("accuracy", 0.2917, 0.004)},
        gain={"value": 0.6354, "low": 0.611, "high": 0.6598, "level": 0.95},
        verdict={"code": "better",
                 "text": "better than the baseline (always the most frequent class): the gain "
                         "is 0.6354, at least 0.611 with 95% confidence"},
        quick={"value": 0.9302, "low": 0.9071, "high": 0.951, "level": 0.95},
        chosen={"family": board[0]["family"], "params": board[0]["params"],
                "score": board[0]["score"], "text": _text(board[0])},
        nested=_nested(board, [0.93, 0.91, 0.94, 0.95, 0.905], n),
        leaderboard=board,
        diagnostics={"confusion": {"labels": labels, "counts": counts}, "roc": None,
                     "calibration": None},
    )  # fmt: skip


@pytest.fixture
def regression() -> Record:
    rng = np.random.default_rng(2)
    n = 1030
    truth = np.clip(rng.gamma(5, 7.2, n), 2.3, 82.6)
    values = truth * 0.85 + 5 + rng.normal(0, 6, n)
    grid, x_edges, y_edges = np.histogram2d(values, truth, bins=30)
    board = _board(rng, 0.842, 0.02,
                   ["ridge regression", "k-nearest neighbours", "linear regression"])  # fmt: skip
    return _record(
        source="concrete.parquet", task="regression",
        target={"name": "strength", "classes": None, "positive": None, "counts": None,
                "histogram": _histogram(truth)},
        rows={"read": n, "used": n, "dropped": []},
        columns=[
            *(numeric(name, rng.normal(mean, sd, n)) for name, mean, sd in (
                ("cement", 281, 104), ("slag", 74, 86), ("fly ash", 54, 64), ("water", 181, 21),
                ("superplasticizer", 6.2, 6), ("coarse aggregate", 973, 78),
                ("fine aggregate", 774, 80))),
            numeric("age (days)", rng.lognormal(3.2, 1, n)),
            numeric("strength", truth, role="target"),
        ],
        plan={"kind": "pair-out", "blocks": 5, "repeats": 2, "stratified": False, "grouped": False,
              "duplicates": 25,
              "text": "Five blocks, drawn twice; every pair of blocks was left out in turn."},
        metric={"name": "r2", "greater_is_better": True, "low": None, "high": 1.0},
        score=_score("r2", 0.8311, 0.0412),
        baseline={"name": "always the mean", **_score("r2", -0.0021, 0.0015)},
        gain={"value": 0.8332, "low": 0.7919, "high": 0.8745, "level": 0.95},
        verdict={"code": "better",
                 "text": "better than the baseline (always the mean): the gain is 0.8332, at "
                         "least 0.7919 with 95% confidence"},
        quick={"value": 0.8344, "low": 0.801, "high": 0.866, "level": 0.95},
        chosen={"family": board[0]["family"], "params": board[0]["params"],
                "score": board[0]["score"], "text": _text(board[0])},
        nested=_nested(board, [0.82, 0.84, 0.81, 0.85, 0.835], n),
        leaderboard=board,
        diagnostics={"residuals": _histogram(truth - values, 30),
                     "agreement": {"x_edges": x_edges.tolist(), "y_edges": y_edges.tolist(),
                                   "counts": grid.astype(int).tolist()}},
    )  # fmt: skip


@pytest.fixture(params=["binary", "multiclass", "regression"])
def record(request: pytest.FixtureRequest) -> Record:
    """Each of the three in turn."""
    found: Record = request.getfixturevalue(request.param)
    return found
