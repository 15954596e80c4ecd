"""What a report says of a tree of parts and of what is slow in it."""

from __future__ import annotations

from resilver.report.faults import moments_of, slow_parts
from resilver.report.sentence import _levels


def test_slow_parts_are_told_with_their_speed_and_their_time() -> None:
    slow = {"part": {"osds": ["osd.3"]}, "health": 0.1, "at": 3600.0, "until": 10800.0}
    drawn = {"part": {"chassis": 1}, "health": 0.5, "at": 0.0, "until": None}
    many = {"part": {"boxes": 2}, "health": 0.25}
    study = {"faults": [slow, drawn, many, {"fail": {"osds": 1}}]}
    assert slow_parts(study) == [
        "osd.3 works at 10 % of the speed from 1 h 0 min on until 3 h 0 min",
        "1 chassis at random works at 50 % of the speed",
        "2 boxes at random work at 25 % of the speed",
    ]
    # What is slow is not lost.
    assert [moment.lost for moment in moments_of(study)] == [("1 OSD at random",)]


def test_a_tree_is_told_from_its_devices_up() -> None:
    parts = [
        {"level": "rack", "in": None, "count": 4, "class": None},
        {"level": "host", "in": "rack", "count": 5, "class": None},
        {"level": "osd", "in": "host", "count": 4, "class": "hdd"},
        {"level": "osd", "in": "host", "count": 1, "class": "ssd"},
    ]
    told = "levels osd in host in rack (4 hdd and 1 ssd in each host)"
    assert _levels(parts) == told
    assert _levels([{"level": "osd", "in": None, "count": 8}]) == "levels osd"
