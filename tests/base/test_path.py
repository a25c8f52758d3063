"""What `Path.fit_predict` does for every path: groups, order, columns of classes, errors."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from assay.base import Answer, ParameterError, Path, Predicted, TrainingSet


class Model(BaseEstimator):
    def __init__(self, size: int = 1, kind: str = "a", options: Any = None) -> None:
        self.size = size
        self.kind = kind
        self.options = options


class Run:
    def __init__(self, names: list[int], rows: int) -> None:
        self.names, self.rows = names, rows


class Counted(Path[Run]):
    """One run for each kind; kind 'alone' has no group; the size -1 is refused."""

    def __init__(self) -> None:
        self.runs: list[list[int]] = []
        self.alive: list[weakref.ref[Run]] = []

    def group(self, params: Mapping[str, Any]) -> Hashable | None:
        kind: str | None = params.get("kind")
        return None if kind == "alone" else kind

    def check(self, model: Any, training: TrainingSet) -> None:
        if model.size < 0:
            raise ParameterError("size must be at least 0")

    def run(self, models: Sequence[Any], training: TrainingSet) -> Run:
        run = Run([model.size for model in models], len(training.test_rows()))
        self.runs.append(run.names)
        self.alive.append(weakref.ref(run))
        return run

    def read(self, run: Run, model: Any) -> Answer:
        return Answer(Predicted(value=np.full(run.rows, float(model.size))), model.size)


ROWS = np.arange(8)
NUMBERS = TrainingSet(np.eye(8), np.arange(8.0), ROWS[:4], [ROWS[4:5], ROWS[5:]])


def classes(predicted: Predicted, seen: Any, n_classes: int) -> Predicted:
    return Answer(predicted, 1.0, None if seen is None else np.array(seen)).complete(n_classes)


def test_each_group_is_run_once_and_read_in_the_order_of_the_candidates() -> None:
    path = Counted()
    grid: list[dict[str, Any]] = [
        {"size": 3, "kind": "b"},
        {"size": 2},
        {"size": 1, "kind": "b"},
        {"size": 5},
    ]
    found = list(path.fit_predict(Model(), NUMBERS, grid))
    assert [each.size for each in found] == [3.0, 2.0, 1.0, 5.0]
    blocks = [np.asarray(block.value).tolist() for block in found[0].predictions]
    assert blocks == [[3.0], [3.0, 3.0, 3.0]]
    assert path.runs == [[3, 1], [2, 5]]


def test_candidates_without_a_group_share_a_run_and_count_alone() -> None:
    path, grid = Counted(), [{"size": n, "kind": "alone"} for n in (1, 2)]
    assert len(list(path.fit_predict(Model(), NUMBERS, grid))) == 2
    assert path.runs == [[1, 2]]
    assert path.n_fits(grid) == 2
    assert path.n_fits([*grid, {"kind": "a"}, {"kind": "a", "size": 2}, {"kind": "b"}]) == 4


def test_a_run_is_released_after_its_last_candidate() -> None:
    path = Counted()
    steps = path.fit_predict(Model(), NUMBERS, [{}, {"size": 2}, {"kind": "b"}])
    next(steps)
    gc.collect()
    assert path.alive[0]() is not None
    next(steps)
    gc.collect()
    assert path.alive[0]() is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": -1}, "size must be at least 0"),
        ({"sise": 1}, "Model has no parameter 'sise'; did you mean 'size'?"),
        ({"sise__deep": 1}, "Model has no parameter 'sise__deep'"),
    ],
)
def test_a_wrong_candidate_fails_in_its_turn_and_is_not_run(
    wrong: dict[str, Any], message: str
) -> None:
    path = Counted()
    steps = path.fit_predict(Model(), NUMBERS, [{"size": 4}, wrong, {"size": 6}])
    assert next(steps).size == 4.0
    assert path.runs == [[4, 6]]
    with pytest.raises(ParameterError, match=message.replace("?", r"\?")):
        next(steps)


def test_models_do_not_share_what_a_fit_could_change() -> None:
    template = Model(options=[1, 2])
    one, two = (Counted().model(template, {"size": n}) for n in (1, 2))
    assert one.options == two.options == [1, 2]
    assert one.options is not two.options
    assert one.options is not template.options
    inside = Counted().model(Model(options=Model()), {"options__size": 7})
    assert inside.options.size == 7


def test_columns_are_those_of_all_classes() -> None:
    given = Predicted(np.array([2, 0]), np.array([[0.3, 0.7], [0.6, 0.4]]), np.array([1.0, -1.0]))
    whole = classes(given, [0, 2], 4)
    assert whole.probability is not None
    assert whole.decision is not None
    assert whole.probability.tolist() == [[0.3, 0.0, 0.7, 0.0], [0.6, 0.0, 0.4, 0.0]]
    lowest = np.finfo(np.float64).min
    assert whole.decision.tolist() == [[-1.0, lowest, 1.0, lowest], [1.0, lowest, -1.0, lowest]]


def test_labels_left_out_are_the_most_probable_classes() -> None:
    whole = classes(Predicted(probability=np.array([[0.3, 0.7], [0.6, 0.4]])), [1, 3], 4)
    assert whole.label is not None
    assert whole.label.tolist() == [3, 1]
    whole = classes(Predicted(probability=np.array([[0.3, 0.7], [0.6, 0.4]])), None, 2)
    assert whole.label is not None
    assert whole.label.tolist() == [1, 0]


def test_decisions_of_two_classes_are_one_column() -> None:
    column = np.array([[1.0], [-1.0]])
    whole = classes(Predicted(np.array([1, 0]), decision=column), [0, 1], 2)
    assert whole.decision is not None
    assert whole.decision.tolist() == [1.0, -1.0]
    assert classes(Predicted(np.array([0, 0]), decision=column), [0], 2).decision is None
    pairs = np.zeros((2, 6))
    assert classes(Predicted(np.array([1, 0]), decision=pairs), [0, 1, 2, 3], 4).decision is None
