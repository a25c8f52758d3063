"""Chains of transformers: what a pipeline gives, seeds, names, files, and use as an encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder

from assay.base import DataError, ParameterError, same
from assay.features import Chain, ConsensusSelector, ReliefF
from assay.select import Family
from assay.store import load, save
from assay.table import Encoder
from tests.select.asked import refit, search


def planted() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 12))
    return X, (X[:, 2] + X[:, 5] > 0).astype(np.int64)


def test_chain_gives_what_a_pipeline_gives() -> None:
    X, y = planted()
    steps = (StandardScaler(), ReliefF(5, n_features_to_select=3))
    chain, pipe = Chain(list(steps)), make_pipeline(*steps)
    assert np.array_equal(chain.fit_transform(X, y), pipe.fit_transform(X, y))
    assert np.array_equal(chain.transform(X[:9]), pipe.transform(X[:9]))
    assert chain.get_feature_names_out().tolist() == pipe.get_feature_names_out().tolist()


def test_training_rows_go_through_fit_transform_as_in_a_pipeline() -> None:
    X, y = planted()
    levels = np.round(X[:, :2])
    chain = Chain([TargetEncoder(cv=3)])
    first = chain.fit_transform(levels, y)
    # A row's own target is not in what stands for it; in what new rows get, it is.
    assert not np.array_equal(first, chain.transform(levels))


def test_names_follow_a_frame_through_the_steps() -> None:
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    chain = Chain([ReliefF(5, n_features_to_select=6), ReliefF(5, n_features_to_select=2)])
    out = chain.fit(frame, y).transform(frame)
    assert out.columns.tolist() == chain.get_feature_names_out().tolist() == ["c2", "c5"]


def test_open_seeds_of_the_steps_follow_the_chain() -> None:
    X, y = planted()
    steps = [ConsensusSelector(n_outer=2, n_inner=2), ReliefF(n_features_to_select=1)]
    one, two = (Chain(steps, random_state=3).fit(X, y) for _ in range(2))
    assert same(one, two)
    assert one.estimators_[0].random_state is not None


def test_a_candidate_behind_a_chain_is_chosen_refitted_and_stored(tmp_path: Path) -> None:
    X, y = planted()
    X[3, 4] = np.nan
    chain = Chain([Encoder(), ConsensusSelector(n_outer=2, n_inner=2)])
    outcome = search(X, y, [Family("naive Bayes", GaussianNB(), encoder=chain)], task="binary")
    assert not [row for row in outcome.leaderboard if row.failed]
    model = refit(outcome, X, y)
    save(tmp_path / "chain.assay", {}, {"encoder": model.encoder})
    again = load(tmp_path / "chain.assay")[1]["encoder"]
    assert same(model.encoder, again)
    assert np.array_equal(again.transform(X), model.encoder.transform(X))


def test_a_chain_whose_steps_do_not_fit_is_refused() -> None:
    X, y = planted()
    chain = Chain([Encoder(), ReliefF(n_features_to_select=2)]).fit(X, y)
    other = ReliefF(n_features_to_select=2).fit(X[:, :5], y)
    forged = {**chain.state(), "estimators_": [chain.estimators_[0], other]}
    with pytest.raises(DataError, match="step 1 takes 5 columns, but gets 12"):
        Chain.from_state(chain.get_params(deep=False), forged)


def test_chain_rejects_what_are_no_transformers() -> None:
    X, y = planted()
    for wrong in ([], [GaussianNB()], [ReliefF], "steps"):
        with pytest.raises(ParameterError, match="steps must be a list of transformers"):
            Chain(wrong).fit(X, y)
    with pytest.raises(DataError, match="Chain requires y to be passed"):
        Chain([ReliefF()]).fit(X)
