"""The pages of what-ifs and of durability in a real browser: charts, links, lines to copy."""

from pathlib import Path
from typing import Any

import pytest

from resilver.answer.page import write
from resilver.report.durability import durability_answer
from resilver.report.whatif import answer_of
from tests.browser.chromium import Page
from tests.browser.every_page import (  # noqa: F401
    check_charts,
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.browser.page_checks import MARKED_ROWS, UNFOLD
from tests.unit import durability_answers as durability
from tests.unit.what_if_answers import answer, no_part_may_fail, plans, ranking, search

HOSTILE = "<img src=x onerror=\"document.title='taken'\">"
MOVING = ["course", "rates", "fill", "fullest", "space", "written"]
MOVING += [f"places-{level}" for level in range(3)]
OF_LOSS = ["causes", "matters", "bursts", "heat"]
OWN = [f"{name}-{rank}" for rank in range(1, 5) for name in ("matters", "bursts", "heat")]
# The bar at the side comes once a page is long; charts are drawn anew beside it.
UNTIL = UNFOLD
CHARTS_EXPECTED = {
    "nothing": ["fill", "fullest", "clients"],
    "whole": [*MOVING, "clients"],
    "stuck": [*MOVING, "clients"],
    "many": MOVING,
    "hostile": [*MOVING, "clients"],
    "plans": ["together"],
    "ranking": ["impact"],
    "no-part": ["stuck-by-part", "impact"],
    "search": [*MOVING, "clients"],
    "exact": [],
    "full": OF_LOSS,
    "simulated": OF_LOSS,
    "unknown": ["bursts", "heat"],
    "never": [],
    "codes": ["pareto"],
    "many codes": ["pareto"],
    "layouts": ["causes", *OWN],
    "hostile durability": OF_LOSS,
    "aging": [*OF_LOSS, "survival"],
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind; "many" has more OSDs than a chart has lines, or codes than names."""
    folder = tmp_path_factory.mktemp("answers")
    made = {name: folder / f"{name.replace(' ', '-')}.html" for name in CHARTS_EXPECTED}
    found: dict[str, Any] = {of: answer(of) for of in ("nothing", "whole", "stuck")}
    found |= {"plans": plans(), "ranking": ranking(), "search": search()}
    found["no-part"] = no_part_may_fail()
    found["many"] = answer(osds=600, hosts=30, load=False)
    found["hostile"] = answer("stuck", pool=HOSTILE, prefix=f"{HOSTILE}-")
    for name, one in found.items():
        write(answer_of(one), made[name], HOSTILE if name == "hostile" else "resilver what-if")
    of_loss = {
        "exact": durability.answer(),
        "full": durability.answer(full=True),
        "simulated": durability.simulated(),
        "unknown": durability.unknown(),
        "never": durability.never(),
        "codes": durability.codes(),
        "many codes": durability.codes(200),
        "layouts": durability.layouts(),
        "hostile durability": durability.hostile(HOSTILE),
        "aging": durability.answer(yearly=1.5, full=True),
    }
    for name, lost in of_loss.items():
        write(durability_answer(lost), made[name], f"resilver durability {name}")
    return made


@pytest.mark.parametrize(
    ("of", "title", "times"),
    # Of durability: the title, the first sentence, the size, a cause and a premise.
    [("hostile", "What if host", 6), ("hostile durability", "Probability of data loss:", 5)],
)
def test_names_are_text_whatever_they_are(
    page: Page, pages: dict[str, Path], of: str, title: str, times: int
) -> None:
    page.open(pages[of], 1366, 768)
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("document.title").startswith(f"{title} <img")
    assert page.evaluate("document.querySelector('main').innerText").count(HOSTILE) >= times


def test_names_that_every_object_has_are_drawn_as_others(page: Page, tmp_path: Path) -> None:
    """The chart library groups by plain objects, which have these names before any pool has."""
    page.evaluate("0")
    taken = page.evaluate("Object.getOwnPropertyNames(Object.prototype).join(' ')").split()
    # A function, an accessor, and what a conversion calls.
    for name in ("constructor", "__proto__", "valueOf"):
        assert name in taken
        path = tmp_path / f"{name}.html"
        write(answer_of(answer("whole", pool=name, prefix=name)), path)
        check_charts(page, path, CHARTS_EXPECTED["whole"])


def test_a_chart_that_cannot_be_drawn_says_so_in_its_place(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "broken.html"
    write(answer_of(answer("whole")), path)
    text = path.read_text()
    assert text.count('"type": "rule"') + text.count('"type":"rule"')
    path.write_text(
        text.replace('"type": "rule"', '"type": "rul"').replace('"type":"rule"', '"type":"rul"')
    )
    page.open(path, 1366, 768)
    page.wait("document.body.innerText.includes('This chart cannot be drawn here')")


def test_lines_are_selected_parts_marked_and_moments_shared(
    page: Page, pages: dict[str, Path]
) -> None:
    page.open(pages["whole"], 1366, 768)
    for name, line in (
        ("commands", "# 1 h after the start:\nceph osd set noout"),
        ("upmaps", "ceph osd pg-upmap-items 1.1a 4 7"),
    ):
        page.evaluate(f"document.querySelector('[data-copy={name}]').click()")
        assert page.evaluate("getSelection().toString().trim()") == line
    # An OSD that is chosen in a table is marked with its host.
    names = "[...document.querySelectorAll('button.part')]"
    page.evaluate(f"{names}.find((one) => one.textContent === 'osd.4').click()")
    marked = page.evaluate(MARKED_ROWS)
    assert any("osd.4" in row for row in marked)
    told = page.evaluate("document.getElementById('chosen').textContent")
    assert "osd.4, with its host node-1 is marked" in told
    # The moment of one chart is that of all over time.
    page.evaluate(
        "(() => { const range = document.getElementById('moment-course'); range.value = 10;"
        " range.dispatchEvent(new Event('input')); })()"
    )
    told = page.evaluate(
        "[...document.querySelectorAll('.moment output')].map((one) => one.textContent)"
    )
    # The course, the rates, the space and the clients.
    assert len(told) == 4 and all(told)
    assert "degraded" in told[0] and "backfilling 6" in told[0]
