"""Adaptive searches: honest, equal to brute force, and the same after a kill."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from assay.base import DataError, ParameterError
from assay.select import AdaptiveSearch, Integer, Ledger, Real, sobol
from assay.select.plan._canonical import digest
from assay.select.searches._adaptive_bayes import Bayes
from assay.select.searches._adaptive_point import Point, Trial, best_first, start_points
from assay.select.searches._population import Population
from assay.select.searches._space import Space
from tests.select.spies import Counted, Fragile

WINE = load_wine(return_X_y=True)
KNN = make_pipeline(StandardScaler(), KNeighborsClassifier())
SPACE = {
    "kneighborsclassifier__n_neighbors": Integer(1, 60, log=True),
    "kneighborsclassifier__p": Real(1.0, 4.0),
    "kneighborsclassifier__weights": ["uniform", "distance"],
}
BLOCKS = np.empty(len(WINE[1]), dtype=int)
for _number, (_, _test) in enumerate(StratifiedKFold(4).split(*WINE)):
    BLOCKS[_test] = _number


def brute_force(
    estimator: Any, space: Any, X: Any, y: Any, sampler: Any, n_trials: int, n_start: int
) -> list[list[tuple[dict[str, Any], float]]]:
    """Every search on its own, with nothing but the rows it may see, by scikit-learn alone."""
    compiled, searches = Space.of(space), []
    for block in [*range(4), None]:
        seen = np.full(len(y), True) if block is None else block != BLOCKS
        folds = PredefinedSplit(np.unique(BLOCKS[seen], return_inverse=True)[1])
        name = "final" if block is None else f"block {block}"
        trials: list[Trial] = []
        waiting = start_points(compiled, n_start, 0)
        while waiting:
            for point in waiting:
                params = point.params(compiled)
                model = estimator.set_params(**params)
                score = cross_val_score(model, X[seen], y[seen], cv=folds).mean()
                trials.append(Trial(point, params, float(score)))
            left, key = n_trials - len(trials), digest([0, name, len(trials)])
            waiting = sampler.propose(compiled, trials, left, key) if left else []
        searches.append([(each.params, each.score) for each in trials])
    return searches


@pytest.mark.parametrize("sampler", ["bayes", "population"])
def test_trials_and_choices_are_those_of_separate_searches(sampler: str) -> None:
    X, y = WINE
    found = AdaptiveSearch(
        KNN, SPACE, sampler=sampler, n_trials=9, n_start=4, cv=PredefinedSplit(BLOCKS)
    ).fit(X, y)
    theirs = brute_force(KNN, SPACE, X, y, Bayes() if sampler == "bayes" else Population(4), 9, 4)
    for mine, their in zip([*found.outer_trials_, found.trials_], theirs, strict=True):
        assert [params for params, _ in mine] == [params for params, _ in their]
        np.testing.assert_allclose([s for _, s in mine], [s for _, s in their], atol=1e-12)
    for block in range(4):
        best = max(theirs[block], key=lambda trial: round(trial[1], 12))[0]
        assert found.outer_params_[block] == best
        model = KNN.set_params(**best).fit(X[block != BLOCKS], y[block != BLOCKS])
        mine_score = found.outer_scores_[block]
        assert mine_score == pytest.approx(model.score(X[block == BLOCKS], y[block == BLOCKS]))
    assert found.best_params_ == max(theirs[-1], key=lambda trial: round(trial[1], 12))[0]
    assert found.score_.value == pytest.approx(found.outer_scores_.mean())


@pytest.mark.parametrize("sampler", ["bayes", "population"])
def test_targets_of_a_block_have_no_part_in_its_proposals(sampler: str) -> None:
    X, y = WINE

    def proposals(target: Any) -> list[list[dict[str, Any]]]:
        found = AdaptiveSearch(
            KNN, SPACE, sampler=sampler, n_trials=8, cv=PredefinedSplit(BLOCKS), refit=False
        ).fit(X, target)
        return [[params for params, _ in trials] for trials in found.outer_trials_]

    before = proposals(y)
    changed = y.copy()
    changed[BLOCKS == 2] = np.random.default_rng(0).permutation(y[BLOCKS == 2])
    after = proposals(changed)
    assert after[2] == before[2]
    assert after[0] != before[0]  # the others do see block 2


def test_a_search_finds_better_points_than_it_begins_with() -> None:
    space = Space.of({"a": Real(0, 1), "b": Real(0, 1), "c": ["x", "y", "z"]})

    def height(params: dict[str, Any]) -> float:
        off = 0.0 if params["c"] == "y" else 0.1
        return float(-((params["a"] - 0.3) ** 2) - (params["b"] - 0.8) ** 2 - off)

    fixed = max(
        height(params) for params in sobol({"a": Real(0, 1), "b": Real(0, 1), "c": ["y"]}, 40)
    )
    for sampler in (Bayes(), Population(6)):
        trials = [_tried(point, space, height) for point in start_points(space, 6, 0)]
        while len(trials) < 40:
            proposed = sampler.propose(space, trials, 40 - len(trials), f"k{len(trials)}")
            trials += [_tried(point, space, height) for point in proposed]
        assert best_first(trials)[0].score > fixed


def _tried(point: Point, space: Space, height: Any) -> Trial:
    params = point.params(space)
    return Trial(point, params, height(params))


@pytest.mark.parametrize("make", [Bayes, lambda: Population(3)], ids=["bayes", "population"])
def test_proposals_are_functions_of_key_and_trials(make: Any) -> None:
    space = Space.of([{"a": Real(0, 1)}, {"b": ["x", "y"], "a": Real(2, 3)}])
    trials = [_tried(point, space, lambda p: p["a"]) for point in start_points(space, 6, 0)]
    trials[1] = Trial(trials[1].point, trials[1].params, float("nan"))
    first, again = (make().propose(space, trials, 2, "key") for _ in range(2))
    assert first == again
    assert first != make().propose(space, trials, 2, "other")


def test_a_population_never_repeats_a_candidate_and_ends_with_the_space() -> None:
    found = AdaptiveSearch(
        KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 4, 5]}, sampler="population",
        n_trials=50, n_start=3, cv=4,
    ).fit(*WINE)  # fmt: skip
    tried = [params["n_neighbors"] for params, _ in found.trials_]
    assert sorted(tried) == [1, 2, 3, 4, 5]


def test_counted_fits_are_those_done_and_shared(tmp_path: Path) -> None:
    log = tmp_path / "log"
    space = {"var_smoothing": [1e-9, 1e-6, 1e-3, 1e-1]}
    found = AdaptiveSearch(
        Counted(str(log)), space, sampler="population", n_trials=4, n_start=4, cv=5
    ).fit(*load_breast_cancer(return_X_y=True))
    done = len(log.read_text().splitlines())
    # Four fixed candidates: 10 pairs and 5 single blocks each; the outer fits are among the latter.
    assert done == 4 * 15 + 1 == found.price_.fits == found.outcome_.work.fits
    assert found.price_.fixed == 4 * 10 + 5 + 1
    assert found.price_.naive == 5 * (4 * 4 + 1) + 4 * 5 + 1
    assert "a fixed set of as many candidates takes 46" in str(found.price_)


class Interrupted(Exception):
    """A kill in the middle of the work."""


@pytest.mark.parametrize("sampler", ["bayes", "population"])
def test_resumed_search_is_that_of_an_undisturbed_one(tmp_path: Path, sampler: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    space = {"var_smoothing": Real(1e-9, 1.0, log=True)}

    def search(name: str, stop: int | None = None, n_jobs: int = 1) -> AdaptiveSearch:
        def progress(done: int, *_: object) -> None:
            if stop is not None and done >= stop:
                raise Interrupted

        return AdaptiveSearch(
            Counted(str(tmp_path / f"{name}.log")), space, sampler=sampler, n_trials=6, n_start=4,
            cv=4, ledger=tmp_path / f"{name}.ledger", progress=progress, n_jobs=n_jobs, refit=False,
        ).fit(X, y)  # fmt: skip

    whole = search("whole")
    for stop in (3, 30, 50):
        with pytest.raises(Interrupted):
            search("killed", stop)
    resumed = search("killed", n_jobs=2)
    assert resumed.outer_trials_ == whole.outer_trials_
    assert resumed.trials_ == whole.trials_
    assert repr(resumed.outcome_.score) == repr(whole.outcome_.score)
    assert repr(resumed.outcome_.leaderboard) == repr(whole.outcome_.leaderboard)
    fits = [
        len((tmp_path / f"{name}.log").read_text().splitlines()) for name in ("whole", "killed")
    ]
    assert fits[0] == fits[1]
    with Ledger(tmp_path / "whole.ledger") as a, Ledger(tmp_path / "killed.ledger") as b:
        assert len(a) == len(b) == whole.outcome_.work.units


def test_several_estimators_compete_in_one_search() -> None:
    X, y = WINE
    models = {
        "neighbours": (KNN, SPACE),
        "line": (
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
            {"logisticregression__C": Real(1e-3, 10.0, log=True)},
        ),
    }
    found = AdaptiveSearch(models, sampler="population", n_trials=8, cv=4).fit(X, y)
    names = {row.family for row in found.outcome_.leaderboard}
    assert names == {"neighbours", "line"}
    assert found.best_name_ in names
    assert found.predict(X).shape == y.shape
    assert found.outcome_.leaderboard[0].score == pytest.approx(found.best_score_)


def test_regression_with_a_loss_and_weights() -> None:
    X, y = load_diabetes(return_X_y=True)
    weight = np.where(np.arange(len(y)) % 2, 1.0, 2.0)
    found = AdaptiveSearch(
        Ridge(), {"alpha": Real(1e-4, 10.0, log=True)}, sampler="population", n_trials=6,
        scoring="neg_mean_absolute_error", cv=4,
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    assert found.score_.value > 0
    assert found.outcome_.metric.name == "mean_absolute_error"
    scores = [score for _, score in found.trials_]
    assert all(score < 0 for score in scores)
    assert found.best_score_ == pytest.approx(-max(scores))


def test_a_candidate_that_fails_is_told_and_does_not_win() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    space = {"fault": [None, "raise"]}
    found = AdaptiveSearch(Fragile(), space, sampler="bayes", n_trials=6, n_start=2, cv=3).fit(X, y)
    assert found.best_params_ == {"fault": None}
    assert all(params == {"fault": None} for params in found.outer_params_)
    lost = [row for row in found.outcome_.leaderboard if row.rank is None]
    assert [row.failed for row in lost] == ["RuntimeError: told to fail"]
    with pytest.raises(DataError, match=r"no candidate could be fitted and scored.*told to fail"):
        AdaptiveSearch(Fragile(), {"fault": ["raise"]}, n_trials=2, cv=3).fit(X, y)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ParameterError, match=r"needs Optuna: pip install 'assay-ml\[search\]'"):
        AdaptiveSearch(SVC(), {"C": [1.0]}).fit(*WINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"estimator": SVC(), "space": {"C": [1]}, "sampler": "gp"},
            "sampler must be 'bayes' or 'p",
        ),
        ({"estimator": SVC(), "space": {"D": [1]}}, "'D' is not a parameter of SVC"),
        ({"estimator": SVC(), "space": {"C": [1]}, "n_trials": 0}, "n_trials must be"),
        ({"estimator": {}, "space": None}, "estimator must name at least one estimator; got none"),
        ({"estimator": {"a": SVC()}, "space": None}, r"pairs \(estimator, space\)"),
        ({"estimator": {"a": (SVC(), {})}, "space": {}}, "space belongs to one estimator"),
        (
            {"estimator": {"a": (SVC(), {}), "b": (Ridge(), {})}},
            "estimator must hold only classifiers or only regressors",
        ),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AdaptiveSearch(**arguments).fit(*WINE)


def test_parents_are_the_best_and_children_recombine_them() -> None:
    space = Space.of({"a": Real(0, 1), "b": Real(0, 1), "c": Real(0, 1)})
    places = [(0.1, 0.2, 0.3), (0.9, 0.8, 0.7), (0.5, 0.5, 0.5)]
    trials = [Trial(Point(0, place), {}, -rank) for rank, place in enumerate(places)]
    children = Population(4, mutation=1e-9, fresh=0.0).propose(space, trials, 4, "key")
    for child in children:
        for u, first, second in zip(child.place, *places[:2], strict=True):
            assert min(abs(u - first), abs(u - second)) < 1e-7
