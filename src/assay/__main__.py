"""``python -m assay`` is the command line."""

from __future__ import annotations

from assay.cli import run

if __name__ == "__main__":
    run()
