"""The core's storage system against a twin that keeps every group and every part by itself.

Rule: both lose data in the same share of missions, by the same causes, and so do the core's own
weighted estimates. Bands are 4.5 standard errors of both sides together, left by chance once in
150,000 comparisons; seeds are fixed.
"""

import json
import math
import random
from typing import Any

import pytest

from resilver.simulate.durability import DurabilityModel
from tests.reference.durability_twin import Twin

MISSIONS = 800
FIXED = {"kind": "fixed", "seconds": 0.0}


def sets(pieces: int, groups: int, devices: int) -> list[int]:
    """Members of groups, drawn evenly."""
    draws = random.Random(pieces)
    return [device for _ in range(groups) for device in draws.sample(range(devices), pieces)]


def failure(name: str, level: int, law: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "level": level, "law": law, "effect": {"kind": "lost"}, **more}


def away(seconds: float, lost_share: float = 0.0) -> dict[str, Any]:
    lasts = {"kind": "exponential", "mean_seconds": seconds}
    return {"kind": "away", "lasts": lasts, "lost_share": lost_share}


def constant(rate: float) -> dict[str, Any]:
    return {"kind": "exponential", "rate_per_second": rate}


def system(
    pools: list[tuple[str, int, int]], failures: list[dict[str, Any]], **repair: Any
) -> dict[str, Any]:
    """12 devices in 6 hosts in 3 racks; pools by code, pieces and bytes; 300 s."""
    repair = {
        "detection": FIXED,
        "replacement": FIXED,
        "returns": "groups",
        "most_lost_first": True,
    } | repair
    return {
        "mission_seconds": 300.0,
        "levels": [
            {"name": "rack", "parents": [0] * 3},
            {"name": "host", "parents": [part // 2 for part in range(6)]},
            {"name": "osd", "parents": [part // 2 for part in range(12)]},
        ],
        "pools": [
            {"name": code, "code": code, "sets": sets(pieces, 9, 12), "piece_bytes": [size]}
            for code, pieces, size in pools
        ],
        "failures": failures,
        "repair": repair,
    }


def bursts_and_hosts_away() -> dict[str, Any]:
    """Groups come back, the worst first, while hosts are away and lose a few of their disks."""
    burst = {"within": 0, "sizes": [[2, 3.0], [3, 1.0]], "spread_seconds": 2.0}
    failures = [
        failure("disk", 2, constant(1 / 900)),
        failure("reboot", 1, constant(1 / 150), effect=away(4.0, 0.05)),
        failure("burst", 2, constant(1 / 400), burst=burst),
    ]
    takes = {"kind": "weibull", "shape": 3.0, "scale_seconds": 8.0, "least_seconds": 2.0}
    speed = {"kind": "parallel", "takes": takes}
    return system([("rs 3+2", 5, 5), ("copies 3", 3, 2)], failures, speed=speed)


def ages_and_a_queue(crews: int | None = 2) -> dict[str, Any]:
    """Devices come back whole, so many at a time, and fail by their ages; hosts are lost."""
    young = {"kind": "weibull", "shape": 0.8, "scale_seconds": 400.0}
    old = {"kind": "weibull", "shape": 3.0, "scale_seconds": 350.0, "age_seconds": [100.0]}
    failures = [
        failure("young", 2, young, parts=list(range(6))),
        failure("old", 2, old, parts=list(range(6, 12))),
        failure("host", 1, constant(1 / 4000)),
    ]
    takes = {"kind": "exponential", "mean_seconds": 8.0}
    speed = {"kind": "serial", "takes": takes, "crews": crews}
    detection = {"kind": "exponential", "mean_seconds": 1.0}
    pools = [("rs 3+2", 5, 5)]
    return system(pools, failures, speed=speed, returns="devices", detection=detection)


def plans_and_traces() -> dict[str, Any]:
    """Groups come back in order, at a speed by how many are lost; a trace and planned work."""
    seconds = [50.0, 56.0, 56.0, 150.0, 200.0]
    trace = {"kind": "trace", "seconds": seconds, "parts": [3, 7, 10, 0, 5]}
    planned = {"kind": "planned", "first_seconds": 10.0, "every_seconds": 30.0}
    failures = [
        failure("disk", 2, constant(1 / 1500)),
        failure("trace", 2, trace),
        failure("planned", 1, planned, effect=away(6.0)),
    ]
    times = [{"kind": "fixed", "seconds": at} for at in (6.0, 8.0, 12.0)]
    speed = {"kind": "by_lost", "takes": times}
    replacement = {"kind": "fixed", "seconds": 3.0}
    pools = [("copies 3", 3, 5), ("rs 4+2", 6, 1)]
    more = {"most_lost_first": False, "replacement": replacement}
    return system(pools, failures, speed=speed, **more)


@pytest.mark.parametrize("make", [bursts_and_hosts_away, ages_and_a_queue, plans_and_traces])
def test_the_core_loses_data_as_often_as_its_twin_and_by_the_same_causes(make: Any) -> None:
    asked = make()
    model = DurabilityModel(json.dumps(asked))
    count = 40_000
    core = model.batch({"kind": "plain"}, 1, 0, count)
    share = core.loss / count
    losses = [loss for seed in range(MISSIONS) if (loss := Twin(asked, seed).run()) is not None]
    twin = len(losses) / MISSIONS
    error = math.sqrt(share * (1 - share) * (1 / MISSIONS + 1 / count))
    assert 0.05 < share < 0.95
    assert abs(share - twin) < 4.5 * error, f"{share} of the core's, {twin} of the twin's"
    for cause, weight in enumerate(core.loss_by_cause):
        # A share of a cause in one mission lies between 0 and 1, so that its variance is below
        # mean x (1 - mean).
        mean = weight / count
        found = sum(causes[cause] for _, causes in losses) / MISSIONS
        band = 4.5 * math.sqrt(mean * (1 - mean) * (1 / MISSIONS + 1 / count)) + 1e-9
        assert abs(found - mean) < band, f"cause {cause}: {mean} of the core's, {found}"


def test_a_trajectory_is_the_same_whatever_ran_before_it() -> None:
    text = json.dumps(bursts_and_hosts_away())
    whole = DurabilityModel(text).batch({"kind": "plain"}, 7, 0, 500)
    model = DurabilityModel(text)
    model.batch({"kind": "importance", "push": 0.5, "from": 1}, 7, 1, 500)
    assert model.batch({"kind": "plain"}, 7, 0, 500) == whole
