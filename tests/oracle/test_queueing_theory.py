"""Whole studies of clients against closed forms of queueing theory.

A mean over runs of different seeds is compared by its t value, and differs from a closed form
that is right by more than a test allows in one of 10,000 seed sets. The seeds are fixed.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from resilver import RunResult, Study
from resilver.study import simulate
from tests.build import fast_star

FALSE_ALARM_RATE = 1e-4


def results(cluster: dict[str, Any], traffic: dict[str, Any], seeds: int) -> list[RunResult]:
    content = {"cluster": cluster, "traffic": traffic, "study": {"seeds": seeds}}
    return [simulate(run.system, run.seed) for run in Study.from_dict(content).runs()]


def metric(found: list[RunResult], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([run.metrics[name] for run in found], dtype=np.float64)


def assert_mean_is(values: np.ndarray[Any, np.dtype[np.float64]], expected: float) -> None:
    """That the mean over seeds is the expected one, by a t test, and known to 3 %."""
    error = values.std(ddof=1) / np.sqrt(values.size)
    most = stats.t.ppf(1 - FALSE_ALARM_RATE / 2, values.size - 1) * error
    # An interval that is too wide to tell would let anything pass.
    assert most < 0.03 * expected
    assert abs(values.mean() - expected) <= most


# Over a fast star 64 KiB take half a microsecond a hop, against devices of 22 ms: the network does
# not count.
@pytest.mark.parametrize("outstanding", [10, 40, 160])
def test_a_closed_network_of_exponential_devices_serves_at_its_closed_form(
    outstanding: int,
) -> None:
    servers, service = 40, 0.022
    device = {"service": "22 ms", "distribution": "exponential"}
    found = results(
        {"device": device, "fabric": fast_star(servers + 1)},
        {"outstanding": outstanding, "reads": 1.0, "warm_up": "10 s", "duration": "60 s"},
        seeds=8,
    )
    # N requests at M alike stations (Gordon and Newell): all ways of sharing them out are as
    # likely, so a station is busy with the probability N / (N + M - 1), and serves 1 / 22 ms.
    busy = outstanding / (outstanding + servers - 1)
    assert_mean_is(metric(found, "device_busy_fraction"), busy)
    rates = metric(found, "requests_completed") / 60
    assert_mean_is(rates, servers / service * busy)
    # By Little's law each request takes N over the rate, and reads at devices that serve in
    # order cannot pass: mean (N + M - 1) / M services.
    assert_mean_is(
        metric(found, "mean_delay_seconds"), (outstanding + servers - 1) / servers * service
    )


def test_a_device_of_90_percent_load_has_the_delay_of_m_m_1() -> None:
    service, load = 0.001, 0.9
    device = {"service": "1 ms", "distribution": "exponential"}
    found = results(
        {"device": device, "fabric": fast_star(2)},
        {
            "arrivals": {"poisson": "900 /s"},
            "reads": 1.0,
            "request_size": "64 KiB",
            "warm_up": "1 s",
            "duration": "1000 s",
        },
        seeds=16,
    )
    # 1 / (mu - lambda) = 10 ms; beside it 64 B and 64 KiB over two hops of 1 Tb/s.
    hops = 2 * (65_574 + 102) * 8 / 1e12
    assert_mean_is(metric(found, "mean_delay_seconds"), service / (1 - load) + hops)


def test_a_link_of_90_percent_load_has_the_wait_of_pollaczek_and_khinchine() -> None:
    # 64 KiB and 38 B at 1 Gb/s.
    sending, load = 65_574 * 8 / 1e9, 0.9
    rate = load / sending
    found = results(
        {
            "device": {"service": "1 us"},
            "fabric": {
                "model": "switched",
                "topology": "leaf spine 1x1 hosts 2 routers 1",
                "link_rate": "1 Gb/s",
                "switch_latency": "6 us",
            },
        },
        {
            "arrivals": {"poisson": f"{rate!r} /s"},
            "reads": 0.0,
            "request_size": "64 KiB",
            "warm_up": "1 s",
            "duration": "300 s",
        },
        seeds=16,
    )
    # A write's packet waits for the router's link alone: it leaves that no sooner than the next
    # link of the same rate has sent the one before. Two hops and a switch there, and as much back
    # for 64 B, whose way is never taken: they come at least one packet's time apart.
    undisturbed = 2 * sending + 6e-6 + 2 * 102 * 8 / 1e9 + 6e-6
    waits = metric(found, "mean_write_delay_seconds") - undisturbed
    # M/D/1: rho / (2 (1 - rho)) = 4.5 services.
    assert_mean_is(waits, load / (2 * (1 - load)) * sending)
    assert_mean_is(metric(found, "link_busy_fraction_max"), load)


def test_requests_outstanding_are_their_rate_times_delay_and_pause() -> None:
    outstanding, interval = 128, 0.022
    (found,) = results(
        {
            "device": "cheetah-15k",
            "queue": "reads_first",
            "fabric": {
                "model": "switched",
                "topology": "torus 4x4x4 routers 8",
                "link_rate": "1 Gb/s",
            },
        },
        {"outstanding": outstanding, "interval": "22 ms", "warm_up": "1 s", "duration": "60 s"},
        seeds=1,
    )
    metrics = found.metrics
    rows = found.traffic.to_pylist()
    # The table of intervals covers the whole run, so the window's requests are the last of it.
    window = [row for row in rows if row["start_seconds"] >= 1.0 - 1e-9]
    seconds = sum(row["duration_seconds"] for row in window)
    completed = sum(row["requests_completed"] for row in window)
    delays = sum(
        row["requests_completed"] * row["mean_delay_seconds"]
        for row in window
        if row["requests_completed"]
    )
    # Little: a request is outstanding for its delay, and its place is empty for half the
    # interval on average. The window's edges cut 128 of some 100,000 requests.
    pause = interval / 2
    in_all = completed / seconds * (delays / completed + pause)
    assert in_all == pytest.approx(outstanding, rel=0.005)
    rate = metrics["requests_completed"] / metrics["statistics_seconds"]  # type: ignore[operator]
    in_all = rate * (metrics["mean_delay_seconds"] + pause)  # type: ignore[operator]
    assert in_all == pytest.approx(outstanding, rel=0.005)


def test_a_device_is_busy_for_one_service_time_a_request() -> None:
    (found,) = results(
        {
            "device": {"read_service": "5 ms", "write_service": "3 ms"},
            "queue": "reads_first",
            "fabric": fast_star(9),
        },
        {"outstanding": 24, "reads": 0.5, "warm_up": "1 s", "duration": "20 s"},
        seeds=1,
    )
    for server in found.servers.to_pylist():
        # The law of utilization, but for what is in service at either edge of the window.
        expected = server["requests_read"] * 0.005 + server["requests_written"] * 0.003
        assert abs(server["device_busy_seconds"] - expected) <= 0.005 + 1e-9
        assert server["device_busy_seconds"] <= 20.0 + 1e-9
