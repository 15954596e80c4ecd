"""The report page in a real browser: everything drawn, nothing asked of the network, readable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chromium import Page
from page_checks import CHARTS, CONTRAST, OUTSIDE, OVERLAPS
from report_fixture import results

from resilver.report import NAMES, write_html

pytestmark = pytest.mark.browser

CASES: dict[str, dict[str, Any]] = {
    "one system": {},
    "sweep": {"servers": (4, 64, 1024), "seeds": 5},
    "without groups": {"groups": None, "objects_per_group": 50, "seeds": 2},
    "hosts of a real cluster": {"servers": (88,), "per_host": 8, "prefix": "osd.", "seeds": 1},
    "two keys": {"servers": (16, 64), "extra_swept": {"placement.bucket": ["straw", "straw2"]}},
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of every case."""
    folder = tmp_path_factory.mktemp("reports")
    return {
        name: write_html(results(**case), folder / f"{name.replace(' ', '-')}.html")
        for name, case in CASES.items()
    }


def opened(page: Page, path: Path, width: int = 1366, scheme: str = "light") -> Page:
    """The page, opened afresh with nothing on its record."""
    page.events.clear()
    page.open(path, width, 768, scheme)
    return page


@pytest.mark.parametrize("case", CASES)
def test_every_chart_is_drawn_without_a_complaint_or_a_request(
    page: Page, reports: dict[str, Path], case: str
) -> None:
    opened(page, reports[case])
    seen = page.evaluate(CHARTS)
    assert [chart["id"].partition("-")[0] for chart in seen] == list(NAMES)
    for chart in seen:
        assert chart["marks"] >= 1 and chart["drawn"] >= 1, chart
        assert chart["width"] > 300 and chart["height"] > 150, chart
    assert page.complaints() == []
    # The page itself and its icon, which is an empty data address, are all that is ever asked for.
    asked = [url for url in page.requests() if not url.startswith("data:")]
    assert asked == [reports[case].resolve().as_uri()]
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("width", [1366, 1920])
@pytest.mark.parametrize("case", CASES)
def test_nothing_overlaps_or_leaves_the_screen(
    page: Page, reports: dict[str, Path], case: str, width: int
) -> None:
    opened(page, reports[case], width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []


def test_a_narrow_screen_scrolls_inside_charts_and_not_sideways(
    page: Page, reports: dict[str, Path]
) -> None:
    opened(page, reports["sweep"], 400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_both_colour_schemes(
    page: Page, reports: dict[str, Path], scheme: str
) -> None:
    opened(page, reports["one system"], scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    # WCAG 2 asks for a contrast of 4.5 for text (AA).
    assert min(page.evaluate(CONTRAST)) >= 4.5


def test_choosing_a_system_shows_its_charts(page: Page, reports: dict[str, Path]) -> None:
    opened(page, reports["sweep"])
    assert page.evaluate("document.getElementById('system').value") == "2"
    page.evaluate(
        "(() => { const choice = document.getElementById('system'); choice.value = '0';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    page.wait("document.querySelectorAll('#servers-0 .barlayer .point').length === 3")
    shown = [chart["id"] for chart in page.evaluate(CHARTS)]
    assert shown == ["rate", *(f"{name}-0" for name in NAMES[1:])]
    assert page.complaints() == []


def test_every_chart_has_a_text_and_a_table_with_a_csv(
    page: Page, reports: dict[str, Path]
) -> None:
    opened(page, reports["sweep"])
    for name in ["rate", *(f"{name}-2" for name in NAMES[1:])]:
        label = page.evaluate(f"document.getElementById('{name}').getAttribute('aria-label')")
        assert len(label) > 60
        # Following the link opens the table, which is closed at first.
        table = f"document.getElementById('table-{name}')"
        assert page.evaluate(f"{table}.open") is False
        page.evaluate(f"document.querySelector('a[href=\"#table-{name}\"]').click()")
        assert page.evaluate(f"{table}.open") is True
        assert page.evaluate(f"{table}.querySelectorAll('tbody tr').length") >= 1
    # The CSV holds the numbers themselves: a row a surviving server of 1,024.
    page.evaluate(
        "window.saved = null; URL.createObjectURL = (blob) => { saved = blob; return '#'; };"
        "document.querySelector('button[data-csv=\"servers-2\"]').click()"
    )
    lines = page.evaluate("saved.text()").splitlines()
    assert lines[0].startswith("name,rebuilt_objects,rebuilt_bytes,placement_groups_gained")
    assert len(lines) == 1024
    assert page.complaints() == []


def test_no_button_sends_a_chart_away(page: Page, reports: dict[str, Path]) -> None:
    # Plotly's default buttons include one that uploads the chart to its maker's cloud.
    opened(page, reports["one system"])
    titles = page.evaluate(
        "[...document.querySelectorAll('.modebar-btn')].map((button) => button.dataset.title)"
    )
    assert set(titles) == {"Download plot", "Zoom", "Pan", "Reset axes"}


def test_the_page_says_everything_without_scripts(page: Page, reports: dict[str, Path]) -> None:
    page.events.clear()
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.view(1366, 768)
        page.call("Page.navigate", url=reports["one system"].resolve().as_uri())
        page.wait("document.readyState === 'complete'")
        text = page.evaluate("document.body.innerText")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "Charts need JavaScript" in text
    assert "finishes last, at" in text and "Rebuild time" in text
    assert "Download CSV" not in text


def test_print_is_black_on_white_and_fits_the_paper(page: Page, reports: dict[str, Path]) -> None:
    opened(page, reports["one system"], scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait("document.getElementById('rate')._fullLayout.width === 680")
    page.call("Emulation.setEmulatedMedia", media="print", features=[])
    fill = "getComputedStyle(document.querySelector('#rate .main-svg text')).fill"
    page.wait(f"{fill} === 'rgb(0, 0, 0)'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.call("Emulation.setEmulatedMedia", media="", features=[])
    assert page.complaints() == []
