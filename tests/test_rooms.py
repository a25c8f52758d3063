"""The shape of the tree: no package or room is a deep chain of files."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import assay

ROOT = Path(assay.__file__).parent
ROOMS = sorted(
    path.parent
    for path in ROOT.rglob("__init__.py")
    if path.parent != ROOT and path.parent.name != "_core"
)
MOST = 9


def _depth(room: Path) -> int:
    """Length of the longest chain of imports between the modules of a folder."""
    package = ".".join(("assay", *room.relative_to(ROOT).parts))
    modules = {path.stem: path for path in room.glob("*.py") if path.stem != "__init__"}

    @cache
    def imported(name: str) -> frozenset[str]:
        tree = ast.parse(modules[name].read_text())
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                if node.module == package:
                    found |= {alias.name for alias in node.names}
                elif node.module.startswith(f"{package}."):
                    found.add(node.module.removeprefix(f"{package}.").partition(".")[0])
        return frozenset(found & modules.keys() - {name})

    @cache
    def depth(name: str) -> int:
        return 1 + max((depth(other) for other in imported(name)), default=0)

    return max(map(depth, modules), default=0)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT)))
def test_a_room_is_not_a_deep_chain_of_files(room: Path) -> None:
    assert _depth(room) <= MOST
