"""The charts' JavaScript comes from the build: nothing heavy is imported to write a page."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from assay.report import _render
from tests.report.typed import render

Record = dict[str, Any]
ROOT = Path(__file__).parents[2]
IN_A_CLONE = pytest.mark.skipif(not (ROOT / "web").exists(), reason="the tests run without a clone")


def test_page_is_written_without_the_build_dependency() -> None:
    code = "import sys; sys.modules['vl_convert'] = None; from assay.report import _render; "
    code += "assert 'vegaEmbed' in _render._script()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_bundle_names_its_authors_and_terms(binary: Record) -> None:
    notice = re.search(r"/\*!(.*?)\*/", render(binary), flags=re.DOTALL)
    assert notice is not None
    assert "University of Washington Interactive Data Lab, licence BSD-3-Clause" in notice[1]
    assert re.search(r"Vega \d+\.\d+\.\d+, Vega-Lite \d+\.\d+", notice[1])


@IN_A_CLONE
def test_build_script_writes_the_bundle_of_the_package(tmp_path: Path) -> None:
    target = tmp_path / "new" / "vega.js"
    subprocess.run([sys.executable, ROOT / "web" / "bundle.py", target], check=True)
    written = target.read_text(encoding="utf-8")
    assert vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") in written
    installed = files("assay.report").joinpath("templates", "vega.js").read_text(encoding="utf-8")
    made_by = f"vl-convert-python {version('vl-convert-python')} "
    assert made_by in written
    if made_by in installed:
        assert installed == written


def test_missing_bundle_names_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_render, "files", lambda _: tmp_path)
    _render._template.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"vega\.js is missing: install Assay with pip"):
        _render._chart_library()
    _render._template.cache_clear()
