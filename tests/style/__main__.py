"""``python -m tests.style``: print every idiom in the repository's texts; exit with 1 if any."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.style.idioms import find, texts

ROOT = Path(__file__).parents[2]


def main() -> int:
    found = 0
    for path in texts(ROOT):
        for line, idiom, suggestion in find(path.suffix, path.read_text(encoding="utf-8")):
            print(f"{path.relative_to(ROOT)}:{line}: {idiom!r} -> {suggestion}")
            found += 1
    if found:
        print(f"{found} idioms found; say it in the words of the suggestion")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
