"""Charts over time share a moment, all charts and tables a part, by mouse and by keyboard."""

from pathlib import Path

import pytest

from resilver.report import write_html
from tests.browser.every_page import opened
from tests.browser.explore_pages import Reader
from tests.browser.page_checks import (
    CHARTS_DATA,
    MARKED_CONTRAST,
    MARKED_ROWS,
    MIDDLE,
    MOMENTS,
    OPACITIES,
    PLACE,
)
from tests.browser.report_fixture import results
from tests.browser.traffic_fixture import beside_rebuild


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of hosts with several OSDs, and one with clients beside a rebuild."""
    folder = tmp_path_factory.mktemp("linked")
    osds = results(servers=(88,), per_host=8, prefix="osd.", seeds=1)
    made = {"osds": osds, "clients": beside_rebuild()}
    return {name: write_html(one, folder / f"{name}.html") for name, one in made.items()}


def moved(page: Reader, x: float, y: float) -> None:
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


def pointed(page: Reader, chart: str, share: float) -> None:
    """Put the pointer over a chart's middle height, at a share of its width."""
    box = page.evaluate(f"{MIDDLE}('{chart}')")
    for step in (0.0, 1.0):
        moved(page, box[0] + share * box[2] + step, box[1] + 0.3 * box[3])


@pytest.mark.parametrize(
    ("name", "over", "linked"),
    [
        ("osds", "timeline-0", {"timeline-0", "degraded-0"}),
        ("clients", "course-0", {"timeline-0", "course-0"}),
    ],
)
def test_a_moment_under_the_pointer_is_marked_in_every_chart_over_time(
    page: Reader, reports: dict[str, Path], name: str, over: str, linked: set[str]
) -> None:
    opened(page, reports[name])
    pointed(page, over, 0.4)
    page.wait(f"{MOMENTS}['{over}'].told !== ''")
    seen = page.evaluate(MOMENTS)
    assert linked <= set(seen)
    moments = [one["seconds"] for one in seen.values()]
    # The charts have axes of different units, so the moments agree to what a float keeps.
    assert moments[0] > 0.0 and moments == pytest.approx([moments[0]] * len(moments))
    for chart, one in seen.items():
        # What is told is the interval of the chart's own data that holds the moment.
        clock = f"{CHARTS_DATA}['{chart}'].clock"
        unit, divisor = page.evaluate(f"[{clock}.unit, {clock}.seconds]")
        interval, _, values = one["told"].partition(f" {unit}: ")
        begin, end = (float(word.replace(",", "")) for word in interval.split(" to "))
        assert values and begin * 0.999 <= one["seconds"] / divisor <= end * 1.001, one
    assert page.complaints() == []


def test_the_arrow_keys_reach_every_interval(page: Reader, reports: dict[str, Path]) -> None:
    opened(page, reports["osds"])
    page.evaluate("document.getElementById('moment-degraded-0').focus()")
    for _ in range(3):
        page.press("ArrowRight")
    rows = (
        "JSON.parse(document.getElementById('page').textContent).charts['degraded-0'].data.values"
    )
    third = page.evaluate(f"{rows}[3]")
    seen = page.evaluate(MOMENTS)
    told = seen["degraded-0"]["told"]
    # Numbers are told to four digits.
    value = float(f"{third['v01']:.4g}")
    assert told.endswith(f"down to one replica {value:,g}"), (told, third)
    assert seen["timeline-0"]["told"]
    read = page.evaluate(
        "document.getElementById('moment-degraded-0').getAttribute('aria-valuetext')"
    )
    assert read == told


def test_a_clicked_part_is_marked_in_every_chart_and_table(
    page: Reader, reports: dict[str, Path]
) -> None:
    opened(page, reports["osds"])
    before = page.evaluate(f"({OPACITIES})([])")
    assert set(before) == {"servers-0", "finish-0", "transfers-0", "busy-0"}
    assert min(min(one["others"]) for one in before.values()) >= 0.8
    place = page.evaluate(f"{PLACE}('servers-0', 'osd.8')")
    moved(page, *place)
    page.click_at(*place)
    page.wait("!document.getElementById('chosen').hidden")
    # Eight OSDs are on a host, so osd.8 is the first of the second; the diagram of transfers has
    # an arc a host.
    assert "osd.8, with its host host1" in page.evaluate(
        "document.getElementById('chosen').textContent"
    )
    page.wait(f"({OPACITIES})(['osd.8', 'host1'])['busy-0'].others.every((one) => one < 0.2)")
    for chart, seen in page.evaluate(f"({OPACITIES})(['osd.8', 'host1'])").items():
        assert seen["own"] and min(seen["own"]) >= 0.8, chart
        assert seen["others"] and max(seen["others"]) < 0.2, chart
    marked = page.evaluate(MARKED_ROWS)
    assert marked and all({"osd.8", "host1"} & set(cells) for cells in marked)
    page.press("Escape")
    page.wait(f"({OPACITIES})([])['busy-0'].others.every((one) => one >= 0.8)")
    assert page.evaluate(MARKED_ROWS) == []
    assert page.evaluate("document.getElementById('chosen').hidden")
    assert page.complaints() == []


def test_a_part_is_chosen_by_its_name_in_a_table(page: Reader, reports: dict[str, Path]) -> None:
    opened(page, reports["osds"])
    page.evaluate("document.getElementById('table-transfers-0').open = true")
    page.wait("document.querySelector('#table-transfers-0 button.part') !== null")
    page.evaluate("document.querySelector('#table-transfers-0 button.part').focus()")
    host = page.evaluate("document.activeElement.textContent")
    page.press("Enter")
    page.wait("!document.getElementById('chosen').hidden")
    # With a host all of its eight OSDs are marked.
    assert f"{host}, with 8 on it" in page.evaluate("document.getElementById('chosen').textContent")
    number = int(host.removeprefix("host"))
    names = [host, *(f"osd.{8 * number + at}" for at in range(8))]
    page.wait(f"({OPACITIES})({names})['busy-0'].others.every((one) => one < 0.2)")
    assert len(page.evaluate(f"({OPACITIES})({names})['busy-0'].own")) == 2 * 8
    page.press("Enter")
    page.wait("document.getElementById('chosen').hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_what_is_marked_is_legible_and_nothing_leaves_the_screen(
    page: Reader, reports: dict[str, Path], width: int, scheme: str
) -> None:
    opened(page, reports["osds"], width, scheme)
    pointed(page, "timeline-0", 0.5)
    page.evaluate("document.getElementById('table-servers-0').open = true")
    page.wait("document.querySelector('#table-servers-0 button.part') !== null")
    page.evaluate("document.querySelector('#table-servers-0 button.part').click()")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # WCAG 2 asks for 4.5 of text.
    assert page.evaluate(MARKED_CONTRAST) >= 4.5
