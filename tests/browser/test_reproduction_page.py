"""The page of a reproduction in a real browser: drawn, offline, nothing overlapping, readable."""

from dataclasses import replace
from pathlib import Path

import pytest

from resilver.answer.page import write
from resilver.reproduce import Wishes, entry, reproduce, reproduction_answer
from resilver.spec import Study
from resilver.study import Results, execute
from tests.browser.chromium import Page
from tests.browser.every_page import (  # noqa: F401
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)

pytestmark = pytest.mark.browser

CHARTS_EXPECTED = {
    "scaling": [
        "rebuild-rate",
        "flat-groups",
        "slowest-chord",
        "slowest-servers",
        "slowest-finish",
        "racks",
        "placement-rates",
        "ring",
    ]
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page with every kind of picture that has runs, at a volume that takes seconds."""
    folder = tmp_path_factory.mktemp("reproduction")
    members = ("rebuild-flat-groups", "rebuild-racks", "placement-rates", "rebuild-ring")
    whole = replace(entry("rebuild-scaling"), members=members)

    def perform(study: Study, path: Path, workers: int | None) -> Results:
        return execute(study, path, workers=0)

    wishes = Wishes(2, ("population.bytes_per_server=256 MiB",))
    done = reproduce(whole, folder, wishes, perform)
    return {"scaling": write(reproduction_answer(done), folder / "page.html")}


def test_a_narrow_window_scrolls_tables_within_themselves(
    page: Page, pages: dict[str, Path]
) -> None:
    page.open(pages["scaling"], 480, 768)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
