"""The page of studies with clients in a real browser: every chart, the map, and what is named."""

from pathlib import Path
from typing import Any

import pytest

from resilver.charts.style import FAILED
from resilver.report import charts, write_html
from resilver.report.metrics import TRAFFIC_METRICS
from tests.browser.chromium import Page
from tests.browser.every_page import (  # noqa: F401
    opened,
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.browser.page_checks import CHARTS, OUTSIDE, OVERLAPS, UNFOLD
from tests.browser.traffic_fixture import beside_rebuild, traffic_results

pytestmark = pytest.mark.browser

CLIENTS = ("course", "delays", "hops", "channels", "busy", "network")

CASES: dict[str, dict[str, Any]] = {
    "failed links": {"side": 16, "routers": 8, "loads": (400,), "faults": ("3 links",)},
    "failed disks": {"faults": ("2 disks",)},
    "sweep": {"loads": (100, 200, 400), "faults": ("none", "2 disks", "2 links"), "seeds": 2},
}


UNTIL = UNFOLD
# Of one system several seeds have no chart of their own where nothing is rebuilt.
CHARTS_EXPECTED = {
    "failed links": {f"{name}-0" for name in CLIENTS},
    "failed disks": {f"{name}-0" for name in CLIENTS},
    # The last system of a sweep is the one shown: 3 loads times 3 cases of faults give rank 8.
    "sweep": {*(one.name for one in TRAFFIC_METRICS), *(f"{name}-8" for name in CLIENTS)},
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of every case."""
    folder = tmp_path_factory.mktemp("traffic")
    return {
        name: write_html(traffic_results(**case), folder / f"{name.replace(' ', '-')}.html")
        for name, case in CASES.items()
    }


def test_the_map_fills_the_chart_and_marks_what_failed(page: Page, pages: dict[str, Path]) -> None:
    opened(page, pages["failed links"], 1366)
    (drawn,) = [one for one in page.evaluate(CHARTS) if one["id"] == "network-0"]
    # The column of the page is 1,132 pixels wide, and the torus as high as it is wide.
    assert drawn["width"] > 1000 and drawn["height"] > 1000
    data = "document.getElementById('network-0').view.scenegraph().toJSON()"
    # Three links failed, each crossed out at both of its ends or in its middle.
    assert page.evaluate(data).count(f'"fill":"{FAILED}"') >= 3


def test_what_is_named_stands_below_the_charts(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["failed disks"], 1366, 768)
    for name in ("nodes", "fates", "losses"):
        table = f"document.getElementById('table-{name}-0')"
        assert page.evaluate(f"{table}.open") is False
        assert page.evaluate(f"{table}.querySelectorAll('tbody tr').length") >= 2
    states = page.evaluate(
        "[...document.querySelectorAll('#table-losses-0 tbody tr')].map((row) => "
        "row.lastElementChild.textContent)"
    )
    # Requests are lost of the two failed disks alone.
    assert states == ["failed", "failed"]


def test_beside_a_rebuild_the_page_shows_both(page: Page, tmp_path: Path) -> None:
    path = write_html(beside_rebuild("1 servers, 2 links"), tmp_path / "both.html")
    opened(page, path)
    wanted = {"rebuild-time", "rate", *(f"{name}-0" for name in (*charts.OF_REBUILD, *CLIENTS))}
    assert {chart["id"] for chart in page.evaluate(CHARTS)} == wanted
    assert page.evaluate(OVERLAPS) == [] and page.evaluate(OUTSIDE) == []
    # The answer's table is whole in any window: nothing of it has to be scrolled to.
    cut = (
        "[...document.querySelectorAll('.cards')]"
        ".filter((one) => one.scrollWidth > one.clientWidth)"
    )
    for width in (390, 1024, 1440):
        page.view(width, 900)
        assert page.evaluate(f"{cut}.length") == 0
    assert page.complaints() == []
