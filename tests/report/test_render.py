from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.report.typed import render, write

Record = dict[str, Any]
LIMIT = 2_000_000

# Strings that break pages which forget to escape one of their contexts.
XSS = [
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<!--<script>",
    "<img src=x onerror=alert(1)>", "\"><img src=x onerror=alert(1)>", "'><svg onload=alert(1)>",
    "<svg/onload=alert(1)>", "javascript:alert(1)", "{{7*7}}", "{% raw %}", "${alert(1)}",
    "\" onmouseover=\"alert(1)", "' onfocus='alert(1)' autofocus='", "<iframe src=//evil.test>",
    "<body onload=alert(1)>", "<a href=javascript:alert(1)>x</a>", "</title><script>alert(1)//",
    "</style><script>alert(1)</script>", "</textarea><script>alert(1)</script>",
    "<base href=//evil.test/>", "<meta http-equiv=refresh content=0;url=//evil.test>",
    "<link rel=stylesheet href=//evil.test>", "<object data=//evil.test>",
    "<embed src=//evil.test>",
    "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
    "<details open ontoggle=alert(1)>", "<" * 500,
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;", "\\u003cscript\\u003e",
    "\u2028alert(1)\u2029", "]]><script>alert(1)</script>", "--><script>alert(1)</script>",
    "<scr\x00ipt>alert(1)</scr\x00ipt>", "<ScRiPt>alert(1)</sCrIpT>", "\x1b[2J\x1b]0;x\x07",
    "\u202e<script>", "%3Cscript%3E", "`-alert(1)-`", "';alert(1);//", "\\';alert(1);//",
    "=cmd|' /C calc'!A0", "@import'//evil.test'", "expression(alert(1))", "url(//evil.test)",
    "<style>*{display:none}</style>", "<form action=//evil.test><input type=submit>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">", "a\nb\tc", "\ud800",
    "constructor", "__proto__", "datum['x']; alert(1)",
]  # fmt: skip


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _elements(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Elements()
    parser.feed(html)
    return parser.tags


def poisoned(record: Record, text: str) -> Record:
    """Put a text wherever a table or a user can put one."""
    record["source"] = record["target"]["name"] = text
    record["notes"] = [text]
    record["rows"]["dropped"] = [{"reason": text, "count": 1}]
    record["plan"]["text"] = record["verdict"]["text"] = record["chosen"]["text"] = text
    record["metric"]["name"] = record["baseline"]["name"] = text
    record["chosen"]["params"] = {text: text}
    record["versions"] = {text: text}
    for column in record["columns"]:
        column["name"] = column["reason"] = column["kind"] = text
        column["top"] = [{"level": text, "count": 3}]
    for row in [*record["leaderboard"], *record["nested"]]:
        row["family"], row["params"] = text, {text: text}
    record["leaderboard"][-1].update(score=None, failed=text)
    if record["target"]["classes"]:
        record["target"]["positive"] = text
        record["target"]["classes"] = [text for _ in record["target"]["classes"]]
        record["diagnostics"]["confusion"]["labels"] = list(record["target"]["classes"])
    return record


def test_page_is_one_file_that_loads_nothing(record: Record) -> None:
    for tag, attributes in _elements(render(record)):
        assert tag not in ("link", "iframe", "object", "embed", "base", "img")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)


def test_policy_allows_exactly_the_scripts_and_styles_of_the_page(record: Record) -> None:
    html = render(record)
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert found is not None
    policy = found[1].replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", html, flags=re.DOTALL)
    assert (len(scripts), len(styles)) == (1, 1)
    assert policy == (
        f"default-src 'none'; script-src '{_hash(scripts[0])}'; style-src '{_hash(styles[0])}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "unsafe" not in policy


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_interval_of_rows_in_time_is_for_what_follows(binary: Record) -> None:
    words = (
        "on this many rows, over the next block in time (the interval of the gain is for its mean"
    )
    assert words not in render(binary)
    binary["plan"]["kind"] = "forward"
    assert words in render(binary)


def test_same_record_gives_the_same_bytes(record: Record) -> None:
    assert render(record) == render(record)


def test_charts_are_plain_json_in_the_page(record: Record) -> None:
    html = render(record)
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html)
    assert found is not None
    charts = json.loads(found[1])
    for name in charts:
        assert html.count(f'id="{name}"') == 1


def test_every_chart_has_words_for_those_who_do_not_see_it(record: Record) -> None:
    described = [
        attributes["aria-label"]
        for _, attributes in _elements(render(record))
        if attributes.get("class") == "chart"
    ]
    assert len(described) >= 3
    assert all(text is not None and len(text) > 30 for text in described)


def test_corpus_of_hostile_names_holds_fifty() -> None:
    assert len(set(XSS)) >= 50


@pytest.mark.parametrize("text", XSS)
def test_hostile_names_stay_text(binary: Record, text: str) -> None:
    clean = _elements(render(binary))
    html = render(poisoned(binary, text))
    allowed = {tag for tag, _ in clean}
    for tag, attributes in _elements(html):
        assert tag in allowed
        assert not any(name.startswith("on") for name in attributes)
    assert sum(tag == "script" for tag, _ in _elements(html)) == 2
    assert html.count("<script") == 2 + _bundle_mentions(html)
    assert html.encode("utf-8")


def _bundle_mentions(html: str) -> int:
    return html[html.rindex("<script>") + 8 :].count("<script")


@pytest.mark.parametrize("text", ["{{7*7}}", "{% if %}"])
def test_names_are_no_template(binary: Record, text: str) -> None:
    assert text in render(poisoned(binary, text))


def test_page_stays_small_with_a_thousand_columns_of_long_names(binary: Record) -> None:
    wide = binary["columns"][5]
    binary["columns"] += [{**wide, "name": f"{at} " + "é<" * 500} for at in range(1000)]
    html = render(binary)
    assert len(html.encode()) < LIMIT
    assert "more columns not drawn here" in html


def test_page_stays_small_when_everything_is_large(multiclass: Record) -> None:
    long = "<&\"'" * 1000
    row = {**multiclass["leaderboard"][0], "family": long, "params": {long: long}}
    multiclass["leaderboard"] = [{**row, "rank": rank} for rank in range(1, 5001)]
    multiclass["nested"] = [{**multiclass["nested"][0], "family": long}] * 1000
    multiclass["notes"] = [long] * 1000
    multiclass["rows"]["dropped"] = [{"reason": long, "count": 1}] * 1000
    size = 1000
    multiclass["diagnostics"]["confusion"] = {
        "labels": [f"{at}{long}" for at in range(size)],
        "counts": [[1] * size for _ in range(size)],
    }
    aside = {"kind": "constant", "role": "dropped", "missing": 0, "distinct": 1, "used": False}
    multiclass["columns"] += [
        {**aside, "name": f"{at}{long}", "reason": f"{at}{long}"} for at in range(1000)
    ]
    assert len(render(multiclass).encode()) < LIMIT


def test_page_stays_small_with_many_classes_of_long_names(multiclass: Record) -> None:
    multiclass["diagnostics"]["confusion"] = {
        "labels": [f"{at}" + "<" * 1000 for at in range(30)],
        "counts": [[1] * 30 for _ in range(30)],
    }
    assert len(render(multiclass).encode()) < LIMIT


def test_long_verdicts_are_shown_whole(binary: Record) -> None:
    binary["verdict"]["text"] = "word " * 100 + "end."
    assert "word end." in render(binary)


def test_written_file_is_the_rendered_page(binary: Record, tmp_path: Path) -> None:
    path = tmp_path / "titanic.html"
    path.write_text("old")
    assert write(binary, path) == path
    assert path.read_text(encoding="utf-8") == render(binary)
    assert [entry.name for entry in tmp_path.iterdir()] == ["titanic.html"]


def test_a_page_that_cannot_be_made_leaves_the_old_file(binary: Record, tmp_path: Path) -> None:
    path = tmp_path / "titanic.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="format"):
        write({**binary, "format": 7}, path)
    assert path.read_text() == "old"


def test_no_folder_no_file(binary: Record, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot write the report"):
        write(binary, tmp_path / "absent" / "x.html")
    assert not list(tmp_path.iterdir())
