"""The page in a real browser: offline, under its own policy, at three widths, by keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.typed import write

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

Record = dict[str, Any]
HOSTILE = [
    "<script>alert(1)</script>", "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "\" onmouseover=\"alert(1)",
    "<img src=http://evil.test/x.png>", "constructor", "__proto__", "a\u2028b", "\U0001d4b3" * 60,
]  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


class Visit:
    """One page, with everything it said and asked for."""

    def __init__(self, browser: Any, path: Path, width: int, **options: Any) -> None:
        self.context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, **options
        )
        self.context.set_default_timeout(5000)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function(
            "document.querySelectorAll('.chart').length"
            " === document.querySelectorAll('.chart.drawn').length"
        )

    def point(self, mark: str) -> None:
        # Forced: the number written on a cell takes the pointer, and tells the same.
        self.page.hover(f"{mark} >> nth=0", force=True)
        self.page.wait_for_selector(".vg-tooltip.visible")

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)


@pytest.mark.parametrize("width", [375, 768, 1200])
def test_page_draws_quietly_at_every_width(
    browser: Any, record: Record, tmp_path: Path, width: int
) -> None:
    path = write(record, tmp_path / "page.html")
    visit = Visit(browser, path, width)
    assert visit.said == []
    assert visit.asked == [path.as_uri()]
    assert visit.run("document.documentElement.scrollWidth") == width
    widths = visit.run("[...document.querySelectorAll('.chart svg')].map(s => s.clientWidth)")
    assert min(widths) > 200
    assert max(widths) <= width
    visit.context.close()


def test_charts_follow_the_colour_scheme(browser: Any, binary: Record, tmp_path: Path) -> None:
    path = write(binary, tmp_path / "page.html")
    colours = set()
    for scheme in ("light", "dark"):
        visit = Visit(browser, path, 900, color_scheme=scheme)
        colours.add(
            visit.run(
                "getComputedStyle(document.querySelector('#chart-roc .mark-line path')).stroke"
            )
        )
        visit.context.close()
    assert len(colours) == 2


def test_everything_that_opens_is_reached_by_keyboard(
    browser: Any, binary: Record, tmp_path: Path
) -> None:
    visit = Visit(browser, write(binary, tmp_path / "page.html"), 900)
    goals = visit.run("document.querySelectorAll('summary').length")
    reached = 0
    for _ in range(80):
        visit.page.keyboard.press("Tab")
        # After the last element the round begins anew: press only what is still folded.
        if visit.run("document.activeElement.matches('details:not([open]) > summary')"):
            visit.page.keyboard.press("Enter")
            reached += 1
    assert reached == goals == visit.run("document.querySelectorAll('details[open]').length")
    visit.context.close()


def test_pointing_at_a_mark_tells_its_numbers(browser: Any, binary: Record, tmp_path: Path) -> None:
    visit = Visit(browser, write(binary, tmp_path / "page.html"), 900)
    visit.point("#chart-confusion .mark-rect path")
    assert "487" in visit.page.inner_text(".vg-tooltip")
    box = visit.page.locator(".vg-tooltip").bounding_box()
    assert box is not None
    assert 0 <= box["x"] < 900
    assert visit.said == []
    visit.context.close()


def test_folded_tables_are_open_on_paper(browser: Any, binary: Record, tmp_path: Path) -> None:
    visit = Visit(browser, write(binary, tmp_path / "page.html"), 900)
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.run("document.querySelectorAll('details:not([open])').length") == 0
    visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert visit.run("document.querySelectorAll('details[open]').length") == 0
    visit.context.close()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_do_nothing(browser: Any, binary: Record, tmp_path: Path, text: str) -> None:
    binary["target"]["name"] = binary["source"] = text
    binary["diagnostics"]["confusion"]["labels"] = [text, text + "2"]
    for column in binary["columns"]:
        column["name"] = text
        column["top"] = [{"level": text, "count": 9}]
    for row in binary["leaderboard"]:
        row["family"], row["params"] = text, {text: text}
    path = write(binary, tmp_path / "page.html")
    visit = Visit(browser, path, 375)
    visit.point("#chart-confusion .mark-rect path")
    visit.point("#chart-ranking .mark-symbol path")
    assert visit.said == []
    assert visit.asked == [path.as_uri()]
    assert visit.run("document.documentElement.scrollWidth") == 375
    assert visit.run("document.querySelectorAll('img, iframe, script:not([type])').length") == 1
    visit.context.close()
