"""Report pages in a real browser: all drawn, offline, readable; the map of studies with clients."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from resilver.charts.style import FAILED
from resilver.report import charts, write_html
from resilver.report.metrics import TRAFFIC_METRICS
from resilver.spec import Study
from tests.browser.chromium import Page
from tests.browser.every_page import (  # noqa: F401
    opened,
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.browser.page_checks import CHARTS, CONTRAST, OUTSIDE, OVERLAPS, UNFOLD
from tests.browser.report_fixture import results
from tests.browser.traffic_fixture import beside_rebuild, traffic_results

CASES: dict[str, dict[str, Any]] = {
    "one system": {},
    "sweep": {"servers": (4, 64, 1024), "seeds": 5},
    "without groups": {"groups": None, "objects_per_group": 50, "seeds": 2},
    "hosts of a real cluster": {"servers": (88,), "per_host": 8, "prefix": "osd.", "seeds": 1},
    "two keys": {"servers": (16, 64), "extra_swept": {"placement.bucket": ["straw", "straw2"]}},
}
WITH_CLIENTS: dict[str, dict[str, Any]] = {
    "failed links": {"side": 16, "routers": 8, "loads": (400,), "faults": ("3 links",)},
    "failed disks": {"faults": ("2 disks",)},
    "sweep of clients": {
        "loads": (100, 200, 400), "faults": ("none", "2 disks", "2 links"), "seeds": 2,
    },
}  # fmt: skip
OF_RUN = (*charts.OF_REBUILD, "busy")
OF_CLIENTS = ("course", "delays", "hops", "channels", "busy", "network")
UNTIL = UNFOLD
DRAWN = "true"
"""What is waited for where a page is as it opens."""


def _expected(rank: int, *of_study: str) -> set[str]:
    return {*of_study, *(f"{name}-{rank}" for name in OF_RUN)}


# One seed of one system has no spread to draw; several systems are in one chart over time, and the
# first of the largest is shown.
CHARTS_EXPECTED = {
    "one system": _expected(0, "rebuild-time", "rate"),
    "sweep": _expected(2, "rebuild-time", "rate", "together"),
    "without groups": _expected(0, "rebuild-time", "rate"),
    "hosts of a real cluster": _expected(0),
    "two keys": _expected(2, "rebuild-time", "rate", "together"),
    # Of one system several seeds have no chart of their own where nothing is rebuilt.
    "failed links": {f"{name}-0" for name in OF_CLIENTS},
    "failed disks": {f"{name}-0" for name in OF_CLIENTS},
    # The last system of a sweep is the one shown: 3 loads times 3 cases of faults give rank 8.
    "sweep of clients": {
        *(one.name for one in TRAFFIC_METRICS),
        *(f"{name}-8" for name in OF_CLIENTS),
    },
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of every case."""
    folder = tmp_path_factory.mktemp("reports")
    made = {name: results(**case) for name, case in CASES.items()}
    made |= {name: traffic_results(**case) for name, case in WITH_CLIENTS.items()}
    return {
        name: write_html(one, folder / f"{name.replace(' ', '-')}.html")
        for name, one in made.items()
    }


def test_the_first_screen_has_the_answer_what_is_at_risk_and_the_assumptions(
    page: Page, pages: dict[str, Path]
) -> None:
    opened(page, pages["sweep"], until=DRAWN)
    text = page.evaluate(
        "[...document.querySelectorAll('h1, h2, .lead, #systems td, #assumptions p')]"
        ".filter((part) => part.offsetParent && part.getBoundingClientRect().top < 768)"
        ".map((part) => part.textContent).join(' ')"
    )
    assert "What if server.0 fails?" in text and "All data is fully redundant" in text
    assert "down to one replica" in text and "jbod10-sata devices" in text
    assert "qdr-infiniband" in text
    # A row a system in the table below the answer.
    assert page.evaluate("document.querySelectorAll('#systems tbody tr').length") == 3


def test_charts_for_experts_are_folded_and_drawn_when_they_are_opened(
    page: Page, pages: dict[str, Path]
) -> None:
    """The page is small, and drawn at once: a second on a quiet machine, ten on a busy one."""
    assert pages["one system"].stat().st_size <= 1_500_000
    opened(page, pages["one system"], until=DRAWN)
    assert page.evaluate("performance.now()") < 10_000
    shown = [chart["id"] for chart in page.evaluate(CHARTS)]
    assert shown == ["rebuild-time", "timeline-0", "degraded-0"]
    # A link of the contents or to a table opens what it leads into.
    page.evaluate("document.querySelector('a[href=\"#table-transfers-0\"]').click()")
    page.wait("Boolean(document.getElementById('transfers-0').view)")
    anchors = page.evaluate(
        "[...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href'))"
    )
    assert len(anchors) >= 6
    assert page.evaluate(f"{anchors}.every((id) => document.querySelector(id))") is True


def test_choosing_a_system_shows_its_answer_its_figures_and_its_charts(
    page: Page, pages: dict[str, Path]
) -> None:
    opened(page, pages["sweep"])
    assert page.evaluate("document.getElementById('system').value") == "2"
    answer = (
        "[...document.querySelectorAll('.answer')].find((part) => part.offsetParent).textContent"
    )
    tiles = (
        "[...document.querySelectorAll('.tile strong')].filter((part) => part.offsetParent)"
        ".map((part) => part.textContent).join()"
    )
    before = page.evaluate(answer), page.evaluate(tiles)
    page.evaluate(
        "(() => { const choice = document.getElementById('system'); choice.value = '0';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    page.wait(UNFOLD)
    shown = {chart["id"] for chart in page.evaluate(CHARTS)}
    assert shown == _expected(0, "rebuild-time", "rate", "together")
    after = page.evaluate(answer), page.evaluate(tiles)
    assert after[0] != before[0] and after[1] != before[1]
    assert page.complaints() == []


def test_every_chart_has_a_text_and_a_table_with_a_csv(page: Page, pages: dict[str, Path]) -> None:
    opened(page, pages["sweep"])
    for name in ["rate", "together", *(f"{name}-2" for name in OF_RUN)]:
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
    assert lines[0].startswith("name,rebuilt_pieces,rebuilt_bytes,placement_groups_gained")
    assert len(lines) == 1024
    assert page.complaints() == []


def test_a_chart_and_the_study_can_be_saved_and_no_other_script_runs(
    page: Page, pages: dict[str, Path]
) -> None:
    opened(page, pages["one system"])
    page.evaluate(
        "window.saved = null; URL.createObjectURL = (blob) => { saved = blob; return '#'; };"
        "document.querySelector('button[data-of=\"timeline-0\"]').click()"
    )
    page.wait("saved !== null")
    assert page.evaluate("saved.text()").startswith("<svg")
    page.evaluate("saved = null; document.querySelector('button[data-save]').click()")
    text = page.evaluate("saved.text()")
    # What the page carries is the study that it reports on.
    carried = Study.from_dict(tomllib.loads(text))
    assert carried.resolved() == Study.from_dict(results().study).resolved()
    # No code is made from text, and no other script runs.
    policy = page.evaluate("document.querySelector('meta[http-equiv]').content")
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    page.evaluate(
        "(() => { const one = document.createElement('script'); one.textContent = 'window.ran = 1';"
        " document.body.append(one); })()"
    )
    assert page.evaluate("window.ran") is None


def test_the_page_says_everything_without_scripts(page: Page, pages: dict[str, Path]) -> None:
    page.events.clear()
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.view(1366, 768)
        page.call("Page.navigate", url=pages["one system"].resolve().as_uri())
        page.wait("document.readyState === 'complete'")
        text = page.evaluate("document.body.innerText")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "Charts need JavaScript" in text
    assert "finishes last, after" in text and "Rebuild time" in text
    assert "Download CSV" not in text


def test_print_is_black_on_white_and_fits_the_paper(page: Page, pages: dict[str, Path]) -> None:
    opened(page, pages["one system"], scheme="dark", until=DRAWN)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait("document.getElementById('timeline-0').dataset.width === '680'")
    page.call("Emulation.setEmulatedMedia", media="print", features=[])
    # On the dark ground the title of an axis would be near-white.
    config = "document.getElementById('timeline-0').view._runtime"
    assert page.evaluate(f"Boolean({config})")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.wait(f"{CONTRAST}[1] >= 4.5")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.call("Emulation.setEmulatedMedia", media="", features=[])
    assert page.complaints() == []


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
    wanted = {"rebuild-time", "rate", *(f"{name}-0" for name in (*charts.OF_REBUILD, *OF_CLIENTS))}
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
