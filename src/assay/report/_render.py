"""The page itself: template, styles, charts and the policy that locks it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from assay.record import StudyRecord, finite
from assay.report._page import page
from assay.store import write_file


def render(record: StudyRecord) -> str:
    """Return the report of a study as one self-contained HTML page.

    The page needs no network and sends nothing: scripts and styles are inside it, and its
    Content-Security-Policy allows exactly those, by hash, without ``unsafe-eval``.

    Parameters
    ----------
    record : StudyRecord
        The record of a study (``Study.record``).

    Returns
    -------
    str
        HTML, under 2 MB for any table: what is too much to draw is counted instead.

    Examples
    --------
    >>> import assay
    >>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
    >>> render(study.record)[:15]
    '<!doctype html>'
    """
    return framed(page(record), "report.html.j2")


def write(record: StudyRecord, path: str | os.PathLike[str]) -> Path:
    """Write the report of a study; the file is there completely or not at all.

    Parameters
    ----------
    record : StudyRecord
        The record of a study (``Study.record``).
    path : path
        Where to write; an existing file is replaced.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    OSError
        If the file cannot be written; an existing one is then left as it was.
    """
    return saved(render(record), path)


def framed(shown: Mapping[str, Any], template: str, *more_styles: str) -> str:
    """Return a page from its template, with styles, charts and the policy that locks it."""
    style = "".join([_template("report.css"), *map(_template, more_styles)])
    script = _script()
    return (
        _environment()
        .get_template(template)
        .render(
            page=shown,
            style=style,
            script=script,
            policy=_policy(script, style),
            charts=_json_block(shown["charts"]),
        )
    )


def saved(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page, completely or not at all."""
    path = Path(path)
    # A name cut in the middle of a surrogate pair must not cost the page.
    write_file(path, [page.encode("utf-8", errors="replace")], what="the report")
    return path


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("assay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _script() -> str:
    # Vega, Vega-Lite and Vega-Embed with its interpreter, then the lines that start the charts.
    bundle = _chart_library() + _template("report.js")
    # Inside <script> only these end or change the mode of the parser; "\/" is "/" in JavaScript.
    return bundle.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def _chart_library() -> str:
    # Not in the repository: the build takes it from a package (web/bundle.py).
    try:
        return _template("vega.js")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the chart library {error.filename} is missing: install Assay with pip, "
            "or run `make core` in a clone"
        ) from None


@cache
def _template(name: str) -> str:
    return files("assay.report").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _json_block(data: Any) -> str:
    # As \u escapes the text cannot close its <script> element, whatever a column is called.
    text = json.dumps(_drawable(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _drawable(data: Any) -> Any:
    """Return data of charts with null for numbers that are not finite, as JSON demands."""
    if isinstance(data, dict):
        return {name: _drawable(part) for name, part in data.items()}
    if isinstance(data, (list, tuple)):
        return [_drawable(part) for part in data]
    return finite(data) if isinstance(data, float) else data
