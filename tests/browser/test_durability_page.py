"""The pages of durability in a real browser: every chart drawn, offline, readable."""

from pathlib import Path

import pytest

from resilver.answer import write
from resilver.report.durability import durability_answer
from tests.browser.chromium import Page
from tests.browser.every_page import (  # noqa: F401
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.unit.durability_answers import answer, codes, hostile, layouts, never, simulated, unknown

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=\"document.title='taken'\">"
ALL = ["causes", "matters", "bursts", "heat"]
OWN = [f"{name}-{rank}" for rank in range(1, 5) for name in ("matters", "bursts", "heat")]
CHARTS_EXPECTED: dict[str, list[str]] = {
    "exact": [],
    "full": ALL,
    "simulated": ALL,
    "unknown": ["bursts", "heat"],
    "never": [],
    "codes": ["pareto"],
    "many": ["pareto"],
    "layouts": ["causes", *OWN],
    "hostile": ALL,
    "aging": ["causes", "matters", "bursts", "heat", "survival"],
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind; "many" has more codes than a picture has names."""
    folder = tmp_path_factory.mktemp("durability")
    made = {name: folder / f"{name}.html" for name in CHARTS_EXPECTED}
    answers = {
        "exact": answer(),
        "full": answer(full=True),
        "simulated": simulated(),
        "unknown": unknown(),
        "never": never(),
        "codes": codes(),
        "many": codes(200),
        "layouts": layouts(),
        "hostile": hostile(HOSTILE),
        "aging": answer(yearly=1.5, full=True),
    }
    for name, found in answers.items():
        write(durability_answer(found), made[name], f"resilver durability {name}")
    return made


def test_names_are_text_whatever_they_are(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["hostile"], 1366, 768)
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("document.title").startswith("Probability of data loss: <img")
    # The title, the first sentence, the size of the system, a cause and a premise.
    assert page.evaluate("document.querySelector('main').innerText").count(HOSTILE) >= 5
