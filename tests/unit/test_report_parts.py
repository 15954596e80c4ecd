"""What a report says of a tree of parts and of what is slow in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from report_fixture import results

from resilver.report.faults import fault_seconds, fault_sentences
from resilver.report.sentence import cluster_words
from resilver.report.source import SystemRuns, systems


def tree(faults: list[dict[str, Any]]) -> SystemRuns:
    """Four racks of five hosts, each with four disks and some flash."""
    made = results(seeds=1)
    made.study["cluster"] = {
        "parts": [
            {"level": "rack", "count": 4},
            {"level": "host", "in": "rack", "count": 5, "ports": 1},
            {"level": "osd", "in": "host", "count": 4, "class": "hdd"},
            {"level": "osd", "in": "host", "count": 1, "class": "ssd"},
        ],
        "device": "jbod10-sata",
    }
    made.study["placement"].pop("bucket")
    made.study["population"]["bytes_per_server"] = "1 GiB"
    made.study["faults"] = faults
    return systems(made)[0]


def test_slow_parts_are_told_with_their_speed_and_their_time() -> None:
    point = tree(
        [
            {"part": {"osds": ["osd.3"]}, "health": 0.1, "at": "1 h", "until": "3 h"},
            {"part": {"racks": 1}, "health": 0.5},
            {"part": {"hosts": 2}, "health": 0.25},
            {"fail": {"osds": 1}},
        ]
    )
    assert fault_sentences(point) == [
        "Lost at time zero: 1 OSD at random.",
        "Slow: osd.3 works at 10 % of the speed from 1 h 0 min on until 3 h 0 min; 1 rack at "
        "random works at 50 % of the speed; 2 hosts at random work at 25 % of the speed.",
    ]
    # What is slow is not lost.
    assert fault_seconds(point) == (0.0,)


def test_a_tree_is_told_from_its_devices_up() -> None:
    point = tree([])
    assert point.system is not None
    told = "levels osd in host in rack (4 hdd and 1 ssd in each host)"
    words = cluster_words(point.system.cluster)
    assert words == f"100 devices in a tree of parts, {told}, with jbod10-sata devices"
    assert point.holder == "OSD"
    assert (point.classes.count("hdd"), point.classes.count("ssd")) == (80, 20)
