"""Write the JavaScript that draws the charts of a report: one file, taken from a build dependency.

Called by CMake (web/CMakeLists.txt). By hand, in a source tree without a build of its own:

    python web/bundle.py src/assay/report/templates/vega.js
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import vl_convert

# A distribution must name the authors and the terms of what it contains.
NOTICE = """\
/*! Vega {vega}, Vega-Lite {lite}, Vega-Embed {embed} and vega-interpreter:
 *  Copyright (c) University of Washington Interactive Data Lab, licence BSD-3-Clause.
 *  They contain D3 and topojson-client (Copyright Mike Bostock, licence ISC), fast-json-patch and
 *  json-stringify-pretty-compact (MIT), semver (ISC) and tslib (0BSD).
 *  Bundled by vl-convert-python {version} when Assay was built.
 */
"""


def bundle() -> str:
    """Return the bundle, which defines ``vegaEmbed``."""
    notice = NOTICE.format(
        vega=vl_convert.get_vega_version(),
        lite=max(vl_convert.get_vegalite_versions(), key=_as_numbers),
        embed=vl_convert.get_vega_embed_version(),
        version=version("vl-convert-python"),
    )
    # In a function of its own, no short name of the bundle meets one of the page.
    code = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"{notice}(() => {{\n{code}\n}})();\n"


def _as_numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(bundle(), encoding="utf-8")
