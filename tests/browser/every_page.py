"""What holds of every page: its charts are drawn in peace, nothing overlaps, text can be read.

A file of such pages imports these tests, has their paths by name in a fixture `pages`, and says in
CHARTS_EXPECTED which charts each has, in their order; `UNTIL` is what is waited for beyond that.
"""

from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.page_checks import CHARTS, CONTRAST, CUT, OUTSIDE, OVERLAPS, UNFOLD


def opened(
    page: Page, path: Path, width: int = 1440, scheme: str = "light", until: str = UNFOLD
) -> None:
    """Open a page afresh with nothing on its record, by default with all its parts unfolded."""
    page.events.clear()
    page.open(path, width, 768, scheme)
    page.wait(until)


def check_charts(
    page: Page, path: Path, expected: list[str] | set[str], until: str = "true"
) -> None:
    """These charts are drawn, without a complaint of the browser's or a request to anywhere.

    A set of them has no order.
    """
    opened(page, path, until=until)
    seen = page.evaluate(CHARTS)
    assert len(seen) == len(expected)
    assert type(expected)(chart["id"] for chart in seen) == expected, seen
    assert all(chart["marks"] >= 1 for chart in seen)
    assert all(chart["width"] > 300 and chart["height"] > 100 for chart in seen), seen
    assert page.complaints() == []
    # The page itself and its icon, which is an empty data address, are all that is ever asked for.
    asked = [url for url in page.requests() if not url.startswith("data:")]
    assert asked == [path.resolve().as_uri()]
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


def test_every_chart_is_drawn_without_a_complaint_or_a_request(
    page: Page, pages: dict[str, Path], name: str, until: str, request: pytest.FixtureRequest
) -> None:
    check_charts(page, pages[name], request.module.CHARTS_EXPECTED[name], until)


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_overlaps_or_leaves_the_screen(
    page: Page, pages: dict[str, Path], name: str, until: str, width: int
) -> None:
    opened(page, pages[name], width, until=until)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(
    page: Page, pages: dict[str, Path], name: str, until: str, scheme: str
) -> None:
    """As WCAG 2 asks of text (AA), 4.5 at the least; here data have as much."""
    opened(page, pages[name], scheme=scheme, until=until)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    # Where a page has no chart there is no text or mark of one.
    assert min(one for one in page.evaluate(CONTRAST) if one is not None) >= 4.5
