"""The page of the network study in a real browser, from rows made by hand, as runs take long."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chromium import Page
from page_checks import CHARTS, CONTRAST, OUTSIDE, OVERLAPS

from resilver.reproduce import Reproduction, entry, write_reproduction
from resilver.reproduce.compare import compare
from resilver.reproduce.conclusions import conclude
from resilver.reproduce.evidence import Evidence, Wishes
from resilver.reproduce.make import Part
from resilver.reproduce.pictures import picture

pytestmark = pytest.mark.browser

CASES = ["none", "4 disks", "8 links", "16 links", "24 links", "1 switch", "2 switches"]


def rows_of(name: str) -> list[dict[str, Any]]:
    """A row for every topology, case, load, timeout and seed, with numbers that differ a little."""
    topologies = list(entry("network-load").labels["topology"]["names"].values())
    metrics = {number.metric for number in entry(name).published}
    metrics |= {drawn.y for drawn in entry(name).pictures if drawn.y}
    rows = []
    for rank, topology in enumerate(topologies):
        for case, faults in enumerate(CASES):
            for seed in (1, 2, 3):
                value = 1.0 + rank + 0.01 * case + 0.001 * seed
                rows.append(
                    {
                        **dict.fromkeys(metrics, value),
                        "run": f"{name} {topology} {faults} {seed}",
                        "seed": seed,
                        "topology": topology,
                        "faults": faults,
                        "traffic.outstanding": 1280 * (case + 1),
                        "traffic.timeout": 0.175 + 0.025 * (rank % 5),
                    }
                )
    return rows


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """A distribution of every quantity that is drawn, the same for each run."""
    quantities = ("read_delay_seconds", "write_delay_seconds", "channel_busy_fraction")
    bins = [(row["run"], quantity, k) for row in rows for quantity in quantities for k in range(20)]
    return pa.table(
        {
            "run": [run for run, _, _ in bins],
            "quantity": [quantity for _, quantity, _ in bins],
            "low": [0.05 * k for _, _, k in bins],
            "high": [0.05 * (k + 1) for _, _, k in bins],
            "count": [1 + k for _, _, k in bins],
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole page, without the provenance that runs would have."""
    whole = entry("network-failures")
    parts = []
    for name in whole.members:
        one, rows = entry(name), rows_of(name)
        numbers = [(number, compare(name, number, rows)) for number in one.published]
        results: Any = SimpleNamespace(distributions=table_of(rows))
        evidence = Evidence(tuple(rows), results)
        drawn = [picture(one, spec, {name: evidence}, numbers) for spec in one.pictures]
        shown = tuple(one for one in drawn if one is not None)
        compared = tuple(number for _, number in numbers)
        parts.append(Part(one, compared, shown, Evidence(tuple(rows)), 1.0))
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


@pytest.mark.parametrize("width", [1366, 1920])
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
