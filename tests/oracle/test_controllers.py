"""Pairs of controllers, one of which goes: what passes the other, how fast, and what is lost."""

from typing import Any

import pytest

from resilver import RunResult, Study
from resilver.study import simulate
from tests.build import fast_star

RATE = 100e6
"""What a controller passes, in bytes a second."""


def unit(*, partner: bool, service: Any = "100 MB/s") -> list[dict[str, Any]]:
    """Two units of two controllers each, which carry the twelve drives of three enclosures."""
    controller = {"level": "controller", "in": "unit", "count": 2, "carries": "drive"}
    return [
        {"level": "unit", "count": 2, "ports": 1},
        {**controller, "service": service, **({"partner": True} if partner else {})},
        {"level": "enclosure", "in": "unit", "count": 3},
        {"level": "drive", "in": "enclosure", "count": 4},
    ]


def run(
    parts: list[dict[str, Any]], faults: list[dict[str, Any]], **sections: Any
) -> list[RunResult]:
    cluster = {"device": {"service": "1 us"}, "fabric": fast_star(3), "parts": parts}
    study = Study.from_dict({"cluster": cluster, "faults": faults, **sections})
    return [simulate(one.system, one.seed) for one in study.runs()]


TRAFFIC = {"outstanding": 400, "reads": 1.0, "request_size": "1 MB", "duration": "20 s"}


def passed(found: RunResult) -> dict[str, int]:
    return {row["name"]: row["requests"] for row in found.parts.to_pylist()}


def test_a_partner_passes_all_at_half_the_rate_and_nothing_is_lost() -> None:
    gone = [{"fail": {"controllers": ["controller.1"]}}]
    traffic = {**TRAFFIC, "warm_up": "20 s", "duration": "40 s"}
    (whole,) = run(unit(partner=True), [], traffic=traffic)
    (half,) = run(unit(partner=True), gone, traffic=traffic)
    # Four controllers are full; with 400 requests none of them ever runs dry.
    assert whole.metrics["throughput_bytes_per_second"] == pytest.approx(4 * RATE, rel=0.01)
    # One of two carries twice as much. A closed loop over targets at random then fills up there:
    # all that it passes is half of the traffic, so that the others pass as much again.
    assert half.metrics["throughput_bytes_per_second"] == pytest.approx(2 * RATE, rel=0.03)
    assert half.metrics["failed_parts"] == "controller.1"
    assert passed(half) == {
        "controller.0": pytest.approx(4000, abs=2),
        "controller.1": 0,
        "controller.2": pytest.approx(2000, rel=0.05),
        "controller.3": pytest.approx(2000, rel=0.05),
    }


def test_one_of_two_controllers_of_four_servers_passes_half() -> None:
    """Servers of 80 MB/s carry the drives; two controllers of 100 MB/s carry four servers."""
    parts = unit(partner=True)
    server = {"level": "server", "in": "unit", "count": 4, "carries": "drive"}
    parts[1]["carries"] = "server"
    parts.append({**server, "service": "80 MB/s", "partner": True})
    parts[0]["count"] = 1
    gone = [{"fail": {"controllers": ["controller.1"]}}]
    traffic = {**TRAFFIC, "warm_up": "20 s", "duration": "40 s"}
    (whole,) = run(parts, [], traffic=traffic)
    (half,) = run(parts, gone, traffic=traffic)
    # Two controllers pass 200 of the servers' 320 MB/s, and one of them half of that.
    assert whole.metrics["throughput_bytes_per_second"] == pytest.approx(2 * RATE, rel=0.01)
    assert half.metrics["throughput_bytes_per_second"] == pytest.approx(RATE, rel=0.01)
    assert passed(half)["controller.1"] == 0
    # With a server gone its partner has half of all, and passes no more than it can: 80 MB/s of
    # its own and of the other's, so that all four come to twice that.
    (three,) = run(parts, [{"fail": {"servers": ["server.0"]}}], traffic=traffic)
    assert three.metrics["throughput_bytes_per_second"] == pytest.approx(160e6, rel=0.03)


STORED: dict[str, Any] = {
    "population": {"file_size": "1 MB", "files": 600},
    "redundancy": {"code": "rs 2+1"},
    "placement": {"algorithm": "rendezvous", "failure_domain": "enclosure"},
    "recovery": {"pipeline_buffer": "1 MiB"},
}


def test_without_a_partner_what_only_it_carries_is_lost_and_rebuilt_elsewhere() -> None:
    gone = [{"at": "1 s", "fail": {"controllers": 1}}]
    for found in run(unit(partner=False), gone, **STORED, study={"seeds": 4}):
        # Drives are dealt over the two controllers of a unit in turn: six of twelve each.
        number = int(str(found.metrics["failed_parts"]).rpartition(".")[2])
        first = number // 2 * 12 + number % 2
        names = [f"drive.{drive}" for drive in range(first, number // 2 * 12 + 12, 2)]
        assert found.metrics["failed_servers"] == ",".join(names)
        assert found.metrics["rebuilt_pieces"]
        # What it carried is not passed by anyone, as nothing is read there any more.
        assert passed(found)[f"controller.{number}"] == 0


def test_a_partner_leaves_nothing_to_rebuild_until_it_goes_too() -> None:
    first = {"at": "0 s", "fail": {"controllers": ["controller.2"]}}
    (found,) = run(unit(partner=True), [first], **STORED)
    assert (found.metrics["failed_servers"], found.metrics["affected_objects"]) == ("", 0)
    second = {"at": "2 s", "fail": {"controllers": ["controller.3"]}}
    (found,) = run(unit(partner=True), [first, second], **STORED)
    names = ",".join(f"drive.{drive}" for drive in range(12, 24))
    assert found.metrics["failed_servers"] == names
    assert found.metrics["failed_parts"] == "controller.2,controller.3"
    # Every group of three pieces in three of six enclosures: those of one unit are three.
    assert found.metrics["affected_objects"]


def test_a_rebuild_through_one_controller_takes_twice_as_long_as_through_two() -> None:
    fault = [{"fail": {"drives": ["drive.0"]}}]
    gone = [
        {"fail": {"controllers": ["controller.1"]}},
        {"fail": {"controllers": ["controller.3"]}},
    ]
    stored = {**STORED, "recovery": {"pipeline_buffer": "1 MiB", "receive_memory": "64 MiB"}}
    (both,) = run(unit(partner=True), fault, **stored)
    (one,) = run(unit(partner=True), [*fault, *gone], **stored)
    assert both.metrics["rebuilt_pieces"] == one.metrics["rebuilt_pieces"]
    seconds = [float(found.metrics["rebuild_seconds"] or 0) for found in (both, one)]
    # The busiest controller decides, and passes what it carried and what its partner did.
    for found, time in zip((both, one), seconds, strict=True):
        busiest = max(row["bytes"] for row in found.parts.to_pylist())
        assert time == pytest.approx(busiest / RATE, rel=0.1)
    assert 1.6 <= seconds[1] / seconds[0] <= 2.05


def test_a_slow_controller_passes_as_much_less() -> None:
    slow = [{"part": {"controller": ["controller.0"]}, "health": 0.25}]
    parts = unit(partner=True)
    parts[0]["count"] = 1
    (found,) = run(parts, slow, traffic={**TRAFFIC, "warm_up": "40 s"})
    # All of a closed loop waits there at last: half of the traffic passes it at a quarter.
    rate = found.metrics["throughput_bytes_per_second"]
    assert rate == pytest.approx(2 * RATE / 4, rel=0.05)
    assert found.metrics["slow_parts"] == "controller.0"
    assert found.metrics["device_busy_fraction_max"] < 0.01  # type: ignore[operator]
