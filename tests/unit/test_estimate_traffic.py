"""What clients and packets cost is told before a run: counts as derived by hand, and as runs do."""

from __future__ import annotations

from pathlib import Path

import pytest

from resilver import Study, catalog
from resilver.cli.check import estimates
from resilver.estimate import estimate
from resilver.simulate import simulate
from tests.build import STAR, network_run

TORUS = "torus 4x4x4 routers 4"


def test_open_arrivals_ask_for_what_they_say() -> None:
    # 100 requests a second for 9 s and 1 s before are 1,000, each of which is 512 KiB in 8 packets
    # of 64 KiB and a message of 64 B. Between a router and a host of the star are 2 links under one
    # leaf and 4 over the spine: one host of the 3 is near, so 10/3 on average.
    run = network_run(
        topology=STAR, outstanding=None, interval=None, arrivals={"poisson": "100 /s"},
        warm_up="1 s", duration="9 s",
    )  # fmt: skip
    found = estimate(run.system)
    assert found["requests"] == 1000
    assert found["packet_hops"] == pytest.approx(1000 * 9 * 10 / 3, abs=1)
    assert found["events"] > found["packet_hops"]
    assert found["objects"] == found["buffers"] == 0
    assert found["rebuilding_seconds"] is None and found["serving_seconds"] > 0.0


def test_a_closed_loop_asks_for_what_the_narrowest_place_lets_through() -> None:
    # With 10,000 outstanding the 3 disks are it: 22 ms a request are 136.4 requests a second, for
    # 1 s and the warm-up of twice 22 ms.
    crowded = estimate(network_run(outstanding=10_000).system)
    assert crowded["requests"] == pytest.approx(3 / 0.022 * 1.044, abs=1)
    # With one outstanding, half of the requests wait 22 ms for a disk, all for 8 packets of 65,574
    # B (4.197 ms at 1 Gb/s) over 10/3 links, one behind the other (10.33 / 8 of that), and 11 ms
    # until the next.
    alone = estimate(network_run(outstanding=1).system)
    between = 0.011 + 0.004197 * (8 + 10 / 3 - 1) / 8 + 0.011
    assert alone["requests"] == pytest.approx(1.044 / between, abs=1)


def test_disks_that_fail_unannounced_move_nothing() -> None:
    found = estimate(network_run([{"fail": {"disks": 2}}]).system)
    assert (found["replicas_to_move"], found["bytes_to_move"]) == (0, 0)


@pytest.mark.parametrize("outstanding", [8, 400])
def test_a_run_does_what_was_expected(outstanding: int) -> None:
    run = network_run(topology=TORUS, outstanding=outstanding)
    expected, metrics = estimate(run.system), simulate(run.system, run.seed).metrics
    # An estimate is good to a factor of two; the metrics are those of the window, 1 s of 1.044 s.
    assert metrics["requests_completed"] is not None
    assert 0.5 < expected["requests"] / (1.044 * float(metrics["requests_completed"])) < 2.0
    assert 0.5 < expected["events"] / float(metrics["events"] or 0) < 2.0


def test_a_point_of_traffic_alone_shows_no_rebuild() -> None:
    from resilver.cli.check import _applies

    (point,) = estimates([network_run()])
    shown = {key for key in point if _applies(key, point)}
    assert {"requests", "packet_hops", "serving_seconds", "servers"} <= shown
    assert not shown & {"buffers", "bytes_to_move", "rebuilding_seconds", "placement_groups"}


def test_links_between_the_halves_hold_a_closed_loop_back() -> None:
    # Of 8 leaves with 2 spines, 8 links join the halves: 2 * 8 * 125 MB/s each way, which half of
    # the requests of 8 * 65,574 B pass, are 7,625 a second, less than the 192 disks at 22 ms do.
    run = network_run(topology="leaf spine 8x2 hosts 32 routers 64", outstanding=100_000)
    found = estimate(run.system)
    assert found["requests"] == pytest.approx(2 * 8 * 125e6 / (8 * 65_574 / 2) * 1.044, rel=1e-3)


def test_what_an_open_loop_leaves_waiting_is_not_carried() -> None:
    # 3 disks at 22 ms do 136.4 requests a second; of 10,000 a second the rest waits.
    change = {"outstanding": None, "interval": None, "warm_up": "0 s", "duration": "10 s"}
    asked = estimate(network_run(arrivals={"poisson": "10000 /s"}, **change).system)
    done = estimate(network_run(arrivals={"poisson": "136.3636 /s"}, **change).system)
    assert asked["requests"] == 100_000
    assert asked["packet_hops"] == pytest.approx(done["packet_hops"], rel=1e-3)


def test_clients_of_their_own_sets_are_tried_once_a_set() -> None:
    """18,688 clients of 2,016 sets around a switch that never fills: each set 64 times."""
    study = Path(catalog.__file__).parent / "studies" / "center-spider-2" / "study.toml"
    found = estimate(Study.load(study).runs()[0].system)
    assert found["requests"] == 64 * 2016
