from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli._files import check_output, outputs, size_text


@pytest.mark.parametrize(
    ("source", "out", "model"),
    [
        ("data/heart.csv", None, "heart.assay"),
        ("heart.csv.gz", None, "heart.assay"),
        ("my.heart.csv", None, "my.heart.assay"),
        ("-", None, "stdin.assay"),
        ("heart.csv", "v2", "v2.assay"),
        ("heart.csv", "v1.2", "v1.2.assay"),
        ("heart.csv", "v2.assay", "v2.assay"),
        ("heart.csv", "v2.html", "v2.assay"),
        ("heart.csv", "runs/", "runs/heart.assay"),
        ("heart.csv", "runs/a", "runs/a.assay"),
        (".csv", None, ".csv.assay"),
    ],
)
def test_files_are_named_after_the_table_or_as_asked(
    source: str, out: str | None, model: str
) -> None:
    found = outputs(source, out)
    assert found["model"] == Path(model)
    assert {path.with_suffix("") for path in found.values()} == {Path(model).with_suffix("")}


def test_an_existing_folder_gets_the_files(tmp_path: Path) -> None:
    assert outputs("heart.csv", str(tmp_path))["report"] == tmp_path / "heart.html"


def test_checking_an_output_leaves_nothing(tmp_path: Path) -> None:
    check_output(tmp_path / "x.html", replace=False)
    assert not list(tmp_path.iterdir())


def test_sizes_are_rounded_to_what_matters(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for size, text in ((12, "12 bytes"), (24_582, "24.6 kB"), (999_700, "1 MB")):
        path.write_bytes(bytes(size))
        assert size_text(path) == text
