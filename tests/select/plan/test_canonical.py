"""Keys: one text for one meaning, the same in every process."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from assay.base import ParameterError
from assay.select import Family, Split
from assay.select.plan._canonical import canonical, digest, stream
from assay.select.run._seeds import seeded, seeded_candidate

IN_A_NEW_PROCESS = """
import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.linear_model import LogisticRegression
from assay.select import Family, Split
model = make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression(C=0.1))
family = Family("x", model, [{"logisticregression__class_weight": {1: 2.0, 0: 1.0}}, {}])
print(family.digest())
"""


def test_digest_is_the_same_in_a_new_process_with_another_hash_seed() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    steps = FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression(C=0.1)
    candidates: list[dict[str, Any]] = [{"logisticregression__class_weight": {0: 1.0, 1: 2.0}}, {}]
    assert done.stdout.strip() == Family("y", make_pipeline(*steps), candidates).digest()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Ridge(alpha=1.0), Ridge(alpha=2.0)),
        (Ridge(alpha=1.0), Ridge(alpha="1.0")),
        (make_pipeline(Ridge()), make_pipeline(Ridge(alpha=3))),
        (np.array([1.0]), np.array([1.0], dtype=np.float32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        ({"a": 1}, {"a": 2}),
        ([1, 2], [2, 1]),
        (float("nan"), float("inf")),
        (None, "None"),
        (True, 1),
        (RBF(1.0) + WhiteKernel(), RBF(2.0) + WhiteKernel()),
        (functools.partial(np.clip, a_min=0), functools.partial(np.clip, a_min=1)),
        (np.log, np.exp),
        (slice(1, 2), slice(1, 3)),
        (b"a", "a"),
        (KFold(3), KFold(4)),
        (KFold(3), StratifiedKFold(3)),
        (Split((0,), (1,)), Split((0,), (2,))),
        ({1, 2}, {1, 3}),
        (np.array(["a", None], dtype=object), np.array(["b", None], dtype=object)),
    ],
)
def test_different_meanings_have_different_digests(left: Any, right: Any) -> None:
    assert digest(left) != digest(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.asfortranarray(np.eye(3)), np.eye(3)),
        ({3, 1, 2}, {1, 2, 3}),
        (np.bool_(True), True),
        (range(3), [0, 1, 2]),
        (np.dtype("f8"), np.dtype("float64")),
        (Ridge, Ridge),
        (KFold(3, shuffle=True, random_state=1), KFold(3, shuffle=True, random_state=1)),
        (DecisionTreeClassifier(random_state=1), DecisionTreeClassifier(random_state=np.int32(1))),
    ],
)
def test_equal_meanings_have_equal_digests(left: Any, right: Any) -> None:
    assert digest(left) == digest(right)


@pytest.mark.parametrize(
    "value",
    [
        lambda x: x,
        np.random.RandomState(0),
        np.random.default_rng(0),
        KFold(3, shuffle=True, random_state=np.random.RandomState(0)),
        object(),
        Ridge().fit,
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        iter([1]),
    ],
)
def test_what_another_process_could_not_recognise_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="another process could not recognise"):
        canonical(value)


def test_message_says_where_the_unusable_value_is() -> None:
    tree = DecisionTreeClassifier(random_state=np.random.RandomState(0))
    with pytest.raises(ParameterError, match=r"family 'x'\.steps\[1\]\[1\]\.random_state is a"):
        Family("x", make_pipeline(StandardScaler(), tree)).digest()
    with pytest.raises(ParameterError, match=r"family 'x' candidate 0\['func'\] is a .*<lambda>"):
        Family("x", FunctionRegressor(), [{"func": lambda x: x}]).digest()


class FunctionRegressor(Ridge):
    """Something with a function for a parameter."""

    def __init__(self, func: Any = None) -> None:
        super().__init__()
        self.func = func


def test_version_of_the_package_is_part_of_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(Ridge())
    monkeypatch.setattr("sklearn.__version__", "0.0")
    assert digest(Ridge()) != before


def test_stream_depends_on_its_parts_only() -> None:
    assert stream(0, "a").integers(1 << 30) == stream(0, "a").integers(1 << 30)
    assert stream(0, "a").integers(1 << 30) != stream(0, "b").integers(1 << 30)


def test_family_name_takes_no_part_and_candidates_do() -> None:
    grid = [{"alpha": 1.0}, {"alpha": 2.0}]
    assert Family("a", Ridge(), grid).digest() == Family("b", Ridge(), grid).digest()
    family = Family("a", Ridge(), grid)
    assert len({family.digest(), family.digest([0]), family.digest([1])}) == 3
    encoded = Family("a", Ridge(), grid, encoder=StandardScaler())
    assert encoded.digest() != family.digest()
    assert family.encoder_digest is None


def test_family_checks_what_it_is_given() -> None:
    with pytest.raises(ParameterError, match="family 'x' has no candidates"):
        Family("x", Ridge(), [])
    with pytest.raises(ParameterError, match="'alhpa' is not a parameter of Ridge; allowed: alpha"):
        Family("x", Ridge(), [{"alhpa": 1.0}])
    with pytest.raises(ParameterError, match="must be an estimator object with"):
        Family("x", Ridge)
    with pytest.raises(ParameterError, match="must be an estimator object with predict"):
        Family("x", StandardScaler())
    pipeline = make_pipeline(StandardScaler(), Ridge())
    assert Family("x", pipeline, [{"standardscaler": "passthrough", "ridge__alpha": 2.0}])


def test_open_random_states_are_seeded_by_key_at_any_depth() -> None:
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    first, second = seeded(pipeline, "key"), seeded(pipeline, "other")
    assert isinstance(first[-1].random_state, int)
    assert first[-1].random_state != second[-1].random_state
    assert seeded(pipeline, "key")[-1].random_state == first[-1].random_state
    assert pipeline[-1].random_state is None
    kept = make_pipeline(DecisionTreeClassifier(random_state=5))
    assert seeded(kept, "key")[-1].random_state == 5


def test_candidates_cannot_open_a_random_state_again() -> None:
    tree = DecisionTreeClassifier()
    candidate = seeded_candidate({"random_state": None, "max_depth": None, "model": tree}, "key")
    assert "random_state" not in candidate
    assert candidate["max_depth"] is None
    assert isinstance(candidate["model"].random_state, int)
    assert seeded_candidate({"a__random_state": 3}, "key") == {"a__random_state": 3}
