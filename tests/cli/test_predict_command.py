from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay.study
from tests.cli.shop import HEADER, Run, rows


def _columns(text: str) -> dict[str, list[str]]:
    lines = list(csv.reader(io.StringIO(text)))
    return {name: [line[at] for line in lines[1:]] for at, name in enumerate(lines[0])}


def test_numbers_read_back_bit_for_bit_in_a_new_process(models: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "assay", "predict", "price.assay", "shop.csv"],
        cwd=models, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = np.array(_columns(ended.stdout)["prediction"], dtype=np.float64)
    expected = assay.study.load(models / "price.assay").predict(models / "shop.csv")
    assert found.tobytes() == expected.tobytes()


def test_probabilities_read_back_bit_for_bit(run: Run, models: Path) -> None:
    ended = run("predict", models / "sold.assay", models / "shop.csv", "--proba")
    study = assay.study.load(models / "sold.assay")
    found = _columns(ended.out)
    assert list(found) == ["prediction", "probability of no", "probability of yes"]
    assert found["prediction"] == study.predict(models / "shop.csv").tolist()
    shares = np.array([found["probability of no"], found["probability of yes"]], dtype=np.float64)
    assert shares.T.tobytes() == study.predict_proba(models / "shop.csv").tobytes()


def test_rows_keep_their_order_and_number(run: Run, models: Path, tmp_path: Path) -> None:
    lines = rows()
    whole = _columns(run("predict", models / "sold.assay", models / "shop.csv").out)["prediction"]
    other = tmp_path / "other.csv"
    other.write_text("\n".join([HEADER, *reversed(lines)]) + "\n")
    found = _columns(run("predict", models / "sold.assay", other).out)["prediction"]
    assert found == whole[::-1]


def test_predictions_go_to_a_file(run: Run, models: Path) -> None:
    ended = run("predict", models / "sold.assay", models / "shop.csv", "--out", "preds.csv")
    assert ended.code == 0
    assert ended.out == ""
    assert ended.err.startswith("80 rows read = 80 predicted; wrote preds.csv (")
    assert len(Path("preds.csv").read_text().splitlines()) == 81
    piped = run("predict", models / "sold.assay", models / "shop.csv", "--out", "-")
    assert piped.out == Path("preds.csv").read_text()


@pytest.mark.parametrize("proba", [False, True])
@pytest.mark.parametrize(
    ("ending", "read"),
    [
        (".parquet", pl.read_parquet),
        (".arrow", pl.read_ipc),
        (".ndjson", pl.read_ndjson),
        (".txt", pl.read_csv),
    ],
)
def test_the_ending_of_the_output_decides_its_format(
    run: Run, models: Path, ending: str, read: Any, proba: bool
) -> None:
    more = ["--proba"] if proba else []
    out = f"preds{ending}"
    ended = run("predict", models / "sold.assay", models / "shop.csv", "--out", out, *more)
    assert ended.code == 0
    found = read(Path(out).read_bytes() if ending == ".arrow" else out)
    study = assay.study.load(models / "sold.assay")
    assert found["prediction"].to_list() == study.predict(models / "shop.csv").tolist()
    assert len(found.columns) == 1 + 2 * proba
    if proba:
        shares = found.drop("prediction").to_numpy()
        assert np.array_equal(shares, study.predict_proba(models / "shop.csv"))


@pytest.mark.parametrize("name", ["shop.csv", "./shop.csv", "sold.assay"])
def test_a_file_that_is_read_is_never_overwritten(
    run: Run, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for each in ("shop.csv", "sold.assay"):
        (tmp_path / each).write_bytes((models / each).read_bytes())
    monkeypatch.chdir(tmp_path)
    before = Path(name).read_bytes()
    ended = run("predict", "sold.assay", "shop.csv", "--out", name)
    assert ended.code == 64
    assert "that is read; it would be lost. Choose another --out" in ended.err
    assert Path(name).read_bytes() == before


def test_json_holds_the_predictions(run: Run, models: Path) -> None:
    ended = run("predict", models / "price.assay", models / "shop.csv", "--json")
    found = json.loads(ended.out)
    expected = assay.study.load(models / "price.assay").predict(models / "shop.csv")
    assert found["predictions"] == expected.tolist()
    assert found["rows"] == {"read": 80, "predicted": 80, "blank": 0}
    filed = json.loads(
        run("predict", models / "price.assay", models / "shop.csv", "--json", "-o", "p.csv").out
    )
    assert filed["files"] == {"predictions": "p.csv"}
    assert "predictions" not in filed


def test_a_table_without_the_target_is_enough(run: Run, models: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_text("color,extra,size,price\nx,1,0.9,9.0\nnever seen,2,,3.5\n")
    ended = run("predict", models / "sold.assay", new)
    assert ended.code == 0, ended.err
    assert len(_columns(ended.out)["prediction"]) == 2


def test_standard_input_is_predicted(
    run: Run, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (models / "shop.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    ended = run("predict", models / "sold.assay", "-")
    assert len(ended.out.splitlines()) == 81


def test_a_missing_column_is_named_with_the_nearest(run: Run, models: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_text("color,sise,price\nx,0.9,9.0\n")
    ended = run("predict", models / "sold.assay", new)
    assert ended.code == 65
    assert "'size'" in ended.err
    assert "'sise'" in ended.err
    assert ended.out == ""


def test_a_number_that_cannot_be_read_is_told_with_its_place(
    run: Run, models: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    new.write_text("color,size,price\nx,0.9,9.0\nx,big,9.0\n")
    ended = run("predict", models / "sold.assay", new)
    assert ended.code == 65
    assert "'big'" in ended.err
    assert "line 3" in ended.err


def test_numbers_have_no_probabilities(run: Run, models: Path) -> None:
    ended = run("predict", models / "price.assay", models / "shop.csv", "--proba")
    assert ended.code == 65
    assert "predicts numbers, which have no probabilities; leave out --proba" in ended.err


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04 and more of it", b"\x80\x04}q."])
def test_other_files_are_no_models(run: Run, models: Path, content: bytes) -> None:
    Path("other.assay").write_bytes(content)
    ended = run("predict", "other.assay", models / "shop.csv")
    assert ended.code == 65
    assert "other.assay" in ended.err
    assert "Traceback" not in ended.err


def test_a_damaged_model_is_refused(run: Run, models: Path) -> None:
    content = bytearray((models / "sold.assay").read_bytes())
    content[-3] ^= 1
    Path("bent.assay").write_bytes(content)
    ended = run("predict", "bent.assay", models / "shop.csv")
    assert ended.code == 65
    assert "bent.assay" in ended.err


def test_a_full_device_ends_with_74(run: Run, models: Path) -> None:
    ended = run("predict", models / "sold.assay", models / "shop.csv", "--out", "/dev/full")
    assert ended.code == 74
    assert ended.err == (
        "assay: error: cannot write the predictions /dev/full: no space left on device\n"
    )


def test_a_reader_that_left_is_no_error(models: Path) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m assay inspect sold.assay | true"],
        cwd=models, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Traceback" not in ended.stderr
    assert "Exception" not in ended.stderr
