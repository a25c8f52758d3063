"""Records as typed objects: a journey through JSON, and what is refused."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import datasets, store
from assay.base import DataError
from assay.cli import main
from assay.record import (
    ClusterRecord,
    ClusterSummary,
    Estimate,
    FitSummary,
    Histogram,
    Opening,
    Record,
    Score,
    StudyRecord,
    json_schema,
)
from assay.record import _base as base
from assay.study import Clustering, Study, find_clusters
from tests.record.schema import problems

Json = dict[str, Any]


@pytest.fixture(scope="module")
def study() -> Study:
    return assay.fit(datasets.load_penguins(), "species", effort="quick", n_jobs=1, holdout=0.2)


@pytest.fixture(scope="module")
def clusters() -> Clustering:
    return find_clusters(datasets.load_penguins(), method="kmeans", n_clusters=3, n_jobs=1)


@pytest.fixture
def data(study: Study) -> Json:
    return study.record.to_json()


# -- the journey -----------------------------------------------------------------------------------


def test_record_comes_back_from_json_as_it_was(study: Study, clusters: Clustering) -> None:
    for record in (study.record, clusters.record):
        text = json.dumps(record.to_json(), sort_keys=True, allow_nan=False)
        again = type(record).from_json(json.loads(text))
        assert again == record
        assert json.dumps(again.to_json(), sort_keys=True) == text


def test_keys_of_later_versions_are_kept(data: Json) -> None:
    data["audit"] = {"findings": ["a leak"]}
    data["score"]["method"] = "BCa"
    record = StudyRecord.from_json(data)
    assert record.to_json() == data
    assert record.score.value == data["score"]["value"]


def test_absent_parts_of_earlier_versions_stay_absent(data: Json) -> None:
    for name in ("choice", "scores", "plain", "portfolio", "holdout"):
        del data[name]
    record = StudyRecord.from_json(data)
    assert record.choice is None
    assert record.to_json() == data


@pytest.mark.parametrize("text", ["inf", "-inf", "nan"])
def test_numbers_that_json_cannot_hold_are_texts(text: str) -> None:
    estimate = Estimate.from_json({"value": 0.5, "low": text, "high": 1, "level": 0.95})
    assert repr(estimate.low) == text
    assert not math.isfinite(estimate.low)
    assert json.dumps(estimate.to_json(), allow_nan=False).count(f'"{text}"') == 1


def test_integers_stay_integers() -> None:
    found = Estimate.from_json({"value": 1, "low": 0, "high": 2.0, "level": 0.95}).to_json()
    assert [type(found[name]) for name in ("value", "low", "high")] == [int, int, float]


def test_score_reads_as_a_sentence() -> None:
    score = Score(metric="r2", value=0.5, low=0.25, high=0.75, level=0.9)
    assert str(score) == "r2 0.5000 (90%: 0.2500 to 0.7500)"


# -- what is refused -------------------------------------------------------------------------------


def _set(data: Json, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    part: Any = data
    for name in parents:
        part = part[int(name)] if isinstance(part, list) else part[name]
    if isinstance(part, list):
        part[int(last)] = value
    else:
        part[last] = value


def _deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", 99, "the record has format 99; this version of Assay reads format 1"),
        ("format", True, "the record has format True"),
        ("task", "cluster", "task 'cluster' is not that of a study"),
        ("score", 0.9, "score must be a JSON object; got the number 0.9"),
        ("score", {"metric": "r2"}, "score.value is missing"),
        ("score.value", "good", "score.value must be a number; got a text"),
        ("score.value", True, "score.value must be a number; got true or false"),
        ("score.value", math.nan, "score.value must be a number; got the number nan"),
        ("score.value", 10**400, "score.value must be a number; got an integer"),
        ("score.value", {"value": 1.0}, "score.value must be a number; got a JSON object"),
        ("seed", 1.5, "seed must be an integer; got the number 1.5"),
        ("seed", False, "seed must be an integer; got true or false"),
        ("plan.grouped", 1, "plan.grouped must be true or false; got an integer"),
        ("notes", "one", "notes must be a list; got a text"),
        ("notes", [["one"]], r"notes\[0\] must be a text; got a list"),
        ("columns.2.name", None, r"columns\[2\].name must be a text; got null"),
        ("columns.2.min", [], r"columns\[2\].min must be a text; got a list"),
        ("leaderboard.0.params", [], r"leaderboard\[0\].params must be a JSON object"),
        ("leaderboard.0.params", {"a": math.inf}, r"params.a must be plain JSON; got the number"),
        ("leaderboard.0.params", {"a": _deep(40)}, "is nested more than 12 deep"),
        ("unknown", _deep(40), "unknown is nested more than 12 deep"),
        ("versions", {"numpy": 2}, "versions.numpy must be a text"),
        ("holdout", {"source": "t"}, "holdout.share is missing|holdout.how is missing"),
        ("holdout.rows", "many", "holdout.rows must be an integer"),
        ("diagnostics.confusion.counts", [[1]], "confusion does not fit together: lengths"),
        ("diagnostics.roc", {"fpr": [0.0], "tpr": []}, "roc does not fit together: lengths"),
        ("target.counts", [1], "target does not fit together: lengths must be equal"),
    ],
)
def test_a_hostile_record_is_refused_with_the_name_of_the_part(
    data: Json, path: str, value: Any, message: str
) -> None:
    _set(data, path, value)
    with pytest.raises(DataError, match=message):
        StudyRecord.from_json(data)


@pytest.mark.parametrize("value", [None, [], "record", 3, {}])
def test_what_is_no_record_is_refused(value: Any) -> None:
    with pytest.raises(DataError, match="the record is damaged: it has no format number"):
        StudyRecord.from_json(value)


def test_a_clustering_is_no_study(data: Json, clusters: Clustering) -> None:
    with pytest.raises(DataError, match="task 'multiclass' is not that of a clustering"):
        ClusterRecord.from_json(data)
    broken = clusters.record.to_json()
    broken["map"]["x"].pop()
    with pytest.raises(DataError, match="map does not fit together: lengths must be equal"):
        ClusterRecord.from_json(broken)


def test_huge_lists_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_ITEMS", 3)
    edges = [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(DataError, match="edges has 4 entries; at most 3 are allowed"):
        Histogram.from_json({"edges": edges, "counts": [1, 2, 3]})


def test_messages_stay_short_whatever_a_part_is_called(data: Json) -> None:
    data["x" * 100_000] = {"deep": math.nan}
    with pytest.raises(DataError) as caught:
        StudyRecord.from_json(data)
    assert len(str(caught.value)) < 400


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(data=st.data())
def test_any_part_replaced_by_anything_is_read_or_refused(
    data: st.DataObject, study: Study
) -> None:
    """No other exception, and what was read can be written and read again."""
    whole = copy.deepcopy(study.record.to_json())
    part: Any = whole
    for _ in range(data.draw(st.integers(0, 3))):
        keys: list[Any] = sorted(part) if isinstance(part, dict) else list(range(min(3, len(part))))
        inner = [key for key in keys if isinstance(part[key], (dict, list)) and part[key]]
        if not inner:
            break
        part = part[data.draw(st.sampled_from(inner))]
    keys = sorted(part) if isinstance(part, dict) else list(range(len(part)))
    part[data.draw(st.sampled_from(keys))] = data.draw(_json)
    try:
        record = StudyRecord.from_json(whole)
    except DataError:
        return
    assert (
        StudyRecord.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False))) == record
    )


def test_a_model_file_with_a_hostile_record_is_refused(study: Study, tmp_path: Path) -> None:
    manifest = study._manifest()
    manifest["record"]["leaderboard"][0]["score"] = {"value": 1}
    store.save(tmp_path / "bad.assay", manifest, study._parts())
    with pytest.raises(DataError, match=r"bad.assay: .*leaderboard\[0\].score must be a number"):
        assay.load(tmp_path / "bad.assay")


def test_a_damaged_opening_names_its_part() -> None:
    good = {"holdout": "a", "when": "b", "model": "c", "rows": 3, "scores": []}
    assert Opening.from_json(good).rows == 3
    with pytest.raises(DataError, match="rows must be an integer"):
        Opening.from_json({**good, "rows": None})


# -- the schema ------------------------------------------------------------------------------------


def test_schema_accepts_records_and_refuses_damaged_ones(
    study: Study, clusters: Clustering, data: Json
) -> None:
    schema = json_schema(StudyRecord)
    json.dumps(schema, allow_nan=False)
    assert problems(data, schema) == []
    assert problems(clusters.record.to_json(), json_schema(ClusterRecord)) == []
    for path, value in (("score.value", "good"), ("notes", 3), ("columns.0.name", None)):
        broken = copy.deepcopy(data)
        _set(broken, path, value)
        assert problems(broken, schema), path
    del data["verdict"]
    assert problems(data, schema) == [": verdict is missing"]


@pytest.mark.parametrize("target", ["species", "body_mass_g", "sex"])
def test_the_commands_print_what_the_schema_says(
    tmp_path: Path, target: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.load_penguins().write_csv("p.csv")
    assert main(["fit", "p.csv", "-t", target, "--effort", "quick", "--json", "--no-ledger"]) == 0
    assert problems(json.loads(capfd.readouterr().out), json_schema(FitSummary)) == []
    assert main(["inspect", "p.assay", "--json"]) == 0
    about = json.loads(capfd.readouterr().out)
    assert problems(about["record"], json_schema(StudyRecord)) == []
    assert StudyRecord.from_json(about["record"]).target.name == target


def test_the_cluster_command_prints_what_the_schema_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.load_penguins().write_csv("p.csv")
    assert main(["cluster", "p.csv", "--method", "kmeans", "--json"]) == 0
    assert problems(json.loads(capfd.readouterr().out), json_schema(ClusterSummary)) == []
    assert main(["inspect", "p.clusters.assay", "--json"]) == 0
    about = json.loads(capfd.readouterr().out)
    assert problems(about["record"], json_schema(ClusterRecord)) == []


def _classes() -> list[type[Record]]:
    found = [getattr(assay.record, name) for name in assay.record.__all__]
    return [each for each in found if isinstance(each, type) and issubclass(each, Record)]


@pytest.mark.parametrize("cls", _classes(), ids=lambda cls: cls.__name__)
def test_every_class_states_its_schema(cls: type[Record]) -> None:
    if cls is Record:
        return
    schema = json_schema(cls)
    assert schema["description"].endswith((".", ":", ";")) or schema["description"]
    assert set(schema["required"]) <= set(schema["properties"])
