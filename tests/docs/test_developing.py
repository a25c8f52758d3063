"""The drawings of the layers show every package, and the pages for developers name real files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import layers

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
_PATH = re.compile(r"`((?:src|core|tests|docs|web|benchmarks|examples)/[\w/.-]*\w/?)`")


def packages(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_drawings_show_every_package_once() -> None:
    drawn = {contract.container: contract for contract in layers.contracts()}
    for name, folder in (("assay", "src/assay"), ("assay.select", "src/assay/select")):
        shown = [module for line in drawn[name].layers for module in line]
        assert len(shown) == len(set(shown))
        assert packages(ROOT / folder) <= set(shown)
        svg = layers.drawing(drawn[name])
        assert re.findall(r"<text[^>]*>([^<]*)</text>", svg) == shown
        assert svg in layers.page()


def test_contracts_are_read_from_pyproject(tmp_path: Path) -> None:
    for name in ("high", "left", "right"):
        (tmp_path / "src" / "house" / name).mkdir(parents=True)
        (tmp_path / "src" / "house" / name / "__init__.py").write_text(f'"""Is {name}."""\n')
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.importlinter.contracts]]\nname = "C"\ntype = "layers"\ncontainers = ["house"]\n'
        'layers = ["high", "(absent)", "left | (right)"]\n'
    )
    [contract] = layers.contracts(tmp_path)
    assert layers.MARK in (ROOT / "docs" / "developing.rst").read_text(encoding="utf-8")
    assert contract == ("C", "house", [["high"], ["left", "right"]])
    assert layers.summary("house", "left", tmp_path) == "Is left."


@pytest.mark.parametrize("page", ["docs/developing.rst", "CONTRIBUTING.md"])
def test_pages_for_developers_name_files_that_exist(page: str) -> None:
    named = _PATH.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_decision_is_listed_and_has_its_three_parts() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
    listed = re.findall(r"\((\d{3}-[\w-]+\.md)\)", index)
    assert sorted(set(listed)) == files
    numbers = [name[:3] for name in files]
    assert len(numbers) == len(set(numbers))
    for name in files:
        text = (DECISIONS / name).read_text(encoding="utf-8")
        parts = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
        assert parts == ["Context", "Decision", "Evidence"], name
        if name != "000-template.md":
            assert f"[{name[:3]}. " in index
            assert text.startswith(f"# {name[:3]}. ")


def test_links_between_the_texts_of_the_repository_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DECISIONS.glob("*.md"), *(ROOT / ".github").rglob("*.md")]
    assert len(pages) > 30
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)|<img src=\"([^\"]+)\"", text):
            assert (page.parent / (target[0] or target[1])).exists(), f"{page.name}: {target}"
