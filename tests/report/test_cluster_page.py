"""The page and the lines of a clustering, from a record made by hand."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.report.conftest import nominal, numeric
from tests.report.typed import cluster_page, cluster_text, render_clusters, write_clusters

Record = dict[str, Any]
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture
def record() -> Record:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, -1], [60, 30, 10])
    values = rng.normal(size=(100, 2)) + 4 * labels[:, None]
    described = [
        {
            "label": label, "size": size,
            "traits": [
                {"name": "age", "share": False, "mean": 4.2, "overall": 1.1, "shift": 1.9},
                {"name": "town=Ulm", "share": True, "mean": 0.9, "overall": 0.4, "shift": -1.0},
            ],
            "prototypes": [{"row": 3, "cells": [4.25, "Ulm"]}],
            "outliers": [{"row": 9, "cells": [None, "Köln"]}],
        }
        for label, size in ((0, 60), (1, 30))
    ]  # fmt: skip
    return {
        "format": 1, "assay": "0.1.0", "task": "cluster", "source": "people.csv",
        "digest": "ab" * 32, "seed": 0, "n_clusters": 2, "unassigned": 10, "silhouette": 0.41,
        "rows": {"read": 101, "used": 100, "dropped": [{"reason": "blank line", "count": 1}]},
        "columns": [numeric("age", values[:, 0]), nominal("town", {"Ulm": 60, "Köln": 40})],
        "notes": ["by rule, eps 0.5 is where the sorted distances bend most"],
        "target": {"name": "cluster", "classes": None},
        "method": {
            "name": "kmeans", "text": "k-means", "asked": "auto",
            "reason": "the steadiest of 2 methods", "params": {"n_clusters": 2},
            "assigns_new_rows": True,
            "compared": [
                {"method": "k-means", "stability": 0.98, "why": ""},
                {"method": "spectral clustering", "stability": None, "why": "too many rows"},
            ],
        },
        "number": {
            "n_clusters": 2, "method": "vote", "reason": "2 of 3 criteria agree",
            "votes": {"elbow": 2, "silhouette": 2, "gap": 3},
            "rows": [
                {"n_clusters": k, "inertia": 90.0 / k, "elbow": 0.1, "penalised": None,
                 "silhouette": None if k == 1 else 0.4, "bic": None, "gap": 0.2, "gap_error": 0.1}
                for k in (1, 2, 3)
            ],
        },
        "shown_columns": ["age", "town"],
        "clusters": described,
        "map": {
            "x": values[:, 0].tolist(), "y": values[:, 1].tolist(), "cluster": labels.tolist(),
            "row": list(range(1, 101)), "shares": [0.6, 0.3], "axes": [["age"], ["town=Ulm"]],
            "of": 100,
        },
        "versions": {"assay": "0.1.0", "numpy": "2"},
    }  # fmt: skip


def test_page_says_what_was_found_and_why(record: Record) -> None:
    page = cluster_page(record)
    assert page["headline"]["text"] == "90 rows in 2 clusters by k-means, 10 rows in none."
    assert [tile["value"] for tile in page["headline"]["tiles"]] == ["2", "0.41", "0.98", "10"]
    assert page["number"]["text"] == "2 clusters: 2 of 3 criteria agree."
    assert [part["choice"] for part in page["number"]["pictures"]] == [2, 2, 3]
    assert page["rows"]["sum"] == "101 rows read = 100 used + 1 dropped"
    assert page["clusters"][0]["rows"][1]["cells"] == ["–", "Köln"]
    assert set(page["charts"]) == {
        "chart-map", "chart-sizes", "chart-elbow", "chart-silhouette", "chart-gap",
    }  # fmt: skip


def test_every_row_on_the_map_has_the_colour_of_its_cluster(record: Record) -> None:
    spec = cluster_page(record)["charts"]["chart-map"]
    assert len(spec["data"]["values"]) == 100
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["none", "0", "1"]
    assert len(set(scale["range"])) == 3


def test_page_is_self_contained_and_its_charts_are_json(record: Record) -> None:
    html = render_clusters(record)
    assert html.startswith("<!doctype html>")
    assert "Content-Security-Policy" in html
    assert not re.search(r'(?:src|href)="https?:', html)
    block = re.search(r'id="charts">(.*?)</script>', html, re.S)
    assert block is not None
    assert "chart-map" in json.loads(block[1])


def test_hostile_names_cannot_break_out(record: Record) -> None:
    record["columns"][0]["name"] = HOSTILE
    record["shown_columns"][0] = HOSTILE
    record["map"]["axes"][0] = [HOSTILE]
    record["clusters"][0]["traits"][0]["name"] = HOSTILE
    record["clusters"][0]["prototypes"][0]["cells"][1] = HOSTILE
    record["source"] = HOSTILE
    assert "<script>alert" not in render_clusters(record)
    assert "\x1b" not in cluster_text({**record, "notes": ["\x1b[2J"]})


@pytest.mark.parametrize("axes", [1, 2])
def test_map_of_a_single_column_is_drawn_too(record: Record, axes: int) -> None:
    if axes == 1:
        record["map"].update(y=None, shares=[1.0], axes=[["age"]])
    assert render_clusters(record)


def test_no_cluster_and_one_cluster_are_told(record: Record) -> None:
    empty = {**record, "n_clusters": 0, "unassigned": 100, "clusters": [], "shown_columns": []}
    empty.update(silhouette=None, number=None)
    assert cluster_page(empty)["headline"]["text"].startswith(
        "No clusters: k-means found no dense place in 100 rows"
    )
    assert render_clusters(empty)
    one = {**record, "n_clusters": 1, "unassigned": 0, "clusters": record["clusters"][:1]}
    assert cluster_page(one)["headline"]["text"].startswith("One cluster: ")


def test_many_clusters_are_counted_not_listed(record: Record) -> None:
    many = [copy.deepcopy(record["clusters"][0]) | {"label": at} for at in range(60)]
    record.update(clusters=many, n_clusters=300)
    page = cluster_page(record)
    assert len(page["clusters"]) == 40
    assert page["more"] == "260 more clusters not described here."
    assert "and 288 more clusters" in cluster_text(record)


def test_text_tells_the_same(record: Record) -> None:
    lines = cluster_text(record).splitlines()
    assert lines[0] == "Clusters   2 by k-means, mean silhouette 0.41"
    assert lines[1] == "            0  60 rows   60%  age 4.2 (1.1), town=Ulm 90% (40%)"
    assert lines[3] == "            -  10 rows   10%  in no cluster"
    assert any(line == "Number     2: 2 of 3 criteria agree" for line in lines)


def test_page_draws_in_a_browser_offline(record: Record, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    path = write_clusters(record, tmp_path / "page.html")
    said: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for width in (375, 1100):
            context = browser.new_context(offline=True, viewport={"width": width, "height": 900})
            page = context.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto(path.as_uri())
            page.wait_for_function(
                "document.querySelectorAll('.chart').length"
                " === document.querySelectorAll('.chart.drawn').length",
                timeout=20000,
            )
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            context.close()
        browser.close()
    assert said == []
