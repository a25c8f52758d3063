from __future__ import annotations

import json
from pathlib import Path

import assay.study
from tests.cli.shop import Run


def test_a_model_is_described(run: Run, models: Path) -> None:
    ended = run("inspect", models / "sold.assay")
    assert ended.code == 0, ended.err
    study = assay.study.load(models / "sold.assay")
    text = " ".join(ended.out.split())
    assert "predicts sold, binary (no, yes, positive yes)" in text
    assert "Built from shop.csv, SHA-256" in text
    assert "Score ROC AUC" in text
    assert "Needs columns size, color, price" in text
    assert "Seed 0, effort quick" in text
    assert f"assay {assay.__version__}" in text
    assert study.digest in text


def test_json_holds_record_schema_and_digest(run: Run, models: Path) -> None:
    found = json.loads(run("inspect", models / "price.assay", "--json").out)
    study = assay.study.load(models / "price.assay")
    assert found["digest"] == study.digest
    assert found["record"] == study.record.to_json()
    assert found["schema"] == study.model.schema.to_dict()


def test_a_model_is_known_by_its_content(run: Run, models: Path) -> None:
    Path("renamed.bin").write_bytes((models / "sold.assay").read_bytes())
    assert "predicts sold" in run("inspect", "renamed.bin").out


def test_a_table_is_described(run: Run, table: Path) -> None:
    ended = run("inspect", table)
    assert ended.code == 0, ended.err
    assert "Rows       80 read = 80 + 0 blank" in ended.out
    assert "color  text     3 values, 0 missing" in ended.out


def test_a_table_with_a_target_shows_what_fit_would_use(run: Run, table: Path) -> None:
    ended = run("inspect", table, "--target", "sold")
    assert "Task       binary (no, yes)" in ended.out
    assert "numeric (2): size, price" in ended.out
    assert "set aside: id: consecutive numbers, one per row" in ended.out
    assert not list(table.parent.glob("*.assay"))


def test_json_of_a_table_adds_up(run: Run, table: Path) -> None:
    found = json.loads(run("inspect", table, "--json").out)
    assert found["rows"] == {"read": 80, "used": 80, "dropped": []}
    assert [column["name"] for column in found["columns"]] == [
        "id", "size", "color", "price", "sold",
    ]  # fmt: skip
