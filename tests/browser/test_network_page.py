"""The page of the network study in a real browser, from rows made by hand, as runs take long."""

from __future__ import annotations

from pathlib import Path

import pytest

from resilver.reproduce import Reproduction, entry, write_reproduction
from resilver.reproduce.conclusions import conclude
from resilver.reproduce.evidence import Evidence, Wishes
from resilver.reproduce.make import Part, judged
from resilver.reproduce.measured import measured
from resilver.reproduce.tables import table_of
from tests.browser.chromium import Page
from tests.browser.page_checks import CHARTS, CONTRAST, OUTSIDE, OVERLAPS
from tests.unit.study_shelf import invented

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole page, without the provenance that runs would have."""
    whole = entry("network-failures")
    parts = []
    for name in whole.members:
        one = entry(name)
        if one.has_runs:
            evidence = invented(name, tmp_path_factory.mktemp(name), known=True)
        else:
            evidence = Evidence(table_of(measured(one.kind, one.options)))
        numbers, drawn = judged(one, {name: evidence})
        parts.append(Part(one, numbers, drawn, Evidence(evidence.runs), 1.0))
    every = [number for part in parts for number in part.comparisons]
    said = tuple(conclude(one, every) for one in whole.conclusions)
    done = Reproduction(whole, tuple(parts), Wishes(), conclusions=said)
    return write_reproduction(done, tmp_path_factory.mktemp("network") / "page.html")


def opened(page: Page, path: Path, width: int = 1366, scheme: str = "light") -> Page:
    """The page, opened afresh with nothing on its record."""
    page.events.clear()
    page.open(path, width, 768, scheme)
    return page


def test_every_picture_is_drawn_without_a_complaint(page: Page, made: Path) -> None:
    opened(page, made)
    seen = page.evaluate(CHARTS)
    whole = entry("network-failures")
    expected = [drawn.name for name in whole.members for drawn in entry(name).pictures]
    assert [chart["id"] for chart in seen] == expected
    assert page.complaints() == []


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_overlaps_or_leaves_the_screen(page: Page, made: Path, width: int) -> None:
    opened(page, made, width)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_legible_in_both_schemes(page: Page, made: Path, scheme: str) -> None:
    # WCAG 2 asks for 4.5 of text.
    opened(page, made, scheme=scheme)
    assert min(page.evaluate(CONTRAST)) >= 4.5
