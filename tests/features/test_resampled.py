"""Resampling inside fit: nothing leaks, priors can be led back, and files hold the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from assay import fit
from assay.base import DataError, ParameterError, same
from assay.features import ResampledClassifier, SyntheticSampler, UnderSampler
from assay.neighbors import KNeighborsClassifier
from assay.select import Family
from assay.store import load, save
from assay.tree import DecisionTreeClassifier
from tests.select.asked import search

Matrix = NDArray[np.float64]


def rare(n: int = 400, share: float = 0.1, shift: float = 1.0) -> tuple[Matrix, NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = (np.arange(n) < share * n).astype(np.int64)
    return rng.normal(size=(n, 4)) + shift * y[:, None] * [1, 1, 0, 0], y


def test_model_is_the_classifier_on_the_resampled_rows() -> None:
    X, y = rare()
    sampler = SyntheticSampler(0.5, random_state=3)
    rows, labels = sampler.fit_resample(X, y)
    alone = GaussianNB().fit(rows, labels)
    model = ResampledClassifier(GaussianNB(), sampler).fit(X, y)
    assert np.array_equal(model.predict_proba(X), alone.predict_proba(X))
    assert np.array_equal(model.predict(X), alone.predict(X))
    assert model.prior_.tolist() == [0.9, 0.1]
    np.testing.assert_allclose(model.resampled_prior_, [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    "sampler", [SyntheticSampler(random_state=0), UnderSampler(random_state=0)]
)
def test_resampling_inside_the_fold_does_not_inflate_the_score(sampler: Any) -> None:
    X, y = rare(shift=0.0)  # nothing to be learnt: a fair score is one half
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = KNeighborsClassifier(1)
    inside = cross_val_score(
        ResampledClassifier(model, sampler), X, y, cv=folds, scoring="balanced_accuracy"
    )
    assert abs(inside.mean() - 0.5) < 0.08
    if isinstance(sampler, SyntheticSampler):
        rows, labels = sampler.fit_resample(X, y)
        leaking = cross_val_score(model, rows, labels, cv=folds, scoring="balanced_accuracy")
        assert leaking.mean() > 0.8  # the wrong order "learns" noise


def test_resampling_finds_more_of_the_rare_class() -> None:
    X, y = rare()
    plain = cross_val_predict(GaussianNB(), X, y)
    model = ResampledClassifier(GaussianNB(), SyntheticSampler(random_state=0))
    assert cross_val_predict(model, X, y)[y == 1].mean() > plain[y == 1].mean() + 0.2
    resampled = cross_val_predict(model, X, y)
    assert balanced_accuracy_score(y, resampled) > balanced_accuracy_score(y, plain)


def test_corrected_probabilities_follow_the_formula_and_the_true_shares() -> None:
    X, y = rare(n=4000, share=0.05)
    sampler = UnderSampler(random_state=0)
    plain = ResampledClassifier(LogisticRegression(), sampler).fit(X, y)
    corrected = ResampledClassifier(LogisticRegression(), sampler, correct_prior=True).fit(X, y)
    said = plain.predict_proba(X) * (plain.prior_ / plain.resampled_prior_)
    np.testing.assert_allclose(corrected.predict_proba(X), said / said.sum(axis=1, keepdims=True))
    assert plain.predict_proba(X)[:, 1].mean() > 0.25  # rare rows are overrated
    assert corrected.predict_proba(X)[:, 1].mean() == pytest.approx(0.05, abs=0.01)
    chosen = corrected.classes_[corrected.predict_proba(X).argmax(axis=1)]
    assert np.array_equal(corrected.predict(X), chosen)


def test_weights_reach_sampler_classifier_and_priors() -> None:
    X, y = rare()
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    sampler = SyntheticSampler(random_state=0)
    rows, labels, shares = sampler.fit_resample(X, y, sample_weight=weight)
    model = ResampledClassifier(GaussianNB(), sampler).fit(X, y, sample_weight=weight)
    alone = GaussianNB().fit(rows, labels, sample_weight=shares)
    assert np.array_equal(model.predict_proba(X), alone.predict_proba(X))
    assert model.prior_[1] == pytest.approx(weight[y == 1].sum() / weight.sum())


def test_the_seed_reaches_sampler_and_classifier_but_never_overrides_theirs() -> None:
    X, y = rare()
    template = ResampledClassifier(GaussianNB())
    one, two, other = (clone(template).set_params(random_state=s).fit(X, y) for s in (1, 1, 2))
    assert same(one, two)
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))
    own = ResampledClassifier(GaussianNB(), SyntheticSampler(random_state=5))
    a, b = (clone(own).set_params(random_state=s).fit(X, y) for s in (1, 2))
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))


def test_classifier_without_probabilities_has_none() -> None:
    X, y = rare()
    model = ResampledClassifier(LinearSVC()).fit(X, np.array(["no", "yes"])[y])
    assert not hasattr(model, "predict_proba")
    assert set(model.predict(X)) == {"no", "yes"}


def test_parameters_of_sampler_and_classifier_can_be_searched() -> None:
    X, y = rare()
    model = ResampledClassifier(GaussianNB(), UnderSampler(random_state=0))
    grid = {"sampler__ratio": [0.2, 1.0], "estimator__var_smoothing": [1e-9, 1e-3]}
    found = GridSearchCV(model, grid, cv=3, scoring="balanced_accuracy").fit(X, y)
    assert found.best_params_["sampler__ratio"] == 1.0


def test_search_judges_resampled_models_on_untouched_rows() -> None:
    X, y = rare(shift=0.0)
    model = ResampledClassifier(KNeighborsClassifier(1), SyntheticSampler(random_state=0))
    family = Family("resampled", model, [{"sampler__ratio": r} for r in (0.5, 1.0)])
    outcome = search(X, y, [family], task="binary", metric="balanced_accuracy")
    assert abs(outcome.score.value - 0.5) < 0.1


def test_fit_takes_resampled_models_on_mixed_tables() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) < 40, "rare", "usual")
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=300) + 2 * (y == "rare"),
            "kind": rng.choice(["u", "v", "w"], size=300),
            "target": y,
        }
    )
    models = {"smote": ResampledClassifier(GaussianNB(), SyntheticSampler(random_state=0))}
    study = fit(frame, "target", models=models, defaults=False, metric="balanced_accuracy")
    assert study.score.value > 0.7


def test_dataframes_reach_a_classifier_that_takes_nominal_columns() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [100, 20])
    frame = pd.DataFrame({"a": rng.normal(size=120), "kind": np.array(["u", "v"])[y]})
    model = ResampledClassifier(DecisionTreeClassifier(), SyntheticSampler(random_state=0))
    assert (model.fit(frame, y).predict(frame) == y).all()


@pytest.mark.parametrize("sampler", [None, SyntheticSampler({"b": 60}), UnderSampler(0.5)])
def test_model_file_holds_the_model(sampler: Any, tmp_path: Any) -> None:
    X, y = rare(n=100)
    labels = np.array(["a", "b"])[y]
    model = ResampledClassifier(GaussianNB(), sampler, random_state=0)
    model.fit(X, labels)
    if isinstance(sampler, SyntheticSampler):
        np.testing.assert_allclose(model.resampled_prior_, [0.6, 0.4])
    save(tmp_path / "model.assay", {}, {"model": model})
    restored = load(tmp_path / "model.assay")[1]["model"]
    assert same(model, restored)
    assert np.array_equal(model.predict_proba(X), restored.predict_proba(X))


def test_wrong_parts_are_named() -> None:
    X, y = rare()
    with pytest.raises(ParameterError, match="estimator must be a classifier; got 5"):
        ResampledClassifier(5).fit(X, y)
    with pytest.raises(ParameterError, match="sampler must be None or an object with fit_resample"):
        ResampledClassifier(GaussianNB(), GaussianNB()).fit(X, y)
    message = "estimator must give probabilities when correct_prior=True; got LinearSVC"
    with pytest.raises(ParameterError, match=message):
        ResampledClassifier(LinearSVC(), correct_prior=True).fit(X, y)
    with pytest.raises(DataError, match="sample_weight cannot be used: KNeighborsClassifier takes"):
        ResampledClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(DataError, match="y has one class only, 0; there is nothing to balance"):
        ResampledClassifier(GaussianNB()).fit(X, np.zeros(len(y), dtype=int))
