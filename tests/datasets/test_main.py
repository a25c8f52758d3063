from __future__ import annotations

import subprocess
import sys

import pytest

from assay import datasets
from assay.datasets.__main__ import main


@pytest.mark.parametrize("name", ["pca_example", "penguins", "restaurant", "titanic"])
def test_main_prints_the_very_bytes_of_a_table(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay.datasets", name], capture_output=True, check=True
    )
    assert done.stdout == datasets.path(name).read_bytes()


@pytest.mark.parametrize("arguments", [[], ["titanic", "penguins"]])
def test_main_shows_its_usage_without_one_name(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 64
    assert "usage: python -m assay.datasets {pca_example," in capsys.readouterr().err


def test_main_names_the_tables_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["titanik"]) == 64
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "'titanic'" in printed.err
    assert "'titanik'" in printed.err
