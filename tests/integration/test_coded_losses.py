"""What a simulated rebuild loses for good is what placement and the code say it must."""

from __future__ import annotations

from typing import Any

import pytest

from resilver import Study, simulate
from resilver.simulate import lost_objects

LAYOUTS: dict[str, dict[str, Any]] = {
    "groups": {"algorithm": "groups", "group_size": 16},
    "spares": {"algorithm": "groups", "group_size": 16, "spare": "dedicated", "spares": 2},
    "placement groups": {"algorithm": "crush", "placement_groups": 128},
    "objects by crush": {"algorithm": "crush", "placement_groups": "none"},
    "ring": {"algorithm": "ring", "ring_points": 64},
}


@pytest.mark.parametrize(
    "code", ["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3", "product rs 2+1 x rs 2+1"]
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_failures_at_once_lose_exactly_what_placement_says(code: str, layout: str) -> None:
    # Rule: nothing is rebuilt before the last of the servers fails, so the objects that the
    # simulation gives up are those whose pieces on working servers the code does not survive,
    # counted from placement alone; and every lost piece of the others is made anew.
    failed = [0, 1, 2, 3, 4, 5]
    description = {
        "cluster": {"servers": 32},
        "population": {"file_size": "256 KiB", "files": 600},
        "placement": LAYOUTS[layout],
        "redundancy": {"code": code},
        "faults": [{"fail": {"servers": [f"server.{number}" for number in failed]}}],
    }
    run = Study.from_dict(description).runs()[0]
    counted = lost_objects(run.system, failed, seed=run.seed)
    if layout == "groups":
        # Six of sixteen members are enough to lose some of 300 objects of any of these codes.
        assert counted.unrecoverable_objects > 0
    found = simulate.simulate(run.system, run.seed).metrics
    assert found["affected_objects"] == counted.affected_objects > 0
    assert found["unrecoverable_objects"] == counted.unrecoverable_objects
    assert found["unrecoverable_bytes"] == counted.unrecoverable_bytes
