"""The page of the network study in a real browser, from rows made by hand, as runs take long."""

from pathlib import Path

import pytest

from resilver.answer.page import write
from resilver.reproduce import Reproduction, entry, reproduction_answer
from resilver.reproduce.conclusions import conclude
from resilver.reproduce.evidence import Evidence, Wishes
from resilver.reproduce.make import Part, judged
from resilver.reproduce.measured import measured
from resilver.reproduce.tables import table_of
from tests.browser.every_page import (  # noqa: F401
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.unit.study_shelf import invented

pytestmark = pytest.mark.browser

WHOLE = entry("network-failures")
CHARTS_EXPECTED = {
    WHOLE.name: [drawn.name for name in WHOLE.members for drawn in entry(name).pictures]
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The whole page, without the provenance that runs would have."""
    parts = []
    for name in WHOLE.members:
        one = entry(name)
        if one.has_runs:
            evidence = invented(name, tmp_path_factory.mktemp(name), known=True)
        else:
            evidence = Evidence(table_of(measured(one.kind, one.options)))
        numbers, drawn = judged(one, {name: evidence})
        parts.append(Part(one, numbers, drawn, Evidence(evidence.runs), 1.0))
    every = [number for part in parts for number in part.comparisons]
    said = tuple(conclude(one, every) for one in WHOLE.conclusions)
    done = Reproduction(WHOLE, tuple(parts), Wishes(), conclusions=said)
    folder = tmp_path_factory.mktemp("network")
    return {WHOLE.name: write(reproduction_answer(done), folder / "page.html")}
