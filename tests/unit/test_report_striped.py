"""What a report's first sentences say of codes, lanes and streams is what the study says."""

from __future__ import annotations

import pytest

from resilver.report.faults import soft_errors
from resilver.report.sentence import _copies, _lanes
from resilver.report.traffic_words import traffic_clause
from tests.unit.striped_studies import CODED, STREAMED, system_of


def test_a_code_stands_for_the_replicas() -> None:
    assert _copies(system_of(CODED).resolved()) == "rs 4+2, each piece on another server"
    assert _copies(system_of(CODED, redundancy=None).resolved()) == (
        "3 replicas, each on another server"
    )


def test_lanes_are_told_by_share_or_by_priority() -> None:
    told = {
        words: system_of(STREAMED, lanes=lanes).resolved()["lanes"]
        for words, lanes in {
            "Lanes: 75 % for clients, 25 % for rebuild.": {"clients": 0.75},
            "Lanes by priority: rebuild, clients, bursts.": {
                "order": "priority",
                "classes": ["rebuild", "clients", "bursts"],
            },
        }.items()
    }
    assert [_lanes(lanes) for lanes in told.values()] == list(told)


@pytest.mark.parametrize(
    ("streams", "reads", "says"),
    [
        ({"window": 4}, 1.0, "Clients stream reads of whole stripes, 4 under way in each stream."),
        (
            {"window": 4, "rate": "2 MB/s", "bursts": {"volume": "1 GiB", "every": "10 s"}},
            0.0,
            "Clients stream writes of whole stripes at 1.9 MiB/s each, 4 under way in each stream, "
            "and bursts of 1 GiB every 10 s.",
        ),
        ({"window": 1}, 0.25, "Clients stream reads (25 %) and writes of whole stripes, 1 under"),
    ],
)
def test_streams_are_told_in_a_clause(streams: dict[str, object], reads: float, says: str) -> None:
    study = system_of(
        STREAMED, lanes=None, traffic__streams=streams, traffic__reads=reads
    ).resolved()
    assert traffic_clause(study["traffic"]).startswith(says)


def test_soft_errors_are_told_by_group() -> None:
    faults = [
        {"corrupt": {"groups": 1, "code": "copies 2"}},
        {"at": "100 us", "corrupt": {"groups": [1]}},
    ]
    assert soft_errors(system_of(STREAMED, faults=faults).resolved()) == [
        "1 group rebuilds strips in place (copies 2)",
        "group 1 rebuilds strips in place from 100 us on",
    ]
    assert soft_errors(system_of(STREAMED, faults=[{"corrupt": {"groups": 2}}]).resolved()) == [
        "2 groups rebuild strips in place"
    ]
