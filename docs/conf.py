"""Sphinx configuration: PyData theme, API pages from docstrings, formulas without a network."""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from html import escape
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

import assay
from assay.record import ClusterRecord, ClusterSummary, FitSummary, StudyRecord, json_schema

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs import layers

project = "Assay"
author = "the Assay developers"
release = version = assay.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
default_role = "py:obj"
# Deterministic pages: no dates in them.
html_last_updated_fmt = None
html_show_copyright = False

html_theme = "pydata_sphinx_theme"
html_title = "Assay"
html_static_path = ["_static"]
html_css_files = ["assay.css"]
html_theme_options: dict[str, Any] = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "header_links_before_dropdown": 6,
}
html_sidebars: dict[str, list[str]] = {"index": [], "start": [], "developing": [], "design": []}

numpydoc_show_class_members = False
autodoc_typehints = "none"  # numpydoc's sections say more than annotations do
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
html_math_renderer = "mathml"

_log = logging.getLogger(__name__)
_API = Path(__file__).parent / "api"


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_api)
    app.connect("source-read", _draw_layers)
    app.connect("builder-inited", write_schemas)
    app.connect("autodoc-skip-member", _is_generated)
    app.connect("autodoc-process-docstring", _escape_types, priority=400)  # before numpydoc
    # The usual renderer fetches a script from the network whenever a page is read. Browsers know
    # MathML, and docutils translates to it.
    app.add_html_math_renderer("mathml", (_inline_math, None), (_block_math, None))


def write_api(_: Sphinx | None = None) -> None:
    """Write one page per public package, from its ``__all__``; there is no list to keep."""
    _API.mkdir(exist_ok=True)
    packages = ["assay"]
    for found in pkgutil.iter_modules(assay.__path__):
        if found.ispkg and not found.name.startswith("_"):
            packages.append(f"assay.{found.name}")
    described: dict[int, str] = {}
    pages = {package: _page(package, described) for package in packages}
    index = ["API reference", "=============", ""]
    index += ["Generated from the docstrings of everything that is public.", ""]
    index += [".. toctree::", "   :maxdepth: 2", ""]
    index += [f"   {name}" for name in pages]
    pages["index"] = "\n".join(index) + "\n"
    for name, text in pages.items():
        path = _API / f"{name}.rst"
        if not path.exists() or path.read_text() != text:  # an unchanged page is not built again
            path.write_text(text)
    for stale in set(_API.glob("*.rst")) - {_API / f"{name}.rst" for name in pages}:
        stale.unlink()


def write_schemas(_: Sphinx | None = None) -> None:
    """Write the JSON schemas that the page on the record offers."""
    _API.mkdir(exist_ok=True)
    for name, cls in (
        ("study", StudyRecord),
        ("cluster", ClusterRecord),
        ("fit", FitSummary),
        ("cluster_summary", ClusterSummary),
    ):
        text = json.dumps(json_schema(cls), indent=2)
        (_API / f"{name}.schema.json").write_text(f"{text}\n")


def _page(package: str, described: dict[int, str]) -> str:
    module = import_module(package)
    lines = [package, "=" * len(package), "", f".. automodule:: {package}", ""]
    lines += [f".. currentmodule:: {package}", ""]
    for name in module.__all__:
        if name.startswith("_"):
            continue
        member = getattr(module, name)
        where = described.setdefault(id(member), f"{package}.{name}")
        if where != f"{package}.{name}" and (isclass(member) or isfunction(member)):
            lines += [f"``{name}`` is `{where}`.", ""]
            continue
        if isclass(member):
            lines += [f".. autoclass:: {name}", "   :members:", ""]
        elif isfunction(member):
            lines += [f".. autofunction:: {name}", ""]
        else:
            lines += [f".. autodata:: {name}", "   :no-value:", ""]
    return "\n".join(lines)


def _draw_layers(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = source[0].replace(layers.MARK, layers.page())


def _is_generated(_app: Sphinx, _what: str, name: str, _member: Any, skip: bool, _: Any) -> bool:
    # scikit-learn adds these to every estimator, with links into its own documentation.
    return skip or (name.startswith("set_") and name.endswith("_request"))


def _escape_types(
    _app: Sphinx, _what: str, _name: str, _obj: Any, _: Any, lines: list[str]
) -> None:
    # In "rows_ : ndarray of shape (n, n_features_in_)", reStructuredText takes the last for a link.
    for number, line in enumerate(lines):
        name, colon, kind = line.partition(" : ")
        if colon:
            lines[number] = name + colon + re.sub(r"_(?=[,)\s]|$)", r"\_", kind)


def _inline_math(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block_math(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{_mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        _log.warning("formula cannot be shown: %s", error, location=node)
        return f"<code>{escape(node.astext())}</code>"
