"""Draws the pictures of the page that computes: a real cluster's, two scenarios beside each other.

Needs Chromium, what `dev.py web` builds, and the bundle of 88 OSDs, which is given.

    .venv/bin/python docs/images/explore.py ceph-report-jewel-88osd.json
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from resilver.whatif.asking import Asked

from resilver.explore.cluster import cluster_document
from resilver.importers.ceph import read_cluster
from tests.browser.chromium import chromium, find_chromium
from tests.browser.explore_pages import answer, button, click, opened, press, select, written

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1440, 900


def main(bundle: Path) -> None:
    """Open the page, do what the how-to says, and keep what is seen."""
    program = find_chromium()
    if program is None:
        raise SystemExit("no Chromium on PATH")
    document = cluster_document(read_cluster(bundle), bundle.name, Asked()).to_json()
    with tempfile.TemporaryDirectory() as folder, chromium(program) as page:
        opened(page, written(document, Path(folder) / "page.html"))
        page.view(WIDTH, HEIGHT)
        select(page, "osd.12")
        click(page, "#chosen [data-change=fail]")
        answer(page)
        button(page, "Compare with another")
        page.evaluate("document.getElementById('control-osd_max_backfills').focus()")
        for _ in range(2):
            press(page, "ArrowRight")
        answer(page)
        page.evaluate(
            "(() => { const look = document.querySelector('.map select'); look.value = 'film.0';"
            " look.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )
        page.evaluate(
            "(() => { const field = document.getElementById('time'); field.value = 550;"
            " field.dispatchEvent(new Event('input', {bubbles: true})); scrollTo(0, 0);"
            " document.activeElement.blur();"
            " return new Promise((done) => setTimeout(done, 1500)); })()"
        )
        page.screenshot(HERE / "explore.png", whole=False)
    print("explore.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
