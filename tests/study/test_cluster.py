"""From a table to clusters: the rules, the record, and the way through a model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score

import assay
from assay.base import DataError, ParameterError
from assay.record import Rows
from assay.study import Clustering, Progress, find_clusters
from assay.study._cluster_methods import COMPARED, METHODS, compare, usual_distance

ALL = [method for method in METHODS if method != "auto"]


@pytest.fixture(scope="module")
def groups() -> tuple[pl.DataFrame, Any]:
    """Three clear groups in columns of very different units, with a label and a gap."""
    X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    frame = pl.DataFrame(
        {
            "metres": X[:, 0] / 1000,
            "grams": X[:, 1] * 1000,
            "colour": np.where(y == 2, "red", "blue"),
            "code": [f"row {at}" for at in range(150)],
        }
    )
    return frame.with_columns(grams=pl.when(pl.arange(150) == 7).then(None).otherwise("grams")), y


@pytest.fixture(scope="module")
def found(groups: tuple[pl.DataFrame, Any]) -> Clustering:
    return find_clusters(groups[0], n_jobs=1)


def test_groups_are_found_and_counted(groups: tuple[pl.DataFrame, Any], found: Clustering) -> None:
    assert found.n_clusters == 3
    assert adjusted_rand_score(groups[1], found.labels) > 0.95
    assert found.record.number is not None
    assert found.record.number.reason.split(" ")[1:3] == ["of", "4"]
    assert [row.n_clusters for row in found.record.number.rows] == list(range(1, 11))


@pytest.mark.parametrize("method", ALL)
def test_every_method_finds_clear_groups(groups: tuple[pl.DataFrame, Any], method: str) -> None:
    frame, y = groups
    count = None if method == "dbscan" else 3
    made = find_clusters(frame, method=method, n_clusters=count, drop=["code"], n_jobs=1)
    assert made.labels is not None
    inside = made.labels >= 0
    assert inside.mean() > 0.8
    assert adjusted_rand_score(y[inside], made.labels[inside]) > 0.95
    assert made.record.method.name == method


def test_units_do_not_matter(groups: tuple[pl.DataFrame, Any]) -> None:
    frame = groups[0].select("metres", "grams")
    other = frame.with_columns(metres=pl.col("metres") * 1e6)
    a, b = (find_clusters(t, method="kmeans", n_clusters=3, n_jobs=1) for t in (frame, other))
    assert a.labels is not None
    assert b.labels is not None
    assert adjusted_rand_score(a.labels, b.labels) == 1.0


def test_record_is_plain_and_repeats(groups: tuple[pl.DataFrame, Any], found: Clustering) -> None:
    again = find_clusters(groups[0], n_jobs=2)
    assert json.dumps(again.record.to_json(), allow_nan=False) == json.dumps(
        found.record.to_json(), allow_nan=False
    )
    assert again.digest == found.digest


def test_record_adds_up(found: Clustering) -> None:
    record = found.record
    assert sum(entry.size for entry in record.clusters) + record.unassigned == 150
    assert record.rows == Rows(read=150, used=150, dropped=())
    names = {column.name: column.role for column in record.columns}
    assert names == {"metres": "feature", "grams": "feature", "colour": "feature",
                     "code": "dropped"}  # fmt: skip
    for entry in record.clusters:
        for row in (*entry.prototypes, *entry.outliers):
            assert found.labels is not None
            assert found.labels[row.row - 1] == entry.label


def test_traits_tell_what_sets_a_cluster_apart(
    groups: tuple[pl.DataFrame, Any], found: Clustering
) -> None:
    assert found.labels is not None
    red = int(found.labels[np.flatnonzero(groups[1] == 2)[0]])
    traits = found.record.clusters[red].traits
    assert {"grams", "colour=red"} <= {trait.name for trait in traits}
    share = next(trait for trait in traits if trait.name == "colour=red")
    assert share.mean == pytest.approx(1.0, abs=0.05)
    assert share.overall == pytest.approx(1 / 3, abs=0.05)


def test_model_file_gives_the_same_clusters_to_new_rows(
    groups: tuple[pl.DataFrame, Any], tmp_path: Path
) -> None:
    frame, _ = groups
    for method in ("kmeans", "mixture", "fuzzy"):
        made = find_clusters(frame, method=method, n_clusters=3, n_jobs=1)
        digest = made.save(tmp_path / "model.assay")
        again = assay.load(tmp_path / "model.assay")
        assert isinstance(again, Clustering)
        assert again.digest == digest == made.digest
        assert again.record == made.record
        np.testing.assert_array_equal(again.predict(frame), made.labels)
        if method != "kmeans":
            np.testing.assert_allclose(again.predict_proba(frame).sum(axis=1), 1.0)


def test_methods_that_place_no_new_rows_say_so(groups: tuple[pl.DataFrame, Any]) -> None:
    made = find_clusters(groups[0], method="agglomerative", n_clusters=3, n_jobs=1)
    with pytest.raises(DataError, match="groups the rows it has seen and no new ones"):
        made.predict(groups[0])
    assert not made.record.method.assigns_new_rows


@pytest.mark.parametrize(
    "change",
    [
        {"schema": {}}, {"clusters": {}}, {"clusters": {"format": 1, "task": "cluster"}},
    ],
)  # fmt: skip
def test_damaged_model_files_are_refused(
    found: Clustering, tmp_path: Path, change: dict[str, Any]
) -> None:
    manifest = {**found._manifest(), **change}
    assay.store.save(tmp_path / "bad.assay", manifest, found._parts())
    with pytest.raises(DataError, match=r"bad.assay: .*damaged"):
        assay.load(tmp_path / "bad.assay")


def test_most_stable_method_is_taken_and_the_reason_says_all(found: Clustering) -> None:
    method = found.record.method
    assert len(method.compared) == len(COMPARED)
    known = {e.method: e.stability for e in method.compared if e.stability is not None}
    # The table has levels, so the mixture is left out.
    assert "Gaussian mixture" not in known
    values = list(known.values())
    assert method.reason.startswith("the most stable of 3 methods")
    chosen = next(e for e in method.compared if e.method == method.text)
    assert chosen.stability is not None
    assert chosen.stability >= max(values) - 0.02


def test_rings_are_steadier_by_spectral_clustering() -> None:
    X, _ = make_circles(400, factor=0.3, noise=0.03, random_state=0)
    chosen, seen = compare(X, 2, seed=0, n_jobs=1, progress=lambda text: None)
    assert chosen == "spectral"
    assert {entry.method for entry in seen} == set(COMPARED)


def test_dbscan_radius_lies_at_the_bend() -> None:
    X = np.vstack([np.linspace(0, 1, 100)[:, None], [[50.0]]])
    assert 0.01 < usual_distance(X, 4) < 1.0
    assert usual_distance(np.ones((10, 2)), 4) > 0


def test_one_group_is_called_one() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 3))
    made = find_clusters(pl.DataFrame(rows, schema=["a", "b", "c"]), n_jobs=1)
    assert made.n_clusters == 1
    assert made.record.method.reason == "one cluster needs no comparison of methods"


def test_progress_is_told_to_the_end(groups: tuple[pl.DataFrame, Any]) -> None:
    steps: list[Progress] = []
    find_clusters(groups[0], n_jobs=1, progress=steps.append)
    assert [step.done for step in steps] == list(range(7))
    assert {step.total for step in steps} == {7}


def test_assignments_name_every_row(found: Clustering) -> None:
    lines = found.assignments().decode().splitlines()
    assert lines[0] == "row,cluster"
    assert [line.split(",")[0] for line in lines[1:]] == [str(at) for at in range(1, 151)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": ["metre"]}, r"has no column 'metre' \(columns\); did you mean 'metres'\?"),
        ({"drop": ["x"]}, r"has no column 'x' \(drop\); it has 'metres', 'grams'"),
        ({"kinds": {"z": "nominal"}}, r"has no column 'z' \(kind\)"),
        ({"columns": ["grams"], "drop": ["grams"]}, r"cannot be both used and dropped"),
        ({"drop": ["metres", "grams", "colour"]}, r"no column is left to learn from; set aside"),
        ({"n_clusters": 1000, "method": "agglomerative"}, r"n_clusters=1000 needs as many rows"),
    ],
)
def test_wrong_tables_are_refused(
    groups: tuple[pl.DataFrame, Any], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        find_clusters(groups[0], n_jobs=1, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "kmean"}, r"method must be .*; got 'kmean'; did you mean 'kmeans'\?"),
        ({"method": "dbscan", "n_clusters": 2}, r"n_clusters cannot be given with method='dbscan'"),
        ({"eps": 1.0}, r"eps and min_samples are for method='dbscan'; got method='auto'"),
        ({"n_clusters": 0}, r"n_clusters must be an integer >= 1 or None; got 0"),
    ],
)
def test_wrong_parameters_are_named(
    groups: tuple[pl.DataFrame, Any], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        find_clusters(groups[0], n_jobs=1, **settings)


def test_single_row_is_refused() -> None:
    with pytest.raises(DataError, match="clusters need at least 2 rows; it has 1"):
        find_clusters(pl.DataFrame({"a": [1.0], "b": [2.0]}))


def test_column_called_cluster_is_a_column_like_others() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    frame = pl.DataFrame(rows, schema=["cluster", "b"])
    made = find_clusters(frame, method="kmeans", n_clusters=2, n_jobs=1)
    assert {column.name for column in made.record.columns} == {"cluster", "b"}
