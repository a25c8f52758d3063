"""What the package promises before anything is computed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import assay

PACKAGES = [
    f"assay.{found.name}"
    for found in pkgutil.iter_modules(assay.__path__)
    if found.ispkg and not found.name.startswith("_")
]


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


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_exports_reports_the_package(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert "._" not in thing.__module__, f"{package}.{name} is in {thing.__module__}"
