"""The pages of reproductions in a real browser: of runs, and of rows made by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from resilver.answer.page import write
from resilver.reproduce import Reproduction, Wishes, entry, reproduce, reproduction_answer
from resilver.reproduce.conclusions import conclude
from resilver.reproduce.evidence import Evidence
from resilver.reproduce.make import Part, judged
from resilver.reproduce.measured import measured
from resilver.reproduce.tables import table_of
from resilver.spec import Study
from resilver.study import Results, execute
from tests.browser.every_page import (  # noqa: F401
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.unit.study_shelf import invented

NETWORK = entry("network-failures")

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
    ],
    NETWORK.name: [drawn.name for name in NETWORK.members for drawn in entry(name).pictures],
}


def of_network(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The network study, whose runs take long, without the provenance that they would have."""
    parts = []
    for name in NETWORK.members:
        one = entry(name)
        if one.has_runs:
            evidence = invented(name, tmp_path_factory.mktemp(name), known=True)
        else:
            evidence = Evidence(table_of(measured(one.kind, one.options)))
        numbers, drawn = judged(one, {name: evidence})
        parts.append(Part(one, numbers, drawn, Evidence(evidence.runs), 1.0))
    every = [number for part in parts for number in part.comparisons]
    said = tuple(conclude(one, every) for one in NETWORK.conclusions)
    return Reproduction(NETWORK, tuple(parts), Wishes(), conclusions=said)


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
    made = {"scaling": done, NETWORK.name: of_network(tmp_path_factory)}
    return {
        name: write(reproduction_answer(one), folder / f"{name}.html") for name, one in made.items()
    }
