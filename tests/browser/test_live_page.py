"""The page of a sweep under way in a real browser: it comes again, its reader stays in place."""

from pathlib import Path

import pytest

from resilver.answer.document import write_page
from resilver.answer.model import Standing
from resilver.report import write_html
from resilver.report.html import render, render_waiting
from tests.browser.chromium import Page
from tests.browser.report_fixture import results

DRAWN = "document.documentElement?.hasAttribute('data-drawn') === true"


def standing(finished: int, reload_seconds: int | None = 1) -> Standing:
    return Standing(finished, 6, 0, "noon", 60.0, reload_seconds)


def says(text: str) -> str:
    return f"{DRAWN} && document.body.textContent.includes({text!r})"


def test_a_page_that_waits_becomes_the_page_of_the_runs_and_then_the_final_one(
    page: Page, tmp_path: Path
) -> None:
    made, path = results(servers=(16, 64), seeds=3), tmp_path / "page.html"
    page.events.clear()
    write_page(render_waiting(made, standing(0)), path, "report")
    page.open(path, 1366, 768)
    # The page comes again every second, and in between it says nothing.
    page.wait(says("0 of 6 runs so far"))
    # The file changes, and the open page follows without being asked.
    write_page(render(made, standing(4)), path)
    page.wait(says("4 of 6 runs so far, about 1 min 0 s left"))
    page.wait(f"{DRAWN} && document.querySelectorAll('.plot canvas').length > 3")
    write_html(made, path)
    page.wait(f"{DRAWN} && !document.querySelector('.standing')")
    assert page.complaints() == []
    assert {url for url in page.requests() if not url.startswith(("data:", "about:"))} == {
        path.resolve().as_uri()
    }


def test_a_reader_stays_at_their_place_in_their_system_with_their_tables(
    page: Page, tmp_path: Path
) -> None:
    path, later = tmp_path / "page.html", tmp_path / "later.html"
    # A smaller system is finished meanwhile, so that the reader's is the second one. Its page is
    # made first: while one is made, the open page comes again by itself, any number of times.
    write_page(render(results(servers=(4, 16, 64), seeds=2), standing(3, 60)), later)
    write_page(render(results(servers=(16, 64), seeds=2), standing(2, 3)), path)
    page.open(path, 1366, 768)
    # The reader waits for the page, which may be just coming again, and looks into it then.
    page.wait(
        f"{DRAWN} && (() => {{ const choice = document.getElementById('system');"
        " choice.value = '0'; choice.dispatchEvent(new Event('change'));"
        " document.getElementById('table-finish-0').open = true;"
        " scrollTo(0, 1500); return true; })()"
    )
    later.replace(path)
    page.wait(says("3 of 6 runs so far"))
    tables = "[0, 1, 2].map((rank) => document.getElementById(`table-finish-${rank}`).open)"
    assert page.evaluate(tables) == [False, True, False]
    assert page.evaluate("document.getElementById('system').selectedOptions[0].textContent") == (
        "cluster.servers = 16"
    )
    assert not page.evaluate("document.querySelector('[data-system=\"1\"]').hidden")
    assert page.evaluate("scrollY") == pytest.approx(1500, abs=2)


def test_the_final_page_does_not_come_again(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_html(results(seeds=1), path)
    page.open(path, 1366, 768)
    page.evaluate("window.mark = true")
    page.evaluate("new Promise((done) => setTimeout(done, 2500))")
    assert page.evaluate("window.mark") is True


def test_the_line_of_a_sweep_under_way_fits_the_screen(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(render(results(seeds=1), standing(3, 60)), path)
    for width in (400, 1366):
        page.open(path, width, 768)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.evaluate(
            "(({left, right, height}) => [left, right, height])"
            "(document.querySelector('.standing').getBoundingClientRect())"
        )
        assert box[0] >= 0 and box[1] <= width and box[2] > 40
