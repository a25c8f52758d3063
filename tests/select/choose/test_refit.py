"""The choice on all rows: with its encoder, weighted, and the same every time."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from assay.select import Chosen, Family
from tests.select.asked import refit, search

X, Y = load_breast_cancer(return_X_y=True)


def test_refit_is_the_chosen_candidate_on_all_rows() -> None:
    grid = [{"C": 0.01}, {"C": 1.0}]
    family = Family("line", LogisticRegression(max_iter=200), grid, StandardScaler())
    outcome = search(X, Y, [family], task="binary", n_blocks=3)
    model = refit(outcome, X, Y)
    scaler = StandardScaler().fit(X)
    plain = LogisticRegression(max_iter=200, **outcome.chosen.params).fit(scaler.transform(X), Y)
    np.testing.assert_allclose(model.estimator.coef_, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.encoder.mean_, scaler.mean_)
    assert model.notes == ()


def test_refit_is_seeded_by_what_it_fits() -> None:
    family = Family("forest", RandomForestClassifier(3))
    chosen = Chosen(family, 0, {}, 0.0)
    first, second = (refit(chosen, X, Y).estimator.predict_proba(X) for _ in range(2))
    assert (first == second).all()
    other = refit(chosen, X, Y, seed=1).estimator.predict_proba(X)
    assert (first != other).any()


def test_refit_passes_weights_and_collects_warnings() -> None:
    chosen = Chosen(Family("line", LogisticRegression(max_iter=1)), 0, {}, 0.0)
    weight = np.where(Y == 1, 1.0, 0.0)
    weight[0] = 1e-6
    model = refit(chosen, X, Y, weight)
    assert any("ConvergenceWarning" in note for note in model.notes)
    plain = refit(chosen, X, Y)
    assert (model.estimator.coef_ != plain.estimator.coef_).any()


def test_refit_without_encoder_or_weights_support() -> None:
    chosen = Chosen(Family("near", KNeighborsClassifier(), [{"n_neighbors": 3}]), 0, {}, 0.0)
    model = refit(chosen, X, Y, np.ones(len(Y)))
    assert model.encoder is None
    assert model.estimator.n_neighbors == 3
