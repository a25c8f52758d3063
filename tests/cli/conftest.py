"""A small table, a model fitted on it once, and a way to run a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import main
from tests.cli.shop import HEADER, Ended, Run, rows


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in an empty folder and return how it ended."""
    monkeypatch.chdir(tmp_path)

    def call(*args: str | Path) -> Ended:
        capfd.readouterr()
        code = main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        return Ended(code, out, err)

    return call


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file with an identifier, a number, a level, a price and a class."""
    path = tmp_path / "shop.csv"
    path.write_text("\n".join([HEADER, *rows()]) + "\n")
    return path


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and two models of it: sold.assay and price.assay."""
    folder = tmp_path_factory.mktemp("models")
    path = folder / "shop.csv"
    path.write_text("\n".join([HEADER, *rows()]) + "\n")
    for target in ("sold", "price"):
        code = main(["fit", str(path), "--target", target, "--effort", "quick", "--quiet",
                     "--no-ledger", "--out", str(folder / target)])  # fmt: skip
        assert code == 0
    return folder
