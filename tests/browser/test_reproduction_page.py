"""The page of a reproduction in a real browser: drawn, offline, nothing overlapping, readable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from resilver.reproduce import Wishes, entry, reproduce, write_reproduction
from resilver.spec import Study
from resilver.study import Results, execute
from tests.browser.chromium import Page
from tests.browser.page_checks import CHARTS, CONTRAST, OUTSIDE, OVERLAPS

pytestmark = pytest.mark.browser

CHARTS_EXPECTED = [
    "rebuild-rate",
    "flat-groups",
    "slowest-chord",
    "slowest-servers",
    "slowest-finish",
    "racks",
    "placement-rates",
    "ring",
]

# Cells of a table whose text is wider than its cell or leaves the window.
CUT = """[...document.querySelectorAll('.cards td')].filter((cell) =>
  cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every kind of picture that has runs, at a volume that takes seconds."""
    folder = tmp_path_factory.mktemp("reproduction")
    members = ("rebuild-flat-groups", "rebuild-racks", "placement-rates", "rebuild-ring")
    whole = replace(entry("rebuild-scaling"), members=members)

    def perform(study: Study, path: Path, workers: int | None) -> Results:
        return execute(study, path, workers=0)

    wishes = Wishes(2, ("population.bytes_per_server=256 MiB",))
    done = reproduce(whole, folder, wishes, perform)
    return write_reproduction(done, folder / "page.html")


def opened(page: Page, path: Path, width: int = 1366, scheme: str = "light") -> Page:
    """The page, opened afresh with nothing on its record."""
    page.events.clear()
    page.open(path, width, 768, scheme)
    return page


def test_every_picture_is_drawn_without_a_complaint_or_a_request(page: Page, made: Path) -> None:
    opened(page, made)
    seen = page.evaluate(CHARTS)
    assert [chart["id"] for chart in seen] == CHARTS_EXPECTED
    for chart in seen:
        assert chart["marks"] >= 1, chart
    assert page.complaints() == []
    asked = [url for url in page.requests() if not url.startswith("data:")]
    assert asked == [made.resolve().as_uri()]


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_overlaps_or_leaves_the_screen(page: Page, made: Path, width: int) -> None:
    opened(page, made, width)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_legible_in_both_schemes(page: Page, made: Path, scheme: str) -> None:
    # WCAG 2 asks for 4.5 of text.
    opened(page, made, scheme=scheme)
    assert min(page.evaluate(CONTRAST)) >= 4.5


def test_a_narrow_window_scrolls_tables_within_themselves(page: Page, made: Path) -> None:
    opened(page, made, 480)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
