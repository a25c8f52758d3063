"""The main job for a ranking: a table with queries in, scores and places out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge

import assay
from assay.base import DataError, ParameterError
from assay.evaluate import Queries
from assay.ranking import OmegaRanker, PairwiseRanker
from assay.study import Study
from assay.table import prepare, read
from assay.tree import DecisionTreeClassifier


def made(seed: int = 0, n_queries: int = 30) -> pl.DataFrame:
    """Shops and what their customers thought of things, by size and colour."""
    random = np.random.default_rng(seed)
    shop = np.repeat(np.arange(n_queries), 8)
    size, colour = random.normal(size=len(shop)), random.choice(["red", "green"], len(shop))
    liked = size + 1.0 * (colour == "red") + 0.5 * random.normal(size=len(shop))
    stars = np.clip(np.round(liked + 1.5), 0, 4).astype(int)
    names = [f"shop {number}" for number in shop]
    return pl.DataFrame({"shop": names, "size": size, "colour": colour, "stars": stars})


def fitted(model: Any = None, **options: Any) -> Study:
    models = {"mine": PairwiseRanker(random_state=0) if model is None else model}
    return assay.fit(
        made(),
        "stars",
        task="rank",
        group="shop",
        models=models,
        defaults=False,
        effort="quick",
        n_jobs=1,
        **options,
    )


@pytest.fixture(scope="module")
def study() -> Study:
    return fitted()


@pytest.fixture(scope="module")
def default() -> Study:
    return assay.fit(made(), "stars", task="rank", group="shop", effort="quick", n_jobs=1)


def test_rankers_and_regressors_are_tried_by_default(default: Study) -> None:
    families = {row.family for row in default.record.leaderboard if row.failed is None}
    assert {"pairwise logistic ranking", "pairwise boosting"} <= families
    assert {"ridge regression", "gradient boosting", "random forest"} <= families
    assert default.score.metric == "ndcg@10"
    assert default.verdict == "better"
    assert default.baseline.value < default.score.low


@pytest.mark.parametrize(
    "model",
    [
        PairwiseRanker(DecisionTreeClassifier(max_depth=3), random_state=0),
        OmegaRanker(DecisionTreeClassifier(max_depth=3), omega="top_k", k=2, random_state=0),
        Ridge(),
    ],
)
def test_the_model_file_ranks_bit_for_bit_alike(tmp_path: Path, model: Any) -> None:
    study = fitted(model)
    study.save(tmp_path / "shops.assay")
    again = assay.load(tmp_path / "shops.assay")
    assert np.array_equal(again.predict(made(1)), study.predict(made(1)))
    scores, places = again.model.ranked(made(1))
    assert places is not None
    assert np.array_equal(scores, study.predict(made(1)))
    qid = made(1)["shop"].to_numpy()
    assert np.array_equal(places, Queries.of(qid, len(qid)).positions(scores))


def test_queries_are_compared_within_themselves() -> None:
    study = fitted(PairwiseRanker(DecisionTreeClassifier(max_depth=3), random_state=0))
    whole, one = made(1), made(1).filter(pl.col("shop") == "shop 3")
    expected = study.predict(whole)[(whole["shop"] == "shop 3").to_numpy()]
    assert np.array_equal(study.predict(one), expected)


class OnlyToFit(Ridge):
    """A ranker that asks for the queries in fit and not in predict, as XGBoost's does."""

    def fit(self, X: Any, y: Any, qid: Any = None) -> OnlyToFit:
        self.n_queries_ = len(np.unique(qid))
        super().fit(X, y)
        return self


def test_a_ranker_may_ask_for_queries_in_fit_only() -> None:
    study = fitted(OnlyToFit())
    assert study.model.estimator.n_queries_ == 30
    assert np.isfinite(study.predict(made(1))).all()


def test_without_a_column_of_queries_all_rows_are_one_list(study: Study) -> None:
    scores, places = study.model.ranked(made(1).drop("shop"))
    assert places is None
    assert np.array_equal(scores, study.predict(made(1)))  # a linear score does not ask


def test_a_missing_query_of_a_new_row_is_named(study: Study) -> None:
    new = made(1).with_columns(
        shop=pl.when(pl.int_range(pl.len()) == 4).then(None).otherwise("shop")
    )
    with pytest.raises(DataError, match="'shop': the query is missing"):
        study.predict(new)


def test_idle_queries_are_told() -> None:
    table = pl.concat([made(), made().head(1).with_columns(shop=pl.lit("lonely"))])
    data = prepare(read(table), "stars", task="rank", group="shop")
    assert any("1 of 31 queries have one row, or rows of one" in note for note in data.notes), (
        data.notes
    )


def test_the_report_tells_what_stands_at_each_place(study: Study, tmp_path: Path) -> None:
    places = study.record.diagnostics.places
    assert places is not None
    assert len(places.relevance) == len(places.best) == len(places.queries) == 8
    assert places.best[0] >= places.relevance[0] > places.mean
    page = study.report(tmp_path / "shops.html").read_text(encoding="utf-8")
    assert "The row ranked first has a mean target of" in page
    assert "NDCG@10" in page
    assert "predicting an order of the rows of each query" in page


@pytest.mark.parametrize("metric", ["ndcg@3", "map", "auc", "kendall_tau", "ndcg_linear@5"])
def test_other_metrics_of_a_ranking_are_taken(metric: str) -> None:
    assert fitted(metric=metric).score.metric == metric


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": None}, "group must name the column of the query when task='rank'"),
        ({"time": "size"}, "time must be None when task='rank', since queries are kept whole"),
        ({"metric": "r2"}, "metric of a ranking must be ndcg@K"),
        ({"positive": "4"}, "positive names a class, but 'stars' is a number to predict"),
    ],
)
def test_what_does_not_go_with_a_ranking_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        assay.fit(made(), "stars", **{"task": "rank", "group": "shop", **options})


def test_tables_that_cannot_be_ranked_are_refused() -> None:
    lonely = made().with_columns(shop=pl.int_range(pl.len()))
    with pytest.raises(DataError, match="none of the 240 queries has two rows of different target"):
        assay.fit(lonely, "stars", task="rank", group="shop")
    words = made().with_columns(stars=pl.lit("good"))
    with pytest.raises(DataError, match="stars"):
        assay.fit(words, "stars", task="rank", group="shop")
    negative = made().with_columns(pl.col("stars") - 3)
    with pytest.raises(DataError, match=r"'ndcg@10' could not be computed .* relevances >= 0"):
        assay.fit(
            negative,
            "stars",
            task="rank",
            group="shop",
            models={"mine": Ridge()},
            defaults=False,
            n_jobs=1,
        )
