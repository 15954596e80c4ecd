"""Whole studies of requests at devices and parts with a service, against closed forms.

Over a star of 1 Tb/s without switch latency 4 KiB take 33 ns a hop, against services of 80 us and
more: the network does not count. Devices take no time unless a test says so.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from resilver import RunResult, Study
from resilver.study import simulate
from tests.build import fast_star

FREE = {"service": "0 s"}


def results(
    parts: list[dict[str, Any]] | None, traffic: dict[str, Any], seeds: int = 1, **cluster: Any
) -> list[RunResult]:
    levels = {} if parts is None else {"parts": parts}
    content = {
        "cluster": {"device": FREE, "fabric": fast_star(2), **cluster, **levels},
        "traffic": traffic,
        "study": {"seeds": seeds},
    }
    return [simulate(run.system, run.seed) for run in Study.from_dict(content).runs()]


def one_host(*services: Any, disks: int = 8) -> list[dict[str, Any]]:
    """A host over as many levels as there are services, the first of which is next to the disks."""
    names = ["host", *(f"shelf{index}" for index in range(len(services) - 1))]
    levels: list[dict[str, Any]] = []
    for index, (name, service) in enumerate(zip(names, reversed(services), strict=True)):
        level = {"level": name, "count": 1, **({"in": names[index - 1]} if index else {})}
        levels.append(level if service is None else {**level, "service": service})
    # All pass the host, so it has the ports.
    levels[0]["ports"] = 1
    return [*levels, {"level": "drive", "in": names[-1], "count": disks}]


def mean(found: list[RunResult], name: str) -> float:
    return sum(float(run.metrics[name] or 0) for run in found) / len(found)


def test_a_part_that_requests_come_to_at_random_has_the_wait_of_m_d_1() -> None:
    service, load = 1e-4, 0.7
    traffic = {
        "arrivals": {"poisson": f"{load / service:.0f} /s"},
        "reads": 1.0,
        "request_size": "4 KiB",
        "warm_up": "1 s",
        "duration": "60 s",
    }
    found = results(one_host({"per_request": "100 us"}), traffic, seeds=8)
    wait = mean(found, "mean_read_delay_seconds") - service
    # Pollaczek and Khinchine: the mean wait is load x service / 2 (1 - load). Eight runs of 60 s
    # have 1.4 million requests and more; their mean wait has a standard error of 0.3 % and less.
    assert wait == pytest.approx(load * service / 2 / (1 - load), rel=0.01)
    (row,) = found[0].parts.to_pylist()
    assert (row["level"], row["name"]) == ("host", "host.0")
    assert row["busy_seconds"] == pytest.approx(row["requests"] * service, abs=2 * service)
    assert row["busy_fraction"] == pytest.approx(load, rel=0.02)


def test_fixed_times_in_a_row_wait_at_the_longest_alone_in_any_order() -> None:
    traffic = {
        "arrivals": {"poisson": "6000 /s"},
        "reads": 1.0,
        "request_size": "4 KiB",
        "duration": "20 s",
    }
    long, short = {"per_request": "100 us"}, {"per_request": "80 us"}

    def delay(*services: Any) -> float:
        return mean(results(one_host(*services), traffic), "mean_read_delay_seconds")

    alone = delay(long)
    # What leaves a part of fixed time is at least that time apart, and so never waits at another
    # that is as fast or faster; in front of it, a faster one only hands on what then waits there.
    # The ends of the window may cut off a few requests of one run more than of the other.
    assert delay(long, short) == pytest.approx(alone + 80e-6, rel=1e-4)
    assert delay(short, long) == pytest.approx(alone + 80e-6, rel=1e-4)
    assert delay(long, long, long) == pytest.approx(alone + 200e-6, rel=1e-4)


@pytest.mark.parametrize("reads", [1.0, 0.0])
def test_a_request_alone_takes_the_sum_of_its_way(reads: float) -> None:
    traffic = {"outstanding": 1, "reads": reads, "request_size": "1 MB", "duration": "1 s"}
    ways = ({"rate": "1 GB/s", "per_request": "50 us"}, "2 GB/s", {"per_request": "20 us"})
    with_ways = results(one_host(*ways), traffic, device={"service": "3 ms"})
    without = results(one_host(None, None, None), traffic, device={"service": "3 ms"})
    kind = "read" if reads else "write"
    delays = [mean(found, f"mean_{kind}_delay_seconds") for found in (with_ways, without)]
    # 50 us and 1 MB at 1 GB/s; 1 MB at 2 GB/s; 20 us: 50 + 1000 + 500 + 20 us. Writes are
    # acknowledged when they are on the device, or their time would be in nobody's delay.
    if reads:
        assert delays[0] - delays[1] == pytest.approx(1570e-6, rel=1e-6)
    rows = {row["name"]: row for row in with_ways[0].parts.to_pylist()}
    assert list(rows) == ["host.0", "shelf0.0", "shelf1.0"]
    for name, seconds in (("host.0", 20e-6), ("shelf0.0", 500e-6), ("shelf1.0", 1050e-6)):
        assert rows[name]["bytes"] == 1_000_000 * rows[name]["requests"]
        assert rows[name]["busy_seconds"] == pytest.approx(
            rows[name]["requests"] * seconds, abs=seconds
        )


def test_a_full_path_runs_at_the_rate_of_its_slowest_part() -> None:
    traffic = {
        "outstanding": 200,
        "reads": 0.5,
        "request_size": "1 MB",
        "warm_up": "1 s",
        "duration": "20 s",
    }
    (found,) = results(one_host("400 MB/s", "250 MB/s", "500 MB/s", disks=40), traffic)
    assert found.metrics["throughput_bytes_per_second"] == pytest.approx(250e6, rel=0.01)
    busy = {row["name"]: row["busy_fraction"] for row in found.parts.to_pylist()}
    assert busy["shelf0.0"] == pytest.approx(1, abs=0.001)
    assert (busy["host.0"], busy["shelf1.0"]) == (
        pytest.approx(0.5, rel=0.02),
        pytest.approx(250 / 400, rel=0.02),
    )


def test_a_device_of_80_percent_load_has_the_delay_of_m_m_1() -> None:
    service, load = 0.001, 0.8
    traffic = {
        "arrivals": {"poisson": "800 /s"},
        "reads": 1.0,
        "request_size": "64 KiB",
        "warm_up": "1 s",
        "duration": "200 s",
    }
    device = {"service": "1 ms", "distribution": "exponential"}
    found = results(None, traffic, seeds=16, device=device)
    delays = np.array([run.metrics["mean_delay_seconds"] for run in found], dtype=np.float64)
    # 1 / (mu - lambda) = 5 ms; beside it 64 B and 64 KiB over two hops of 1 Tb/s.
    expected = service / (1 - load) + 2 * (65_574 + 102) * 8 / 1e12
    # A t test that a right mean fails in one of 10,000 sets of seeds, which are fixed; an interval
    # that is too wide to tell would let anything pass.
    error = delays.std(ddof=1) / np.sqrt(delays.size)
    most = stats.t.ppf(1 - 1e-4 / 2, delays.size - 1) * error
    assert abs(delays.mean() - expected) <= most < 0.03 * expected


def test_a_device_is_busy_for_one_service_time_a_request() -> None:
    traffic = {"outstanding": 24, "reads": 0.5, "warm_up": "1 s", "duration": "20 s"}
    device = {"read_service": "5 ms", "write_service": "3 ms"}
    cluster = {"device": device, "queue": "reads_first", "fabric": fast_star(9)}
    (found,) = results(None, traffic, **cluster)
    for server in found.servers.to_pylist():
        # The law of utilization, but for what is in service at either edge of the window.
        expected = server["requests_read"] * 0.005 + server["requests_written"] * 0.003
        assert abs(server["device_busy_seconds"] - expected) <= 0.005 + 1e-9
        assert server["device_busy_seconds"] <= 20.0 + 1e-9
