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


@pytest.mark.parametrize("make", [bursts_and_hosts_away, ages_and_a_queue, plans_and_traces])
def test_weighted_estimates_are_right_on_average(make: Any) -> None:
    model = DurabilityModel(json.dumps(make()))
    count = 5_000
    plain = model.batch({"kind": "plain"}, 2, 0, count).loss / count
    for method in (
        {"kind": "importance", "push": 0.5, "from": 1},
        {"kind": "splitting", "copies": 3, "from": 1},
    ):
        sums = model.batch(method, 3, 0, count)
        mean = sums.loss / count
        variance = sums.loss_squared / count - mean**2 + plain * (1 - plain)
        assert abs(mean - plain) < 4.5 * math.sqrt(variance / count), f"{method}: {mean}, {plain}"


def test_a_trajectory_is_the_same_whatever_ran_before_it() -> None:
    text = json.dumps(bursts_and_hosts_away())
    whole = DurabilityModel(text).batch({"kind": "plain"}, 7, 0, 500)
    model = DurabilityModel(text)
    model.batch({"kind": "importance", "push": 0.5, "from": 1}, 7, 1, 500)
    assert model.batch({"kind": "plain"}, 7, 0, 500) == whole


def test_a_wide_system_loses_data_as_often_as_its_windows_say() -> None:
    """300 devices, 200 drawn groups of rs 4+2, each device whole a fixed time T after its loss.

    A group is lost when a piece fails while two others have within the T before: at the rate
    6 lambda x (5 choose 2) (lambda T)^2 of each group. With lambda T = 1e-4 pieces fail less by
    some 1e-4 x 6 than that, and 1e-3 of triples are of two groups: within 0.5 % in all.
    """
    rate, takes, mission = 1e-7, 1000.0, 1e6
    asked = system([], [failure("disk", 0, constant(rate))], speed={}, returns="devices")
    asked["mission_seconds"] = mission
    asked["levels"] = [{"name": "osd", "parents": [0] * 300}]
    pool = {"name": "wide", "code": "rs 4+2", "sets": sets(6, 200, 300), "piece_bytes": [1]}
    asked["pools"] = [pool]
    asked["repair"]["speed"] = {"kind": "parallel", "takes": {"kind": "fixed", "seconds": takes}}
    exact = 200 * 6 * rate * 10 * (rate * takes) ** 2 * mission
    count = 1_000
    method = {"kind": "importance", "push": 0.8, "from": 1}
    sums = DurabilityModel(json.dumps(asked)).batch(method, 4, 0, count)
    mean = sums.loss / count
    error = math.sqrt((sums.loss_squared / count - mean**2) / count)
    assert error < 0.05 * exact
    assert abs(mean - exact) < 4.5 * error + 0.005 * exact, f"{mean} +- {error}, not {exact}"
