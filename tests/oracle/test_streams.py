"""Streams of stripes against closed forms: rates, shares and links.

A window of statistics begins and ends with operations half done, and strips are drawn at random:
what a test allows is stated beside it, and holds for its fixed seed.
"""

from typing import Any

import numpy as np
import pytest

from resilver import RunResult, Study
from resilver.study import simulate
from tests.reference.compare import real

STRIP, OVERHEAD, LINK = 65536, 38, 12.5e9
# 100 Gb/s, of which 64 KiB in each 64 KiB + 38 B are data.
PORT = LINK * STRIP / (STRIP + OVERHEAD)
# Of a server's bandwidth: k of 2k - 1 strips that a read sends are user data, and k of the
# 2k + p - 1 that a write receives.
SHARES = {
    ("rs 8+3", 1.0): 8 / 15,
    ("rs 8+3", 0.0): 8 / 18,
    ("lrc 8+5 local 4", 1.0): 8 / 15,
    ("lrc 8+5 local 4", 0.0): 8 / 20,
}
# Every leaf of 24 hosts has a spine for each, and every spine an entry.
TREE = "leaf_spine 24x24 hosts 24 entries 24"


def run(code: str, reads: float, servers: int, /, **keys: Any) -> RunResult:
    """Streams over groups of 24 servers of two ports, on a tree of full bisection by default."""
    fabric = {
        "model": "switched",
        "topology": TREE,
        "link_rate": "100 Gb/s",
        "packet_size": "64 KiB",
        "routing": "deterministic",
    }
    content: dict[str, Any] = {
        "cluster": {
            "servers": servers,
            "ports": 2,
            "device": {"service": "1 ns"},
            "fabric": fabric,
        },
        "placement": {"algorithm": "groups", "group_size": 24},
        "redundancy": {"code": code, "strip": "64 KiB"},
        "traffic": {
            "streams": {"window": 8},
            "reads": reads,
            "warm_up": "4 ms",
            "duration": "16 ms",
        },
    }
    for name, value in keys.items():
        table, _, key = name.partition("__")
        (fabric if key == "topology" else content[table])[key] = value
    (made,) = Study.from_dict(content).runs()
    return simulate(made.system, 1)


@pytest.mark.parametrize("attachment", ["local", "distributed"])
@pytest.mark.parametrize(
    ("code", "reads"), [("rs 8+3", 1.0), ("rs 8+3", 0.0), ("lrc 8+5 local 4", 0.0)]
)
def test_the_full_tree_serves_the_closed_form_over_evenly_loaded_links(
    code: str, reads: float, attachment: str
) -> None:
    found = run(
        code,
        reads,
        288,
        cluster__attachment=attachment,
        traffic__warm_up="1 ms",
        traffic__duration="4 ms",
    )
    rate = real(found, "throughput_bytes_per_second")
    assert rate == pytest.approx(288 * 2 * PORT * SHARES[code, reads], rel=0.015)
    # By D-mod-K each link up carries one slot's traffic and each link down one host's, of which
    # 22 in 23 messages to peers leave their leaf in a distributed group, and none in a local one.
    away = 22 / 23 if attachment == "distributed" else 0.0
    data, pieces = 8, 11 if code == "rs 8+3" else 13
    peers = data - 1 if reads else pieces - 1
    stripes = rate / (288 * 2) / (data * STRIP)
    up, down = (stripes * STRIP * (peers * away + clients) for clients in ends(data, reads))
    links = found.links.to_pydict()
    is_between = [
        one.startswith("switch") and other.startswith("switch")
        for one, other in zip(links["from_name"], links["to_name"], strict=True)
    ]
    # Links lead from the first level to the second.
    climbing, descending = (
        np.array(links[f"{way}_busy_seconds"])[is_between] / real(found, "statistics_seconds")
        for way in ("forward", "backward")
    )
    assert climbing.size == 576
    for busy, expected in ((climbing, up / PORT), (descending, down / PORT)):
        # Control messages of 64 B take less than a hundredth.
        assert busy.mean() == pytest.approx(expected, rel=0.02, abs=0.01)
        # 760 strips at the most cross a link, of a random part of the stripes under way: none of
        # 576 links differs by more than four standard deviations of a Poisson number, 15 %.
        assert np.abs(busy - busy.mean()).max() < 0.15
        assert busy.max() <= 1


# At half bisection two slots share each link between the levels, and what crosses the busier
# direction of it bounds all: reads send k of 2k - 1 strips up to clients, and of the others to
# peers 22 in 23 if the group is distributed; writes bring k of 2k + p - 1 down, and peers likewise.
HALVED = {
    ("local", 1.0): 1 / (2 * 8 / 15),
    ("local", 0.0): 1.0,
    ("distributed", 1.0): 1 / (2 * (8 + 7 * 22 / 23) / 15),
    ("distributed", 0.0): 1 / (2 * (8 + 10 * 22 / 23) / 18),
}


@pytest.mark.parametrize(("attachment", "reads"), HALVED)
def test_half_of_the_second_level_leaves_what_its_links_count(
    attachment: str, reads: float
) -> None:
    found = run(
        "rs 8+3",
        reads,
        288,
        cluster__attachment=attachment,
        cluster__topology="leaf_spine 24x12 hosts 24 entries 24",
        traffic__streams={"window": 6},
        traffic__warm_up="4 ms",
        traffic__duration="6 ms",
    )
    # Twelve stripes of each server, 1.2 ms at half the rate, are under way at both ends of six.
    rate = real(found, "throughput_bytes_per_second")
    expected = 288 * 2 * PORT * SHARES["rs 8+3", reads] * HALVED[attachment, reads]
    assert rate == pytest.approx(expected, rel=0.02)


def ends(data: int, reads: float) -> tuple[int, int]:
    """Strips of a stripe that go up to clients and come down from them."""
    return (data, 0) if reads else (0, data)
