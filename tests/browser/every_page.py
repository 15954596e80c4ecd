"""What holds of every page: its charts are drawn in peace, nothing overlaps, text can be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.browser.chromium import Page
from tests.browser.page_checks import CHARTS, CONTRAST, OUTSIDE, OVERLAPS


def check_charts(page: Page, path: Path, expected: Sequence[str]) -> None:
    """These charts are drawn, without a complaint of the browser's or a request to anywhere."""
    page.events.clear()
    page.open(path, 1366, 768, "light")
    seen = page.evaluate(CHARTS)
    assert [chart["id"] for chart in seen] == list(expected)
    assert all(chart["marks"] >= 1 for chart in seen)
    assert page.complaints() == []
    asked = [url for url in page.requests() if not url.startswith("data:")]
    assert asked == [path.resolve().as_uri()]


def check_layout(page: Page, path: Path, width: int, until: str | None = None) -> None:
    """No text lies on another and nothing leaves the screen, once an expression holds."""
    page.events.clear()
    page.open(path, width, 768, "light")
    if until is not None:
        page.wait(until)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def check_contrast(page: Page, path: Path, scheme: str) -> None:
    """Text stands out as WCAG 2 asks, 4.5 at the least."""
    page.events.clear()
    page.open(path, 1366, 768, scheme)
    # Where a page has no chart there is no text or mark of one.
    assert min(one for one in page.evaluate(CONTRAST) if one is not None) >= 4.5
