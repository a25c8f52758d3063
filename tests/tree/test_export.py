"""Text, Graphviz and Vega pictures of a tree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from sklearn import tree as sk
from sklearn.datasets import load_diabetes, load_iris

from assay.base import ParameterError
from assay.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    export_graphviz,
    export_text,
    export_vega,
)


def named_iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X.astype(np.float32).astype(np.float64), np.array(["setosa", "versi", "virgin"])[y]


def test_text_is_that_of_scikit_learn() -> None:
    X, y = named_iris()
    names = ["sl", "sw", "pl", "pw"]
    # One column: no ties between columns.
    ours = DecisionTreeClassifier(max_depth=3).fit(X[:, 2:3], y)
    theirs = sk.DecisionTreeClassifier(max_depth=3).fit(X[:, 2:3], y)
    expected = sk.export_text(theirs, feature_names=names[2:3])
    got = export_text(ours, feature_names=names[2:3])
    assert got == re.sub(r" > +", " > ", expected)


def test_text_of_a_regression_is_that_of_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    X = X[:, 2:3].astype(np.float32).astype(np.float64)
    ours = DecisionTreeRegressor(max_depth=3).fit(X, y)
    theirs = sk.DecisionTreeRegressor(max_depth=3).fit(X, y)
    for max_depth in (0, 1, 10):
        expected = sk.export_text(theirs, feature_names=["bmi"], max_depth=max_depth)
        got = export_text(ours, feature_names=["bmi"], max_depth=max_depth)
        assert got == re.sub(r" > +", " > ", expected)


def test_text_tells_levels_missing_values_and_weights() -> None:
    frame = pl.DataFrame({"c": ["a", "b", "c", None], "n": [1.0, 1.0, 1.0, 1.0]})
    model = DecisionTreeClassifier(max_depth=1).fit(frame, ["x", "y", "y", "y"])
    assert export_text(model, show_weights=True, decimals=0) == (
        "|--- c = a\n|   |--- weights: [1, 0] class: x\n"
        "|--- c in {b, c} or missing\n|   |--- weights: [0, 3] class: y\n"
    )


def test_graphviz_draws_every_node_and_edge_once() -> None:
    X, y = named_iris()
    model = DecisionTreeClassifier().fit(X, y)
    dot = export_graphviz(model, rotate=True)
    assert len(re.findall(r"^\d+ \[label", dot, re.MULTILINE)) == model.tree_.node_count
    assert len(re.findall(r"^\d+ -> \d+", dot, re.MULTILINE)) == model.tree_.node_count - 1
    assert "rankdir=LR" in dot
    short = export_graphviz(model, max_depth=1, filled=False)
    assert short.count("(...)") == 2
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=dot.encode(), check=True, capture_output=True)


def test_graphviz_quotes_names() -> None:
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    dot = export_graphviz(model, feature_names=['the "size"\\'])
    assert 'label="the \\"size\\"\\\\ <= 0.500' in dot


@pytest.mark.parametrize("max_depth", [0, 2, None])
def test_vega_picture_can_be_drawn(max_depth: int | None) -> None:
    X, y = named_iris()
    for model in (DecisionTreeClassifier().fit(X, y), DecisionTreeRegressor().fit(X, X[:, :2])):
        picture = export_vega(model, max_depth=max_depth)
        nodes, edges = picture["datasets"]["nodes"], picture["datasets"]["edges"]
        assert len(edges) == len(nodes) - 1
        assert len(nodes) == (
            model.tree_.node_count if max_depth is None else len(_shown(model.tree_, max_depth))
        )
        if len(nodes) < 50:
            assert vl_convert.vegalite_to_png(json.dumps(picture)).startswith(b"\x89PNG")


def test_boxes_of_one_depth_do_not_overlap() -> None:
    X, y = named_iris()
    nodes = export_vega(DecisionTreeClassifier().fit(X, y), max_depth=None)["datasets"]["nodes"]
    for top in {node["y"] for node in nodes}:
        row = sorted((node["x"], node["x2"]) for node in nodes if node["y"] == top)
        assert all(a[1] < b[0] for a, b in pairwise(row))


def test_wrong_depth_is_named() -> None:
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    for export in (export_text, export_graphviz, export_vega):
        with pytest.raises(ParameterError, match="max_depth must be an integer >= 0 or None"):
            export(model, max_depth=-1)


def _shown(tree: Any, max_depth: int) -> Any:
    return np.concatenate(tree.levels[: max_depth + 1])
