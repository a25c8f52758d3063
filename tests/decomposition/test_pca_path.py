"""Every number of components from one decomposition per training set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.base import DataError
from assay.decomposition import PCA
from assay.decomposition import _pca_routes as routes
from assay.neighbors import KNeighborsClassifier
from assay.select import NestedSearch

X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count decompositions."""
    calls: list[str] = []

    def counted(name: str, route: Any) -> Any:
        def run(rows: Any, n_threads: int) -> Any:
            calls.append(name)
            return route(rows, n_threads)

        return run

    for name in ("by_covariance", "by_factor"):
        monkeypatch.setattr(routes, name, counted(name, getattr(routes, name)))
    return calls


def test_a_nested_search_decomposes_each_training_set_once(made: list[str]) -> None:
    model = make_pipeline(StandardScaler(), PCA(), KNeighborsClassifier())
    grid = {
        "pca__n_components": [2, 5, 10, 20, 0.5],
        "pca__whiten": [False, True],
        "kneighborsclassifier__n_neighbors": [1, 5],
    }
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    nested = NestedSearch(model, grid, cv=cv, refit=False).fit(X, Y)
    assert made == ["by_covariance"] * 15  # ten pairs of blocks, five single ones
    blocks = np.empty(len(Y), dtype=int)
    for number, (_, test) in enumerate(cv.split(X, Y)):
        blocks[test] = number
    for number in range(5):
        train = blocks != number
        inner = PredefinedSplit(np.unique(blocks[train], return_inverse=True)[1])
        naive = GridSearchCV(model, grid, cv=inner).fit(X[train], Y[train])
        assert nested.outer_params_[number] == naive.best_params_
        expected = naive.score(X[~train], Y[~train])
        assert nested.outer_scores_[number] == pytest.approx(expected, rel=0, abs=1e-9)


def test_a_shared_fit_is_to_the_bit_a_fit(made: list[str]) -> None:
    asked: list[Any] = [3, 20, 0.9, "mle", None, 0]
    path = PCA.assay_path
    prepared = path.prepare(PCA(), X, None)
    together = [path.fit(PCA(n), prepared, X, None, None) for n in asked]
    # Digits have pixels without variance: asked for all components, 'auto' takes the factor.
    assert made == ["by_covariance", "by_factor"]
    for n, model in zip(asked, together, strict=True):
        alone = PCA(n).fit(X)
        assert model.solver_ == alone.solver_
        for name in ("components_", "explained_variance_", "mean_", "singular_values_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(alone, name))
        assert model.noise_variance_ == alone.noise_variance_


def test_steps_that_draw_are_shared_by_their_seed(made: list[str]) -> None:
    model = make_pipeline(_Noise(), PCA(), KNeighborsClassifier())
    nested = NestedSearch(model, {"pca__n_components": [2, 3]}, cv=3, refit=False).fit(X, Y)
    assert nested.outer_scores_.shape == (3,)
    assert len(made) == 3 + 3  # one seed for each pair of blocks, then the choice for each block


def test_more_components_than_columns_fail_alone(made: list[str]) -> None:
    model = make_pipeline(PCA(), KNeighborsClassifier())
    grid = {"pca__n_components": [2, 65, 3]}
    nested = NestedSearch(model, grid, cv=3, refit=False).fit(X, Y)
    assert np.isfinite(nested.inner_scores_).tolist() == [[True, False, True]] * 3
    assert made == ["by_covariance"] * 6
    with pytest.raises(DataError, match="must be between 0 and"):
        NestedSearch(model, grid, cv=3, error_score="raise").fit(X, Y)


class _Noise(StandardScaler):
    """Rows with a little noise of an open seed."""

    def __init__(self, random_state: int | None = None) -> None:
        super().__init__()
        self.random_state = random_state

    def transform(self, X: Any, copy: bool | None = None) -> NDArray[Any]:
        found = super().transform(X, copy)
        random = np.random.default_rng(self.random_state)
        return np.asarray(found + 1e-3 * random.normal(size=found.shape))
