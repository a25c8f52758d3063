"""Random states: one check and one message for all; seeds reach models inside models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from assay.base import ParameterError, check_random_state, draw_seed, seeded, with_seeds
from assay.cluster import KMeans
from assay.decomposition import PCA
from assay.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from assay.features import ReliefF
from assay.linear import Perceptron, Ridge
from assay.tree import DecisionTreeClassifier

MESSAGE = r"random_state must be None, an integer in \[0, 2\*\*32\) or a RandomState; got "


@pytest.mark.parametrize(
    "wrong",
    ["x", -1, 2**32, 1.5, np.random.default_rng(0)],
    ids=["text", "negative", "large", "fraction", "Generator"],
)
def test_what_is_no_random_state_is_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=MESSAGE):
        check_random_state(wrong)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(),
        DecisionTreeClassifier(),
        GradientBoostingClassifier(),
        KMeans(2),
        PCA(1, svd_solver="randomized"),
        Perceptron(),
        RandomForestClassifier(),
        ReliefF(1),
        Ridge(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_model_refuses_it_in_the_same_words(model: Any) -> None:
    rows = np.arange(24.0).reshape(8, 3)
    with pytest.raises(ParameterError, match=MESSAGE + "'x'"):
        model.set_params(random_state="x").fit(rows, [0, 1] * 4)


def test_a_seed_is_drawn_as_scikit_learn_draws_it() -> None:
    assert draw_seed(7) == np.random.RandomState(7).randint(2**31 - 1)
    source = np.random.RandomState(7)
    assert draw_seed(source) != draw_seed(source)


def test_open_random_states_are_filled_at_every_depth() -> None:
    model = make_pipeline(BaggingClassifier(SGDClassifier(random_state=5)))
    copy = seeded(model, 3)
    assert isinstance(copy[0].random_state, int)
    assert copy[0].estimator.random_state == 5
    assert model[0].random_state is None
    assert seeded(model, 3)[0].random_state == copy[0].random_state
    assert seeded(model, 4)[0].random_state != copy[0].random_state
    replaced = with_seeds(model, len, replace=True)
    assert replaced[0].estimator.random_state == len("baggingclassifier__estimator__random_state")
