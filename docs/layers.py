"""Draw the layers of the packages as pyproject.toml states them to import-linter.

No Sphinx in here: `docs/conf.py` puts the drawing into a page, and tests read it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MARK = ".. The layers are drawn here, by docs/layers.py.\n"
WIDTH, BOX, GAP, MARGIN = 760, 26, 12, 2


class Contract(NamedTuple):
    """A contract: its name, the package that holds the layers, and the layers, highest first."""

    name: str
    container: str
    layers: list[list[str]]


def page(root: Path = ROOT) -> str:
    """Return the part of a page, in reStructuredText, that shows every contract."""
    lines = []
    for contract in contracts(root):
        name = contract.name[0].lower() + contract.name[1:]
        lines += [f"**{contract.container}**: {name}.", ""]
        lines += [".. raw:: html", "", f"   {drawing(contract, root)}", ""]
        for module in [module for line in contract.layers for module in line]:
            lines.append(f"- ``{module}``: {summary(contract.container, module, root)}")
        lines.append("")
    return "\n".join(lines)


def contracts(root: Path = ROOT) -> list[Contract]:
    """Return the layers contracts of a source tree, without modules that do not exist yet."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    found = []
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        for container in contract["containers"]:
            folder = root / "src" / Path(*container.split("."))
            lines = [re.split(r"\s*[|:]\s*", line) for line in contract["layers"]]
            known = [[name.strip("()") for name in line if _source(folder, name)] for line in lines]
            found.append(Contract(contract["name"], container, [line for line in known if line]))
    return found


def summary(container: str, name: str, root: Path = ROOT) -> str:
    """Return the first sentence of a module's docstring."""
    source = _source(root / "src" / Path(*container.split(".")), name)
    assert source is not None
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").replace("`", "")


def drawing(contract: Contract, root: Path = ROOT) -> str:
    """Return one SVG: a line of boxes for each layer; what is higher imports what is lower."""
    height = len(contract.layers) * (BOX + GAP) - GAP + 2 * MARGIN
    parts = [
        f'<svg class="layers" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'aria-label="{escape(contract.name)}">'
    ]
    for row, line in enumerate(contract.layers):
        y = MARGIN + row * (BOX + GAP)
        step = (WIDTH - 2 * MARGIN + GAP) / len(line)
        for at, name in enumerate(line):
            x, width = MARGIN + at * step, step - GAP
            hint = escape(summary(contract.container, name, root))
            parts.append(
                f"<g><title>{hint}</title>"
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BOX}" rx="4"/>'
                f'<text x="{x + width / 2:.1f}" y="{y + BOX / 2 + 4.5}">{escape(name)}</text></g>'
            )
        if row:
            middle, top = WIDTH / 2, y - GAP
            parts.append(
                f'<path d="M{middle} {top + 1}v{GAP - 5}m-4 -3l4 4l4 -4" aria-hidden="true"/>'
            )
    return "".join([*parts, "</svg>"])


def _source(folder: Path, name: str) -> Path | None:
    name = name.strip("()")
    places = (folder / name / "__init__.py", folder / f"{name}.py")
    return next((place for place in places if place.exists()), None)
