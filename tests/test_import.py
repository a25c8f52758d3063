"""What the package promises before anything is computed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import assay


def test_import_loads_neither_scikit_learn_nor_polars() -> None:
    code = "import assay, sys; print(sorted({'sklearn', 'polars', 'scipy'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_rooms_are_attributes() -> None:
    assert assay.datasets.path("titanic").name == "titanic.csv"
    assert {"fit", "load", "neighbors"} <= set(dir(assay))


def test_unknown_attribute_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'fitt'"):
        assay.fitt  # noqa: B018
