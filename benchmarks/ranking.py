"""Rankers beside LightGBM's LambdaRank: quality on held-out queries, and the time of fit + predict.

``python benchmarks/run.py ranking``. Whole queries are held out, in five folds (``lgb_rank``) or
one (``movielens_100k``, a user is a query). Every contestant has its defaults, as far as not told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks import tables
from benchmarks.work import OURS, Contestant, Work

Floats = NDArray[np.float64]

#: Films of few ratings are drawn towards the mean by this many ratings.
_SHRINKAGE = 5.0


class Fold(NamedTuple):
    """Queries to learn from and queries held out."""

    X: Floats
    y: Floats
    qid: NDArray[Any]
    X_test: Floats
    y_test: Floats
    qid_test: NDArray[Any]


class Ranking(NamedTuple):
    """Folds, and the relevance above which an item is relevant to MAP."""

    folds: list[Fold]
    threshold: float


def lgb_rank() -> Ranking:
    """251 queries of web search, 300 columns, relevance 0 to 4; relevant to MAP from 2."""
    frame = pl.read_parquet(tables.path_of("lgb_rank"))
    y, qid = frame["label"].to_numpy().astype(np.float64), frame["qid"].to_numpy()
    X = frame.drop("label", "qid").to_numpy().astype(np.float64)
    return Ranking(_folds(X, y, qid, 5), 1.0)


def movielens() -> Ranking:
    """671 users, what each of them thought of films; relevant to MAP from 4 stars.

    A film is its year, its genres, and what the *other* users of the training part gave it: their
    number and (shrunken) mean.
    """
    frame = pl.read_parquet(tables.path_of("movielens_100k"))
    y, user = frame["rating"].to_numpy(), frame["userId"].to_numpy()
    film = frame["movieId"].rank("dense").to_numpy().astype(np.int64) - 1
    held_out = np.isin(user, np.random.default_rng(0).permutation(np.unique(user))[:134])
    count = np.bincount(film[~held_out], minlength=film.max() + 1)[film]
    total = np.bincount(film[~held_out], y[~held_out], film.max() + 1)[film]
    own = np.where(held_out, 0.0, 1.0)
    count, total = count - own, total - own * y
    mean = (total + _SHRINKAGE * y[~held_out].mean()) / (count + _SHRINKAGE)
    genres = frame["genres"].cast(pl.String).str.split("|")
    names = sorted(set(genres.explode().to_list()))
    has = [genres.list.contains(name).to_numpy().astype(np.float64) for name in names]
    year = frame["year"].fill_null(frame["year"].median()).to_numpy()
    X = np.column_stack([mean, np.log1p(count), year, *has])
    train, test = ~held_out, held_out
    fold = Fold(X[train], y[train], user[train], X[test], y[test], user[test])
    return Ranking([fold], 3.5)


def circles() -> Ranking:
    """Items of three kinds that beat each other in a circle, besides their strength.

    The true order is that of the wins in a noisy tournament of 30 items. The shares of the kinds
    change from query to query, so that no score of the item alone knows what it is worth.
    """
    random = np.random.default_rng(0)
    n, m = 200, 30
    tables, wins = [], []
    for _ in range(n):
        strength, kind = random.normal(size=m), random.choice(3, m, p=random.dirichlet([0.6] * 3))
        turn = (kind[:, None] - kind[None, :]) % 3
        noise = np.triu(random.logistic(size=(m, m)), 1)
        gap = strength[:, None] - strength[None, :] + 2.0 * np.array([0, 1, -1])[turn]
        wins.append((gap + noise - noise.T > 0).sum(axis=1) + 0.001 * random.random(m))
        tables.append(np.column_stack([strength, np.eye(3)[kind]]))
    return Ranking(
        _folds(np.vstack(tables), np.concatenate(wins), np.repeat(np.arange(n), m), 2), 0
    )


def _folds(X: Floats, y: Floats, qid: NDArray[Any], n: int) -> list[Fold]:
    names = np.random.default_rng(0).permutation(np.unique(qid))
    folds = []
    for part in range(n):
        test = np.isin(qid, names[part::n])
        folds.append(Fold(X[~test], y[~test], qid[~test], X[test], y[test], qid[test]))
    return folds


def pairwise(boosted: bool, **options: Any) -> Callable[[], Callable[[Ranking], list[Floats]]]:
    def load() -> Callable[[Ranking], list[Floats]]:
        from assay.ensemble import GradientBoostingClassifier  # noqa: PLC0415
        from assay.ranking import PairwiseRanker  # noqa: PLC0415

        def scores(fold: Fold) -> Floats:
            base = GradientBoostingClassifier(n_jobs=-1) if boosted else None
            model = PairwiseRanker(base, random_state=0, **options)
            return model.fit(fold.X, fold.y, qid=fold.qid).predict(fold.X_test, fold.qid_test)

        return lambda data: [scores(fold) for fold in data.folds]

    return load


def omega(**options: Any) -> Callable[[], Callable[[Ranking], list[Floats]]]:
    def load() -> Callable[[Ranking], list[Floats]]:
        from assay.ensemble import GradientBoostingClassifier  # noqa: PLC0415
        from assay.ranking import OmegaRanker  # noqa: PLC0415

        def scores(fold: Fold) -> Floats:
            base = GradientBoostingClassifier(n_jobs=-1)
            model = OmegaRanker(base, random_state=0, **options)
            return model.fit(fold.X, fold.y, qid=fold.qid).predict(fold.X_test, fold.qid_test)

        return lambda data: [scores(fold) for fold in data.folds]

    return load


def pointwise() -> Callable[[Ranking], list[Floats]]:
    from assay.ensemble import GradientBoostingRegressor  # noqa: PLC0415

    def scores(fold: Fold) -> Floats:
        model = GradientBoostingRegressor(n_jobs=-1)
        return model.fit(fold.X, fold.y).predict(fold.X_test)

    return lambda data: [scores(fold) for fold in data.folds]


def lambdarank() -> Callable[[Ranking], list[Floats]]:
    import lightgbm  # noqa: PLC0415

    def scores(fold: Fold) -> Floats:
        by = np.argsort(fold.qid, kind="stable")
        sizes = np.unique(fold.qid, return_counts=True)[1]
        # Whole numbers are required: half stars become levels, with the gains of the metric.
        levels = np.rint(2 * fold.y[by]).astype(int)
        gains = [2 ** (level / 2) - 1 for level in range(levels.max() + 1)]
        model = lightgbm.LGBMRanker(verbose=-1, n_jobs=-1, label_gain=gains)
        return np.asarray(model.fit(fold.X[by], levels, group=sizes).predict(fold.X_test))

    return lambda data: [scores(fold) for fold in data.folds]


def lambdarank_of_places() -> Callable[[Ranking], list[Floats]]:
    """The same for a full order: it takes levels up to 30, so places become such levels."""
    call = lambdarank()

    def levels(fold: Fold) -> Fold:
        places = np.argsort(np.argsort(fold.y.reshape(-1, 30), axis=1), axis=1).ravel()
        return fold._replace(y=places / 4.0)

    return lambda data: call(Ranking([levels(fold) for fold in data.folds], 0))


def quality(data: Ranking, found: list[Floats], _: list[Floats]) -> str:
    from assay.evaluate import mean_average_precision, ndcg  # noqa: PLC0415

    gains, precisions = [], []
    for fold, scores in zip(data.folds, found, strict=True):
        gains.append(ndcg(fold.y_test, scores, fold.qid_test))
        precisions.append(
            mean_average_precision(fold.y_test, scores, fold.qid_test, threshold=data.threshold)
        )
    return f"NDCG@10 {np.mean(gains):.4f}, MAP {np.mean(precisions):.4f}"


def top_loss(data: Ranking, found: list[Floats], _: list[Floats]) -> str:
    from assay.ranking import omega_loss  # noqa: PLC0415

    losses = [
        omega_loss(fold.y_test, scores, fold.qid_test, omega="top_k", k=5)
        for fold, scores in zip(data.folds, found, strict=True)
    ]
    return f"top-5 loss {np.mean(losses):.2f}"


#: Pairs of a user to learn from: more of them cost time and gain nothing here.
_SOME = {"pairs": 500}


def contestants(**options: Any) -> tuple[Contestant, ...]:
    return (
        Contestant(OURS, pairwise(True, **options)),
        Contestant("assay, greater", pairwise(True, features="greater", **options)),
        Contestant("assay, logistic", pairwise(False, **options)),
        Contestant("assay, omega", omega(omega="discount", **options)),
        Contestant("assay, pointwise boosting", pointwise),
        Contestant("LightGBM LambdaRank", lambdarank, "lightgbm"),
    )


WORKS = (
    Work(
        "noisy circles of preferences, 2 x 100 queries of 30 items",
        circles,
        (
            Contestant(OURS, omega(omega="top_k", k=5)),
            Contestant("assay, omega by scores", omega(omega="top_k", k=5, by="scores")),
            Contestant("assay, all pairs", pairwise(True)),
            Contestant("assay, linear score", pairwise(False)),
            Contestant("assay, pointwise boosting", pointwise),
            Contestant("LightGBM LambdaRank", lambdarank_of_places, "lightgbm"),
        ),
        OURS,
        top_loss,
        repeats=1,
        alone=True,
    ),
    Work(
        "lgb_rank: fit and predict, 5 folds",
        lgb_rank,
        contestants(),
        OURS,
        quality,
        repeats=1,
        alone=True,
        file=tables.path_of("lgb_rank"),
    ),
    Work(
        "movielens_100k: fit and predict, 134 users held out",
        movielens,
        contestants(**_SOME),
        OURS,
        quality,
        repeats=1,
        alone=True,
        file=tables.path_of("movielens_100k"),
    ),
)
