"""Draw the picture of the report that README shows: python make_report_picture.py [CHROMIUM].

Fits the bundled titanic table as `make demo` does and photographs the top of the page with the
Chromium of the machine (Debian: `chromium`), which is found if it is not named.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import assay

TARGET = Path(__file__).resolve().parent / "report.png"
WIDTH, HEIGHT = 1000, 975


def main(chromium: str) -> None:
    """Write the picture beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "titanic.html"
        assay.fit(assay.datasets.path("titanic"), target="Survived").report(page)
        options = [
            "--headless", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1",
            "--virtual-time-budget=20000",  # until the charts are drawn
            f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={TARGET}",
        ]  # fmt: skip
        subprocess.run([chromium, *options, page.as_uri()], check=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "chromium")
