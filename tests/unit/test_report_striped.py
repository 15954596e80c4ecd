"""What a report's first sentences say of codes, lanes and streams is what the study says."""

from __future__ import annotations

from typing import ClassVar

import pytest

from resilver.report.faults import fault_sentences
from resilver.report.sentence import describe, lanes_words, traffic_words
from resilver.report.source import SystemRuns
from resilver.spec import System
from tests.unit.striped_studies import CODED, STREAMED, system_of


def point_of(system: System) -> SystemRuns:
    """Runs of a system, as far as words need them."""
    row = {"placement_groups": 8, "population_objects": 1}
    return SystemRuns({}, (row,), row, system)


def test_a_code_stands_for_the_replicas() -> None:
    class One:
        """Results of one run."""

        import pyarrow as pa

        runs = pa.table({"run": ["a"], "seed": [1]})
        provenance: ClassVar[dict[str, object]] = {}

    for changes, words in (
        ({}, "rs 4+2, each piece on another server"),
        ({"redundancy": None}, "3 replicas, each on another server"),
    ):
        assert words in describe(One(), point_of(system_of(CODED, **changes)))  # type: ignore[arg-type]


def test_lanes_are_told_by_share_or_by_priority() -> None:
    told = {
        "of shares: 75 % for clients, 25 % for rebuild": {"clients": 0.75},
        "by priority: rebuild, clients, bursts": {
            "order": "priority",
            "classes": ["rebuild", "clients", "bursts"],
        },
    }
    for words, lanes in told.items():
        assert lanes_words(system_of(STREAMED, lanes=lanes)) == words


@pytest.mark.parametrize(
    ("streams", "reads", "says"),
    [
        ({"window": 4}, 1.0, "Clients stream reads of whole stripes, 4 under way in each stream"),
        (
            {"window": 4, "rate": "2 MB/s", "bursts": {"volume": "1 GiB", "every": "10 s"}},
            0.0,
            "Clients stream writes of whole stripes at 1.9 MiB/s each, 4 under way in each stream, "
            "and bursts of 1 GiB every 10 s",
        ),
        ({"window": 1}, 0.25, "Clients stream reads (25 %) and writes of whole stripes, 1 under"),
    ],
)
def test_streams_are_told_in_a_clause(streams: dict[str, object], reads: float, says: str) -> None:
    system = system_of(STREAMED, lanes=None, traffic__streams=streams, traffic__reads=reads)
    assert system.traffic is not None and traffic_words(system.traffic).startswith(says)


def test_soft_errors_are_told_by_group() -> None:
    faults = [
        {"corrupt": {"groups": 1, "code": "copies 2"}},
        {"at": "100 us", "corrupt": {"groups": [1]}},
    ]
    assert fault_sentences(point_of(system_of(STREAMED, faults=faults))) == [
        "Soft errors: 1 group rebuilds strips in place (copies 2); group 1 rebuilds strips in "
        "place from 100 us on."
    ]
    two = point_of(system_of(STREAMED, faults=[{"corrupt": {"groups": 2}}]))
    assert fault_sentences(two) == ["Soft errors: 2 groups rebuild strips in place."]
