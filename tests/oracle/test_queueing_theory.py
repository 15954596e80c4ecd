"""Whole studies of clients against closed forms of queueing theory.

A mean over runs of different seeds is compared by its t value, and differs from a closed form
that is right by more than a test allows in one of 10,000 seed sets. The seeds are fixed.
"""

from typing import Any

import numpy as np
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


def test_a_device_of_80_percent_load_has_the_delay_of_m_m_1() -> None:
    service, load = 0.001, 0.8
    device = {"service": "1 ms", "distribution": "exponential"}
    found = results(
        {"device": device, "fabric": fast_star(2)},
        {
            "arrivals": {"poisson": "800 /s"},
            "reads": 1.0,
            "request_size": "64 KiB",
            "warm_up": "1 s",
            "duration": "200 s",
        },
        seeds=16,
    )
    # 1 / (mu - lambda) = 5 ms; beside it 64 B and 64 KiB over two hops of 1 Tb/s.
    hops = 2 * (65_574 + 102) * 8 / 1e12
    assert_mean_is(metric(found, "mean_delay_seconds"), service / (1 - load) + hops)


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
