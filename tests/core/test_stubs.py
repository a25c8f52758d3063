"""The generated stubs describe the module that was built."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

import assay._core
from assay._core import _ext

STUBS = Path(_ext.__file__ or "").parent / "_ext"
SUBMODULES = [getattr(_ext, name) for name in sorted(vars(_ext)) if not name.startswith("_")]


def functions(module: ModuleType) -> dict[str, list[list[str]]]:
    """Parameter names of every overload of every public function."""
    return {
        name: [re.findall(r"[(,]\s*(\w+):", head) for head, *_ in value.__nb_signature__]
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, type)
    }


def classes(module: ModuleType) -> dict[str, set[str]]:
    """Public methods and attributes of every class."""
    return {
        name: {each for each in vars(value) if not each.startswith("_")}
        for name, value in vars(module).items()
        if isinstance(value, type)
    }


def stub_functions(path: Path) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append([a.arg for a in node.args.args])
    return found


def stub_classes(path: Path) -> dict[str, set[str]]:
    named = (ast.FunctionDef, ast.AnnAssign)
    return {
        node.name: {_name_of(each) for each in node.body if isinstance(each, named)} - {""}
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    }


def _name_of(node: ast.FunctionDef | ast.AnnAssign) -> str:
    name = node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.target)
    return "" if name.startswith("_") else name


@pytest.mark.parametrize("module", SUBMODULES, ids=lambda m: m.__name__)
def test_stub_has_the_functions_and_parameters_of_the_module(module: ModuleType) -> None:
    name = module.__name__.rpartition(".")[2]
    found = functions(module)
    assert found, f"{name} binds nothing"
    assert stub_functions(STUBS / f"{name}.pyi") == found
    assert stub_classes(STUBS / f"{name}.pyi") == classes(module)


def test_every_submodule_has_a_stub_and_is_exported() -> None:
    names = {module.__name__.rpartition(".")[2] for module in SUBMODULES}
    assert {path.stem for path in STUBS.glob("*.pyi")} == names | {"__init__"}
    assert set(assay._core.__all__) == names


def test_stubs_sit_beside_the_module_without_hiding_it() -> None:
    assert Path(_ext.__file__ or "").suffix == ".so"
    assert not list(STUBS.glob("*.py"))
