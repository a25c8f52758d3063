"""The rules of core/ that no compiler checks."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"
if not CORE.is_dir():
    pytest.skip("the sources of the core are not here", allow_module_level=True)

HEADERS = sorted((CORE / "include" / "assay").rglob("*.hpp"))
LEVELS = sorted((CORE / "levels").rglob("*.cpp"))
SOURCES = sorted(
    [*HEADERS, *LEVELS, *CORE.rglob("bindings/*.[ch]pp"), *CORE.rglob("tests/**/*.[ch]pp")]
)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def name(path: Path) -> str:
    return path.relative_to(CORE).as_posix()


def code(path: Path) -> str:
    """The file without comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(code(path))


def test_the_sources_are_found() -> None:
    assert len(HEADERS) > 10
    assert LEVELS


@pytest.mark.parametrize("path", [*HEADERS, *LEVELS], ids=name)
def test_kernels_know_nothing_of_python(path: Path) -> None:
    assert not [i for i in includes(path) if i.startswith("nanobind") or i.endswith("Python.h")]


@pytest.mark.parametrize("path", [*HEADERS, *LEVELS], ids=name)
def test_a_family_includes_only_common_and_itself(path: Path) -> None:
    family = path.parent.name
    own = [i for i in includes(path) if i.startswith("assay/")]
    assert {i.split("/")[1] for i in own} <= {"common", family}
    assert not [i for i in includes(path) if '"' in i and not i.startswith("assay/")]


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_openmp_and_no_hidden_randomness(path: Path) -> None:
    text = code(path)
    assert "omp.h" not in text
    assert not re.search(r"#\s*pragma\s+omp", text)
    assert not re.search(
        r"\b(s?rand|random_device|mt19937\w*|default_random_engine)\b\s*[({]?", text
    )


@pytest.mark.parametrize("path", HEADERS, ids=name)
def test_headers_begin_with_what_they_do(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("// ")
    assert "#pragma once" in text


@pytest.mark.parametrize("path", HEADERS, ids=name)
def test_every_header_has_a_test_of_its_name(path: Path) -> None:
    folder = CORE / "tests" / path.parent.name
    users = [
        t for t in folder.glob("test_*.cpp") if name(path).removeprefix("include/") in t.read_text()
    ]
    assert users, f"no file in {name(folder)} includes it"


def test_the_readme_of_the_core_is_short() -> None:
    assert len((CORE / "README.md").read_text().splitlines()) <= 10


@pytest.mark.parametrize("level", ["Baseline", "Avx2", "Avx512"])
def test_level_objects_define_only_functions_of_their_level(level: str) -> None:
    # Another weak function here could be picked by the linker for baseline code.
    library = ROOT / "build" / "editable" / "core" / "levels" / f"libassay_{level}.a"
    if not library.exists() or shutil.which("nm") is None:
        pytest.skip("needs an editable build and nm")
    listing = subprocess.check_output(["nm", "-C", "--defined-only", library], text=True)
    weak = re.findall(r"^\w+ [WVu] (.+)$", listing, re.MULTILINE)
    foreign = [s for s in weak if f"assay::{level}" not in s and not s.startswith("DW.ref.")]
    assert weak
    assert foreign == []
